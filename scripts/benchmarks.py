"""Writes BENCHMARKS.md from what the parts of `make bench` have measured.

Usage: benchmarks.py DIRECTORY [FILE], where the parts wrote one JSON file each. FILE is BENCHMARKS.md of the project
unless it is given.
"""

import json
import pathlib
import statistics
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / "BENCHMARKS.md"
OPERATIONS = ["apply", "plan", "change", "destroy"]
SIDES = {"fgw": "fgw", "aws": "hashicorp/aws"}
NOT_MEASURED = "not measured"

INTRODUCTION = """\
# Benchmarks

The same topologies, applied, planned without changes, changed and destroyed by real Terraform with this provider and
with hashicorp/aws 5.100.0, in turn, on emulators of AWS. A proxy between provider and emulator adds latency to each
answer and keeps NAT gateways pending. This page is written by `make bench`.
"""

METHOD = """\
## How this is measured

- The configurations are in [benches](benches): one resource of fgw, and the same objects as a plain configuration for
  hashicorp/aws. After each apply an independent look compares what both have made: as many objects of each kind, with as
  many routes, associations and permissions.
- The network has four tiers in three AZs, three NAT gateways, two endpoints and the default group: 49 objects. Its change
  is one tag more on all. The gateway has an authorizer, access logs and a route for each path to one of five functions,
  twenty from twenty routes on. Its change is one route more.
- Wall time is that of the whole Terraform command: Terraform itself, its starts of the provider, the emulator. An
  emulator is a Python process that needs some milliseconds for each call, one after the other; at no latency that is what
  the times of fgw mostly are. The time in which the emulator was at work is in its own column.
- CPU is what the kernel has counted for the provider's processes, user and system, in steps of 10 ms. Memory is the
  high-water mark of the largest provider process (`VmHWM`), looked at every 5 ms.
- Calls are counted by the proxy, retries included. *Looks* are the calls that read before the first that changes
  something; after it, a provider reads to wait for what it has changed (fgw), or to read it again, too (hashicorp/aws).
- The critical path is the longest chain of calls in which each needs the answer to the one before, times the latency, and
  the time that NAT gateways are pending. It has what fgw does so that nothing is lost when a run is killed: a look for what
  an earlier one has left, the VPC made first and alone, and a last tag when all is done. Looks at what was made are not in
  it, but for the NAT gateways. The chain is stated and not found; each run was searched for its calls, one after the other.
- A run of fgw takes API Gateway's rate limit into account, ten calls a second after the first forty, as AWS refuses more.
  The emulator does not, and hashicorp/aws, which sends as fast as it is answered, has the benefit of that.
- All medians. Each run has an account of its own. Binaries are in the page cache.
"""


def load(directory):
    parts = {}
    for file in sorted(directory.glob("*.json")):
        part = json.loads(file.read_text())
        parts[part["part"]] = part
    return parts


def row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |\n"


def table(heads, rows, left=1):
    return row(heads) + row(["---"] * left + ["---:"] * (len(heads) - left)) + "".join(row(cells) for cells in rows) + "\n"


def seconds(ms):
    return f"{ms / 1000:.2f} s" if abs(ms) >= 1000 else f"{ms:.0f} ms"


def megabytes(amount, unit):
    return f"{amount * unit / 1e6:.1f} MB"


def fraction(ours, theirs):
    """How a share of something reads, such as 1/12."""
    if not ours:
        return "none" if theirs else "the same"
    if abs(theirs / ours - 1) < 0.02:
        return "the same"
    return f"1/{theirs / ours:.1f}" if theirs >= ours else f"{ours / theirs:.1f} times"


def title(topology):
    if topology["kind"] == "network":
        text = f"network, {topology['azs']} AZ{'s' if topology['azs'] > 1 else ''}"
    else:
        text = f"gateway, {topology['routes']} route{'s' if topology['routes'] > 1 else ''}"
    if topology["copies"] > 1:
        text = f"{topology['copies']} resources: {text} each"
    if topology["latency_ms"]:
        text += f", {topology['latency_ms']} ms"
    if topology["nat_pending_s"]:
        text += f", NAT pending {topology['nat_pending_s']} s"
    return text


