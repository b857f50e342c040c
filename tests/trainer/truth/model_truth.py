"""The models' logits, loss and gradients equal a plain PyTorch model's with the same weights.

model_truth.py PROBE: PROBE models FILE writes what the C++ models computed.
"""
import pathlib
import subprocess
import sys
import tempfile

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent / "reference"))
import reference_models  # noqa: E402

TOLERANCE = 1e-5


def largest_difference(ours, theirs):
    return ((ours - theirs).abs().max() / theirs.abs().max()).item()


def check(name, case):
    shape = {k.removeprefix("shape."): v.item() for k, v in case.items() if k.startswith("shape.")}
    layout = reference_models.Gpt2 if shape["gpt2"] else reference_models.Llama
    model = layout(shape)
    weights = {k.removeprefix("weight."): v for k, v in case.items() if k.startswith("weight.")}
    names = [n for n, _ in model.named_parameters()]
    assert names == [n for n in weights], f"{name}: names or order differ: {names} {list(weights)}"
    model.load_state_dict(weights, strict=False)
    logits = model(case["tokens"])
    loss = reference_models.cross_entropy(logits, case["targets"])
    loss.backward()

    differences = {"logits": largest_difference(case["logits"], logits)}
    differences["loss"] = largest_difference(case["loss"], loss)
    for parameter_name, parameter in model.named_parameters():
        gradient = case["gradient." + parameter_name]
        differences[parameter_name] = largest_difference(gradient, parameter.grad)
    worst = max(differences, key=differences.get)
    print(f"{name}: {len(weights)} parameters, worst relative difference {differences[worst]:.2e} ({worst})")
    return differences[worst] < TOLERANCE


def main():
    with tempfile.TemporaryDirectory() as folder:
        file = folder + "/models.pt"
        subprocess.run([sys.argv[1], "models", file], check=True)
        values = torch.load(file, weights_only=False)
    cases = {}
    for key, value in values.items():
        name, rest = key.split("/", 1)
        cases.setdefault(name, {})[rest] = value
    assert len(cases) == 3, cases.keys()
    good = [check(name, case) for name, case in cases.items()]
    sys.exit(0 if all(good) else 1)


main()
