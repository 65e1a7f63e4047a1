"""Finds all objects with the tag `fgw-acceptance` by calls of each service, independently of the provider."""

import dataclasses
import time

from acceptance.account import BOTO_ERRORS, RUN_TAG, TAG, code_of, is_not_found, text_of

# The path of the roles of the run.
ROLE_PATH = "/fgw-acceptance/"


@dataclasses.dataclass(frozen=True)
class Item:
    kind: str
    id: str
    # The tag of its run.
    run: str
    # What the deletion needs in addition to the ID.
    detail: object = dataclasses.field(default=None, compare=False, hash=False)

    def __str__(self):
        return f"{self.kind} {self.id}"


class Inventory:
    """The tagged objects of a prefix, in the order in which they can be deleted."""

    def __init__(self, account, prefix):
        self.account = account
        self.prefix = prefix
        # Failures of list calls: what they concern is unknown.
        self.unlisted = []

    def items(self, run=None):
        self.unlisted = []
        found = []
        for listing in (self.domains, self.apis, self.links, self.log_groups, self.functions, self.roles, self.keys,
                        self.network):  # fmt: skip
            try:
                found += listing()
            except BOTO_ERRORS as error:
                self.unlisted.append(f"{listing.__name__}: {text_of(error)}")
        return [item for item in found if run is None or item.run == run]

    def remaining(self, run, ignored, seconds, poll):
        """The items of a run that are still listed after this time. AWS may list a deleted object for some seconds."""
        deadline = time.monotonic() + seconds
        while True:
            found = [item for item in self.items(run) if item not in ignored]
            if not found or time.monotonic() > deadline:
                return found
            time.sleep(poll)

    def item(self, kind, identifier, tags, detail=None):
        """A list of one item, or of none if the tag is missing."""
        if tags.get(TAG) != self.prefix:
            return []
        return [Item(kind, identifier, tags.get(RUN_TAG, ""), detail)]

    def domains(self):
        """With the records that point to them. Records have no tags, so that of the domain counts."""
        found = []
        for domain in self.all("apigatewayv2", "get_domain_names", "Items"):
            name = domain["DomainName"]
            for item in self.item("custom domain", name, domain.get("Tags", {})):
                targets = {it.get("ApiGatewayDomainName") for it in domain.get("DomainNameConfigurations", ())}
                found += self.records(name, targets, item.run) + [item]
        return found

    def records(self, name, targets, run):
        route53, found = self.account.client("route53"), []
        zones = [zone for page in route53.get_paginator("list_hosted_zones").paginate() for zone in page["HostedZones"]]
        for zone in zones:
            if not f".{name}.".endswith("." + zone["Name"]):
                continue
            listed = route53.list_resource_record_sets(HostedZoneId=zone["Id"], StartRecordName=name, MaxItems="10")
            for record in listed["ResourceRecordSets"]:
                target = record.get("AliasTarget", {}).get("DNSName", "").rstrip(".")
                if record["Name"].rstrip(".") == name and target in targets:
                    found.append(Item("DNS record", f"{record['Type']} {name}", run, (zone["Id"], record)))
        return found

    def apis(self):
        apis = self.all("apigatewayv2", "get_apis", "Items")
        return [item for api in apis for item in self.item("HTTP API", api["ApiId"], api.get("Tags", {}))]

    def links(self):
        """A deleted VPC link is listed until its network interfaces are deleted."""
        links = self.all("apigatewayv2", "get_vpc_links", "Items")
        return [item for link in links for item in self.item("VPC link", link["VpcLinkId"], link.get("Tags", {}))]

    def log_groups(self):
        logs, found = self.account.client("logs"), []
        for place in (f"/aws/vendedlogs/{self.prefix}-", f"/{self.prefix}-"):
            for page in logs.get_paginator("describe_log_groups").paginate(logGroupNamePrefix=place):
                for group in page["logGroups"]:
                    arn = group["arn"].removesuffix(":*")
                    tags = tags_of(lambda arn=arn: logs.list_tags_for_resource(resourceArn=arn)["tags"])
                    found += self.item("log group", group["logGroupName"], tags)
        return found

    def functions(self):
        functions, found = self.account.client("lambda"), []
        for page in functions.get_paginator("list_functions").paginate():
            for function in page["Functions"]:
                name, arn = function["FunctionName"], function["FunctionArn"]
                if name.startswith(f"{self.prefix}-"):
                    tags = tags_of(lambda arn=arn: functions.list_tags(Resource=arn)["Tags"])
                    found += self.item("function", name, tags)
        return found

    def roles(self):
        iam, found = self.account.client("iam"), []
        for page in iam.get_paginator("list_roles").paginate(PathPrefix=ROLE_PATH):
            for role in page["Roles"]:
                name = role["RoleName"]
                if name.startswith(f"{self.prefix}-"):
                    tags = tags_of(lambda name=name: as_map(iam.list_role_tags(RoleName=name)["Tags"]))
                    found += self.item("role", name, tags)
        return found

    def keys(self):
        """A key exists for a week after its deletion was scheduled. Its alias shows that this has not been done."""
        kms, found = self.account.client("kms"), []
        for page in kms.get_paginator("list_aliases").paginate():
            for alias in page["Aliases"]:
                name, key = alias["AliasName"], alias.get("TargetKeyId")
                if name.startswith(f"alias/{self.prefix}-") and key:
                    tags = tags_of(lambda key=key: as_map(kms.list_resource_tags(KeyId=key)["Tags"], "Tag"))
                    found += self.item("key", name, tags, key)
        return found + self.keys_without_alias({item.detail for item in found})

    def keys_without_alias(self, known):
        """A run that was killed between the creation of a key and that of its alias leaves one."""
        kms, found = self.account.client("kms"), []
        for page in kms.get_paginator("list_keys").paginate():
            for key in (it["KeyId"] for it in page["Keys"] if it["KeyId"] not in known):
                try:
                    metadata = kms.describe_key(KeyId=key)["KeyMetadata"]
                    if metadata.get("KeyManager") == "AWS" or metadata["KeyState"] == "PendingDeletion":
                        continue
                    tags = as_map(kms.list_resource_tags(KeyId=key)["Tags"], "Tag")
                except BOTO_ERRORS as error:
                    # The policy of another key may deny this, but not that of a key of a run.
                    if code_of(error) != "AccessDeniedException":
                        raise
                    continue
                found += self.item("key", key, tags, key)
        return found

    def network(self):
        found = []
        for kind, operation, member, name, counts in NETWORK:
            for it in self.all("ec2", operation, member, Filters=[{"Name": f"tag:{TAG}", "Values": [self.prefix]}]):
                if counts(it):
                    found += self.item(kind, it[name], as_map(it.get("Tags", it.get("TagSet", ()))), it)
        return found

    def all(self, service, operation, member, **arguments):
        client = self.account.client(service)
        # EC2 names the list of one filter `Filter` in this call only.
        if operation == "describe_nat_gateways" and "Filters" in arguments:
            arguments["Filter"] = arguments.pop("Filters")
        if client.can_paginate(operation):
            return [it for page in client.get_paginator(operation).paginate(**arguments) for it in page.get(member, [])]
        return getattr(client, operation)(**arguments).get(member, [])


