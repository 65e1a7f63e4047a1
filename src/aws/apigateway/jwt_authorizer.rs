//! JWT authorizers of an API.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use aws_sdk_apigatewayv2::types::{Authorizer as Shown, AuthorizerType, JwtConfiguration};

use super::authorizer::{created, delete as delete_authorizer, updated};
use super::{change, client};
use crate::aws::calls::Operation;
use crate::aws::calls::codes::is_issuer_unreachable;
use crate::aws::calls::wait::{Backoff, retry_while};
use crate::cloud::Failure;
use crate::cloud::retries::Retry;
use crate::model::Input;
use crate::model::{Entry, JwtAuthorizer, Key};

/// The number of attempts to reach an issuer. AWS returns the same text for a permanent mistake as for an outage.
const TRIES: u32 = 3;

/// The longest time for these calls.
const ISSUER: Duration = Duration::from_secs(60);

/// Converts an authorizer that AWS returned to a spec. `None` for other types than JWT.
pub(super) fn read(shown: &Shown, api: Key) -> Option<JwtAuthorizer> {
    if shown.authorizer_type != Some(AuthorizerType::Jwt) {
        return None;
    }
    let configuration = shown.jwt_configuration.as_ref()?;
    Some(JwtAuthorizer {
        api,
        name: shown.name.clone()?,
        issuer: Input::Known(configuration.issuer.clone()?),
        audience: Input::Known(configuration.audience().iter().cloned().collect()),
        identity_source: Input::Known(shown.identity_source().first()?.clone()),
    })
}

/// Creates an authorizer, or adopts an equal one.
pub(crate) async fn create(operation: &Operation<'_>, spec: &JwtAuthorizer) -> Result<(), Failure> {
    let api_id = operation.id(&spec.api)?;
    let wanted = WantedAuthorizer::of(operation, spec)?;
    let equals = |shown: &Shown| {
        let found = read(shown, spec.api.clone());
        found.is_some_and(|found| JwtAuthorizer { name: spec.name.clone(), ..found } == *spec)
    };
    let create = || async {
        let answer = client(operation.session)
            .await
            .create_authorizer()
            .api_id(api_id)
            .name(&spec.name)
            .authorizer_type(AuthorizerType::Jwt)
            .identity_source(wanted.identity_source)
            .jwt_configuration(wanted.configuration())
            .customize()
            .config_override(operation.session.once_apigateway())
            .send()
            .await?;
        Ok(answer.authorizer_id)
    };
    let id = reaching(operation, wanted.issuer, || created((operation, api_id), &spec.name, equals, create)).await?;
    operation.record_id(&id);
    Ok(())
}

/// Sends what differs. Issuer and audience are sent together, because they are one member.
/// If AWS cannot reach the issuer, the authorizer stays as it was.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: &JwtAuthorizer,
    to: &JwtAuthorizer,
) -> Result<(), Failure> {
    if from == to {
        return Ok(());
    }
    let api_id = operation.id(&to.api)?;
    let wanted = WantedAuthorizer::of(operation, to)?;
    let name = (from.name != to.name).then(|| to.name.clone());
    let source = (from.identity_source != to.identity_source).then(|| wanted.identity_source.to_string());
    let differs = (&from.issuer, &from.audience) != (&to.issuer, &to.audience);
    let configuration = differs.then(|| wanted.configuration());
    let update = || async {
        let (_lock, change) = change(operation, api_id, "UpdateAuthorizer").await;
        let update = || async {
            client(operation.session)
                .await
                .update_authorizer()
                .api_id(api_id)
                .authorizer_id(id)
                .set_name(name.clone())
                .set_identity_source(source.clone().map(|source| vec![source]))
                .set_jwt_configuration(configuration.clone())
                .send()
                .await
        };
        updated(operation, api_id, &to.name, change.send(update).await).await
    };
    reaching(operation, wanted.issuer, update).await
}

/// Deletes an authorizer. AWS rejects this while a route uses it.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    delete_authorizer(operation, entry).await
}

/// Repeats a call that AWS rejects because it cannot reach the issuer.
async fn reaching<T, F>(operation: &Operation<'_>, issuer: &str, call: impl Fn() -> F) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    let sent = AtomicU32::new(0);
    let is_retried = |failure: &Failure| {
        let sent = sent.fetch_add(1, Ordering::Relaxed) + 1;
        let is_retried = is_issuer_unreachable(failure) && sent < TRIES;
        if is_retried {
            let (action, reason) = (failure.action.clone(), failure.message.clone());
            Retry { is_wait: false, action, number: Some((sent, TRIES - 1)), reason }.report();
        }
        is_retried
    };
    let mut backoff = Backoff::starting_at(Duration::from_secs(10), Duration::from_secs(20));
    let answer = retry_while(&operation.deadlines(ISSUER), &mut backoff, is_retried, call).await;
    answer.map_err(|failure| match is_issuer_unreachable(&failure) {
        true => failure.with_advice(
            "API Gateway reads this document of the issuer, which must be reachable from the internet. If the command \
             shows no JSON, correct the issuer; otherwise, apply again.",
            [format!("curl {}/.well-known/openid-configuration", issuer.trim_end_matches('/'))],
        ),
        false => failure,
    })
}

struct WantedAuthorizer<'a> {
    issuer: &'a str,
    audience: &'a BTreeSet<String>,
    identity_source: &'a str,
}

