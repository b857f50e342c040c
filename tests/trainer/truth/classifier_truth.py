"""Ten steps of fine-tuning BERT and RoBERTa as classifiers equal transformers under DistributedDataParallel.

classifier_truth.py RANK_PROGRAM: two ranks, fp32 AdamW, texts as bytes, padded; losses within 1e-4.
"""
import json
import pathlib
import sys
import tempfile

import torch
from transformers import BertConfig, BertForSequenceClassification, RobertaConfig, RobertaForSequenceClassification

import ranks
import truth_jobs

RANKS, STEPS = 2, 10
COMMON = dict(sequence_length=32, batch_per_rank=4, steps=STEPS, learning_rate=1e-3, weight_decay=0.01, max_grad_norm=1.0)
OURS = dict(device="cpu", tokenizer="bytes", lr_schedule="constant", shuffle=False, evaluation_fraction=0.1,
            threads_per_rank=1, token_cache="off", record="steps 0..1")
SHAPE = dict(vocab_size=320, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, num_labels=3)
FAMILIES = {
    "bert": lambda: BertForSequenceClassification(BertConfig(**SHAPE, max_position_embeddings=64)),
    "roberta": lambda: RobertaForSequenceClassification(
        RobertaConfig(**SHAPE, max_position_embeddings=66, pad_token_id=1)),
}
STRATEGIES = {"bert": "full_shard", "roberta": "zero1"}
EXAMPLES = [("great " * (i % 4) + f"film {i}", i % 3) for i in range(200)]


def main():
    good = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lines = folder / "films.jsonl"
        lines.write_text("".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in EXAMPLES))
        for family, make in FAMILIES.items():
            torch.manual_seed(4)
            make().save_pretrained(folder / family)
        expected = truth_jobs.ask("classifier_reference.py", {
            **COMMON, "examples": EXAMPLES[:180], "ranks": RANKS,
            "cases": {family: dict(folder=str(folder / family)) for family in FAMILIES}})
        for family, strategy in STRATEGIES.items():
            run = truth_jobs.train(sys.argv[1], folder, f"{family} {strategy}", RANKS, {
                **COMMON, **OURS, "model": str(folder / family), "sharding_strategy": strategy}, data=lines)
            good.append(truth_jobs.same_losses(f"{family}, {strategy}", ranks.losses(run), expected[family], STEPS,
                                               tolerance=1e-4))
    sys.exit(0 if all(good) else 1)


main()
