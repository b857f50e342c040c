"""uneven_inputs: join = PyTorch's own Join: losses and parameters.

join_truth.py RANK_PROGRAM: four ranks and a text of which rank 0 has one batch more than the others in every epoch.

Definitions. Gradients are divided by the number of all ranks, as Join does unless divide_by_initial_world_size is
False; a case with that shows that the difference would be seen. The recorded loss is the mean over ranks with data.
What Join leaves to its user, ours does: a joined rank's optimizer steps like the others' (under Join, AdamW of a
replicated model does not, and its moments lag behind in the next epoch, so that comparison takes one epoch; SGD
remembers nothing, and the partitioned AdamW's gradients are set by hand), and gradients that a rank has accumulated
before it runs out of data are reduced (Join reduces zeros instead; not compared).
"""
import json
import pathlib
import struct
import sys
import tempfile

import torch

import ranks as rank_jobs
import truth_jobs

RANKS, BATCH, LENGTH, EVEN_STEPS, EPOCHS = 4, 2, 32, 5, 2
STEPS = EVEN_STEPS + 1  # of an epoch
COMMON = dict(model="tiny", device="cpu", sequence_length=LENGTH, batch_per_rank=BATCH, evaluation_fraction=0,
              lr_schedule="constant", max_grad_norm=0, seed=3, threads_per_rank=1)
OURS = dict(uneven_inputs="join", drop_last=False, record="steps 0..1")
SGD = dict(optimizer="sgd", learning_rate=0.01, weight_decay=0)
ADAMW = dict(optimizer="adamw", learning_rate=0.0003, weight_decay=0.1)
CASES = {
    "ddp, SGD": dict(sharding_strategy="ddp", epochs=EPOCHS, **SGD),
    "ddp, AdamW": dict(sharding_strategy="ddp", epochs=1, **ADAMW),
    "zero1, AdamW": dict(sharding_strategy="zero1", epochs=EPOCHS, **ADAMW),
}
OTHER_DEFINITION = "ddp, SGD, divided by those with data"


def final_weights(run, steps):
    (file,) = (run / "checkpoints" / f"step_{steps:06}").glob("model*.safetensors")
    data = file.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    weights = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            weights[name] = torch.frombuffer(bytearray(data[begin:end]), dtype=torch.float32).reshape(entry["shape"])
    return weights


def without_key_bias(name, values):
    """It has a mathematically zero gradient, whose noise AdamW blows up to full steps."""
    if not name.endswith("attn.c_attn.bias"):
        return values
    third = values.numel() // 3
    return torch.cat([values[:third], values[2 * third :]])


def largest_difference(case, ours, theirs):
    """1 is the tolerance: of each tensor's norm with SGD; with AdamW the root mean square, as a share of how far a value
    can move. Single values whose gradient is next to zero may go in any direction there: PyTorch's side spells attention
    out, and last bits differ from processor to processor.
    """
    assert ours.keys() == theirs.keys(), ours.keys() ^ theirs.keys()
    if case["optimizer"] == "sgd":
        return max((ours[n] - theirs[n]).norm().item() / (1e-5 * theirs[n].norm().item()) for n in ours)
    limit = 1e-3 * case["learning_rate"] * case["epochs"] * STEPS
    return max(without_key_bias(n, ours[n] - theirs[n]).square().mean().sqrt().item() / limit for n in ours)


def references(program, folder):
    """Losses by case; settings of a case win over the common ones."""
    cases = {name: {**case, "file": f"{i}.pt"} for i, (name, case) in enumerate(CASES.items())}
    cases[OTHER_DEFINITION] = {**cases["ddp, SGD"], "divide_by_initial_world_size": False, "file": "other.pt"}
    losses = truth_jobs.reference("join_reference.py", program, folder, COMMON, ranks=RANKS, cases=cases,
                                  results=str(folder))
    return losses, {name: torch.load(folder / case["file"]) for name, case in cases.items()}


def compare(name, case, run, losses, weights):
    steps = case["epochs"] * STEPS
    same = truth_jobs.same_losses(name, rank_jobs.losses(run), losses, steps)
    difference = largest_difference(case, final_weights(run, steps), weights)
    print(f"{name:50s} parameters differ by {difference:.2g} of the tolerance", flush=True)
    return same and difference < 1


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rank_jobs.write_text(folder / "text.txt")
        blocks = EVEN_STEPS * BATCH * RANKS + 1
        text = (folder / "text.txt").read_text()[: blocks * LENGTH]
        (folder / "text.txt").write_text(text)
        losses, weights = references(program, folder)
        good = []
        for case_name, case in CASES.items():
            steps = case["epochs"] * STEPS
            settings = {**COMMON, **OURS, **case, "epochs": 0, "steps": steps, "save_every": steps}
            run = truth_jobs.train(program, folder, case_name, RANKS, settings)
            good.append(compare(case_name, case, run, losses[case_name], weights[case_name]))
        other = largest_difference(CASES["ddp, SGD"], weights["ddp, SGD"], weights[OTHER_DEFINITION])
        print(f"{OTHER_DEFINITION:50s} parameters differ by {other:.2g} of the tolerance")
        good.append(other > 10)
    sys.exit(0 if all(good) else 1)


main()
