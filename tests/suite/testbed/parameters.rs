//! The values of parameters of integrations, which ministack does not check.

use super::*;

#[test]
fn values_of_parameters_select_what_exists() {
    let gateway = Gateway::new();
    let integration = |more: Value| {
        let mut all = json!({"IntegrationType": "HTTP_PROXY", "IntegrationMethod": "ANY",
            "IntegrationUri": "https://a.example.com", "PayloadFormatVersion": "1.0"});
        all.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        all
    };
    let request = |value: &str| integration(json!({"RequestParameters": {"append:header.a": value}}));
    let response = |name: &str, value: &str| integration(json!({"ResponseParameters": {"200": {name: value}}}));
    for arguments in [
        request("$request.headers.a"),
        request("$response.header.a"),
        request("${request.path.id"),
        request("$context.authorizer.claims.cognito:groups"),
        response("append:header.a", "$response.path"),
        response("overwrite:statuscode", "'502'"),
    ] {
        assert_eq!(gateway.rejected("create_integration", arguments), "BadRequestException");
    }
    for arguments in [
        request("${request.path.name} ${request.path.id}"),
        request("$request.body.a[0]"),
        response("append:header.a", "$response.body"),
        response("overwrite:statuscode", "$context.integration.status"),
    ] {
        gateway.call("create_integration", arguments);
    }
}
