"""The behaviors of integrations and VPC links of API Gateway that ministack lacks.

1. An integration keeps all its members. An update merges parameters one by one: an empty text removes one of requests,
   and an empty map removes those of a status code. Everything that AWS rejects is rejected with its text.
2. The URL of an HTTP endpoint gets the values of path variables. Nothing is appended to it. The method is that of the
   integration, and a response that takes longer than its timeout is a 503.
3. Parameters of requests and responses are mapped for functions and endpoints.
4. Actions of services call the services of ministack, without a check of the role.
5. VPC links have states, and reach the listeners that `PUT /v2/vpclinks/_listeners` names: a port on loopback by ARN,
   and the name in the certificate of one with TLS. The call with TLS is simulated. The same request changes the settings
   of links, see `Links`. A GET request returns the links with network interfaces, and does not count as a read of them.
   Each account has subnets for them, see `SUBNETS`.
"""

import asyncio
import base64
import contextvars
import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

from ministack.core.responses import get_account_id, get_region
from ministack.services import apigateway, ec2, eventbridge, kinesis, sqs, stepfunctions

# The current request: its path, its body, and the integration that it reaches.
REQUEST = contextvars.ContextVar("request", default=None)

# The members that ministack drops.
FURTHER = ("connectionId", "tlsConfig", "credentialsArn", "integrationSubtype")

ACTIONS = {
    "EventBridge-PutEvents": ("Detail", "DetailType", "Source"),
    "SQS-SendMessage": ("QueueUrl", "MessageBody"),
    "SQS-ReceiveMessage": ("QueueUrl",),
    "SQS-DeleteMessage": ("ReceiptHandle", "QueueUrl"),
    "SQS-PurgeQueue": ("QueueUrl",),
    "AppConfig-GetConfiguration": ("Application", "Environment", "Configuration", "ClientId"),
    "Kinesis-PutRecord": ("StreamName", "Data", "PartitionKey"),
    "StepFunctions-StartExecution": ("StateMachineArn",),
    "StepFunctions-StartSyncExecution": ("StateMachineArn",),
    "StepFunctions-StopExecution": ("ExecutionArn",),
}
SERVICES = {
    "EventBridge": (eventbridge, "AWSEvents"),
    "SQS": (sqs, "AmazonSQS"),
    "Kinesis": (kinesis, "Kinesis_20131202"),
    "StepFunctions": (stepfunctions, "AWSStepFunctions"),
}
LISTENER = re.compile(r"arn:[^:]+:elasticloadbalancing:.*:listener/(app|net)/.+|arn:[^:]+:servicediscovery:.*/srv-.+")
NAMES = {
    "request": re.compile(r"(append|overwrite|remove):(header|querystring)\.(.+)|overwrite:path"),
    "response": re.compile(r"(append|overwrite|remove):(header)\.(.+)|overwrite:statuscode"),
}
# The variables of values (developer guide of API Gateway). It lists no parts of a request for responses, but has an
# example, so these are accepted.
STAGE = r"context\.[A-Za-z0-9._]+|stageVariables\.[A-Za-z0-9_]+"
BODY = r"body(?!.*(?:\.\.|\?\())(?:[.\[].+)?"
OF_REQUEST = rf"{STAGE}|request\.(?:(?:header|querystring)\..+|path(?:\..+)?|{BODY})"
SOURCES = {
    "request": re.compile(OF_REQUEST),
    "response": re.compile(rf"{OF_REQUEST}|response\.(?:header\..+|{BODY})"),
}
ROOTS = re.compile(r"(?:context|request|response|stageVariables)\b")


class Links:
    """The VPC links of an account."""

    def __init__(self):
        self.all = {}
        self.listeners = {}
        # The time from which each link serves requests.
        self.serving = {}
        # The number of reads that show a new link as PENDING, and a deleted one as DELETING.
        self.pending = 2
        self.deleting = 2
        # Whether all links stay in their states.
        self.frozen = False
        # The time in seconds until an available link serves requests.
        self.warming = 0
        # The message with which new links fail, if they do.
        self.failure = None
        # The message with which accepted deletions fail, if they do.
        self.undeletable = None
        # The zones in which API Gateway has no links (developer guide of API Gateway).
        self.unsupported = ["use1-az3"]
        # The number of further calls in which API Gateway cannot read the listener of a new load balancer.
        self.unreadable = 0


