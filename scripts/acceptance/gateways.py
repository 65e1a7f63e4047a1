"""The scenarios of `fgw_http_gateway`: its examples as users copy them, and changes of one gateway that is called."""

import json
import re

from acceptance import http_client, networks
from acceptance.scenario import Plan
from processes import ROOT, Failed

EXAMPLES = ROOT / "examples/resources/fgw_http_gateway"
KIND = "fgw_http_gateway"
ADDRESS = f"{KIND}.change"
HELLO, MOVED = "GET /hello", "GET /moved/{id}"
KEY = {"x-key": "open sesame"}
# API Gateway reads its discovery document. No test has a token of it.
ISSUER = "https://accounts.google.com"

SUMMARIES = {
    "authorizers": "two authorizers",
    "domain": "a custom domain with a DNS record",
    "logs": "encrypted access logs with a subscription",
    "integrations": "a function, an HTTP endpoint and actions of services, with changed requests and responses",
    "production": "routes, authorizers, CORS, access logs",
    "resource": "one function",
    "stages": "a named stage with variables",
    "tokens": "a JWT authorizer, and a route for signed requests",
    "throttling": "throttling, metrics, IPv6, and a custom domain as the only endpoint",
}


def plans():
    found = []
    for file in sorted(EXAMPLES.glob("*.tf")):
        # The private example needs a load balancer in a VPC and a delivery stream, and that of mutual TLS a trust store.
        if file.name.startswith("import-") or file.name in ("mutual_tls.tf", "private.tf"):
            continue
        run = lambda scenario, file=file: example(scenario, file)  # noqa: E731
        summary = f"example {file.name}: {SUMMARIES.get(file.stem, 'without a summary')}"
        needs_domain = "hosted_zone_id" in file.read_text()
        minutes = 4 if needs_domain else 2
        found.append(Plan("gateway", f"gateway-{file.stem}", summary, run, minutes, needs_domain=needs_domain))
    summary = (
        "changes of a gateway: routes, functions, endpoints, parameters, authorizers, tokens, signatures, throttling, IP "
        "addresses, CORS, access logs, tags, stage variables, another stage, import, calls over HTTP"
    )
    found.append(Plan("gateway", "gateway-change", summary, change, 12))
    summary = "a VPC link into a network: exchange, import, and the destruction of both in one run"
    found.append(Plan("gateway", "gateway-links", summary, links, 20))
    return found


def example(scenario, file):
    workspace = scenario.workspace
    with scenario.step("prepare"):
        text = with_functions(scenario.run, file.read_text())
        workspace.write("main.tf", text)
        workspace.write_json("terraform.tfvars.json", variables(scenario.run, text))
        workspace.write("acceptance_override.tf", networks.blocks(overrides(scenario.run, text), KIND))
    scenario.apply("create")
    scenario.destroy()


def with_functions(run, text):
    """The example with functions of this account and an existing issuer. Parts of a map cannot be overridden."""

    def arn(match):
        name, _, alias = match[1].partition(":")
        return run.fixtures.function(name) + (f":{alias}" if alias else "")

    text = re.sub(r"arn:aws:lambda:[a-z0-9-]+:123456789012:function:([\w:-]+)", arn, text)
    if ":role/" in text:
        text = re.sub(r"arn:aws:iam::123456789012:role/[\w-]+", run.fixtures.role_arn(), text)
    text = re.sub(r'(issuer\s*=\s*")[^"]+', rf"\g<1>{ISSUER}", text)
    before, mark, authorizers = text.partition("faas_authorizers = {")

    def name(match):
        return match[1] + run.fixtures.function(match[2], "authorize").rpartition(":")[2]

    return before + mark + re.sub(r'(authorizer_name\s*=\s*")([\w-]+)', name, authorizers)


def variables(run, text):
    values = {}
    if "var.orders_function_arn" in text:
        values["orders_function_arn"] = run.fixtures.function("orders")
    if "var.hosted_zone_id" in text:
        values["hosted_zone_id"] = run.fixtures.zone_id()
    return values


def overrides(run, text):
    found = {}
    for label in re.findall(rf'^resource "{KIND}" "(\w+)"', text, re.MULTILINE):
        attributes = {"name": run.name(label)}
        if "access_log_logservice_group_name" in text:
            attributes["access_log_logservice_group_name"] = f"/aws/vendedlogs/{run.name(label)}"
        if "access_log_logservice_group_kms_key_id" in text:
            attributes["access_log_logservice_group_kms_key_id"] = run.fixtures.key_alias(f"{label}-logs")
        if "var.hosted_zone_id" in text:
            attributes["domain_name"] = f"{run.name(label)}.{run.settings.domain}"
            attributes["certificate_domain"] = f"*.{run.settings.domain}"
            run.fixtures.certificate_arn()  # Without one, the scenario fails with a clear message.
        found[label] = attributes
    return found


