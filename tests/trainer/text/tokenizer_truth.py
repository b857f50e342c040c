"""The tokens of our images against the `tokenizers` package and `transformers`, text by text.

  tokenizer_truth.py TEXT_PROBE families|files|hostile

Tokenizers as all families have them are trained here on the project's own text and on texts that are hard on
tokenizers; of each a document, too, that is encoded in pieces, perhaps word by word, against the whole.
hostile: damaged files, patterns that take for ever, templates that raise or try too much: all end in words, soon."""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
from array import array

import tokenizer_families
import tokenizer_texts
from tokenizers import Tokenizer

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "trainer" / "text"))
from prepare import documents, image, lines, main as program, preparation  # noqa: E402

ROOT = pathlib.Path(__file__).parents[3]


class Probe:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, **request):
        self.process.stdin.write(json.dumps({"python": sys.executable, **request}).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"the probe died of {request}"
        return json.loads(line)


def difference(name, texts, ours, theirs):
    wrong = [i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b]
    for i in wrong[:3]:
        at = lines.common_prefix(ours[i], theirs[i])
        where = slice(max(0, at - 3), at + 6)
        print(f"{name}: of {texts[i][:160]!r} at {at}: ours {ours[i][where]}, theirs {theirs[i][where]}")
    return len(wrong)


def compare(probe, name, folder, tokenizer, texts):
    """`tokenizer`: the package's, which ours is read from. Returns tokens compared and texts that differ."""
    folder = pathlib.Path(folder)
    texts = [text for text in texts if text]
    data = folder / "texts.jsonl"
    data.write_text("".join(json.dumps({"text": text, "label": 0}) + "\n" for text in texts))
    answer = probe.ask(data=str(data), tokenizer=str(folder), skip_bad_lines=True)
    if "error" in answer:
        print(f"{name}: {answer['error']}")
        return 0, 1
    theirs = [encoding.ids for encoding in tokenizer.encode_batch(texts, add_special_tokens=True)]
    kept = [i for i, tokens in enumerate(theirs) if tokens]
    ours = [example["tokens"] for example in answer["examples"]]
    wrong = difference(name, [texts[i] for i in kept], ours, [theirs[i] for i in kept])
    # What is no UTF-8 stands in documents only.
    damaged = folder / "damaged"
    damaged.mkdir(exist_ok=True)
    data = [text for text in tokenizer_texts.damaged_texts(1)[:40] if text and b"\0" not in text]
    for number, text in enumerate(data):
        (damaged / f"{number:03}.txt").write_bytes(text)
    tokens, made = prepared(damaged, folder, files=[str(file).encode().hex() for file in sorted(damaged.iterdir())])
    end = made.tokenizer.end
    theirs = [encoding.ids for encoding in tokenizer.encode_batch([text.decode("utf-8", "replace") for text in data])]
    theirs = [ids + [end] * (end is not None and ids[-1:] != [end]) for ids in theirs]
    begins = made.image.offsets
    wrong += difference(name, data, [tokens[begin:end] for begin, end in zip(begins, begins[1:])], theirs)
    return sum(map(len, theirs)) + sum(map(len, ours)), wrong


def decodes_otherwise(probe, name, folder, tokenizer):
    tokens = tokenizer.encode("A sample, é 中 🙂: don't.").ids
    decoded = probe.ask(tokenizer=str(folder), decode=tokens).get("text")
    if decoded == tokenizer.decode(tokens, skip_special_tokens=True):
        return False
    print(f"{name}: decoded {decoded!r}")
    return True


def corpus(most):
    project = tokenizer_texts.project_texts(ROOT, most)
    return project, project + [line for text in tokenizer_texts.SCRIPTS for line in text.split("\n")] * 3


def check_files(probe):
    """Folders without a tokenizer.json against the classes of `transformers` that read them."""
    from transformers import BertTokenizer, GPT2Tokenizer, Qwen2Tokenizer, RobertaTokenizer
    project, _ = corpus(100_000)
    texts = tokenizer_texts.SCRIPTS + tokenizer_texts.random_texts(2, 400)
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
    wrong = 0
    for family, reader, model, settings in cases:
        with tempfile.TemporaryDirectory() as folder:
            tokenizer_families.FAMILIES[family](project).model.save(folder)
            for name, content in (("config.json", model), ("tokenizer_config.json", settings)):
                pathlib.Path(folder, name).write_text(json.dumps(content))
            theirs = reader.from_pretrained(folder)
            tokens, differences = compare(probe, f"{family} {settings}", folder, theirs.backend_tokenizer, texts)
            differences += decodes_otherwise(probe, f"{family} {settings}", folder, theirs.backend_tokenizer)
        print(f"{family} {sorted(settings)}: {tokens} tokens, {differences} texts differ", flush=True)
        wrong += differences
    return wrong


def prepared(path, folder, **more):
    """The tokens of one document, by the program's own code."""
    descriptor = os.memfd_create("image")
    request = {"do": "encode", "image": descriptor, "tokenizer": str(folder).encode().hex(), "data": str(path),
               "files": [str(path).encode().hex()], "json_lines": False, "chat": "", "completion_only_loss": True,
               "classes": 0, "label_numbers": {}, "skip_bad_lines": False, "seconds": 60, "memory": 1 << 34, **more}
    prepared = preparation.Preparation(request, program.make_tokenizer(request))
    prepared.run()
    tokens = array(prepared.image.type)
    tokens.frombytes(os.pread(descriptor, prepared.image.tokens * tokens.itemsize, image.TOKENS_BEGIN))
    os.close(descriptor)
    return list(tokens), prepared


HARD = ["  ", "    ", "<s>", "</s>", " <s>", "<|endoftext|>", "<mask>", "[SEP]", "\t", "\u00a0", "\u3000", "\u0301", "'s", "'ll",
        ".", ",", "x", "Word", "12", "中", "é", "▁", "-", "\n", "\n\n", "\r\n", " "]


def long_text(project):
    """What is hard on tokenizers one after another, and ends as texts end: spaces of all kinds, special tokens, marks."""
    chooser = random.Random(3)
    texts = tokenizer_texts.SCRIPTS * 2 + project[:200] + tokenizer_texts.random_texts(3, 200)
    texts += ["".join(chooser.choices(HARD, k=30)) for _ in range(800)]
    chooser.shuffle(texts)
    text = "".join(text + chooser.choice(("\n", "\n\n", " ", "\r\n", "", "   ")) for text in texts if "\0" not in text)
    return text[:80_000]


def crowded_texts(count):
    """Without blanks, too: every character of ASCII and some others beside each other."""
    chooser = random.Random(8)
    parts = [*map(chr, range(9, 14)), *map(chr, range(28, 127)), *"é²Ⅷ٣’\u00a0\u0338", *HARD]
    few = [*"aZs1.'\n\r \té²</|"]
    return ["".join(chooser.choices(chosen, k=chooser.randrange(40))) for _ in range(count) for chosen in (parts, few)]


def check_pieces(name, folder, tokenizer, text, crowded):
    """A long text that is encoded in pieces against the whole; returns how words are split, and what differs."""
    path = pathlib.Path(folder, "long.txt")
    path.write_bytes(text.encode())
    ours, made = prepared(path, folder)
    end = made.tokenizer.end
    theirs = tokenizer.encode(text).ids
    theirs += [end] * (end is not None and theirs[-1] != end)
    differs = difference(name, [text], [ours], [theirs])
    remembered, how = made.documents.words, "whole"
    if remembered and remembered.split:
        ours = [list(remembered.look_up(each)) for each in crowded]
        theirs = [encoding.ids for encoding in tokenizer.encode_batch_fast(crowded, add_special_tokens=False)]
        differs += difference(name, crowded, ours, theirs)
        how = "letters" if remembered.split.__name__ == "findall" else "blanks"
    if how == "letters":  # not only with the merges that this one has learnt
        differs += not remembered.fits(remembered.split, crowded, made.tokenizer.words)
    return how, differs


DECODED = ("gpt2", "llama2, normalizer", "bert uncased", "end of word", "unigram", "gemma")  # each has another decoder


def check_families(probe):
    project, lines = corpus(200_000)
    texts = tokenizer_texts.SCRIPTS + tokenizer_texts.random_texts(2, 500) + project[:300]
    text, crowded = long_text(project), tokenizer_texts.SCRIPTS + crowded_texts(1500)
    # Everything is smaller than in earnest, so that there are many pieces.
    documents.READ_BYTES, documents.PIECE, documents.BATCH = 10_000, 3_000, 30_000
    total = wrong = 0
    used = {"letters": set(), "blanks": set(), "whole": set()}
    for name, make in tokenizer_families.FAMILIES.items():
        with tempfile.TemporaryDirectory() as folder:
            make(lines).save(os.path.join(folder, "tokenizer.json"))
            tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
            how, differs = check_pieces(name, folder, tokenizer, text, crowded)
            used[how].add(name)
            tokens, differences = compare(probe, name, folder, tokenizer, texts)
            if name in DECODED:
                differences += decodes_otherwise(probe, name, folder, tokenizer)
        print(f"{name}: {tokens} tokens, {differences} texts differ; {how}{', DIFFERENT' if differs else ''}", flush=True)
        total, wrong = total + tokens, wrong + differences + differs
    lacking = {"letters": {"gpt2", "roberta", "llama3", "mistral, tekken", "qwen3", "gpt4o", "deepseek", "smollm"},
               "blanks": {"llama2, metaspace", "word level"}}
    lacking = {how: names - used[how] for how, names in lacking.items()}
    print(f"{len(texts)} texts, {total} tokens, {wrong} differences; split more coarsely than they were: {lacking}")
    return wrong + sum(map(len, lacking.values()))


def refuses(probe, name, words, within, **request):
    start = time.monotonic()
    answer = probe.ask(**request)
    taken = time.monotonic() - start
    error = answer.get("error", f"no error, but {str(answer)[:200]}")
    good = all(word in error for word in words) and "Traceback" not in error and taken < within
    print(f"{name}: {error[:300]} ({taken:.1f} s){'' if good else '  WRONG'}", flush=True)
    return not good


def check_hostile(probe):
    _, lines = corpus(30_000)
    definition = json.loads(tokenizer_families.gpt2(lines).to_str())
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "tokenizer.json").write_text(json.dumps(definition))
        turns = folder / "turns.jsonl"
        turn = json.dumps({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]})
        turns.write_text(turn + "\n" + turn + "\n")
        template = folder / "chat_template.jinja"
        place = f"{turns}:1: "
        ask = dict(data=str(turns), tokenizer=str(folder), chat=str(folder), seconds=2, memory=3 << 30)
        for title, source, words in (
                ("memory", "{{ 'x' * 10000000000 }}", ("chat_template.jinja", "memory")),
                ("a number while it is read", "{{ 7 ** (7 ** 11) }}", ("turns.jsonl:1", "without getting on")),
                ("a number", "{{ 7 ** (2000000000 + messages | length) }}", ("turns.jsonl:1", "without getting on")),
                ("a change of a message", "one\n{{ dict.update(messages[0], content='c') }}", ("chat_template.jinja:2",)),
                ("a name of Python's", "one\n{% set n = namespace() %}{% set n.__class__ = 1 %}", ("chat_template.jinja:2",)),
                ("raised", "one\ntwo {{ raise_exception('roles must alternate') }}",
                 ("chat_template.jinja:2: roles must alternate",)),
                ("no syntax", "one\n{% if %}", ("chat_template.jinja:2",)),
                ("recursion", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", ("chat_template.jinja", "recursion")),
                ("the sandbox", "{{ ''.__class__.__mro__[1].__subclasses__() }}", ("chat_template.jinja:1", "unsafe")),
                ("a change", "{{ messages.append(1) }}", ("chat_template.jinja:1", "unsafe")),
                ("a name", "{{ messages[0].content.nothing.more }}", ("chat_template.jinja:1", "nothing"))):
            template.write_text(source)
            wrong += refuses(probe, title, (place, *words), 120, **ask)
        template.write_text("{% for m in messages %}{{ m.content }}{% endfor %}")
        unusable = dict(ask, chat="")
        for title, change in (("no such part", {"model": {"type": "Nothing"}}), ("a pattern that cannot be read", {
                "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(a"}, "behavior": "Isolated", "invert": False}})):
            (folder / "tokenizer.json").write_text(json.dumps({**definition, **change}))
            wrong += refuses(probe, title, (str(folder / "tokenizer.json"), "cannot be used"), 60, **unusable)
        for content in (b"", b"[", b"\xff", b"[" * 100_000, b'{"model": 1}'):
            (folder / "tokenizer.json").write_bytes(content)
            wrong += refuses(probe, f"{content[:20]}", (str(folder / "tokenizer.json"), "cannot be used"), 60, **unusable)
        # Every way to read a+ is tried before it is given up; look-around keeps matchers from taking a short way.
        (folder / "tokenizer.json").write_text(json.dumps({**definition, "pre_tokenizer": {
            "type": "Split", "pattern": {"Regex": "(?=(?:a|a|aa)+$)(?:(a+)+)+b"}, "behavior": "Isolated", "invert": False}}))
        turns.write_text(json.dumps({"text": "a" * 5000 + "c"}) + "\n")
        answer = probe.ask(**dict(unusable, seconds=3))
        print(f"a catastrophic pattern: {str(answer)[:300]}")
        wrong += "error" in answer and str(turns) not in answer["error"]
        # As many changes as there are seconds for: each ends, with tokens or in words.
        chooser = random.Random(3)
        whole = json.dumps(definition)
        turns.write_text(json.dumps({"text": "hello, some words é 中"}) + "\n")
        refused = 0
        for _ in range(40):
            at = chooser.randrange(len(whole))
            damaged = whole[:at] + chooser.choice(("", "[", "null", "-1", '"', "\\", "}", "1e999")) + whole[at + chooser.randrange(12):]
            (folder / "tokenizer.json").write_text(damaged)
            answer = probe.ask(**unusable)
            refused += "error" in answer
            if "Traceback" in answer.get("error", "") or answer.get("error", ":") == "":
                print("WRONG:", answer)
                wrong += 1
        print(f"of 40 damaged files {refused} were refused")
        (folder / "tokenizer.json").write_text(json.dumps(definition))
        wrong += check_memory(probe, folder)
    return wrong


