//! The service, the action and the parameters of a request, in any of AWS's protocols.

use std::collections::BTreeMap;

use serde_json::Value;

use super::message::Message;
use super::xml::Element;

/// The protocol of a service, which determines the format of its errors too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Ec2,
    Query,
    Json,
    RestJson,
    RestXml,
}

/// One call of an AWS action.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// As in the credential scope: `ec2`, `sts`, `apigateway`, `lambda`, `logs`, `route53`, `acm`, `kms`.
    pub(crate) service: String,
    /// AWS's name of the action, such as `CreateRoute`; `UNKNOWN <method> <path>` if the proxy does not recognize it.
    pub(crate) action: String,
    pub(crate) region: String,
    pub(crate) access_key: String,
    /// The whole User-Agent header.
    pub(crate) user_agent: String,
    pub(crate) protocol: Protocol,
    /// Query parameters flattened as sent (`Filter.1.Value.1`), members of a JSON body (strings without quotes, other
    /// values as JSON), the first text of each name in an XML body, and the variables of a REST path (`apiId`,
    /// `routeId`, `stageName`, `FunctionName`, ...).
    pub(crate) params: BTreeMap<String, String>,
}

impl Call {
    /// A parameter, or an empty string.
    pub(crate) fn param(&self, name: &str) -> &str {
        self.params.get(name).map_or("", String::as_str)
    }

    /// The values of a list parameter of the query protocol: `SubnetId.1`, `SubnetId.2`, ...
    pub(crate) fn list(&self, name: &str) -> Vec<&str> {
        (1..).map_while(|number| self.params.get(&format!("{name}.{number}"))).map(String::as_str).collect()
    }

    /// The filters of a describe call: name and values.
    pub(crate) fn filters(&self) -> Vec<(&str, Vec<&str>)> {
        (1..)
            .map_while(|number| {
                let name = self.params.get(&format!("Filter.{number}.Name"))?;
                Some((name.as_str(), self.list(&format!("Filter.{number}.Value"))))
            })
            .collect()
    }

    /// Whether the call changes something, judging by its verb.
    pub(crate) fn is_mutation(&self) -> bool {
        !["Describe", "Get", "List", "AssumeRole", "Head"].iter().any(|verb| self.action.starts_with(verb))
    }

    pub(super) fn is_unknown(&self) -> bool {
        self.action.starts_with("UNKNOWN")
    }

    pub(super) fn parse(message: &Message) -> Self {
        let scope: Vec<&str> = message
            .header("authorization")
            .split_once("Credential=")
            .map(|(_, rest)| rest.split([',', ' ']).next().unwrap_or_default().split('/').collect())
            .unwrap_or_default();
        let part = |index: usize| scope.get(index).copied().unwrap_or_default().to_owned();
        let (access_key, region, mut service) = (part(0), part(2), part(3));
        let target = message.header("x-amz-target");
        let (action, protocol, params);
        if let Some((_, name)) = target.rsplit_once('.') {
            (action, protocol, params) = (name.to_owned(), Protocol::Json, members(&message.json()));
        } else if message.header("content-type").starts_with("application/x-www-form-urlencoded") {
            params = form(&String::from_utf8_lossy(&message.body));
            action = params.get("Action").cloned().unwrap_or_default();
            if service.is_empty() {
                // AssumeRoleWithWebIdentity is not signed.
                service = if action.starts_with("AssumeRole") { "sts" } else { "" }.to_owned();
            }
            protocol = if service == "ec2" { Protocol::Ec2 } else { Protocol::Query };
        } else {
            let (name, variables) = route(&message.method, message.path());
            let mut all = members(&message.json());
            all.extend(form(message.target.split_once('?').map_or("", |(_, query)| query)));
            all.extend(variables);
            if let (true, Ok(body)) = (service == "route53", Element::parse(&String::from_utf8_lossy(&message.body))) {
                texts(&body, &mut all);
            }
            (action, params) = (name, all);
            protocol = if service == "route53" { Protocol::RestXml } else { Protocol::RestJson };
        }
        let user_agent = message.header("user-agent").to_owned();
        Self { service, action, region, access_key, user_agent, protocol, params }
    }
}

