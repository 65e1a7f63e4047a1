"""One scenario: steps with their times, a destroy whatever happens, and an independent look for what is left."""

import contextlib
import dataclasses
import time
import traceback

from acceptance.account import BOTO_ERRORS, text_of
from acceptance.sweep import Deletion
from acceptance.terraform import Workspace
from processes import Failed, Interrupted


@dataclasses.dataclass
class Plan:
    """What a scenario is, before it runs. The numbers are for AWS."""

    group: str
    name: str
    summary: str
    run: object
    minutes: int
    # Public and private NAT gateways that are created, and the public addresses.
    nat_gateways: int = 0
    addresses: int = 0
    needs_domain: bool = False


class Scenario:
    """A run of a plan. Its result is in `steps`, `failure` and `not_run`."""

    def __init__(self, run, plan):
        self.run = run
        self.plan = plan
        self.workspace = Workspace(run, plan.name)
        self.steps = []
        self.failure = None
        self.seconds = 0.0

    @property
    def result(self):
        return "failed" if self.failure else "passed"

    @contextlib.contextmanager
    def step(self, title):
        self.run.children.check()
        self.run.account.say(f"  {title} ...")
        self.workspace.record(f"\n## {title}\n")
        begun = time.monotonic()
        result = "failed"
        try:
            yield
            result = "passed"
        except BOTO_ERRORS as error:
            raise Failed(f"a call of boto3: {text_of(error)}") from error
        finally:
            seconds = time.monotonic() - begun
            self.steps.append({"title": title, "seconds": round(seconds, 1), "result": result})
            self.run.account.say(f"    {result} after {duration(seconds)}")

    def apply(self, title):
        """An apply, after which a plan must be empty."""
        with self.step(title):
            self.workspace.apply()
        with self.step(f"{title}: empty plan"):
            self.workspace.plan_is_empty()

    def import_again(self, address):
        with self.step("state rm and import"):
            self.workspace.import_again(address)
        with self.step("import: empty plan"):
            self.workspace.plan_is_empty()

    def execute(self):
        self.run.account.say(f"\n{self.plan.name}: {self.plan.summary}")
        begun = time.monotonic()
        before = set(self.run.inventory.items(self.run.id))
        try:
            self.guarded("", lambda: self.plan.run(self))
            if self.workspace.applied:
                self.guarded("The destroy also failed. ", self.destroy)
            self.guarded("", lambda: self.nothing_is_left(before))
        finally:
            self.seconds = time.monotonic() - begun
        self.run.account.say(f"  {self.result} after {duration(self.seconds)}")

    def guarded(self, prefix, action):
        """Records a failure, so that the scenario continues with its cleanup. The first failure comes first."""
        try:
            action()
            return
        except Interrupted:
            self.failure = "The run was interrupted."
            raise
        except Failed as failure:
            text = str(failure)
        except BOTO_ERRORS as error:
            text = f"a call of boto3: {text_of(error)}"
        except Exception:
            text = f"an error in the scripts:\n{traceback.format_exc()}"
        text = self.run.account.redact(prefix + text)
        self.workspace.record(text)
        self.run.account.say("    " + text.replace("\n", "\n    "))
        self.failure = f"{self.failure}\n{text}" if self.failure else text

    def destroy(self):
        with self.step("destroy"):
            self.workspace.destroy()

    def nothing_is_left(self, before):
        """`before`: the objects that existed before the scenario. Others may be shared by scenarios."""
        with self.step("nothing is left"):
            run, settings = self.run, self.run.settings
            ignored = before | run.fixtures.shared
            left = run.inventory.remaining(run.id, ignored, settings.watch, settings.poll)
            if self.run.inventory.unlisted:
                raise Failed("Some objects could not be listed: " + "; ".join(self.run.inventory.unlisted))
            if left:
                deletion = Deletion(self.run.account, self.run.settings.poll, self.run.children.check)
                deletion.delete(left)
                undeleted = "; ".join(deletion.failures)
                words = f"Not deleted: {undeleted}." if undeleted else "They are deleted now."
                raise Failed(f"These objects were left: {', '.join(map(str, left))}. {words}")


def duration(seconds):
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds) // 60} min {int(seconds) % 60:02} s"
