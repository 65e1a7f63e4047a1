"""An independent view of an emulator: boto3, directly, without the proxy.

Reads one JSON request per line, writes one JSON answer per line: {"ok": ...} or {"error": {"code", "message"}}.
A request names the emulator ("kind", "endpoint"), the account and the operation:

  list             all objects of the account except its default VPC, with tags as maps under "tags"
  boto             any call: service, method, arguments, and region if not us-east-1
  create_function  a Lambda function from Python source with a function `handler(event, context)`
  update_function  new source for it
  sign             the headers of a signed GET request to an API: host, path
"""

import io
import json
import sys
import zipfile

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

CLIENTS = {}
ACCOUNT = {"id": "000000000000"}
# The greatest number of times that an account is listed.
ATTEMPTS = 20


def client(request, service):
    """One client per service, emulator and Region: creating one takes longer than all calls of a test."""
    region = request.get("region", "us-east-1")
    key = (service, request["endpoint"], region)
    if key not in CLIENTS:
        created = boto3.client(
            service, region_name=region, endpoint_url=request["endpoint"],
            aws_access_key_id="0" * 12, aws_secret_access_key="test",
            config=Config(retries={"total_max_attempts": 1}, connect_timeout=10, read_timeout=30))
        created.meta.events.register("before-send", act_in_account)
        CLIENTS[key] = created
    return CLIENTS[key]


def act_in_account(request, **_):
    """moto takes the account from a header, ministack from the access key; neither checks the signature."""
    account = ACCOUNT["id"]
    request.headers["x-moto-account-id"] = account
    signed = request.headers.get("Authorization")
    if signed:
        text = signed.decode() if isinstance(signed, bytes) else signed
        request.headers["Authorization"] = text.replace("Credential=" + "0" * 12, "Credential=" + account, 1)


def tags_of(item):
    tags = item.get("Tags", item.get("TagSet", item.get("tags", {})))
    return tags if isinstance(tags, dict) else {tag["Key"]: tag["Value"] for tag in tags}


def with_tags(items):
    return [{**item, "tags": tags_of(item)} for item in items]


def list_network(request):
    ec2 = client(request, "ec2")
    vpcs = ec2.describe_vpcs()["Vpcs"]
    shown = [vpc for vpc in vpcs if not vpc["IsDefault"]]
    # moto keeps the network ACL of a deleted VPC, so only objects of existing VPCs other than the default one count.
    ids = {vpc["VpcId"] for vpc in shown}
    for vpc in shown:
        for name in ("enableDnsSupport", "enableDnsHostnames", "enableNetworkAddressUsageMetrics"):
            answer = ec2.describe_vpc_attribute(VpcId=vpc["VpcId"], Attribute=name)
            field = name[0].upper() + name[1:]
            vpc[field] = answer[field]["Value"]

    def inside(items):
        return [item for item in items if item.get("VpcId") in ids]

    def attached_elsewhere(gateway):
        attachments = gateway.get("Attachments", gateway.get("VpcAttachments", []))
        return bool(attachments) and all(a.get("VpcId") not in ids for a in attachments)

    igws = ec2.describe_internet_gateways()["InternetGateways"]
    eigws = ec2.describe_egress_only_internet_gateways()["EgressOnlyInternetGateways"]
    vgws = ec2.describe_vpn_gateways()["VpnGateways"]
    nats = ec2.describe_nat_gateways()["NatGateways"]
    endpoints = ec2.describe_vpc_endpoints()["VpcEndpoints"]
    logs = ec2.describe_flow_logs()["FlowLogs"] if request["kind"] == "moto" else []
    for log in logs:
        # moto returns the tags of a flow log only by this call.
        filters = [{"Name": "resource-id", "Values": [log["FlowLogId"]]}]
        log["Tags"] = ec2.describe_tags(Filters=filters)["Tags"]
    found = {
        "vpcs": shown,
        "subnets": inside(ec2.describe_subnets()["Subnets"]),
        "route_tables": inside(ec2.describe_route_tables()["RouteTables"]),
        "internet_gateways": [igw for igw in igws if not attached_elsewhere(igw)],
        "egress_only_internet_gateways": eigws,
        "vpn_gateways": [vgw for vgw in vgws if vgw.get("State") != "deleted"],
        "addresses": ec2.describe_addresses()["Addresses"],
        "nat_gateways": [nat for nat in nats if nat["State"] != "deleted"],
        "vpc_endpoints": [endpoint for endpoint in endpoints if endpoint["State"] != "deleted"],
        "flow_logs": logs,
        "security_groups": inside(ec2.describe_security_groups()["SecurityGroups"]),
        "network_acls": inside(ec2.describe_network_acls()["NetworkAcls"]),
    }
    return {kind: with_tags(items) for kind, items in found.items()}


