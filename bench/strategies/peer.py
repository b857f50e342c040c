"""One rank of PyTorch's own training, timed and with its memory counted.

Reads a JSON job from the file given; the environment says which rank it is, or, with no RANK, all of WORLD_SIZE start
here, which takes one import of PyTorch. Without "weights" those of PyTorch's own initialization are trained. Writes
{"starts_ns": when each step began, and when the last one ended; "ends_ns"; "losses"; "peaks": bytes, step by step, if
asked to count; "counted": what the file "counters" + rank held after each step, if one is named} to the job's
"result" + rank.
"""
import array
import ctypes
import json
import os
import pathlib
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile
from torch.utils.data import DistributedSampler

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/trainer/truth/reference"))
import peer_model
import reference_strategies

END_OF_TEXT = 256


class NoCount:
    def begin(self):
        pass

    def end(self):
        return None


class CpuCount:
    """Bytes that tensors hold, by the allocator that counts ours."""

    def __init__(self, library):
        self.library = ctypes.CDLL(library)
        self.library.take_allocation_peak.restype = ctypes.c_int64
        if self.library.count_allocations() != 0:
            sys.exit(1)

    def begin(self):
        self.library.take_allocation_peak()

    def end(self):
        return self.library.take_allocation_peak()


class GpuCount:
    def begin(self):
        torch.cuda.reset_peak_memory_stats()

    def end(self):
        # As requested, as ours are counted: without what blocks have beyond that.
        return torch.cuda.memory_stats()["requested_bytes.all.peak"]


def batches(job, rank, ranks, device):
    tokens = torch.tensor(list(pathlib.Path(job["text"]).read_bytes()) + [END_OF_TEXT])
    length, size, epoch = job["sequence_length"], job["batch_per_rank"], 0
    blocks = [tokens[i * length : (i + 1) * length + 1] for i in range((len(tokens) - 1) // length)]
    while True:
        sampler = DistributedSampler(blocks, ranks, rank, shuffle=True, seed=job["seed"], drop_last=True)
        sampler.set_epoch(epoch)
        order = list(sampler)
        for i in range(0, len(order) - size + 1, size):
            both = torch.stack([blocks[b] for b in order[i : i + size]])
            # Pinned and not waited for, as ours on a GPU.
            yield tuple(part.contiguous() if device == "cpu" else part.pin_memory().to(device, non_blocking=True)
                        for part in (both[:, :-1], both[:, 1:]))
        epoch += 1


def parameter_groups(job, model):
    decayed = [p for p in model.parameters() if p.dim() >= 2]
    plain = [p for p in model.parameters() if p.dim() < 2]
    return [{"params": decayed, "weight_decay": job["weight_decay"], "lr": job["learning_rate"]},
            {"params": plain, "weight_decay": 0.0, "lr": job["learning_rate"]}]


def build(job, ranks, device):
    with torch.device(device):
        model = peer_model.Gpt2(job["shape"], job.get("widens_logits", False))
    if "weights" in job:
        model.load_state_dict(torch.load(job["weights"], weights_only=False), strict=False)
    if not job.get("replicates", True):
        return model, torch.optim.AdamW(parameter_groups(job, model), fused=True)
    if job["sharding_strategy"] in ("ddp", "no_shard", "zero1"):
        replica = DistributedDataParallel(model)
        if job.get("compiles"):
            replica = torch.compile(replica)
        groups = parameter_groups(job, model)
        if job["sharding_strategy"] == "zero1":
            return replica, reference_strategies.shard_optimizer(groups, fused=True)
        return replica, torch.optim.AdamW(groups, fused=True)
    reference_strategies.shard_fully(model, job, ranks, device)
    return model, torch.optim.AdamW(parameter_groups(job, model), fused=True)


class Recording:
    """PyTorch's own profiler, on during every second block of steps, as `profiles` asks for."""

    def __init__(self, job, device):
        self.block, self.profiler = job.get("profiles", 0), None
        self.activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device == "cuda" else [])

    def before_step(self, step):
        if self.block == 0 or step % self.block != 0:
            return
        self.end()
        if step // self.block % 2 == 1:
            self.profiler = profile(activities=self.activities)
            self.profiler.__enter__()

    def end(self):
        if self.profiler is not None:
            self.profiler.__exit__(None, None, None)
            self.profiler = None


def train(job, rank, ranks, device, count):
    model, optimizer = build(job, ranks, device)
    data = batches(job, rank, ranks, device)
    recording = Recording(job, device)
    compute_type = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(job.get("precision"))
    starts, ends, losses, peaks, counted = [], [], [], [], []
    for step in range(job["steps"]):
        recording.before_step(step)
        starts.append(time.time_ns())
        count.begin()
        inputs, targets = next(data)
        with torch.autocast(device, dtype=compute_type, enabled=compute_type is not None):
            loss = model(inputs, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), job["max_grad_norm"])
        optimizer.step()
        optimizer.zero_grad()
        total = loss.detach().clone()
        dist.all_reduce(total)
        losses.append(total.item() / ranks)
        peaks.append(count.end())
        ends.append(time.time_ns())
        if "counters" in job:
            counted.append(array.array("q", pathlib.Path(f"{job['counters']}{rank}").read_bytes()).tolist())
    recording.end()
    starts.append(ends[-1])
    return {"starts_ns": starts, "ends_ns": ends, "losses": losses, "peaks": peaks, "counted": counted}


def start_ranks(ranks):
    """In each of the processes that it forks it returns; this one ends with them."""
    processes = []
    for rank in range(ranks):
        process = os.fork()
        if process == 0:
            os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank))
            return
        processes.append(process)
    sys.exit(max(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) != 0 for process in processes))


def main():
    if "RANK" not in os.environ:
        start_ranks(int(os.environ["WORLD_SIZE"]))
    job = json.loads(pathlib.Path(sys.argv[1]).read_text())
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.set_num_threads(job["threads_per_rank"])
    torch.set_num_interop_threads(1)
    on_gpu = job["device"] == "cuda"
    count = NoCount()
    if job["counts_memory"]:
        count = GpuCount() if on_gpu else CpuCount(job["count_library"])
    if on_gpu:
        torch.cuda.set_device(rank % torch.cuda.device_count())
        # NCCL refuses two ranks on one GPU unless they seem to be on different hosts; between hosts it goes over sockets.
        if ranks > torch.cuda.device_count():
            os.environ["NCCL_HOSTID"] = f"rank-{rank}"
    dist.init_process_group("nccl" if on_gpu else "gloo", init_method="file://" + os.environ["SHARDLENS_STORE_FILE"],
                            rank=rank, world_size=ranks)
    result = train(job, rank, ranks, job["device"], count)
    pathlib.Path(f"{job['result']}{rank}").write_text(json.dumps(result))
    dist.barrier()
    dist.destroy_process_group()
    # Python's own way out meets threads of Gloo that nobody joins, and now and then ends in std::terminate.
    os._exit(0)


main()