def sentence(text):
    return text[0].upper() + text[1:]


class Measured:
    """Samples of one part, found by topology, side and operation."""

    def __init__(self, part):
        self.part = part
        self.groups = {}
        for sample in part["samples"] if part else []:
            key = (json.dumps(sample["topology"], sort_keys=True), sample["side"], sample["operation"])
            self.groups.setdefault(key, []).append(sample)
        self.topologies = []
        for sample in part["samples"] if part else []:
            if sample["topology"] not in self.topologies:
                self.topologies.append(sample["topology"])

    def samples(self, topology, side, operation):
        return self.groups.get((json.dumps(topology, sort_keys=True), side, operation), [])

    def median(self, topology, side, operation, of):
        samples = self.samples(topology, side, operation)
        value = of if callable(of) else lambda sample: sample[of]
        return statistics.median(value(sample) for sample in samples) if samples else None

    def ratio(self, topology, operation, of):
        ours, theirs = (self.median(topology, side, operation, of) for side in SIDES)
        return None if ours is None or theirs is None else fraction(ours, theirs)

    def find(self, **wanted):
        fits = lambda topology: all(topology.get(name) == value for name, value in wanted.items())
        return next((topology for topology in self.topologies if fits(topology)), None)


def all_calls(sample):
    return sum(sample["calls"].values())


def without_polls(sample):
    return sample["looks"] + sample["changing"]


def walked(sample):
    """How many calls a run has made one after the other."""
    return len(sample["walked"])


def ratios(measured, heading):
    rows = []
    for topology in measured.topologies:
        for name, of in [("wall time", "wall_ms"), ("CPU", "provider_cpu_ms"), ("memory", "peak_kb"), ("AWS calls", all_calls)]:
            cells = [measured.ratio(topology, operation, of) for operation in OPERATIONS]
            if any(cells):
                rows.append([title(topology), name, *(cell or NOT_MEASURED for cell in cells)])
    if not rows:
        return ""
    return f"{heading}\n\n" + table(["fgw takes of hashicorp/aws", "", *OPERATIONS], rows, left=2)


def absolutes(measured):
    heads = ["operation", "provider", "runs", "wall", "fastest to slowest", "provider CPU", "memory", "calls", "looks", "changing", "at once",
             "emulator at work"]
    text = ""
    for topology in measured.topologies:
        rows = []
        for operation in OPERATIONS:
            for side, name in SIDES.items():
                samples = measured.samples(topology, side, operation)
                if not samples:
                    continue
                middle = lambda of: measured.median(topology, side, operation, of)
                walls = [sample["wall_ms"] for sample in samples]
                rows.append([
                    operation, name, len(samples), seconds(middle("wall_ms")), f"{seconds(min(walls))} to {seconds(max(walls))}",
                    seconds(middle("provider_cpu_ms")),
                    megabytes(middle("peak_kb"), 1024), f"{middle(all_calls):g}", f"{middle('looks'):g}",
                    f"{middle('changing'):g}", f"{middle('peak_concurrency'):g}", seconds(middle("emulator_ms")),
                ])
        text += f"### {sentence(title(topology))}\n\n" + table(heads, rows, left=2) + actions(measured, topology)
    return text


def actions(measured, topology):
    """The calls by action, folded, of the first run of each."""
    text = ""
    for operation in OPERATIONS:
        for side, name in SIDES.items():
            samples = measured.samples(topology, side, operation)
            if samples:
                calls = ", ".join(f"{action} {count}" for action, count in sorted(samples[0]["calls"].items()))
                text += f"- {operation}, {name}: {calls or 'none'}\n"
    return f"<details><summary>Calls by action</summary>\n\n{text}\n</details>\n\n"


