"""Accelerate, given the YAML that a run's settings were exported as, shards and trains as the run did: the same losses.

accelerate_truth.py RANK_PROGRAM SHARDLENS
"""
import pathlib
import subprocess
import sys
import tempfile

import ranks as rank_jobs
import truth_jobs

COMMON = dict(model="tiny", device="cpu", sequence_length=32, evaluation_fraction=0.1, steps=4, learning_rate=0.001,
              weight_decay=0.1, warmup_steps=2, max_grad_norm=1.0, seed=3, threads_per_rank=1, ranks=2,
              batch_per_rank=2, record="none")
# Not by size: Accelerate 1.15 would give ModuleList to fully_shard, which refuses lists.
CASES = {
    "ddp": dict(sharding_strategy="ddp"),
    "ddp bf16": dict(sharding_strategy="ddp", precision="bf16"),
    "shard_grad_op": dict(sharding_strategy="shard_grad_op", activation_checkpointing=1),
    "full_shard": dict(sharding_strategy="full_shard", gradient_accumulation_steps=2),
    "full_shard bf16": dict(sharding_strategy="full_shard", param_dtype="bf16"),
    "full_shard whole": dict(sharding_strategy="full_shard", wrap_policy="whole_model", cpu_offload=True),
    "hybrid_shard": dict(sharding_strategy="hybrid_shard", shard_group_size=2, ranks=4),
    "hybrid_shard_zero2": dict(sharding_strategy="hybrid_shard_zero2", shard_group_size=2, ranks=4),
}


def expected_plugin(case):
    """What Accelerate's FSDP plugin is to hold."""
    policies = dict(whole_model=None)
    return dict(version=2, frees=case["sharding_strategy"] in ("full_shard", "hybrid_shard"),
                offloads=case.get("cpu_offload", False),
                recomputes=case.get("activation_checkpointing", 0) == 1,
                policy=policies.get(case.get("wrap_policy"), "transformer_auto_wrap_policy"),
                min_num_params=None,
                param_dtype="torch.bfloat16" if case.get("param_dtype") == "bf16" else None)


def started_by(yaml, folder):
    """What each process that the file's command line starts knows: how many there are, in which type they compute."""
    (folder / "train.py").write_text("from accelerate import Accelerator\n\naccelerator = Accelerator()\n"
                                     "text = f'{accelerator.num_processes} {accelerator.mixed_precision}'\n"
                                     "print(text + '\\n', end='')  # in one write, since two processes do\n")
    line, = (line for line in yaml.splitlines() if line.startswith("# start with: "))
    command = line.removeprefix("# start with: ").replace("torchrun", f"'{sys.executable}' -m torch.distributed.run")
    return subprocess.run(command, shell=True, cwd=folder, check=True, text=True,
                          stdout=subprocess.PIPE).stdout.splitlines()


def main():
    program, shardlens = sys.argv[1:3]
    good = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rank_jobs.write_text(folder / "text.txt")
        runs = {}
        for case, settings in CASES.items():
            every = {**COMMON, **settings}
            runs[case] = truth_jobs.train(program, folder, case, every["ranks"], every)
        cases = {case: {**settings, "batch_per_rank": COMMON["batch_per_rank"],
                        "yaml": truth_jobs.exported(shardlens, runs[case], "accelerate")}
                 for case, settings in CASES.items()}
        theirs = truth_jobs.reference("accelerate_reference.py", program, folder, COMMON, cases=cases)
        started = started_by(cases["ddp bf16"]["yaml"], folder)
        print("started", started)
        good.append(started == ["2 bf16"] * 2)
        good.append(rank_jobs.losses(runs["ddp bf16"]) != rank_jobs.losses(runs["ddp"]))
        for case, settings in CASES.items():
            ours = rank_jobs.losses(runs[case])
            in_16_bits = "bf16" in case  # each kernel rounds on its own, and what that comes to grows from step to step
            steps = 3 if in_16_bits else COMMON["steps"]
            good.append(truth_jobs.same_losses(case, ours[:steps], theirs[case]["losses"][:steps], steps,
                                               **({"tolerance": 1e-3} if in_16_bits else {})))
            plugin = theirs[case]["plugin"]
            if "shard" in case:
                good.append(plugin == expected_plugin(settings))
            else:
                good.append(plugin is None)
            if not good[-1]:
                print(case, plugin, expected_plugin(settings), cases[case]["yaml"], sep="\n")
    sys.exit(0 if all(good) else 1)


main()
