"""Demonstrates the provider on this machine, with an emulator of AWS. Run by `make demo`.

KEEP=1           leaves everything running and prints how to use it; `demo.py end` ends it
FGW_BINARY=PATH  uses an existing binary of the provider
TERRAFORM=tofu   uses another program than terraform
"""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.dont_write_bytecode = True
import provider  # noqa: E402
from processes import ROOT, Children, Failed, Interrupted  # noqa: E402

TERRAFORM = os.environ.get("TERRAFORM", "terraform")
KEEP = os.environ.get("KEEP", "") not in ("", "0")
READY_BINARY = os.environ.get("FGW_BINARY", "")
DEMOS = ROOT / ".demo"
TOKEN = "Bearer open-sesame"  # The token that examples/demo/functions/authorize.py accepts.
STEPS = 8 if KEEP else 10

# The lines of Terraform's output that are shown while it runs. If it fails, all lines are shown.
WORTH_SHOWING = re.compile(
    r"^(\S+: (Creat|Modif|Destr|Still|Read)|(Apply|Destroy) complete|Plan: |No changes|Warning: (?!Provider development))"
)
# Terraform warns on each run that the provider is not a released version, which the demo mentions itself.
OVERRIDE_WARNING = re.compile(
    r"^Warning: Provider development overrides are in effect$.*?published\s+releases\.$", re.MULTILINE | re.DOTALL
)


