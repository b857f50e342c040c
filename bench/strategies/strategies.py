"""Step time and peak memory of each strategy beside PyTorch's own: same model, weights, batches, threads, cores.

Time: our runs and PyTorch's alternate; a run's step time is the median over its measured steps, from the start of one
to the start of the next; reported is the median over runs, with the lowest and the highest. Ours record no detail then.
Memory: the most bytes that tensors held at one moment of a measured step on any rank, in runs of their own. On a CPU
both sides are counted by the same allocator, on a GPU by CUDA's caching allocator (allocated, not reserved). What Gloo,
NCCL and Python hold besides is in neither.
"""
import pathlib
import random
import statistics
import sys
import tempfile

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from benchmark import option_parser, print_rows
from trainings import Task, train_ours, train_peer

SEED = 3
SKIP_STEPS = 5
LOSS_TOLERANCE = 1e-3  # of what should be the same work
# In 16 bits that is so of the first steps; what is rounded otherwise grows while the loss falls (to 3 % on an H200).
FIRST_STEPS, LATER_TOLERANCE = 3, 0.1
# Our strategy, PyTorch's, and in how many groups of how many ranks.
CASES = {
    "ddp": ("DistributedDataParallel", {}),
    "zero1": ("ZeroRedundancyOptimizer", {}),
    "no_shard": ("DistributedDataParallel", {}),
    "shard_grad_op": ("fully_shard, kept after forward", {}),
    "full_shard": ("fully_shard", {}),
    "hybrid_shard": ("fully_shard on a mesh", {"shard_group_size": 2}),
    "hybrid_shard_zero2": ("fully_shard on a mesh, kept", {"shard_group_size": 2}),
}


def parse_options():
    parser = option_parser("strategies", __doc__)
    parser.add_argument("--strategies", default=",".join(CASES), help="separated by commas; default all")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--model", default="tiny", help="a preset of GPT-2's layout; default tiny")
    parser.add_argument("--ranks", type=int, default=2, help="hybrid strategies take twice as many; default 2")
    parser.add_argument("--threads", type=int, default=1, help="of each rank; default 1")
    parser.add_argument("--batch", type=int, default=8, help="sequences per rank; default 8")
    parser.add_argument("--length", type=int, default=128, help="tokens per sequence; default 128")
    parser.add_argument("--steps", type=int, default=30, help=f"of each run, the first {SKIP_STEPS} not measured")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each side; default 5")
    options = parser.parse_args()
    options.strategies = options.strategies.split(",")
    unknown = [name for name in options.strategies if name not in CASES]
    if unknown:
        parser.error(f"no strategy {', '.join(unknown)}; there are {', '.join(CASES)}")
    if options.steps <= SKIP_STEPS or options.repeats < 1:
        parser.error(f"--steps has to be above {SKIP_STEPS} and --repeats above 0")
    if options.device == "auto":
        options.device = "cuda" if torch.cuda.is_available() else "cpu"
    return options


def say(text):
    print(text, file=sys.stderr, flush=True)


def write_text(path, tokens):
    chooser = random.Random(SEED)
    words = ["bucket", "shard", "rank", "reduce", "gather", "step", "loss", "the", "of", "and"]
    path.write_text(" ".join(chooser.choice(words) for _ in range(tokens // 4)))


def check_same_work(name, ours, theirs, precision="fp32"):
    differences = [abs(a - b) / abs(b) for a, b in zip(ours.losses, theirs.losses, strict=True)]
    first = len(differences) if precision == "fp32" else FIRST_STEPS
    for part, tolerance in ((differences[:first], LOSS_TOLERANCE), (differences[first:], LATER_TOLERANCE)):
        worst = next((each for each in part if not each < tolerance), None)  # NaN is less than nothing
        if worst is not None:
            raise RuntimeError(f"{name}: losses differ from PyTorch's by {worst:.1e} in step {differences.index(worst)}: "
                               "this is not the same work")
    say(f"{name}: loss {ours.losses[0]:.4f} to {ours.losses[-1]:.4f}, from PyTorch's by at most {max(differences):.1e}")


def spread(values):
    return f"{min(values):.3g} to {max(values):.3g}"


def time_row(name, peer, ours, theirs, counts):
    """`counts`: whether these times mean something."""
    ratio = statistics.median(ours) / statistics.median(theirs)
    runs = f"median of {len(ours)} runs ({spread(ours)})" if len(ours) > 1 else "1 run"
    return {"what": f"{name}: step time, {runs}", "value": statistics.median(ours), "unit": "ms",
            "peer": f"{peer}: {statistics.median(theirs):.4g} ms ({spread(theirs)})", "ratio": ratio,
            "budget": "<= 1.0" if counts else None, "met": ratio <= 1.0 if counts else None}


def memory_row(name, peer, ours, theirs):
    mib = 1 << 20
    ratio = round(ours / theirs, 6)  # counted to the byte: some values more are as much
    return {"what": f"{name}: peak of tensors", "value": ours / mib, "unit": "MiB",
            "peer": f"{peer}: {theirs / mib:.4g} MiB", "ratio": ratio, "budget": "<= 1.0", "met": ratio <= 1.0}


def measure_strategy(task, options, name):
    peer, extra = CASES[name]
    ranks = options.ranks * extra.get("shard_group_size", 1)
    case = {"sharding_strategy": name, **extra}
    ours, theirs = [], []
    for repeat in range(options.repeats):
        say(f"{name}: run {repeat + 1} of {options.repeats}")
        ours.append(train_ours(task, case, ranks, False, f"{name}-{repeat}-ours"))
        theirs.append(train_peer(task, case, ranks, False, f"{name}-{repeat}-peer"))
        check_same_work(name, ours[-1], theirs[-1])
    say(f"{name}: memory")
    our_peak = train_ours(task, case, ranks, True, f"{name}-memory-ours").peak_bytes
    peer_peak = train_peer(task, case, ranks, True, f"{name}-memory-peer").peak_bytes
    label = f"{name}, {ranks} ranks"
    counts = options.device == "cpu" or ranks <= task.gpus
    if not counts:
        label += f" on {task.gpus} GPU (its time means nothing)"
    return [time_row(label, peer, [t.step_ms for t in ours], [t.step_ms for t in theirs], counts),
            memory_row(label, peer, our_peak, peer_peak)]


def measure(options):
    settings = dict(model=options.model, batch_per_rank=options.batch, sequence_length=options.length,
                    steps=options.steps, threads_per_rank=options.threads, seed=SEED, evaluation_fraction=0,
                    learning_rate=0.001, lr_schedule="constant", weight_decay=0.01, max_grad_norm=1.0)
    with tempfile.TemporaryDirectory(prefix="shardlens-bench-") as name:
        folder = pathlib.Path(name)
        # An epoch is longer than a run.
        write_text(folder / "text.txt", 4 * options.ranks * options.batch * options.length * (options.steps + 1))
        gpus = torch.cuda.device_count() if options.device == "cuda" else 0
        task = Task(options.programs, folder, options.device, gpus, settings, SKIP_STEPS)
        return [row for strategy in options.strategies for row in measure_strategy(task, options, strategy)]


if __name__ == "__main__":
    print_rows(parse_options(), measure)
