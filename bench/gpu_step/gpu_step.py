"""The step time of one rank beside PyTorch's eager, DDP and compiled DDP, and the memory of full_shard on two ranks.

One sequence, several times over: a GPT (gpt-162m: 12 layers, 768 wide, vocabulary 50,304) from the same weights and
batches, with the same optimizer (fused AdamW) and the same reading of the loss in every step. A run's step time is the
median over its measured steps, from the start of one to the start of the next; reported is the median over runs, with
the lowest and the highest. Ours record no detail then. Memory: the most bytes that CUDA's caching allocator had handed
out at one moment of a measured step on any rank (on a CPU the bytes of tensors), two ranks sharing one GPU.
Without a GPU it says so and leaves with 0, unless --device cpu asks for the CPU.
"""
import pathlib
import tempfile

import gpu_bench  # also finds the modules below
from gpu_bench import gpus_of, job_settings
from strategies import check_same_work, memory_row, say, time_row, write_text
from trainings import Task, train_ours, train_peer

# Ours and PyTorch's, one rank each; the second of a pair is what PyTorch's side is asked for.
PEERS = {
    "PyTorch eager": {"replicates": False},
    "DistributedDataParallel": {},
    "DistributedDataParallel with torch.compile": {"compiles": True},
}
OURS = {
    "ddp": {},
    "ddp, all logits at once": {"loss_chunk_tokens": 0},
    "full_shard": {"sharding_strategy": "full_shard"},
}


def parse_options():
    parser = gpu_bench.option_parser("gpu_step", __doc__, steps=40)
    gpu_bench.add_device(parser)
    parser.add_argument("--model", default="gpt-162m", help="a preset of GPT-2's layout; default gpt-162m")
    parser.add_argument("--repeats", type=int, default=3, help="of the whole sequence; default 3")
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile out")
    parser.add_argument("--no-memory", action="store_true", help="leave the memory of two ranks out")
    options = parser.parse_args()
    if options.steps <= options.skip or options.repeats < 1:
        parser.error("--steps has to be above --skip and --repeats above 0")
    return options


def slug(name):
    """As the name of a folder."""
    return name.replace(" ", "-").replace(",", "")


def run_sequence(task, options, ours, theirs, failed):
    """Adds one step time to each side; a peer that cannot run here (torch.compile wants Python's headers) is named."""
    for repeat in range(options.repeats):
        reference = None
        for name, extra in PEERS.items():
            if name in failed or (options.no_compile and extra.get("compiles")):
                continue
            say(f"{name}: run {repeat + 1} of {options.repeats}")
            try:
                training = train_peer(task, {"sharding_strategy": "ddp", **extra}, 1, False, f"{repeat}-{slug(name)}")
            except RuntimeError as error:
                failed[name] = str(error)
                continue
            theirs[name].append(training.step_ms)
            reference = reference or training
        for name, extra in OURS.items():
            say(f"{name}: run {repeat + 1} of {options.repeats}")
            case = {"sharding_strategy": "ddp", **extra}
            training = train_ours(task, case, 1, False, f"ours-{repeat}-{slug(name)}")
            if reference is not None:
                check_same_work(name, training, reference, options.precision)
            ours[name].append(training.step_ms)


def time_rows(ours, theirs, failed, is_gpu):
    # The budget is against what does the same: DDP.
    rows = [time_row(name, peer, times, peer_times, is_gpu and name == "ddp" and peer == "DistributedDataParallel")
            for name, times in ours.items() for peer, peer_times in theirs.items() if peer_times]
    rows += [{"what": f"{peer} did not run: {error[:300]}", "value": None, "unit": None, "peer": None, "ratio": None,
              "budget": None, "met": None} for peer, error in failed.items()]
    return rows


def memory_rows(task):
    case = {"sharding_strategy": "full_shard"}
    rows = []
    for label, extra, peer, peer_extra in (
            ("full_shard, 2 ranks", {}, "fully_shard", {}),
            ("full_shard, 2 ranks, all logits at once", {"loss_chunk_tokens": 0}, "fully_shard, logits in fp32, too",
             {"widens_logits": True})):
        say(f"{label}: memory")
        ours = train_ours(task, {**case, **extra}, 2, True, slug(label))
        theirs = train_peer(task, {**case, **peer_extra}, 2, True, slug(label) + "-peer")
        rows.append(memory_row(label, peer, ours.peak_bytes, theirs.peak_bytes))
    return rows


def measure(options):
    settings = job_settings(options, options.model)
    ours, theirs, failed = {name: [] for name in OURS}, {name: [] for name in PEERS}, {}
    with tempfile.TemporaryDirectory(prefix="shardlens-bench-") as name:
        folder = pathlib.Path(name)
        # An epoch of two ranks is longer than a run.
        write_text(folder / "text.txt", 8 * options.batch * options.length * (options.steps + 1))
        task = Task(options.programs, folder, options.device, gpus_of(options), settings, options.skip)
        run_sequence(task, options, ours, theirs, failed)
        rows = time_rows(ours, theirs, failed, options.device == "cuda")
        if not options.no_memory:
            rows += memory_rows(task)
    return rows


if __name__ == "__main__":
    gpu_bench.run(parse_options(), measure, "--device cpu --model tiny")
