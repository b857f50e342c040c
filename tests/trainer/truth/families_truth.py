"""Logits, loss and gradients of a family's models equal transformers', loaded from the same folders.

families_truth.py PROBE [FAMILY…]: see families.py for the configurations.
"""
import pathlib
import sys
import tempfile

import torch

import folder_probe

sys.path.insert(0, str(pathlib.Path(__file__).parent / "reference"))
import families  # noqa: E402

TOLERANCE = 1e-4
BATCH, TIME = 3, 40


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
    torch.save(batch, folder / "batch.pt")
    probe.ask("run", folder, folder / "batch.pt", folder / "ours.pt")
    ours = torch.load(folder / "ours.pt", weights_only=False)

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


def main():
    probe = folder_probe.FolderProbe(sys.argv[1])
    good = []
    for family in sys.argv[2:] or families.CASES:
        for name, config, save in families.CASES[family]:
            with tempfile.TemporaryDirectory() as folder:
                good.append(check(probe, family, name, config, save, pathlib.Path(folder)))
    sys.exit(0 if all(good) else 1)


main()
