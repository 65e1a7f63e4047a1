"""Questions about API Gateway, Lambda, CloudWatch Logs and ACM."""

import concurrent.futures
import email.utils
import time

from acceptance.account import is_not_found
from acceptance.question import Question, Row
from acceptance.sweep import LONGEST

CODES = "src/aws/calls/codes.rs"
DEPLOYMENT = "src/aws/apigateway/deployment.rs"
API = "src/aws/apigateway/api.rs"

ORIGINS = ["AWS_MANAGED", "ACME", "CUSTOMER_PROVIDED"]

# The longest wait for a deployment, in seconds. Most take less than one.
MINUTE = 60

# Asked in the scenario gateway-change.
UNDER_LOAD = Row(
    "route-moved-under-load", "Which answers does a client get while a route is moved to another function?",
    "200 to each request", DEPLOYMENT,
)  # fmt: skip


def cors(ask):
    def shown(configuration):
        ask.api("update_api", ApiId=api, CorsConfiguration=configuration)
        return ask.api("get_api", ApiId=api).get("CorsConfiguration", {})

    api = ask.http_api()
    origins = {"AllowOrigins": ["https://a.example.com"]}
    shown(origins | {"MaxAge": 300})
    omitted = shown(origins).get("MaxAge", "none")
    zero = shown(origins | {"MaxAge": 0}).get("MaxAge", "none")
    ask.observe("cors-max-age", f"after an update without it: {omitted}; after one with 0: {zero}", zero in (0, "none"))
    alone = ask.attempt("apigatewayv2", "create_api", Name=ask.run.name("cors"), ProtocolType="HTTP",
                        Tags=ask.run.fixtures.tag_map(), CorsConfiguration={"AllowCredentials": False})  # fmt: skip
    text = str(alone)
    if not alone.code:
        ask.afterwards("apigatewayv2", "delete_api", ApiId=alone.data["ApiId"])
        text = f"CORS is {ask.api('get_api', ApiId=alone.data['ApiId']).get('CorsConfiguration', 'not returned')}"
    # The provider counts both forms as equal.
    ask.observe("cors-false-only", text)


def deployments(ask):
    api = ask.http_api()
    route = ask.route(api)
    ask.stage(api)
    wait_for_deployment(ask, api, "none")
    before, _ = ask.deployment_of(api)
    begun = time.monotonic()
    ask.api("update_route", ApiId=api, RouteId=route, OperationName="changed")
    timeline = watch(ask, api, begun)
    ask.observe("deployment-timeline", "; ".join(timeline), ask.deployment_of(api)[0] != before)

    ask.api("delete_route", ApiId=api, RouteId=route)
    failed = seen_deployments(ask, api)
    before, message = ask.deployment_of(api)
    listed = len(statuses(ask, api))
    ask.api("update_stage", ApiId=api, StageName="$default", AutoDeploy=True)
    begun = time.monotonic()
    timeline = watch(ask, api, begun)
    text = f"deletion of the only route: {failed}, stage: {message}; after UpdateStage: {'; '.join(timeline)}"
    has_failed = any("FAILED" in it for it in failed)
    ask.observe("deployment-after-failure", text, len(statuses(ask, api)) > listed if has_failed else "no answer")


def changes_without_effect(ask):
    """Whether AWS deploys after changes that do not affect what the stage serves, and how its clocks compare."""
    api = ask.http_api()
    route = ask.route(api)
    ask.stage(api)
    wait_for_deployment(ask, api, "none")

    before, after, _ = deployed_by(ask, api, "update_route", RouteId=route, RouteKey="GET /a")
    ask.observe("deployment-equal-update", f"{before}, then {after}", after != before)

    before, after, _ = deployed_by(
        ask, api, "create_integration", IntegrationType="AWS_PROXY", PayloadFormatVersion="2.0",
        IntegrationUri=ask.run.fixtures.function("hello"),
    )  # fmt: skip
    ask.observe("deployment-unused-integration", f"{before}, then {after}", after != before)

    ages = []
    for number in range(20):
        before, after, date = deployed_by(ask, api, "update_route", RouteId=route, OperationName=f"change{number}")
        if after == before:
            break
        items = ask.api("get_deployments", ApiId=api)["Items"]
        created = next(it["CreatedDate"] for it in items if it["DeploymentId"] == after)
        ages.append(round((created - email.utils.parsedate_to_datetime(date)).total_seconds()))
    text = f"{len(ages)} deployments, {min(ages)} to {max(ages)} s" if ages else "no deployments"
    ask.observe("deployment-clock", text, bool(ages) and min(ages) >= -2)


