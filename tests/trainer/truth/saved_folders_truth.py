"""Folders that were read and saved again are loaded by transformers, without a word, with equal logits.

saved_folders_truth.py PROBE [FAMILY…]: the configurations in families.py, and a preset.
"""
import json
import pathlib
import sys
import tempfile

import torch
import transformers

import folder_probe

sys.path.insert(0, str(pathlib.Path(__file__).parent / "reference"))
import families  # noqa: E402

# How a folder is saved: the type of its values and the largest file.
WAYS = [("as-it-is", 10**12), ("BF16", 60_000), ("F32", 60_000)]
TYPES = {"BF16": torch.bfloat16, "F32": torch.float32}


def logits(model, family):
    torch.manual_seed(11)
    tokens = torch.randint(6, 250, (2, 24))
    with torch.no_grad():
        return model.eval()(input_ids=tokens).logits


def load_loudly(family, folder, dtype):
    """Loads with what from_pretrained has to say about keys."""
    _, trained = families.classes(family, {})
    model, info = trained.from_pretrained(folder, dtype=dtype, output_loading_info=True)
    for what in ("missing_keys", "unexpected_keys", "mismatched_keys", "error_msgs"):
        assert not info[what], f"{family}: {what}: {info[what]}"
    return model


def check_folder(probe, family, name, config, settings, folder):
    families.make(family, config, settings, folder / "from")
    (folder / "from" / "tokenizer.json").write_text("{}")
    for kind, size in WAYS:
        into = folder / f"saved {kind}"
        probe.ask("save", folder / "from", into, kind, size)
        stored = TYPES.get(kind, settings.get("dtype", torch.float32))
        saved = load_loudly(family, into, torch.float32)
        # Rounded as the folder is; heads that the original lacks are our own.
        expected = rounded(load_with_new_heads(family, folder / "from", saved, settings), stored)
        difference = (logits(saved, family) - logits(expected, family)).abs().max().item()
        assert difference < 1e-5, f"{family}, {name}, {kind}: logits differ by {difference}"
        written = json.loads((into / "config.json").read_text())
        assert (written.get("dtype") or written["torch_dtype"]) == str(stored).removeprefix("torch."), written
        assert (into / "tokenizer.json").exists()
        assert ((into / "model.safetensors.index.json").exists()) == (size < 10**6), "files"
    print(f"{family}, {name}: good", flush=True)


def rounded(model, dtype):
    """Its parameters alone: the tables of positions are not stored."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(parameter.to(dtype))
    return model


def load_with_new_heads(family, folder, saved, settings):
    model = families.load(family, folder)
    if "auto" in settings:
        given = dict(saved.named_parameters())
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if "classifier" in name or "pooler" in name:
                    parameter.copy_(given[name])
    return model


def check_preset(probe, preset, parameters, folder):
    probe.ask("save", preset, folder / preset, "as-it-is", 10**12)
    model = load_loudly("gpt2", folder / preset, torch.float32)
    assert sum(p.numel() for p in model.parameters()) == parameters, preset
    assert logits(model, "gpt2").isfinite().all()
    print(f"preset {preset}: good", flush=True)


def main():
    probe = folder_probe.FolderProbe(sys.argv[1])
    for family in sys.argv[2:] or families.CASES:
        for name, config, settings in families.CASES[family]:
            with tempfile.TemporaryDirectory() as folder:
                check_folder(probe, family, name, config, settings, pathlib.Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        check_preset(probe, "tiny", 2384448, pathlib.Path(folder))


transformers.utils.logging.set_verbosity_warning()
main()
