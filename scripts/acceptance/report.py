"""The report: Markdown for people, JSON for programs, and a section of docs/reliability.md after a run on AWS."""

import datetime
import json
import platform
import subprocess

from acceptance import gateway_questions, network_questions
from acceptance.scenario import duration
from processes import ROOT

PAGE = ROOT / "docs/reliability.md"
BEGIN = "<!-- The section below is written by make acceptance on AWS. -->\n"
END = "<!-- The section of make acceptance ends here. -->\n"

NOT_ASKED = network_questions.NOT_ASKED + gateway_questions.NOT_ASKED


def save(run, result):
    """Writes the report as it is now, so that a run that is killed has one too. Returns the facts and the text."""
    settings, facts = run.settings, collect(run, result)
    text = run.account.redact(markdown(facts))
    settings.report.parent.mkdir(parents=True, exist_ok=True)
    settings.report.write_text(text)
    facts_file = settings.report.with_suffix(".json")
    facts_file.write_text(run.account.redact(json.dumps(facts, indent=2)) + "\n")
    return facts, text


def finish(run, result):
    """Writes the report, and prints a summary of it."""
    settings, say = run.settings, run.account.say
    facts, text = save(run, result)
    say(f"\nResult: {facts['result']}")
    for scenario in facts["scenarios"]:
        say(f"  {scenario['result']:<7} {scenario['name']:<28} {duration(scenario['seconds'])}")
    verdicts = [row["verdict"] for row in facts["questions"]]
    counts = ", ".join(f"{verdicts.count(it)} {it}" for it in dict.fromkeys(verdicts))
    say(f"  questions: {counts or 'none'}")
    for failure in [*facts["failures"], *facts["left"]]:
        say(f"  {failure}")
    say(f"Report: {settings.report}\nTranscripts: {run.directory}")
    if run.account.is_emulator:
        return
    if facts["result"] == "passed" and facts["complete"]:
        publish(PAGE, text)
        say(f"Wrote the report into {PAGE}.")
    else:
        say("docs/reliability.md is unchanged, because it contains only runs that are complete and passed. A complete")
        say("run has a DOMAIN and no ONLY.")


def publish(page, text):
    """Replaces the section of the page. Its headings are one level lower there."""
    head, rest = page.read_text().split(BEGIN)
    tail = rest.split(END)[1]
    lowered = "\n".join("#" + line if line.startswith("#") else line for line in text.splitlines())
    page.write_text(f"{head}{BEGIN}\n{lowered}\n\n{END}{tail}")


def collect(run, result):
    rows = {row.id: row for it in [*run.all_questions, gateway_questions.UNDER_LOAD] for row in rows_of(it)}
    observed = run.observations
    skipped = [{"name": name, "reason": reason} for name, reason in run.not_run]
    # A run without a domain is not complete, because one scenario is missing.
    complete = not run.settings.only and not skipped and result in ("passed", "failed")
    return {
        "target": "emulator" if run.account.is_emulator else "AWS",
        "result": result,
        "complete": complete,
        "run": run.id,
        "date": datetime.datetime.fromtimestamp(run.begun, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "account": run.account.masked_id,
        "region": run.account.region,
        "role": run.settings.role or "none: the provider used the credentials of the scripts",
        "provider": f"{version()}, commit {commit()}",
        "terraform": run.version,
        "system": f"{platform.system()} {platform.machine()}",
        "scenarios": [
            {
                "name": scenario.plan.name,
                "summary": scenario.plan.summary,
                "result": scenario.result,
                "seconds": round(scenario.seconds, 1),
                "steps": scenario.steps,
                "failure": scenario.failure,
            }
            for scenario in run.scenarios
        ],
        "questions": [
            {
                "id": name,
                "question": rows[name].question,
                "assumed": rows[name].assumed,
                "source": rows[name].source,
                "observation": observed[name]["text"],
                "verdict": observed[name]["verdict"],
            }
            for name in observed
        ],
        "not run": skipped + [
            {"name": name, "reason": f"{question}: {reason}"}
            for name, question, reason in NOT_ASKED
            if name != "documented-policy" or not run.settings.role
        ],
        "failures": run.failures,
        "left": run.left,
    }  # fmt: skip


def rows_of(question):
    return getattr(question, "rows", [question])


def markdown(facts):
    parts = ["# Acceptance run\n"]
    if facts["target"] == "emulator":
        parts.append(
            "> **This run used an emulator. It shows nothing about AWS.**\n"
            "> Every observation and every time below is that of the emulator.\n"
        )
    parts.append(list_of({
        "Result": facts["result"] + ("" if facts["complete"] else ", not all parts ran"),
        "Date": facts["date"],
        "Provider": facts["provider"],
        "Target": f"{facts['target']}, account {facts['account']}, Region {facts['region']}",
        "Role of the provider": facts["role"],
        "Terraform": facts["terraform"],
        "System": facts["system"],
    }))  # fmt: skip
    parts.append("## Scenarios\n")
    rows = [[it["name"], it["summary"], str(len(it["steps"])), duration(it["seconds"]), it["result"]]
            for it in facts["scenarios"]]  # fmt: skip
    parts.append(table(["Scenario", "Content", "Steps", "Time", "Result"], rows))
    for scenario in facts["scenarios"]:
        parts.append(f"### {scenario['name']}\n")
        if scenario["failure"]:
            parts.append(fenced(scenario["failure"]))
        rows = [[step["title"], duration(step["seconds"]), step["result"]] for step in scenario["steps"]]
        parts.append(table(["Step", "Time", "Result"], rows))
    parts.append("## Questions that only AWS can answer\n")
    rows = [[it["id"], it["question"], f"{it['assumed']} ({it['source']})", it["observation"], it["verdict"]]
            for it in facts["questions"]]  # fmt: skip
    parts.append(table(["ID", "Question", "Assumption", "Observation", "Verdict"], rows))
    parts.append(
        "*As assumed* and *differs* compare the observation with the assumption. *Recorded*: the provider works in\n"
        "either case. *No answer*: the observation states the reason.\n"
    )
    parts.append("## Not run\n")
    parts.append(table(["What", "Reason"], [[it["name"], it["reason"]] for it in facts["not run"]]))
    if facts["failures"] or facts["left"]:
        parts.append("## Failures outside scenarios\n")
        parts.append(fenced("\n".join([*facts["failures"], *facts["left"]])))
    return "\n".join(parts)


def list_of(facts):
    return "".join(f"- {name}: {value}\n" for name, value in facts.items())


def table(head, rows):
    if not rows:
        return "None.\n"
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(map(cell, line)) + " |\n" for line in lines)


def cell(text):
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())


def fenced(text):
    quoted = text.replace("```", "'''").strip()
    return f"```text\n{quoted}\n```\n"


def version():
    lines = (ROOT / "Cargo.toml").read_text().splitlines()
    return next(line.split('"')[1] for line in lines if line.startswith("version = "))


def commit():
    """With a mark if files differ from the commit."""
    words = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