def suspended(ask):
    """Whether automatic deployment can be turned off for several changes that AWS then deploys at once."""
    api = ask.http_api()
    route = ask.route(api)
    ask.stage(api)
    wait_for_deployment(ask, api, "none")
    ask.api("update_stage", ApiId=api, StageName="$default", AutoDeploy=False)
    before, held, _ = deployed_by(ask, api, "update_route", RouteId=route, OperationName="held")
    ask.api("update_stage", ApiId=api, StageName="$default", AutoDeploy=True)
    wait_for_deployment(ask, api, held, ask.run.settings.watch)
    after, _ = ask.deployment_of(api)
    ask.observe("deployment-suspended", f"{before}, then {held}, then {after}", before == held != after)


def deployed_by(ask, api, call, **arguments):
    """The deployments before and after a change, and the Date of the answer to the change."""
    before, _ = ask.deployment_of(api)
    answer = ask.api(call, ApiId=api, **arguments)
    wait_for_deployment(ask, api, before, ask.run.settings.watch)
    return before, ask.deployment_of(api)[0], answer["ResponseMetadata"]["HTTPHeaders"].get("date")


def wait_for_deployment(ask, api, before, seconds=MINUTE):
    """Until the stage names another deployment, or the seconds have passed."""
    deadline = time.monotonic() + seconds
    while ask.deployment_of(api)[0] == before and time.monotonic() < deadline:
        time.sleep(ask.run.settings.poll)


def watch(ask, api, begun):
    """Each different state of the stage with the time at which it was first read."""
    timeline, last = [], None
    while time.monotonic() - begun < ask.run.settings.watch:
        state = (*ask.deployment_of(api), tuple(statuses(ask, api)))
        if state != last:
            last = state
            timeline.append(f"{time.monotonic() - begun:.1f} s: {state[0]} ({state[1]}), deployments {list(state[2])}")
        time.sleep(min(ask.run.settings.poll, 0.5))
    return timeline


def statuses(ask, api):
    """By ID, because AWS documents no order."""
    items = ask.api("get_deployments", ApiId=api)["Items"]
    return sorted(f"{it['DeploymentId']} {it.get('DeploymentStatus', 'no status')}" for it in items)


def seen_deployments(ask, api):
    """The statuses once a deployment has failed, or after a minute."""
    deadline = time.monotonic() + MINUTE
    while time.monotonic() < deadline:
        found = statuses(ask, api)
        if any("FAILED" in it for it in found):
            return found
        time.sleep(ask.run.settings.poll)
    return statuses(ask, api)


def authorizers(ask):
    api = ask.http_api()
    uri = ask.run.fixtures.function("guard", "authorize")
    region, partition = ask.account.region, ask.account.partition
    uri = f"arn:{partition}:apigateway:{region}:lambda:path/2015-03-31/functions/{uri}/invocations"
    authorizer = ask.api(
        "create_authorizer", ApiId=api, Name="guard", AuthorizerType="REQUEST", AuthorizerUri=uri,
        AuthorizerPayloadFormatVersion="2.0", EnableSimpleResponses=True, IdentitySource=["$request.header.x-key"],
    )["AuthorizerId"]  # fmt: skip
    ask.api("get_authorizer", ApiId=api, AuthorizerId=authorizer)
    route = ask.route(api, AuthorizationType="CUSTOM", AuthorizerId=authorizer)
    ask.stage(api)
    used = ask.attempt("apigatewayv2", "delete_authorizer", ApiId=api, AuthorizerId=authorizer)
    text = f"{used}"
    ask.observe("authorizer-in-use", text, used.code == "ConflictException" and "referenced" in used.text)
    if used.code:
        ask.api("update_route", ApiId=api, RouteId=route, AuthorizationType="NONE", AuthorizerId="")
        time.sleep(0.05)
        answer = ask.attempt("apigatewayv2", "delete_authorizer", ApiId=api, AuthorizerId=authorizer)
        ask.observe("authorizer-just-released", str(answer), not answer.code)


