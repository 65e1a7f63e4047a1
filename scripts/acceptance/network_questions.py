"""Questions about EC2."""

import json
import time

from acceptance.account import is_not_found
from acceptance.question import Question, Row

CODES = "src/aws/calls/codes.rs"

MISSING_GATEWAY = "igw-0123456789abcdef0"
MISSING_NAT_GATEWAY = "nat-0123456789abcdef0"


def removed_ranges(ask):
    vpc = ask.vpc()
    association, block = ask.ipv6_range(vpc)
    subnet = ask.subnet(vpc)
    of_subnet = block.replace("/56", "/64")
    ask.ec2("disassociate_subnet_cidr_block", AssociationId=ask.subnet_range(subnet, of_subnet))

    def states(objects):
        return [it["Ipv6CidrBlockState"]["State"] for it in objects[0].get("Ipv6CidrBlockAssociationSet", [])]

    of_subnet = seen(ask, lambda: states(ask.ec2("describe_subnets", SubnetIds=[subnet])["Subnets"]))
    ask.ec2("disassociate_vpc_cidr_block", AssociationId=association)
    of_vpc = seen(ask, lambda: states(ask.ec2("describe_vpcs", VpcIds=[vpc])["Vpcs"]))
    known = {"associated", "disassociating", "disassociated"}
    used = {state for states in of_subnet + of_vpc for state in states}
    text = f"states of the subnet in order: {of_subnet}, of the VPC: {of_vpc}"
    ask.observe("ipv6-disassociated", text, used <= known and "associated" not in (of_subnet[-1] + of_vpc[-1]))


def secondary_ranges(ask):
    vpc = ask.vpc()
    excluded = {
        block: ask.attempt("ec2", "associate_vpc_cidr_block", VpcId=vpc, CidrBlock=block)
        for block in ("172.16.0.0/16", "198.19.0.0/24")
    }
    text = "; ".join(f"{block}: {answer}" for block, answer in excluded.items())
    ask.observe("secondary-range-excluded", text, all(it.code == "InvalidVpc.Range" for it in excluded.values()))

    table, gateway = ask.route_table(vpc), ask.internet_gateway(vpc)
    ask.ec2("create_route", RouteTableId=table, DestinationCidrBlock="100.65.7.0/24", GatewayId=gateway)
    covering = ask.attempt("ec2", "associate_vpc_cidr_block", VpcId=vpc, CidrBlock="100.65.0.0/16")
    ask.observe("secondary-range-route", str(covering), bool(covering.code))

    created = ask.ec2("associate_vpc_cidr_block", VpcId=vpc, CidrBlock="100.64.0.0/16")["CidrBlockAssociation"]
    association = {"AssociationId": created["AssociationId"]}

    def states():
        blocks = ask.ec2("describe_vpcs", VpcIds=[vpc])["Vpcs"][0]["CidrBlockAssociationSet"]
        return [it["CidrBlockState"]["State"] for it in blocks if it["AssociationId"] == created["AssociationId"]]

    ask.run.fixtures.wait("The range was not associated", 120, lambda: states() == ["associated"])
    subnet = ask.ec2("create_subnet", VpcId=vpc, CidrBlock="100.64.0.0/24", TagSpecifications=ask.tags("subnet"))
    in_use = ask.attempt("ec2", "disassociate_vpc_cidr_block", **association)
    ask.ec2("delete_subnet", SubnetId=subnet["Subnet"]["SubnetId"])
    ask.observe("secondary-range-in-use", str(in_use), in_use.code == "InvalidCidrBlock.InUse")
    ask.ec2("disassociate_vpc_cidr_block", **association)
    found = seen(ask, states)
    used = {state for states in found for state in states}
    ask.observe("secondary-range-removed", f"states in order: {found}", used <= {"disassociating", "disassociated"})


def seen(ask, states):
    """The different values of a list in the order in which they were read, until it shows no change in progress."""
    found, deadline = [], time.monotonic() + 60
    while True:
        value = states()
        if not found or found[-1] != value:
            found.append(value)
        if all(state == "disassociated" for state in value) or time.monotonic() > deadline:
            return found
        time.sleep(ask.run.settings.poll)


def vpc_in_use(ask):
    vpc = ask.vpc()
    ask.security_group(vpc)
    answer = ask.attempt("ec2", "delete_vpc", VpcId=vpc)
    ask.observe("vpc-in-use", f"with a security group: {answer}", answer.code == "DependencyViolation")


