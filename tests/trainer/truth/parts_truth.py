"""What trainer_probe tells of the trainer's parts equals what PyTorch and transformers compute.

parts_truth.py PROBE: the models' logits, loss and gradients are those of a plain PyTorch model with the same weights, the
sampler draws what torch.utils.data.DistributedSampler does, index for index, and learning rates are those of transformers'
schedules, step for step.
"""
import itertools
import pathlib
import subprocess
import sys
import tempfile

import torch
from torch.utils.data import DistributedSampler
from transformers import get_scheduler

sys.path.insert(0, str(pathlib.Path(__file__).parent / "reference"))
import reference_models  # noqa: E402

TOLERANCE = 1e-5
PEAK = 3e-4
# Ours, transformers' name, its own arguments, our settings for them.
SCHEDULES = [
    ("constant", "constant_with_warmup", {}, {}),
    ("constant_with_warmup", "constant_with_warmup", {}, {}),
    ("linear", "linear", {}, {}),
    ("cosine", "cosine", {}, {}),
    ("cosine", "cosine", {"num_cycles": 1.5}, {"lr_cycles": 1.5}),
    ("cosine_with_restarts", "cosine_with_restarts", {}, {}),
    ("cosine_with_restarts", "cosine_with_restarts", {"num_cycles": 3}, {"lr_cycles": 3}),
    ("cosine_with_min_lr", "cosine_with_min_lr", {"min_lr_rate": 0.1}, {}),
    ("cosine_with_min_lr", "cosine_with_min_lr", {"min_lr_rate": 0.25}, {"lr_min_ratio": 0.25}),
    ("polynomial", "polynomial", {}, {}),
    ("polynomial", "polynomial", {"power": 2.5, "lr_end": 0.2 * PEAK},
     {"lr_power": 2.5, "lr_min_ratio": 0.2}),
    ("inverse_sqrt", "inverse_sqrt", {}, {}),
    ("warmup_stable_decay", "warmup_stable_decay", {"num_decay_steps": "tenth"}, {}),
    ("warmup_stable_decay", "warmup_stable_decay", {"num_decay_steps": 13, "min_lr_ratio": 0.3},
     {"lr_decay_steps": 13, "lr_min_ratio": 0.3}),
]


def largest_difference(ours, theirs):
    return ((ours - theirs).abs().max() / theirs.abs().max()).item()


def check(name, case):
    shape = {k.removeprefix("shape."): v.item() for k, v in case.items() if k.startswith("shape.")}
    layout = reference_models.Gpt2 if shape["gpt2"] else reference_models.Llama
    model = layout(shape)
    weights = {k.removeprefix("weight."): v for k, v in case.items() if k.startswith("weight.")}
    names = [n for n, _ in model.named_parameters()]
    assert names == [n for n in weights], f"{name}: names or order differ: {names} {list(weights)}"
    model.load_state_dict(weights, strict=False)
    logits = model(case["tokens"])
    loss = reference_models.cross_entropy(logits, case["targets"])
    loss.backward()

    differences = {"logits": largest_difference(case["logits"], logits)}
    differences["loss"] = largest_difference(case["loss"], loss)
    for parameter_name, parameter in model.named_parameters():
        gradient = case["gradient." + parameter_name]
        differences[parameter_name] = largest_difference(gradient, parameter.grad)
    worst = max(differences, key=differences.get)
    print(f"{name}: {len(weights)} parameters, worst relative difference {differences[worst]:.2e} ({worst})")
    return differences[worst] < TOLERANCE


def same_models(probe):
    with tempfile.TemporaryDirectory() as folder:
        file = folder + "/models.pt"
        subprocess.run([probe, "models", file], check=True)
        values = torch.load(file, weights_only=False)
    cases = {}
    for key, value in values.items():
        name, rest = key.split("/", 1)
        cases.setdefault(name, {})[rest] = value
    assert len(cases) == 3, cases.keys()
    good = [check(name, case) for name, case in cases.items()]
    return all(good)


def same_samplers(probe):
    # Also fewer samples than ranks, and a size that divides evenly.
    cases = list(itertools.product((1, 7, 24, 101), (1, 3, 4), (0, 1), (0, 1), ((0, 0), (5, 3))))
    lines, expected = [], []
    for samples, ranks, shuffle, drop_last, (seed, epoch) in cases:
        if drop_last and samples < ranks:
            continue  # PyTorch's own answer there is an accident
        for rank in range(ranks):
            sampler = DistributedSampler(
                range(samples), num_replicas=ranks, rank=rank, shuffle=bool(shuffle), seed=seed,
                drop_last=bool(drop_last))
            sampler.set_epoch(epoch)
            lines.append(f"{samples} {ranks} {rank} {shuffle} {drop_last} {seed} {epoch}")
            expected.append(list(sampler))
    output = subprocess.run([probe, "sampler"], input="\n".join(lines), text=True, check=True,
                            capture_output=True).stdout
    actual = [[int(i) for i in line.split()] for line in output.splitlines()]
    assert len(actual) == len(expected), (len(actual), len(expected))
    wrong = [line for line, a, e in zip(lines, actual, expected) if a != e]
    print(f"{len(expected)} samplers compared, {len(wrong)} differ")
    for line in wrong[:5]:
        print("differs:", line)
    return not wrong


def expected_rates(name, arguments, warmup, steps):
    arguments = dict(arguments)
    if arguments.get("num_decay_steps") == "tenth":
        arguments["num_decay_steps"] = max(1, steps // 10)
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=PEAK)
    schedule = get_scheduler(name, optimizer, num_warmup_steps=warmup, num_training_steps=steps,
                             scheduler_specific_kwargs=arguments)
    rates = []
    for _ in range(steps):
        rates.append(schedule.get_last_lr()[0])
        optimizer.step()
        schedule.step()
    return rates


def same_schedules(probe):
    lines, truth = [], []
    for ours, theirs, arguments, settings in SCHEDULES:
        for warmup, steps in ((0, 40), (7, 40), (30, 40), (10, 101)):  # of one the decay begins within the warm-up
            words = {"learning_rate": PEAK, "lr_schedule": ours, "warmup_steps": warmup, **settings}
            lines.append(" ".join([str(steps)] + [f"{k}={v}" for k, v in words.items()]))
            truth.append(expected_rates(theirs, arguments, warmup, steps))
    output = subprocess.run([probe, "schedules"], input="\n".join(lines), text=True,
                            check=True, capture_output=True).stdout
    actual = [[float(rate) for rate in line.split()] for line in output.splitlines()]
    assert len(actual) == len(truth), (len(actual), len(truth))
    worst = 0.0
    for line, ours, theirs in zip(lines, actual, truth):
        assert len(ours) == len(theirs), line
        error = max(abs(a - b) for a, b in zip(ours, theirs)) / PEAK
        if error > 1e-9:
            print("differs:", line, error)
        worst = max(worst, error)
    print(f"{len(lines)} schedules compared, largest difference {worst:.1e} of the peak")
    return worst <= 1e-9


if __name__ == "__main__":
    sys.exit(0 if all([same(sys.argv[1]) for same in (same_models, same_samplers, same_schedules)]) else 1)
