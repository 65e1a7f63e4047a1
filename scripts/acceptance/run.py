"""The command `make acceptance`: asks for confirmation, runs scenarios and questions one after another, and reports."""

import secrets
import time
import traceback

from acceptance import estimate, gateway_questions, gateways, network_questions, networks, report
from acceptance.account import BOTO_ERRORS, RUN_TAG, TAG, text_of
from acceptance.fixtures import Fixtures
from acceptance.question import Ask
from acceptance.scenario import Scenario, duration
from acceptance.sweep import Deletion, Inventory, confirmed
from acceptance.terraform import Terraform, Workspace
from processes import Children, Failed, Interrupted

QUESTIONS = network_questions.QUESTIONS + gateway_questions.QUESTIONS


class Run:
    def __init__(self, settings, account):
        self.settings = settings
        self.account = account
        self.id = secrets.token_hex(3)
        self.directory = settings.report.parent / self.id
        self.inventory = Inventory(account, settings.prefix)
        self.fixtures = Fixtures(self)
        self.children = None
        self.terraform = None
        self.version = "unknown"
        self.scenarios = []
        # Observations by the ID of a row, and the rows that were not asked, with the reason.
        self.observations = {}
        self.not_run = []
        # Failures outside scenarios.
        self.failures = []
        self.version = "unknown"
        self.left = []
        self.begun = time.time()
        self.plans = [it for it in networks.plans() + gateways.plans() if settings.selects(it.group, it.name)]
        self.questions = [it for it in QUESTIONS if any(settings.selects("questions", row.id) for row in it.rows)]

    @property
    def all_questions(self):
        return QUESTIONS

    def name(self, label):
        return f"{self.settings.prefix}-{self.id}-{label}"

    def all(self):
        self.check_selection()
        self.leave_out_domains()
        estimate.announce(self)
        if not self.settings.yes and not confirmed(estimate.QUESTION, self.account.id):
            self.account.say("Not confirmed. Nothing was created.")
            return 1
        self.children = Children()
        interrupted = False
        try:
            self.terraform = Terraform(self.settings, self.account, self.children, self.directory)
            self.version = self.terraform.version()
            self.check_access()
            self.execute()
        except Interrupted:
            interrupted = True
            self.not_run.append(("rest", "The run was interrupted."))
        except Failed as failure:
            self.fail(str(failure))
        except Exception:
            self.fail(f"An error in the scripts:\n{traceback.format_exc()}")
        finally:
            self.children.end_all()
        self.look_for_leftovers(interrupted)
        report.finish(self, "interrupted" if interrupted else "failed" if self.has_failed else "passed")
        return 130 if interrupted else 1 if self.has_failed else 0

    def fail(self, text):
        """Ends the run, but its results so far are reported."""
        self.failures.append(text)
        self.not_run.append(("rest", "The run has failed before."))
        self.account.say(f"\n{text}")

    @property
    def has_failed(self):
        return bool(self.failures or self.left) or any(scenario.failure for scenario in self.scenarios)

    def check_selection(self):
        plans, rows = networks.plans() + gateways.plans(), [row for it in QUESTIONS for row in it.rows]
        known = {it.group for it in plans} | {it.name for it in plans} | {"questions"} | {row.id for row in rows}
        for name in self.settings.only:
            if name not in known:
                raise Failed(f"ONLY names {name!r}, which is none of {', '.join(sorted(known))}.")

    def check_access(self):
        """Before anything is created: the provider may find other credentials than boto3, or none."""
        filters = [{"Name": "zone-type", "Values": ["availability-zone"]}]
        zones = self.account.client("ec2").describe_availability_zones(Filters=filters)["AvailabilityZones"]
        if len(zones) < 3 and any(plan.group == "network" for plan in self.plans):
            raise Failed(f"{self.account.region} has only {len(zones)} Availability Zones, but the networks need 3.")
        self.account.say("\nPlanning a network, to check the credentials of the provider ...")
        workspace = Workspace(self, "access")
        attributes = {"vpc_name": self.name("access"), "cidr_block": "10.60.0.0/16", "num_nat_gateways": 1}
        networks.write(workspace, attributes)
        workspace.command("plan", "-input=false", "-no-color")

    def leave_out_domains(self):
        """Without a domain, or without its zone and certificate, some parts cannot run."""
        reason = "DOMAIN is not set."
        if self.settings.domain:
            try:
                self.fixtures.zone_id()
                self.fixtures.certificate_arn()
                return
            except Failed as failure:
                reason = str(failure)
            except BOTO_ERRORS as error:
                reason = text_of(error)
        for plan in [it for it in self.plans if it.needs_domain]:
            self.plans.remove(plan)
            self.not_run.append((plan.name, reason))
        for question in [it for it in self.questions if it.needs_domain]:
            self.questions.remove(question)
            self.not_run += [(row.id, reason) for row in question.rows]

    def execute(self):
        try:
            for plan in self.plans:
                scenario = Scenario(self, plan)
                self.scenarios.append(scenario)
                scenario.execute()
                report.save(self, "in progress")
            for question in self.questions:
                self.children.check()
                self.ask(question)
                report.save(self, "in progress")
        finally:
            self.delete_fixtures()

    def ask(self, question):
        """An answer of AWS is never a failure. An error in these scripts is one, and so is an object that is left."""
        ids = ", ".join(row.id for row in question.rows)
        self.account.say(f"\nquestion {ids}: {question.rows[0].question}")
        begun, failure = time.monotonic(), None
        with Ask(self) as ask:
            try:
                question.ask(ask)
            except Interrupted:
                raise
            except Failed as error:
                failure = str(error)
            except BOTO_ERRORS as error:
                failure = text_of(error)
            except Exception:
                failure = "an error in the scripts"
                self.failures.append(f"Question {ids}: {traceback.format_exc()}")
        for row in question.rows:
            if row.id not in self.observations:
                self.observe(row.id, f"The question could not be asked. {failure}" if failure else "An earlier answer made it pointless.", "no answer")
        self.failures += [f"Question {ids}: {text}" for text in ask.undeleted]
        self.account.say(f"  after {duration(time.monotonic() - begun)}")

    def observe(self, row, text, as_assumed=None):
        """`as_assumed` is a truth value, None if nothing depends on the answer, or another verdict."""
        verdict = as_assumed if isinstance(as_assumed, str) else {None: "recorded", True: "as assumed"}.get(
            as_assumed if as_assumed is None else bool(as_assumed), "differs")  # fmt: skip
        self.observations[row] = {"text": self.account.redact(text), "verdict": verdict}
        self.account.say(f"  {row}: {verdict}: {text}")

    def delete_fixtures(self):
        items = [item for item in self.inventory.items(self.id) if item in self.fixtures.shared]
        if items:
            self.account.say("\nDeleting the functions and other objects that the scenarios shared")
            # Without a check for Ctrl-C: this takes seconds.
            deletion = Deletion(self.account, self.settings.poll, lambda: None)
            deletion.delete(items)
            self.failures += deletion.failures

    def look_for_leftovers(self, interrupted):
        seconds = 0 if interrupted else self.settings.watch
        self.left = [str(item) for item in self.inventory.remaining(self.id, (), seconds, self.settings.poll)]
        self.left += [f"not listed: {failure}" for failure in self.inventory.unlisted]
        if self.left:
            tags = f"{TAG} = {self.settings.prefix} and {RUN_TAG} = {self.id}"
            self.account.say(f"\nObjects with the tags {tags} are left:")
            for line in self.left:
                self.account.say(f"  {line}")
            self.account.say(f"To delete them: {estimate.sweep_command(self.settings)}")
        else:
            self.account.say("\nNothing with the tags of this run is left.")
