"""Ten steps of fine-tuning model folders, each under a strategy, equal transformers and DistributedDataParallel.

finetune_truth.py RANK_PROGRAM: two ranks, fp32 AdamW, losses within 1e-4; texts as bytes, those of classifiers padded.
"""
import json
import pathlib
import sys
import tempfile

import ranks
import truth_jobs

sys.path.insert(0, str(pathlib.Path(__file__).parent / "reference"))
import families  # noqa: E402

COMMON = dict(device="cpu", tokenizer="bytes", sequence_length=32, evaluation_fraction=0.1, steps=10,
              learning_rate=0.001, weight_decay=0.1, warmup_steps=2, max_grad_norm=1.0, seed=3, threads_per_rank=1,
              batch_per_rank=4, record="steps 0..1")
CLASSIFYING = dict(weight_decay=0.01, warmup_steps=0, lr_schedule="constant", shuffle=False, token_cache="off")
# Of each family one configuration, by its place in families.CASES, and who takes its turn.
TRIED = {"gpt2": (0, "full_shard"), "llama": (3, "zero1"), "qwen2": (2, "ddp"), "qwen3": (1, "full_shard"),
         "mistral": (0, "zero1"), "bert": (0, "full_shard"), "roberta": (0, "zero1")}
EXAMPLES = [("great " * (i % 4) + f"film {i}", i % 3) for i in range(200)]


def make_case(folder, family):
    """What its own settings are, and what it is for the reference."""
    _, config, save = families.CASES[family][TRIED[family][0]]
    families.make(family, config, save, folder / family)
    case = dict(family=family, folder=str(folder / family), batch_per_rank=COMMON["batch_per_rank"])
    if not families.is_encoder(family):
        return {}, case
    return CLASSIFYING, {**case, **CLASSIFYING, "examples": EXAMPLES[:180]}  # the others are held out


def main():
    program = sys.argv[1]
    good = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        text, films = folder / "text.txt", folder / "films.jsonl"
        ranks.write_text(text)
        films.write_text("".join(json.dumps({"text": line, "label": label}) + "\n" for line, label in EXAMPLES))
        cases = {family: make_case(folder, family) for family in TRIED}
        expected = truth_jobs.ask("finetune_reference.py", {
            **COMMON, "text": str(text), "ranks": 2, "cases": {family: case for family, (_, case) in cases.items()}})
        for family, (own, _) in cases.items():
            strategy = TRIED[family][1]
            run = truth_jobs.train(program, folder, f"{family} {strategy}", 2,
                                   {**COMMON, **own, "model": str(folder / family), "sharding_strategy": strategy},
                                   data=films if own else text)
            losses = ranks.losses(run)
            good.append(truth_jobs.same_losses(f"{family}, {strategy}", losses, expected[family], COMMON["steps"],
                                               tolerance=1e-4))
            assert families.is_encoder(family) or losses[-1] < losses[0], f"{family}: nothing was learnt"
    sys.exit(0 if all(good) else 1)


main()
