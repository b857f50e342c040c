"""Trains with PyTorch's own DistributedDataParallel and prints the losses of every case as JSON.

Reads a JSON job from standard input: weights, text, settings shared by all cases, cases.
"""
import json
import math
import os
import pathlib
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DistributedSampler

import reference_models

END_OF_TEXT = 256
TINY = {"layers": 5, "width": 192, "heads": 6, "mlp_width": 768, "vocabulary": 320, "context": 512}
HOOKS = {"fp16_compress": default_hooks.fp16_compress_hook, "bf16_compress": default_hooks.bf16_compress_hook}


def training_blocks(job):
    tokens = list(pathlib.Path(job["text"]).read_bytes()) + [END_OF_TEXT]
    length = job["sequence_length"]
    count = (len(tokens) - 1) // length
    count -= int(count * job["evaluation_fraction"])
    return [torch.tensor(tokens[i * length : (i + 1) * length + 1]) for i in range(count)]


def batches(job, case, blocks, rank, ranks):
    size, epoch = case["batch_per_rank"], 0
    while True:
        sampler = DistributedSampler(blocks, ranks, rank, shuffle=True, seed=job["seed"], drop_last=True)
        sampler.set_epoch(epoch)
        order = list(sampler)
        for i in range(0, len(order) - size + 1, size):
            yield torch.stack([blocks[b] for b in order[i : i + size]])
        epoch += 1


def make_replica(job, case):
    model = reference_models.Gpt2(TINY)
    model.load_state_dict(torch.load(job["weights"], weights_only=False), strict=False)
    replica = DistributedDataParallel(
        model, bucket_cap_mb=case.get("bucket_cap_mb", 25),
        gradient_as_bucket_view=case.get("gradient_as_bucket_view", False),
        static_graph=case.get("static_graph", False),
        find_unused_parameters=case.get("find_unused_parameters", False))
    if "communication_hook" in case:
        replica.register_comm_hook(None, HOOKS[case["communication_hook"]])
    return replica


def make_optimizer(job, model):
    decayed = [p for p in model.parameters() if p.dim() >= 2]
    plain = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": decayed, "weight_decay": job["weight_decay"]}, {"params": plain, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=job["learning_rate"])

    def factor(step):
        warmup, total = job["warmup_steps"], job["steps"]
        if step < warmup:
            return step / warmup
        return 0.5 * (1 + math.cos(math.pi * (step - warmup) / (total - warmup)))

    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def train(job, case, rank, ranks):
    replica = make_replica(job, case)
    optimizer, schedule = make_optimizer(job, replica.module)
    data = batches(job, case, training_blocks(job), rank, ranks)
    micro_batches = case.get("gradient_accumulation_steps", 1)
    losses = []
    for _ in range(job["steps"]):
        total = torch.zeros(())
        for i in range(micro_batches):
            replica.require_backward_grad_sync = i + 1 == micro_batches or case.get("sync_each_batch", False)
            batch = next(data)
            loss = reference_models.cross_entropy(replica(batch[:, :-1]), batch[:, 1:]) / micro_batches
            loss.backward()
            total += loss.detach()
        torch.nn.utils.clip_grad_norm_(replica.parameters(), job["max_grad_norm"])
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        dist.all_reduce(total)
        losses.append(total.item() / ranks)
    return losses


def run_rank(rank, ranks, job, store):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=ranks)
    results = {name: train(job, case, rank, ranks) for name, case in job["cases"].items()}
    if rank == 0:
        print(json.dumps(results))
    dist.barrier()
    dist.destroy_process_group()


def main():
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    job = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(run_rank, args=(2, job, folder + "/store"), nprocs=2)


if __name__ == "__main__":
    main()
