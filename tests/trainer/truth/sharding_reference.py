"""Trains with PyTorch's own fully_shard or ZeroRedundancyOptimizer and prints losses and collectives as JSON.

Reads a JSON job from standard input: weights, text, settings shared by all cases, ranks, cases. Each case's result is
{"losses": [...], "collectives": [[function, bytes], ...]}: those of the step `observed_step`, as rank 0 asked for them.
"""
import json
import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

import ddp_reference
import reference_models


class Observer:
    """Notes the collectives that Python code asks torch.distributed for."""

    def __init__(self):
        self.calls = None
        self.wrap("all_gather_into_tensor", lambda a, k: k.get("output_tensor", a[0] if a else None))
        self.wrap("reduce_scatter_tensor", lambda a, k: k.get("input", a[1] if len(a) > 1 else None))
        self.wrap("all_reduce", lambda a, k: k.get("tensor", a[0] if a else None))
        self.wrap("broadcast", lambda a, k: k.get("tensor", a[0] if a else None))

    def wrap(self, name, whole):
        original = getattr(dist, name)

        def observed(*arguments, **named):
            if self.calls is not None:
                tensor = whole(arguments, named)
                self.calls.append([name, tensor.numel() * tensor.element_size()])
            return original(*arguments, **named)

        setattr(dist, name, observed)


def fresh_model(job):
    model = reference_models.Gpt2(ddp_reference.TINY)
    model.load_state_dict(torch.load(job["weights"], weights_only=False), strict=False)
    return model


def make_sharded(job, case, ranks):
    model = fresh_model(job)
    if "shard_group_size" in case:
        size = case["shard_group_size"]
        mesh = init_device_mesh("cpu", (ranks // size, size), mesh_dim_names=("replicate", "shard"))
    else:
        mesh = init_device_mesh("cpu", (ranks,))
    frees = case["sharding_strategy"] in ("full_shard", "hybrid_shard")
    for block in model.transformer["h"]:
        fully_shard(block, mesh=mesh, reshard_after_forward=frees)
    # Its default for the root: kept until backward has used it.
    fully_shard(model, mesh=mesh, reshard_after_forward=False)
    optimizer, schedule = ddp_reference.make_optimizer(job, model)
    return model, model.set_requires_gradient_sync, optimizer, schedule


def make_zero(job, case):
    replica = DistributedDataParallel(fresh_model(job))
    template, schedule_of = ddp_reference.make_optimizer, torch.optim.lr_scheduler.LambdaLR
    plain, schedule = template(job, replica.module)
    groups = [{k: g[k] for k in ("params", "weight_decay")} for g in plain.param_groups]
    for group in groups:
        group["lr"] = job["learning_rate"]
    optimizer = ZeroRedundancyOptimizer(groups, torch.optim.AdamW, parameters_as_bucket_view=True,
                                        lr=job["learning_rate"])

    def set_sync(sync):
        replica.require_backward_grad_sync = sync

    return replica, set_sync, optimizer, schedule_of(optimizer, schedule.lr_lambdas[0])


def train(job, case, rank, ranks, observer):
    make = make_zero(job, case) if case["sharding_strategy"] == "zero1" else make_sharded(job, case, ranks)
    model, set_sync, optimizer, schedule = make
    data = ddp_reference.batches(job, case, ddp_reference.training_blocks(job), rank, ranks)
    micro_batches = case.get("gradient_accumulation_steps", 1)
    losses, collectives = [], []
    for step in range(job["steps"]):
        total = torch.zeros(())
        observer.calls = [] if step == job["observed_step"] else None
        for i in range(micro_batches):
            set_sync(i + 1 == micro_batches or case.get("sync_each_batch", False))
            batch = next(data)
            loss = reference_models.cross_entropy(model(batch[:, :-1]), batch[:, 1:]) / micro_batches
            loss.backward()
            total += loss.detach()
        kept = observer.calls
        observer.calls = None
        torch.nn.utils.clip_grad_norm_(model.parameters(), job["max_grad_norm"])
        observer.calls = kept
        optimizer.step()
        if observer.calls is not None:
            collectives, observer.calls = observer.calls, None
        schedule.step()
        optimizer.zero_grad()
        dist.all_reduce(total)
        losses.append(total.item() / ranks)
    return {"losses": losses, "collectives": collectives}


def run_rank(rank, ranks, job, store):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=ranks)
    observer = Observer()
    results = {name: train(job, case, rank, ranks, observer) for name, case in job["cases"].items()}
    if rank == 0:
        print(json.dumps(results))
    dist.barrier()
    dist.destroy_process_group()


def main():
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    job = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(run_rank, args=(job["ranks"], job, folder + "/store"), nprocs=job["ranks"])


if __name__ == "__main__":
    main()
