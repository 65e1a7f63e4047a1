use serde_json::{Value, json};

use super::super::{create, read, update};
use super::*;
use crate::aws::apigateway::route;
use crate::aws::recorded::{Answer, Recorded, run};
use crate::model::{ApiRoute, Entry, Key, Ref, Spec};

const GET: &str = "GET /v2/apis/api1/stages/%24default";
const PATCH: &str = "PATCH /v2/apis/api1/stages/%24default";
const DELETE: &str = "DELETE /v2/apis/api1/stages/%24default/routesettings/GET%20%2Fa";
const NO_SETTINGS: RouteSettings = settings(None, None, None);

const fn settings(rate: Option<f64>, burst: Option<i64>, metrics: Option<bool>) -> RouteSettings {
    RouteSettings {
        throttling_rate_limit: Input::Known(rate),
        throttling_burst_limit: Input::Known(burst),
        detailed_metrics_enabled: Input::Known(metrics),
    }
}

fn of_route(key: &str, settings: RouteSettings) -> BTreeMap<String, RouteSettings> {
    [(key.to_string(), settings)].into()
}

fn stage(default_settings: RouteSettings, route_settings: BTreeMap<String, RouteSettings>) -> Stage {
    Stage { default_settings, route_settings, ..Stage::test() }
}