def conflicts(ask):
    api = ask.http_api()
    ask.route(api)
    ask.stage(api)
    route = ask.attempt("apigatewayv2", "create_route", ApiId=api, RouteKey="GET /a")
    stage = ask.attempt("apigatewayv2", "create_stage", ApiId=api, StageName="$default", AutoDeploy=True)
    ask.observe("api-conflicts", f"route: {route}; stage: {stage}", route.code == stage.code == "ConflictException")
    ask.api("create_route", ApiId=api, RouteKey="GET /x/{one}")
    sibling = ask.attempt("apigatewayv2", "create_route", ApiId=api, RouteKey="GET /x/{two}")
    ask.observe("route-variable-conflict", str(sibling), sibling.code == "ConflictException")
    missing = ask.attempt("apigatewayv2", "update_api", ApiId="aaaaaaaaaa", Description="missing")
    known = missing.code == "NotFoundException" or "oncurrent modification" in missing.text
    ask.observe("api-missing", str(missing), known)


def stage_tags(ask):
    api = ask.http_api()
    created = ask.attempt("apigatewayv2", "create_stage", ApiId=api, StageName="$default", AutoDeploy=True,
                          Tags=ask.run.fixtures.tag_map())  # fmt: skip
    if not created.code:
        ask.api("get_stage", ApiId=api, StageName="$default")
    arn = f"arn:{ask.account.partition}:apigateway:{ask.account.region}::/apis/{api}/stages/$default"
    tagged = ask.attempt("apigatewayv2", "tag_resource", ResourceArn=arn, Tags={"Team": "shop"})
    shown = ask.attempt("apigatewayv2", "get_stage", ApiId=api, StageName="$default").data.get("Tags", {})
    untagged = ask.attempt("apigatewayv2", "untag_resource", ResourceArn=arn, TagKeys=["Team"])
    after = ask.attempt("apigatewayv2", "get_stage", ApiId=api, StageName="$default").data.get("Tags", {})
    text = (f"CreateStage with tags: {created}; TagResource: {tagged}, then GetStage has {sorted(shown)}; "
            f"UntagResource: {untagged}, then {sorted(after)}")  # fmt: skip
    accepted = not (created.code or tagged.code or untagged.code)
    ask.observe("stage-tags", text, accepted and "Team" in shown and "Team" not in after)


def stages(ask):
    api = ask.http_api()
    ask.route(api)
    stage = {"ApiId": api, "StageName": "v1"}
    ask.api("create_stage", **stage, AutoDeploy=True, Description="first", StageVariables={"a": "1", "b": "2"})
    update = ask.attempt("apigatewayv2", "update_stage", **stage, Description="", StageVariables={"b": "", "c": "3"})
    after = ask.api("get_stage", **stage)
    variables, description = after.get("StageVariables", {}), after.get("Description")
    ask.observe("stage-variables", f"{update}, then {sorted(variables)}", sorted(variables) == ["a", "c"])
    ask.observe("stage-description", f"{update}, then {description}", description == "first")
    value = ask.attempt("apigatewayv2", "update_stage", **stage, StageVariables={"a": "b c"})
    name = ask.attempt("apigatewayv2", "create_stage", ApiId=api, StageName="a.b")
    refused = value.code == name.code == "BadRequestException"
    ask.observe("stage-grammar", f"value: {value}; name: {name}", refused)


def route_settings(ask):
    api = ask.http_api()
    ask.route(api)
    route = ask.route(api, "GET /b")
    ask.stage(api)
    limits = {"ThrottlingRateLimit": 5, "ThrottlingBurstLimit": 5}
    stage = {"ApiId": api, "StageName": "$default"}
    ask.api("update_stage", **stage, DefaultRouteSettings=limits, RouteSettings={"GET /b": limits})
    ask.api("delete_route", ApiId=api, RouteId=route)
    blocked = ask.attempt("apigatewayv2", "update_stage", **stage, RouteSettings={"GET /a": limits})
    ask.observe("settings-stale", str(blocked), blocked.code == "NotFoundException" and "GET /b" in blocked.text)
    other = ask.attempt("apigatewayv2", "update_stage", **stage, Description="without settings")
    ask.observe("settings-stale-other", str(other), not other.code)
    empty = ask.attempt("apigatewayv2", "update_stage", **stage, DefaultRouteSettings={})
    after = ask.api("get_stage", **stage)["DefaultRouteSettings"]
    ask.observe("settings-kept", f"{empty}, then {after}", "ThrottlingRateLimit" in after)


