"""Every strategy = one rank = PyTorch's own DDP, fully_shard and ZeroRedundancyOptimizer: losses and collectives.

sharding_truth.py RANK_PROGRAM: six steps of fp32 AdamW from the same weights and text, within 1e-5; the type in which DDP
sends its buckets, and the collectives of one step of the others, in order, with their sizes. And the sum of many like
gradients of micro-batches in bf16.
"""
import pathlib
import sys
import tempfile

import ranks as rank_jobs
import truth_jobs

OBSERVED_STEP = 4
COMMON = dict(model="tiny", device="cpu", sequence_length=16, evaluation_fraction=0.1, steps=6,
              learning_rate=0.001, weight_decay=0.1, warmup_steps=2, max_grad_norm=1.0, seed=3,
              threads_per_rank=1, record="steps 0..5")
SAMPLES = 8  # of all ranks together
ACCUMULATION = dict(gradient_accumulation_steps=2)
# PyTorch's fully_shard gathers again in every micro-batch, FSDP's no_sync() keeps what it has; we do the latter.
KEEPS_BETWEEN_MICRO_BATCHES = ("shard_grad_op, accumulation",)

GROUPS = dict(shard_group_size=2, ranks=4)
CASES = {
    "ddp": dict(sharding_strategy="ddp"),
    "ddp, cap 1": dict(sharding_strategy="ddp", bucket_cap_mb=1),
    "ddp, unused parameters": dict(sharding_strategy="ddp", bucket_cap_mb=1, find_unused_parameters=True),
    "ddp, fp16 hook": dict(sharding_strategy="ddp", bucket_cap_mb=1, communication_hook="fp16_compress"),
    "ddp, static graph, bucket views, bf16 hook": dict(
        sharding_strategy="ddp", bucket_cap_mb=1, static_graph=True, gradient_as_bucket_view=True,
        communication_hook="bf16_compress"),
    "zero1": dict(sharding_strategy="zero1"),
    "shard_grad_op": dict(sharding_strategy="shard_grad_op"),
    "full_shard": dict(sharding_strategy="full_shard", ranks=4),  # whose neighbours differ
    "full_shard, accumulation": dict(sharding_strategy="full_shard", **ACCUMULATION),
    "full_shard, reduced each time": dict(sharding_strategy="full_shard", sync_each_batch=True, **ACCUMULATION),
    "shard_grad_op, accumulation": dict(sharding_strategy="shard_grad_op", **ACCUMULATION),
    "hybrid_shard": dict(sharding_strategy="hybrid_shard", **GROUPS),
    "hybrid_shard_zero2": dict(sharding_strategy="hybrid_shard_zero2", **GROUPS),
}
for case in CASES.values():
    case.setdefault("ranks", 2)
    case["batch_per_rank"] = SAMPLES // case["ranks"] // case.get("gradient_accumulation_steps", 1)

# A sum in bf16 has eight places and ends at 256 to 512 like summands.
MICRO_BATCHES = 448
NARROW = dict(sharding_strategy="full_shard", param_dtype="bf16", reduce_dtype="fp32", ranks=1, batch_per_rank=1,
              gradient_accumulation_steps=MICRO_BATCHES, sequence_length=4, steps=1, warmup_steps=0, record="none")


def train(program, folder, name, case, data=None):
    settings = {**COMMON, **case}
    return truth_jobs.train(program, folder, name, settings.pop("ranks"), settings, data)


def losses_of(run, ranks):
    curves = [rank_jobs.losses(run, rank) for rank in range(ranks)]
    assert all(curve == curves[0] for curve in curves), f"{run.name}: ranks recorded different losses"
    return curves[0]


def check_wire_type(run, hook):
    """A hook that is never called would not change the loss visibly; what is sent tells."""
    expected = {None: "float32", "fp16_compress": "float16", "bf16_compress": "bfloat16"}[hook]
    sent = {t for (t,) in rank_jobs.query(run, 0, "select distinct data_type from collective where tag_kind = 'bucket'")}
    assert sent == {expected}, f"{run.name}: buckets were sent as {sent}"


def collectives_of(run):
    names = {"all_gather": "all_gather_into_tensor", "reduce_scatter": "reduce_scatter_tensor"}
    rows = rank_jobs.query(run, 0, "select function, bytes, tag, data_type from collective where step = "
                           f"{OBSERVED_STEP} and tag not in ('loss', 'gradient norm') and tag_kind != 'bucket' "
                           "order by enqueued_ns")
    assert all(data_type == "float32" for *_, data_type in rows)
    return [[names.get(function, function), size] for function, size, *_ in rows]


def same_losses(name, ours, theirs):
    return truth_jobs.same_losses(name, ours, theirs, COMMON["steps"])


def same_collectives(name, ours, theirs):
    if name in KEEPS_BETWEEN_MICRO_BATCHES:
        saved = sum(size for _, size in theirs) - sum(size for _, size in ours)
        print(f"{name:45s} {len(ours)} collectives, {len(theirs)} of PyTorch; {saved} bytes fewer")
        remaining = iter(theirs)
        return saved > 0 and all(call in remaining for call in ours)
    if name == "zero1":
        # The same bytes from each owner, but cut into parts of bucket_cap_mb that overlap with the update.
        sums = [sum(size for _, size in calls) for calls in (ours, theirs)]
        print(f"{name:45s} {sums[0]} bytes broadcast, PyTorch {sums[1]}")
        return sums[0] == sums[1] and {f for f, _ in ours} == {"broadcast"}
    # The sum over replicas starts as soon as its reduce-scatter has ended, on a communicator of its own, where PyTorch's
    # host asks for it at once: each communicator has the same sequence.
    ours, theirs = [sorted(calls, key=lambda call: call[0] == "all_reduce") for calls in (ours, theirs)]
    print(f"{name:45s} {len(ours)} collectives, as PyTorch: {ours == theirs}")
    if ours != theirs:
        print("  ours  ", ours, "\n  theirs", theirs)
    return ours == theirs


def same_sums(program, folder, text, expected):
    run = train(program, folder, "narrow", NARROW, text)
    ours, theirs = rank_jobs.query(run, 0, "select gradient_norm from step")[0][0], expected["norms"][0]
    print(f"{MICRO_BATCHES} gradients in bf16{'':24s} norm {ours:.4f}, PyTorch {theirs:.4f}", flush=True)
    return abs(ours - theirs) < 0.02 * theirs


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rank_jobs.write_text(folder / "text.txt")
        alike = folder / "alike.txt"  # all of its blocks are the same, so that all micro-batches are
        alike.write_text("abcd" * 5000)
        expected = truth_jobs.reference("sharding_reference.py", program, folder, COMMON, observed_step=OBSERVED_STEP,
                                        cases={**CASES, "narrow": {**NARROW, "text": str(alike)}})
        single = losses_of(train(program, folder, "single", dict(ranks=1, batch_per_rank=SAMPLES)), 1)
        assert single[-1] < single[0] - 0.5, f"nothing was learnt: {single}"
        good = []
        for name, case in CASES.items():
            run = train(program, folder, name, case)
            losses = losses_of(run, case["ranks"])
            good.append(same_losses(name + ", PyTorch", losses, expected[name]["losses"]))
            if "communication_hook" not in case:
                good.append(same_losses(name + ", 1 rank", losses, single))
            if case["sharding_strategy"] == "ddp":
                check_wire_type(run, case.get("communication_hook"))
            else:
                good.append(same_collectives(name, collectives_of(run), expected[name]["collectives"]))
        good.append(same_sums(program, folder, alike, expected["narrow"]))
    sys.exit(0 if all(good) else 1)


main()
