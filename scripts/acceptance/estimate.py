"""The announcement of a run: its parts, its duration and its cost."""

import shlex

from acceptance.account import RUN_TAG, TAG

# List prices of us-east-1 in USD. A NAT gateway is billed per started hour, and exists for less than one.
NAT_GATEWAY_HOUR = 0.045
ADDRESS_HOUR = 0.005
# Function calls, API calls, log events, DNS queries and a key for less than an hour.
REST = 0.05

QUESTION = "To continue, type the 12 digits of the account ID: "


def announce(run):
    settings, account, say = run.settings, run.account, run.account.say
    say(f"Account  {account.masked_id} (aws sts get-caller-identity shows all digits)")
    say(f"Region   {account.region}")
    say(f"Role     {settings.role or 'none: the provider uses the same credentials (ROLE_ARN names a role)'}")
    say(f"Prefix   {settings.prefix}: names begin with {settings.prefix}-{run.id}-")
    say(f"Tags     {TAG} = {settings.prefix}, {RUN_TAG} = {run.id}")
    if account.is_emulator:
        say("\nThis is not AWS. These services have another endpoint, so the report shows nothing about AWS:")
        for service, address in account.overrides.items():
            say(f"  {service:<13} {address}")
    say("\nThis run creates and deletes, one after another:")
    for plan in run.plans:
        say(f"  {plan.name:<28} {plan.summary}")
    if run.questions:
        rows = [row for it in run.questions for row in it.rows]
        say(f"  {len(rows)} questions: small objects, with which the answers of AWS to single calls are recorded")
    for name, reason in run.not_run:
        say(f"  does not run: {name} ({reason})")
    say()
    for line in costs(run):
        say(line)
    say("It needs 3 Availability Zones and, at the same time, 2 VPCs (quota 5 per Region, with the default VPC) and 3 Elastic IP")
    say("addresses (quota 5 per Region).")
    say(f"Transcripts: {run.directory}/<name>/transcript.txt")
    if any(plan.group == "gateway" for plan in run.plans):
        say("AWS keeps what it creates by itself for gateways: the service-linked role AWSServiceRoleForAPIGateway, the")
        say("resource policy AWSLogDeliveryWrite20150319 of CloudWatch Logs, and a KMS key for 7 days until it is deleted.")
    say("Ctrl-C stops it. Each part deletes its own objects. To delete what an interruption leaves:")
    say(f"  {sweep_command(settings)}")


def costs(run):
    parts = [*run.plans, *run.questions]
    nats, addresses = sum(it.nat_gateways for it in parts), sum(it.addresses for it in parts)
    minutes = round(sum(it.minutes for it in parts))
    total = nats * NAT_GATEWAY_HOUR + addresses * ADDRESS_HOUR + REST
    return [
        f"Expected duration on AWS: about {minutes} minutes. The credentials must stay valid for this time.",
        f"Expected cost: about {total:.2f} USD = {nats} NAT gateways x {NAT_GATEWAY_HOUR} (one started hour each) "
        f"+ {addresses} public IPv4 addresses x {ADDRESS_HOUR} (one hour each) + {REST:.2f} for everything else.",
        "These are the list prices of us-east-1. They vary by Region, and exclude taxes.",
    ]


def sweep_command(settings):
    words = ["make", "sweep"]
    if settings.prefix != "fgw-acceptance":
        words.append(f"PREFIX={settings.prefix}")
    return shlex.join(words) + " (with the same account and Region)"