fn ids() -> [(Key, &'static str); 1] {
    [(Key::new("api"), "api1")]
}

/// The body of the update and all calls.
async fn updated(region: &str, from: &Stage, to: &Stage, found: Value) -> (Value, Vec<String>) {
    let aws = Recorded::default()
        .on(GET, Answer::Json(200, json!({ "routeSettings": found })))
        .on(DELETE, Answer::Json(204, json!(null)))
        .on(PATCH, Answer::Json(200, json!({})));
    let session = aws.session(region);
    let call = async |it: &Operation<'_>| update(it, Stage::DEFAULT, from, to).await;
    run(&session, &Key::new("stage"), &ids(), call).await.0.unwrap();
    let calls = aws.calls();
    let body = if calls.iter().any(|call| call == PATCH) { aws.body(PATCH) } else { json!(null) };
    (body, calls)
}

#[tokio::test(start_paused = true)]
async fn settings_with_metrics_only_contain_no_limit() {
    let shown = json!({ "defaultRouteSettings": { "detailedMetricsEnabled": true } });
    let aws = Recorded::default()
        .on("POST /v2/apis/api1/stages", Answer::Json(201, json!({})))
        .on(GET, Answer::Json(200, shown));
    let session = aws.session("settings-metrics");
    let metrics = settings(None, None, Some(true));
    let spec = stage(metrics.clone(), of_route("GET /a", metrics.clone()));
    let (answer, records) = run(&session, &Key::new("stage"), &ids(), async |it| create(it, &spec).await).await;
    answer.unwrap();
    assert_eq!(records.learned.route_settings.default, metrics, "a plan without a refresh knows them");
    let body = aws.body("POST /v2/apis/api1/stages");
    assert_eq!(body["defaultRouteSettings"], json!({ "detailedMetricsEnabled": true }));
    assert_eq!(body["routeSettings"], json!({ "GET /a": { "detailedMetricsEnabled": true } }));
}

#[tokio::test(start_paused = true)]
async fn a_stage_without_settings_sends_none() {
    let aws = Recorded::default().on("POST /v2/apis/api1/stages", Answer::Json(201, json!({})));
    let session = aws.session("settings-none");
    run(&session, &Key::new("stage"), &ids(), async |it| create(it, &Stage::test()).await).await.0.unwrap();
    let body = aws.body("POST /v2/apis/api1/stages");
    assert!(body.get("defaultRouteSettings").is_none() && body.get("routeSettings").is_none(), "{body}");
}

#[tokio::test(start_paused = true)]
async fn a_changed_limit_is_one_update_with_the_complete_entry() {
    let of = |rate| stage(NO_SETTINGS, of_route("GET /a", settings(Some(rate), Some(5), None)));
    let found = json!({ "GET /a": { "throttlingRateLimit": 10.0, "throttlingBurstLimit": 5 } });
    let (body, calls) = updated("settings-changed", &of(10.0), &of(20.5), found).await;
    let entry = json!({ "throttlingRateLimit": 20.5, "throttlingBurstLimit": 5 });
    assert_eq!(body["routeSettings"], json!({ "GET /a": entry }));
    assert_eq!(calls, [GET, PATCH, GET]);
}

#[tokio::test(start_paused = true)]
async fn removed_limits_are_deleted_and_what_stays_is_sent_again() {
    let limits = || settings(Some(10.0), Some(5), None);
    let found = json!({ "GET /a": { "throttlingRateLimit": 10.0, "throttlingBurstLimit": 5 } });
    let from = stage(NO_SETTINGS, of_route("GET /a", limits()));
    let (body, calls) = updated("settings-removed", &from, &stage(NO_SETTINGS, BTreeMap::new()), found.clone()).await;
    assert_eq!((body, calls), (json!(null), [GET, DELETE, GET].map(str::to_string).to_vec()));
    let metrics = of_route("GET /a", settings(None, None, Some(true)));
    let (body, calls) = updated("settings-metrics-stay", &from, &stage(NO_SETTINGS, metrics), found).await;
    assert_eq!(body["routeSettings"], json!({ "GET /a": { "detailedMetricsEnabled": true } }));
    assert_eq!(calls, [GET, DELETE, PATCH, GET]);
}

#[test]
fn members_that_are_not_managed_stay() {
    let metrics = || settings(None, None, Some(true));
    let both = || of_route("GET /a", settings(Some(10.0), Some(5), Some(true)));
    let limits = || of_route("GET /a", settings(Some(10.0), Some(5), None));
    let none = BTreeMap::new();
    for (before, to, found, deleted, sent) in [
        // Limits of someone else, and metrics that are no longer wanted.
        (
            of_route("GET /a", metrics()),
            none.clone(),
            both(),
            false,
            of_route("GET /a", settings(None, None, Some(false))),
        ),
        // Metrics of someone else, and limits that are no longer wanted.
        (limits(), none.clone(), both(), true, of_route("GET /a", metrics())),
        // Settings of another route.
        (none.clone(), limits(), of_route("GET /b", metrics()), false, limits()),
        (none.clone(), none.clone(), both(), false, none.clone()),
        // Already as wanted.
        (none.clone(), limits(), both(), false, none.clone()),
        // Deleted outside Terraform.
        (limits(), none.clone(), none.clone(), false, none),
    ] {
        let keys: Vec<String> = deleted.then(|| "GET /a".to_string()).into_iter().collect();
        assert_eq!(of_all_routes(&before, &to, &found), (keys, sent), "{before:?} {to:?} {found:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn default_metrics_that_are_removed_are_turned_off() {
    let of = |metrics| stage(settings(Some(10.0), Some(5), metrics), BTreeMap::new());
    let (body, calls) = updated("settings-off", &of(Some(true)), &of(None), json!({})).await;
    let expected = json!({ "throttlingRateLimit": 10.0, "throttlingBurstLimit": 5, "detailedMetricsEnabled": false });
    assert_eq!((&body["defaultRouteSettings"], body.get("routeSettings")), (&expected, None));
    assert_eq!(calls, [PATCH, GET]);
}

#[tokio::test(start_paused = true)]
async fn stale_settings_are_reported_with_the_command_that_deletes_them() {
    let text = "Unable to find Route by key GET /missing within the provided RouteSettings";
    let aws = Recorded::default()
        .on(GET, Answer::Json(200, json!({})))
        .on(PATCH, Answer::Error(404, "NotFoundException", text));
    let to = stage(NO_SETTINGS, of_route("GET /a", settings(Some(1.0), Some(1), None)));
    let session = aws.session("settings-stale");
    let call = async |it: &Operation<'_>| update(it, Stage::DEFAULT, &Stage::test(), &to).await;
    let failure = run(&session, &Key::new("stage"), &ids(), call).await.0.unwrap_err();
    let command =
        "aws apigatewayv2 delete-route-settings --api-id api1 --stage-name '$default' --route-key 'GET /missing'";
    assert!(failure.text().contains(command), "{}", failure.text());
}

#[tokio::test(start_paused = true)]
async fn settings_of_a_deleted_route_go_first_whoever_made_them() {
    let routes = "GET /v2/apis/api1/routes";
    let entry = |key: &str| {
        let spec = ApiRoute { route_key: key.into(), ..ApiRoute::test() };
        Entry::new(Key::new("route"), "r1", Spec::ApiRoute(spec))
    };
    let missing = Answer::Error(404, "NotFoundException", "no settings");
    for (number, key, answer, deletes) in [
        (0, "GET /a", Answer::Json(204, json!(null)), true),
        (1, "GET /b", Answer::Json(204, json!(null)), false),
        // Someone else was faster.
        (2, "GET /a", missing, true),
    ] {
        let shown = json!({ "routeSettings": { "GET /a": { "throttlingRateLimit": 1.0 } } });
        let after = if number == 2 { json!({}) } else { shown.clone() };
        let aws = Recorded::default()
            .on(GET, Answer::Json(200, shown))
            .on(GET, Answer::Json(200, after))
            .on(DELETE, answer)
            .on("DELETE /v2/apis/api1/routes/r1", Answer::Json(204, json!(null)))
            .on(routes, Answer::Json(200, json!({ "items": [] })));
        let session = aws.session(&format!("settings-route-{number}"));
        let call = async |it: &Operation<'_>| route::delete(it, &entry(key)).await;
        run(&session, &Key::new("route"), &ids(), call).await.0.unwrap();
        let mut expected = vec![GET];
        expected.extend(deletes.then_some(DELETE));
        expected.extend((number == 2).then_some(GET));
        expected.push("DELETE /v2/apis/api1/routes/r1");
        assert_eq!(aws.calls(), expected, "{key}");
    }
}

/// The observation of a stage with the default settings and those of `GET /a`.
fn observed(default: Value, of_route: Value, applied: Option<&Stage>) -> Observed {
    let sent = |json: Value| {
        Sent::builder()
            .set_throttling_rate_limit(json["rate"].as_f64())
            .set_throttling_burst_limit(json["burst"].as_i64().map(small))
            .set_detailed_metrics_enabled(json["metrics"].as_bool())
            .build()
    };
    let shown = Shown::builder()
        .stage_name(Stage::DEFAULT)
        .auto_deploy(true)
        .default_route_settings(sent(default))
        .route_settings("GET /a", sent(of_route))
        .build();
    let keys = (Key::new("api"), Key::new("stage"));
    read(&shown, keys, applied, &BTreeSet::from(["GET /a"]), |arn| Ref::Id(arn.into()))
}

fn spec(observed: &Observed) -> &Stage {
    Stage::of(&observed.spec).expect("it is a stage")
}

#[test]
fn only_what_an_apply_has_set_is_compared() {
    let limits = json!({ "rate": 10, "burst": 5, "metrics": false });
    let unmanaged = observed(limits.clone(), limits.clone(), Some(&Stage::test()));
    assert_eq!(*spec(&unmanaged), Stage::test());
    let ids: Vec<String> = super::unmanaged(&unmanaged, "api1").into_iter().map(|it| it.id).collect();
    assert_eq!(ids, ["$default/default_route_settings", "$default/GET /a"]);
    let applied = stage(settings(None, None, Some(false)), of_route("GET /a", settings(Some(10.0), Some(5), None)));
    let managed = observed(limits.clone(), limits, Some(&applied));
    assert_eq!(*spec(&managed), applied);
    let reasons: Vec<String> = super::unmanaged(&managed, "api1").into_iter().map(|it| it.reason).collect();
    let reason = "default settings of the stage: throttling_rate_limit = 10 and throttling_burst_limit = 5";
    assert_eq!(reasons, [reason]);
}

#[test]
fn an_import_finds_all_settings_and_metrics_that_are_off_on_purpose() {
    let limits = json!({ "rate": 10, "burst": 5, "metrics": false });
    let on = observed(json!({ "metrics": true }), limits.clone(), None);
    assert_eq!(spec(&on).default_settings, settings(None, None, Some(true)));
    assert_eq!(spec(&on).route_settings, of_route("GET /a", settings(Some(10.0), Some(5), Some(false))));
    let off = observed(json!({ "metrics": false }), limits, None);
    assert_eq!(spec(&off).default_settings, NO_SETTINGS);
    assert_eq!(spec(&off).route_settings, of_route("GET /a", settings(Some(10.0), Some(5), None)));
}

#[test]
fn a_limit_of_0_is_a_fault() {
    let found = observed(json!({ "rate": 0, "burst": 5 }), json!({ "burst": 0 }), Some(&Stage::test()));
    let fault = found.spec.fault(&found.learned).expect("requests are rejected");
    assert!(fault.contains("all routes without settings of their own, GET /a") && fault.contains("429"), "{fault}");
    let none = observed(json!({ "rate": 1, "burst": 5 }), json!({ "burst": 1 }), Some(&Stage::test()));
    assert_eq!(none.spec.fault(&none.learned), None);
}
