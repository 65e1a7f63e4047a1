"""Questions that only AWS can answer: rows of the report, and the means to ask them. Each question deletes what it
creates, also when it fails."""

import contextlib
import dataclasses
import time

from acceptance.account import BOTO_ERRORS, code_of, is_busy, is_not_found, text_of
from acceptance.sweep import LONGEST
from processes import Failed


@dataclasses.dataclass(frozen=True)
class Row:
    id: str
    question: str
    # The assumption of the provider, and the file that relies on it.
    assumed: str
    source: str


@dataclasses.dataclass
class Question:
    """A function that answers one or several rows."""

    rows: list
    ask: object
    minutes: float = 0.5
    nat_gateways: int = 0
    addresses: int = 0
    needs_domain: bool = False


@dataclasses.dataclass(frozen=True)
class Answer:
    """The result of a call: its data, or a code and a message."""

    data: dict
    code: str = ""
    text: str = ""

    def __str__(self):
        return self.text if self.code else "accepted"


class Ask:
    """The means of one question. Use as a context manager."""

    def __init__(self, run):
        self.run = run
        self.account = run.account
        self.stack = contextlib.ExitStack()
        self.undeleted = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()

    def observe(self, row, text, as_assumed=None):
        self.run.observe(row, text, as_assumed)

    def attempt(self, service, operation, **arguments):
        """A call whose failure is an answer too."""
        try:
            return Answer(getattr(self.account.client(service), operation)(**arguments))
        except BOTO_ERRORS as error:
            return Answer({}, code_of(error), text_of(error))

    def do(self, service, operation, **arguments):
        """A call that must succeed. Just after a create, AWS may not know the object yet."""

        def called():
            answer = self.attempt(service, operation, **arguments)
            return None if is_not_found(answer.code) else answer

        answer = self.run.fixtures.wait(f"{operation}: AWS did not return the object", 60, called)
        if answer.code:
            raise Failed(f"{operation} failed: {answer.text}")
        return answer.data

    def ec2(self, operation, **arguments):
        return self.do("ec2", operation, **arguments)

    def api(self, operation, **arguments):
        return self.do("apigatewayv2", operation, **arguments)

    def afterwards(self, service, operation, **arguments):
        """A deletion for the end of the question, in reverse order. While an object is in use, it is repeated."""
        self.stack.callback(self.delete, service, operation, arguments)

    def delete(self, service, operation, arguments):
        last, missing = "", 0

        def is_deleted():
            nonlocal last, missing
            answer = self.attempt(service, operation, **arguments)
            last = answer.text
            if is_not_found(answer.code) or answer.code == "Gateway.NotAttached":
                # The first time, AWS may not know a new object yet.
                missing += 1
                return missing == 2
            if not answer.code:
                return True
            if is_busy(answer.code, answer.text):
                return False
            raise Failed(f"{operation} failed: {answer.text}")

        try:
            self.wait(f"{operation} did not succeed", 180, is_deleted)
        except Failed as failure:
            self.undeleted.append(f"{failure} {last}")

    def wait(self, check, seconds, condition):
        """Without a check for Ctrl-C, so that cleanups finish."""
        deadline = time.monotonic() + seconds
        while not (value := condition()):
            if time.monotonic() > deadline:
                raise Failed(f"{check} within {seconds} s.")
            time.sleep(self.run.settings.poll)
        return value

    def tags(self, kind):
        return self.run.fixtures.specifications(kind)

    # Objects of EC2

    def vpc(self, cidr="10.62.0.0/16"):
        vpc = self.ec2("create_vpc", CidrBlock=cidr, TagSpecifications=self.tags("vpc"))["Vpc"]["VpcId"]
        self.afterwards("ec2", "delete_vpc", VpcId=vpc)
        self.ec2("describe_vpcs", VpcIds=[vpc])
        return vpc

    def subnet(self, vpc, cidr="10.62.0.0/24"):
        created = self.ec2("create_subnet", VpcId=vpc, CidrBlock=cidr, TagSpecifications=self.tags("subnet"))
        subnet = created["Subnet"]["SubnetId"]
        self.afterwards("ec2", "delete_subnet", SubnetId=subnet)
        self.ec2("describe_subnets", SubnetIds=[subnet])
        return subnet

    def route_table(self, vpc):
        created = self.ec2("create_route_table", VpcId=vpc, TagSpecifications=self.tags("route-table"))
        table = created["RouteTable"]["RouteTableId"]
        self.afterwards("ec2", "delete_route_table", RouteTableId=table)
        self.ec2("describe_route_tables", RouteTableIds=[table])
        return table

    def security_group(self, vpc):
        name = self.run.name("question")
        created = self.ec2(
            "create_security_group", GroupName=name, Description=name, VpcId=vpc,
            TagSpecifications=self.tags("security-group"),
        )  # fmt: skip
        self.afterwards("ec2", "delete_security_group", GroupId=created["GroupId"])
        self.ec2("describe_security_groups", GroupIds=[created["GroupId"]])
        return created["GroupId"]

    def network_interface(self, subnet):
        created = self.ec2(
            "create_network_interface", SubnetId=subnet, TagSpecifications=self.tags("network-interface")
        )
        interface = created["NetworkInterface"]["NetworkInterfaceId"]
        self.afterwards("ec2", "delete_network_interface", NetworkInterfaceId=interface)
        self.ec2("describe_network_interfaces", NetworkInterfaceIds=[interface])
        return interface

    def internet_gateway(self, vpc):
        created = self.ec2("create_internet_gateway", TagSpecifications=self.tags("internet-gateway"))
        gateway = created["InternetGateway"]["InternetGatewayId"]
        self.afterwards("ec2", "delete_internet_gateway", InternetGatewayId=gateway)
        self.ec2("attach_internet_gateway", InternetGatewayId=gateway, VpcId=vpc)
        self.afterwards("ec2", "detach_internet_gateway", InternetGatewayId=gateway, VpcId=vpc)

        def is_attached():
            found = self.ec2("describe_internet_gateways", InternetGatewayIds=[gateway])["InternetGateways"]
            return found and found[0]["Attachments"]

        self.run.fixtures.wait(f"{gateway} was not attached", 60, is_attached)
        return gateway

    def ipv6_range(self, vpc):
        """The association and the range of a VPC, once it is associated."""
        self.ec2("associate_vpc_cidr_block", VpcId=vpc, AmazonProvidedIpv6CidrBlock=True)

        def associated():
            found = self.ec2("describe_vpcs", VpcIds=[vpc])["Vpcs"][0].get("Ipv6CidrBlockAssociationSet", [])
            return next((it for it in found if it["Ipv6CidrBlockState"]["State"] == "associated"), None)

        found = self.run.fixtures.wait("The IPv6 range was not associated", 120, associated)
        return found["AssociationId"], found["Ipv6CidrBlock"]

    def subnet_range(self, subnet, block):
        """The ID of the association of an IPv6 range with a subnet, once it is associated."""
        created = self.ec2("associate_subnet_cidr_block", SubnetId=subnet, Ipv6CidrBlock=block)
        association = created["Ipv6CidrBlockAssociation"]["AssociationId"]

        def associated():
            found = self.ec2("describe_subnets", SubnetIds=[subnet])["Subnets"][0]
            ranges = found.get("Ipv6CidrBlockAssociationSet", [])
            return [it for it in ranges if it["Ipv6CidrBlockState"]["State"] == "associated"]

        self.run.fixtures.wait(f"{block} was not associated", 120, associated)
        return association

    def nat_gateway(self, **arguments):
        created = self.ec2("create_nat_gateway", TagSpecifications=self.tags("natgateway"), **arguments)
        gateway = created["NatGateway"]["NatGatewayId"]
        self.stack.callback(self.delete_nat_gateway, gateway)
        self.nat_state(gateway)
        return gateway

    def nat_gateway_is_available(self, gateway):
        """Waits. Fails at once if AWS could not create it."""

        def is_available():
            state = self.nat_state(gateway)
            if state == "failed":
                raise Failed(f"AWS could not create {gateway}.")
            return state == "available"

        self.run.fixtures.wait(f"{gateway} was not available", 600, is_available)

    def nat_state(self, gateway):
        found = self.ec2("describe_nat_gateways", NatGatewayIds=[gateway])["NatGateways"]
        return found[0]["State"] if found else "missing"

    def delete_nat_gateway(self, gateway):
        self.delete("ec2", "delete_nat_gateway", {"NatGatewayId": gateway})

        def is_deleted():
            # Not `nat_state`, which Ctrl-C ends.
            answer = self.attempt("ec2", "describe_nat_gateways", NatGatewayIds=[gateway])
            found = answer.data.get("NatGateways", [])
            return is_not_found(answer.code) or not answer.code and all(it["State"] == "deleted" for it in found)

        try:
            self.wait(f"{gateway} was not deleted", LONGEST, is_deleted)
        except Failed as failure:
            self.undeleted.append(str(failure))

    # Objects of API Gateway

    def http_api(self, **arguments):
        """The ID of an API with the tags of the run."""
        name = self.run.name("question")
        created = self.api("create_api", Name=name, ProtocolType="HTTP", Tags=self.run.fixtures.tag_map(), **arguments)
        self.afterwards("apigatewayv2", "delete_api", ApiId=created["ApiId"])
        self.api("get_api", ApiId=created["ApiId"])
        return created["ApiId"]

    def route(self, api, key="GET /a", **arguments):
        """The ID of a route to a function. No permission is needed, because nothing calls it."""
        uri = self.run.fixtures.function("hello")
        integration = self.api(
            "create_integration", ApiId=api, IntegrationType="AWS_PROXY", IntegrationUri=uri, PayloadFormatVersion="2.0"
        )["IntegrationId"]
        self.api("get_integration", ApiId=api, IntegrationId=integration)
        target = f"integrations/{integration}"
        route = self.api("create_route", ApiId=api, RouteKey=key, Target=target, **arguments)["RouteId"]
        self.api("get_route", ApiId=api, RouteId=route)
        return route

    def stage(self, api, **arguments):
        self.api("create_stage", ApiId=api, StageName="$default", AutoDeploy=True, **arguments)
        self.api("get_stage", ApiId=api, StageName="$default")

    def deployment_of(self, api):
        stage = self.api("get_stage", ApiId=api, StageName="$default")
        return stage.get("DeploymentId", "none"), stage.get("LastDeploymentStatusMessage", "")
