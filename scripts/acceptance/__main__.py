"""Tests the provider on an AWS account, and removes what an interrupted test left. Run by `make acceptance` and
`make sweep`, with the Python of scripts/venv.sh.

AWS_PROFILE, AWS_REGION, ...  select account and Region, as for any AWS tool
PREFIX=fgw-acceptance         begins the names of all objects, and is the value of their tag `fgw-acceptance`
ONLY=network,gateway          runs only these groups (network, gateway, questions), scenarios (network-change) and
                              questions (route-exists)
DOMAIN=example.com            a public hosted zone of the account, with an issued certificate for *.example.com
YES=1                         asks nothing
REPORT=PATH                   the report; transcripts are written next to it
ROLE_ARN=ARN                  the role that the provider assumes; by default, it uses the same credentials
FGW_BINARY=PATH               an existing binary of the provider
TERRAFORM=tofu                another program than terraform

For tests of the scripts: FGW_ACCEPTANCE_POLL and FGW_ACCEPTANCE_WATCH, in seconds, are the pause between two reads and
the time for which a deployment is observed.
"""

import pathlib
import sys
import traceback

sys.dont_write_bytecode = True
sys.path[0] = str(pathlib.Path(__file__).resolve().parent.parent)

from acceptance.account import Account, redacted  # noqa: E402
from acceptance.run import Run  # noqa: E402
from acceptance.settings import Settings  # noqa: E402
from acceptance.sweep import sweep  # noqa: E402
from processes import Failed, Interrupted  # noqa: E402

COMMANDS = {"run": lambda settings, account: Run(settings, account).all(), "sweep": sweep}


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in COMMANDS:
        print(f"{__doc__.strip()}\n\nUsage: acceptance {'|'.join(COMMANDS)}", file=sys.stderr)
        return 2
    account = None
    try:
        settings = Settings.of_environment()
        account = Account(settings)
        return COMMANDS[sys.argv[1]](settings, account)
    except (Interrupted, KeyboardInterrupt):
        code, words = 130, "Stopped. To delete what exists: make sweep"
    except Failed as failure:
        code, words = 1, str(failure)
    except Exception:
        # A traceback may quote values, so it is redacted like all other texts.
        code, words = 1, f"An error in the scripts:\n{traceback.format_exc()}\nTo delete what exists: make sweep"
    print(f"\n{account.redact(words) if account else redacted(words)}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