def as_map(tags, prefix=""):
    return {tag[f"{prefix}Key"]: tag[f"{prefix}Value"] for tag in tags}


def tags_of(read):
    """No tags if the object was deleted after it was listed."""
    try:
        return read()
    except BOTO_ERRORS as error:
        if is_not_found(code_of(error)):
            return {}
        raise


def always(_):
    return True


def is_not_deleted(it):
    return it["State"].lower() not in ("deleted", "deleting")


# Kind, operation, member, ID, and whether an object counts. AWS still returns some deleted objects. The default group
# and ACL and the main route table are deleted with their VPC.
NETWORK = [
    ("VPC endpoint", "describe_vpc_endpoints", "VpcEndpoints", "VpcEndpointId", is_not_deleted),
    ("NAT gateway", "describe_nat_gateways", "NatGateways", "NatGatewayId", lambda it: it["State"] != "deleted"),
    ("address", "describe_addresses", "Addresses", "AllocationId", always),
    ("virtual private gateway", "describe_vpn_gateways", "VpnGateways", "VpnGatewayId", is_not_deleted),
    ("network interface", "describe_network_interfaces", "NetworkInterfaces", "NetworkInterfaceId", always),
    ("internet gateway", "describe_internet_gateways", "InternetGateways", "InternetGatewayId", always),
    ("egress-only internet gateway", "describe_egress_only_internet_gateways", "EgressOnlyInternetGateways",
     "EgressOnlyInternetGatewayId", always),
    ("subnet", "describe_subnets", "Subnets", "SubnetId", always),
    ("route table", "describe_route_tables", "RouteTables", "RouteTableId",
     lambda it: not any(link.get("Main") for link in it["Associations"])),
    ("security group", "describe_security_groups", "SecurityGroups", "GroupId",
     lambda it: it["GroupName"] != "default"),
    ("network ACL", "describe_network_acls", "NetworkAcls", "NetworkAclId", lambda it: not it["IsDefault"]),
    ("VPC", "describe_vpcs", "Vpcs", "VpcId", always),
]  # fmt: skip