/// Percent-decodes one component of a URL or form.
pub(super) fn decode(text: &str, plus_is_space: bool) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = || u8::from_str_radix(text.get(at + 1..at + 3)?, 16).ok();
        match bytes[at] {
            b'%' if hex().is_some() => {
                decoded.extend(hex());
                at += 3;
            }
            b'+' if plus_is_space => {
                decoded.push(b' ');
                at += 1;
            }
            byte => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// Percent-encodes one component of a URL or form.
pub(super) fn encode(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn form(text: &str) -> BTreeMap<String, String> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(k, v)| (decode(k, true), decode(v, true)))
        .collect()
}

fn members(body: &Value) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    body.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), text(value))).collect()
}

fn texts(element: &Element, all: &mut BTreeMap<String, String>) {
    if element.children.is_empty() {
        all.entry(element.name.clone()).or_insert_with(|| element.text.clone());
    }
    element.children.iter().for_each(|child| texts(child, all));
}

fn route(method: &str, path: &str) -> (String, BTreeMap<String, String>) {
    let wanted: Vec<&str> = path.trim_end_matches('/').split('/').skip(1).collect();
    for (row_method, pattern, action) in ROUTES {
        let pattern: Vec<&str> = pattern.split('/').skip(1).collect();
        let fits = |(is, should): (&&str, &&str)| should.starts_with('{') || is == should;
        if *row_method == method && pattern.len() == wanted.len() && wanted.iter().zip(&pattern).all(fits) {
            let variable = |name: &str| Some(name.strip_prefix('{')?.strip_suffix('}')?.to_owned());
            let bound = pattern.iter().zip(&wanted);
            let bound = bound.filter_map(|(name, value)| Some((variable(name)?, decode(value, false)))).collect();
            return ((*action).to_owned(), bound);
        }
    }
    (format!("UNKNOWN {method} {path}"), BTreeMap::new())
}

