"""Ten steps of fine-tuning model folders, each under a strategy, equal transformers and DistributedDataParallel.

finetune_truth.py RANK_PROGRAM: two ranks, fp32 AdamW, losses within 1e-4.
"""
import pathlib
import sys
import tempfile

import ranks
import truth_jobs

sys.path.insert(0, str(pathlib.Path(__file__).parent / "reference"))
import families  # noqa: E402

TOLERANCE = 1e-4
COMMON = dict(device="cpu", tokenizer="bytes", sequence_length=32, evaluation_fraction=0.1, steps=10,
              learning_rate=0.001, weight_decay=0.1, warmup_steps=2, max_grad_norm=1.0, seed=3, threads_per_rank=1,
              batch_per_rank=4, record="steps 0..1")
# Of each family one configuration, by its place in families.CASES, and who takes its turn.
TRIED = {"gpt2": (0, "full_shard"), "llama": (3, "zero1"), "qwen2": (2, "ddp"), "qwen3": (1, "full_shard"),
         "mistral": (0, "zero1")}


def compare(name, ours, theirs):
    worst = max(abs(a - b) / abs(b) for a, b in zip(ours, theirs, strict=True))
    print(f"{name:30s} loss {ours[0]:.4f} → {ours[-1]:.4f}, worst relative difference {worst:.1e}", flush=True)
    return worst < TOLERANCE and ours[-1] < ours[0]


def main():
    program = sys.argv[1]
    good = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ranks.write_text(folder / "text.txt")
        cases = {}
        for family, (place, _) in TRIED.items():
            _, config, save = families.CASES[family][place]
            families.make(family, config, save, folder / family)
            cases[family] = dict(family=family, folder=str(folder / family), batch_per_rank=COMMON["batch_per_rank"])
        expected = truth_jobs.ask("finetune_reference.py", {
            **COMMON, "text": str(folder / "text.txt"), "ranks": 2, "cases": cases})
        for family, (_, strategy) in TRIED.items():
            run = truth_jobs.train(program, folder, f"{family} {strategy}", 2,
                                   {**COMMON, "model": str(folder / family), "sharding_strategy": strategy})
            good.append(compare(f"{family}, {strategy}", ranks.losses(run), expected[family]))
    sys.exit(0 if all(good) else 1)


main()