links = {}

# The subnets of each account, with those of an example, and the letters of their zones.
SUBNETS = {
    "subnet-1": "a",
    "subnet-2": "b",
    "subnet-3": "c",
    "subnet-0123456789abcdef0": "a",
    "subnet-0fedcba9876543210": "b",
}


def own():
    return links.setdefault((get_account_id(), get_region()), Links())


def error(text, code="BadRequestException", status=400):
    return apigateway._apigw_error(code, text, status)


# ---- Control plane ----


def invalid_mapping(reason):
    return error(f"Invalid mapping expression specified: Validation Result: warnings : [], errors : [{reason}]")


def variables(value):
    """The variables of a value without `$` and braces; None if a brace is not closed."""
    if value.startswith("$") and not value.startswith("${"):
        return [value[1:]]
    parts = [part.split("}", 1) for part in value.split("${")[1:]]
    return [part[0] for part in parts] if all(len(part) == 2 for part in parts) else None


def is_source(kind, value):
    """Whether the value has a form that AWS accepts. What it does with other words after `$` is unknown."""
    found = variables(value)
    return found is not None and all(SOURCES[kind].fullmatch(it) for it in found if ROOTS.match(it))


def rejected_parameters(kind, parameters):
    for name, value in parameters.items():
        match = NAMES[kind].fullmatch(name)
        if match is None:
            return invalid_mapping(f"Invalid mapping expression parameter specified: {name}")
        if name == "overwrite:statuscode" and not re.fullmatch(r"[2-5][0-9][0-9]|.*\$.*", value):
            return invalid_mapping(f"Invalid mapping expression value specified: {value}")
        if match.group(2) == "header" and apigateway._is_reserved_header(match.group(3)):
            return invalid_mapping(f"Operations on header {match.group(3)} are restricted")
        if len(value) > 512 or not (name.startswith("remove:") or is_source(kind, value)):
            return invalid_mapping(f"Invalid mapping expression value specified: {value}")
    return None


def is_own(arn):
    """Whether an ARN, if any, is of this account and Region. API Gateway accepts `*` for the account of the caller."""
    _, _, _, region, account, *_ = (arn or ":::::").split(":")
    return region in ("", get_region()) and account in ("", "*", get_account_id())


def rejected(data, stored):
    """The answer to a call that AWS rejects. What AWS does with some values is unknown, so nothing may send them."""
    now = {**stored, **data}
    kind, subtype = now.get("integrationType"), now.get("integrationSubtype")
    if kind not in ("AWS_PROXY", "HTTP_PROXY"):
        text = "Currently, an API with a protocol type of HTTP may only be associated with proxy integrations"
        return error(text)
    if stored and ("integrationType" not in data or (subtype and "integrationSubtype" not in data)):
        return error("Invalid integration URI specified")
    for name in ("integrationType", "integrationSubtype"):
        assert not stored or stored.get(name) == now.get(name), f"{name} changes"
    assert "" not in (data.get("credentialsArn"), data.get("connectionId")) and data.get("tlsConfig") != {}, data
    if not is_own(now.get("credentialsArn")):
        return error("Cross-account pass role is not allowed.", "AccessDeniedException", 403)
    if subtype:
        return rejected_action(now, data)
    if kind == "AWS_PROXY" and now.get("integrationMethod", "POST") != "POST":
        return error("HttpMethod must be POST for AWS_PROXY IntegrationType")
    if kind == "HTTP_PROXY" and not now.get("integrationMethod"):
        return error("Http method must be specified for HTTP_PROXY IntegrationType")
    if kind == "HTTP_PROXY" and now.get("payloadFormatVersion", "1.0") != "1.0":
        return error("Payload format version 2.0 is not supported for HTTP_PROXY integrations")
    uri = now.get("integrationUri", "")
    if now.get("connectionType") == "VPC_LINK":
        # AWS requires that all resources are in one account and Region. Its message for others is unknown.
        if not LISTENER.fullmatch(uri) or not is_own(uri):
            text = "integration uri should be a valid ELB listener ARN or a valid Cloud Map service ARN."
            return error(f"For VpcLink VPC_LINK, {text}")
        link = own().all.get(now.get("connectionId"))
        if link is None or link["status"] not in ("AVAILABLE", "INACTIVE"):
            return error(f"VpcLink {now.get('connectionId')} is not available")
        if own().unreadable and ":elasticloadbalancing:" in uri:
            own().unreadable -= 1
            return error("Unable to retrieve listener port and load balancer DNS name from ELB listener")
    elif kind == "HTTP_PROXY" and not re.match(r"https?://[^/]+", uri):
        return error("Invalid HTTP endpoint specified for URI")
    answer = rejected_parameters("request", data.get("requestParameters") or {})
    for code, parameters in (data.get("responseParameters") or {}).items():
        answer = answer or rejected_parameters("response", parameters)
        if not re.fullmatch("[2-5][0-9][0-9]", code):
            answer = answer or invalid_mapping(f"Invalid status code {code}")
        assert "" not in parameters.values(), "that an empty value removes a parameter is not documented"
    return answer


