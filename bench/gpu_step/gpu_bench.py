"""What the GPU benchmarks do alike: their common options, the settings of the job, and how they begin and end."""
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "strategies"))
from strategies import SEED, say  # also finds benchmark

import benchmark
from benchmark import print_rows


def option_parser(name, description, steps):
    parser = benchmark.option_parser(name, description)
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="bf16")
    parser.add_argument("--batch", type=int, default=8, help="sequences per rank; default 8")
    parser.add_argument("--length", type=int, default=1024, help="tokens per sequence; default 1024")
    parser.add_argument("--steps", type=int, default=steps, help=f"of each run; default {steps}")
    parser.add_argument("--skip", type=int, default=10, help="first steps that are not measured; default 10")
    return parser


def add_device(parser):
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu proves the script; default cuda")


def job_settings(options, model):
    return dict(model=model, batch_per_rank=options.batch, sequence_length=options.length, steps=options.steps,
                threads_per_rank=1, seed=SEED, evaluation_fraction=0, learning_rate=0.0003, lr_schedule="constant",
                weight_decay=0.01, max_grad_norm=1.0, precision=options.precision)


def gpus_of(options):
    return torch.cuda.device_count() if options.device == "cuda" else 0


def run(options, measure, on_a_cpu):
    """Prints the rows of measure(options). Without a GPU: none, and how the script is tried `on_a_cpu`."""
    if options.device == "cuda" and not torch.cuda.is_available():
        say(f"no GPU: nothing was measured; {on_a_cpu} tries the script")
        print("[]")
        return
    print_rows(options, measure)