def mappings(ask):
    name = f"{ask.run.name('question')}.{ask.run.settings.domain}"
    certificate = ask.run.fixtures.certificate_arn()
    configuration = {"CertificateArn": certificate, "EndpointType": "REGIONAL", "SecurityPolicy": "TLS_1_2"}
    tags = ask.run.fixtures.tag_map()
    ask.api("create_domain_name", DomainName=name, DomainNameConfigurations=[configuration | {
        "IpAddressType": "dualstack"}], Tags=tags)  # fmt: skip
    ask.afterwards("apigatewayv2", "delete_domain_name", DomainName=name)

    def configured():
        found = ask.api("get_domain_name", DomainName=name)["DomainNameConfigurations"][0]
        return found if found.get("DomainNameStatus", "AVAILABLE") == "AVAILABLE" else None

    ask.run.fixtures.wait("The domain was not available", 900, configured)
    ask.api("update_domain_name", DomainName=name, DomainNameConfigurations=[configuration])
    after = ask.run.fixtures.wait("The domain was not available", 900, configured)
    ask.observe("domain-dualstack", f"an update without IpAddressType leaves {after.get('IpAddressType', 'none')}")

    api = ask.http_api()
    ask.route(api)
    ask.stage(api)
    wait_for_deployment(ask, api, "none")
    mapping = ask.api("create_api_mapping", ApiId=api, DomainName=name, Stage="$default")["ApiMappingId"]
    ask.afterwards("apigatewayv2", "delete_api_mapping", DomainName=name, ApiMappingId=mapping)
    ask.api("get_api_mapping", DomainName=name, ApiMappingId=mapping)
    second = ask.attempt("apigatewayv2", "create_api_mapping", ApiId=api, DomainName=name, Stage="$default")
    exists = second.code == "ConflictException" and "already exists" in second.text.lower()
    ask.observe("mapping-exists", str(second), exists)
    stage = ask.attempt("apigatewayv2", "delete_stage", ApiId=api, StageName="$default")
    whole = ask.attempt("apigatewayv2", "delete_api", ApiId=api)
    words = "emove all"
    expected = all(it.code == "BadRequestException" and words in it.text for it in (stage, whole))
    ask.observe("mapping-in-use", f"DeleteStage: {stage}; DeleteApi: {whole}", expected)


def log_group(ask):
    name = f"/aws/vendedlogs/{ask.run.name('question')}"
    ask.do("logs", "create_log_group", logGroupName=name, tags=ask.run.fixtures.tag_map())
    ask.afterwards("logs", "delete_log_group", logGroupName=name)

    def is_visible():
        return ask.do("logs", "describe_log_groups", logGroupNamePrefix=name)["logGroups"]

    ask.run.fixtures.wait(f"{name} was not visible", 60, is_visible)
    return name


def logs_principal(ask):
    group, function = log_group(ask), ask.run.fixtures.function("hello")
    region, account, partition = ask.account.region, ask.account.id, ask.account.partition
    answers = []
    # Two functions, because AWS may use the policy of a function for some seconds after its change.
    other = ask.run.fixtures.function("other")
    for principal, function in (("logs.amazonaws.com", function), (f"logs.{region}.amazonaws.com", other)):
        statement = {"FunctionName": function, "StatementId": "question"}
        ask.do("lambda", "add_permission", **statement, Action="lambda:InvokeFunction", Principal=principal,
               SourceArn=f"arn:{partition}:logs:{region}:{account}:log-group:{group}:*")  # fmt: skip
        ask.afterwards("lambda", "remove_permission", **statement)
        put = {"logGroupName": group, "filterName": "question", "filterPattern": "", "destinationArn": function}
        answer = ask.attempt("logs", "put_subscription_filter", **put)
        deadline = time.monotonic() + 60
        # The policy of a function takes some seconds to be in use.
        while answer.code == "InvalidParameterException" and time.monotonic() < deadline:
            time.sleep(ask.run.settings.poll)
            answer = ask.attempt("logs", "put_subscription_filter", **put)
        answers.append((principal, answer))
        if not answer.code:
            ask.do("logs", "delete_subscription_filter", logGroupName=group, filterName="question")
        ask.do("lambda", "remove_permission", **statement)
    text = "; ".join(f"{principal}: {answer}" for principal, answer in answers)
    ask.observe("logs-principal", text, not answers[0][1].code)


