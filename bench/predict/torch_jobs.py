"""PyTorch's own DDP and fully_shard over Gloo, each job traced by PyTorch's profiler: python torch_jobs.py FOLDER JOB…

Writes JOB.rankR.json into FOLDER, in the order of the jobs; all of them train one model on made-up tokens.
"""
import sys

import torch
import traced_job
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import bf16_compress_hook
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

VOCABULARY, WIDTH, SEQUENCE, BATCH = 2000, 320, 64, 2
STEPS, WARMUP = 30, 5


class Block(torch.nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.norm = torch.nn.LayerNorm(WIDTH)
        self.up, self.down = torch.nn.Linear(WIDTH, hidden), torch.nn.Linear(hidden, WIDTH)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


class Model(torch.nn.Module):
    """Its tensors are of many sizes, as those of real models are."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = torch.nn.ModuleList(Block(WIDTH * times) for times in (1, 4, 2, 6, 4, 1, 3, 5))
        self.head = torch.nn.Linear(WIDTH, VOCABULARY)

    def forward(self, x):
        x = self.embedding(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def loss_of(model):
    tokens = torch.randint(0, VOCABULARY, (BATCH, SEQUENCE))
    return torch.nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())


def with_buckets(cap, hook=None, micro_batches=1, each=False):
    model = DistributedDataParallel(Model(), bucket_cap_mb=cap, gradient_as_bucket_view=True)
    if hook:
        model.register_comm_hook(None, hook)

    def backward(is_last):
        model.require_backward_grad_sync = each or is_last
        loss_of(model).backward()

    return model, backward, micro_batches


def with_units(reshard=True, ahead=False, micro_batches=1, each=False):
    model = Model()
    for block in model.blocks:
        fully_shard(block, reshard_after_forward=reshard)
    fully_shard(model)
    if ahead:
        for a, b in zip([model, *model.blocks], model.blocks):
            a.set_modules_to_forward_prefetch([b])

    def backward(is_last):
        model.set_requires_gradient_sync(each or is_last)
        loss_of(model).backward()

    return model, backward, micro_batches


JOBS = {
    **{f"cap {cap}": lambda cap=cap: with_buckets(cap) for cap in (0.25, 1, 4, 25)},
    "cap 1, bf16": lambda: with_buckets(1, hook=bf16_compress_hook),
    "cap 1, 2 micro-batches": lambda: with_buckets(1, micro_batches=2),
    "cap 1, 2 micro-batches, each": lambda: with_buckets(1, micro_batches=2, each=True),
    "full_shard": with_units,
    "shard_grad_op": lambda: with_units(reshard=False),
    "full_shard, forward prefetch": lambda: with_units(ahead=True),
    "full_shard, 2 micro-batches": lambda: with_units(micro_batches=2),
    "full_shard, 2 micro-batches, each": lambda: with_units(micro_batches=2, each=True),
}


def train_all(trace):
    for name in sys.argv[2:]:
        torch.manual_seed(0)
        model, backward, micro_batches = JOBS[name]()
        traced_job.train(model, trace(name), backward, STEPS, micro_batches, warmup=WARMUP)


if __name__ == "__main__":
    traced_job.run(train_all)
