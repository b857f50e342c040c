"""20 steps of fine-tuning BERT and RoBERTa as classifiers equal transformers under DistributedDataParallel.

classifier_truth.py RANK_PROGRAM: two ranks, fp32 AdamW, texts as bytes, padded; losses within 1e-4.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import torch
import torch.distributed as dist
from transformers import AutoModelForSequenceClassification, BertConfig, RobertaConfig
from transformers import BertForSequenceClassification, RobertaForSequenceClassification

import ranks

RANKS, STEPS, BATCH, LENGTH, RATE = 2, 20, 4, 32, 1e-3
SHAPE = dict(vocab_size=320, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, num_labels=3)
FAMILIES = {
    "bert": lambda: BertForSequenceClassification(BertConfig(**SHAPE, max_position_embeddings=64)),
    "roberta": lambda: RobertaForSequenceClassification(
        RobertaConfig(**SHAPE, max_position_embeddings=66, pad_token_id=1)),
}


def examples():
    return [("great " * (i % 4) + f"film {i}", i % 3) for i in range(200)]


def padded(samples, padding):
    """As there: bytes, padded to the longest, rounded up to a multiple of 8."""
    rows = [list(text.encode())[:LENGTH] for text, _ in samples]
    width = min(LENGTH, -(-max(map(len, rows)) // 8) * 8)
    tokens = torch.tensor([row + [padding] * (width - len(row)) for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
    return tokens, mask, torch.tensor([label for _, label in samples])


def reference(folder, rank, store, results):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=RANKS)
    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).train()
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    replica = torch.nn.parallel.DistributedDataParallel(model)
    decaying = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW([{"params": decaying, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}],
                                  lr=RATE)
    mine = examples()[:180][rank::RANKS]
    losses = []
    for step in range(STEPS):
        # The padding's value must not matter: RoBERTa's positions count what is not padding.
        tokens, mask, labels = padded(mine[step * BATCH:(step + 1) * BATCH], model.config.pad_token_id)
        loss = replica(input_ids=tokens, attention_mask=mask, labels=labels).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        shared = loss.detach().clone()
        dist.all_reduce(shared)
        losses.append(shared.item() / RANKS)
    if rank == 0:
        pathlib.Path(results).write_text(json.dumps(losses))
    dist.barrier()
    # Not destroy_process_group(): the group's threads may wait for the interpreter that waits for them.
    os._exit(0)


def expected_losses(folder):
    with tempfile.TemporaryDirectory() as name:
        results = pathlib.Path(name) / "losses.json"
        processes = [subprocess.Popen([sys.executable, __file__, "--reference", folder, str(rank), f"{name}/store", results])
                     for rank in range(RANKS)]
        assert [process.wait() for process in processes] == [0] * RANKS
        return json.loads(results.read_text())


def main():
    good = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lines = folder / "films.jsonl"
        lines.write_text("".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in examples()))
        for family, make in FAMILIES.items():
            torch.manual_seed(4)
            make().save_pretrained(folder / family)
            expected = expected_losses(folder / family)
            for strategy in ("ddp", "full_shard", "zero1"):
                file = ranks.write_settings(
                    folder / f"{family}_{strategy}.yaml", model=str(folder / family), data=lines, device="cpu",
                    tokenizer="bytes", sequence_length=LENGTH, batch_per_rank=BATCH, steps=STEPS, learning_rate=RATE,
                    lr_schedule="constant", shuffle="false", evaluation_fraction=0.1, weight_decay=0.01, max_grad_norm=1.0,
                    threads_per_rank=1, token_cache="off", sharding_strategy=strategy, record="steps 0..1")
                job = ranks.Job(sys.argv[1], folder / f"{family}_{strategy}", file, RANKS)
                codes = job.wait()
                assert codes == [0] * RANKS, "\n".join(job.log(rank) for rank in range(RANKS))
                ours = ranks.losses(job.run)
                worst = max(abs(a - b) / abs(b) for a, b in zip(ours, expected, strict=True))
                print(f"{family}, {strategy}: loss {ours[0]:.4f} to {ours[-1]:.4f}, worst relative difference {worst:.1e}",
                      flush=True)
                good.append(worst < 1e-4)
    sys.exit(0 if all(good) else 1)


if sys.argv[1] == "--reference":
    reference(sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5])
else:
    main()
