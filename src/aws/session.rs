//! The [`Cloud`] that the executor calls. Each operation is implemented in the file of its kind.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use super::clients::Session;
use super::{apigateway, ec2, logs, lookups};
use crate::aws::calls::Operation;
use crate::aws::calls::ownership;
use crate::cloud::{
    Begun, Cause, Cloud, Deadlines, DependentScope, Dependents, Discovery, Failure, Known, Namesake, Observed,
    Obstacle, OpContext, Recorder, Root, RootState, Seen,
};
use crate::model::TopologyKind;
use crate::model::{Api, Entry, Key, Object, Spec, Vpc};
use crate::model::{Facts, Lookup, Scope};

/// The file of each kind. Runs a body for the kind of a spec, with the names of its struct, its file and its type.
///
/// Each file has `create(operation, spec)`, `update(operation, id, from, to)` and `delete(operation, entry)`. Their
/// futures are boxed, because otherwise each operation would reserve the memory of the largest kind.
macro_rules! in_file_of_kind {
    ($spec:expr, |$it:ident, $file:ident, $kind:ident| $body:expr) => {
        in_file_of_kind!(@ $spec, $it, $file, $kind, $body,
            Vpc: ec2::vpc,
            VpcCidrBlock: ec2::vpc_cidr_block,
            VpcIpv6Block: ec2::vpc_ipv6_block,
            InternetGateway: ec2::internet_gateway,
            EgressOnlyInternetGateway: ec2::egress_only_internet_gateway,
            Subnet: ec2::subnet,
            RouteTable: ec2::route_table,
            RouteTableAssociation: ec2::route_table_association,
            Eip: ec2::eip,
            NatGateway: ec2::nat_gateway,
            Route: ec2::route,
            VpcEndpoint: ec2::vpc_endpoint,
            FlowLog: ec2::flow_log,
            SecurityGroup: ec2::security_group,
            InterfaceEndpoint: ec2::interface_endpoint,
            DefaultNetworkAcl: ec2::default_network_acl,
            DefaultSecurityGroup: ec2::default_security_group,
            Api: apigateway::api,
            Authorizer: apigateway::authorizer,
            JwtAuthorizer: apigateway::jwt_authorizer,
            LambdaPermission: lambda::permission,
            VpcLink: apigateway::vpc_link,
            Integration: apigateway::integration,
            ApiRoute: apigateway::route,
            LogGroup: logs::group,
            LogSubscription: logs::subscription,
            Stage: apigateway::stage,
            DomainName: apigateway::domain_name,
            ApiMapping: apigateway::api_mapping,
            DnsRecord: route53::record
        )
    };
    (@ $spec:expr, $it:ident, $file:ident, $kind:ident, $body:expr, $($name:ident: $service:ident::$module:ident),*) => {
        match $spec {
            $(Spec::$name($it) => {
                #[allow(unused_imports, reason = "only an update needs the type")]
                use {crate::model::$name as $kind, super::$service::$module as $file};
                $body
            })*
        }
    };
}

/// Adds tags to an existing object with one call.
async fn add_tags(
    operation: &Operation<'_>,
    id: &str,
    to: &Object,
    tags: BTreeMap<String, String>,
) -> Result<(), Failure> {
    match &to.spec {
        Spec::Api(_) => apigateway::api::add_tags(operation, id, tags).await,
        Spec::Stage(stage) => apigateway::stage::add_tags(operation, operation.id(&stage.api)?, id, tags).await,
        Spec::DomainName(_) => apigateway::domain_name::add_tags(operation, id, tags).await,
        Spec::LogGroup(_) => logs::group::add_tags(operation, id, tags).await,
        Spec::VpcLink(_) => apigateway::vpc_link::add_tags(operation, id, tags).await,
        _ => ec2::tags::set(operation, id, &tags).await,
    }
}

#[async_trait]
impl Cloud for Session {
    fn scope(&self) -> &Scope {
        &self.scope
    }

    async fn facts(&self, lookups: &[Lookup]) -> Result<Facts, Failure> {
        lookups::facts(self, lookups).await
    }

    fn announce(&self, owner: TopologyKind, root_id: &str) {
        self.company(owner).announce(root_id);
    }

    async fn read(&self, owner: TopologyKind, root_id: &str, known: Known<'_>) -> Result<Option<Seen>, Failure> {
        let _reading = self.company(owner).enter(root_id);
        match owner {
            TopologyKind::FourTierVpc => ec2::read(self, owner, root_id, known).await,
            TopologyKind::HttpGateway => apigateway::read::read(self, owner, root_id, known).await,
        }
    }