class Demo:
    """One run. Its methods are the steps, in order."""

    def __init__(self, children):
        self.children = children
        self.times = []
        DEMOS.mkdir(exist_ok=True)
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=DEMOS))
        self.configuration = self.directory / "configuration"
        self.progress = self.directory / "progress.log"
        self.progress.touch()
        self.shown = 0
        self.emulator = None
        self.port = None

    def run(self):
        announce()
        with self.step("Build the provider"):
            binary = self.build()
        with self.step("Create the Python environment"):
            self.python = self.environment()
        with self.step("Start the AWS emulator"):
            self.start_emulator()
        with self.step("Create two Lambda functions in it"):
            functions = self.aws("functions")
            for arn in functions.values():
                say(arn)
            before = self.aws("listing")
            self.configure(binary, functions["fgw-demo-hello"])
        with self.step("terraform apply"):
            self.apply()
        with self.step("Show the results"):
            url = self.show_outputs(before)
        with self.step("Call the gateway"):
            self.call(url)
        with self.step("Run terraform plan again"):
            self.plan_again()
        if KEEP:
            self.keep(url)
            return
        with self.step("terraform destroy"):
            self.terraform("destroy", "-auto-approve", "-input=false", "-no-color")
        with self.step("Check that nothing is left, without the provider"):
            self.check_leftovers(before)
        total = sum(seconds for _, seconds in self.times)
        print("\nDone. All objects are deleted, and no process is left running.\n")
        for title, seconds in self.times:
            print(f"  {duration(seconds):>8}  {title}")
        print(f"  {duration(total):>8}  total")

    @contextlib.contextmanager
    def step(self, title):
        self.children.check()
        print(f"\n[{len(self.times) + 1}/{STEPS}] {title}", flush=True)
        begun = time.monotonic()
        try:
            yield
        except Failed as failure:
            raise Failed(f"Step {len(self.times) + 1}, {title}: {failure}") from failure
        seconds = time.monotonic() - begun
        self.times.append((title, seconds))
        say(f"took {duration(seconds)}")

    # The steps

    def build(self):
        if READY_BINARY:
            binary = provider.existing(READY_BINARY)
            say(f"skipped, because FGW_BINARY is {binary}")
            return binary
        return provider.build(self.children)

    def environment(self):
        code, text = self.children.run([ROOT / "scripts/venv.sh"], 900, quiet_streams=True, cwd=ROOT)
        if code != 0:
            raise Failed("the Python environment could not be created; see the error above.")
        venv = pathlib.Path(text.splitlines()[-1])
        say(f"directory: {venv}")
        return venv / "bin/python"

    def start_emulator(self):
        temporary = self.directory / "tmp"
        temporary.mkdir()
        log = self.directory / "emulator.log"
        for _ in range(3):  # Another program may use the free port before the emulator does.
            self.port = free_port()
            environment = clean_environment() | {
                # Without BIND_HOST, the emulator listens on every interface.
                "BIND_HOST": "127.0.0.1",
                "MINISTACK_HOST": "localhost",
                "GATEWAY_PORT": str(self.port),
                "IOT_MTLS_ENABLED": "0",
                "SFTP_ENABLED": "0",
                "TMPDIR": str(temporary),
            }
            with log.open("w") as output:
                self.emulator = self.children.start(
                    [self.python.parent / "ministack"], stdout=output, stderr=output, env=environment, cwd=temporary
                )
            if self.emulator_answers(20):
                say(f"ministack listens on http://127.0.0.1:{self.port}")
                return
            self.children.end(self.emulator)
        raise Failed(f"ministack did not start. Its output:\n{log.read_text()}")

    def emulator_answers(self, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.emulator.poll() is None:
            self.children.check()
            with contextlib.suppress(OSError, http.client.HTTPException):
                if request(self.port, "GET", "/_ministack/ready")[0] == 200 and self.emulator.poll() is None:
                    return True
            time.sleep(0.1)
        return False

    def aws(self, what):
        """Runs scripts/demo_aws.py in the virtual environment, which contains boto3, and returns its output."""
        command = [self.python, ROOT / "scripts/demo_aws.py", what]
        code, text = self.children.run(command, 120, env=self.aws_environment())
        if code != 0:
            raise Failed(f"a call of boto3 to the emulator failed: {text.strip()}")
        return json.loads(text.splitlines()[-1])

    def configure(self, binary, hello_arn):
        shutil.copytree(ROOT / "examples/demo", self.configuration, ignore=shutil.ignore_patterns("functions"))
        provider.install(binary, self.directory)
        values = {"hello_function_arn": hello_arn, "authorizer_function_name": "fgw-demo-authorize"}
        (self.configuration / "terraform.tfvars.json").write_text(json.dumps(values, indent=2) + "\n")

    def apply(self):
        say("Terraform uses this binary instead of a released provider (dev_overrides), so it needs no init.")
        self.terraform("plan", "-out=demo.tfplan", "-input=false", "-no-color")
        changes = json.loads(self.terraform_json("show", "-json", "demo.tfplan"))["resource_changes"]
        planned = [it["address"] for it in changes if it["change"]["actions"] == ["create"]]
        objects = sum(count_objects(it["change"]) for it in changes)
        say(f"{len(planned)} resources ({', '.join(planned)}) with {objects} AWS objects:")
        self.terraform("apply", "-input=false", "-no-color", "demo.tfplan")

    def show_outputs(self, before):
        outputs = {name: it["value"] for name, it in json.loads(self.terraform_json("output", "-json")).items()}
        say(f"The network {outputs['vpc_id']}:")
        columns = ("tier", "name", "availability_zone", "cidr_block", "id")
        rows = [[str(subnet[column]) for column in columns] for subnet in outputs["subnets"]]
        for line in table(["tier", "subnet", "zone", "addresses", "id"], rows):
            say(f"  {line}")
        addresses = outputs["nat_gateway_public_ips"]
        say(f"  public address: {', '.join(addresses if isinstance(addresses, list) else addresses.values())}")
        say(f"The gateway: {outputs['url']}")
        new = added(self.aws("listing"), before)
        say("Listed by boto3, without the provider: " + ", ".join(f"{len(ids)} {kind}" for kind, ids in new.items()))
        if not new:
            raise Failed("Terraform reports success, but the account contains no new objects.")
        return outputs["url"]

    def call(self, url):
        address = urllib.parse.urlsplit(url)
        curl = "curl" if address.hostname.endswith(".localhost") else f"curl --resolve {address.netloc}:127.0.0.1"
        header = {"Authorization": TOKEN}
        calls = [
            ("GET", "/hello", {}, (200,), "Hello world", "an open route"),
            ("POST", "/echo/any/path", {}, (200,), "/echo/any/path", "a route with a greedy path variable"),
            ("GET", "/private", {}, (401, 403), "", "a protected route, without the header"),
            ("GET", "/private", {"Authorization": "Bearer wrong"}, (401, 403), "", "with a wrong token"),
            ("GET", "/private", header, (200,), "Hello Ali Baba", "with the right token"),
        ]
        wrong = []
        for method, path, headers, expected, text, what in calls:
            self.children.check()
            words = [*curl.split(), *(["-X", method] if method != "GET" else [])]
            words += [word for pair in headers.items() for word in ("-H", ": ".join(pair))]
            try:
                status, body = request(self.port, method, address.path.rstrip("/") + path, headers, address.netloc)
            except (OSError, http.client.HTTPException) as error:
                status, body = f"no response: {error}", ""
            good = status in expected and text in body
            say(f"{what}:\n        {shlex.join([*words, url.rstrip('/') + path])}\n     -> {status} {body.strip()}")
            if not good:
                wrong.append(f"{method} {path} ({what}): expected {' or '.join(map(str, expected))} {text!r}")
        if wrong:
            raise Failed("unexpected responses of the gateway:\n  " + "\n  ".join(wrong))

    def plan_again(self):
        arguments = ("plan", "-detailed-exitcode", "-input=false", "-no-color")
        code, text = self.terraform(*arguments, accept=(0, 2))
        if code != 0 or "No changes" not in text:
            raise Failed(f"the plan after the apply is not empty:\n{without_override_warning(text)}")

    def check_leftovers(self, before):
        left = added(self.aws("listing"), before)
        if left:
            lines = (f"{kind}: {', '.join(ids)}" for kind, ids in left.items())
            raise Failed("the account still contains\n  " + "\n  ".join(lines))
        say("nothing is left: no new " + ", ".join(before) + ".")

    # KEEP=1

    def keep(self, url):
        environment = {name: value for name, value in self.terraform_environment().items() if name in EXPORTED}
        lines = [f"export {name}={shlex.quote(value)}\n" for name, value in sorted(environment.items())]
        (self.directory / "environment.sh").write_text("".join(lines))
        (self.directory / "kept.json").write_text(json.dumps({"pid": self.emulator.pid, "port": self.port}))
        self.children.leave(self.emulator)
        here, configuration = (shlex.quote(os.path.relpath(it, ROOT)) for it in (self.directory, self.configuration))
        print(f"""
Everything keeps running, because KEEP=1 is set. To use it:

  . {here}/environment.sh                         # sets the endpoint and the provider
  {TERRAFORM} -chdir={configuration} plan     # edit main.tf there, apply, destroy
  tail -f {here}/progress.log                     # each AWS object as it is created
  curl {url.rstrip('/')}/hello
  curl -H 'Authorization: {TOKEN}' {url.rstrip('/')}/private

To end it:

  make demo-end""")

    # Terraform

    def terraform(self, *arguments, accept=(0,)):
        def on_line(line):
            if WORTH_SHOWING.match(line):
                say(line.rstrip())

        command = [TERRAFORM, *arguments]
        options = {"cwd": self.configuration, "env": self.terraform_environment()}
        code, text = self.children.run(command, 600, on_line=on_line, on_idle=self.show_progress, **options)
        self.show_progress()
        with (self.directory / "terraform.log").open("a") as log:
            log.write(f"$ {shlex.join(command)}\n{text}\n")
        if code not in accept:
            raise Failed(f"{shlex.join(command)} failed:\n{without_override_warning(text)}")
        return code, text

    def terraform_json(self, *arguments):
        options = {"cwd": self.configuration, "env": self.terraform_environment(), "quiet_streams": True}
        code, text = self.children.run([TERRAFORM, *arguments], 120, **options)
        if code != 0:
            raise Failed(f"{TERRAFORM} {shlex.join(arguments)} failed; see its output above.")
        return text

    def show_progress(self):
        """Shows the complete lines that the provider has written since the last call."""
        with self.progress.open("rb") as lines:
            lines.seek(self.shown)
            whole, newline, _ = lines.read().rpartition(b"\n")
        if newline:
            self.shown += len(whole) + 1
            for line in whole.decode(errors="replace").splitlines():
                say(f"  {line}")

    def aws_environment(self):
        return clean_environment() | {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_EC2_METADATA_DISABLED": "true",
            # The demo must not use the user's AWS settings, and must not access AWS.
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        }

    def terraform_environment(self):
        return self.aws_environment() | {
            "TF_CLI_CONFIG_FILE": str(self.directory / "terraform.rc"),
            "CHECKPOINT_DISABLE": "1",
            "FGW_PROGRESS": str(self.progress),
        }


EXPORTED = {
    "AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
    "AWS_EC2_METADATA_DISABLED", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "TF_CLI_CONFIG_FILE",
    "CHECKPOINT_DISABLE", "FGW_PROGRESS",
}  # fmt: skip


def announce():
    build = (
        "uses the provider in FGW_BINARY"
        if READY_BINARY
        else "builds the provider (6 to 8 minutes on 2 cores the first time, because the AWS SDK is large; later seconds)"
    )
    end = "leaves everything running" if KEEP else "destroys everything and checks that nothing is left"
    print(f"""This demo
  - {build},
  - starts ministack, an emulator of AWS, on this machine (the first time it is installed into .venv: a minute or two),
  - applies examples/demo with {TERRAFORM}: a network in three zones, and an HTTP gateway for a Python function,
  - calls the gateway over HTTP, with and without the header that it requires,
  - plans again, which must find no changes,
  - {end}.
It needs and accesses no AWS account, and writes only to .demo, .venv and target. Ctrl-C stops it cleanly.
While the emulator runs, other users of this machine can call it without a password, and so run code as you.""", flush=True)


def say(text):
    print("  " + text.replace("\n", "\n  "), flush=True)


def duration(seconds):
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds) // 60} min {int(seconds) % 60:02} s"


