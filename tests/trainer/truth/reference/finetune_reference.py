"""Fine-tunes transformers' models under DistributedDataParallel and prints the losses of every case as JSON.

Reads a JSON job from standard input: text, settings shared by all cases, ranks, cases with family and folder.
"""
import torch
from torch.nn.parallel import DistributedDataParallel

import families
import reference_training


class Logits(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model.train()

    def forward(self, tokens):
        return self.model(input_ids=tokens).logits


def run_case(job, case, rank, ranks):
    model = Logits(families.load(case["family"], case["folder"]))
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    optimizer = torch.optim.AdamW(reference_training.parameter_groups(job, model))
    return reference_training.train(job, case, rank, ranks, DistributedDataParallel(model), optimizer)


if __name__ == "__main__":
    reference_training.run_cases(run_case)
