"""Reads a saved checkpoint without Shardlens: by the format's definition, and with the package
`safetensors` where it is installed.   read_from_python.py PROBE"""

import json
import os
import struct
import subprocess
import sys
import tempfile

import torch

PARAMETERS = [("transformer.wte.weight", (7, 5)), ("transformer.h.0.attn.c_attn.weight", (4, 6)),
              ("transformer.h.0.attn.c_attn.bias", (3,)), ("scale", ()),
              ("transformer.ln_f.weight", (11,))]
FROZEN = "transformer.h.0.attn.c_attn.bias"


def read(path):
    """Tensors by name, and the metadata."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    metadata = header.pop("__metadata__")
    assert all(isinstance(text, str) for text in metadata.values())
    tensors = {}
    at = 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = entry["data_offsets"]
        assert begin == at, f"a gap before {name}"
        at = end
        assert entry["dtype"] == "F32"
        values = torch.frombuffer(bytearray(data[begin:end]), dtype=torch.float32)
        tensors[name] = values.reshape(entry["shape"])
    assert at == len(data)
    return tensors, metadata


def expected(index, shape, slot):
    numel = torch.Size(shape).numel()
    return (torch.arange(numel) + 1000.0 * (index + 1) + 100.0 * slot).reshape(shape)


def check(tensors, suffixes):
    wanted = {name + suffix: expected(i, shape, slot)
              for i, (name, shape) in enumerate(PARAMETERS)
              for slot, suffix in suffixes.items() if slot == 0 or name != FROZEN}
    assert tensors.keys() == wanted.keys(), tensors.keys() ^ wanted.keys()
    for name, values in wanted.items():
        assert torch.equal(tensors[name], values), name


def joined(folder, prefix):
    """The parts of all ranks' files, put together by their names."""
    parts = {}
    for file in sorted(os.listdir(folder)):
        if file.startswith(prefix):
            for name, values in read(os.path.join(folder, file))[0].items():
                name, _, span = name.partition("@")
                begin = int(span.split(":")[0]) if span else 0
                parts.setdefault(name, []).append((begin, values.flatten()))
    return {name: torch.cat([values for _, values in sorted(pieces, key=lambda piece: piece[0])])
            for name, pieces in parts.items()}


def main():
    probe = sys.argv[1]
    moments = {1: ".first_moment", 2: ".second_moment"}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([probe, "save", folder, "full"], check=True)
        full = os.path.join(folder, "step_000020")
        tensors, metadata = read(os.path.join(full, "model.safetensors"))
        assert metadata["format"] == "pt"
        check(tensors, {0: ""})
        check(read(os.path.join(full, "optimizer.safetensors"))[0], moments)
        try:
            from safetensors.torch import load_file
        except ImportError:
            print("the package safetensors is not installed: read by the format's definition alone")
        else:
            check(load_file(os.path.join(full, "model.safetensors")), {0: ""})
        subprocess.run([probe, "save", folder, "sharded"], check=True)
        sharded = joined(full, "model_rank_")
        shapes = dict(PARAMETERS)
        check({name: values.reshape(shapes[name]) for name, values in sharded.items()}, {0: ""})
    print("all tensors are as they were saved")


main()