def table(head, rows):
    widths = [max(map(len, column)) for column in zip(head, *rows)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in [head, *rows]]


def added(now, before):
    new = {kind: sorted(set(ids) - set(before[kind])) for kind, ids in now.items()}
    return {kind: ids for kind, ids in new.items() if ids}


def count_objects(change):
    """The number of AWS objects of a planned resource. Their IDs are still unknown."""
    unknown = change["after_unknown"].get("aws_objects") or {}
    return len(unknown) if isinstance(unknown, dict) else 0


def without_override_warning(text):
    return OVERRIDE_WARNING.sub("", text).strip()


def clean_environment():
    """The environment without variables that affect Terraform or boto3."""
    excluded = re.compile(r"^(AWS_|TF_|FGW_|TERRAFORM$)|^(https?|all|no)_proxy$", re.IGNORECASE)
    return {name: value for name, value in os.environ.items() if not excluded.match(name)}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def request(port, method, path, headers=None, host=None):
    """Sends a request to the port. The name is in the Host header, because not every resolver supports *.localhost."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(method, path, headers=({"Host": host} if host else {}) | (headers or {}))
        answer = connection.getresponse()
        return answer.status, answer.read().decode(errors="replace")
    finally:
        connection.close()


def end_kept():
    """Ends the demos that were started with KEEP=1. Their AWS objects exist only in the emulator, and end with it."""
    kept = sorted(DEMOS.glob("run-*/kept.json"))
    for record in kept:
        facts = json.loads(record.read_text())
        # The process ID may belong to another process by now.
        command = subprocess.run(["ps", "-o", "command=", "-p", str(facts["pid"])], capture_output=True, text=True)
        if "ministack" in command.stdout:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(facts["pid"], signal.SIGTERM)
        shutil.rmtree(record.parent)
        print(f"Ended the emulator on port {facts['port']} and removed {os.path.relpath(record.parent, ROOT)}.")
    if not kept:
        print("No demo is running.")


def main():
    if sys.argv[1:] == ["end"]:
        end_kept()
        return 0
    if sys.argv[1:]:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    children = Children()
    demo = Demo(children)
    try:
        demo.run()
        code, words = 0, ""
    except Interrupted:
        code, words = 130, "Stopped. All processes of the demo have been ended."
    except Failed as failure:
        code, words = 1, f"The demo failed. {failure}\n\nIts logs are in .demo/failed. No process is left running."
    finally:
        children.end_all()
    if code == 1:
        shutil.rmtree(DEMOS / "failed", ignore_errors=True)
        demo.directory.rename(DEMOS / "failed")
    elif code or not KEEP:
        shutil.rmtree(demo.directory)
    if words:
        print(f"\n{words}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
