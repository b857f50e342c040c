"""What was predicted of other settings from one recorded run, held against runs with those settings.

Points run in random order, and what they are predicted from runs again after every third of them. A run of a point is held
against what is predicted from the run of its origin just before it and from that just after it, both in parts of these two, so
that a machine that becomes faster or slower on the way changes neither; in the table all are milliseconds of the median base.
What else the machine does only ever makes steps longer, and some runs as a whole. So of what a point's runs tell the median counts,
and of a run its mean step, which is what is predicted; or where that tells less, since runs of the same settings lie further apart
in it, the step time that a tenth of its steps stay below. A point is met within 5 %, or within twice the noise between runs
of the same settings where that is more; where that is more than 20 %, or not known because each point ran once, runs tell nothing.
"""
import contextlib
import itertools
import json
import math
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from benchmark import option_parser, print_rows

LINK = "latency_us=200,gbit_per_s=1"
LEAST_TOLERANCE = 0.05
MOST_TOLERANCE = 0.2
SURE = 2  # times the noise
RUNS_BETWEEN_ORIGINS = 3
STEP_TIMES = ("mean", "p10")  # that a run may be told by


def parse_options():
    parser = option_parser("predict", __doc__)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="cuda: without simulated links, ranks share GPUs where "
                        "they are too few; default cpu")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="another setting of all runs")
    parser.add_argument("--model", default="tiny", help="default tiny")
    parser.add_argument("--ranks", type=int, default=2, help="default 2")
    parser.add_argument("--steps", type=int, default=40, help="of each run; default 40")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each point; default 3")
    parser.add_argument("--base", default="1", help="bucket_cap_mb of the run that is predicted from; default 1")
    parser.add_argument("--caps", default="0.25,0.5,2,4,25,100", help="bucket_cap_mb of the others")
    parser.add_argument("--links", default="latency_us=200,gbit_per_s=2;latency_us=200,gbit_per_s=0.5;latency_us=2000,gbit_per_s=1",
                        help="other simulated links, with the base's buckets, separated by ;")
    parser.add_argument("--hooks", default="bf16_compress", help="communication hooks, separated by commas")
    parser.add_argument("--batches", default="4,16", help="batch_per_rank of others; the base's is 8")
    parser.add_argument("--strategies", default="zero1,no_shard,shard_grad_op,full_shard", help="others than the base's ddp")
    parser.add_argument("--least-units", default="100000", help="min_num_params of units by size, under full_shard; default 100000")
    parser.add_argument("--more-ranks", default="4", help="of other numbers of ranks")
    parser.add_argument("--nodes", default="2", help="that as many more ranks lie on, predicted from a run of them without nodes")
    parser.add_argument("--only", default="", help="points whose names hold this regular expression, and what they are predicted from")
    parser.add_argument("--keep", type=pathlib.Path, help="a new folder for the library of all runs; default: they go")
    parser.add_argument("--seed", type=int, default=1, help="of the order; default 1")
    options = parser.parse_args()
    if options.device == "cuda":
        options.links = options.nodes = ""
    return options


def changes_of(options):
    """Names of points with what they change of the base."""
    points = {"base": {}}
    points |= {f"cap {cap}": {"bucket_cap_mb": cap} for cap in options.caps.split(",") if cap}
    points |= {f"link {link}": {"simulate_link": link} for link in options.links.split(";") if link}
    points["without overlap"] = {"overlap_comm": "false"}
    points |= {hook: {"communication_hook": hook} for hook in options.hooks.split(",") if hook}
    points |= {f"batch {batch}": {"batch_per_rank": batch} for batch in options.batches.split(",") if batch}
    points |= {name: {"sharding_strategy": name} for name in options.strategies.split(",") if name}
    if "full_shard" in points:
        points["full_shard, forward prefetch"] = {"sharding_strategy": "full_shard", "forward_prefetch": "true"}
        points["full_shard, no prefetch"] = {"sharding_strategy": "full_shard", "backward_prefetch": "none"}
        points["full_shard, reduced in bf16"] = {"sharding_strategy": "full_shard", "reduce_dtype": "bf16"}
    points |= {f"full_shard, units of {least}": {"sharding_strategy": "full_shard", "wrap_policy": "size", "min_num_params": least}
               for least in options.least_units.split(",") if least}
    points |= {f"{ranks} ranks": {"ranks": ranks} for ranks in options.more_ranks.split(",") if ranks}
    points["2 micro-batches"] = {"gradient_accumulation_steps": "2"}
    points["2 micro-batches, each reduced"] = {"gradient_accumulation_steps": "2", "sync_each_batch": "true"}
    points["recomputed"] = {"activation_checkpointing": "1"}
    points["cap 25, 3 micro-batches, half recomputed"] = {
        "bucket_cap_mb": "25", "gradient_accumulation_steps": "3", "activation_checkpointing": "2"}
    for ranks, nodes in itertools.product(options.more_ranks.split(","), options.nodes.split(",")):
        if ranks and nodes:
            link = {"ranks": ranks, "simulate_link": f"{LINK},nodes={nodes}"}
            points[f"{ranks} ranks on {nodes} nodes"] = link
            points[f"{ranks} ranks on {nodes} nodes, hybrid_shard"] = {**link, "sharding_strategy": "hybrid_shard"}
            points[f"{ranks} ranks on {nodes} nodes, full_shard"] = {**link, "sharding_strategy": "full_shard"}
    return points


