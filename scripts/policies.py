"""Writes the IAM policies of the permissions guide to target/policies, one file each. Run by `make policies`.

ACCOUNT=123456789012   your AWS account
REGION=eu-central-1    your Region, which also determines the partition
OUTPUT=DIR             another directory
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


def main():
    account, region = os.environ.get("ACCOUNT", ""), os.environ.get("REGION", "")
    if not re.fullmatch(r"\d{12}", account) or not re.fullmatch(r"[a-z]{2}(-[a-z]+)+-\d", region):
        sys.exit("Set ACCOUNT to the 12 digits of your account, and REGION to your Region:\n"
                 f"  make policies ACCOUNT={ACCOUNT} REGION={REGION}")  # fmt: skip
    directory = pathlib.Path(os.environ.get("OUTPUT") or ROOT / "target/policies")
    directory.mkdir(parents=True, exist_ok=True)
    for name, policy in re.findall(r"<!-- begin (\S+) -->\n\n```json\n(.*?)\n```", GUIDE.read_text(), re.DOTALL):
        file = directory / f"{name}.json"
        text = policy.replace(ACCOUNT, account).replace(REGION, region).replace("arn:aws:", f"arn:{partition(region)}:")
        json.loads(text)
        file.write_text(text + "\n")
        print(file if os.environ.get("OUTPUT") else os.path.relpath(file, ROOT))


def partition(region):
    prefixes = {"cn-": "aws-cn", "us-gov-": "aws-us-gov"}
    return next((name for prefix, name in prefixes.items() if region.startswith(prefix)), "aws")


if __name__ == "__main__":
    main()