impl<'a> WantedAuthorizer<'a> {
    fn of(operation: &Operation<'_>, spec: &'a JwtAuthorizer) -> Result<WantedAuthorizer<'a>, Failure> {
        Ok(WantedAuthorizer {
            issuer: operation.known(&spec.issuer)?,
            audience: operation.known(&spec.audience)?,
            identity_source: operation.known(&spec.identity_source)?,
        })
    }

    fn configuration(&self) -> JwtConfiguration {
        let audience = Some(self.audience.iter().cloned().collect());
        JwtConfiguration::builder().issuer(self.issuer).set_audience(audience).build()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::time::Instant;

    use super::*;
    use crate::aws::recorded::{Answer, Recorded, run};

    const POST: &str = "POST /v2/apis/api1/authorizers";
    const LIST: &str = "GET /v2/apis/api1/authorizers";
    const PATCH: &str = "PATCH /v2/apis/api1/authorizers/a1";

    /// haandol/hello-api-gateway#1, aws/serverless-application-model#1727
    const UNREACHABLE: &str = "Caught exception when connecting to https://id.example.com/.well-known/openid-configuration \
                               for issuer https://id.example.com. Please try again later. Error: Invalid issuer: \
                               https://id.example.com. Issuer must have a valid discovery endpoint ended with \
                               '/.well-known/openid-configuration'";

    fn spec() -> JwtAuthorizer {
        JwtAuthorizer {
            issuer: Input::Known("https://id.example.com".into()),
            audience: Input::Known(["shop".to_string(), "desk".to_string()].into()),
            ..JwtAuthorizer::test()
        }
    }

    fn ids() -> [(Key, &'static str); 1] {
        [(Key::new("api"), "api1")]
    }

    fn none() -> Answer {
        Answer::Json(200, json!({ "items": [] }))
    }

    #[tokio::test(start_paused = true)]
    async fn create_and_update_send_only_members_of_this_type() {
        let aws = Recorded::default()
            .on(LIST, none())
            .on(POST, Answer::Json(201, json!({ "authorizerId": "a1" })))
            .on(PATCH, Answer::Json(200, json!({})));
        let session = aws.session("jwt-create");
        let (answer, reported) = run(&session, &Key::new("a"), &ids(), async |it| create(it, &spec()).await).await;
        answer.unwrap();
        assert_eq!(reported.ids, ["a1"]);
        let configuration = json!({ "issuer": "https://id.example.com", "audience": ["desk", "shop"] });
        assert_eq!(
            aws.body(POST),
            json!({ "name": "users", "authorizerType": "JWT", "identitySource": ["$request.header.Authorization"],
                "jwtConfiguration": configuration })
        );
        let from = JwtAuthorizer { issuer: Input::Known("https://old.example.com".into()), ..spec() };
        run(&session, &Key::new("a"), &ids(), async |it| update(it, "a1", &from, &spec()).await).await.0.unwrap();
        assert_eq!(aws.body(PATCH), json!({ "jwtConfiguration": configuration }));
    }

    #[tokio::test(start_paused = true)]
    async fn an_unreachable_issuer_is_tried_three_times_within_a_minute() {
        let rejected = || Answer::Error(400, "BadRequestException", UNREACHABLE);
        let created = Answer::Json(201, json!({ "authorizerId": "a1" }));
        let aws = Recorded::default().on(LIST, none()).on(POST, rejected()).on(POST, created);
        let session = aws.session("jwt-once");
        run(&session, &Key::new("a"), &ids(), async |it| create(it, &spec()).await).await.0.unwrap();

        let aws = Recorded::default().on(LIST, none()).on(POST, rejected());
        let (session, start) = (aws.session("jwt-never"), Instant::now());
        let failure = run(&session, &Key::new("a"), &ids(), async |it| create(it, &spec()).await).await.0.unwrap_err();
        assert_eq!(aws.calls().iter().filter(|call| *call == POST).count(), 3);
        assert!(start.elapsed() <= ISSUER, "{:?}", start.elapsed());
        for text in ["Please try again later", "curl https://id.example.com/.well-known/openid-configuration"] {
            assert!(failure.text().contains(text), "no {text} in {}", failure.text());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_lost_create_is_resolved_by_name_and_content() {
        let item = |issuer: &str| {
            json!({ "items": [{ "authorizerId": "a7", "name": "users", "authorizerType": "JWT",
                "identitySource": ["$request.header.Authorization"],
                "jwtConfiguration": { "issuer": issuer, "audience": ["shop", "desk"] } }] })
        };
        let routes = "GET /v2/apis/api1/routes";
        for (issuer, adopted) in [("https://id.example.com", true), ("https://id.example.com/", false)] {
            let aws = Recorded::default()
                .on(LIST, none())
                .on(LIST, Answer::Json(200, item(issuer)))
                .on(routes, none())
                .on(POST, Answer::Lost)
                .on(POST, Answer::Error(400, "BadRequestException", "Authorizer name must be unique."));
            let session = aws.session("jwt-lost");
            let (answer, reported) = run(&session, &Key::new("a"), &ids(), async |it| create(it, &spec()).await).await;
            assert_eq!((answer.is_ok(), reported.ids.len()), (adopted, usize::from(adopted)), "{answer:?}");
        }
    }
}
