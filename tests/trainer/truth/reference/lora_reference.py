"""Trains adapters with peft on transformers' model under DistributedDataParallel; prints the losses as JSON.

Reads a JSON job from standard input: weights, text, settings shared by all cases, ranks, cases. A case says which
layers, rank and alpha, how frozen weights are kept, and in which folder the trained adapters are left.
"""
import peft
import torch
import transformers
from torch.nn.parallel import DistributedDataParallel

import families
import nf4_reference
import reference_training

transformers.logging.set_verbosity_error()


def base_model(weights, case):
    """The preset `tiny`, or the folder the case is about, with frozen matrices as they are kept."""
    model = families.load(case["family"], case["model"]) if "family" in case else tiny(weights)
    round_frozen(model, case.get("base_dtype", "fp32"))
    return model


def tiny(weights):
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(
        n_layer=5, n_embd=192, n_head=6, vocab_size=320, n_positions=512, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0,
        bos_token_id=256, eos_token_id=256))
    found = model.load_state_dict({k: v for k, v in weights.items() if "lora_" not in k}, strict=False)
    assert not found.unexpected_keys and set(found.missing_keys) <= {"lm_head.weight"}, found
    return model


def round_frozen(model, kept):
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            is_linear = parameter.dim() == 2 and ".h." in name or ".layers." in name
            if parameter.dim() < 2:
                continue
            if kept == "bf16":
                parameter.copy_(parameter.bfloat16())
            if kept == "nf4" and is_linear:
                parameter.copy_(nf4_reference.rounded(parameter))


def adapted(base, weights, case):
    config = peft.LoraConfig(task_type="CAUSAL_LM", r=case["lora_rank"], lora_alpha=case["lora_alpha"],
                             target_modules=case["targets"], fan_in_fan_out="gpt2" in base.config.model_type)
    model = peft.get_peft_model(base, config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:
                ours = name.removeprefix("base_model.model.").replace(".default", "")
                parameter.copy_(weights[ours])
    return model


def run_case(job, case, rank, ranks):
    weights = torch.load(case["weights"], weights_only=False)
    weights = dict(weights.items())
    model = adapted(base_model(weights, case), weights, case)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=job["learning_rate"], weight_decay=job["weight_decay"])
    losses = reference_training.train(job, case, rank, ranks, DistributedDataParallel(families.Logits(model)), optimizer)
    if rank == 0:
        model.save_pretrained(case["folder"])
    return losses


if __name__ == "__main__":
    reference_training.run_cases(run_case)
