"""Our tokenizers against the `tokenizers` package, token by token and text by text.

  tokenizer_truth.py <tokenizer_probe> [families|parts|files]

Families are trained here on the project's own text and on texts that are hard on tokenizers. Characters
that the package's Unicode knows and ours does not are left out, and counted."""

import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unicodedata

os.environ["TOKENIZERS_PARALLELISM"] = "false"

import tokenizer_families  # noqa: E402
import tokenizer_texts  # noqa: E402
from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers  # noqa: E402

ROOT = pathlib.Path(__file__).parents[3]


def newer_characters():
    """Unassigned in our libraries' Unicode (Python's is of the same system), assigned in the package's."""
    # Planes 4 to 13, most of all code points, hold nothing in any version.
    unassigned = "".join(chr(c) for plane in (range(0x40000), range(0xE0000, 0x110000)) for c in plane
                         if unicodedata.category(chr(c)) == "Cn")
    removed = normalizers.Replace(Regex(r"[\p{L}\p{N}\p{M}\p{P}\p{S}\p{Cf}]"), "").normalize_str(unassigned)
    newer = set(unassigned) - set(removed)
    newer |= {a for a, b in zip(unassigned, normalizers.Lowercase().normalize_str(unassigned)) if a != b}
    newer |= {piece for piece, _ in pre_tokenizers.Digits(True).pre_tokenize_str(unassigned) if len(piece) == 1}
    spaced = " ".join(unassigned) + " "  # a word runs on into the next character only if both are of one kind
    words = pre_tokenizers.Split(Regex(" "), "removed").pre_tokenize_str(spaced)
    assert len(words) == len(unassigned)
    paired = pre_tokenizers.Whitespace().pre_tokenize_str(" ".join("a" + c for c in unassigned))
    newer |= {piece[1] for piece, _ in paired if len(piece) == 2}
    return newer


def write_texts(texts, path):
    with open(path, "wb") as file:
        file.write(struct.pack("<I", len(texts)))
        for text in texts:
            file.write(struct.pack("<I", len(text)) + text)


def read_tokens(path, count):
    data = memoryview(pathlib.Path(path).read_bytes())
    at = 0

    def number():
        nonlocal at
        at += 4
        return struct.unpack_from("<I", data, at - 4)[0]

    def ids():
        nonlocal at
        size = number()
        at += 4 * size
        return list(struct.unpack_from(f"<{size}i", data, at - 4 * size))

    def text():
        nonlocal at
        size = number()
        at += size
        return bytes(data[at - size:at])

    results = [(ids(), ids(), text(), text()) for _ in range(count)]
    assert at == len(data)
    return results


def expected(tokenizer, texts):
    plain = [e.ids for e in tokenizer.encode_batch(texts, add_special_tokens=False)]
    special = [e.ids for e in tokenizer.encode_batch(texts, add_special_tokens=True)]
    whole = tokenizer.decode_batch(special, skip_special_tokens=False)
    skipped = tokenizer.decode_batch(special, skip_special_tokens=True)
    return list(zip(plain, special, (t.encode() for t in whole), (t.encode() for t in skipped)))