def growth(measured):
    if not measured.topologies:
        return ""
    heads = ["", "provider", *(f"{operation}" for operation in OPERATIONS), "CPU of apply", "CPU of plan", "memory",
             "calls: apply", "plan", "destroy"]
    rows = []
    for topology in measured.topologies:
        for side, name in SIDES.items():
            middle = lambda operation, of: measured.median(topology, side, operation, of)
            if middle("apply", "wall_ms") is None:
                continue
            memory = max(middle(operation, "peak_kb") for operation in OPERATIONS if middle(operation, "peak_kb"))
            rows.append([
                title(topology), name, *(seconds(middle(operation, "wall_ms")) for operation in OPERATIONS),
                *(seconds(middle(operation, "provider_cpu_ms")) for operation in ["apply", "plan"]), megabytes(memory, 1024),
                *(f"{middle(operation, all_calls):g}" for operation in ["apply", "plan", "destroy"]),
            ])
    text = ("## How cost grows with size\n\nNo latency, NAT gateways ready at once. What hashicorp/aws takes of the network of "
            "3 AZs and of the gateway of 10 routes is below.\n\n" + table(heads, rows, left=2))
    not_run = [title(topology) for topology in measured.part["not_run"]]
    if not_run:
        text += f"hashicorp/aws was not run on these, as it takes too long: {'; '.join(not_run)}.\n\n"
    return text


def starts(part):
    if not part:
        return ""
    heads = ["provider", "start to handshake", "fastest", "terraform validate", "without a provider", "binary", "zipped", "runs"]
    rows = []
    for start in part["start"]:
        zipped = megabytes(start["zipped_bytes"], 1) if start["zipped_bytes"] else NOT_MEASURED
        validations = [seconds(statistics.median(start[name])) for name in ["validate_ms", "validate_alone_ms"]]
        rows.append([
            SIDES[start["side"]], f"{statistics.median(start['handshake_ms']):.1f} ms", f"{min(start['handshake_ms']):.1f} ms",
            *validations, megabytes(start["bytes"], 1), zipped, len(start["handshake_ms"]),
        ])
    return "## Start and size\n\n" + table(heads, rows)