def ranges_of_subnets(ask):
    vpc = ask.vpc()
    _, block = ask.ipv6_range(vpc)
    range_of_subnet = block.replace("/56", "/64")
    first, second = ask.subnet(vpc), ask.subnet(vpc, "10.62.1.0/24")
    ipv4 = ask.attempt(
        "ec2", "create_subnet", VpcId=vpc, CidrBlock="10.62.0.0/24", TagSpecifications=ask.tags("subnet")
    )
    association = ask.subnet_range(first, range_of_subnet)
    ipv6 = ask.attempt("ec2", "associate_subnet_cidr_block", SubnetId=second, Ipv6CidrBlock=range_of_subnet)
    conflict = "InvalidSubnet.Conflict"
    ask.observe("subnet-range-taken", f"IPv4: {ipv4}; IPv6: {ipv6}", ipv4.code == conflict and ipv6.code == conflict)
    ask.ec2("modify_subnet_attribute", SubnetId=first, AssignIpv6AddressOnCreation={"Value": True})
    answer = ask.attempt("ec2", "disassociate_subnet_cidr_block", AssociationId=association)
    # The provider turns addressing off first, so it works in either case.
    ask.observe("ipv6-addressing-on", str(answer))


def routes(ask):
    vpc = ask.vpc()
    table = ask.route_table(vpc)
    gateway = ask.internet_gateway(vpc)
    default = {"RouteTableId": table, "DestinationCidrBlock": "0.0.0.0/0"}
    new = ask.attempt("ec2", "create_route", GatewayId=gateway, **default)
    ask.observe("route-new-target", str(new), not new.code or new.code == "InvalidGatewayID.NotFound")
    if new.code:
        ask.ec2("create_route", GatewayId=gateway, **default)
    same = ask.attempt("ec2", "create_route", GatewayId=gateway, **default)
    interface = ask.network_interface(ask.subnet(vpc))
    different = ask.attempt("ec2", "create_route", NetworkInterfaceId=interface, **default)
    text = f"same target: {same}; another target: {different}"
    exists = "RouteAlreadyExists"
    ask.observe("route-exists", text, same.code in ("", exists) and different.code == exists)
    elsewhere = {"RouteTableId": table, "DestinationCidrBlock": "192.0.2.0/24"}
    missing = ask.attempt("ec2", "create_route", GatewayId=MISSING_GATEWAY, **elsewhere)
    missing_nat = ask.attempt("ec2", "create_route", NatGatewayId=MISSING_NAT_GATEWAY, **elsewhere)
    both = missing.code.endswith("NotFound") and missing_nat.code.endswith("NotFound")
    ask.observe("route-missing-target", f"internet gateway: {missing}; NAT gateway: {missing_nat}", both)


def propagation(ask):
    vpc = ask.vpc()
    table = ask.route_table(vpc)
    created = ask.ec2("create_vpn_gateway", Type="ipsec.1", TagSpecifications=ask.tags("vpn-gateway"))
    gateway = created["VpnGateway"]["VpnGatewayId"]
    ask.afterwards("ec2", "delete_vpn_gateway", VpnGatewayId=gateway)
    ask.ec2("describe_vpn_gateways", VpnGatewayIds=[gateway])
    answer = ask.attempt("ec2", "enable_vgw_route_propagation", RouteTableId=table, GatewayId=gateway)
    ask.observe("propagation-detached", str(answer), answer.code == "Gateway.NotAttached")