def rejected_action(now, data):
    parameters = data.get("requestParameters") or {}
    required = ACTIONS.get(now["integrationSubtype"].removesuffix("-1.0"))
    if required is None:
        return error(f"Invalid integration subtype {now['integrationSubtype']}")
    if "" in parameters.values():
        reason = "Mapping expression missing source or destination"
        return error(f"Invalid selection expression specified: Validation Result: warnings : [], errors : [{reason}]")
    for name, value in parameters.items():
        if not is_source("request", value):
            reason = f"Invalid source: {value} specified for destination: {name}"
            return error(f"Invalid selection expression specified: Validation Result: warnings : [], errors : [{reason}]")
    missing = [name for name in required if name not in parameters]
    if missing:
        return error(f"Missing required request parameters: {missing}")
    if not now.get("credentialsArn"):
        return error("Credentials ARN must be specified for integrations with AWS services")
    return None


def create_integration(api_id, data):
    answer = rejected(data, {})
    if answer is not None:
        return answer
    data = {"payloadFormatVersion": "1.0", **data}
    answer = new_integration(api_id, {**data, "requestParameters": None, "responseParameters": None})
    if answer[0] >= 300:
        return answer
    integration = apigateway._integrations.get(api_id)[json.loads(answer[2])["integrationId"]]
    keep(integration, data)
    if integration.get("integrationSubtype"):
        del integration["integrationUri"], integration["integrationMethod"]
    return apigateway._apigw_response(integration, 201)


def update_integration(api_id, integration_id, data):
    integration = apigateway._integrations.get(api_id, {}).get(integration_id)
    answer = rejected(data, integration) if integration else None
    if answer is not None:
        return answer
    plain = {name: value for name, value in data.items() if not name.endswith("Parameters")}
    answer = changed_integration(api_id, integration_id, plain)
    if answer[0] >= 300:
        return answer
    keep(integration, data)
    return apigateway._apigw_response(integration)


def keep(integration, data):
    """Stores the members that ministack drops, and merges parameters."""
    integration.update({name: data[name] for name in FURTHER if name in data})
    if integration.get("connectionType") != "VPC_LINK":
        integration.pop("tlsConfig", None)
    requests = {**integration.get("requestParameters", {}), **(data.get("requestParameters") or {})}
    integration["requestParameters"] = {name: value for name, value in requests.items() if value != ""}
    responses = integration.setdefault("responseParameters", {})
    for code, parameters in (data.get("responseParameters") or {}).items():
        if parameters:
            responses[code] = {**responses.get(code, {}), **parameters}
        else:
            responses.pop(code, None)
    for name in ("requestParameters", "responseParameters"):
        if not integration[name]:
            del integration[name]


# ---- VPC links ----


