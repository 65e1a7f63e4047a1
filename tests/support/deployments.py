"""Runs ministack with behaviors of API Gateway that it lacks: those in `integrations.py`, and these six.

1. A stage with automatic deployment serves a snapshot of its API. Each change of a route, an integration, an authorizer
   or the CORS configuration causes a deployment of each such stage, which ends some time after the answer to the change.
   Until then, the stage serves the snapshot before it. GetStage and GetDeployments show the deployments that have ended.
   Without automatic deployment, it serves its snapshot until a caller of CreateDeployment, UpdateStage or both deploys
   another.
2. API Gateway calls a function only if the resource policy of the function, alias or version allows it. Otherwise it
   answers 500.
3. A route with authorization type AWS_IAM answers only requests with a valid signature (SigV4). The secret access key
   of every account is `test`.
4. It throttles routes: a token bucket for each route, with the limits of the route or, if the route has no settings of
   its own, the default ones of the stage. Limits that are not set are those of the account. That settings take effect
   at once, without a deployment, is an assumption.
5. An API whose own endpoint is disabled answers 404 there, once that is deployed.
6. APIs and custom domains have an IP address type, which an update keeps if it does not contain one.

`PUT /v2/apis/_deployments` changes the settings of the account of its credential, see `Settings`.
`GET /v2/apis/_deployments` returns the time, the number of deployments that have not ended, and the early deletions:
those of routes, integrations and authorizers that began before the last create or update was deployed to all stages,
those of stages that began before it was deployed to the others, and those of permissions that began before any last
change was deployed.
"""

import asyncio
import contextvars
import copy
import fnmatch
import hashlib
import hmac
import json
import re
import time
import uuid
from urllib.parse import unquote

import integrations
from ministack.core.responses import get_account_id, get_region
from ministack.services import apigateway, lambda_svc

# The snapshot that the current request is served from; None in the control plane.
SERVED = contextvars.ContextVar("served", default=None)

TABLES = ("_apis", "_routes", "_integrations", "_authorizers")

# AWS's default limits of an account: requests per second, and the burst.
RATE, BURST = 10_000, 5_000

# AWS's message about a deployment without a route.
NO_ROUTES = "Unable to deploy API because no valid routes exist in this API"


class Settings:
    """How the changes of an account are deployed."""

    def __init__(self):
        # The time in seconds from a change to the end of its deployment.
        self.seconds = 0.3
        # Whether one deployment covers all changes until its end. By default, each change has its own, in order.
        self.coalesced = False
        # The message with which deployments fail, if they do.
        self.failure = None
        # The number of deployments that fail, after `succeeding` ones; null for all.
        self.failing = None
        self.succeeding = 0

    def next_failure(self):
        if self.failure is None:
            return None
        if self.succeeding > 0:
            self.succeeding -= 1
            return None
        if self.failing is None:
            return self.failure
        self.failing -= 1
        return self.failure if self.failing >= 0 else None


class Table(type(apigateway._routes)):
    """A table of ministack. In a request to an API, it contains the deployed snapshot."""

    __slots__ = ("name",)

    def get(self, key, default=None):
        served = SERVED.get()
        return super().get(key, default) if served is None else served.get(self.name, default)


# By account.
settings = {}
# The served snapshots and the deployments that have not ended, by account, Region, API and stage.
served = {}
pending = {}
# The snapshots of the deployments that a caller created, by account, Region and API, and by ID.
created = {}
# The early deletions, by account.
early = {}
# The limits, the tokens and the time of the last request of each route.
buckets = {}


def scope_of(api_id):
    return get_account_id(), get_region(), api_id


