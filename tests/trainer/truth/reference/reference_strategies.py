"""PyTorch's own counterparts of our strategies."""
import torch
import torch._dynamo  # noqa: F401 - optimizers would: in every rank, where all ranks are forked from one import
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer

TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


def shard_optimizer(groups, **options):
    # Its defaults want a learning rate, though each group has one.
    return ZeroRedundancyOptimizer(groups, torch.optim.AdamW, parameters_as_bucket_view=True, lr=groups[0]["lr"],
                                   **options)


def shard_fully(model, case, ranks, device="cpu"):
    """Each block is a unit, the rest the root, as our wrap_policy transformer_block."""
    if "shard_group_size" in case:
        size = case["shard_group_size"]
        mesh = init_device_mesh(device, (ranks // size, size), mesh_dim_names=("replicate", "shard"))
    else:
        mesh = init_device_mesh(device, (ranks,))
    frees = case["sharding_strategy"] in ("full_shard", "hybrid_shard")
    types = {name: TYPES[case[name]] for name in ("param_dtype", "reduce_dtype") if name in case}
    policy = MixedPrecisionPolicy(**types)
    for block in model.transformer["h"]:
        fully_shard(block, mesh=mesh, reshard_after_forward=frees, mp_policy=policy)
    # Its default for the root: kept until backward has used it.
    fully_shard(model, mesh=mesh, reshard_after_forward=False, mp_policy=policy)
    return model


def set_sync(model, sync):
    """Whether the next backward reduces gradients."""
    if hasattr(model, "set_requires_gradient_sync"):
        model.set_requires_gradient_sync(sync)
    else:
        model.require_backward_grad_sync = sync
