"""Fine-tunes transformers' models under DistributedDataParallel and prints the losses of every case as JSON.

Reads a JSON job from standard input: text, settings shared by all cases, ranks, cases with family and folder; those of
classifiers with examples (text, label) instead of the text.
"""
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import families
import reference_training


def padded(samples, longest, padding):
    """As there: bytes, padded to the longest, rounded up to a multiple of 8."""
    rows = [list(text.encode())[:longest] for text, _ in samples]
    width = min(longest, -(-max(map(len, rows)) // 8) * 8)
    tokens = torch.tensor([row + [padding] * (width - len(row)) for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
    return tokens, mask, torch.tensor([label for _, label in samples])


def classify(job, rank, ranks, model, optimizer):
    replica = DistributedDataParallel(model)
    mine, size = job["examples"][rank::ranks], job["batch_per_rank"]
    losses = []
    for step in range(job["steps"]):
        # The padding's value must not matter: RoBERTa's positions count what is not padding.
        tokens, mask, labels = padded(mine[step * size : (step + 1) * size], job["sequence_length"],
                                      model.config.pad_token_id)
        loss = replica(input_ids=tokens, attention_mask=mask, labels=labels).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), job["max_grad_norm"])
        optimizer.step()
        optimizer.zero_grad()
        shared = loss.detach().clone()
        dist.all_reduce(shared)
        losses.append(shared.item() / ranks)
    return losses


def run_case(job, case, rank, ranks):
    model = families.load(case["family"], case["folder"]).train()
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    optimizer = torch.optim.AdamW(reference_training.parameter_groups(job, model))
    if families.is_encoder(case["family"]):
        return classify(job, rank, ranks, model, optimizer)
    replica = DistributedDataParallel(families.Logits(model))
    return reference_training.train(job, case, rank, ranks, replica, optimizer)


if __name__ == "__main__":
    reference_training.run_cases(run_case)