def change(scenario):
    run = scenario.run
    with scenario.step("prepare"):
        hello, other = run.fixtures.function("hello"), run.fixtures.function("other")
        guard = run.fixtures.function("guard", "authorize").rpartition(":")[2]
    routes = {HELLO: {"faas_function_arn": hello}}
    attributes = {"name": run.name("change"), "route_config": routes}

    def apply(title, **values):
        nonlocal attributes
        attributes = attributes | values
        networks.write(scenario.workspace, attributes, KIND)
        scenario.apply(title)

    apply("create")
    answers(scenario, "/hello", 200)
    apply("add a route", route_config=routes | {MOVED: {"faas_function_arn": hello}})
    answers(scenario, "/moved/7", 200)
    with http_client.Load(run, url(scenario, "/moved/7")) as load:
        apply("change the function of a route", route_config=routes | {MOVED: {"faas_function_arn": other}})
    observe(run, load)
    answers(scenario, "/moved/7", 200, text="other")
    authorizer = {
        "authorizer_name": guard,
        "authorizer_payload_format_version": "2.0",
        "enable_simple_responses": True,
        "identity_sources": ["$request.header.x-key"],
        "result_ttl_in_seconds": 60,
    }
    guarded = routes | {MOVED: {"faas_function_arn": other, "authorizer_name": "guard"}}
    apply("add an authorizer", route_config=guarded, faas_authorizers={"guard": authorizer})
    answers(scenario, "/moved/7", 401)
    answers(scenario, "/moved/7", 200, KEY)
    apply("change its TTL", faas_authorizers={"guard": authorizer | {"result_ttl_in_seconds": 120}})
    tokens = {"guard": {"issuer": ISSUER, "audience": ["fgw-acceptance"], "identity_sources": ["$request.header.x-key"]}}
    scoped = guarded[MOVED] | {"authorization_scopes": ["read"]}
    apply("move the name to a JWT authorizer", faas_authorizers={}, jwt_authorizers=tokens, route_config=guarded)
    answers(scenario, "/moved/7", 401, KEY)
    apply("require a scope", route_config=routes | {MOVED: scoped})
    apply("require it of all routes", default_authorizer_name="guard", default_authorization_scopes=["read"])
    answers(scenario, "/hello", 401)
    signed = {"faas_function_arn": other, "authorization_type": "AWS_IAM"}
    apply("require signatures", jwt_authorizers={}, route_config=routes | {MOVED: signed},
          default_authorizer_name=None, default_authorization_scopes=None)  # fmt: skip
    answers(scenario, "/moved/7", 403)
    apply("move it back", faas_authorizers={"guard": authorizer}, route_config=guarded)
    answers(scenario, "/moved/7", 200, KEY)
    endpoint = {"integration_uri": "https://example.com/", "response_parameters": {"404": {"append:header.x-shop": "1"}}}
    apply("pass requests to an HTTP endpoint", route_config=routes | {MOVED: endpoint})
    mapped = endpoint | {"response_parameters": {"404": {"overwrite:statuscode": "410"}}}
    apply("replace a parameter of its responses", route_config=routes | {MOVED: mapped})
    apply("remove the parameters", route_config=routes | {MOVED: {"integration_uri": "https://example.com/"}})
    queue = f"https://sqs.{run.account.region}.amazonaws.com/{run.account.id}/fgw-acceptance"
    action = {
        "integration_subtype": "SQS-SendMessage",
        "credentials_arn": run.fixtures.role_arn(),
        "request_parameters": {"QueueUrl": queue, "MessageBody": "$request.body"},
    }
    apply("pass requests to a queue", route_config=routes | {MOVED: action})
    by_role = {"faas_function_arn": other, "credentials_arn": run.fixtures.role_arn()}
    apply("call a function with a role", route_config=routes | {MOVED: by_role})
    apply("call it by permission", route_config=guarded)
    answers(scenario, "/moved/7", 200, KEY)
    limits = {"throttling_rate_limit": 100, "throttling_burst_limit": 50, "detailed_metrics_enabled": True}
    apply("throttle all routes", default_route_settings=limits)
    strict = {HELLO: {"faas_function_arn": hello, "throttling_rate_limit": 20, "throttling_burst_limit": 10}}
    apply("throttle one route more", route_config=guarded | strict)
    answers(scenario, "/hello", 200)
    renamed = {"GET /moved/{name}": guarded[MOVED] | {"throttling_rate_limit": 20, "throttling_burst_limit": 10}}
    apply("throttle a route and rename its variable", route_config=strict | renamed)
    apply("remove the limits of routes", route_config=guarded)
    answers(scenario, "/hello", 200)
    apply("use the default limits of most accounts", default_route_settings={
        "throttling_rate_limit": 10000, "throttling_burst_limit": 5000,
    })
    apply("use IPv4 and IPv6", ip_address_type="dualstack")
    apply("use IPv4 only", ip_address_type="ipv4")
    cors = {"allow_origins": ["https://shop.example.com"], "allow_methods": ["GET"], "max_age": 300}
    apply("enable CORS", cors_configuration=cors)
    apply("remove the maximum age of CORS", cors_configuration=cors | {"max_age": None})
    apply("disable CORS", cors_configuration=None)
    apply("enable access logs", access_log_logservice_group_name=f"/aws/vendedlogs/{run.name('change')}")
    apply("send them to another group", access_log_logservice_group_name=None,
          access_log_destination_arn=run.fixtures.log_group("elsewhere"))  # fmt: skip
    apply("disable access logs", access_log_destination_arn=None)
    apply("set tags", api_tags={"Team": "shop"}, stage_tags={"Team": "shop"})
    answers(scenario, "/hello", 200)
    variables = {"backend": "blue", "level": "a,b"}
    apply("set stage variables", stage_variables=variables, stage_description="Blue.")
    apply("replace a stage variable", stage_variables={"backend": "green"}, stage_description="Green.")
    apply("use a named stage", stage_name="live")
    answers(scenario, "/hello", 200)
    scenario.import_again(ADDRESS)
    answers(scenario, "/moved/7", 200, KEY)
    apply("use the default stage", stage_name="$default", stage_variables={}, stage_description=None)
    answers(scenario, "/hello", 200)
    scenario.destroy()