def public_nat_gateway(ask):
    vpc = ask.vpc()
    internet, subnet, table = ask.internet_gateway(vpc), ask.subnet(vpc), ask.route_table(vpc)
    address = ask.run.fixtures.address()
    ask.afterwards("ec2", "release_address", AllocationId=address)
    gateway = ask.nat_gateway(SubnetId=subnet, AllocationId=address)
    default = {"RouteTableId": table, "DestinationCidrBlock": "0.0.0.0/0"}
    early = ask.attempt("ec2", "create_route", NatGatewayId=gateway, **default)
    ask.observe("route-pending-nat", f"in state {ask.nat_state(gateway)}: {early}")
    ask.nat_gateway_is_available(gateway)
    if early.code:
        ask.ec2("create_route", NatGatewayId=gateway, **default)
    found = ask.ec2("describe_addresses", AllocationIds=[address])["Addresses"][0]
    answer = ask.attempt("ec2", "disassociate_address", AssociationId=found.get("AssociationId", "none"))
    ask.observe("nat-address-disassociate", str(answer), bool(answer.code))
    detached = ask.attempt("ec2", "detach_internet_gateway", InternetGatewayId=internet, VpcId=vpc)
    ask.observe("igw-in-use", str(detached), detached.code == "DependencyViolation")
    if not detached.code:
        ask.attempt("ec2", "attach_internet_gateway", InternetGatewayId=internet, VpcId=vpc)
    ask.ec2("delete_nat_gateway", NatGatewayId=gateway)
    states = []

    def is_deleted():
        state = (ask.nat_state(gateway), state_of_default_route(ask, table))
        # The first answers may be older than the deletion.
        if state not in states and (states or state[0] != "available"):
            states.append(state)
        return state[0] in ("deleted", "missing")

    ask.run.fixtures.wait("The NAT gateway was not deleted", 600, is_deleted)
    deadline = time.monotonic() + min(60, ask.run.settings.watch)
    while states[-1][1] != "blackhole" and time.monotonic() < deadline:
        time.sleep(ask.run.settings.poll)
        is_deleted()
    text = "; ".join(f"{nat}, route {route}" for nat, route in states)
    known = all(nat in ("deleting", "deleted") for nat, _ in states)
    ask.observe("nat-deletion", text, known and states[-1][1] == "blackhole")
    again = ask.attempt("ec2", "delete_nat_gateway", NatGatewayId=gateway)
    ask.observe("nat-deleted-again", str(again), not again.code or again.code == "NatGatewayNotFound")
    ask.attempt("ec2", "delete_route", **default)


def state_of_default_route(ask, table):
    tables = ask.ec2("describe_route_tables", RouteTableIds=[table])["RouteTables"]
    routes = [it for it in tables[0]["Routes"] if it.get("DestinationCidrBlock") == "0.0.0.0/0"]
    return routes[0].get("State", "unknown") if routes else "missing"


def private_nat_gateway(ask):
    vpc = ask.vpc()
    gateway = ask.nat_gateway(SubnetId=ask.subnet(vpc), ConnectivityType="private")
    ask.nat_gateway_is_available(gateway)
    assign = {"NatGatewayId": gateway, "PrivateIpAddressCount": 1}
    first = ask.attempt("ec2", "assign_private_nat_gateway_address", **assign)
    second = ask.attempt("ec2", "assign_private_nat_gateway_address", **assign)
    ask.observe("nat-addresses-at-once", f"first: {first}; second at once: {second}")


def endpoint_policies(ask):
    vpc = ask.vpc()
    region = ask.account.region
    statement = {"Effect": "Allow", "Principal": "*", "Action": ["s3:GetObject", "s3:ListBucket"], "Resource": "*"}
    returned = {}
    for label, sid in (("without Sid", {}), ("with an empty Sid", {"Sid": ""})):
        policy = json.dumps({"Version": "2012-10-17", "Statement": [sid | statement]})
        created = ask.attempt(
            "ec2", "create_vpc_endpoint", VpcId=vpc, VpcEndpointType="Gateway", PolicyDocument=policy,
            ServiceName=f"com.amazonaws.{region}.s3", TagSpecifications=ask.tags("vpc-endpoint"),
        )  # fmt: skip
        if created.code:
            returned[label] = str(created)
            continue
        endpoint = created.data["VpcEndpoint"]["VpcEndpointId"]
        ask.afterwards("ec2", "delete_vpc_endpoints", VpcEndpointIds=[endpoint])
        shown = ask.ec2("describe_vpc_endpoints", VpcEndpointIds=[endpoint])["VpcEndpoints"][0]
        returned[label] = shown.get("PolicyDocument", "no policy")
        ask.ec2("delete_vpc_endpoints", VpcEndpointIds=[endpoint])
        ask.wait(f"{endpoint} was not deleted", 120, lambda endpoint=endpoint: is_endpoint_deleted(ask, endpoint))
    ask.observe("endpoint-policy-sid", "; ".join(f"{label}: {text}" for label, text in returned.items()))


def is_endpoint_deleted(ask, endpoint):
    answer = ask.attempt("ec2", "describe_vpc_endpoints", VpcEndpointIds=[endpoint])
    found = answer.data.get("VpcEndpoints", [])
    return is_not_found(answer.code) or not answer.code and all(it["State"].lower() == "deleted" for it in found)


