"""What the programs share that TorchTracesTest traces. Runs in PyTorch's Python, in a process of each rank."""
import json
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.profiler import ProfilerActivity, profile, schedule


def train(model, trace, backward, steps, micro_batches=1, warmup=2, record_shapes=True, **options):
    """Profiles `steps` into the file `trace`. `backward(is_last)` computes gradients of a micro-batch; those of the last
    one of a step have to be reduced."""
    optimizer = torch.optim.AdamW(model.parameters())
    with profile(activities=[ProfilerActivity.CPU], record_shapes=record_shapes,
                 on_trace_ready=lambda profiled: profiled.export_chrome_trace(trace),
                 schedule=schedule(wait=0, warmup=warmup, active=steps, repeat=1), **options) as profiled:
        for _ in range(warmup + steps):
            optimizer.zero_grad()
            for i in range(micro_batches): backward(i + 1 == micro_batches)
            optimizer.step()
            profiled.step()


def _work(rank, folder, ranks, train_all):
    torch.set_num_threads(1)
    dist.init_process_group('gloo', init_method=f'file://{folder}/store', rank=rank, world_size=ranks)
    said = train_all(lambda name: f'{folder}/{name}.rank{rank}.json')
    if rank == 0:
        with open(f'{folder}/said.json', 'w') as file: json.dump(said, file)
    dist.destroy_process_group()


def run(train_all, ranks=2):
    """Ranks over Gloo. `train_all(trace)` trains one job after the other, each into the file `trace(name)`, and returns
    by name what PyTorch itself says of it."""
    # Forked, so that PyTorch is imported once: it has started no thread here.
    mp.start_processes(_work, args=(sys.argv[1], ranks, train_all), nprocs=ranks, start_method='fork')
