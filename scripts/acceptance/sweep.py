"""Deletes what carries the tag `fgw-acceptance`, in the order of its dependencies, and the command `make sweep`. An
object without the tag is never changed."""

import contextlib

from acceptance.account import BOTO_ERRORS, TAG, code_of, is_busy, is_not_found, text_of, until
from acceptance.inventory import Inventory
from processes import Children, Failed

# In seconds. AWS needs some minutes to delete a NAT gateway, and as long to release what it used.
LONGEST = 900


class Deletion:
    """Deletes items, and remembers what it could not delete."""

    def __init__(self, account, poll, on_wait):
        self.account = account
        self.poll = poll
        self.on_wait = on_wait
        self.failures = []

    def delete(self, items):
        self.start_nat_gateways(items)
        for item in items:
            self.on_wait()
            self.account.say(f"  deleting {item}")
            try:
                self.delete_one(item)
            except (*BOTO_ERRORS, Failed) as error:
                reason = text_of(error) if isinstance(error, BOTO_ERRORS) else str(error)
                self.failures.append(f"{item}: {reason}")
                self.account.say(f"  {item} could not be deleted. {reason}")

    def start_nat_gateways(self, items):
        """All at once, because each takes minutes and is billed until then. A failure is reported at its turn."""
        for item in items:
            if item.kind == "NAT gateway":
                with contextlib.suppress(*BOTO_ERRORS):
                    self.ec2("delete_nat_gateway", NatGatewayId=item.id)

    def unless_missing(self, service, operation, **arguments):
        """A call before the deletion itself, whose object an earlier attempt may have removed."""
        try:
            getattr(self.account.client(service), operation)(**arguments)
        except BOTO_ERRORS as error:
            if not is_not_found(code_of(error)):
                raise

    def delete_one(self, item):
        last = None

        def done():
            nonlocal last
            try:
                DELETIONS[item.kind](self, item)
                return True
            except BOTO_ERRORS as error:
                code = code_of(error)
                if is_not_found(code):
                    return True
                # Another object of this run, which is being deleted, still uses it.
                if is_busy(code, text_of(error)):
                    last = text_of(error)
                    return False
                raise

        try:
            until(f"{item} could not be deleted", 120, self.poll, done, self.on_wait)
        except Failed as failure:
            raise Failed(f"{failure} {last}") from failure

    def ec2(self, operation, **arguments):
        return getattr(self.account.client("ec2"), operation)(**arguments)

    def nat_gateway(self, item):
        self.ec2("delete_nat_gateway", NatGatewayId=item.id)

        def is_deleted():
            found = self.ec2("describe_nat_gateways", NatGatewayIds=[item.id])["NatGateways"]
            return not found or found[0]["State"] == "deleted"

        until(f"{item} was not deleted", LONGEST, self.poll, is_deleted, self.on_wait)

    def endpoint(self, item):
        failed = self.ec2("delete_vpc_endpoints", VpcEndpointIds=[item.id])["Unsuccessful"]
        if failed and not is_not_found(failed[0]["Error"]["Code"]):
            raise Failed(f"{failed[0]['Error']['Code']}: {failed[0]['Error'].get('Message', '')}")

    def virtual_private_gateway(self, item):
        for attachment in item.detail.get("VpcAttachments", ()):
            if attachment["State"] in ("attached", "attaching"):
                self.unless_missing("ec2", "detach_vpn_gateway", VpnGatewayId=item.id, VpcId=attachment["VpcId"])
        self.ec2("delete_vpn_gateway", VpnGatewayId=item.id)

    def internet_gateway(self, item):
        listed = self.ec2("describe_internet_gateways", InternetGatewayIds=[item.id])["InternetGateways"]
        for attachment in (it for gateway in listed for it in gateway["Attachments"]):
            detach = {"InternetGatewayId": item.id, "VpcId": attachment["VpcId"]}
            self.unless_missing("ec2", "detach_internet_gateway", **detach)
        self.ec2("delete_internet_gateway", InternetGatewayId=item.id)

    def route_table(self, item):
        for table in self.ec2("describe_route_tables", RouteTableIds=[item.id])["RouteTables"]:
            for link in table["Associations"]:
                association = link["RouteTableAssociationId"]
                self.unless_missing("ec2", "disassociate_route_table", AssociationId=association)
        self.ec2("delete_route_table", RouteTableId=item.id)

    def vpc(self, item):
        self.ec2("delete_vpc", VpcId=item.id)

    def record(self, item):
        zone, record = item.detail
        changes = {"Changes": [{"Action": "DELETE", "ResourceRecordSet": record}]}
        self.account.client("route53").change_resource_record_sets(HostedZoneId=zone, ChangeBatch=changes)

    def domain(self, item):
        gateway = self.account.client("apigatewayv2")
        for mapping in gateway.get_api_mappings(DomainName=item.id)["Items"]:
            found = {"DomainName": item.id, "ApiMappingId": mapping["ApiMappingId"]}
            self.unless_missing("apigatewayv2", "delete_api_mapping", **found)
        gateway.delete_domain_name(DomainName=item.id)

    def link(self, item):
        """Its network interfaces block the deletion of their subnets until it is deleted."""
        gateway = self.account.client("apigatewayv2")
        gateway.delete_vpc_link(VpcLinkId=item.id)

        def is_deleted():
            try:
                return not gateway.get_vpc_link(VpcLinkId=item.id)
            except gateway.exceptions.NotFoundException:
                return True

        until(f"{item} was not deleted", LONGEST, self.poll, is_deleted, self.on_wait)

    def role(self, item):
        iam = self.account.client("iam")
        for policy in iam.list_role_policies(RoleName=item.id)["PolicyNames"]:
            iam.delete_role_policy(RoleName=item.id, PolicyName=policy)
        iam.delete_role(RoleName=item.id)

    def key(self, item):
        kms = self.account.client("kms")
        if kms.describe_key(KeyId=item.detail)["KeyMetadata"]["KeyState"] != "PendingDeletion":
            kms.schedule_key_deletion(KeyId=item.detail, PendingWindowInDays=7)
        if item.id.startswith("alias/"):
            kms.delete_alias(AliasName=item.id)