def date(at):
    """A time as API Gateway writes it. Times that are compared must come from the same clock: `time.gmtime()` without a
    time, as in ministack, is some milliseconds behind `time.time()`, which the header Date of answers comes from."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))


def snapshot(scope):
    return {name: copy.deepcopy(getattr(apigateway, name).get_scoped(*scope, {})) for name in TABLES}


def note_deletion(path, is_undeployed):
    """Records a deletion if it is early. A stage that is deleted does not count itself."""
    account = get_account_id()
    deleted = re.fullmatch(r"/v2/apis/([^/]+)/stages/([^/]+)", path)
    counts = lambda place: place[0] == account and (not deleted or place[2:] != (deleted[1], unquote(deleted[2])))
    waiting = [deployment for place, them in pending.items() if counts(place) for deployment in them]
    if any(is_undeployed(deployment) for deployment in waiting):
        early.setdefault(account, []).append(path)


def start(scope, is_deletion, only):
    """Starts the deployments of a change: of all stages, or of only one."""
    for name, stage in apigateway._stages.get_scoped(*scope, {}).items():
        if stage.get("autoDeploy") and only in (None, name):
            start_of((*scope, name), is_deletion)


def start_of(place, is_deletion):
    own = settings.setdefault(place[0], Settings())
    waiting = pending.setdefault(place, [])
    if own.coalesced and waiting:
        return
    definition = None if own.coalesced else snapshot(place[:3])
    deployment = {"definition": definition, "is_deletion": is_deletion}
    if not own.coalesced:
        # AWS may create a deployment at any time from the call to its end.
        deployment["created"] = time.time()
    waiting.append(deployment)
    asyncio.get_running_loop().call_later(own.seconds, end, place, deployment)


def end(place, deployment):
    """Ends a deployment. A failed one leaves the served snapshot as it is."""
    scope, waiting = place[:3], pending.get(place, [])
    # A stage whose automatic deployment was turned off meanwhile still gets it.
    stage = apigateway._stages.get_scoped(*scope, {}).get(place[3])
    if stage is None or not any(it is deployment for it in waiting):
        return
    pending[place] = [it for it in waiting if it is not deployment]
    definition = deployment["definition"] or snapshot(scope)
    failure = settings[scope[0]].next_failure() or (None if definition["_routes"] else NO_ROUTES)
    name = uuid.uuid4().hex[:6]
    record = {
        "deploymentId": name,
        "autoDeployed": True,
        "createdDate": date(deployment.get("created", time.time())),
        "deploymentStatus": "FAILED" if failure else "DEPLOYED",
    }
    if failure:
        record["deploymentStatusMessage"] = failure
        stage["lastDeploymentStatusMessage"] = f"Deployment attempt failed: {failure}"
    else:
        served[place] = definition
        stage["deploymentId"] = name
        stage["lastDeploymentStatusMessage"] = f"Successfully deployed stage with deployment ID '{name}'"
    deployments = apigateway._deployments.get_scoped(*scope)
    if deployments is None:
        deployments = {}
        apigateway._deployments.set_scoped(*scope, deployments)
    deployments[name] = record


def rejected(scope, method, path, body):
    """The answer to a call that names a deployment or a stage in a way that AWS rejects."""
    parts = path.strip("/").split("/")[2:]
    stages = apigateway._stages.get_scoped(*scope, {})
    if method == "POST" and parts[1:] == ["deployments"]:
        name = json.loads(body or "{}").get("stageName")
    elif method == "PATCH" and parts[1:2] == ["stages"] and "deploymentId" in json.loads(body or "{}"):
        name = unquote(parts[2])
        if json.loads(body)["deploymentId"] not in apigateway._deployments.get_scoped(*scope, {}):
            return apigateway._apigw_error("NotFoundException", "Unable to find Deployment by ID", 404)
    else:
        return None
    if stages.get(name, {}).get("autoDeploy"):
        text = f"Deployment ID cannot be set on stage '{name}' because AutoDeploy is enabled"
        return apigateway._apigw_error("BadRequestException", text, 400)
    return None


def deploy_by_hand(scope, method, path, body, answer):
    """Keeps the snapshot of a deployment that a caller creates, and serves the one that a caller gives a stage."""
    parts = path.strip("/").split("/")[2:]
    if method == "POST" and parts[1:] == ["deployments"]:
        deployment = json.loads(answer[2])["deploymentId"]
        created.setdefault(scope, {})[deployment] = snapshot(scope)
        apigateway._deployments.get_scoped(*scope)[deployment]["createdDate"] = date(time.time())
        stage = apigateway._stages.get_scoped(*scope, {}).get(json.loads(body or "{}").get("stageName"))
        if stage is None:
            return
        stage["deploymentId"], name = deployment, stage["stageName"]
    elif method == "PATCH" and parts[1:2] == ["stages"]:
        deployment, name = json.loads(body or "{}").get("deploymentId"), unquote(parts[2])
    else:
        return
    if deployment in created.get(scope, {}):
        served[(*scope, name)] = created[scope][deployment]


def forget(scope, path):
    """Forgets what a deleted API, or a deleted stage, serves."""
    name = path.strip("/").split("/")[4:]
    for store in (served, pending):
        for place in [it for it in store if it[:3] == scope and (not name or it[3] == unquote(name[0]))]:
            del store[place]


def changed_stage(method, path, body):
    """The name of the stage that a call creates or updates, if it does."""
    parts = path.strip("/").split("/")[2:]
    if parts[1:] == ["stages"] and method == "POST":
        return json.loads(body or "{}").get("stageName")
    return unquote(parts[2]) if parts[1:2] == ["stages"] and len(parts) > 2 else None


def is_deployed(method, path, body):
    """Whether a call starts a deployment. The creation of a stage starts the first one. An update of a stage deploys
    nothing, unless it sets automatic deployment; that AWS then deploys again is an assumption."""
    if method == "GET":
        return False
    parts = path.strip("/").split("/")[2:]
    if len(parts) == 1:
        return method == "PATCH"
    if len(parts) < 2:
        return False
    if parts[1] == "stages":
        return method == "POST" or (method == "PATCH" and json.loads(body or "{}").get("autoDeploy") is True)
    return parts[1] in ("routes", "integrations", "authorizers", "cors")


def administer(method, body):
    account = get_account_id()
    own = settings.setdefault(account, Settings())
    if method == "PUT":
        for name, value in json.loads(body).items():
            assert hasattr(own, name), name
            setattr(own, name, value)
    waiting = sum(len(them) for scope, them in pending.items() if scope[0] == account)
    answer = {"pending": waiting, "early": early.get(account, []), "time": int(time.time())}
    return 200, {"Content-Type": "application/json"}, json.dumps(answer).encode()


async def handle_request(method, path, headers, body, query_params):
    if path == "/v2/apis/_deployments":
        return administer(method, body)
    if path.startswith("/v2/vpclinks"):
        return integrations.handle_links(method, path, body, served)
    answer = integrations.handle_tags(method, path, body, query_params) if path.startswith("/v2/tags/") else None
    if answer is not None:
        return answer
    if method == "DELETE" and re.search("/(routes|integrations|authorizers|stages)/[^/]+$", path):
        note_deletion(path, lambda deployment: not deployment["is_deletion"])
    match = re.match(r"/v2/apis/([^/]+)", path)
    scope = scope_of(match.group(1)) if match else None
    answer = rejected(scope, method, path, body) if match else None
    if answer is None:
        answer = await control_plane(method, path, headers, body, query_params)
    if match and answer[0] < 300:
        deploy_by_hand(scope, method, path, body, answer)
        if method == "DELETE" and re.fullmatch(r"/v2/apis/[^/]+(/stages/[^/]+)?/?", path):
            forget(scope, path)
        elif is_deployed(method, path, body):
            start(scope, method == "DELETE", changed_stage(method, path, body))
    return answer


async def handle_functions(method, path, *args, **kwargs):
    # The permission of a log group does not depend on the stage.
    if method == "DELETE" and "/policy/" in path and "-logs-" not in path:
        note_deletion(path, lambda deployment: True)
    return await functions(method, path, *args, **kwargs)


def is_signed(method, path, headers, body):
    """Whether a request without a query has a valid signature."""
    headers = {name.lower(): value for name, value in headers.items()}
    form = r"AWS4-HMAC-SHA256 Credential=[^/]+/([^,]+), SignedHeaders=([^,]+), Signature=(\w+)"
    found = re.fullmatch(form, headers.get("authorization", ""))
    if not found:
        return False
    scope, names, signature = found.groups()
    signed = "".join(f"{name}:{headers.get(name, '').strip()}\n" for name in names.split(";"))
    request = "\n".join([method, path, "", signed, names, hashlib.sha256(body or b"").hexdigest()])
    digest = hashlib.sha256(request.encode()).hexdigest()
    key = b"AWS4test"
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    text = "\n".join(["AWS4-HMAC-SHA256", headers.get("x-amz-date", ""), scope, digest])
    return hmac.compare_digest(hmac.digest(key, text.encode(), "sha256").hex(), signature)


def limits(scope, stage, route_key):
    """The rate and the burst of a route. AWS gives an entry of a route that lacks a limit the one of the account."""
    stage = apigateway._stages.get_scoped(*scope, {}).get(stage, {})
    own = stage.get("routeSettings", {}).get(route_key)
    limits = stage.get("defaultRouteSettings", {}) if own is None else own
    return limits.get("throttlingRateLimit", RATE), limits.get("throttlingBurstLimit", BURST)


def is_throttled(scope, stage, route):
    """Takes a token of a route. Its bucket is full after a change of the limits."""
    if route is None:
        return False
    key = (scope, stage, route["routeKey"])
    now, (rate, burst) = time.monotonic(), limits(*key)
    known, tokens, at = buckets.get(key, (None, burst, now))
    tokens = min(burst, tokens + (now - at) * rate) if known == (rate, burst) else burst
    is_free = rate > 0 and tokens >= 1
    buckets[key] = ((rate, burst), tokens - 1 if is_free else tokens, now)
    return not is_free


async def handle_execute_in_scope(api_id, stage, path, method, headers, body, *args, **kwargs):
    scope = scope_of(api_id)
    definition = served.get((*scope, stage))
    if definition is None:
        return apigateway._http_api_not_found()
    token = SERVED.set(definition)
    try:
        host = next((value for name, value in headers.items() if name.lower() == "host"), "")
        is_own_endpoint = host.startswith(f"{api_id}.execute-api.")
        if is_own_endpoint and apigateway._apis.get(api_id, {}).get("disableExecuteApiEndpoint"):
            return apigateway._http_api_not_found()
        route = apigateway._match_route(api_id, method, "/" + path.lstrip("/"))
        if is_throttled(scope, stage, route):
            return 429, {"Content-Type": "application/json"}, b'{"message":"Too Many Requests"}'
        if (route or {}).get("authorizationType") == "AWS_IAM" and not is_signed(method, path, headers, body):
            return apigateway._jwt_forbidden()
        return await integrations.execute(data_plane, api_id, stage, path, method, headers, body, *args, **kwargs)
    finally:
        SERVED.reset(token)


def may_call(uri, account, region, source):
    """Whether the policy of a function allows API Gateway to call it for this source."""
    function = apigateway._extract_lambda_ref_from_integration_uri(uri)
    # The function has the statements of its aliases and versions, too.
    unqualified = ":".join(function.split(":")[:7])
    record, _, _ = lambda_svc._get_func_record_for_ref_in_scope(unqualified, account_id=account, region=region)
    if record is None:
        # ministack itself reports a missing function.
        return True
    for statement in record["policy"]["Statement"]:
        pattern = statement.get("Condition", {}).get("ArnLike", {}).get("AWS:SourceArn", "*")
        if (
            statement["Resource"] == function
            and statement["Principal"] == {"Service": "apigateway.amazonaws.com"}
            and fnmatch.fnmatchcase(source, pattern)
        ):
            return True
    return False


async def invoke_lambda_proxy(integration, api_id, stage, path, method, *args, **kwargs):
    account, region = kwargs["owner_account_id"], kwargs["owner_region"]
    source = f"arn:aws:execute-api:{region}:{account}:{api_id}/{stage}/{method}{path}"
    uri = integration.get("integrationUri", "")
    if not integration.get("credentialsArn") and not may_call(uri, account, region, source):
        return 500, {"Content-Type": "application/json"}, b'{"message":"Internal Server Error"}'
    return await call_function(integration, api_id, stage, path, method, *args, **kwargs)


async def invoke_authorizer(authorizer, event, account, region):
    api_id = event["requestContext"]["apiId"]
    source = f"arn:aws:execute-api:{region}:{account}:{api_id}/authorizers/{authorizer['authorizerId']}"
    if not authorizer.get("authorizerCredentialsArn") and not may_call(
        authorizer.get("authorizerUri", ""), account, region, source
    ):
        return None
    return await call_authorizer(authorizer, event, account, region)


def create_api(data):
    answer = new_api(data)
    return with_address_type(json.loads(answer[2])["apiId"], data, "ipv4") if answer[0] < 300 else answer


def update_api(api_id, data):
    answer = changed_api(api_id, data)
    return with_address_type(api_id, data, None) if answer[0] < 300 else answer


def with_address_type(api_id, data, default):
    """Stores the IP address type of an API, and returns the API."""
    api = apigateway._apis.get(api_id)
    api["ipAddressType"] = data.get("ipAddressType", default or api["ipAddressType"])
    return apigateway._apigw_response(api, 201)


def apply_domain_configuration(record, configurations):
    kept = record.get("endpointConfiguration", {}).get("ipAddressType", "ipv4")
    configure_domain(record, [{"ipAddressType": kept, **it} for it in configurations or [{}]])


for table_name in TABLES:
    table = Table()
    table.name = table_name
    table._data = getattr(apigateway, table_name)._data
    setattr(apigateway, table_name, table)
control_plane, apigateway.handle_request = apigateway.handle_request, handle_request
functions, lambda_svc.handle_request = lambda_svc.handle_request, handle_functions
data_plane, apigateway._handle_execute_in_scope = apigateway._handle_execute_in_scope, handle_execute_in_scope
call_function, apigateway._invoke_lambda_proxy = apigateway._invoke_lambda_proxy, invoke_lambda_proxy
call_authorizer = apigateway._invoke_request_authorizer_lambda
apigateway._invoke_request_authorizer_lambda = invoke_authorizer
new_api, apigateway._create_api = apigateway._create_api, create_api
changed_api, apigateway._update_api = apigateway._update_api, update_api
configure_domain = apigateway._apply_domain_configuration
apigateway._apply_domain_configuration = apply_domain_configuration

if __name__ == "__main__":
    from ministack.app import main

    main()
