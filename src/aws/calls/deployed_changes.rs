//! The last changes of APIs that AWS deploys after its answer. Deletions of what a deployed API still uses wait for
//! their deployment.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::Intercept;
use aws_smithy_runtime_api::client::interceptors::context::{
    BeforeTransmitInterceptorContextRef, FinalizerInterceptorContextRef,
};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::DateTime;
use aws_smithy_types::config_bag::{ConfigBag, Storable, StoreReplace};
use aws_smithy_types::date_time::Format;

use crate::cloud::Failure;

/// The changes that a wait covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// The creates and updates of routes, integrations and authorizers, and the creation of the stage.
    CreatesAndUpdates,
    /// The same, and the deletions.
    All,
}

/// A change of an API.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Change {
    /// Its position among the changes of this process; 0 if there was none.
    number: u64,
    /// The time of the answer by AWS's clock, in seconds since the Unix epoch; `None` if the answer has no time.
    pub(crate) at: Option<i64>,
}

/// The changes of all APIs, by Region and API ID.
#[derive(Debug, Default)]
pub(crate) struct DeployedChanges(Mutex<HashMap<(String, String), ApiChanges>>);

#[derive(Debug, Default)]
struct ApiChanges {
    /// The last create or update.
    set: Change,
    /// The last change of any kind.
    last: Change,
    /// The position of the last change that is known to be deployed.
    deployed: u64,
    /// The position of the last change whose deployment failed or was awaited in vain, and the failure.
    failed: Option<(u64, Failure)>,
}

impl DeployedChanges {
    /// Records a change that AWS deploys.
    pub(crate) fn add(&self, region: &str, api_id: &str, is_deletion: bool, at: Option<i64>) {
        let mut apis = self.lock();
        let api = apis.entry((region.to_string(), api_id.to_string())).or_default();
        // A second change at the same time may be recorded later, so the time never decreases.
        api.last = Change { number: api.last.number + 1, at: at.max(api.last.at) };
        if !is_deletion {
            api.set = api.last;
        }
    }

    /// Records the changes of an earlier process, the last of which was made at this time.
    pub(crate) fn add_earlier(&self, region: &str, api_id: &str, at: i64) {
        let is_later = self.last(region, api_id).is_none_or(|last| last.at < Some(at));
        if is_later {
            self.add(region, api_id, false, Some(at));
        }
    }

    /// The last change that is not known to be deployed. `None` if there is none.
    pub(crate) fn undeployed(&self, region: &str, api_id: &str, awaited: Awaited) -> Option<Change> {
        let apis = self.lock();
        let api = apis.get(&(region.to_string(), api_id.to_string()))?;
        let change = if awaited == Awaited::All { api.last } else { api.set };
        (change.number > api.deployed).then_some(change)
    }

    /// The failure of an earlier wait for this change or a later one.
    pub(crate) fn failure(&self, region: &str, api_id: &str, change: Change) -> Option<Failure> {
        let apis = self.lock();
        let (number, failure) = apis.get(&(region.to_string(), api_id.to_string()))?.failed.as_ref()?;
        (*number >= change.number).then(|| failure.clone())
    }

    /// Records the result of a wait for a change.
    pub(crate) fn conclude(&self, region: &str, api_id: &str, change: Change, result: &Result<(), Failure>) {
        let mut apis = self.lock();
        let Some(api) = apis.get_mut(&(region.to_string(), api_id.to_string())) else { return };
        match result {
            Ok(()) => api.deployed = api.deployed.max(change.number),
            Err(failure) => api.failed = Some((change.number, failure.clone())),
        }
    }