def check_memory(probe, folder):
    """A word without end, wherever it stands: what encodes it ends in words that name its place and the limit."""
    word = "".join(random.Random(4).choices("abcdefghij", k=12_000_000))
    short, long, lines = folder / "short.txt", folder / "long.txt", folder / "lines.jsonl"
    short.write_text("words\n" + word)
    long.write_text("some words before it\n" * 100_000 + word)
    lines.write_text(json.dumps({"text": "words"}) + "\n" + json.dumps({"text": word}) + "\n")
    limits = " MiB, which is all that it may take"
    wrong = 0
    # Rust aborts, a regular expression's matcher fails, a process that encodes ends.
    for memory in (300, 1000):
        ask = dict(tokenizer=str(folder), memory=memory << 20)
        for data, where in ((short, short), (lines, f"{lines}:")):
            wrong += refuses(probe, f"a long word in {memory} MiB", (str(where), f"{memory}{limits}"), 60, data=str(data), **ask)
        wrong += refuses(probe, f"a long word in a worker's {memory} MiB", (str(long), " memory"), 60, data=str(long), **ask)
    return wrong + refuses(probe, "a long line", (f"{lines}:2: ", f"120{limits}"), 60, data=str(lines), memory=120 << 20)


def main():
    probe, what = Probe(sys.argv[1]), sys.argv[2]
    checks = {"families": check_families, "files": check_files, "hostile": check_hostile}
    sys.exit(1 if checks[what](probe) else 0)


if __name__ == "__main__":
    main()
