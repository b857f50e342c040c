"""Trains with code that was exported from runs and prints losses and buckets of every case as JSON.

Reads a JSON job from standard input: weights, text, settings shared by all cases, ranks, cases with their "code".
"""
import sys
import types

import torch
import torch.distributed as dist

import reference_models
import reference_training


def loss_of(model, batch):
    return reference_models.cross_entropy(model(batch[:, :-1]).float(), batch[:, 1:])


def bucket_bytes(model):
    reducer = getattr(model, "reducer", None)
    if reducer is None:
        return []
    return [sum(p.nbytes for p in bucket.parameters()) for bucket in reducer._get_zeros_like_grad_buckets()]


def run_case(job, case, rank, ranks):
    code = types.ModuleType("parallel")
    exec(compile(case["code"], "parallel.py", "exec"), code.__dict__)
    model = code.parallelize(reference_training.fresh_model(job))
    optimizer = code.make_optimizer(model)
    schedule = code.make_schedule(optimizer)
    data = reference_training.batches(job, case, reference_training.training_blocks(job), rank, ranks)
    losses = []
    for _ in range(job["steps"]):
        batches = [next(data) for _ in range(case.get("gradient_accumulation_steps", 1))]
        total = code.train_step(model, optimizer, schedule, batches, loss_of).clone()
        dist.all_reduce(total)
        losses.append(total.item() / ranks)
    return {"losses": losses, "buckets": bucket_bytes(model)}


if __name__ == "__main__":
    sys.modules["transformers"] = None  # what the code needs is PyTorch
    torch.manual_seed(0)
    reference_training.run_cases(run_case)
