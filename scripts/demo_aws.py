"""Accesses the emulated AWS account of the demo with boto3, independently of the provider.

    demo_aws.py functions   creates the two Lambda functions of examples/demo/functions, prints {name: ARN}
    demo_aws.py listing     prints the objects in the account: {kind: [id, ...]}

Runs in the virtual environment of scripts/venv.sh. Environment variables set the endpoint (AWS_ENDPOINT_URL,
AWS_REGION) and the credentials (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY).
"""

import io
import json
import pathlib
import sys
import zipfile

import boto3
import botocore.config
import botocore.exceptions

FUNCTIONS = pathlib.Path(__file__).resolve().parent.parent / "examples/demo/functions"

# No retries, to show every failure of the emulator. No proxies, because it is on this machine.
CONFIG = botocore.config.Config(retries={"total_max_attempts": 1}, proxies={}, connect_timeout=5, read_timeout=20)


def client(service):
    return boto3.client(service, config=CONFIG)


def functions():
    created = {}
    for source in sorted(FUNCTIONS.glob("*.py")):
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as files:
            files.writestr("function.py", source.read_text())
        answer = client("lambda").create_function(
            FunctionName=f"fgw-demo-{source.stem}",
            Runtime="python3.13",
            Role="arn:aws:iam::000000000000:role/any",  # The emulator ignores it.
            Handler="function.handler",
            Code={"ZipFile": archive.getvalue()},
        )
        created[answer["FunctionName"]] = answer["FunctionArn"]
    return created


def listing():
    ec2, gateway = client("ec2"), client("apigatewayv2")
    found = {
        "VPC": ids(ec2, "describe_vpcs", "Vpcs", "VpcId"),
        "subnet": ids(ec2, "describe_subnets", "Subnets", "SubnetId"),
        "route table": ids(ec2, "describe_route_tables", "RouteTables", "RouteTableId"),
        "internet gateway": ids(ec2, "describe_internet_gateways", "InternetGateways", "InternetGatewayId"),
        # A deleted NAT gateway stays listed for a while, here as on AWS.
        "NAT gateway": ids(
            ec2, "describe_nat_gateways", "NatGateways", "NatGatewayId", lambda nat: nat["State"] != "deleted"
        ),
        "elastic IP": ids(ec2, "describe_addresses", "Addresses", "AllocationId"),
        "VPC endpoint": ids(
            ec2, "describe_vpc_endpoints", "VpcEndpoints", "VpcEndpointId", lambda it: it["State"] != "deleted"
        ),
        "security group": ids(ec2, "describe_security_groups", "SecurityGroups", "GroupId"),
        "network ACL": ids(ec2, "describe_network_acls", "NetworkAcls", "NetworkAclId"),
        "HTTP API": [],
        "route": [],
        "integration": [],
        "authorizer": [],
        "stage": [],
        # Functions write to their own log groups, which the provider does not create.
        "log group": ids(
            client("logs"),
            "describe_log_groups",
            "logGroups",
            "logGroupName",
            lambda group: not group["logGroupName"].startswith("/aws/lambda/"),
        ),
        "function permission": permissions(),
    }
    for api in gateway.get_apis()["Items"]:
        api_id = api["ApiId"]
        found["HTTP API"].append(api_id)
        found["route"] += [f"{api_id} {it['RouteKey']}" for it in gateway.get_routes(ApiId=api_id)["Items"]]
        found["integration"] += [it["IntegrationId"] for it in gateway.get_integrations(ApiId=api_id)["Items"]]
        found["authorizer"] += [it["AuthorizerId"] for it in gateway.get_authorizers(ApiId=api_id)["Items"]]
        found["stage"] += [f"{api_id} {it['StageName']}" for it in gateway.get_stages(ApiId=api_id)["Items"]]
    return found


def ids(service, operation, member, name, wanted=lambda item: True):
    return [item[name] for item in getattr(service, operation)()[member] if wanted(item)]


def permissions():
    """Statements in the policies of all functions."""
    found = []
    functions = client("lambda")
    for function in functions.list_functions()["Functions"]:
        try:
            policy = json.loads(functions.get_policy(FunctionName=function["FunctionName"])["Policy"])
        except functions.exceptions.ResourceNotFoundException:
            continue  # The function has no policy.
        found += [f"{function['FunctionName']} {statement['Sid']}" for statement in policy["Statement"]]
    return found


if __name__ == "__main__":
    try:
        print(json.dumps({"functions": functions, "listing": listing}[sys.argv[1]]()))
    except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
