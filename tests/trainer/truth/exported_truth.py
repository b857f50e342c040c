"""Exported as PyTorch code, a run's settings train as the run did: the same losses, the same buckets.

exported_truth.py RANK_PROGRAM SHARDLENS [SEED [COUNT]]: COUNT combinations of each strategy, drawn by SEED.
"""
import copy
import pathlib
import random
import sys
import tempfile

import ranks as rank_jobs
import torch
import torch.distributed as dist
from transformers import LlamaConfig, LlamaForCausalLM, get_scheduler

import truth_jobs

COMMON = dict(model="tiny", device="cpu", sequence_length=32, evaluation_fraction=0.1, steps=4, learning_rate=0.001,
              weight_decay=0.1, warmup_steps=2, max_grad_norm=1.0, seed=3, threads_per_rank=1, ranks=2,
              record="none")
SAMPLES = 2  # of a rank and micro-batch

EVERY = dict(activation_checkpointing=(0, 1, 2), gradient_accumulation_steps=(1, 2), precision=("fp32", "bf16"),
             lr_cycles=("auto", 1.5), lr_min_ratio=("auto", 0.25), lr_power=(1.0, 2.5), lr_decay_steps=("auto", 2),
             optimizer=("adamw", "sgd"), max_grad_norm=(0, 1.0))
SCHEDULES = ("cosine", "linear", "constant", "constant_with_warmup", "cosine_with_restarts", "cosine_with_min_lr",
             "polynomial", "inverse_sqrt", "warmup_stable_decay")
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
            case |= {"shard_group_size": 2, "ranks": 4}
        if is_valid(case):
            return case


def same_losses(name, case, ours, theirs):
    """In 16 bits each kernel rounds on its own, and what that comes to grows from step to step."""
    texts = map(str, (case["precision"], case.get("param_dtype"), case.get("communication_hook")))
    if not any("bf16" in text for text in texts):
        return truth_jobs.same_losses(name, ours, theirs, COMMON["steps"])
    return truth_jobs.same_losses(name, ours[:3], theirs[:3], 3, tolerance=1e-3)


def same_schedule(name, case, code):
    """Over more steps than are trained: the exported schedule's rates are transformers'."""
    steps, peak = 40, COMMON["learning_rate"]
    schedule, lowest, cycles = (case[k] for k in ("lr_schedule", "lr_min_ratio", "lr_cycles"))
    own = {}
    if cycles != "auto" and schedule in ("cosine", "cosine_with_restarts", "cosine_with_min_lr", "warmup_stable_decay"):
        own["num_cycles"] = cycles
    if schedule == "cosine_with_min_lr":
        own["min_lr_rate"] = 0.1 if lowest == "auto" else lowest
    if schedule == "polynomial":
        own |= {"power": case["lr_power"], "lr_end": 1e-7 if lowest == "auto" else lowest * peak}
    if schedule == "warmup_stable_decay":
        own |= {"num_decay_steps": steps // 10 if case["lr_decay_steps"] == "auto" else case["lr_decay_steps"],
                "min_lr_ratio": 0 if lowest == "auto" else lowest}
    optimizers = [torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=peak) for _ in range(2)]
    # Ours also warms up where transformers' would not.
    theirs = get_scheduler("constant_with_warmup" if schedule == "constant" else schedule, optimizers[0],
                           num_warmup_steps=COMMON["warmup_steps"], num_training_steps=steps, scheduler_specific_kwargs=own)
    module = {}
    exec(code, module)
    ours = module["make_schedule"](optimizers[1], steps)
    worst = 0.0
    for _ in range(steps):
        worst = max(worst, abs(ours.get_last_lr()[0] - theirs.get_last_lr()[0]))
        for optimizer, each in zip(optimizers, (theirs, ours)):
            optimizer.step()
            each.step()
    print(f"{name:50s} {schedule}: worst difference of rates {worst:.1e}", flush=True)
    return worst < 1e-12


def recomputes_decoders(code):
    """A decoder of transformers, which keeps keys and values unless it is told not to: the same gradients as without recomputation."""
    config = LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
                         attn_implementation="eager")  # which looks at every key, as all do behind a mask
    plain = LlamaForCausalLM(config)
    module = {}
    exec(code, module)
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    model = module["parallelize"](copy.deepcopy(plain))
    tokens = torch.randint(config.vocab_size, (2, 16))
    for each in (plain, model):
        each(input_ids=tokens, labels=tokens).loss.backward()
    same = all(torch.allclose(a.grad, b.grad, atol=1e-6) for a, b in zip(plain.parameters(), model.parameters()))
    dist.destroy_process_group()
    print("recomputed decoder:", "the same gradients" if same else "other gradients", flush=True)
    return same


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
    for i in range(len(cases), len(SCHEDULES)):  # so that each schedule occurs
        cases[f"ddp {i}"] = drawn(chooser, "ddp")
    cases["ddp recomputed"] = drawn(chooser, "ddp") | {"activation_checkpointing": 1, "communication_hook": "none"}
    for i, case in enumerate(cases.values()):
        case["lr_schedule"] = SCHEDULES[i % len(SCHEDULES)]
    # Its decay begins within the warm-up; the others have all the schedules.
    cases["ddp recomputed"] |= {"lr_schedule": "warmup_stable_decay", "lr_decay_steps": 39}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rank_jobs.write_text(folder / "text.txt")
        runs = {}
        for case, settings in cases.items():
            every = {**COMMON, **settings}
            runs[case] = truth_jobs.train(program, folder, case, every["ranks"], every)
            settings["code"] = truth_jobs.exported(shardlens, runs[case], "pytorch")
        theirs = truth_jobs.reference("exported_reference.py", program, folder, COMMON, cases=cases)
        good = [recomputes_decoders(cases["ddp recomputed"]["code"])]
        for case, settings in cases.items():
            code = settings.pop("code")
            good.append(same_losses(case, settings, rank_jobs.losses(runs[case]), theirs[case]["losses"]))
            good.append(same_schedule(case, settings, code))
            good.append(same_buckets(settings, buckets_of(runs[case]), theirs[case]["buckets"]))
            if not all(good[-3:]):
                print(settings, buckets_of(runs[case]), theirs[case]["buckets"], code, sep="\n")
    sys.exit(0 if all(good) else 1)


main()
