"""Trains with PyTorch's own DDP, fully_shard or ZeroRedundancyOptimizer and prints losses and collectives as JSON.

Reads a JSON job from standard input: weights, text, settings shared by all cases, ranks, cases. Each case's result is
{"losses": [...], "norms": [...], "collectives": [[function, bytes], ...]}: of gradients before they are clipped, and those
of the step `observed_step`, as rank 0 asked for them.
"""
import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel

import reference_strategies
import reference_training

HOOKS = {"fp16_compress": default_hooks.fp16_compress_hook, "bf16_compress": default_hooks.bf16_compress_hook}
DDP_OPTIONS = ("bucket_cap_mb", "find_unused_parameters", "gradient_as_bucket_view", "static_graph")


class Observer(reference_training.Watch):
    """Notes the collectives that Python code asks torch.distributed for in one step, clipping left out."""

    def __init__(self, step):
        self.step = step
        self.notes = False
        self.calls, self.norms = [], []
        self.originals = {}
        self.wrap("all_gather_into_tensor", lambda a, k: k.get("output_tensor", a[0] if a else None))
        self.wrap("reduce_scatter_tensor", lambda a, k: k.get("input", a[1] if len(a) > 1 else None))
        self.wrap("all_reduce", lambda a, k: k.get("tensor", a[0] if a else None))
        self.wrap("broadcast", lambda a, k: k.get("tensor", a[0] if a else None))

    def wrap(self, name, whole):
        original = self.originals[name] = getattr(dist, name)

        def observed(*arguments, **named):
            if self.notes:
                tensor = whole(arguments, named)
                self.calls.append([name, tensor.numel() * tensor.element_size()])
            return original(*arguments, **named)

        setattr(dist, name, observed)

    def unwrap(self):
        for name, original in self.originals.items():
            setattr(dist, name, original)

    def step_begins(self, step):
        self.notes = step == self.step

    def clipping_begins(self):
        self.paused, self.notes = self.notes, False

    def clipping_ended(self, norm):
        self.norms.append((norm.full_tensor() if hasattr(norm, "full_tensor") else norm).item())
        self.notes = self.paused

    def step_ended(self, step):
        self.notes = False


def replicated(model, case):
    replica = DistributedDataParallel(model, **{name: case[name] for name in DDP_OPTIONS if name in case})
    if "communication_hook" in case:
        replica.register_comm_hook(None, HOOKS[case["communication_hook"]])
    return replica


def prepared(job, case, ranks):
    """What trains, and its optimizer."""
    strategy = case["sharding_strategy"]
    model = reference_training.fresh_model(job)
    if strategy in ("ddp", "zero1"):
        trained = replicated(model, case)
    else:
        trained = reference_strategies.shard_fully(model, case, ranks)
    groups = reference_training.parameter_groups(job, model)
    if strategy == "zero1":
        return trained, reference_strategies.shard_optimizer(groups)
    # One operator for all parameters: each costs a walk through DTensor, a third of what this program computes.
    return trained, torch.optim.AdamW(groups, foreach=True)


def run_case(job, case, rank, ranks):
    model, optimizer = prepared(job, case, ranks)
    observer = Observer(job["observed_step"])
    losses = reference_training.train(job, case, rank, ranks, model, optimizer, observer)
    observer.unwrap()
    return {"losses": losses, "norms": observer.norms, "collectives": observer.calls}


if __name__ == "__main__":
    reference_training.run_cases(run_case)
