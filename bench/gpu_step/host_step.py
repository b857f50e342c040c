"""The host's time of a step beside PyTorch's: what a step takes where the GPU needs no time at all.

A GPU waits for its host in models whose kernels are short. Ranks of both sides run on a GPU that computes nothing, in
no time (tests/fake_gpu), so this can be measured anywhere. What the driver needs for a launch is not in it, nor what
CUPTI does, only what the stand-ins for both need, on both sides: compare the sides, do not add these times up. Runs
alternate; a run's figure is the median over its measured steps, from the start of one to the start of the next.
"""
import os
import pathlib
import tempfile

import gpu_bench  # also finds the modules below
from gpu_bench import job_settings
from strategies import say, time_row, write_text
from trainings import Task, train_ours, train_peer

# PyTorch's name of each strategy.
PEERS = {
    "ddp": "DistributedDataParallel",
    "zero1": "ZeroRedundancyOptimizer",
    "full_shard": "fully_shard",
}


def parse_options():
    parser = gpu_bench.option_parser("host_step", __doc__, steps=40)
    parser.add_argument("--model", default="gpt-162m", help="a preset of GPT-2's layout; default gpt-162m")
    parser.add_argument("--ranks", type=int, default=1, help="each wants two cores of its own; default 1")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each side; default 3")
    options = parser.parse_args()
    if options.steps <= options.skip or options.repeats < 1:
        parser.error("--steps has to be above --skip and --repeats above 0")
    return options


def stand_in_for_a_gpu(options):
    """From here on processes find as many GPUs that compute nothing as there are ranks."""
    folder = options.programs / "fake_gpu"
    library = folder / "libcupti.so.13"
    if not library.exists():
        raise RuntimeError(f"{library} is not built: build the target fake_gpu")
    os.environ.update(LD_PRELOAD=str(library), LD_LIBRARY_PATH=str(folder), FAKE_GPU_COUNT=str(options.ranks),
                      FAKE_GPU_INSTANT="1")


def measure_strategy(task, options, name):
    """Ours beside PyTorch's, neither recorded; and ours recorded beside ours not recorded, which has no budget: the
    recorder's threads share this machine's cores with the ranks'."""
    case = {"sharding_strategy": name}
    plain, recorded, theirs = [], [], []
    for repeat in range(options.repeats):
        say(f"{name}: run {repeat + 1} of {options.repeats}")
        for times, record in ((plain, "none"), (recorded, "every step")):
            folder = f"{repeat}-{name}-{record.replace(' ', '-')}"
            times.append(train_ours(task, {**case, "record": record}, options.ranks, False, folder).step_ms)
        theirs.append(train_peer(task, case, options.ranks, False, f"{repeat}-{name}-peer").step_ms)
    return [time_row(f"{name}, host", PEERS[name], plain, theirs, True),
            time_row(f"{name}, host, every step recorded", "the same, not recorded", recorded, plain, False)]


def measure(options):
    stand_in_for_a_gpu(options)
    with tempfile.TemporaryDirectory(prefix="shardlens-bench-") as name:
        folder = pathlib.Path(name)
        # An epoch is longer than a run.
        write_text(folder / "text.txt", 4 * options.ranks * options.batch * options.length * (options.steps + 1))
        task = Task(options.programs, folder, "cuda", options.ranks, job_settings(options, options.model), options.skip)
        return [row for name in PEERS for row in measure_strategy(task, options, name)]


if __name__ == "__main__":
    gpu_bench.print_rows(parse_options(), measure)
