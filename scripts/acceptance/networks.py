"""The scenarios of `fgw_four_tier_vpc`: its examples as users copy them, and changes of one network."""

import json
import re

from acceptance.scenario import Plan
from processes import ROOT, Failed

EXAMPLES = ROOT / "examples/resources/fgw_four_tier_vpc"
KIND = "fgw_four_tier_vpc"

# File, what it shows, NAT gateways, public addresses, minutes.
SIZES = {
    "explicit-addresses": ("existing addresses, a transit tier, an endpoint policy, security group rules", 2, 2, 9),
    "flow-logs": ("a flow log to a new log group", 1, 1, 8),
    "interface-endpoints": ("interface endpoints of six services, one with a group of its own", 0, 0, 15),
    "ipv6": ("IPv6 in two tiers, rules of the default network ACL", 1, 1, 8),
    "private-nat": ("private NAT gateways, and a network without internet access", 2, 0, 9),
    "production": ("three AZs with a NAT gateway each", 3, 3, 8),
    "resource": ("all AZs, one NAT gateway", 1, 1, 8),
    "secondary-ranges": ("a secondary range with the subnets of pods", 1, 1, 8),
    "two-regions": ("two networks, both in the Region of the test", 0, 0, 5),
}


def plans():
    found = []
    for file in sorted(EXAMPLES.glob("*.tf")):
        if file.name.startswith("import-"):
            continue
        # A new example has no estimate yet.
        summary, nats, addresses, minutes = SIZES.get(file.stem, ("", 3, 3, 10))
        run = lambda scenario, file=file: example(scenario, file)  # noqa: E731
        summary = f"example {file.name}" + (f": {summary}" if summary else "")
        found.append(Plan("network", f"network-{file.stem}", summary, run, minutes, nats, addresses))
    summary = "changes of a network: AZs, NAT gateways, tags, endpoints of both kinds, IPv6, import"
    found.append(Plan("network", "network-change", summary, change, 40, 2, 2))
    return found


def example(scenario, file):
    workspace, run = scenario.workspace, scenario.run
    text = file.read_text()
    workspace.write("main.tf", text)
    addresses = []
    with scenario.step("prepare"):
        overrides = {}
        for label in re.findall(rf'^resource "{KIND}" "(\w+)"', text, re.MULTILINE):
            overrides[label] = {"vpc_name": run.name(label.replace("_", "-"))}
        if "custom_nat_eips" in text:
            wanted = len(re.findall('"eipalloc-', text))
            addresses += [run.fixtures.address() for _ in range(wanted)]
            for attributes in overrides.values():
                attributes["custom_nat_eips"] = addresses
        if re.search(r"^  region\s*=", text, re.MULTILINE):
            # The role, the check for leftovers and the sweep are limited to one Region.
            for attributes in overrides.values():
                attributes["region"] = run.account.region
        if "flow_logs" in text:
            # The bucket of the example does not exist, and its role has another account.
            log = {"log_group_name": run.name("flow"), "log_group_skip_destroy": False, "traffic_type": "REJECT",
                   "iam_role_arn": run.fixtures.role_arn()}  # fmt: skip
            for attributes in overrides.values():
                attributes["flow_logs"] = {"rejected": log}
        excluded = re.search(r'availability_zone_exclude_ids\s*=\s*\["([^"]*)"\]', text)
        if excluded:
            for attributes in overrides.values():
                attributes["availability_zone_exclude_ids"] = [zone_to_exclude(run, excluded[1])]
        workspace.write("acceptance_override.tf", blocks(overrides))
    scenario.apply("create")
    scenario.destroy()
    for address in addresses:
        with scenario.step("release an address of the example"):
            run.fixtures.release(address)


def zone_to_exclude(run, named):
    """The AZ in the example, or the last one of a Region that does not have it."""
    filters = [{"Name": "zone-type", "Values": ["availability-zone"]}]
    zones = run.account.client("ec2").describe_availability_zones(Filters=filters)["AvailabilityZones"]
    names = sorted(zone["ZoneId"] for zone in zones)
    return named if named in names else names[-1]


def blocks(overrides, kind=KIND):
    """An override file: JSON values are valid expressions of Terraform."""
    text = ""
    for label, attributes in overrides.items():
        lines = "".join(f"  {name} = {json.dumps(value)}\n" for name, value in attributes.items())
        text += f'resource "{kind}" "{label}" {{\n{lines}}}\n\n'
    return text


# Each step changes the attributes of the network; None removes one.
CHANGES = [
    ("add an AZ", {"num_availability_zones": 3}),
    ("add a NAT gateway", {"num_nat_gateways": 2}),
    ("set tags", {"custom_tags": {"Team": "shop"}, "public_subnet_custom_tags": {"Tier": "edge"}}),
    ("delete the endpoints", {"create_vpc_endpoints": False}),
    ("create the endpoints", {"create_vpc_endpoints": None}),
    ("enable IPv6", {"enable_ipv6": True, "assign_generated_ipv6_cidr_block": True}),
    ("give a private tier IPv6", {"ipv6_subnet_tiers": ["public", "private_app"],
                                  "assign_ipv6_address_on_creation_tiers": ["private_app"]}),
    ("take IPv6 from the private tier", {"ipv6_subnet_tiers": None, "assign_ipv6_address_on_creation_tiers": None}),
    ("remove tags", {"custom_tags": None}),
    ("restrict the default security group", {"restrict_default_security_group": True}),
    ("restore the default security group", {"restrict_default_security_group": None}),
    ("create interface endpoints", {"interface_endpoints": {"kms": {}, "logs": {"allowed_ports": [443, 8443]}}}),
    ("move an interface endpoint", {"interface_endpoints": {"kms": {"subnet_tier": "private_persistence"}, "logs": {}}}),
    ("add a secondary range", {"secondary_cidr_blocks": ["100.64.0.0/16"],
                               "private_persistence_subnet_cidr_blocks": {"AZ-0": "100.64.0.0/18"}}),
    ("remove the secondary range", {"secondary_cidr_blocks": None, "private_persistence_subnet_cidr_blocks": None}),
    ("remove an AZ", {"num_availability_zones": 2}),
    ("delete the interface endpoints", {"interface_endpoints": None}),
]


def change(scenario):
    attributes = {
        "vpc_name": scenario.run.name("change"),
        "cidr_block": "10.61.0.0/16",
        "num_availability_zones": 2,
        "num_nat_gateways": 1,
    }
    address = f"{KIND}.change"
    write(scenario.workspace, attributes)
    scenario.apply("create")
    network = scenario.workspace.attribute(address, "id")
    for title, values in CHANGES:
        attributes |= values
        write(scenario.workspace, attributes)
        scenario.apply(title)
    if scenario.workspace.attribute(address, "id") != network:
        raise Failed("A change has replaced the VPC.")
    scenario.import_again(address)
    scenario.destroy()


def write(workspace, attributes, kind=KIND, others=None):
    """`others` are the attributes of resources of other kinds."""
    required = {"required_providers": {"fgw": {"source": "fgw/fgw"}}}
    resources = {
        kind: {"change": {name: value for name, value in attributes.items() if value is not None}}
        for kind, attributes in ((others or {}) | {kind: attributes}).items()
    }
    workspace.write_json("main.tf.json", {"terraform": required, "resource": resources})
