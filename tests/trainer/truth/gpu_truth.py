"""The trainer on a GPU: losses as on the CPU, whatever the strategy, and failures that are told.

gpu_truth.py RANK_PROGRAM CASE. Ranks beyond the number of GPUs share one. Leaves with 77 where there is no GPU.
"""
import ctypes
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import ranks
import truth_jobs

SKIPPED = 77
# Sums in another order and other kernels, over 12 steps of AdamW: far above that, far below any mistake.
TOLERANCE = 2e-4
SAMPLES = 8  # of all ranks together
COMMON = dict(model="tiny", sequence_length=32, evaluation_fraction=0.1, steps=12, learning_rate=0.001,
              weight_decay=0.1, warmup_steps=2, max_grad_norm=1.0, seed=3, threads_per_rank=1)
ON_GPU = dict(device="cuda", oversubscribe=True)


def has_gpu():
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


def losses(program, folder, name, count, **settings):
    job = {**COMMON, "batch_per_rank": SAMPLES // count, **settings}
    return ranks.losses(truth_jobs.train(program, folder, name, count, job), 0)


def same(name, ours, theirs, tolerance=TOLERANCE):
    worst = max(abs(a - b) / abs(b) for a, b in zip(ours, theirs, strict=True))
    print(f"{name:50s} loss {ours[0]:.4f} → {ours[-1]:.4f}, worst relative difference {worst:.1e}", flush=True)
    assert worst < tolerance, f"{name}: differs by {worst}"


def strategy_cases(count):
    cases = {
        "ddp": {},
        "ddp, small buckets as views": dict(bucket_cap_mb=1, gradient_as_bucket_view=True),
        "ddp, static graph": dict(static_graph=True),
        "ddp, loss by chunks": dict(loss_chunk_tokens=48),
        "ddp, recomputed": dict(activation_checkpointing=1),
        "zero1": dict(sharding_strategy="zero1"),
        "no_shard": dict(sharding_strategy="no_shard"),
        "shard_grad_op": dict(sharding_strategy="shard_grad_op"),
        "full_shard": dict(sharding_strategy="full_shard"),
        "full_shard, loss by chunks": dict(sharding_strategy="full_shard", loss_chunk_tokens=48),
        "full_shard, no prefetch": dict(sharding_strategy="full_shard", backward_prefetch="none"),
        "full_shard, forward prefetch": dict(sharding_strategy="full_shard", forward_prefetch=True),
        "full_shard, own gathers": dict(sharding_strategy="full_shard", separate_communicators=True),
        "full_shard, normal priority": dict(sharding_strategy="full_shard", comm_stream_priority="normal"),
        "full_shard, recomputed": dict(sharding_strategy="full_shard", activation_checkpointing=1),
        "full_shard, offloaded": dict(sharding_strategy="full_shard", cpu_offload=True),
    }
    if count == 4:
        cases["hybrid_shard"] = dict(sharding_strategy="hybrid_shard", shard_group_size=2)
        cases["hybrid_shard_zero2"] = dict(sharding_strategy="hybrid_shard_zero2", shard_group_size=2)
    return cases


def strategies(program, folder, count):
    expected = losses(program, folder, "cpu", 1, device="cpu")
    for name, settings in strategy_cases(count).items():
        same(f"{name}, {count} ranks", losses(program, folder, name, count, **ON_GPU, **settings), expected)


def one_rank(program, folder):
    strategies(program, folder, 1)


def two_ranks(program, folder):
    strategies(program, folder, 2)


def four_ranks(program, folder):
    strategies(program, folder, 4)


def sixteen_bits(program, folder):
    """bf16 and fp16 learn as fp32 does, and the loss by chunks is the same loss."""
    full = losses(program, folder, "fp32", 1, **ON_GPU)
    for precision in ("bf16", "fp16"):
        plain = losses(program, folder, precision, 1, **ON_GPU, precision=precision, loss_chunk_tokens=0)
        chunked = losses(program, folder, precision + " chunks", 1, **ON_GPU, precision=precision, loss_chunk_tokens=48)
        same(f"{precision} and fp32", plain, full, 0.03)
        same(f"{precision}, loss by chunks", chunked, plain, 0.01)


def overflow(program, folder):
    """A loss scale that is too large is halved, by steps that change nothing, until it fits."""
    settings = {**COMMON, **ON_GPU, "batch_per_rank": SAMPLES, "precision": "fp16", "initial_loss_scale": 2.0**32,
                "steps": 40}
    run = truth_jobs.train(program, folder, "overflow", 1, settings)
    curve = ranks.losses(run, 0)
    assert all(math.isfinite(loss) for loss in curve), curve
    skipped = ranks.query(run, 0, "select count(*) from log where text like '%the step was skipped%'")[0][0]
    assert skipped > 3, skipped
    norms = ranks.query(run, 0, "select count(*) from step where gradient_norm is null")[0][0]
    assert norms == skipped, (norms, skipped)
    assert curve[-1] < curve[0] - 0.3, curve


def seldom_read(program, folder):
    """What is read less often does not change, and between readings nothing is known."""
    every = losses(program, folder, "every", 2, **ON_GPU)
    run = truth_jobs.train(program, folder, "seldom", 2, {**COMMON, **ON_GPU, "batch_per_rank": SAMPLES // 2,
                                                          "loss_every": 5})
    rows = ranks.query(run, 0, "select step, loss from step order by step")
    known = [(step, loss) for step, loss in rows if loss is not None]
    assert [step for step, _ in known] == [0, 5, 10, 11], rows
    same("loss_every 5", [loss for _, loss in known], [every[step] for step, _ in known])


def recorded(program, folder):
    """Nothing is lost; every kernel of NCCL belongs to a collective of ours, and the other way round."""
    if not pathlib.Path(program).with_name("shardlens").exists():
        print("no shardlens beside the rank, which is asked what was recorded: skipped")
        sys.exit(SKIPPED)
    run = pathlib.Path(truth_jobs.train(program, folder, "recorded", 2, {**COMMON, **ON_GPU, "batch_per_rank": SAMPLES // 2,
                                                                        "record": "every step"}))
    assert value(program, run, "select count(*) from lost") == 0, "records were lost"
    for rank in (0, 1):
        collectives = value(program, run, f"select count(*) from collective where rank = {rank}")
        told = value(program, run, f"select count(*) from collective where rank = {rank} and algorithm <> ''")
        kernels = value(program, run, f"select count(*) from kernel where rank = {rank} and name like 'nccl%'")
        apart = value(program, run, "select count(*) from collective c left join kernel k on k.rank = c.rank and "
                                    f"k.start_ns = c.start_ns where c.rank = {rank} and k.name is null")
        print(f"rank {rank}: {collectives} collectives, {told} told by NCCL, {kernels} kernels, {apart} apart", flush=True)
        assert collectives > 0 and collectives == told == kernels and apart == 0


def value(program, run, sql):
    """The only value of a query over all ranks, which the program beside the rank's answers."""
    done = subprocess.run([pathlib.Path(program).with_name("shardlens"), "query", run.name, sql, "--runs-dir", run.parent, "--json"],
                          check=True, text=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)["rows"][0][0]


def out_of_memory(program, folder):
    job = start(program, folder, inject='"rank=1,step=1,phase=backward,oom"')
    codes = job.wait(90)
    assert codes[1] == 1 and codes[0] != 0, codes
    assert job.last_lines()[1].startswith("error: step 1, backward: out of memory"), job.last_lines()


def killed(program, folder):
    job = start(program, folder, steps=100000)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not recorded_steps(job):
        time.sleep(0.2)
    assert recorded_steps(job), job.log(0)
    os.kill(job.processes[1].pid, signal.SIGKILL)
    began = time.monotonic()
    codes = job.wait(90)
    assert codes[1] == -signal.SIGKILL and codes[0] != 0, codes
    print(f"rank 0 left {time.monotonic() - began:.1f} s after rank 1 was killed: {job.last_lines()[0]}", flush=True)


def sanitized(program, folder):
    """Trained under NVIDIA's memory checker, which sees what kernels and copies touch; it is CUPTI's only subscriber then.

    Calls that CUDA refuses are not its matter: PyTorch and NCCL try what a driver can do, and take another way.
    """
    if shutil.which("compute-sanitizer") is None:
        print("no compute-sanitizer: skipped")
        sys.exit(SKIPPED)
    checked = folder / "checked"
    checked.write_text("#!/bin/sh\n"
                       "exec compute-sanitizer --tool memcheck --report-api-errors no --error-exitcode 86 --target-processes all "
                       f'{program} "$@"\n')
    checked.chmod(0o755)
    settings = {**COMMON, **ON_GPU, "batch_per_rank": 2, "steps": 3, "evaluation_fraction": 0, "record": "every step",
                "data": folder / "text.txt"}
    job = ranks.Job(checked, folder / "job", ranks.write_settings(folder / "job.yaml", **settings), 1)
    codes = job.wait(500)
    assert codes == [0], job.log(0)
    assert "ERROR SUMMARY: 0 errors" in job.log(0), job.log(0)
    assert recorded_steps(job) == 3


def start(program, folder, **settings):
    ranks.write_text(folder / "text.txt")
    job = {**COMMON, **ON_GPU, "batch_per_rank": 2, "collective_timeout_s": 30, **settings}
    file = ranks.write_settings(folder / "job.yaml", **job, data=folder / "text.txt")
    return ranks.Job(program, folder / "job", file, 2)


def recorded_steps(job):
    try:
        return ranks.query(job.run, 0, "select count(*) from step")[0][0]
    except Exception:  # the file is not there yet
        return 0


CASES = (one_rank, two_ranks, four_ranks, sixteen_bits, overflow, seldom_read, recorded, out_of_memory,
         killed, sanitized)


def main():
    program, name = sys.argv[1:]
    case = {each.__name__: each for each in CASES}[name]
    if not has_gpu():
        print("no GPU: skipped")
        sys.exit(SKIPPED)
    # Several ranks on one GPU are refused by NCCL unless they seem to be on different hosts; ranks see to that.
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        ranks.write_text(folder / "text.txt")
        case(program, folder)


if __name__ == "__main__":
    main()
