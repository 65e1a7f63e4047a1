"""Writes the IAM policies of the permissions guide to target/policies, one file each. Run by `make policies`.

ACCOUNT=123456789012   your AWS account
REGION=eu-central-1    your Region, which also determines the partition
OUTPUT=DIR             another directory

Names and IDs of your objects, several separated by commas. Those that are missing stay the examples of the guide, and
are listed:

FUNCTION=NAME, LOG_GROUP=NAME, DOMAIN=NAME, HOSTED_ZONE=ID, KEY=ID, ASSUMED_ROLE=NAME, AUTHORIZER_ROLE=NAME,
SUBSCRIPTION_ROLE=NAME, IPAM_POOL=ID, ADDRESS=ALLOCATION ID, VPN_GATEWAY=ID, ENDPOINT_SERVICE=LABEL, SECURITY_GROUP=ID
"""

import json
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GUIDE = ROOT / "docs/guides/permissions.md"

# In the guide.
ACCOUNT, REGION = "123456789012", "eu-central-1"
EXAMPLES = {
    "FUNCTION": "my-function",
    "LOG_GROUP": "my-log-group",
    "DOMAIN": "api.example.com",
    "HOSTED_ZONE": "Z0123456789ABCDEFGHIJ",
    "KEY": "01234567-89ab-cdef-0123-456789abcdef",
    "ASSUMED_ROLE": "my-assumed-role",
    "AUTHORIZER_ROLE": "my-authorizer-role",
    "SUBSCRIPTION_ROLE": "my-subscription-role",
    "IPAM_POOL": "ipam-pool-0123456789abcdef0",
    "ADDRESS": "eipalloc-0123456789abcdef0",
    "VPN_GATEWAY": "vgw-0123456789abcdef0",
    "ENDPOINT_SERVICE": "my-service",
    "SECURITY_GROUP": "sg-0123456789abcdef0",
    "TRUST_STORE": "my-truststore",
}


def main():
    account, region = os.environ.get("ACCOUNT", ""), os.environ.get("REGION", "")
    if not re.fullmatch(r"\d{12}", account) or not re.fullmatch(r"[a-z]{2}(-[a-z]+)+-\d", region):
        sys.exit("Set ACCOUNT to the 12 digits of your account, and REGION to your Region:\n"
                 f"  make policies ACCOUNT={ACCOUNT} REGION={REGION}")  # fmt: skip
    names = {example: os.environ.get(name, "").split(",") for name, example in EXAMPLES.items() if os.environ.get(name)}
    directory = pathlib.Path(os.environ.get("OUTPUT") or ROOT / "target/policies")
    directory.mkdir(parents=True, exist_ok=True)
    policies = re.findall(r"<!-- begin (\S+) -->\n\n```json\n(.*?)\n```", GUIDE.read_text(), re.DOTALL)
    for name, policy in policies:
        file = directory / f"{name}.json"
        text = policy.replace(ACCOUNT, account).replace(REGION, region)
        for separator in (":", "%3A"):
            text = text.replace(f"arn{separator}aws{separator}", f"arn{separator}{partition(region)}{separator}")
        policy = filled_in(json.loads(text), names)
        text = json.dumps(policy, indent=2)
        file.write_text(text + "\n")
        missing = [name for name, example in EXAMPLES.items() if example not in names and example in text]
        note = f" (examples to fill in: {', '.join(missing)})" if missing else ""
        print(f"{file if os.environ.get('OUTPUT') else os.path.relpath(file, ROOT)}{note}")
    of_plans = " and ".join(f"{name}.json" for name, _ in policies if name.endswith("-read"))
    print(f"\nFor both resources: a role for terraform plan with {of_plans}, and one for terraform apply and destroy with\n"
          "these and the files of the features that you use. By default, AWS allows 10 policies of a role.",
          file=sys.stderr)  # fmt: skip


def filled_in(value, names):
    """The value with the names of the user. A text with several names becomes a list."""
    if isinstance(value, dict):
        return {key: filled_in(it, names) for key, it in value.items()}
    texts = value if isinstance(value, list) else [value]
    if not all(isinstance(text, str) for text in texts):
        return [filled_in(it, names) for it in texts]
    for example, own in names.items():
        texts = [text.replace(example, name) for text in texts for name in (own if example in text else [""])]
    return texts if len(texts) > 1 or isinstance(value, list) else texts[0]


def partition(region):
    prefixes = {"cn-": "aws-cn", "us-gov-": "aws-us-gov"}
    return next((name for prefix, name in prefixes.items() if region.startswith(prefix)), "aws")


if __name__ == "__main__":
    main()
