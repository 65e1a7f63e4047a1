//! Roots of another account or Region: each operation fails, and state stays as it is.

use super::*;

impl<P: Topology> Terraform<P> {
    /// Connects to an account in which nothing exists.
    fn connect_to(&mut self, account: &str, region: &str) {
        self.account = Arc::new(Simulation::new(2).at(account, region));
        let connection = Connection::default();
        connection.set(Connected::Ready(self.account.clone()));
        self.resource = Composite::new(connection);
    }

    /// Reads, plans and applies a change, and plans and applies a destroy, with another connection.
    async fn assert_unreachable_from(&mut self, account: &str, region: &str, change: &Value) {
        let change_plan = self.plan(change).await;
        assert!(!change_plan.diagnostics.has_errors(), "{:?}", change_plan.diagnostics);
        self.connect_to(account, region);
        let state = self.state.clone();
        let is_rejected = |diagnostics: &Diagnostics| {
            let [error] = &diagnostics.0[..] else { panic!("one error: {diagnostics:?}") };
            assert!(error.summary.ends_with("another account or Region"), "{error:?}");
            for text in ["account 123456789012 in Region us-east-1", &format!("account {account} in Region {region}")] {
                assert!(error.detail.contains(text), "{text}: {error:?}");
            }
        };
        let request = ReadRequest { state: state.clone(), private: self.private.clone(), stop: self.stop.clone() };
        let read = self.resource.read(request).await;
        is_rejected(&read.diagnostics);
        assert_eq!((&read.state, &read.private), (&state, &self.private));
        is_rejected(&self.plan(change).await.diagnostics);
        is_rejected(&self.apply_plan(change, change_plan).await);
        assert_eq!(self.state, state);
        is_rejected(&self.resource.plan(self.destroy_request()).await.diagnostics);
        is_rejected(&self.destroy().await);
        assert_eq!(self.state, state);
        assert_eq!(self.account.take_calls(), [""; 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_network_of_another_account_or_region_is_an_error() {
    for (account, region) in [("210987654321", "us-east-1"), ("123456789012", "eu-west-1")] {
        let mut terraform = Terraform::<FourTierVpc>::new(2);
        terraform.assert_applies(&network(&[])).await;
        let change = network(&[("create_transit_subnets", true.into())]);
        terraform.assert_unreachable_from(account, region, &change).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_gateway_of_another_account_or_region_is_an_error() {
    for (account, region) in [("210987654321", "us-east-1"), ("123456789012", "eu-west-1")] {
        let mut terraform = Terraform::<HttpGateway>::new(0);
        terraform.assert_applies(&gateway(&[("GET /a", route("a", None))], &[], &[])).await;
        let change = gateway(&[("GET /a", route("a", None)), ("GET /b", route("b", None))], &[], &[]);
        terraform.assert_unreachable_from(account, region, &change).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_objects_of_a_deleted_root_keep_their_location() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let mut of_destroy = Terraform::<FourTierVpc>::new(2);
    of_destroy.assert_applies(&network(&[])).await;

    terraform.account.delete_root_outside();
    terraform.refresh().await;
    of_destroy.account.failing.lock().unwrap().push("eip.0".into());
    of_destroy.account.failing.lock().unwrap().push("vpc".into());
    assert!(of_destroy.destroy().await.has_errors());
    of_destroy.account.delete_root_outside();
    of_destroy.refresh().await;
    for mut terraform in [terraform, of_destroy] {
        let left: Vec<&String> = terraform.state.get("aws_objects").as_map().unwrap().keys().collect();
        assert_eq!(left, ["eip.0"]);
        terraform.connect_to("210987654321", "us-east-1");
        let request = ReadRequest {
            state: terraform.state.clone(),
            private: terraform.private.clone(),
            stop: terraform.stop.clone(),
        };
        let read = terraform.resource.read(request).await;
        assert!(read.diagnostics.has_errors() && read.state == terraform.state, "{:?}", read.diagnostics);
    }
}