def handle_links(method, path, body, served):
    """The answer to a call about VPC links. `served` contains the deployed snapshots of all stages."""
    store, name = own(), path.removeprefix("/v2/vpclinks").strip("/")
    data = json.loads(body or "{}")
    if name == "_listeners":
        for link, status in data.pop("statuses", {}).items():
            store.all[link]["status"] = status
        for member, value in data.items():
            assert hasattr(store, member), member
            setattr(store, member, value)
        # Those with network interfaces: AWS deletes the interfaces of an inactive link.
        connected = [link for link in store.all.values() if link["status"] != "INACTIVE"]
        return apigateway._apigw_response({"connected": connected})
    if not name and method == "POST":
        return create_link(store, data)
    if not name:
        for link in list(store.all.values()):
            advance(store, link)
        return apigateway._apigw_response({"items": [shown(link) for link in store.all.values()]})
    link = store.all.get(name)
    if link is not None and method == "GET":
        advance(store, link)
        link = store.all.get(name)
    if link is None:
        return error(f"Unable to find VpcLink by ID {name}", "NotFoundException", 404)
    if method == "PATCH":
        link["name"] = data.get("name", link["name"])
    elif method == "DELETE":
        users = users_of(name, served)
        if users:
            text = f"Cannot delete vpc link. Vpc link '{name}', is referenced in [{', '.join(users)}] in format of"
            return error(f"{text} [Method:Resource]")
        link.update(status="DELETING", reads=store.deleting)
        return apigateway._apigw_response(shown(link), 202)
    return apigateway._apigw_response(shown(link))


def create_link(store, data):
    # Another emulator may have other subnets.
    for subnet in filter(SUBNETS.get, data["subnetIds"]):
        zone = ec2._az_id_for_zone_name(get_region() + SUBNETS[subnet])
        if zone in store.unsupported:
            return error(f"Subnet '{subnet}' is in Availability Zone '{zone}' where service is not available")
    if len(store.all) >= 10:
        return error("Maximum number of VPC links for this account has been reached", "LimitExceededException", 429)
    link = {
        "vpcLinkId": uuid.uuid4().hex[:6],
        "name": data["name"],
        "subnetIds": data["subnetIds"],
        "securityGroupIds": data.get("securityGroupIds") or [],
        "tags": data.get("tags") or {},
        "status": "PENDING",
        "vpcLinkVersion": "V2",
        "reads": store.pending,
    }
    store.all[link["vpcLinkId"]] = link
    return apigateway._apigw_response(shown(link), 201)


def init_defaults():
    plain_defaults()
    for subnet, letter in SUBNETS.items():
        zone = get_region() + letter
        names = {"SubnetId": subnet, "AvailabilityZone": zone, "AvailabilityZoneId": ec2._az_id_for_zone_name(zone)}
        ec2._subnets[subnet] = {**ec2._subnets[ec2._DEFAULT_SUBNET_ID], **names, "DefaultForAz": False}


def advance(store, link):
    """Counts a read of a link."""
    if store.frozen:
        return
    link["reads"] -= 1
    if link["reads"] >= 0 or link["status"] not in ("PENDING", "DELETING"):
        return
    if link["status"] == "DELETING" and store.undeletable:
        link.update(status="FAILED", vpcLinkStatusMessage=store.undeletable)
    elif link["status"] == "DELETING":
        del store.all[link["vpcLinkId"]]
    elif store.failure:
        link.update(status="FAILED", vpcLinkStatusMessage=store.failure)
    else:
        link["status"] = "AVAILABLE"
        store.serving[link["vpcLinkId"]] = time.monotonic() + store.warming


def shown(link):
    names = {"status": "vpcLinkStatus"}
    return {names.get(name, name): value for name, value in link.items() if name != "reads"}


def users_of(link, served):
    """The routes that refer to a link, now or in what is deployed."""
    account, users = get_account_id(), set()
    current = [(api, apigateway._routes.get(api, {}), apigateway._integrations.get(api, {})) for api in apigateway._apis]
    deployed = [(scope[2], it["_routes"], it["_integrations"]) for scope, it in served.items() if scope[0] == account]
    for _, routes, integrations in current + deployed:
        for route in routes.values():
            used = integrations.get(route.get("target", "").removeprefix("integrations/"), {})
            if used.get("connectionId") == link:
                users.add(f"{route['routeKey'].split(' ')[0]}:{route['routeId']}")
    return sorted(users)


