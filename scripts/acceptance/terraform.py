"""Terraform in its own directory, with a transcript from which secrets are removed."""

import json
import os
import pathlib
import shlex
import time

import provider
from acceptance.account import RUN_TAG, TAG
from processes import Failed

# AWS's default deadline of one resource is an hour. A configuration with two resources creates them at the same time.
LONGEST = 2 * 3600


class Terraform:
    """Installs the provider by `dev_overrides`, so that no registry is needed."""

    def __init__(self, settings, account, children, directory):
        self.program = settings.terraform
        self.region = account.region
        self.children = children
        binary = self.binary(settings)
        directory.mkdir(parents=True)
        self.config = provider.install(binary, directory)

    def binary(self, settings):
        if settings.binary:
            return provider.existing(settings.binary)
        print("Building the provider (the first time 6 to 8 minutes on 2 cores, later seconds)", flush=True)
        return provider.build(self.children)

    def version(self):
        code, text = self.children.run([self.program, "version", "-json"], 60, env=self.environment())
        if code != 0:
            raise Failed(f"{self.program} version failed:\n{text}")
        version = json.loads(text[text.index("{") :])["terraform_version"]
        return f"{pathlib.Path(self.program).name} {version}"

    def environment(self):
        """That of the user, because it selects the account, but without settings of Terraform."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
        own = {"TF_CLI_CONFIG_FILE": str(self.config), "CHECKPOINT_DISABLE": "1", "TF_IN_AUTOMATION": "1"}
        return kept | own | {"AWS_REGION": self.region}


class Workspace:
    """A directory with a configuration, its state and `transcript.txt`."""

    def __init__(self, run, name):
        self.run = run
        self.terraform = run.terraform
        self.directory = run.directory / name
        self.directory.mkdir(parents=True)
        self.applied = False
        block = {
            "default_tags": [{"tags": {TAG: run.settings.prefix, RUN_TAG: run.id}}],
            # boto3 and the provider may prefer different profiles. Only the confirmed account may be changed.
            "allowed_account_ids": [run.account.id],
        }
        if run.settings.role:
            block["assume_role"] = [{"role_arn": run.settings.role}]
        self.write_json("acceptance.tf.json", {"provider": {"fgw": block}})

    def write(self, file, text):
        (self.directory / file).write_text(text)

    def write_json(self, file, value):
        self.write(file, json.dumps(value, indent=2) + "\n")

    def record(self, text):
        with (self.directory / "transcript.txt").open("a") as transcript:
            transcript.write(self.run.account.redact(text) + "\n")

    def command(self, *arguments, accept=(0,)):
        command = [self.terraform.program, *arguments]
        options = {"cwd": self.directory, "env": self.terraform.environment()}
        self.record(f"$ {shlex.join(command)}")
        # Each line at once, because a create takes minutes.
        code, text = self.run.children.run(
            command, LONGEST, on_line=lambda line: self.record(line.rstrip("\n")), **options
        )
        if code not in accept:
            raise Failed(f"{shlex.join(command)} failed:\n{errors_of(text)}")
        return code, text

    def apply(self):
        self.applied = True
        self.command("apply", "-auto-approve", "-input=false", "-no-color")

    def plan_is_empty(self):
        arguments = ("plan", "-detailed-exitcode", "-input=false", "-no-color")
        code, text = self.command(*arguments, accept=(0, 2))
        if code == 0:
            return
        # Shows whether AWS has only not returned a change yet. That is a failure too.
        seconds = self.run.settings.watch
        time.sleep(seconds)
        again, _ = self.command(*arguments, accept=(0, 2))
        later = "empty" if again == 0 else "not empty either"
        raise Failed(f"The plan is not empty. {seconds:.0f} s later, it is {later}.\n{plan_of(text)}")

    def destroy(self):
        self.command("destroy", "-auto-approve", "-input=false", "-no-color")
        self.applied = False

    def import_again(self, address):
        """Removes a resource from the state, and imports it by its ID."""
        identifier = self.attribute(address, "id")
        self.command("state", "rm", address)
        self.command("import", "-input=false", "-no-color", address, identifier)

    def attribute(self, address, name):
        _, text = self.command_silently("show", "-json")
        for resource in json.loads(text).get("values", {}).get("root_module", {}).get("resources", []):
            if resource["address"] == address:
                return resource["values"][name]
        raise Failed(f"{address} is not in the state.")

    def command_silently(self, *arguments):
        """Standard output alone, which is not recorded, because it is a whole state."""
        options = {"cwd": self.directory, "env": self.terraform.environment(), "quiet_streams": True}
        code, text = self.run.children.run([self.terraform.program, *arguments], 120, **options)
        if code != 0:
            raise Failed(f"{self.terraform.program} {shlex.join(arguments)} failed.")
        return code, text


def plan_of(text):
    _, mark, rest = text.partition("Terraform will perform")
    return (mark + rest if mark else text)[:6000]


def errors_of(text):
    """The output of Terraform from its first error on."""
    _, mark, rest = text.partition("Error: ")
    return (mark + rest if mark else text)[:6000]
