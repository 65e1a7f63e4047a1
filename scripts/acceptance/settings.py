"""The settings, which are environment variables."""

import dataclasses
import os
import pathlib
import re

from processes import ROOT, Failed

GROUPS = ("network", "gateway", "questions")


@dataclasses.dataclass(frozen=True)
class Settings:
    prefix: str
    # Names of groups, scenarios and questions; empty for all.
    only: tuple
    # A public hosted zone of the account, or empty.
    domain: str
    yes: bool
    report: pathlib.Path
    # An existing binary of the provider, or empty.
    binary: str
    terraform: str
    # The role that the provider assumes, or empty.
    role: str
    # In seconds: the pause between two reads, and the time for which a deployment is observed.
    poll: float
    watch: float

    @classmethod
    def of_environment(cls):
        value = os.environ.get
        prefix = value("PREFIX") or "fgw-acceptance"
        # With the run and a label behind it, the prefix is part of names of at most 64 characters.
        if not re.fullmatch(r"[a-z][a-z0-9-]{1,22}[a-z0-9]", prefix):
            raise Failed(f"PREFIX is {prefix!r}. It needs 3 to 24 lower-case letters, digits and "
                         "hyphens, and begins with a letter.")  # fmt: skip
        domain = (value("DOMAIN") or "").strip(".").lower()
        if domain and not re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", domain):
            raise Failed(f"DOMAIN is {domain!r}, which is not the name of a hosted zone such as example.com.")
        return cls(
            prefix=prefix,
            only=tuple(filter(None, re.split(r"[,\s]+", value("ONLY") or ""))),
            domain=domain,
            yes=is_yes(value("YES")),
            report=pathlib.Path(value("REPORT") or ROOT / "target/acceptance/report.md").absolute(),
            binary=value("FGW_BINARY") or "",
            terraform=value("TERRAFORM") or "terraform",
            role=value("ROLE_ARN") or "",
            poll=seconds("FGW_ACCEPTANCE_POLL", 2),
            watch=seconds("FGW_ACCEPTANCE_WATCH", 30),
        )

    def selects(self, group, name):
        return not self.only or group in self.only or name in self.only


def seconds(name, default):
    try:
        return float(os.environ.get(name) or default)
    except ValueError as error:
        raise Failed(f"{name} is not a number of seconds.") from error


def is_yes(value):
    if value not in (None, "", "0", "1"):
        raise Failed(f"YES is {value!r}. YES=1 asks nothing; without YES, a confirmation is required.")
    return value == "1"