def list_gateways(request):
    """moto lacks half of these calls. Gateways are tested on ministack only."""
    if request["kind"] == "moto":
        return {"apis": [], "domain_names": [], "vpc_links": []}
    api = client(request, "apigatewayv2")
    region = request.get("region", "us-east-1")
    apis = api.get_apis()["Items"]
    for item in apis:
        one = {"ApiId": item["ApiId"]}
        arn = f"arn:aws:apigateway:{region}::/apis/{item['ApiId']}"
        # In ministack, GetApi and GetStage return the tags at creation. GetTags returns the current ones.
        item["tags"] = api.get_tags(ResourceArn=arn).get("Tags", {})
        item["routes"] = api.get_routes(**one)["Items"]
        item["integrations"] = api.get_integrations(**one)["Items"]
        item["authorizers"] = api.get_authorizers(**one)["Items"]
        item["stages"] = api.get_stages(**one)["Items"]
        for stage in item["stages"]:
            stage["tags"] = api.get_tags(ResourceArn=f"{arn}/stages/{stage['StageName']}").get("Tags", {})
    domains = api.get_domain_names()["Items"]
    for domain in domains:
        domain["tags"] = domain.get("Tags", {})
        domain["mappings"] = api.get_api_mappings(DomainName=domain["DomainName"])["Items"]
    try:
        links = api.get_vpc_links()["Items"]
    except ClientError:
        # ministack itself has none.
        links = []
    for link in links:
        link["tags"] = link.get("Tags", {})
    return {"apis": apis, "domain_names": domains, "vpc_links": links}


def list_logs(request):
    logs = client(request, "logs")
    groups = [g for page in logs.get_paginator("describe_log_groups").paginate() for g in page["logGroups"]]
    for group in groups:
        # The ARN of the group ends in ":*", which the tag calls reject.
        group["tags"] = logs.list_tags_for_resource(resourceArn=group["arn"].removesuffix(":*"))["tags"]
        name = group["logGroupName"]
        group["subscriptionFilters"] = logs.describe_subscription_filters(logGroupName=name)["subscriptionFilters"]
    return {"log_groups": groups}


def list_functions(request):
    lambda_ = client(request, "lambda")
    functions = [f for page in lambda_.get_paginator("list_functions").paginate() for f in page["Functions"]]
    for function in functions:
        try:
            policy = lambda_.get_policy(FunctionName=function["FunctionName"])["Policy"]
            function["statements"] = json.loads(policy)["Statement"]
        except lambda_.exceptions.ResourceNotFoundException:
            function["statements"] = []
    return {"functions": functions}


def list_zones(request):
    """Hosted zones and their records. Tests of networks, on moto, have none."""
    if request["kind"] == "moto":
        return {"hosted_zones": []}
    route53 = client(request, "route53")
    zones = route53.list_hosted_zones()["HostedZones"]
    for zone in zones:
        zone["Id"] = zone["Id"].removeprefix("/hostedzone/")
        zone["records"] = route53.list_resource_record_sets(HostedZoneId=zone["Id"])["ResourceRecordSets"]
    return {"hosted_zones": with_tags(zones)}


def list_all(request):
    """Starts again if another test with the same account deletes an object during the listing."""
    lists = [list_network, list_gateways, list_logs, list_functions, list_zones]
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return {kind: items for listed in lists for kind, items in listed(request).items()}
        except ClientError as error:
            if attempt == ATTEMPTS or "NotFound" not in error.response["Error"]["Code"]:
                raise


def call(request):
    method = getattr(client(request, request["service"]), request["method"])
    answer = method(**request.get("arguments", {}))
    answer.pop("ResponseMetadata", None)
    return {name: value.read().decode() if hasattr(value, "read") else value for name, value in answer.items()}


def archive(source):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as files:
        files.writestr("index.py", source)
    return packed.getvalue()


def create_function(request):
    name = request["name"]
    role = f"arn:aws:iam::{request['account']}:role/test-functions"
    if request["kind"] == "moto":
        # moto requires an existing role.
        iam = client(request, "iam")
        try:
            iam.create_role(RoleName="test-functions", AssumeRolePolicyDocument="{}")
        except iam.exceptions.EntityAlreadyExistsException:
            pass
    created = client(request, "lambda").create_function(
        FunctionName=name, Runtime="python3.12", Role=role, Handler="index.handler",
        # On a busy machine, a function needs more than AWS's default of three seconds to start.
        Timeout=30, Code={"ZipFile": archive(request["source"])})
    return created["FunctionArn"]


def update_function(request):
    code = archive(request["source"])
    return client(request, "lambda").update_function_code(FunctionName=request["name"], ZipFile=code)["FunctionArn"]


def sign(request):
    message = AWSRequest("GET", f"http://{request['host']}{request['path']}", headers={"host": request["host"]})
    SigV4Auth(Credentials(request["account"], "test"), "execute-api", "us-east-1").add_auth(message)
    return dict(message.headers)


OPERATIONS = {
    "list": list_all, "boto": call, "create_function": create_function, "update_function": update_function,
    "sign": sign,
}


def answer(line):
    request = json.loads(line)
    ACCOUNT["id"] = request["account"]
    try:
        return {"ok": OPERATIONS[request["operation"]](request)}
    except ClientError as error:
        return {"error": {"code": error.response["Error"]["Code"], "message": error.response["Error"]["Message"]}}
    except Exception as error:  # Return the reason to the test, and keep serving.
        return {"error": {"code": type(error).__name__, "message": str(error)}}


for line in sys.stdin:
    print(json.dumps(answer(line), default=str), flush=True)