def goals(parts, network, grown):
    """Each goal with what was measured, what is missing, and why."""
    rows, reasons = [], []

    def add(what, limit, value, shown, goal, why=None):
        if value is None:
            rows.append([what, goal, NOT_MEASURED, ""])
            return
        is_reached = value <= limit
        rows.append([what, goal, shown, "reached" if is_reached else f"**not reached**: {value / limit:.2f} times the goal"])
        if not is_reached and why:
            reasons.append(f"- *{sentence(what)}.* {why()}\n")

    def share(what, topology, operation, of, part, why=None):
        ours, theirs = ((network.median(topology, side, operation, of) if topology else None) for side in SIDES)
        value = None if ours is None or theirs is None else ours / theirs
        add(what, 1 / part, value, fraction(ours, theirs) if value is not None else "", f"at most 1/{part}", why)

    def plain(what, limit, value, shown, goal, why=None):
        add(what, limit, value, shown(value) if value is not None else "", goal, why)

    at = lambda latency, pending=0: network.find(azs=3, latency_ms=latency, nat_pending_s=pending)
    of_fgw = lambda topology, operation, of: network.median(topology, "fgw", operation, of) if topology else None

    def plan_at_once():
        took, emulator, terraform, provider = (
            seconds(of_fgw(at(0), "plan", of)) for of in ["wall_ms", "emulator_ms", "terraform_cpu_ms", "provider_cpu_ms"])
        return (f"Of {took} the emulator was at work for {emulator}, one call after the other; Terraform took {terraform} of CPU, "
                f"the provider {provider}, in all its starts. Fewer calls would need less of what is looked at.")

    def slow_gateways():
        beside = seconds(of_fgw(slow, "apply", "wall_ms") - pending * 1000)
        ready = at(slow["latency_ms"])
        return (f"Beside the wait it took {beside}, and an apply whose gateways are ready at once takes "
                f"{seconds(of_fgw(ready, 'apply', 'wall_ms'))}: Terraform with its starts of the provider, "
                f"{of_fgw(ready, 'apply', walked):g} calls one after the other, and an emulator that was at work for "
                f"{seconds(of_fgw(slow, 'apply', 'emulator_ms'))}, one call after the other, where AWS answers all at once. Pauses "
                "between looks are an eighth of the time waited, so that a sixteenth of it is lost on average; shorter ones "
                "would be more calls.")

    def far_away():
        more = of_fgw(far, "apply", walked) - of_fgw(far, "apply", lambda sample: len(sample["chain"]))
        return (f"{more:g} calls more than the path has are waited for one after the other, which is {seconds(more * 200)}: looks "
                "whether AWS shows what it was told, above all the attachment of the internet gateway, without which a NAT "
                "gateway fails for good, and the last of the routes. The rest is Terraform with its starts of the provider, and "
                f"an emulator that was at work for {seconds(of_fgw(far, 'apply', 'emulator_ms'))}, one call after the other, where "
                "AWS answers all at once.")

    def memory():
        mine, other = (megabytes(network.median(at(50), side, "apply", "peak_kb"), 1024) for side in SIDES)
        return (f"{mine} is about half of the 40 MB that the goal stood for; it was set where hashicorp/aws took 620 MB, and "
                f"here it took {other}. Three quarters of what fgw takes are pages of its binary and of system libraries, "
                "and neither other settings of the allocator nor fewer threads made it less.")

    def validation():
        return (f"Terraform takes {seconds(of_start('validate_alone_ms'))} of it for a configuration without any provider, on "
                "this machine; the rest are two starts of the provider, with a TLS connection each, and reading its schema.")

    share("plan without changes, no latency: wall time", at(0), "plan", "wall_ms", 25, plan_at_once)
    share("plan without changes, no latency: CPU", at(0), "plan", "provider_cpu_ms", 40)
    share("plan without changes, 50 ms: wall time", at(50), "plan", "wall_ms", 12)
    share("apply, 50 ms, NAT gateways ready at once", at(50), "apply", "wall_ms", 8)
    slow = next((it for it in network.topologies if it["nat_pending_s"]), None)
    pending = slow["nat_pending_s"] if slow else 0
    apply = of_fgw(slow, "apply", "wall_ms")
    plain(f"apply, 50 ms, NAT gateways pending for t = {pending or 5} s", (pending + 1.5) * 1000, apply, seconds, "at most t + 1.5 s",
          slow_gateways)
    far = at(200)
    apply = of_fgw(far, "apply", "wall_ms")
    bound = of_fgw(far, "apply", "bound_ms")
    shown = lambda value: f"{seconds(value)}, {value / bound:.2f} times {seconds(bound)}"
    plain("apply, 200 ms", 1.5 * bound if bound else 1, apply, shown, "at most 1.5 times the critical path", far_away)
    share("destroy, 50 ms", at(50), "destroy", "wall_ms", 8)
    share("memory of the provider, apply at 50 ms", at(50), "apply", "peak_kb", 15, memory)
    for operation, limit in [("apply", 80), ("plan", 16), ("destroy", 65)]:
        calls = of_fgw(at(0), operation, without_polls)
        plain(f"AWS calls without polls: {operation}", limit, calls, lambda value: f"{value:g}", f"at most {limit}")
    sizes = [topology for topology in grown.topologies if topology["kind"] == "network" and topology["copies"] == 1]
    counts = {grown.median(topology, "fgw", "plan", all_calls) for topology in sizes}
    counts = sorted(counts - {None})
    spread = counts[-1] - counts[0] + 1 if len(sizes) > 1 and counts else None
    shown = lambda _: ", ".join(f"{count:g}" for count in counts) + " at " + ", ".join(str(it["azs"]) for it in sizes) + " AZs"
    plain("AWS calls of a plan, whatever the size", 1, spread, shown, "independent of size")
    start = next((it for it in (parts.get("start") or {"start": []})["start"] if it["side"] == "fgw"), None)
    of_start = lambda name: statistics.median(start[name]) if start else None
    plain("provider start to handshake", 15, of_start("handshake_ms"), lambda value: f"{value:.1f} ms", "at most 15 ms")
    plain("binary, stripped", 25e6, start and start["bytes"], lambda value: megabytes(value, 1), "at most 25 MB")
    plain("binary, zipped", 10e6, start and start["zipped_bytes"], lambda value: megabytes(value, 1), "at most 10 MB")
    plain("terraform validate", 150, of_start("validate_ms"), seconds, "at most 0.15 s", validation)
    heads = ["Network of 49 objects, against hashicorp/aws", "goal", "measured", ""]
    text = "## Goals\n\n" + row(heads) + row(["---"] * 4) + "".join(row(cells) for cells in rows) + "\n"
    return text + ("What is not reached, and why:\n\n" + "".join(reasons) + "\n" if reasons else "")


