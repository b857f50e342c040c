"""Every form of data: loss curves against one process of plain PyTorch, evaluation, errors.

data_truth.py RANK_PROGRAM: JSON Lines of text, prompts and completions, and conversations, packed and padded, on ranks
whose micro-batches have different numbers of targets. The reference makes its tokens itself, takes the mean over all
targets of all ranks and micro-batches of a step, and knows of no ranks but for who draws which sample.
"""
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

import torch
import torch.nn.functional as F
from torch.utils.data import DistributedSampler

import ranks as rank_jobs
import truth_jobs

sys.path.insert(0, str(pathlib.Path(__file__).parent / "reference"))
import reference_training  # noqa: E402

IGNORED, END = -100, 256
COMMON = dict(model="tiny", device="cpu", sequence_length=48, steps=5, learning_rate=0.001, weight_decay=0.1,
              warmup_steps=2, max_grad_norm=1.0, seed=3, threads_per_rank=1, record="steps 0..1", batch_per_rank=3,
              gradient_accumulation_steps=2, evaluation_fraction=0.2, evaluate_every=5, evaluation_batches=0)
WORDS = "bucket shard rank reduce gather step loss the of and".split()


def sentence(chooser, most):
    return " ".join(chooser.choice(WORDS) for _ in range(chooser.randint(1, most)))


