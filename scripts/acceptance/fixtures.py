"""Objects that scenarios and questions need and the provider does not create. All carry the tags of the run."""

import io
import json
import zipfile

from acceptance.account import BOTO_ERRORS, RUN_TAG, TAG, code_of, is_not_found, text_of, until
from acceptance.inventory import ROLE_PATH, Item
from acceptance.sweep import Deletion
from processes import Failed

SOURCE = """
def answer(event, context):
    return {"statusCode": 200, "body": "NAME " + event.get("rawPath", event.get("path", ""))}


def authorize(event, context):
    return {"isAuthorized": event.get("headers", {}).get("x-key") == "open sesame"}
"""

# The services that use the role.
SERVICES = ["apigateway.amazonaws.com", "lambda.amazonaws.com", "vpc-flow-logs.amazonaws.com"]


class Fixtures:
    """Creates each object when it is first needed."""

    def __init__(self, run):
        self.run = run
        self.account = run.account
        self.functions = {}
        self.role = None
        # What scenarios and questions share. It is deleted at the end of the run.
        self.shared = set()

    def share(self, kind, identifier):
        self.shared.add(Item(kind, identifier, self.run.id))

    def tags(self, key="Key", value="Value"):
        return [{key: name, value: text} for name, text in self.tag_map().items()]

    def tag_map(self):
        return {TAG: self.run.settings.prefix, RUN_TAG: self.run.id}

    def specifications(self, *kinds):
        """The tags for a create call of EC2."""
        return [{"ResourceType": kind, "Tags": self.tags()} for kind in kinds]

    def role_arn(self):
        """Without any permission: the functions only answer, and the flow logs deliver nothing."""
        if self.role is None:
            trust = {
                "Version": "2012-10-17",
                "Statement": [
                    {"Effect": "Allow", "Principal": {"Service": SERVICES}, "Action": "sts:AssumeRole"}
                ],
            }
            created = self.account.client("iam").create_role(
                RoleName=self.run.name("functions"), Path=ROLE_PATH, AssumeRolePolicyDocument=json.dumps(trust),
                Tags=self.tags(),
            )  # fmt: skip
            self.role = created["Role"]["Arn"]
            self.share("role", self.run.name("functions"))
        return self.role

    def function(self, label, handler="answer"):
        """The ARN of a function, with an alias `live` for its first version."""
        if label not in self.functions:
            self.functions[label] = self.create_function(label, handler)
        return self.functions[label]

    def create_function(self, label, handler):
        functions, name = self.account.client("lambda"), self.run.name(label)
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as files:
            files.writestr("index.py", SOURCE.replace("NAME", label))
        role = self.role_arn()

        def create():
            try:
                return functions.create_function(
                    FunctionName=name, Runtime="python3.13", Role=role, Handler=f"index.{handler}", Timeout=30,
                    Code={"ZipFile": archive.getvalue()}, Tags=self.tag_map(),
                )  # fmt: skip
            except BOTO_ERRORS as error:
                # IAM needs some seconds until Lambda can assume a new role.
                if code_of(error) == "InvalidParameterValueException" and "cannot be assumed" in text_of(error):
                    return None
                raise

        arn = self.wait("Lambda did not accept the role", 120, create)["FunctionArn"]
        self.share("function", name)

        def is_active():
            state = functions.get_function_configuration(FunctionName=name).get("State")
            if state == "Failed":
                raise Failed(f"Lambda could not create {name}.")
            return state == "Active"

        self.wait(f"{name} was not active", 120, is_active)
        version = functions.publish_version(FunctionName=name)["Version"]
        functions.create_alias(FunctionName=name, Name="live", FunctionVersion=version)
        return arn

    def address(self):
        """The allocation ID of a new Elastic IP address."""
        ec2 = self.account.client("ec2")
        address = ec2.allocate_address(Domain="vpc", TagSpecifications=self.specifications("elastic-ip"))["AllocationId"]

        def is_visible():
            try:
                return ec2.describe_addresses(AllocationIds=[address])["Addresses"]
            except BOTO_ERRORS as error:
                if is_not_found(code_of(error)):
                    return None
                raise

        self.wait(f"{address} was not visible", 60, is_visible)
        return address

    def release(self, address):
        """AWS may refuse this for some time after the deletion of the NAT gateway that used the address."""
        deletion = Deletion(self.account, self.run.settings.poll, self.run.children.check)
        deletion.delete([Item("address", address, self.run.id)])
        if deletion.failures:
            raise Failed("; ".join(deletion.failures))

    def key_alias(self, label):
        """The alias of a new KMS key that CloudWatch Logs may use."""
        account, alias = self.account, f"alias/{self.run.name(label)}"
        statements = [
            {
                "Effect": "Allow",
                "Principal": {"AWS": f"arn:{account.partition}:iam::{account.id}:root"},
                "Action": "kms:*",
                "Resource": "*",
            },
            {
                "Effect": "Allow",
                "Principal": {"Service": f"logs.{account.region}.amazonaws.com"},
                "Action": ["kms:Encrypt*", "kms:Decrypt*", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:Describe*"],
                "Resource": "*",
            },
        ]
        kms = account.client("kms")
        policy = json.dumps({"Version": "2012-10-17", "Statement": statements})
        key = kms.create_key(Policy=policy, Tags=self.tags("TagKey", "TagValue"))["KeyMetadata"]["KeyId"]

        def has_alias():
            try:
                return kms.create_alias(AliasName=alias, TargetKeyId=key)
            except kms.exceptions.NotFoundException:  # AWS may not know a new key yet.
                return None

        try:
            self.wait(f"{alias} could not be created", 60, has_alias)
        except BaseException:
            kms.schedule_key_deletion(KeyId=key, PendingWindowInDays=7)
            raise
        self.share("key", alias)
        self.wait(f"{alias} was not visible", 60, lambda: is_visible(kms, alias))
        return alias

    def log_group(self, label):
        """The ARN of a new log group that no gateway manages."""
        account, name = self.account, f"/aws/vendedlogs/{self.run.name(label)}"
        account.client("logs").create_log_group(logGroupName=name, tags=self.tag_map())
        self.share("log group", name)
        return f"arn:{account.partition}:logs:{account.region}:{account.id}:log-group:{name}"

    def zone_id(self):
        """The ID of the public hosted zone of DOMAIN. Not a fixture: it exists before the run."""
        domain = self.run.settings.domain
        route53 = self.account.client("route53")
        for zone in route53.list_hosted_zones_by_name(DNSName=domain)["HostedZones"]:
            if zone["Name"].rstrip(".") == domain and not zone["Config"]["PrivateZone"]:
                return zone["Id"].removeprefix("/hostedzone/")
        raise Failed(f"The account has no public hosted zone {domain}.")

    def certificate_arn(self):
        """The ARN of an issued certificate for all names below DOMAIN."""
        wildcard, acm = f"*.{self.run.settings.domain}", self.account.client("acm")
        kinds = ["RSA_2048", "RSA_3072", "RSA_4096", "EC_prime256v1", "EC_secp384r1"]
        pages = acm.get_paginator("list_certificates").paginate(
            CertificateStatuses=["ISSUED"], Includes={"keyTypes": kinds}
        )
        for certificate in (it for page in pages for it in page["CertificateSummaryList"]):
            names = {certificate["DomainName"], *certificate.get("SubjectAlternativeNameSummaries", ())}
            if wildcard in names:
                return certificate["CertificateArn"]
        raise Failed(f"The account has no issued certificate for {wildcard} in {self.account.region}.")

    def wait(self, check, seconds, condition):
        return until(check, seconds, self.run.settings.poll, condition, self.run.children.check)


def is_visible(kms, alias):
    try:
        return bool(kms.describe_key(KeyId=alias))
    except kms.exceptions.NotFoundException:
        return False