def endpoint_services(ask):
    filters = [{"Name": "service-type", "Values": ["Gateway"]}]
    found = ask.ec2("describe_vpc_endpoint_services", Filters=filters)
    names = sorted(found["ServiceNames"])
    text = f"{len(names)} names, {len(found.get('ServiceDetails', []))} details: {', '.join(names[:12])}"
    ends = {name.rpartition(".")[2] for name in names}
    ask.observe("endpoint-service-type", text, {"s3", "dynamodb"} <= ends and len(names) < 12)


def missing_endpoint(ask):
    answer = ask.attempt("ec2", "delete_vpc_endpoints", VpcEndpointIds=["vpce-0123456789abcdef0"])
    entries = [it["Error"] for it in answer.data.get("Unsuccessful", [])]
    codes = [answer.code] if answer.code else [error["Code"] for error in entries]
    text = f"the call: {answer}; entries: {[(it['Code'], it.get('Message', '')) for it in entries]}"
    ask.observe("endpoint-missing", text, all(code.endswith(".NotFound") for code in codes))


def acl_entries(ask):
    vpc = ask.vpc()
    created = ask.ec2("create_network_acl", VpcId=vpc, TagSpecifications=ask.tags("network-acl"))
    acl = created["NetworkAcl"]["NetworkAclId"]
    ask.afterwards("ec2", "delete_network_acl", NetworkAclId=acl)
    ask.ec2("describe_network_acls", NetworkAclIds=[acl])

    def entry(number):
        rule = {"Protocol": "-1", "RuleAction": "allow", "CidrBlock": "10.0.0.0/8", "Egress": False}
        return {"NetworkAclId": acl, "RuleNumber": number} | rule

    ask.ec2("create_network_acl_entry", **entry(1))
    exists = ask.attempt("ec2", "create_network_acl_entry", **entry(1))
    missing = ask.attempt("ec2", "delete_network_acl_entry", NetworkAclId=acl, RuleNumber=999, Egress=False)
    replaced = ask.attempt("ec2", "replace_network_acl_entry", **entry(999))
    text = f"create an existing one: {exists}; delete a missing one: {missing}; replace a missing one: {replaced}"
    not_found = "InvalidNetworkAclEntry.NotFound"
    expected = exists.code == "NetworkAclEntryAlreadyExists" and missing.code == replaced.code == not_found
    ask.observe("acl-entries", text, expected)
    link = ask.attempt(
        "ec2", "replace_network_acl_association", NetworkAclId=acl, AssociationId="aclassoc-0123456789abcdef0"
    )
    ask.observe("acl-association-missing", str(link), link.code == "InvalidAssociationID.NotFound")
    answers = (ask.attempt("ec2", "create_network_acl_entry", **entry(number)) for number in range(2, 42))
    limit = next((answer for answer in answers if answer.code), None)
    reached = limit and limit.code == "NetworkAclEntryLimitExceeded"
    ask.observe("acl-quota", str(limit or "41 entries are accepted"), reached)


def group_rules(ask):
    vpc = ask.vpc()
    group = ask.security_group(vpc)
    ranges = [{"CidrIp": f"10.0.{number}.0/24"} for number in range(201)]
    permission = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": ranges}
    answer = ask.attempt("ec2", "authorize_security_group_ingress", GroupId=group, IpPermissions=[permission])
    # An account may have a higher quota.
    verdict = answer.code == "RulesPerSecurityGroupLimitExceeded" if answer.code else None
    ask.observe("group-quota", f"201 rules: {answer}", verdict)


def tenancy(ask):
    answer = ask.attempt("ec2", "modify_vpc_tenancy", VpcId=ask.vpc(), InstanceTenancy="default")
    # The provider reads the tenancy first, and does not send this call.
    ask.observe("tenancy-default", str(answer))


