"""Adapters trained under our strategies, which take turns, = those that peft trains on transformers' model under DDP.

lora_truth.py RANK_PROGRAM [CASE…]: six steps of fp32 AdamW from the same weights, adapters and text: loss curves within 1e-5,
also beside frozen weights in bf16 and in 4 bits, of presets and of model folders. The adapters that we save are loaded
by peft, the models that we merge by transformers.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import peft
import torch
import transformers

import ranks
import truth_jobs

sys.path.insert(0, str(pathlib.Path(__file__).parent / "reference"))
import families  # noqa: E402
import lora_reference  # noqa: E402

COMMON = dict(model="tiny", device="cpu", sequence_length=16, evaluation_fraction=0.1, steps=6, batch_per_rank=4,
              learning_rate=0.003, weight_decay=0.1, warmup_steps=2, max_grad_norm=1.0, seed=3, threads_per_rank=1,
              record="none")
LINEAR = ["c_attn", "c_proj", "c_fc"]
LLAMA_LINEAR = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
# peft's names of the layers, ours, and how frozen weights are kept.
CASES = {
    "peft's choice": dict(targets=["c_attn"], lora_rank=8, lora_alpha=16, sharding_strategy="ddp"),
    "all layers": dict(targets=LINEAR, lora_target_modules="all-linear", lora_rank=4, lora_alpha=8,
                       sharding_strategy="zero1"),
    "named layers": dict(targets=["attn.c_proj", "c_fc"], lora_target_modules="attn.c_proj, c_fc", lora_rank=2,
                         lora_alpha=8, sharding_strategy="full_shard"),
    "bf16": dict(targets=LINEAR, lora_target_modules="all-linear", lora_rank=4, lora_alpha=8, base_dtype="bf16",
                 sharding_strategy="zero1"),
    "nf4": dict(targets=LINEAR, lora_target_modules="all-linear", lora_rank=4, lora_alpha=8, base_dtype="nf4",
                sharding_strategy="ddp"),
}
# Of model folders, under full_shard: the family and which of its configurations in families.py.
FOLDERS = {
    "llama": ("llama", 0, dict(targets=["q_proj", "v_proj"], lora_rank=8, lora_alpha=16)),
    "llama nf4": ("llama", 0, dict(targets=LLAMA_LINEAR, lora_target_modules="all-linear", lora_rank=4, lora_alpha=8,
                                   base_dtype="nf4")),
    "qwen2": ("qwen2", 0, dict(targets=["q_proj", "v_proj"], lora_rank=8, lora_alpha=16)),
    "qwen3 bf16": ("qwen3", 0, dict(targets=["q_proj", "v_proj"], lora_rank=8, lora_alpha=16, base_dtype="bf16")),
}
MERGED = ("llama nf4", "qwen2")


def settings_of(case):
    return {name: value for name, value in case.items() if name not in ("targets", "weights", "folder", "family")}


def dump(program, case, file):
    """The initial weights and adapters, before anything is kept in fewer bits."""
    settings = {**COMMON, **settings_of(case), "base_dtype": "fp32"}
    names = ("model", "seed", "tokenizer", "lora_rank", "lora_target_modules", "base_dtype")
    chosen = [part for name in names if name in settings for part in ("--set", f"{name}={settings[name]}")]
    subprocess.run([program, "--dump-initial-weights", file, *chosen], check=True)


def logits_of(weights, case, adapter=None):
    model = lora_reference.base_model(weights, case)
    if adapter is not None:
        model = peft.PeftModel.from_pretrained(model, adapter)
    model.eval()
    with torch.no_grad():
        return model(input_ids=torch.arange(48).view(2, 24) * 5 % 257).logits


def same_adapters(name, weights, case, ours, logits_of_peft, logits_of_none):
    theirs = peft.load_peft_weights(case["folder"], device="cpu")
    found = peft.load_peft_weights(str(ours), device="cpu")
    assert sorted(theirs) == sorted(found), f"{name}: {set(theirs) ^ set(found)}"
    off = max((found[k] - theirs[k]).norm().item() / theirs[k].norm().item() for k in theirs)
    logits = (logits_of(weights, case, ours) - logits_of_peft).abs().max().item() / logits_of_peft.abs().max().item()
    changed = (logits_of_peft - logits_of_none).abs().max().item()
    print(f"{name:50s} adapters differ by {off:.1e}, logits by {logits:.1e} (trained by {changed:.2f})", flush=True)
    return off < 1e-3 and logits < 1e-4 and changed > 0.1


def add_folders(folder):
    for name, (family, place, case) in FOLDERS.items():
        _, config, save = families.CASES[family][place]
        model = folder / family
        families.make(family, config, save, model)
        CASES[name] = dict(case, family=family, model=str(model), tokenizer="bytes", sharding_strategy="full_shard")


def same_merged(program, folder, name, adapter):
    """The folder with merged weights = peft's merge of the same adapters into the same frozen weights."""
    case = CASES[name]
    run = truth_jobs.train(program, folder, f"merged {name}", 2, {**COMMON, **settings_of(case), "merge_lora": True})
    ours = families.load(case["family"], run / "model").state_dict()
    base = lora_reference.base_model(None, case)
    theirs = peft.PeftModel.from_pretrained(base, adapter).merge_and_unload().state_dict()
    assert sorted(ours) == sorted(theirs), set(ours) ^ set(theirs)
    off = max((ours[k] - theirs[k]).abs().max().item() for k in theirs)
    changed = max((theirs[k] - v).abs().max().item() for k, v in families.load(case["family"], case["model"])
                  .state_dict().items())
    print(f"{'merged ' + name:50s} differs by {off:.1e} (merging and rounding changed {changed:.2f})", flush=True)
    return off < 1e-5 and changed > 1e-3


