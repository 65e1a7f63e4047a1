"""Writes the table of docs/reliability.md from the results of the last full run of the campaigns.

Usage: reliability.py DIRECTORY [--keep], where each campaign of `make faults` has written one JSON object. With --keep,
the rows of all other campaigns stay as they are on the page.
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
# The start of a line about campaigns that ran after the others.
LATER = "- Later: "


def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def table(campaigns):
    lines = row(["Campaign", *COLUMNS]) + row(["---"] + ["---:"] * len(COLUMNS))
    for campaign in sorted(campaigns, key=lambda it: it["name"]):
        lines += row([campaign["name"], *(f"{campaign[column]:,}" for column in COLUMNS)])
    return lines + row(["**all**", *(f"**{sum(it[column] for it in campaigns):,}**" for column in COLUMNS)])


def rows(page):
    """The campaigns in the table of the page."""
    lines = [line.strip("| ") for line in page.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.split("|")] for line in lines]
    # The first two rows are the head, and the last one is the sum.
    return [{"name": name, **{column: int(number.replace(",", "")) for column, number in zip(COLUMNS, numbers)}}
            for name, *numbers in cells[2:-1]]


def by_commit(campaigns):
    names = {}
    for campaign in sorted(campaigns, key=lambda it: it["name"]):
        names.setdefault(campaign["commit"], []).append(campaign["name"])
    return sorted(names.items())


def origin(campaigns):
    names = by_commit(campaigns)
    several = [f"\n- commit {commit}: {'; '.join(them)}" for commit, them in names]
    where = f"commit {names[0][0]}" if len(names) == 1 else "the commits below"
    minutes = round(sum(it["seconds"] for it in campaigns) / 60)
    return (f"Written by `make faults` on {datetime.date.today()} at {where}, on {platform.system()} "
            f"{platform.machine()}. The tests took {minutes} minutes in total;\nseveral ran in parallel.\n"
            + ("".join(several) + "\n" if len(names) > 1 else ""))


def later(earlier, campaigns):
    """The lines about the origin on the page, with a line for each commit at which these campaigns ran."""
    again = {campaign["name"] for campaign in campaigns}
    text, *lines = earlier.strip().split("\n" + LATER)
    lines = [line.rstrip().split(": ", 1) for line in lines]
    lines = [(when, [name for name in names.split("; ") if name not in again]) for when, names in lines]
    today = datetime.date.today()
    lines += [(f"{today} at commit {commit}", names) for commit, names in by_commit(campaigns)]
    lines = [f"{LATER}{when}: {'; '.join(names)}" for when, names in lines if names]
    return "\n".join([text.rstrip() + "\n", *lines]) + "\n"


def main():
    directory, keep = pathlib.Path(sys.argv[1]), "--keep" in sys.argv[2:]
    campaigns = [json.loads(file.read_text()) for file in sorted(directory.glob("*.json"))]
    for campaign in campaigns:
        campaign["lost"] = len(campaign["lost"])
        campaign["survived"] = campaign["runs"] - campaign["lost"]
    if not campaigns:
        sys.exit(f"{directory} contains no results: run make faults")
    text = PAGE.read_text()
    head, rest = text.split(BEGIN)
    page, tail = rest.split(END)
    others = []
    if keep:
        again = {campaign["name"] for campaign in campaigns}
        others = [campaign for campaign in rows(page) if campaign["name"] not in again]
    # The table ends with the first empty line after it.
    lines = later(page.strip().split("\n\n", 1)[1], campaigns) if keep else origin(campaigns)
    PAGE.write_text(f"{head}{BEGIN}\n{table(others + campaigns)}\n{lines}\n{END}{tail}")
    print(f"Wrote {PAGE} from {len(campaigns)} campaigns.")


main()
