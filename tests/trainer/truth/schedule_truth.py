"""Learning rates are those of transformers' schedules, step for step.

schedule_truth.py PROBE: PROBE schedules reads "steps key=value …" and prints a rate per step.
"""
import subprocess
import sys

import torch
from transformers import get_scheduler

PEAK = 3e-4
# Ours, transformers' name, its own arguments, our settings for them.
CASES = [
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


def expected(name, arguments, warmup, steps):
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


def main():
    lines, truth = [], []
    for ours, theirs, arguments, settings in CASES:
        for warmup, steps in ((0, 40), (7, 40), (10, 101)):
            words = {"learning_rate": PEAK, "lr_schedule": ours, "warmup_steps": warmup, **settings}
            lines.append(" ".join([str(steps)] + [f"{k}={v}" for k, v in words.items()]))
            truth.append(expected(theirs, arguments, warmup, steps))
    output = subprocess.run([sys.argv[1], "schedules"], input="\n".join(lines), text=True,
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
    sys.exit(1 if worst > 1e-9 else 0)


main()