/// Method, path and action of the REST services.
const ROUTES: &[(&str, &str, &str)] = &[
    ("POST", "/v2/apis", "CreateApi"),
    ("GET", "/v2/apis", "GetApis"),
    ("GET", "/v2/apis/{apiId}", "GetApi"),
    ("PATCH", "/v2/apis/{apiId}", "UpdateApi"),
    ("DELETE", "/v2/apis/{apiId}", "DeleteApi"),
    ("DELETE", "/v2/apis/{apiId}/cors", "DeleteCorsConfiguration"),
    ("POST", "/v2/apis/{apiId}/routes", "CreateRoute"),
    ("GET", "/v2/apis/{apiId}/routes", "GetRoutes"),
    ("GET", "/v2/apis/{apiId}/routes/{routeId}", "GetRoute"),
    ("PATCH", "/v2/apis/{apiId}/routes/{routeId}", "UpdateRoute"),
    ("DELETE", "/v2/apis/{apiId}/routes/{routeId}", "DeleteRoute"),
    ("POST", "/v2/apis/{apiId}/integrations", "CreateIntegration"),
    ("GET", "/v2/apis/{apiId}/integrations", "GetIntegrations"),
    ("GET", "/v2/apis/{apiId}/integrations/{integrationId}", "GetIntegration"),
    ("PATCH", "/v2/apis/{apiId}/integrations/{integrationId}", "UpdateIntegration"),
    ("DELETE", "/v2/apis/{apiId}/integrations/{integrationId}", "DeleteIntegration"),
    ("POST", "/v2/apis/{apiId}/authorizers", "CreateAuthorizer"),
    ("GET", "/v2/apis/{apiId}/authorizers", "GetAuthorizers"),
    ("GET", "/v2/apis/{apiId}/authorizers/{authorizerId}", "GetAuthorizer"),
    ("PATCH", "/v2/apis/{apiId}/authorizers/{authorizerId}", "UpdateAuthorizer"),
    ("DELETE", "/v2/apis/{apiId}/authorizers/{authorizerId}", "DeleteAuthorizer"),
    ("POST", "/v2/apis/{apiId}/stages", "CreateStage"),
    ("GET", "/v2/apis/{apiId}/stages", "GetStages"),
    ("GET", "/v2/apis/{apiId}/stages/{stageName}", "GetStage"),
    ("PATCH", "/v2/apis/{apiId}/stages/{stageName}", "UpdateStage"),
    ("DELETE", "/v2/apis/{apiId}/stages/{stageName}", "DeleteStage"),
    ("DELETE", "/v2/apis/{apiId}/stages/{stageName}/accesslogsettings", "DeleteAccessLogSettings"),
    ("DELETE", "/v2/apis/{apiId}/stages/{stageName}/routesettings/{routeKey}", "DeleteRouteSettings"),
    ("POST", "/v2/apis/{apiId}/deployments", "CreateDeployment"),
    ("GET", "/v2/apis/{apiId}/deployments", "GetDeployments"),
    ("GET", "/v2/apis/{apiId}/deployments/{deploymentId}", "GetDeployment"),
    ("POST", "/v2/vpclinks", "CreateVpcLink"),
    ("GET", "/v2/vpclinks", "GetVpcLinks"),
    ("GET", "/v2/vpclinks/{vpcLinkId}", "GetVpcLink"),
    ("PATCH", "/v2/vpclinks/{vpcLinkId}", "UpdateVpcLink"),
    ("DELETE", "/v2/vpclinks/{vpcLinkId}", "DeleteVpcLink"),
    ("GET", "/v2/tags/{resourceArn}", "GetTags"),
    ("POST", "/v2/tags/{resourceArn}", "TagResource"),
    ("DELETE", "/v2/tags/{resourceArn}", "UntagResource"),
    ("POST", "/v2/domainnames", "CreateDomainName"),
    ("GET", "/v2/domainnames", "GetDomainNames"),
    ("GET", "/v2/domainnames/{domainName}", "GetDomainName"),
    ("PATCH", "/v2/domainnames/{domainName}", "UpdateDomainName"),
    ("DELETE", "/v2/domainnames/{domainName}", "DeleteDomainName"),
    ("POST", "/v2/domainnames/{domainName}/apimappings", "CreateApiMapping"),
    ("GET", "/v2/domainnames/{domainName}/apimappings", "GetApiMappings"),
    ("GET", "/v2/domainnames/{domainName}/apimappings/{apiMappingId}", "GetApiMapping"),
    ("PATCH", "/v2/domainnames/{domainName}/apimappings/{apiMappingId}", "UpdateApiMapping"),
    ("DELETE", "/v2/domainnames/{domainName}/apimappings/{apiMappingId}", "DeleteApiMapping"),
    ("POST", "/2015-03-31/functions", "CreateFunction"),
    ("GET", "/2015-03-31/functions", "ListFunctions"),
    ("GET", "/2015-03-31/functions/{FunctionName}", "GetFunction"),
    ("DELETE", "/2015-03-31/functions/{FunctionName}", "DeleteFunction"),
    ("GET", "/2015-03-31/functions/{FunctionName}/configuration", "GetFunctionConfiguration"),
    ("PUT", "/2015-03-31/functions/{FunctionName}/code", "UpdateFunctionCode"),
    ("GET", "/2015-03-31/functions/{FunctionName}/policy", "GetPolicy"),
    ("POST", "/2015-03-31/functions/{FunctionName}/policy", "AddPermission"),
    ("DELETE", "/2015-03-31/functions/{FunctionName}/policy/{StatementId}", "RemovePermission"),
    ("POST", "/2015-03-31/functions/{FunctionName}/invocations", "Invoke"),
    ("POST", "/2015-03-31/functions/{FunctionName}/aliases", "CreateAlias"),
    ("GET", "/2015-03-31/functions/{FunctionName}/aliases/{Name}", "GetAlias"),
    ("POST", "/2015-03-31/functions/{FunctionName}/versions", "PublishVersion"),
    ("GET", "/2015-03-31/functions/{FunctionName}/versions", "ListVersionsByFunction"),
    ("GET", "/2020-06-30/functions/{FunctionName}/code-signing-config", "GetFunctionCodeSigningConfig"),
    ("GET", "/2017-03-31/tags/{Resource}", "ListTags"),
    ("POST", "/2013-04-01/hostedzone", "CreateHostedZone"),
    ("GET", "/2013-04-01/hostedzone", "ListHostedZones"),
    ("GET", "/2013-04-01/hostedzonesbyname", "ListHostedZonesByName"),
    ("GET", "/2013-04-01/hostedzone/{Id}", "GetHostedZone"),
    ("POST", "/2013-04-01/hostedzone/{Id}/rrset", "ChangeResourceRecordSets"),
    ("GET", "/2013-04-01/hostedzone/{Id}/rrset", "ListResourceRecordSets"),
    ("GET", "/2013-04-01/change/{Id}", "GetChange"),
];
