"""Prints PyTorch's own bucket plans for bucket_plan_oracle_test.cpp, as two Gloo ranks on loopback.

Usage: oracle_buckets.py STORE_FILE SHAPES USE_ORDER CASE...
  SHAPES     "1024x512,512,..." in the order of registration
  USE_ORDER  "2,0,1,...": the order in which forward uses the parameters
  CASE       "name:option=value,..." with options of DistributedDataParallel
Prints, per case, "name first 3,2;1,0" and "name rebuilt ...": parameters of each bucket, in order.
"""
import os
import sys

os.environ.update(GLOO_SOCKET_IFNAME="lo", OMP_NUM_THREADS="1")

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.nn.parallel import DistributedDataParallel

# After torch is imported, once for both: it has started no thread here.
rank = 1 if os.fork() == 0 else 0


class Model(torch.nn.Module):
    def __init__(self, shapes, use_order):
        super().__init__()
        self.values = torch.nn.ParameterList(torch.zeros(shape) + 0.01 for shape in shapes)
        self.use_order = use_order

    def forward(self, start):
        total = start
        for index in self.use_order:
            total = total * 0.5 + (self.values[index] * self.values[index]).sum()
        return total


def value_of(text):
    if text in ("True", "False"):
        return text == "True"
    return float(text)


def run(case, shapes, use_order):
    name, _, text = case.partition(":")
    options = {k: value_of(v) for k, v in (pair.split("=") for pair in text.split(",") if pair)}
    model = Model(shapes, use_order)
    replica = DistributedDataParallel(model, **options)
    index_of = {id(p): i for i, p in enumerate(model.values)}
    launched = []

    def note_and_reduce(group, bucket):
        launched.append([index_of[id(p)] for p in bucket.parameters()])
        return allreduce_hook(group, bucket)

    replica.register_comm_hook(None, note_and_reduce)
    # Buckets are rebuilt before the second step, those of a static graph, whose first step shows it, before the third.
    last = 2 if options.get("static_graph") else 1
    for step in range(last + 1):
        launched.clear()
        replica(torch.ones(())).backward()
        if rank == 0 and step in (0, last):
            plan = ";".join(",".join(map(str, bucket)) for bucket in launched)
            print(name, "first" if step == 0 else "rebuilt", plan, flush=True)
    logged = replica._get_ddp_logging_data().get("rebuilt_bucket_sizes", "")
    sizes = ", ".join(str(sum(model.values[i].numel() * 4 for i in b)) for b in launched)
    if logged and logged != sizes:
        sys.exit(f"{name}: the logged sizes {logged} differ from the launched {sizes}")


def main():
    store_file, shapes, use_order, *cases = sys.argv[1:]
    dist.init_process_group("gloo", init_method="file://" + store_file, rank=rank, world_size=2)
    torch.set_num_threads(1)
    for case in cases:
        run(
            case,
            [tuple(map(int, shape.split("x"))) for shape in shapes.split(",")],
            list(map(int, use_order.split(","))),
        )
    dist.barrier()
    dist.destroy_process_group()


main()
if rank == 0:
    _, status = os.wait()
    sys.exit(os.waitstatus_to_exitcode(status))
