"""Loss of 1 rank = loss of 2 ranks with half the batch each = loss of PyTorch's DistributedDataParallel.

ddp_truth.py RANK_PROGRAM: six steps of fp32 AdamW from the same weights and text, within 1e-5.
"""
import pathlib
import sys
import tempfile

import ranks
import truth_jobs

COMMON = dict(model="tiny", device="cpu", sequence_length=16, evaluation_fraction=0.1, steps=6,
              learning_rate=0.001, weight_decay=0.1, warmup_steps=2, max_grad_norm=1.0, seed=3,
              threads_per_rank=1, record="steps 0..1")
CASES = {
    "plain": dict(batch_per_rank=4),
    "cap 1": dict(batch_per_rank=4, bucket_cap_mb=1),
    "unused parameters": dict(batch_per_rank=4, bucket_cap_mb=1, find_unused_parameters=True),
    "fp16 hook": dict(batch_per_rank=4, bucket_cap_mb=1, communication_hook="fp16_compress"),
    "static graph, bucket views, bf16 hook": dict(
        batch_per_rank=4, bucket_cap_mb=1, static_graph=True, gradient_as_bucket_view=True,
        communication_hook="bf16_compress"),
}


def train(program, folder, name, count, settings):
    run = truth_jobs.train(program, folder, name, count, {**COMMON, **settings})
    curves = [ranks.losses(run, rank) for rank in range(count)]
    assert all(curve == curves[0] for curve in curves), f"{name}: ranks recorded different losses"
    check_wire_type(run, name, settings.get("communication_hook"))
    return curves[0]


def check_wire_type(run, name, hook):
    """A hook that is never called would not change the loss visibly; what is sent tells."""
    expected = {None: "float32", "fp16_compress": "float16", "bf16_compress": "bfloat16"}[hook]
    sent = {t for (t,) in ranks.query(run, 0, "select distinct data_type from collective where tag_kind = 'bucket'")}
    assert sent == {expected}, f"{name}: buckets were sent as {sent}"


def compare(name, ours, theirs):
    return truth_jobs.same_losses(name, ours, theirs, COMMON["steps"])


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ranks.write_text(folder / "text.txt")
        expected = truth_jobs.reference("ddp_reference.py", program, folder, COMMON, ranks=2, cases=CASES)
        single = train(program, folder, "single", 1, dict(batch_per_rank=8))
        assert single[-1] < single[0] - 0.5, f"nothing was learnt: {single}"
        good = [compare("1 rank and PyTorch", single, expected["plain"])]
        for case, settings in CASES.items():
            ours = train(program, folder, case, 2, settings)
            good.append(compare(case, ours, expected[case]))
            if "hook" not in case:
                good.append(compare(case + ", 1 rank", ours, single))
    sys.exit(0 if all(good) else 1)


main()
