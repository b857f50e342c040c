"""DeepSpeed reads the ds_config.json that a run's settings were exported as, and takes from it what was meant.

deepspeed_truth.py RANK_PROGRAM SHARDLENS
"""
import json
import os
import pathlib
import sys
import tempfile

import ranks as rank_jobs
import truth_jobs

os.environ["DS_ACCELERATOR"] = "cpu"
import deepspeed.runtime.lr_schedules as lr_schedules  # noqa: E402
import torch  # noqa: E402
from deepspeed.runtime.config import DeepSpeedConfig  # noqa: E402

STEPS, WARMUP, PEAK = 12, 3, 0.001
COMMON = dict(model="tiny", device="cpu", sequence_length=16, batch_per_rank=2, steps=STEPS, learning_rate=PEAK,
              warmup_steps=WARMUP, gradient_accumulation_steps=2, max_grad_norm=0.5, ranks=1, threads_per_rank=1,
              record="none")
PLAIN = dict(stage=0, bucket=500_000_000, overlaps=False, contiguous=True, prefetch=50_000_000, group=1, offloads=False,
             bf16=False, autocast=None, communicates=None, clips=0.5, micro=2, steps=2, total=4, optimizer="adamw")
WITHIN_A_STEP = "never more than a step away"
# Settings, what DeepSpeed then holds, how many steps its schedule is behind ours while it warms up, and after that.
CASES = [
    (dict(sharding_strategy="ddp", communication_hook="bf16_compress", lr_schedule="constant"),
     dict(communicates=torch.bfloat16), (1, 1)),
    (dict(sharding_strategy="zero1", bucket_cap_mb=4, gradient_as_bucket_view=True, optimizer="sgd", lr_schedule="linear"),
     dict(stage=1, bucket=1 << 20, overlaps=True, optimizer="SGD"), (1, 1)),
    (dict(sharding_strategy="zero1", bucket_cap_mb=0.25, overlap_comm=False, precision="bf16", warmup_steps=0,
          lr_schedule="constant"),
     dict(stage=1, bucket=65536, contiguous=False, autocast=torch.bfloat16), (0, 0)),
    (dict(sharding_strategy="shard_grad_op", param_dtype="bf16", cpu_offload=True),
     dict(stage=2, overlaps=True, bf16=True, offloads=True), (1, 0)),
    (dict(sharding_strategy="full_shard", backward_prefetch="none", reduce_dtype="bf16",
          lr_schedule="cosine_with_min_lr", lr_min_ratio=0.25),
     dict(stage=3, overlaps=True, prefetch=0, communicates=torch.bfloat16), (1, 0)),
    (dict(sharding_strategy="full_shard", lr_schedule="inverse_sqrt"), dict(stage=3, overlaps=True), None),
    (dict(sharding_strategy="ddp", lr_schedule="cosine", warmup_steps=0), dict(), WITHIN_A_STEP),
]


def held(config):
    read = DeepSpeedConfig(config)
    zero, offload = read.zero_config, read.zero_config.offload_optimizer
    return dict(stage=int(zero.stage), bucket=zero.reduce_bucket_size, overlaps=zero.overlap_comm,
                contiguous=zero.contiguous_gradients, prefetch=zero.prefetch_bucket_size,
                group=zero.zero_hpz_partition_size, offloads=offload is not None and offload.device == "cpu",
                bf16=read.bfloat16_config.enabled, autocast=read.torch_autocast_dtype,
                communicates=read.communication_data_type, clips=read.gradient_clipping,
                micro=read.train_micro_batch_size_per_gpu, steps=read.gradient_accumulation_steps,
                total=read.train_batch_size, optimizer=read.optimizer_name)


def rates_of(config):
    """Before each step, by DeepSpeed's own schedule."""
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=config["optimizer"]["params"]["lr"])
    schedule = getattr(lr_schedules, config["scheduler"]["type"])(optimizer, **config["scheduler"]["params"])
    rates = []
    for _ in range(STEPS):
        rates.append(optimizer.param_groups[0]["lr"])
        schedule.step()
    return rates


def same_rates(config, ours, behind):
    if behind is None:
        return "scheduler" not in config
    theirs = rates_of(config)
    if behind == WITHIN_A_STEP:
        around = zip([ours[0], *ours], theirs, [*ours[1:], 0])
        return all(after - 1e-9 <= rate <= before + 1e-9 for before, rate, after in around)
    warming, after = behind
    # The first step's rate is where the warm-up begins, which the second has again.
    pairs = [(theirs[n], ours[n - (warming if n <= WARMUP else after)]) for n in range(warming, STEPS)]
    return all(abs(a - b) <= 1e-9 for a, b in pairs)


def main():
    program, shardlens = sys.argv[1:3]
    good = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rank_jobs.write_text(folder / "text.txt", 3000)
        for i, (settings, expected, behind) in enumerate(CASES):
            run = truth_jobs.train(program, folder, f"case {i}", 1, {**COMMON, **settings})
            text = truth_jobs.exported(shardlens, run, "deepspeed")
            config = json.loads(text)
            ours = [rate for rate, in rank_jobs.query(run, 0, "select learning_rate from step order by step")]
            wrong = {key: (value, {**PLAIN, **expected}[key]) for key, value in held(config).items()
                     if value != {**PLAIN, **expected}[key]}
            good.append(not wrong and same_rates(config, ours, behind))
            print(settings, "as meant" if good[-1] else f"differs: {wrong} {ours} {text}", flush=True)
    sys.exit(0 if all(good) else 1)


main()
