"""Logits, loss and gradients of a family's models equal transformers', loaded from the same folders; and folders that were
read and saved again are loaded by transformers, without a word, with equal logits.

families_truth.py PROBE [FAMILY…]: the configurations in families.py, and a preset.
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

TOLERANCE = 1e-4
BATCH, TIME = 3, 40
# How a folder is saved: the type of its values and the largest file.
WAYS = [("as-it-is", 10**12), ("BF16", 60_000), ("F32", 60_000)]
TYPES = {"BF16": torch.bfloat16, "F32": torch.float32}


def batch_for(family, config):
    torch.manual_seed(11)
    text = torch.randint(6, 300, (BATCH, TIME + 1))
    if not families.is_encoder(family):
        targets = text[:, 1:].clone()
        targets[0, :5] = -100
        return dict(tokens=text[:, :-1].contiguous(), targets=targets)
    tokens, mask = text[:, :TIME].contiguous(), torch.ones(BATCH, TIME, dtype=torch.bool)
    tokens[1, 25:], mask[1, 25:] = config.pad_token_id, False
    return dict(tokens=tokens, targets=torch.tensor([0, config.num_labels - 1, 1]), mask=mask)


def difference(ours, theirs, least_scale=1e-6):
    scale = max(theirs.abs().max().item(), least_scale)
    return ((ours - theirs).abs().max() / scale).item()


def check(probe, family, name, config, save, folder):
    families.make(family, config, save, folder)
    batch = batch_for(family, config)
    torch.save(batch, folder.parent / "batch.pt")
    probe.ask("run", folder, folder.parent / "batch.pt", folder.parent / "ours.pt")
    ours = torch.load(folder.parent / "ours.pt", weights_only=False)

    model = families.load(family, folder)
    weights = {k.removeprefix("weight."): v for k, v in ours.items() if k.startswith("weight.")}
    names = [n for n, _ in model.named_parameters()]
    assert sorted(names) == sorted(weights), f"{name}: names differ: {set(names) ^ set(weights)}"
    with torch.no_grad():
        for parameter_name, parameter in model.named_parameters():
            is_new = "auto" in save and ("classifier" in parameter_name or "pooler" in parameter_name)
            assert is_new or torch.equal(weights[parameter_name], parameter), f"{name}: {parameter_name} was read wrong"
            parameter.copy_(weights[parameter_name])  # new heads are drawn by each for itself
    output = model(input_ids=batch["tokens"], attention_mask=batch.get("mask"))
    loss = torch.nn.functional.cross_entropy(output.logits.flatten(0, -2), batch["targets"].flatten())
    loss.backward()
    differences = {"logits": difference(ours["logits"], output.logits), "loss": difference(ours["loss"], loss)}
    # Softmax does not depend on the keys' bias: its gradient is rounding alone, and has no scale of its own.
    least = 1e-3 * max(p.grad.abs().max().item() for p in model.parameters())
    for parameter_name, parameter in model.named_parameters():
        differences[parameter_name] = difference(ours["gradient." + parameter_name], parameter.grad, least)
    worst = max(differences, key=differences.get)
    print(f"{family}, {name}: {len(names)} parameters, worst relative difference {differences[worst]:.1e} ({worst})",
          flush=True)
    return differences[worst] < TOLERANCE


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


def check_saved(probe, family, name, settings, folder):
    (folder / "tokenizer.json").write_text("{}")
    for kind, size in WAYS:
        into = folder.parent / f"saved {kind}"
        probe.ask("save", folder, into, kind, size)
        stored = TYPES.get(kind, settings.get("dtype", torch.float32))
        saved = load_loudly(family, into, torch.float32)
        # Rounded as the folder is; heads that the original lacks are our own.
        expected = rounded(load_with_new_heads(family, folder, saved, settings), stored)
        difference = (logits(saved, family) - logits(expected, family)).abs().max().item()
        assert difference < 1e-5, f"{family}, {name}, {kind}: logits differ by {difference}"
        written = json.loads((into / "config.json").read_text())
        assert (written.get("dtype") or written["torch_dtype"]) == str(stored).removeprefix("torch."), written
        assert (into / "tokenizer.json").exists()
        assert ((into / "model.safetensors.index.json").exists()) == (size < 10**6), "files"


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


def main():
    probe = folder_probe.FolderProbe(sys.argv[1])
    good = []
    for family in sys.argv[2:] or families.CASES:
        for name, config, save in families.CASES[family]:
            with tempfile.TemporaryDirectory() as temporary:
                folder = pathlib.Path(temporary) / "model"
                good.append(check(probe, family, name, config, save, folder))
                check_saved(probe, family, name, save, folder)
    with tempfile.TemporaryDirectory() as folder:
        check_preset(probe, "tiny", 2384448, pathlib.Path(folder))
    sys.exit(0 if all(good) else 1)


transformers.utils.logging.set_verbosity_warning()
main()