def one_call(operation, argument, service="ec2"):
    return lambda deletion, item: getattr(deletion.account.client(service), operation)(**{argument: item.id})


DELETIONS = {
    "DNS record": Deletion.record,
    "custom domain": Deletion.domain,
    "HTTP API": one_call("delete_api", "ApiId", "apigatewayv2"),
    "VPC link": Deletion.link,
    "log group": one_call("delete_log_group", "logGroupName", "logs"),
    "function": one_call("delete_function", "FunctionName", "lambda"),
    "role": Deletion.role,
    "key": Deletion.key,
    "VPC endpoint": Deletion.endpoint,
    "NAT gateway": Deletion.nat_gateway,
    "address": one_call("release_address", "AllocationId"),
    "virtual private gateway": Deletion.virtual_private_gateway,
    "network interface": one_call("delete_network_interface", "NetworkInterfaceId"),
    "internet gateway": Deletion.internet_gateway,
    "egress-only internet gateway": one_call("delete_egress_only_internet_gateway", "EgressOnlyInternetGatewayId"),
    "subnet": one_call("delete_subnet", "SubnetId"),
    "route table": Deletion.route_table,
    "security group": one_call("delete_security_group", "GroupId"),
    "network ACL": one_call("delete_network_acl", "NetworkAclId"),
    "VPC": Deletion.vpc,
}


def sweep(settings, account):
    """The command `make sweep`: 0 if nothing is left."""
    inventory = Inventory(account, settings.prefix)
    items = inventory.items()
    account.say(f"Account {account.masked_id}, Region {account.region}: objects with the tag {TAG} = {settings.prefix}")
    account.say("An acceptance run that is in progress with this prefix uses them too.")
    for item in items:
        account.say(f"  {item}")
    for failure in inventory.unlisted:
        account.say(f"  could not be listed: {failure}")
    if not items:
        account.say("  none")
        return 1 if inventory.unlisted else 0
    if not settings.yes and not confirmed("Type delete to delete them: ", "delete"):
        account.say("Nothing was deleted.")
        return 1
    children = Children()
    try:
        deletion = Deletion(account, settings.poll, children.check)
        deletion.delete(items)
    finally:
        children.end_all()
    left = inventory.remaining(None, (), settings.watch, settings.poll)
    failures = [*inventory.unlisted, *map(str, left)]
    account.say("Left: " + "; ".join(failures) if failures else "Everything is deleted.")
    return 1 if failures else 0


def confirmed(question, expected):
    try:
        return input(question).strip() == expected
    except (EOFError, KeyboardInterrupt):
        return False