def write_lines(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def make_files(folder):
    chooser = random.Random(11)
    write_lines(folder / "text.jsonl", [{"text": sentence(chooser, 30)} for _ in range(120)])
    write_lines(folder / "completion.jsonl", [
        {"prompt": sentence(chooser, 4), "completion": " " + sentence(chooser, 6)} for _ in range(70)])
    write_lines(folder / "chat.jsonl", [
        {"messages": [{"role": "user", "content": sentence(chooser, 2)},
                      {"role": "assistant", "content": sentence(chooser, 1 + i % 3)}]} for i in range(70)])


def tokens_and_mask(line):
    """Bytes, and whether each is one to learn."""
    if "text" in line:
        return [*line["text"].encode(), END], [1] * (len(line["text"]) + 1)
    if "prompt" in line:
        prompt, completion = line["prompt"].encode(), line["completion"].encode()
        return [*prompt, *completion, END], [0] * len(prompt) + [1] * (len(completion) + 1)
    tokens, mask = [], []
    for message in line["messages"]:
        for text, counts in ((f"<|im_start|>{message['role']}\n", 0),
                             (f"{message['content']}<|im_end|>", message["role"] == "assistant"), ("\n", 0)):
            tokens += text.encode()
            mask += [int(counts)] * len(text)
    return tokens, mask


def samples_of(path, length, packed, learn_all):
    """(inputs, targets) of each sample."""
    examples = [tokens_and_mask(json.loads(line)) for line in path.read_text().splitlines()]
    if learn_all:
        examples = [(tokens, [1] * len(tokens)) for tokens, _ in examples]
    if packed:
        tokens = [t for example, _ in examples for t in example]
        mask = [m for _, example in examples for m in example]
        starts = range(0, (len(tokens) - 1) // length * length, length)
        examples = [(tokens[s : s + length + 1], mask[s : s + length + 1]) for s in starts]
    samples = []
    for tokens, mask in examples:
        targets = [t if m else IGNORED for t, m in zip(tokens[1:], mask[1:])][:length]
        if packed or any(t != IGNORED for t in targets):
            samples.append((tokens[:-1][:length], targets))
    return samples


def draw(samples, settings, ranks):
    """Per step, the samples of all ranks' micro-batches."""
    size, micro_batches = settings["batch_per_rank"], settings["gradient_accumulation_steps"]

    def of_rank(rank):
        epoch = 0
        while True:
            sampler = DistributedSampler(samples, ranks, rank, shuffle=True, seed=settings["seed"], drop_last=True)
            sampler.set_epoch(epoch)
            order = list(sampler)
            for i in range(0, len(order) - size + 1, size):
                yield [samples[s] for s in order[i : i + size]]
            epoch += 1

    streams = [of_rank(rank) for rank in range(ranks)]
    while True:
        yield [sample for stream in streams for _ in range(micro_batches) for sample in next(stream)]


def sums(model, samples):
    """Sum of losses, number of targets, targets foretold; one sample at a time, so without padding."""
    loss, targets, right = torch.zeros(()), 0, 0
    for inputs, wanted in samples:
        logits, wanted = model(torch.tensor([inputs]))[0], torch.tensor(wanted)
        loss = loss + F.cross_entropy(logits, wanted, ignore_index=IGNORED, reduction="sum")
        targets += int((wanted != IGNORED).sum())
        right += int((logits.argmax(1) == wanted).sum())
    return loss, targets, right


def reference(weights, path, settings, ranks):
    """The losses of all steps, and (loss, accuracy, sequences) on what is held out."""
    packed = settings.get("packing", "auto") == "true" or (
        settings.get("packing", "auto") == "auto" and path.name == "text.jsonl")
    samples = samples_of(path, settings["sequence_length"], packed, not settings.get("completion_only_loss", True))
    held_out = int(len(samples) * settings["evaluation_fraction"])
    training, evaluation = samples[: len(samples) - held_out], samples[len(samples) - held_out :]
    job = {**settings, "weights": str(weights)}
    model = reference_training.fresh_model(job)
    optimizer = torch.optim.AdamW(reference_training.parameter_groups(job, model))
    schedule = reference_training.make_schedule(job, optimizer)
    losses = []
    for _, samples_of_step in zip(range(settings["steps"]), draw(training, settings, ranks)):
        loss, targets, _ = sums(model, samples_of_step)
        (loss / targets).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings["max_grad_norm"])
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        losses.append(loss.item() / targets)
    with torch.no_grad():
        loss, targets, right = sums(model, evaluation)
    return losses, (loss.item() / targets, right / targets, len(evaluation))


def run_ours(program, folder, name, path, settings, ranks):
    stem = name.replace(" ", "_").replace(",", "")
    file = rank_jobs.write_settings(folder / f"{stem}.yaml", **{**settings, "data": path})
    job = rank_jobs.Job(program, folder / stem, file, ranks)
    return job, job.wait()


def evaluated(run):
    (line,) = [t for (t,) in rank_jobs.query(run, 0, "select text from log where text like 'evaluation after%'")]
    words = line.replace(",", "").replace("(", "").split()
    return float(words[words.index("loss") + 1]), float(words[words.index("accuracy") + 1]), int(words[-2])


CASES = {
    "text, packed": ("text.jsonl", 2, {}),
    "text, padded": ("text.jsonl", 2, dict(packing="false")),
    "completions": ("completion.jsonl", 2, {}),
    "completions, 3 ranks": ("completion.jsonl", 3, dict(gradient_accumulation_steps=1)),
    "completions, packed": ("completion.jsonl", 2, dict(packing="true")),
    "completions, prompts too": ("completion.jsonl", 2, dict(completion_only_loss=False)),
    "completions, cut": ("completion.jsonl", 2, dict(sequence_length=24)),
    "conversations": ("chat.jsonl", 2, dict(sequence_length=96)),
}


def compare(program, folder, weights, name):
    file, count, changes = CASES[name]
    settings = {**COMMON, **changes}
    job, codes = run_ours(program, folder, name, folder / file, settings, count)
    assert codes == [0] * count, f"{name}: {codes}\n{job.log(0)}"
    losses, evaluation = reference(weights, folder / file, settings, count)
    good = truth_jobs.same_losses(name, rank_jobs.losses(job.run), losses, settings["steps"])
    ours = evaluated(job.run)
    same = abs(ours[0] - evaluation[0]) < 2e-4 and abs(ours[1] - evaluation[1]) < 2e-3 and ours[2] == evaluation[2]
    print(f"{'':50s} evaluation {ours}, reference {evaluation}", flush=True)
    assert not math.isclose(losses[0], losses[-1], rel_tol=0.1), "nothing was learnt"
    return good and same


def check_errors(program, folder):
    """Bad input is wrong use, and the message has file and line."""
    bad = folder / "bad.jsonl"
    lines = (folder / "completion.jsonl").read_text().splitlines()
    bad.write_text("\n".join([*lines[:16], '{"prompt": "only"}', *lines[16:]]) + "\n")
    job, codes = run_ours(program, folder, "stop at a bad line", bad, COMMON, 2)
    assert codes == [2, 2], (codes, job.log(0))
    assert f'{bad}:17: "completion" is missing' in job.last_lines()[0], job.last_lines()
    job, codes = run_ours(program, folder, "skip a bad line", bad, {**COMMON, "on_bad_lines": "skip"}, 2)
    assert codes == [0, 0] and "1 line cannot be used" in job.log(0), job.log(0)
    without = rank_jobs.losses(folder / "completions")
    assert rank_jobs.losses(job.run) == without, "another curve than without the bad line"


def check_cache(program, folder, cache):
    """A second run reads what "completions" has written, both ranks the same file."""
    (entry,) = cache.iterdir()
    written = entry.stat().st_ino
    job, codes = run_ours(program, folder, "reads the cache", folder / "completion.jsonl", {**COMMON, "token_cache": cache}, 2)
    assert codes == [0, 0] and [e.stat().st_ino for e in cache.iterdir()] == [written], job.log(0)
    assert rank_jobs.losses(job.run) == rank_jobs.losses(folder / "completions")


def main():
    program = sys.argv[1]
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_files(folder)
        weights = folder / "weights.pt"
        subprocess.run([program, "--dump-initial-weights", weights, "--set", f"model={COMMON['model']}", "--set",
                        f"seed={COMMON['seed']}"], check=True)
        CASES["completions"][2]["token_cache"] = folder / "cache"
        good = [compare(program, folder, weights, case) for case in CASES]
        check_errors(program, folder)
        check_cache(program, folder, folder / "cache")
    sys.exit(0 if all(good) else 1)


main()