    fn last(&self, region: &str, api_id: &str) -> Option<Change> {
        self.lock().get(&(region.to_string(), api_id.to_string())).map(|api| api.last)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(String, String), ApiChanges>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Records the changes of a client of API Gateway, with the times of their answers. A change without an answer, or with
/// one that reports an internal error, counts too, because AWS may have executed it.
#[derive(Debug)]
pub(crate) struct RecordDeployedChanges {
    /// The changes of the process.
    pub(crate) changes: Arc<DeployedChanges>,
    /// The Region of the client.
    pub(crate) region: String,
}

/// The change that a request makes, while it is in flight.
#[derive(Debug)]
struct Requested {
    api_id: String,
    is_deletion: bool,
}

impl Storable for Requested {
    type Storer = StoreReplace<Requested>;
}

impl Intercept for RecordDeployedChanges {
    fn name(&self) -> &'static str {
        "RecordDeployedChanges"
    }

    fn read_before_transmit(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        bag: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let request = context.request();
        let body = request.body().bytes().unwrap_or_default();
        if let Some((api_id, is_deletion)) = deployed_change(request.method(), request.uri(), body) {
            bag.interceptor_state().store_put(Requested { api_id, is_deletion });
        }
        Ok(())
    }

    fn read_after_attempt(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        bag: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let Some(Requested { api_id, is_deletion }) = bag.load::<Requested>() else { return Ok(()) };
        let answer = context.response().filter(|response| !response.status().is_server_error());
        if answer.is_none_or(|response| response.status().is_success()) {
            let date = answer.and_then(|response| response.headers().get("date"));
            let at = date.and_then(|date| DateTime::from_str(date, Format::HttpDate).ok()).map(|at| at.secs());
            self.changes.add(&self.region, api_id, *is_deletion, at);
        }
        // An attempt that fails before it is sent changes nothing.
        bag.interceptor_state().unset::<Requested>();
        Ok(())
    }
}

/// The ID of the API that a request changes in a way that AWS deploys, and whether it deletes something. Of the API
/// itself, these are changes of its endpoint.
fn deployed_change(method: &str, uri: &str, body: &[u8]) -> Option<(String, bool)> {
    let path = uri.split_once("/v2/apis/")?.1;
    let path = path.split('?').next().unwrap_or(path);
    let Some((api_id, rest)) = path.split_once('/') else {
        let is_endpoint = String::from_utf8_lossy(body).contains("\"disableExecuteApiEndpoint\"");
        return (method == "PATCH" && is_endpoint).then(|| (path.to_string(), false));
    };
    let is_deployed = match rest.split('/').next() {
        Some("routes" | "integrations" | "authorizers") => method != "GET",
        Some("stages") => method == "POST",
        _ => false,
    };
    is_deployed.then(|| (api_id.to_string(), method == "DELETE"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::Cause;

    #[test]
    fn only_changes_that_aws_deploys_are_recorded() {
        let host = "https://apigateway.us-east-1.amazonaws.com/v2";
        for (method, path, expected) in [
            ("POST", "/apis/a1/routes", Some(("a1", false))),
            ("PATCH", "/apis/a1/integrations/i1", Some(("a1", false))),
            ("DELETE", "/apis/a1/authorizers/x", Some(("a1", true))),
            ("POST", "/apis/a1/stages", Some(("a1", false))),
            ("PATCH", "/apis/a1/stages/%24default", None),
            ("GET", "/apis/a1/routes?maxResults=100", None),
            ("POST", "/apis", None),
            ("DELETE", "/apis/a1", None),
            ("POST", "/tags/arn", None),
        ] {
            let expected = expected.map(|(api, deletion): (&str, bool)| (api.to_string(), deletion));
            assert_eq!(deployed_change(method, &format!("{host}{path}"), b"{}"), expected, "{method} {path}");
        }
        for (body, expected) in [(r#"{"name":"a"}"#, None), (r#"{"disableExecuteApiEndpoint":true}"#, Some("a1"))] {
            let found = deployed_change("PATCH", &format!("{host}/apis/a1"), body.as_bytes());
            assert_eq!(found, expected.map(|api: &str| (api.to_string(), false)));
        }
    }

    #[test]
    fn deletions_are_awaited_separately_and_failures_are_shared() {
        let changes = DeployedChanges::default();
        let undeployed = |awaited| changes.undeployed("r", "a", awaited);
        assert_eq!(undeployed(Awaited::All), None);
        changes.add("r", "a", false, Some(7));
        changes.add("r", "a", true, Some(6));
        let set = undeployed(Awaited::CreatesAndUpdates).unwrap();
        let all = undeployed(Awaited::All).unwrap();
        assert_eq!((set.at, all.at), (Some(7), Some(7)));
        changes.conclude("r", "a", set, &Ok(()));
        assert_eq!((undeployed(Awaited::CreatesAndUpdates), undeployed(Awaited::All)), (None, Some(all)));
        assert_eq!(changes.undeployed("r", "b", Awaited::All), None);

        let failure = Failure::new(Cause::NotDeployed, "GetStage", "failed");
        assert_eq!(changes.failure("r", "a", all), None);
        changes.conclude("r", "a", all, &Err(failure.clone()));
        assert_eq!(changes.failure("r", "a", all), Some(failure));
        changes.add("r", "a", false, Some(8));
        assert_eq!(changes.failure("r", "a", undeployed(Awaited::All).unwrap()), None, "a later change is awaited");
    }

    #[test]
    fn changes_of_an_earlier_process_are_awaited_once() {
        let changes = DeployedChanges::default();
        changes.add_earlier("r", "a", 7);
        let all = changes.undeployed("r", "a", Awaited::All).unwrap();
        assert_eq!((changes.undeployed("r", "a", Awaited::CreatesAndUpdates), all.at), (Some(all), Some(7)));
        changes.conclude("r", "a", all, &Ok(()));
        changes.add_earlier("r", "a", 7);
        assert_eq!(changes.undeployed("r", "a", Awaited::All), None);
        // A stage that is set again has no time of its own.
        changes.add("r", "a", false, None);
        changes.add_earlier("r", "a", 9);
        assert_eq!(changes.undeployed("r", "a", Awaited::All).unwrap().at, Some(9));
    }
}