    async fn discover<'a>(
        &'a self,
        owner: TopologyKind,
        root_id: &'a str,
        consented: Option<&'a BTreeMap<String, String>>,
    ) -> Result<Option<Box<dyn Discovery + 'a>>, Failure> {
        match owner {
            TopologyKind::FourTierVpc => ec2::discover(self, owner, root_id, consented).await,
            TopologyKind::HttpGateway => apigateway::read::discover(self, owner, root_id).await,
        }
    }

    async fn leftovers(
        &self,
        owner: TopologyKind,
        root_id: &str,
        objects: &[&Object],
    ) -> Result<Vec<Observed>, Failure> {
        match owner {
            TopologyKind::FourTierVpc => ec2::leftovers(self, owner, root_id, objects).await,
            TopologyKind::HttpGateway => apigateway::read::leftovers(self, owner, root_id, objects).await,
        }
    }

    async fn obstacles(
        &self,
        owner: TopologyKind,
        root_id: Option<&str>,
        begun: &[Begun<'_>],
        existing: &[Entry],
    ) -> Result<Vec<Obstacle>, Failure> {
        match owner {
            TopologyKind::FourTierVpc => ec2::obstacles(self, root_id, begun, existing).await,
            TopologyKind::HttpGateway => Ok(Vec::new()),
        }
    }

    async fn create(&self, work: &OpContext<'_>, object: &Object, record: &Recorder<'_>) -> Result<(), Failure> {
        let operation =
            Operation { session: self, work, key: &object.key, routes: &object.routes, record: Some(record) };
        in_file_of_kind!(&object.spec, |spec, file, Kind| Box::pin(file::create(&operation, spec)).await)
    }

    async fn update(
        &self,
        work: &OpContext<'_>,
        id: &str,
        from: &Spec,
        to: &Object,
        record: &Recorder<'_>,
    ) -> Result<(), Failure> {
        let operation = Operation { session: self, work, key: &to.key, routes: &to.routes, record: Some(record) };
        in_file_of_kind!(&to.spec, |to, file, Kind| {
            // The kind of a key never changes.
            let from = operation.of_its_kind(Kind::of(from))?;
            Box::pin(file::update(&operation, id, from, to)).await
        })
    }

    async fn adopt(&self, work: &OpContext<'_>, id: &str, from: &Spec, to: &Object) -> Result<(), Failure> {
        let operation = Operation { session: self, work, key: &to.key, routes: &to.routes, record: None };
        let Some((from, own)) = from.tags().zip(to.spec.tags()) else { return Ok(()) };
        let tags = match &to.spec {
            Spec::Vpc(Vpc { name, .. }) | Spec::Api(Api { name, .. }) => {
                ownership::tags_on_adopt_root(&operation, name, from, own)?
            }
            _ => ownership::tags_on_adopt(&operation, from, own)?,
        };
        add_tags(&operation, id, to, tags).await
    }

    async fn rename(&self, work: &OpContext<'_>, id: &str, to: &Object) -> Result<(), Failure> {
        let operation = Operation { session: self, work, key: &to.key, routes: &to.routes, record: None };
        add_tags(&operation, id, to, ownership::tags_on_rename(&operation)).await
    }

    async fn delete(&self, work: &OpContext<'_>, entry: &Entry) -> Result<(), Failure> {
        let operation = Operation { session: self, work, key: &entry.key, routes: &[], record: None };
        in_file_of_kind!(&entry.applied, |_spec, file, Kind| Box::pin(file::delete(&operation, entry)).await)
    }

    async fn disown(&self, work: &OpContext<'_>, entry: &Entry) -> Result<(), Failure> {
        let operation = Operation { session: self, work, key: &entry.key, routes: &[], record: None };
        match &entry.applied {
            Spec::Eip(_) => ec2::eip::disown(&operation, entry).await,
            Spec::RouteTable(_) => ec2::route_table::disown(&operation, entry).await,
            Spec::LogGroup(_) => logs::group::disown(&operation, entry).await,
            Spec::VpcLink(_) => apigateway::vpc_link::disown(&operation, entry).await,
            // They have no tags.
            Spec::Authorizer(_) | Spec::JwtAuthorizer(_) | Spec::Integration(_) | Spec::LambdaPermission(_) => Ok(()),
            other => {
                let message = format!("a {} cannot be disowned; this is a bug in the provider", other.kind());
                Err(Failure::new(Cause::Other, entry.key.slot.clone(), message))
            }
        }
    }

    async fn lost_parts(&self, owner: TopologyKind, root_id: &str, parts: &[Entry]) -> Result<BTreeSet<Key>, Failure> {
        match owner {
            TopologyKind::FourTierVpc => Ok(BTreeSet::new()),
            TopologyKind::HttpGateway => apigateway::read::lost_parts(self, root_id, parts).await,
        }
    }

    async fn verify_deployment(
        &self,
        owner: TopologyKind,
        root_id: &str,
        deployed: &BTreeSet<String>,
        deadlines: &Deadlines,
    ) -> Result<(), Failure> {
        match owner {
            TopologyKind::FourTierVpc => Ok(()),
            TopologyKind::HttpGateway => apigateway::deployment::at_the_end(self, root_id, deployed, deadlines).await,
        }
    }

    async fn dependents(
        &self,
        owner: TopologyKind,
        root_id: &str,
        within: DependentScope<'_>,
        known: &[Entry],
    ) -> Dependents {
        match owner {
            TopologyKind::FourTierVpc => ec2::dependents(self, root_id, within, known).await,
            TopologyKind::HttpGateway => apigateway::dependents(self, root_id, within, known).await,
        }
    }

    async fn roots(&self, owner: TopologyKind) -> Result<Vec<Root>, Failure> {
        match owner {
            TopologyKind::FourTierVpc => ec2::roots(self, owner).await,
            TopologyKind::HttpGateway => apigateway::read::roots(self, owner).await,
        }
    }

    async fn namesakes(
        &self,
        owner: TopologyKind,
        name: &str,
        is_compared: &(dyn for<'b> Fn(&'b str) -> bool + Send + Sync),
    ) -> Result<Vec<Namesake>, Failure> {
        match owner {
            TopologyKind::FourTierVpc => ec2::namesakes(self, owner, name).await,
            TopologyKind::HttpGateway => apigateway::read::namesakes(self, owner, name, is_compared).await,
        }
    }

    async fn mark_root(&self, owner: TopologyKind, root_id: &str, state: RootState) -> Result<(), Failure> {
        match owner {
            TopologyKind::FourTierVpc => ec2::mark_root(self, root_id, state).await,
            TopologyKind::HttpGateway => apigateway::read::mark_root(self, owner, root_id, state).await,
        }
    }
}