def origin_of(point, points):
    """The point that it is predicted from: with nodes, a run of as many ranks."""
    changes = points[point]
    return f"{changes['ranks']} ranks" if "ranks" in changes and "nodes=" in changes.get("simulate_link", "") else "base"


def points_of(options):
    points = changes_of(options)
    wanted = {point for point in points if re.search(options.only, point)} | {"base"}
    wanted |= {origin_of(point, points) for point in wanted}
    return {point: changes for point, changes in points.items() if point in wanted}


class Program:
    """Shardlens, with a library of its own."""

    def __init__(self, options, library):
        self.options, self.library = options, library

    def ask(self, *arguments, may_fail=False, stderr=subprocess.PIPE):
        """`may_fail`: what it answers then counts, too."""
        command = [str(self.options.programs / "shardlens"), *arguments, "--runs-dir", str(self.library), "--json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
        if not done.stdout.strip() or (done.returncode and not may_fail):
            raise RuntimeError(f"{' '.join(arguments)} ended with {done.returncode}: {(done.stderr or '').strip()}")
        return json.loads(done.stdout)

    @staticmethod
    def assignments(settings):
        return itertools.chain.from_iterable(("--set", f"{key}={value}") for key, value in settings.items())


class Desk(Program):
    """Runs and predictions."""

    def run(self, name, changes):
        settings = {"model": self.options.model, "batch_per_rank": "8", "bucket_cap_mb": self.options.base,
                    "steps": self.options.steps, "ranks": self.options.ranks, **self.place(), **changes}
        return step_times(self.ask("run", *self.assignments(settings), "--name", name))

    def place(self):
        """Where the ranks of every run are."""
        ways = {"cpu": {"simulate_link": LINK}, "cuda": {"oversubscribe": "true"}}
        return {"device": self.options.device, **ways[self.options.device], **dict(each.split("=", 1) for each in self.options.set)}

    def calibrate(self):
        """What collectives cost that the base does not have."""
        settings = {"model": self.options.model, "ranks": self.options.ranks, **self.place()}
        self.ask("calibrate", *self.assignments(settings), "--seconds", "10")

    def predict(self, name, changes):
        """In parts of the run's own step time."""
        predicted = self.ask("predict", name, *self.assignments(changes))
        return predicted["step_ms"]["mean"] / predicted["recorded"]["step_ms"]


def step_times(report):
    """In milliseconds, by what they are of a run's steps."""
    return {what: report["summary"]["step_ms"][what] for what in STEP_TIMES}


def least_apart(measured):
    """Of what was measured, by STEP_TIMES, what tells most: the first where no point ran twice."""
    noise = {what: pooled_noise(points) for what, points in measured.items()}
    told = {what: apart for what, apart in noise.items() if apart is not None}
    return measured[min(told, key=told.get) if told else STEP_TIMES[0]]


@contextlib.contextmanager
def library_of(options):
    if options.keep is None:
        with tempfile.TemporaryDirectory() as library:
            yield library
    else:
        options.keep.mkdir(parents=True)
        yield options.keep


def order_of(points, options):
    """Points as they run: between two runs of an origin at most three of what is predicted from it."""
    shuffle, order = random.Random(options.seed), []
    for _ in range(options.repeats):
        blocks = []
        for origin in sorted({origin_of(point, points) for point in points}):
            mixed = [point for point in points if point != origin and origin_of(point, points) == origin]
            shuffle.shuffle(mixed)
            blocks += [(origin, *mixed[at:at + RUNS_BETWEEN_ORIGINS], origin) for at in range(0, len(mixed), RUNS_BETWEEN_ORIGINS)]
        order += itertools.chain.from_iterable(shuffle.sample(blocks, len(blocks)))
    return [point for point, _ in itertools.groupby(order)]


def measure(options, points):
    """By point: what its runs measured and what was predicted of them, both in parts of its origin at that time."""
    order = order_of(points, options)
    measured, predicted = {what: {point: [] for point in points} for what in STEP_TIMES}, {point: [] for point in points}
    with library_of(options) as library:
        desk = Desk(options, library)
        desk.calibrate()
        times = []
        for at, point in enumerate(order):
            times.append(desk.run(str(at), points[point]))
            print(f"{at + 1}/{len(order)} {point}: {times[-1]['mean']:.1f} ms", file=sys.stderr)
        for at, point in enumerate(order):
            origin = origin_of(point, points)
            if point == origin:
                continue
            near = neighbours(order, at, origin)
            new = {key: value for key, value in points[point].items() if points[origin].get(key) != value}
            for what, parts in measured.items():
                parts[point].append(times[at][what] / statistics.mean(times[run][what] for run in near))
            predicted[point].append(statistics.mean(desk.predict(str(run), new) for run in near))
    base = [run["mean"] for run, point in zip(times, order) if point == origin_of(point, points)]
    return least_apart(measured) | {"base": base}, predicted


def neighbours(order, at, origin):
    """The runs of `origin` just before and just after that one."""
    before = next((run for run in range(at, -1, -1) if order[run] == origin), None)
    after = next((run for run in range(at, len(order)) if order[run] == origin), None)
    return [run for run in (before, after) if run is not None]


def pooled_noise(measured):
    """Standard deviation between runs of the same settings, in parts of what they measure, as the median difference of two of them
    tells it, which some disturbed runs do not change; None where none ran twice."""
    differences = [2 * abs(a - b) / (a + b) for times in measured.values() for a, b in itertools.combinations(times, 2)]
    return statistics.median(differences) / (2 ** 0.5 * statistics.NormalDist().inv_cdf(0.75)) if differences else None


def noise_row(noise):
    return {"what": "noise between runs of the same settings", "value": None if noise is None else 100 * noise, "unit": "%"}


def point_row(what, expected, measured, noise):
    """`expected` and `measured`: milliseconds."""
    row = {"what": what, "value": expected, "unit": "ms predicted", "peer": f"measured {measured:.1f} ms", "ratio": expected / measured}
    if noise is None or SURE * noise > MOST_TOLERANCE:
        return row
    tolerance = max(LEAST_TOLERANCE, SURE * noise)
    return row | {"budget": f"within {100 * tolerance:.0f} %", "met": abs(expected / measured - 1) <= tolerance}


def order_row(right, pairs, between):
    """`between`: by how much two medians have to differ, in parts of one; None: nobody knows. Where no pair does, none was in the
    wrong order, either."""
    if between is None:
        return {"what": "pairs that differ beyond noise", "value": None, "unit": "pairs"}
    row = {"what": f"pairs that differ by more than {100 * between:.0f} %", "value": pairs, "unit": "pairs"}
    if pairs == 0:
        return row
    return row | {"peer": f"{right} in the predicted order", "ratio": right / pairs, "budget": "all", "met": right == pairs}


def least_difference(noise, measured):
    """In parts of a median: from where on two points differ beyond noise; None where that is not known. A median's variance is π/2
    of a mean's."""
    return None if noise is None else SURE * noise * (math.pi / min(map(len, measured.values()))) ** 0.5


def rows_of(points, measured, predicted):
    base, runs = statistics.median(measured["base"]), {point: parts for point, parts in measured.items() if point != "base"}
    noise = pooled_noise(runs)
    between = least_difference(noise, runs)
    medians = {"base": base}
    for point in sorted(runs, key=lambda point: origin_of(point, points) != "base"):  # an origin's own before those predicted from it
        medians[point] = medians[origin_of(point, points)] * statistics.median(runs[point])
    expected = {"base": base} | {point: medians[origin_of(point, points)] * statistics.median(predicted[point]) for point in runs}
    rows = [noise_row(noise)]
    rows += [point_row(point, expected[point], medians[point], noise) for point in runs]
    pairs = [(a, b) for a, b in itertools.combinations(medians, 2)
             if between is not None and abs(medians[a] / medians[b] - 1) > between]
    right = sum((expected[a] < expected[b]) == (medians[a] < medians[b]) for a, b in pairs)
    return [*rows, order_row(right, len(pairs), between)]


def bench(options):
    points = points_of(options)
    if len(points) == 1:
        raise RuntimeError(f"no point's name holds {options.only}")
    return rows_of(points, *measure(options, points))


if __name__ == "__main__":
    print_rows(parse_options(), bench)