def brings_its_pooler(program, folder):
    """Of a BERT without one, which begins anew with the classifier: with its adapters peft makes what we have merged."""
    shape = dict(vocab_size=320, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
                 max_position_embeddings=64)
    model = folder / "masked bert"
    torch.manual_seed(4)
    transformers.BertForMaskedLM(transformers.BertConfig(**shape)).save_pretrained(model)
    lines = folder / "films.jsonl"
    lines.write_text("".join(json.dumps({"text": "great " * (i % 3) + f"film {i}", "label": i % 3}) + "\n" for i in range(200)))
    settings = {**COMMON, "model": str(model), "tokenizer": "bytes", "num_labels": 3, "lora_rank": 4,
                "lora_target_modules": "all-linear", "sharding_strategy": "full_shard"}
    run = truth_jobs.train(program, folder, "bert adapters", 2, settings, data=lines)
    merged = truth_jobs.train(program, folder, "bert merged", 2, {**settings, "merge_lora": True}, data=lines)
    load = transformers.AutoModelForSequenceClassification.from_pretrained
    theirs = peft.PeftModel.from_pretrained(load(model, num_labels=3), run / "adapter")
    logits = []
    for each in (load(merged / "model"), theirs):
        with torch.no_grad():
            logits.append(each.eval()(input_ids=torch.arange(48).view(2, 24) * 5 % 257).logits)
    off = (logits[0] - logits[1]).abs().max().item() / logits[0].abs().max().item()
    print(f"{'a BERT without a pooler':50s} logits differ by {off:.1e}", flush=True)
    return off < 1e-4


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ranks.write_text(folder / "text.txt")
        add_folders(folder)
        for name in [name for name in CASES if sys.argv[2:] and name not in sys.argv[2:]]:
            del CASES[name]
        for number, case in enumerate(CASES.values()):
            case["weights"], case["folder"] = str(folder / f"{number}.pt"), str(folder / f"peft_{number}")
            dump(program, case, case["weights"])
        expected = truth_jobs.reference("lora_reference.py", program, folder, COMMON, ranks=2,
                                        cases={n: {**COMMON, **c} for n, c in CASES.items()})
        good = []
        for case_name, case in CASES.items():
            weights = dict(torch.load(case["weights"], weights_only=False).items())
            logits_of_peft, logits_of_none = logits_of(weights, case, case["folder"]), logits_of(weights, case)
            title = f"{case['sharding_strategy']}, {case_name}"
            run = truth_jobs.train(program, folder, title.replace("'", ""), 2, {**COMMON, **settings_of(case)})
            good.append(truth_jobs.same_losses(title, ranks.losses(run), expected[case_name], COMMON["steps"]))
            good.append(same_adapters(title, weights, case, run / "adapter", logits_of_peft, logits_of_none))
            if case_name in MERGED:
                good.append(same_merged(program, folder, case_name, run / "adapter"))
        good.append(brings_its_pooler(program, folder))
    sys.exit(0 if all(good) else 1)


main()