def concurrent_changes(ask):
    group = log_group(ask)

    def change(number):
        days = (1, 3, 5, 7)[number % 4]
        return ask.attempt("logs", "put_retention_policy", logGroupName=group, retentionInDays=days)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(change, range(24)))
    codes = sorted({answer.code for answer in answers if answer.code})
    text = f"24 calls, 8 at a time: {[str(it) for it in answers if it.code][:1] or 'all are accepted'}"
    ask.observe("logs-concurrent", text, set(codes) <= {"OperationAbortedException", "ThrottlingException"})


def vpc_links(ask):
    subnet = ask.subnet(ask.vpc())
    tags = ask.run.fixtures.tag_map()
    link = ask.api("create_vpc_link", Name=ask.run.name("question"), SubnetIds=[subnet], Tags=tags)["VpcLinkId"]
    ask.afterwards("apigatewayv2", "delete_vpc_link", VpcLinkId=link)

    def shown():
        return ask.attempt("apigatewayv2", "get_vpc_link", VpcLinkId=link)

    def interfaces():
        filters = [{"Name": "subnet-id", "Values": [subnet]}]
        return ask.ec2("describe_network_interfaces", Filters=filters)["NetworkInterfaces"]

    ask.wait(f"{link} was pending", LONGEST, lambda: shown().data.get("VpcLinkStatus", "PENDING") != "PENDING")
    groups = [[group["GroupName"] for group in it["Groups"]] for it in interfaces()]
    text = f"GetVpcLink shows {shown().data.get('SecurityGroupIds')}, the groups of its interfaces are {groups}"
    ask.observe("link-without-groups", text, groups == [["default"]])
    in_use = ask.attempt("ec2", "delete_subnet", SubnetId=subnet)
    ask.api("delete_vpc_link", VpcLinkId=link)
    ask.wait(f"{link} was not deleted", LONGEST, lambda: is_not_found(shown().code))
    left = len(interfaces())
    text = f"while the link exists: {in_use}; after its deletion, the subnet has {left} interfaces"
    ask.observe("link-interfaces", text, in_use.code == "DependencyViolation" and left == 0)


def key_pair_origins(ask):
    answer = ask.attempt("acm", "list_certificates", CertificateKeyPairOrigins=ORIGINS)
    ask.observe("acm-key-origins", str(answer))


