"""The AWS account: clients, its identity, and the removal of secrets from all texts that are shown or stored."""

import contextlib
import os
import re
import time
import urllib.parse

import boto3
import botocore.config
import botocore.exceptions

from processes import Failed

TAG = "fgw-acceptance"
RUN_TAG = "fgw-acceptance-run"

SERVICES = ("sts", "ec2", "apigatewayv2", "lambda", "logs", "iam", "kms", "acm", "route53")

# The domains of AWS's endpoints in all partitions.
AWS = (
    "amazonaws.com", "amazonaws.com.cn", "amazonaws.eu", "api.aws", "api.amazonwebservices.com.cn",
    "api.amazonwebservices.eu", "c2s.ic.gov", "sc2s.sgov.gov", "cloud.adc-e.uk", "csp.hci.ic.gov",
)  # fmt: skip

# The part of an ARN with the name of a caller.
CALLER = re.compile(r"(:(?:assumed-role|user|federated-user)/)[^\s\"',;)]+")

BOTO_ERRORS = (botocore.exceptions.ClientError, botocore.exceptions.BotoCoreError)


class Account:
    """The account and the Region that the environment selects. boto3 and the provider read the same variables."""

    def __init__(self, settings):
        self.settings = settings
        self.session = boto3.Session()
        self.secrets = set()
        self.id = None
        self.names = set()
        # As the provider does, and unlike boto3, which does not read AWS_REGION.
        self.region = os.environ.get("AWS_REGION") or self.session.region_name
        if not self.region:
            raise Failed("No Region is selected. Set AWS_REGION.")
        self.remember_secrets()
        self.clients = {}
        self.overrides = {
            name: address
            for name in SERVICES
            if not is_of_aws(address := self.client(name).meta.endpoint_url)
        }
        try:
            identity = self.client("sts").get_caller_identity()
        except BOTO_ERRORS as error:
            raise Failed(f"The account cannot be determined. {self.redact(str(error))}") from error
        self.id = identity["Account"]
        self.partition = identity["Arn"].split(":")[1]
        # AWS quotes the caller in errors. The name of a session is often the e-mail address of a person.
        session = identity["UserId"].rpartition(":")[2]
        self.names = {identity["UserId"]} | ({session} if "@" in session else set())

    @property
    def is_emulator(self):
        """Whether any service is not AWS's."""
        return bool(self.overrides)

    def client(self, service):
        if service not in self.clients:
            config = botocore.config.Config(
                retries={"mode": "standard", "total_max_attempts": 8}, connect_timeout=10, read_timeout=60
            )
            self.clients[service] = self.session.client(service, region_name=self.region, config=config)
        return self.clients[service]

    def remember_secrets(self):
        credentials = self.session.get_credentials()
        if credentials is None:
            raise Failed("No AWS credentials were found. Set AWS_PROFILE, or the variables of any other source.")
        # They may be renewed during the run. The old ones stay in the set.
        frozen = credentials.get_frozen_credentials()
        self.secrets.update(filter(None, (frozen.access_key, frozen.secret_key, frozen.token)))

    def redact(self, text):
        """The text without credentials, and with only the last four digits of the account ID."""
        with contextlib.suppress(Exception):  # Renewing may fail. The known secrets are removed all the same.
            self.remember_secrets()
        if self.id:
            text = text.replace(self.id, self.masked_id)
        for secret in sorted(self.secrets | self.names, key=len, reverse=True):
            if len(secret) >= 8:
                for form in {secret, urllib.parse.quote(secret, safe="")}:
                    text = text.replace(form, "[redacted]")
        return CALLER.sub(r"\1[redacted]", text)

    @property
    def masked_id(self):
        return "********" + self.id[-4:]

    def say(self, text=""):
        with contextlib.suppress(OSError):  # A closed terminal must not end the cleanup.
            print(self.redact(text), flush=True)


def is_of_aws(address):
    host = urllib.parse.urlsplit(address).hostname or ""
    return any(host.endswith(f".{domain}") for domain in AWS)


def redacted(text):
    """For a failure before the account is known: the values of the variables of AWS that may be secret."""
    for name, value in os.environ.items():
        if name.startswith("AWS_") and re.search("KEY|SECRET|TOKEN", name) and len(value) >= 8:
            text = text.replace(value, "[redacted]")
    return text


def code_of(error):
    """The error code of AWS, or the class of another failure of a call."""
    if isinstance(error, botocore.exceptions.ClientError):
        return error.response.get("Error", {}).get("Code", "")
    return type(error).__name__


def text_of(error):
    if isinstance(error, botocore.exceptions.ClientError):
        return f"{code_of(error)}: {error.response.get('Error', {}).get('Message', '')}".strip()
    return f"{code_of(error)}: {error}"


# The beginnings of codes that AWS returns while an object is in use, or is being changed.
BUSY = (
    "DependencyViolation", "AuthFailure", "IncorrectState", "OperationInProgress", "OperationAborted",
    "ConflictException", "ResourceConflictException", "DeleteConflict", "TooManyRequests", "ResourceInUse",
)  # fmt: skip


def is_busy(code, text):
    """Whether a deletion may succeed later. API Gateway has only a text for a domain that is still mapped."""
    return code.startswith(BUSY) or code.endswith("InUse") or "emove all" in text


def is_not_found(code):
    missing = ("NatGatewayNotFound", "NotFoundException", "ResourceNotFoundException", "NoSuchEntity")
    return code.endswith(".NotFound") or code in missing


def until(check, seconds, poll, condition, on_wait=lambda: None):
    """The first true value of `condition`, which is called repeatedly, or Failed with `check` as its subject."""
    deadline = time.monotonic() + seconds
    while True:
        on_wait()
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise Failed(f"{check} within {seconds} s.")
        time.sleep(poll)
