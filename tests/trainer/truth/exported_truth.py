"""Exported as PyTorch code, a run's settings train as the run did: the same losses, the same buckets.

exported_truth.py RANK_PROGRAM SHARDLENS [SEED [COUNT]]: COUNT combinations of each strategy, drawn by SEED.
"""
import pathlib
import random
import subprocess
import sys
import tempfile

import ranks as rank_jobs
import truth_jobs

RANKS = 4
COMMON = dict(model="tiny", device="cpu", sequence_length=32, evaluation_fraction=0.1, steps=4, learning_rate=0.001,
              weight_decay=0.1, warmup_steps=2, max_grad_norm=1.0, seed=3, threads_per_rank=1, ranks=RANKS,
              record="none")
SAMPLES = 2  # of a rank and micro-batch

EVERY = dict(activation_checkpointing=(0, 1, 2), gradient_accumulation_steps=(1, 2), precision=("fp32", "bf16"),
             lr_schedule=("cosine", "linear", "polynomial", "warmup_stable_decay", "constant"),
             optimizer=("adamw", "sgd"), max_grad_norm=(0, 1.0))
BUCKETS = dict(bucket_cap_mb=(25, 4, 0.5), first_bucket_mb=("auto", 0.25), gradient_as_bucket_view=(False, True),
               static_graph=(False, True), communication_hook=("none", "bf16_compress"))
UNITS = dict(wrap_policy=("transformer_block", "size", "whole_model"), min_num_params=(300000,),
             forward_prefetch=(False, True), param_dtype=("auto", "bf16"), reduce_dtype=("auto", "fp32"),
             cpu_offload=(False, True))
STRATEGIES = dict(ddp=BUCKETS, zero1=BUCKETS, no_shard=UNITS, shard_grad_op=UNITS, full_shard=UNITS, hybrid_shard=UNITS,
                  hybrid_shard_zero2=UNITS)


def is_valid(case):
    """As `shardlens` would say."""
    accumulates = case.get("gradient_accumulation_steps", 1) > 1
    return not (case.get("static_graph") and accumulates and not case.get("sync_each_batch")) and not (
        case.get("precision") == "bf16" and case.get("param_dtype", "auto") != "auto") and not (
        case["sharding_strategy"] == "no_shard" and case.get("cpu_offload"))


def drawn(chooser, strategy):
    while True:
        case = {"sharding_strategy": strategy, "batch_per_rank": SAMPLES}
        for name, values in {**EVERY, **STRATEGIES[strategy]}.items():
            case[name] = chooser.choice(values)
        if strategy.startswith("hybrid"):
            case["shard_group_size"] = 2
        if is_valid(case):
            return case


def same_losses(name, case, ours, theirs):
    """In 16 bits each kernel rounds on its own, and what that comes to grows from step to step."""
    texts = map(str, (case["precision"], case.get("param_dtype"), case.get("communication_hook")))
    if not any("bf16" in text for text in texts):
        return truth_jobs.same_losses(name, ours, theirs, COMMON["steps"])
    return truth_jobs.same_losses(name, ours[:3], theirs[:3], 3, tolerance=1e-3)


def exported(shardlens, run):
    return subprocess.run([shardlens, "export", run, "--format", "pytorch"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def buckets_of(run):
    return [size for size, in rank_jobs.query(run, 0, "select bytes from bucket where plan = "
                                              "(select max(plan) from bucket) order by bucket")]


def same_buckets(case, ours, theirs):
    # Buckets hold gradients as they come. Within a block that depends on how forward is computed again and where
    # weights are cast, which is the model's own.
    if case["activation_checkpointing"] > 0 or case["precision"] == "bf16":
        return sum(ours) == sum(theirs)
    return ours == theirs


def main():
    program, shardlens = sys.argv[1:3]
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 11
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    print("seed", seed)
    chooser = random.Random(seed)
    cases = {f"{strategy} {i}": drawn(chooser, strategy) for strategy in STRATEGIES for i in range(count)}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rank_jobs.write_text(folder / "text.txt")
        runs = {}
        for case, settings in cases.items():
            runs[case] = truth_jobs.train(program, folder, case, RANKS, {**COMMON, **settings})
            settings["code"] = exported(shardlens, runs[case])
        theirs = truth_jobs.reference("exported_reference.py", program, folder, COMMON, cases=cases)
        good = []
        for case, settings in cases.items():
            code = settings.pop("code")
            good.append(same_losses(case, settings, rank_jobs.losses(runs[case]), theirs[case]["losses"]))
            good.append(same_buckets(settings, buckets_of(runs[case]), theirs[case]["buckets"]))
            if not all(good[-2:]):
                print(settings, buckets_of(runs[case]), theirs[case]["buckets"], code, sep="\n")
    sys.exit(0 if all(good) else 1)


main()