def handle_tags(method, path, body, query):
    """The answer to a call about the tags of a link; None for those of other objects."""
    arn = urllib.parse.unquote(path.removeprefix("/v2/tags/"))
    if "::/vpclinks/" not in arn:
        return None
    link = own().all.get(arn.rsplit("/", 1)[1])
    if link is None:
        return error("Invalid Resource identifier specified", "NotFoundException", 404)
    if method == "POST":
        link["tags"].update(json.loads(body)["tags"])
    for key in query.get("tagKeys", []) if method == "DELETE" else []:
        link["tags"].pop(key, None)
    if method == "GET":
        return apigateway._apigw_response({"tags": link["tags"]})
    return (201 if method == "POST" else 204), {"Content-Type": "application/json"}, b"{}" if method == "POST" else b""


# ---- Data plane ----


def atom(expression, **values):
    """The value of a variable. ministack knows neither the path nor the body."""
    request = REQUEST.get()
    if expression == "$request.path":
        return request["path"]
    if expression == "$request.body":
        return (request["body"] or b"").decode()
    if expression.startswith("$request.body."):
        return member(request["body"], expression.removeprefix("$request.body."))
    answer = request.get("answer")
    if answer and expression.startswith("$response.header."):
        return answer[1].get(expression.removeprefix("$response.header.").lower())
    if answer and expression.startswith("$response.body."):
        return member(answer[2], expression.removeprefix("$response.body."))
    return plain_atom(expression, **values)


def member(body, path):
    value = json.loads(body or b"null")
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value if value is None or isinstance(value, str) else json.dumps(value)


def map_request(integration, **values):
    """The headers and the query of the request to an integration, and its path if a parameter overwrites it."""
    request = REQUEST.get()
    request.update(integration=integration, values={
        name: values[name] for name in ("request_headers", "request_query", "path_params", "context_vars", "stage_vars")
    })
    headers, query, path = plain_map_request(integration, **values)
    request["overwritten"] = path if "overwrite:path" in integration.get("requestParameters", {}) else None
    return headers, query, path


async def call_http(integration, path, method, headers, body, query):
    request = REQUEST.get()
    target = location(integration)
    if isinstance(target, int):
        return target, {"Content-Type": "application/json"}, b'{"message":"Internal Server Error"}'
    for name, value in request["values"]["path_params"].items():
        target = target.replace("{" + name.rstrip("+") + "}", value).replace("${request.path." + name + "}", value)
    url = urllib.parse.urlsplit(target)
    path = request["overwritten"] or url.path or "/"
    pairs = [(key, value) for key, values in query.items() for value in (values if isinstance(values, list) else [values])]
    text = "&".join(it for it in (url.query, urllib.parse.urlencode(pairs)) if it)
    url = urllib.parse.urlunsplit((url.scheme, url.netloc, path, text, ""))
    wanted = integration["integrationMethod"]
    call = urllib.request.Request(url, data=body or None, method=method if wanted == "ANY" else wanted)
    for name, value in headers.items():
        if name.lower() not in ("host", "content-length", "authorization"):
            call.add_header(name, value)
    if integration.get("tlsConfig"):
        call.add_header("x-server-name", integration["tlsConfig"]["serverNameToVerify"])
    try:
        seconds = integration["timeoutInMillis"] / 1000
        status, answered, content = await asyncio.wait_for(asyncio.to_thread(fetch, call), seconds)
    except (TimeoutError, asyncio.TimeoutError, urllib.error.URLError, ConnectionError):
        return 503, {"Content-Type": "application/json"}, b'{"message":"Service Unavailable"}'
    return status, answered, content


def fetch(call):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    dropped = ("transfer-encoding", "connection", "content-length", "date")
    try:
        with opener.open(call, timeout=30) as answer:
            status, headers, body = answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as failure:
        status, headers, body = failure.code, failure.headers, failure.read()
    return status, {name.lower(): value for name, value in headers.items() if name.lower() not in dropped}, body


def location(integration):
    """The URL of an integration, or the status of the answer if its link or listener does not work."""
    if integration.get("connectionType") != "VPC_LINK":
        return integration["integrationUri"]
    link = own().all.get(integration["connectionId"], {})
    listener = own().listeners.get(integration["integrationUri"])
    is_warm = time.monotonic() >= own().serving.get(integration["connectionId"], 0)
    if listener is None or link.get("status") not in ("AVAILABLE", "INACTIVE") or not is_warm:
        return 503
    if listener.get("name") != (integration.get("tlsConfig") or {}).get("serverNameToVerify"):
        return 500
    # A private endpoint receives the path of the client, after the name of the stage unless that is $default.
    return f"http://127.0.0.1:{listener['port']}{REQUEST.get()['prefix']}{REQUEST.get()['path']}"