def links(scenario):
    """The network interfaces of a link block the deletion of its subnets. Requests through it need a load balancer."""
    run = scenario.run
    with scenario.step("prepare"):
        routes = {HELLO: {"faas_function_arn": run.fixtures.function("hello")}}
    network = {"vpc_name": run.name("links"), "cidr_block": "10.64.0.0/16", "num_availability_zones": 2, "num_nat_gateways": 0}

    def subnets(tier):
        return f"${{{networks.KIND}.change.{tier}_subnet_ids}}"

    def apply(title, **values):
        link = {
            "subnet_ids": subnets("private_app"),
            "security_group_ids": [f"${{{networks.KIND}.change.default_security_group_id}}"],
        }
        attributes = {"name": run.name("links"), "route_config": routes, "vpc_links": {"main": link | values}}
        networks.write(scenario.workspace, attributes, KIND, {networks.KIND: network})
        scenario.apply(title)

    apply("create a network and a VPC link into it")
    apply("rename the link and tag it", name=run.name("main"), tags={"Team": "shop"})
    apply("move it to other subnets", subnet_ids=subnets("private_persistence"))
    scenario.import_again(ADDRESS)
    scenario.destroy()


def url(scenario, path):
    return scenario.workspace.attribute(ADDRESS, "invoke_url").rstrip("/") + path


def answers(scenario, path, status, headers=None, text=""):
    """Calls the gateway. AWS needs some seconds until a new host name and a new deployment are in use everywhere."""
    title = f"GET {path} returns {status}" + (" with the key" if headers else "")
    with scenario.step(title):
        address, last = url(scenario, path), None

        def is_expected():
            nonlocal last
            last = http_client.call(scenario.run, address, headers)
            return last[0] == status and text in last[1]

        try:
            scenario.run.fixtures.wait(f"{path} did not return {status}", 90, is_expected)
        except Failed as failure:
            raise Failed(f"{failure} The last answer: {last[0]} {last[1][:300]}") from failure
        scenario.workspace.record(f"GET {address}\n{json.dumps(last)}")


def observe(run, load):
    text = f"{load.total} requests, status codes {dict(sorted(load.statuses.items()))}"
    run.observe("route-moved-under-load", text, as_assumed=set(load.statuses) == {"200"})