def paths(network):
    """The chains, the time they need, and what the runs of fgw took."""
    rows, chains = [], {}
    for topology in network.topologies:
        for operation in OPERATIONS:
            samples = network.samples(topology, "fgw", operation)
            if not samples or not samples[0]["chain"]:
                continue
            chain = chains.setdefault(operation, {"calls": samples[0]["chain"], "holds": True})
            chain["holds"] &= all(sample["chain_holds"] for sample in samples)
            wall, bound = (network.median(topology, "fgw", operation, of) for of in ["wall_ms", "bound_ms"])
            if bound:
                rows.append([title(topology), operation, seconds(bound), seconds(wall), f"{wall / bound:.2f}",
                             f"{network.median(topology, 'fgw', operation, walked):g}"])
    if not rows:
        return ""
    text = "## The critical path\n\n" + table(["", "operation", "critical path", "fgw", "times", "calls one after the other"], rows, left=2)
    text += ("The last column is what fgw really did one after the other: from its last call back to the first, always the "
             "call that had ended last before.\n\n")
    for operation, chain in chains.items():
        seen = "in each run, in this order" if chain["holds"] else "not in each run in this order"
        text += f"- {operation}: {', '.join(chain['calls'])} ({seen}).\n"
    return text + "\n"


def origins(parts):
    text = "## Where and when\n\n"
    said = {}
    for name, part in parts.items():
        origin = part["origin"]
        changed = ", with changes" if origin["changed"] else ""
        line = (f"`{origin['command']}` on {origin['date']} at commit {origin['commit'] or 'of an exported tree'}{changed}: "
                f"{origin['cores']} cores ({origin['cpu']}), {origin['memory_gb']:g} GB of memory, {origin['os']} "
                f"({origin['kernel']}), {origin['terraform']}")
        said.setdefault(line, []).append(name)
    return text + "".join(f"- {', '.join(names)}: {line}.\n" for line, names in said.items())


def page(parts):
    network, gateway, grown = (Measured(parts.get(name)) for name in ["network", "gateway", "growth"])
    text = INTRODUCTION + "\n"
    if all("aws" not in part["sides"] for part in parts.values()):
        text += "No hashicorp/aws was found on this machine: fgw is measured alone, and there are no ratios.\n\n"
    for difference in (it for part in parts.values() for it in part["differences"]):
        text += (f"**{SIDES[difference['side']]} has not made the same of {title(difference['topology'])}** as the first run. How "
                 f"many it has made, and how many that one: {json.dumps(difference['made'])}.\n\n")
    text += ratios(network, "## The network") + ratios(gateway, "## The gateway")
    text += goals(parts, network, grown) + growth(grown) + paths(network) + starts(parts.get("start"))
    for name, measured in [("network", network), ("gateway", gateway)]:
        if measured.topologies:
            text += f"## The {name}, absolute\n\n" + absolutes(measured)
    return text + METHOD + "\n" + origins(parts)


def main():
    parts = load(pathlib.Path(sys.argv[1]))
    if not parts:
        sys.exit(f"no part of the benchmark has left anything in {sys.argv[1]}: run make bench")
    file = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else PAGE
    file.write_text(page(parts))
    print(f"{file} is written from: {', '.join(parts)}")


main()
