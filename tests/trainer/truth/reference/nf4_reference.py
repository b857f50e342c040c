"""QLoRA's 4-bit NormalFloat (Dettmers et al. 2023), as published, with numpy: no code in common with ours."""
import numpy
import torch

BLOCK = 64
LEVELS = numpy.array([
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
    -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0], dtype=numpy.float32)


def codes_and_scales(values):
    """Of a flat array: the nearest level of each value over its block's largest absolute value."""
    flat = numpy.concatenate([values.ravel(), numpy.zeros(-values.size % BLOCK, dtype=numpy.float32)])
    blocks = flat.reshape(-1, BLOCK)
    scales = numpy.abs(blocks).max(axis=1, keepdims=True)
    shares = blocks / numpy.where(scales == 0, 1, scales)
    distances = numpy.abs(shares[:, :, None].astype(numpy.float64) - LEVELS[None, None, :])
    return distances.argmin(axis=2), scales


def rounded(tensor):
    """What the values are once they have been in 4 bits."""
    codes, scales = codes_and_scales(tensor.detach().numpy().astype(numpy.float32))
    flat = (LEVELS[codes] * scales).ravel()[: tensor.numel()]
    return torch.from_numpy(flat.reshape(tensor.shape).copy())
