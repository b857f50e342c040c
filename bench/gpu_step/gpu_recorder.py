"""What full recording costs a training, beside PyTorch's own profiler on the same model.

Runs with everything recorded and runs without (`record: none`, where CUPTI and the observer of operators are not even
started) alternate: what CUPTI costs is paid in a process for as long as it lives, whatever becomes of its records.
PyTorch's profiler can be switched, so its blocks of steps alternate within one process. Reported is the median over the
steps of all runs, and the 95 % confidence interval of the ratio of both medians by bootstrap over steps (Efron 1979;
2,000 resamples, fixed seed). Besides: bytes on disk per recorded GPU kernel, or operator on a CPU, and the memory that
a rank holds beyond one that records nothing.
Without a GPU it says so and leaves with 0, unless --device cpu asks for the CPU.
"""
import pathlib
import random
import sqlite3
import statistics
import tempfile

import gpu_bench  # also finds the modules below
from gpu_bench import SEED, gpus_of, job_settings
from strategies import say, write_text
from trainings import Task, train_ours, train_peer

RESAMPLES = 2000
BUDGET = 1.01  # of a step's time
MEMORY_BUDGET_MIB = 64


def parse_options():
    parser = gpu_bench.option_parser("gpu_recorder", __doc__, steps=60)
    gpu_bench.add_device(parser)
    parser.add_argument("--models", default="gpt-162m,gpt-1.4b", help="presets, separated by commas")
    parser.add_argument("--runs", type=int, default=4, help="of each kind; default 4")
    options = parser.parse_args()
    if options.steps < options.skip + 10 or options.runs < 1:
        parser.error("--steps has to be at least 10 above --skip, and --runs at least 1")
    return options


BLOCK = 10  # steps for which PyTorch's profiler stays on or off


def steps_ms(spans_ns, skip):
    return [(end - begin) / 1e6 for begin, end in spans_ns[skip:]]


def split_steps(spans_ns):
    """Step times in ms, without and with the profiler. The first step of a block warms up, the first two blocks do."""
    plain, recorded = [], []
    for index, (begin, end) in enumerate(spans_ns):
        if index >= 2 * BLOCK and index % BLOCK != 0:
            (recorded if index // BLOCK % 2 == 1 else plain).append((end - begin) / 1e6)
    return plain, recorded


def ratio_with_interval(plain, recorded):
    chooser = random.Random(SEED)
    ratios = sorted(statistics.median(chooser.choices(recorded, k=len(recorded)))
                    / statistics.median(chooser.choices(plain, k=len(plain))) for _ in range(RESAMPLES))
    return (statistics.median(recorded) / statistics.median(plain), ratios[int(0.025 * RESAMPLES)],
            ratios[int(0.975 * RESAMPLES)])


def row_of(what, plain, recorded, budget=None):
    ratio, low, high = ratio_with_interval(plain, recorded)
    return {"what": f"{what}: step time while recording, {len(recorded)} steps; ratio within {low:.4f} to {high:.4f}",
            "value": statistics.median(recorded), "unit": "ms",
            "peer": f"the same without recording: {statistics.median(plain):.4g} ms, {len(plain)} steps",
            "ratio": ratio, "budget": f"<= {budget}" if budget else None, "met": ratio <= budget if budget else None}


def file_figures(folder):
    file = folder / "run" / "rank_0.sqlite"
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
        kinds = {kind: (count, data) for kind, count, data in
                 database.execute("select kind, sum(count), sum(length(data)) from chunk group by kind")}
    events = kinds.get("kernel", kinds.get("op", (0, 0)))[0]
    # A kernel's own row and its launch's, without operators' (with them 34 B on an H200); on a CPU the operator's.
    data = sum(kinds[kind][1] for kind in (("kernel", "launch") if "kernel" in kinds else ("op",)) if kind in kinds)
    return events, data, file.stat().st_size


def measure_ours(task, options, model):
    """Step times without and with recording, and what the processes had resident at most."""
    plain, recorded, resident = [], [], {}
    for run in range(options.runs):
        for record, times in (("none", plain), ("every step", recorded)):
            say(f"{model}: record {record}, run {run + 1} of {options.runs}")
            name = f"{record.replace(' ', '-')}-{run}"
            training = train_ours(task, {"sharding_strategy": "ddp", "record": record}, 1, False, name)
            times += steps_ms(training.spans_ns, options.skip)
            resident.setdefault(record, []).append(training.resident_bytes / (1 << 20))
    return plain, recorded, [statistics.median(resident[record]) for record in ("none", "every step")]


def measure_model(options, model, folder):
    settings = job_settings(options, model)
    folder.mkdir()
    write_text(folder / "text.txt", 4 * options.batch * options.length * (12 * BLOCK + options.steps + 1))
    gpus = gpus_of(options)
    task = Task(options.programs, folder, options.device, gpus, settings, 0)
    plain, recorded, (quiet_mib, loud_mib) = measure_ours(task, options, model)
    rows = [row_of(f"{model}, Shardlens", plain, recorded, BUDGET if gpus else None)]
    events, data, size = file_figures(folder / "every-step-0")
    kind = "kernel" if gpus else "operator"
    rows.append({"what": f"{model}: bytes on disk per {kind}, {events} of them, file of {size} bytes",
                 "value": data / max(events, 1), "unit": "B", "peer": None, "ratio": None, "budget": "<= 12 B",
                 "met": 0 < data <= 12 * events})
    rows.append({"what": f"{model}: memory of the process beyond one that records nothing",
                 "value": loud_mib - quiet_mib, "unit": "MiB", "peer": f"{quiet_mib:.0f} MiB", "ratio": None,
                 "budget": f"<= {MEMORY_BUDGET_MIB} MiB", "met": loud_mib - quiet_mib <= MEMORY_BUDGET_MIB})
    say(f"{model}: PyTorch with its profiler, in turns")
    settings["steps"] = 12 * BLOCK
    case = {"sharding_strategy": "ddp", "replicates": False, "profiles": BLOCK}
    theirs = train_peer(task, case, 1, False, "profiler")
    rows.append(row_of(f"{model}, torch.profiler", *split_steps(theirs.spans_ns)))
    return rows


def measure(options):
    rows = []
    with tempfile.TemporaryDirectory(prefix="shardlens-bench-") as name:
        for model in options.models.split(","):
            rows += measure_model(options, model, pathlib.Path(name) / model)
    return rows


if __name__ == "__main__":
    gpu_bench.run(parse_options(), measure, "--device cpu --models tiny --batch 2 --length 64")