def compare(name, folder, tokenizer, texts, probe):
    """`tokenizer`: the package's; ours is read from `folder`. Returns tokens compared and differences."""
    texts_file, tokens_file = os.path.join(folder, "texts"), os.path.join(folder, "tokens")
    write_texts(texts, texts_file)
    done = subprocess.run([probe, folder, texts_file, tokens_file], capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{name}: {done.stderr.strip()}")
        return 0, 1
    ours = read_tokens(tokens_file, len(texts))
    theirs = expected(tokenizer, [text.decode("utf-8", "replace") for text in texts])
    differences = 0
    for text, a, b in zip(texts, ours, theirs):
        if a == b:
            continue
        differences += 1
        if differences <= 3:
            which = [i for i in range(4) if a[i] != b[i]][0]
            at = next((i for i, (x, y) in enumerate(zip(a[which], b[which])) if x != y), min(len(a[which]), len(b[which])))
            where = slice(max(0, at - 3), at + 6)
            print(f"{name}: {('ids', 'ids with special', 'decoded', 'decoded without special')[which]} of "
                  f"{text[:160]!r} at {at}: ours {a[which][where]!r}, theirs {b[which][where]!r}")
    vocabulary = json.loads(done.stdout)["vocabulary"]
    if vocabulary != 1 + max(tokenizer.get_vocab().values()):
        print(f"{name}: vocabulary {vocabulary}")
        differences += 1
    return sum(len(special) for _, special, _, _ in theirs), differences


def check_all(tokenizers, texts, probe):
    total = wrong = 0
    for name, make in tokenizers:
        with tempfile.TemporaryDirectory() as folder:
            tokenizer = make()
            tokenizer.save(os.path.join(folder, "tokenizer.json"))
            # As ours, the package's is the one that is read from the file.
            tokens, differences = compare(name, folder, Tokenizer.from_file(os.path.join(folder, "tokenizer.json")), texts, probe)
        print(f"{name}: {tokens} tokens, {differences} texts differ", flush=True)
        total, wrong = total + tokens, wrong + differences
    return total, wrong


def check_files(lines, texts, probe):
    """Folders without a tokenizer.json against the classes of `transformers` that read them."""
    from transformers import BertTokenizer, GPT2Tokenizer, Qwen2Tokenizer, RobertaTokenizer
    told = {str(3000 + i): {"content": token, "special": True, "normalized": False, "lstrip": False,
                            "rstrip": False, "single_word": False}
            for i, token in enumerate(("<|endoftext|>", "<|im_start|>", "<|im_end|>"))}
    cases = [("gpt2", GPT2Tokenizer, {}, {}),
             ("gpt2", GPT2Tokenizer, {}, {"add_prefix_space": True}),
             ("roberta", RobertaTokenizer, {"model_type": "roberta"}, {}),
             ("bert uncased", BertTokenizer, {}, {}),
             ("bert cased", BertTokenizer, {}, {"do_lower_case": False}),
             ("qwen2", Qwen2Tokenizer, {"model_type": "qwen2"}, {}),
             ("qwen2", Qwen2Tokenizer, {"model_type": "qwen3"}, {"added_tokens_decoder": told, "eos_token": "<|im_end|>"})]
    total = wrong = 0
    for family, reader, model, settings in cases:
        with tempfile.TemporaryDirectory() as folder:
            tokenizer_families.FAMILIES[family](lines).model.save(folder)
            for name, content in (("config.json", model), ("tokenizer_config.json", settings)):
                pathlib.Path(folder, name).write_text(json.dumps(content))
            theirs = reader.from_pretrained(folder)
            tokens, differences = compare(f"{family} {settings}", folder, theirs.backend_tokenizer, texts, probe)
        print(f"{family} {sorted(settings)}: {tokens} tokens, {differences} texts differ", flush=True)
        total, wrong = total + tokens, wrong + differences
    return total, wrong


def main():
    probe, what = sys.argv[1], sys.argv[2]
    newer = newer_characters()
    known = lambda c: chr(c) not in newer  # noqa: E731
    print(f"{len(newer)} characters are newer than Unicode {unicodedata.unidata_version} and left out")
    texts = [text.encode() for text in tokenizer_texts.SCRIPTS]
    texts += tokenizer_texts.damaged_texts(1)
    texts += [text.encode() for text in tokenizer_texts.random_texts(2, 1500 if what == "families" else 400, known)]
    texts += [text.encode() for text in tokenizer_texts.every_character(known)]
    if what == "files":
        project = tokenizer_texts.project_texts(ROOT, 100_000)
        total, wrong = check_files(project, [text for text in texts if newer.isdisjoint(text.decode("utf-8", "replace"))], probe)
        print(f"{total} tokens, {wrong} differences")
        sys.exit(1 if wrong else 0)
    if what == "families":
        project = tokenizer_texts.project_texts(ROOT, 300_000)
        lines = project + [line for text in tokenizer_texts.SCRIPTS for line in text.split("\n")] * 3
        texts += [text.encode() for text in project]
        tokenizers = [(name, lambda make=make: make(lines)) for name, make in tokenizer_families.FAMILIES.items()]
    else:
        texts = texts[::2]  # there are many parts
        characters = tokenizer_texts.SCRIPTS + tokenizer_texts.random_texts(2, 200, known)
        tokenizers = [(name, lambda name=name: tokenizer_families.one_part(name, characters))
                      for name in tokenizer_families.PARTS]
    texts = [text for text in texts if newer.isdisjoint(text.decode("utf-8", "replace"))]
    total, wrong = check_all(tokenizers, texts, probe)
    print(f"{len(texts)} texts, {total} tokens, {wrong} differences")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