QUESTIONS = [
    Question([
        Row("cors-max-age", "Does an update of CORS without MaxAge keep the value, and does 0 remove it?",
            "0 removes it, so the provider sends 0", API),
        Row("cors-false-only", "What does AWS store for CORS that only states that credentials are not allowed?",
            "either form; the provider counts both as equal", API),
    ], cors),
    Question([
        Row("deployment-timeline", "When do GetStage and GetDeployments show the deployment of an UpdateRoute?",
            "after the answer, with another deployment ID", DEPLOYMENT),
        Row("deployment-after-failure", "Does UpdateStage with AutoDeploy deploy again after a failed deployment?",
            "yes: a further deployment is listed", "src/aws/apigateway/stage.rs"),
    ], deployments, 2),
    Question([
        Row("deployment-equal-update", "Does AWS deploy after an UpdateRoute that changes nothing?",
            "unknown; after a minute without a deployment, the provider sets the stage again", DEPLOYMENT),
        Row("deployment-unused-integration", "Does AWS deploy after a CreateIntegration that no route uses?",
            "unknown; after a minute without a deployment, the provider sets the stage again", DEPLOYMENT),
        Row("deployment-clock",
            "How do the creation times of 20 deployments compare with the Date of the answers to their changes?",
            "at most 2 s earlier", DEPLOYMENT),
    ], changes_without_effect, 5),
    Question([
        Row("deployment-suspended",
            "Does AWS deploy no change while automatic deployment is off, and all of them when it is on again?",
            "yes", "src/reconcile/suspend.rs"),
    ], suspended, 2),
    Question([
        Row("authorizer-in-use", "What does DeleteAuthorizer return while a route uses it?",
            'ConflictException with "referenced"', CODES),
        Row("authorizer-just-released",
            "Does AWS delete an authorizer 50 ms after UpdateRoute has removed its last use?",
            "yes", "src/aws/apigateway/authorizer.rs"),
    ], authorizers),
    Question([
        Row("api-conflicts", "What do CreateRoute and CreateStage return if the object exists?",
            "ConflictException", CODES),
        Row("route-variable-conflict", "What does CreateRoute return for another variable in the same place?",
            "ConflictException", "src/aws/apigateway/route.rs"),
        Row("api-missing", "What does AWS return for a change of an API that does not exist?",
            'NotFoundException, or "concurrent modification"', "src/aws/apigateway/missing_api.rs"),
    ], conflicts),
    Question([
        Row("stage-tags", "Does AWS accept tags of a stage, and does GetStage return the current ones?",
            "yes", "src/aws/apigateway/stage.rs"),
    ], stage_tags),
    Question([
        Row("stage-variables", "Does UpdateStage merge the variables, and remove those with an empty value?",
            "yes", "src/aws/apigateway/stage.rs"),
        Row("stage-description", "Does UpdateStage ignore an empty description?",
            "yes, so the provider cannot remove one", "src/aws/apigateway/stage.rs"),
        Row("stage-grammar", "What does AWS return for a variable with a space, and for a stage name with a dot?",
            "BadRequestException", "src/topology/http_gateway/stage.rs"),
    ], stages),
    Question([
        Row("settings-stale", "What does UpdateStage return for settings of a route if those of a missing one exist?",
            "NotFoundException with the key of the missing one", "src/aws/apigateway/stage/settings.rs"),
        Row("settings-stale-other", "Does AWS accept an UpdateStage without settings of routes then?",
            "yes", "src/aws/apigateway/stage/settings.rs"),
        Row("settings-kept", "Does UpdateStage with empty default settings keep the limits?",
            "yes, so the provider cannot remove them", "src/topology/http_gateway/blueprint/settings.rs"),
    ], route_settings),
    Question([
        Row("domain-dualstack", "Does UpdateDomainName without IpAddressType keep dualstack?",
            "unknown; the provider always sends it", "src/aws/apigateway/domain_name.rs"),
        Row("mapping-exists", "What does CreateApiMapping return if the key is mapped?",
            'ConflictException with "already exists"', CODES),
        Row("mapping-in-use", "What do DeleteStage and DeleteApi return while a domain maps to them?",
            'BadRequestException with "remove all ... mappings"', CODES),
    ], mappings, 4, needs_domain=True),
    Question([
        Row("link-without-groups", "Which security groups does a VPC link use that was created without any?",
            "the default one of the VPC", "src/topology/http_gateway/vpc_links.rs"),
        Row("link-interfaces", "Do its network interfaces block the deletion of the subnet until it is deleted?",
            "yes", "src/aws/apigateway/vpc_link.rs"),
    ], vpc_links, 8),
    Question([
        Row("logs-principal", "With which principal may CloudWatch Logs invoke a function?",
            "logs.amazonaws.com", "src/aws/lambda/permission.rs"),
    ], logs_principal, 1),
    Question([
        Row("logs-concurrent", "What does CloudWatch Logs return for concurrent changes of a log group?",
            "OperationAbortedException, or success", CODES),
    ], concurrent_changes),
    Question([
        Row("acm-key-origins", "Does ACM accept the parameter CertificateKeyPairOrigins of ListCertificates?",
            "unknown; if not, the provider calls without it", "src/aws/lookups/acm.rs"),
    ], key_pair_origins),
]  # fmt: skip

# Identifier, subject and reason.
NOT_ASKED = [
    ("documented-policy", "The policy of the permissions guide as it is",
     "The provider had the credentials of the scripts. ROLE_ARN lets it assume a role with this policy."),
    ("domain-throttling", "TooManyRequestsException of domain names",
     "It needs many custom domains within a minute."),
    ("api-quotas", "Quotas of 300 routes and integrations and 10 authorizers",
     "They need hundreds of calls, and an account may have higher ones."),
    ("access-log-policy", "The full resource policy of access logs",
     "It would fill a policy that the whole account shares."),
    ("acm-acme", "Certificates from ACME",
     "They need an ACME client."),
]  # fmt: skip
