"""What training with PyTorch itself has in common, whichever of its strategies does it."""
import json
import math
import os
import pathlib
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.data import DistributedSampler

import reference_models
import reference_strategies

END_OF_TEXT = 256
TINY = {"layers": 5, "width": 192, "heads": 6, "mlp_width": 768, "vocabulary": 320, "context": 512}


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


def fresh_model(job):
    model = reference_models.Gpt2(TINY)
    model.load_state_dict(torch.load(job["weights"], weights_only=False), strict=False)
    return model


def parameter_groups(job, model):
    """Biases and norms do not decay."""
    decayed = [p for p in model.parameters() if p.dim() >= 2]
    plain = [p for p in model.parameters() if p.dim() < 2]
    return [{"params": decayed, "weight_decay": job["weight_decay"], "lr": job["learning_rate"]},
            {"params": plain, "weight_decay": 0.0, "lr": job["learning_rate"]}]


def make_schedule(job, optimizer):
    def factor(step):
        warmup, total = job["warmup_steps"], job["steps"]
        if step < warmup:
            return step / warmup
        return 0.5 * (1 + math.cos(math.pi * (step - warmup) / (total - warmup)))

    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


class Watch:
    """What an observer of the loop may want to know; this one does not."""

    def step_begins(self, step):
        pass

    def clipping_begins(self):
        pass

    def clipping_ended(self, norm):
        pass

    def step_ended(self, step):
        pass


def train(job, case, rank, ranks, model, optimizer, watch=Watch()):
    """The mean loss over ranks of every step."""
    schedule = make_schedule(job, optimizer)
    data = batches(job, case, training_blocks(job), rank, ranks)
    micro_batches = case.get("gradient_accumulation_steps", 1)
    losses = []
    for step in range(job["steps"]):
        total = torch.zeros(())
        watch.step_begins(step)
        for i in range(micro_batches):
            reference_strategies.set_sync(model, i + 1 == micro_batches or case.get("sync_each_batch", False))
            batch = next(data)
            loss = reference_models.cross_entropy(model(batch[:, :-1]), batch[:, 1:]) / micro_batches
            loss.backward()
            total += loss.detach()
        watch.clipping_begins()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), job["max_grad_norm"])
        watch.clipping_ended(norm)
        optimizer.step()
        watch.step_ended(step)
        schedule.step()
        optimizer.zero_grad()
        dist.all_reduce(total)
        losses.append(total.item() / ranks)
    return losses


def run_rank(rank, job, store, run_case):
    torch.set_num_threads(1)
    ranks = job["ranks"]
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=ranks)
    results = {name: run_case({**job, **case}, case, rank, ranks) for name, case in job["cases"].items()}
    if rank == 0:
        pathlib.Path(store + ".json").write_text(json.dumps(results))
    dist.barrier()
    dist.destroy_process_group()
    sys.stdout.flush()
    # Python's own way out meets threads of Gloo that nobody joins, and now and then ends in std::terminate.
    os._exit(0)


def run_cases(run_case):
    """Prints {case: what run_case(job, case, rank, ranks) returned on rank 0} for the job on standard input. What a case
    says for itself, its number of ranks too, takes the place of the job's."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    job = json.load(sys.stdin)
    parts = {}
    for name, case in job["cases"].items():
        parts.setdefault(case.get("ranks") or job["ranks"], {})[name] = case
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for ranks, cases in parts.items():
            store = f"{folder}/{ranks}"
            # Forked, so that what PyTorch and transformers take to import is paid once. They have started no thread here.
            mp.start_processes(run_rank, args=({**job, "ranks": ranks, "cases": cases}, store, run_case), nprocs=ranks,
                               start_method="fork")
            results |= json.loads(pathlib.Path(store + ".json").read_text())
    print(json.dumps(results))
