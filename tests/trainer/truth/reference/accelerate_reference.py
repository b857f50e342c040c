"""Trains with what Accelerate makes of a configuration file, on the CPU, and prints losses and its FSDP plugin as JSON.

Reads a JSON job from standard input: weights, text, settings shared by all cases, ranks, cases with their "yaml".
Accelerate shards only where there is a GPU, so its own function that does is called here for it.
"""
import os
import pathlib
import tempfile
import types

import torch
from accelerate import Accelerator
from accelerate.commands import launch
from accelerate.state import AcceleratorState, PartialState
from accelerate.utils import FullyShardedDataParallelPlugin, ParallelismConfig, fsdp_utils
from accelerate.utils.launch import prepare_multi_gpu_env
from torch.distributed.fsdp import CPUOffloadPolicy

import reference_models
import reference_training


class GPT2Block(reference_models.Gpt2Block):
    """By the name that transformers' has."""


def environment_of(yaml):
    """What `accelerate launch --config_file` would hand to the ranks, and the arguments that it made of the file."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "accelerate.yaml"
        file.write_text(yaml)
        arguments = launch.launch_command_parser().parse_args(["--config_file", str(file), "train.py"])
        arguments, _, _ = launch._validate_launch_command(arguments)
    return arguments, prepare_multi_gpu_env(arguments)


def replicated(model, arguments):
    for state in (AcceleratorState, PartialState):
        state._reset_state(*((True,) if state is AcceleratorState else ()))
    accelerator = Accelerator(cpu=True, mixed_precision=arguments.mixed_precision)
    return accelerator.prepare_model(model)


def plugin_facts(plugin):
    policy, mixed = plugin.auto_wrap_policy, plugin.mixed_precision_policy
    return dict(version=plugin.fsdp_version, frees=plugin.reshard_after_forward,
                offloads="CPUOffload" in type(plugin.cpu_offload).__name__,
                recomputes=plugin.activation_checkpointing, policy=policy and policy.__name__,
                min_num_params=plugin.min_num_params, param_dtype=str(mixed.param_dtype) if mixed else None)


def sharded(model, arguments, rank):
    plugin = FullyShardedDataParallelPlugin()
    if arguments.mixed_precision != "no":
        plugin.set_mixed_precision(arguments.mixed_precision)
    facts = plugin_facts(plugin)
    if facts["offloads"]:
        plugin.cpu_offload = CPUOffloadPolicy(pin_memory=False)  # pinned memory is a driver's
    groups = ParallelismConfig() if arguments.use_parallelism_config else None
    accelerator = types.SimpleNamespace(
        state=types.SimpleNamespace(fsdp_plugin=plugin), parallelism_config=groups,
        torch_device_mesh=groups.build_device_mesh("cpu") if groups else None,
        mixed_precision=arguments.mixed_precision, device=torch.device("cpu"), is_main_process=rank == 0)
    if plugin.activation_checkpointing:
        model = fsdp_utils.fsdp2_apply_ac(accelerator, model)
    return fsdp_utils.fsdp2_prepare_model(accelerator, model), facts


def run_case(job, case, rank, ranks):
    arguments, environment = environment_of(case["yaml"])
    assert arguments.num_processes == ranks, arguments.num_processes
    before = dict(os.environ)
    # Accelerate wants to know where rank 0 is, though the ranks have met.
    os.environ.update(environment, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1",
                      MASTER_PORT="29500")
    model, facts = reference_training.fresh_model(job), None
    if arguments.use_fsdp:
        model, facts = sharded(model, arguments, rank)
    else:
        model = replicated(model, arguments)
    optimizer = torch.optim.AdamW(reference_training.parameter_groups(job, model))
    losses = reference_training.train(job, case, rank, ranks, model, optimizer)
    os.environ.clear()
    os.environ.update(before)
    return {"losses": losses, "plugin": facts}


def loss_in_fp32(logits, targets, cross_entropy=reference_models.cross_entropy):
    """As ours computes it, whatever the type of the logits."""
    return cross_entropy(logits.float(), targets)


if __name__ == "__main__":
    reference_models.cross_entropy = loss_in_fp32
    reference_models.Gpt2.block = GPT2Block
    reference_training.run_cases(run_case)