async def call_proxy(integration, api_id, stage, path, method, headers, body, query, route_key="$default", *args, **more):
    """Maps the parameters of a request to a function or a service, and calls it."""
    path_params = args[0] if args else None
    context = {"stage": stage, "routeKey": route_key, "httpMethod": method}
    values = {
        "request_headers": headers,
        "request_query": query or {},
        "path_params": path_params or {},
        "context_vars": context,
        "stage_vars": apigateway._get_stage_variables(api_id, stage),
    }
    subtype = integration.get("integrationSubtype")
    if subtype:
        REQUEST.get().update(integration=integration, values=values)
        return await call_service(subtype, {
            name: apigateway._resolve_mapping_value(value, **values)
            for name, value in integration.get("requestParameters", {}).items()
        })
    headers, mapped, path = map_request(integration, request_path=path, **values)
    if mapped != (query or {}):
        query, more = mapped, {**more, "raw_query_string": None}
    return await call_function(integration, api_id, stage, path, method, headers, body, query, route_key, *args, **more)


async def call_service(subtype, parameters):
    name, action = subtype.removesuffix("-1.0").split("-", 1)
    if name not in SERVICES:
        return 200, {"Content-Type": "application/json"}, b"{}"
    module, prefix = SERVICES[name]
    parameters.pop("Region", None)
    if name == "EventBridge":
        parameters = {"Entries": [parameters]}
    elif name == "StepFunctions":
        parameters = {key[0].lower() + key[1:]: value for key, value in parameters.items()}
    elif name == "Kinesis":
        parameters["Data"] = base64.b64encode(parameters["Data"].encode()).decode()
    headers = {"x-amz-target": f"{prefix}.{action}", "content-type": "application/x-amz-json-1.0", "host": "localhost"}
    status, _, body = await module.handle_request("POST", "/", headers, json.dumps(parameters).encode(), {})
    return status, {"Content-Type": "application/json"}, body


def map_response(answer):
    """The answer to the client after the mapping of its parameters."""
    request = REQUEST.get()
    integration = request.get("integration") or {}
    parameters = integration.get("responseParameters", {}).get(str(answer[0]))
    if not parameters:
        return answer
    status, headers, body = answer
    headers = {name.lower(): value for name, value in headers.items()}
    request["answer"] = (status, dict(headers), body)
    for name, value in parameters.items():
        operation, place = name.split(":", 1)
        value = apigateway._resolve_mapping_value(value, **request["values"])
        header = place.removeprefix("header.").lower()
        if place == "statuscode":
            status = int(value)
        elif operation == "remove":
            headers.pop(header, None)
        elif value is not None:
            kept = headers.get(header) if operation == "append" else None
            headers[header] = value if kept is None else f"{kept},{value}"
    return status, headers, body


async def execute(data_plane, api_id, stage, path, method, headers, body, *args, **kwargs):
    """Serves a request to an API."""
    prefix = "" if stage == "$default" else f"/{stage}"
    token = REQUEST.set({"path": "/" + path.lstrip("/"), "prefix": prefix, "body": body})
    try:
        return map_response(await data_plane(api_id, stage, path, method, headers, body, *args, **kwargs))
    finally:
        REQUEST.reset(token)


new_integration, apigateway._create_integration = apigateway._create_integration, create_integration
changed_integration, apigateway._update_integration = apigateway._update_integration, update_integration
plain_atom, apigateway._resolve_mapping_atom = apigateway._resolve_mapping_atom, atom
plain_defaults, ec2._init_defaults = ec2._init_defaults, init_defaults
plain_map_request = apigateway._apply_request_parameter_mappings
apigateway._apply_request_parameter_mappings = map_request
apigateway._invoke_http_proxy = call_http
call_function, apigateway._invoke_lambda_proxy = apigateway._invoke_lambda_proxy, call_proxy
