"""Trains with PyTorch's own DistributedDataParallel and prints the losses of every case as JSON.

Reads a JSON job from standard input: weights, text, settings shared by all cases, ranks, cases.
"""
import torch
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel

import reference_training

HOOKS = {"fp16_compress": default_hooks.fp16_compress_hook, "bf16_compress": default_hooks.bf16_compress_hook}


def run_case(job, case, rank, ranks):
    model = reference_training.fresh_model(job)
    optimizer = torch.optim.AdamW(reference_training.parameter_groups(job, model))
    replica = DistributedDataParallel(
        model, bucket_cap_mb=case.get("bucket_cap_mb", 25),
        gradient_as_bucket_view=case.get("gradient_as_bucket_view", False),
        static_graph=case.get("static_graph", False),
        find_unused_parameters=case.get("find_unused_parameters", False))
    if "communication_hook" in case:
        replica.register_comm_hook(None, HOOKS[case["communication_hook"]])
    return reference_training.train(job, case, rank, ranks, replica, optimizer)


if __name__ == "__main__":
    reference_training.run_cases(run_case)