def rules_added_with_ipv6(ask):
    vpc = ask.vpc()
    of_vpc = [{"Name": "vpc-id", "Values": [vpc]}]
    wait = ask.run.fixtures.wait
    acls = wait("The ACL was missing", 60, lambda: ask.ec2("describe_network_acls", Filters=of_vpc)["NetworkAcls"])
    groups = wait(
        "The group was missing", 60, lambda: ask.ec2("describe_security_groups", Filters=of_vpc)["SecurityGroups"]
    )
    acl, group = acls[0]["NetworkAclId"], groups[0]["GroupId"]
    ask.ec2("delete_network_acl_entry", NetworkAclId=acl, RuleNumber=100, Egress=False)
    ask.ec2("revoke_security_group_egress", GroupId=group, IpPermissions=[
        {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}])  # fmt: skip
    ask.ipv6_range(vpc)
    # AWS adds the rules shortly after the association. That it adds none shows only after the whole time.
    deadline = time.monotonic() + ask.run.settings.watch
    while time.monotonic() < deadline:
        entries = ask.ec2("describe_network_acls", NetworkAclIds=[acl])["NetworkAcls"][0]["Entries"]
        if any("Ipv6CidrBlock" in it and it["RuleNumber"] < 32767 for it in entries):
            break
        time.sleep(ask.run.settings.poll)
    entries = ask.ec2("describe_network_acls", NetworkAclIds=[acl])["NetworkAcls"][0]["Entries"]
    permissions = ask.ec2("describe_security_groups", GroupIds=[group])["SecurityGroups"][0]["IpPermissionsEgress"]
    ipv6 = [f"{'egress' if it['Egress'] else 'ingress'} {it['RuleNumber']}" for it in entries if "Ipv6CidrBlock" in it]
    groups = [it["CidrIpv6"] for permission in permissions for it in permission.get("Ipv6Ranges", [])]
    text = f"modified ACL: {ipv6 or 'no IPv6 entries'}; modified security group: {groups or 'no IPv6 rules'}"
    added = [it for it in ipv6 if "32768" not in it]
    ask.observe("ipv6-default-rules", text, not groups and added == ["egress 101"])


def tags_visible(ask):
    vpc, stale = ask.vpc(), 0
    ask.ec2("create_tags", Resources=[vpc], Tags=[{"Key": "Team", "Value": "shop"}])
    for _ in range(20):
        tags = ask.ec2("describe_vpcs", VpcIds=[vpc])["Vpcs"][0].get("Tags", [])
        stale += "Team" not in {tag["Key"] for tag in tags}
    ask.observe("tags-visible", f"{stale} of 20 reads at once do not return the tag", stale == 0)


