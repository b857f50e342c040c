"""What is predicted from imported traces of PyTorch's own DDP and fully_shard, held against traces of what was predicted.

Two ranks over Gloo train the same model with other buckets, hooks, micro-batches, or shards, in random order, again and again in
processes of their own. Each trace is imported and each other job of its family predicted from it: the median over all repeats of
what is predicted, in parts of the step that it is predicted from, is held against what was measured, as in `bench predict`. A
pair is met within 5 %, or within twice the noise between runs of the same job where that is more.
"""
import itertools
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

from predict import (STEP_TIMES, Program, least_apart, least_difference, noise_row, option_parser, order_row, point_row, pooled_noise,
                     print_rows, step_times)

HERE = pathlib.Path(__file__).parent
SUPPORT = HERE.parents[1] / "tests" / "e2e" / "support"  # with traced_job

MICRO_BATCHES = {"gradient_accumulation_steps": "1", "sync_each_batch": "false"}
BUCKETS = {"communication_hook": "none", **MICRO_BATCHES}
UNITS = {"sharding_strategy": "full_shard", "forward_prefetch": "false", **MICRO_BATCHES}
TWO = {"gradient_accumulation_steps": "2"}
EACH = {**TWO, "sync_each_batch": "true"}


def with_cap(cap):
    return {**BUCKETS, "bucket_cap_mb": str(cap), "first_bucket_mb": str(cap)}


# What each of torch_jobs.py is in our words. Within a family each is predicted from each.
FAMILIES = {
    "buckets": {**{f"cap {cap}": with_cap(cap) for cap in (0.25, 1, 4, 25)},
                "cap 1, bf16": {**with_cap(1), "communication_hook": "bf16_compress"},
                "cap 1, 2 micro-batches": {**with_cap(1), **TWO},
                "cap 1, 2 micro-batches, each": {**with_cap(1), **EACH}},
    "units": {"full_shard": UNITS,
              "shard_grad_op": {**UNITS, "sharding_strategy": "shard_grad_op"},
              "full_shard, forward prefetch": {**UNITS, "forward_prefetch": "true"},
              "full_shard, 2 micro-batches": {**UNITS, **TWO},
              "full_shard, 2 micro-batches, each": {**UNITS, **EACH}},
}
RANKS = 2


def parse_options():
    parser = option_parser("imported", __doc__)
    parser.add_argument("--repeats", type=int, default=4, help="runs of each job; default 4")
    parser.add_argument("--family", choices=FAMILIES, help="default: both")
    parser.add_argument("--keep", type=pathlib.Path, help="a new folder for the library of all runs; default: they go")
    parser.add_argument("--seed", type=int, default=1, help="of the order; default 1")
    return parser.parse_args()


class Desk(Program):
    """Traces, their imports and what is predicted from these."""

    def trace(self, jobs):
        """One run of each job; a temporary folder of JOB.rankR.json."""
        folder = tempfile.TemporaryDirectory()
        environment = os.environ | {"PYTHONPATH": str(SUPPORT), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([sys.executable, str(HERE / "torch_jobs.py"), folder.name, *jobs], env=environment,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise RuntimeError(f"PyTorch's programs ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
        return folder

    def predict(self, run, settings):
        """In parts of the run's own step time; None where it is refused."""
        answer = self.ask("predict", run, *self.assignments(settings), may_fail=True)
        return None if answer["refused"] else answer["step_ms"]["mean"] / answer["recorded"]["step_ms"]


def measure(options, families, library):
    """By job: measured step times, in milliseconds, and by pair of jobs what is predicted of the second, in parts of the first."""
    desk, order = Desk(options, library), random.Random(options.seed)
    jobs = [job for family in families.values() for job in family]
    measured = {what: {job: [] for job in jobs} for what in STEP_TIMES}
    for repeat in range(options.repeats):
        with desk.trace(order.sample(jobs, len(jobs))) as folder:
            for job in jobs:
                files = [f"{folder}/{job}.rank{rank}.json" for rank in range(RANKS)]
                desk.ask("import", *files, "-o", f"{job} {repeat}")
                for what, ms in step_times(desk.ask("report", f"{job} {repeat}")).items():
                    measured[what][job].append(ms)
                print(f"{job}: {measured['mean'][job][-1]:.1f} ms", file=sys.stderr)
    predicted = {}
    for family in families.values():
        for origin, target in itertools.permutations(family, 2):
            predicted[origin, target] = [desk.predict(f"{origin} {repeat}", family[target]) for repeat in range(options.repeats)]
    return least_apart(measured), predicted


def rows_of(measured, predicted):
    noise = pooled_noise(measured)
    medians = {job: statistics.median(times) for job, times in measured.items()}
    rows = [noise_row(noise)]
    right = pairs = 0
    between = least_difference(noise, measured)
    for (origin, target), parts in predicted.items():
        what = f"{origin} → {target}"
        told = [part for part in parts if part is not None]
        if not told:
            rows.append({"what": what, "value": None, "unit": "refused", "peer": f"measured {medians[target]:.1f} ms"})
            continue
        expected = medians[origin] * statistics.median(told)
        rows.append(point_row(what, expected, medians[target], noise))
        if between is not None and abs(medians[origin] / medians[target] - 1) > between:
            pairs += 1
            right += (expected < medians[origin]) == (medians[target] < medians[origin])
    return [*rows, order_row(right, pairs, between)]


def bench(options):
    families = {name: jobs for name, jobs in FAMILIES.items() if options.family in (None, name)}
    with tempfile.TemporaryDirectory() as temporary:
        library = options.keep or pathlib.Path(temporary)
        library.mkdir(parents=True, exist_ok=True)
        return rows_of(*measure(options, families, library))


if __name__ == "__main__":
    print_rows(parse_options(), bench)
