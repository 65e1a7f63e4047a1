"""Writes the table of docs/reliability.md from the results of the last full run of the campaigns.

Usage: reliability.py DIRECTORY, where each campaign of `make faults` has written one JSON object.
"""

import datetime
import json
import pathlib
import platform
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "reliability.md"
BEGIN = "<!-- The table below is written by make faults. -->\n"
END = "<!-- The table ends here. -->\n"
COLUMNS = ["runs", "calls", "faults", "survived", "lost"]


def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def table(campaigns):
    lines = row(["Campaign", *COLUMNS]) + row(["---"] + ["---:"] * len(COLUMNS))
    for campaign in sorted(campaigns, key=lambda it: it["name"]):
        lines += row([campaign["name"], *(f"{campaign[column]:,}" for column in COLUMNS)])
    return lines + row(["**all**", *(f"**{sum(it[column] for it in campaigns):,}**" for column in COLUMNS)])


def origin(campaigns):
    names = {}
    for campaign in sorted(campaigns, key=lambda it: it["name"]):
        names.setdefault(campaign["commit"], []).append(campaign["name"])
    several = [f"\n- commit {commit}: {'; '.join(them)}" for commit, them in sorted(names.items())]
    where = f"commit {next(iter(names))}" if len(names) == 1 else "the commits below"
    minutes = round(sum(it["seconds"] for it in campaigns) / 60)
    return (f"Written by `make faults` on {datetime.date.today()} at {where}, on {platform.system()} "
            f"{platform.machine()}. The tests took {minutes} minutes in total;\nseveral ran in parallel.\n"
            + ("".join(several) + "\n" if len(names) > 1 else ""))


def main():
    directory = pathlib.Path(sys.argv[1])
    campaigns = [json.loads(file.read_text()) for file in sorted(directory.glob("*.json"))]
    for campaign in campaigns:
        campaign["lost"] = len(campaign["lost"])
        campaign["survived"] = campaign["runs"] - campaign["lost"]
    if not campaigns:
        sys.exit(f"{directory} contains no results: run make faults")
    text = PAGE.read_text()
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    PAGE.write_text(f"{head}{BEGIN}\n{table(campaigns)}\n{origin(campaigns)}\n{END}{tail}")
    print(f"Wrote {PAGE} from {len(campaigns)} campaigns.")


main()