QUESTIONS = [
    Question([
        Row("ipv6-disassociated", "How does AWS return IPv6 ranges that were disassociated?",
            "they are omitted, or `disassociating` and `disassociated`", "src/aws/ec2/vpc_ipv6_block.rs"),
    ], removed_ranges, 1),
    Question([
        Row("secondary-range-excluded", "Which private ranges does AWS reject for a VPC in 10.0.0.0/8?",
            "172.16.0.0/12 and 198.19.0.0/16, with InvalidVpc.Range",
            "src/topology/four_tier_vpc/parts/secondary_ranges/restrictions.rs"),
        Row("secondary-range-route", "What does AWS return for a range with the destination of a route?",
            "unknown; the plan rejects it", "src/topology/four_tier_vpc/parts/secondary_ranges.rs"),
        Row("secondary-range-in-use", "What does AWS return for the removal of a range with a subnet?",
            "InvalidCidrBlock.InUse", CODES),
        Row("secondary-range-removed", "How does AWS return secondary ranges that were disassociated?",
            "they are omitted, or `disassociating` and `disassociated`", "src/aws/ec2/vpc_cidr_block.rs"),
    ], secondary_ranges, 2),
    Question([
        Row("vpc-in-use", "What does DeleteVpc return while a security group is in the VPC?",
            "DependencyViolation", CODES),
    ], vpc_in_use),
    Question([
        Row("subnet-range-taken", "What does AWS return if another subnet has the range?",
            "InvalidSubnet.Conflict", CODES),
        Row("ipv6-addressing-on", "Does AWS disassociate an IPv6 range while addressing on creation is on?",
            "unknown; the provider turns addressing off first", "src/aws/ec2/subnet/ipv6.rs"),
    ], ranges_of_subnets),
    Question([
        Row("route-new-target", "Does AWS accept a route to a gateway that was just attached?",
            "yes, or a code that ends in NotFound", "src/aws/ec2/route.rs"),
        Row("route-exists", "What does CreateRoute return if the route exists?",
            "accepted or RouteAlreadyExists for the same target, RouteAlreadyExists for another one", CODES),
        Row("route-missing-target", "What does CreateRoute return if the target does not exist?",
            "a code that ends in NotFound", CODES),
    ], routes),
    Question([
        Row("propagation-detached", "What does EnableVgwRoutePropagation return while the gateway is detached?",
            "Gateway.NotAttached", CODES),
    ], propagation),
    Question([
        Row("route-pending-nat", "Does AWS accept a route to a NAT gateway that is pending?",
            "unknown; the provider waits until it is available", "src/aws/ec2/nat_gateway.rs"),
        Row("nat-address-disassociate", "Does AWS disassociate the address of a NAT gateway?",
            "no, with any code", "src/aws/ec2/eip.rs"),
        Row("igw-in-use", "Does AWS detach an internet gateway while a NAT gateway has a public address?",
            "DependencyViolation", CODES),
        Row("nat-deletion", "Which states has a NAT gateway during its deletion, and its route?",
            "deleting, then deleted; the route becomes a blackhole", "src/aws/ec2/nat_gateway.rs"),
        Row("nat-deleted-again", "What does DeleteNatGateway return for a deleted NAT gateway?",
            "accepted, or NatGatewayNotFound", CODES),
    ], public_nat_gateway, 5, 1, 1),
    Question([
        Row("nat-addresses-at-once",
            "What does AWS return if addresses of a private NAT gateway are changed twice at once?",
            "unknown; the provider waits between the changes", "src/aws/ec2/nat_gateway_addresses.rs"),
    ], private_nat_gateway, 5, 1),
    Question([
        Row("endpoint-policy-sid", "Does AWS add an empty Sid to an endpoint policy, or remove it?",
            "either; the provider ignores an empty Sid", "src/model/policy.rs"),
    ], endpoint_policies),
    Question([
        Row("endpoint-service-type", "Does the filter service-type also limit ServiceNames?",
            "yes: only the services with gateway endpoints", "src/aws/lookups/facts.rs"),
    ], endpoint_services),
    Question([
        Row("endpoint-missing", "What does DeleteVpcEndpoints return for a missing endpoint?",
            "no entry, or a code that ends in .NotFound", "src/aws/ec2/vpc_endpoint.rs"),
    ], missing_endpoint),
    Question([
        Row("acl-entries", "What does AWS return for ACL entries that exist or are missing?",
            "NetworkAclEntryAlreadyExists, InvalidNetworkAclEntry.NotFound", CODES),
        Row("acl-association-missing", "What does ReplaceNetworkAclAssociation return for a missing association?",
            "InvalidAssociationID.NotFound", "src/aws/ec2/default_network_acl.rs"),
        Row("acl-quota", "What does AWS return at the quota of ACL entries?",
            "NetworkAclEntryLimitExceeded", CODES),
    ], acl_entries),
    Question([
        Row("group-quota", "What does AWS return at the quota of rules of a security group?",
            "RulesPerSecurityGroupLimitExceeded", CODES),
    ], group_rules),
    Question([
        Row("tags-visible", "Does AWS return a tag in each read after CreateTags?",
            "yes; otherwise a plan right after an apply may show drift once", "src/aws/ec2/tags.rs"),
    ], tags_visible),
    Question([
        Row("tenancy-default", "Does ModifyVpcTenancy accept default for a VPC that has it?",
            "unknown; the provider does not send this call then", "src/aws/ec2/vpc.rs"),
    ], tenancy),
    Question([
        Row("ipv6-default-rules",
            "Does AWS add IPv6 rules to a default ACL without its ingress rule and to a group without rules?",
            "only to a direction of the ACL with its original rule, and not to the group",
            "src/model/spec/network/default_network_acl.rs, `follow_creation_of`"),
    ], rules_added_with_ipv6),
]  # fmt: skip

# Identifier, subject and reason.
NOT_ASKED = [
    ("ipam-allocations", "GetIpamPoolAllocations: filters, and allocations of deleted VPCs",
     "IPAM pools of private ranges need the advanced tier, billed per address. The provider sends no filters."),
    ("nat-regional", "Regional NAT gateways",
     "The provider does not create them."),
    ("nat-missing-in-az", "AZs without NAT gateways",
     "Only some AZs of some accounts are affected, and which is unknown."),
    ("isolated-partitions", "Isolated partitions without tags in CreateVpcEndpoint",
     "They need an account in such a partition."),
    ("endpoint-private-dns",
     "The S3 gateway endpoint under an interface endpoint with PrivateDnsOnlyForInboundResolverEndpoint",
     "A public issue quotes the answer, and an interface endpoint is billed per hour and AZ."),
]  # fmt: skip
