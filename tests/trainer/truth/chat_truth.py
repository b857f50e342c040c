"""Chat templates against transformers, and their language against Jinja itself.

    chat_truth.py PROBE [FOLDER]

Conversations of many kinds are rendered with templates in the style of every family, with the real
apply_chat_template and with ours: the same bytes, or both refuse. Marked answers ({% generation %})
are compared to the tokenizer's own. Then thousands of small random programs are run by Jinja and by
us. With FOLDER, the templates (*.jinja) in it are compared over the same conversations, too: the real
ones, which are not ours to keep here.
"""

import datetime
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import warnings

import transformers
from tokenizers import Tokenizer, models
from transformers.utils import chat_template_utils

import chat_conversations
import chat_programs
import chat_templates

NOW = 1_753_500_000  # 26 July 2025
TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}


class FixedDate(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(NOW, datetime.timezone.utc).replace(tzinfo=None)


chat_template_utils.datetime = FixedDate
warnings.simplefilter("ignore", SyntaxWarning)  # of what Jinja compiles


class Probe:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, **question):
        self.process.stdin.write(json.dumps(question).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"the probe died of {question}")
        return json.loads(line)


class Report:
    def __init__(self):
        self.checks = 0
        self.failures = 0
        self.excused = {}
        self.rendered = 0

    def check(self, passed, *what):
        self.checks += 1
        if passed:
            return
        self.failures += 1
        if self.failures <= 20:
            print("DIFFERENT:", *what, sep="\n  ", flush=True)

    def excuse(self, why):
        self.excused[why] = self.excused.get(why, 0) + 1


def make_tokenizer(**more):
    tokenizer = Tokenizer(models.WordLevel({token: i for i, token in enumerate(TOKENS.values())}, "<unk>"))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **TOKENS, **more)


def reference(tokenizer, template, messages, prompt, variables):
    """The text, or the exception."""
    try:
        return tokenizer.apply_chat_template(
            messages, chat_template=template, tokenize=False, add_generation_prompt=prompt, **variables
        )
    except Exception as error:  # whatever Python raises, we must refuse, too
        return error


def compare_conversations(probe, report, name, template, tokenizer):
    for title, messages in chat_conversations.CONVERSATIONS:
        for prompt in (False, True):
            expected = reference(tokenizer, template, messages, prompt, {})
            got = probe.ask(template=template, tokens=TOKENS, messages=messages, prompt=prompt, now=NOW)
            where = f"{name}, {title}, prompt={prompt}"
            if isinstance(expected, Exception):
                report.check("error" in got, where, f"expected {expected!r}", f"got {got}")
                raised = type(expected).__name__ == "TemplateError"
                if raised and "error" in got:
                    report.check(str(expected) in got["error"], where, str(expected), got["error"])
            else:
                report.check(got.get("text") == expected, where, f"expected {expected!r}", f"got      {got}")


def marked_answers(template, messages):
    # What apply_chat_template does before.
    messages = [{k: v for k, v in message.items() if v is not None} for message in messages]
    messages = chat_template_utils._alias_reasoning_fields(messages)
    compiled = chat_template_utils._compile_jinja_template(template)
    text, ranges = chat_template_utils._render_with_assistant_indices(
        compiled, messages, None, None, False, **TOKENS
    )
    return text, [[len(text[:begin].encode()), len(text[:end].encode())] for begin, end in ranges]


def compare_marked(probe, report, name, template):
    for title, messages in chat_conversations.CONVERSATIONS:
        try:
            text, ranges = marked_answers(template, messages)
        except Exception:
            continue  # compared above
        if not messages:
            continue
        got = probe.ask(template=template, tokens=TOKENS, messages=messages, answers=True, now=NOW)
        report.check(got == {"text": text, "answers": ranges}, f"{name}, {title}", f"expected {ranges}", got)


def pieces(reply):
    text = reply["text"].encode()
    return [text[begin:end].decode() for begin, end in reply["answers"]]


def compare_found(probe, report):
    """Answers without marks: those of the same template with marks, by its author's hand."""
    for name, (plain, marked) in chat_templates.MARKED.items():
        for title, messages in chat_conversations.CONVERSATIONS:
            try:
                text, ranges = marked_answers(marked, messages)
            except Exception:
                continue
            if not messages:
                continue
            got = probe.ask(template=plain, tokens=TOKENS, messages=messages, answers=True, now=NOW)
            if "error" in got:
                report.check(False, f"{name}, {title}", got["error"])
                continue
            expected = pieces({"text": text, "answers": ranges})
            report.check(got["text"] == text, f"{name}, {title}: the template changed its text by marks")
            report.check(pieces(got) == expected, f"{name}, {title}", f"expected {expected}", f"got {pieces(got)}")


def compare_folders(probe, report):
    """How a folder's template and tokens are found."""
    messages = [{"role": "user", "content": "hello"}]
    first = "{{ bos_token }}1{% for m in messages %}{{ m.content }}{{ eos_token }}{% endfor %}"
    second = first.replace("1", "2")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def same(where):
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
            expected = tokenizer.apply_chat_template(messages, tokenize=False)
            got = probe.ask(folder=str(folder), messages=messages)
            report.check(got.get("text") == expected, where, f"expected {expected!r}", f"got {got}")

        make_tokenizer(chat_template=first).save_pretrained(folder)
        same("chat_template.jinja")
        config_path = folder / "tokenizer_config.json"
        config = json.loads(config_path.read_text())
        config_path.write_text(json.dumps(config | {"chat_template": second}))
        same("chat_template.jinja beside another in the configuration")
        (folder / "chat_template.jinja").unlink()
        same("the configuration's template")
        named = [{"name": "tool_use", "template": first}, {"name": "default", "template": second}]
        config_path.write_text(json.dumps(config | {"chat_template": named}))
        same("named templates")
        described = {"content": "<one>", "lstrip": False, "normalized": False, "rstrip": False, "single_word": False}
        described["__type"] = "AddedToken"
        config_path.write_text(json.dumps(config | {"chat_template": second, "eos_token": described}))
        same("a described token")
        without = {k: v for k, v in config.items() if not k.endswith("_token") and k != "added_tokens_decoder"}
        config_path.write_text(json.dumps(without | {"chat_template": second}))
        (folder / "special_tokens_map.json").write_text(json.dumps({"bos_token": "<b>", "eos_token": {"content": "<e>"}}))
        same("special_tokens_map.json")
        config_path.write_text(json.dumps(without))
        got = probe.ask(folder=str(folder), messages=messages)
        report.check("has no chat template" in got.get("error", ""), "a folder without a template", got)


def program_reference(source, variables):
    try:
        return chat_template_utils._cached_compile_jinja_template(source).render(**variables)
    except Exception as error:
        return error


def compare_program(probe, report, source, variables):
    expected = program_reference(source, variables)
    got = probe.ask(plain=True, template=source, variables=variables, now=NOW)
    if isinstance(expected, Exception):
        if re.match("No (filter|test) named", str(expected)) and "text" in got:
            return report.excuse("a name that is unknown where it is never used")
        # Jinja's optimizer fails on {[]: 1} even where it is never evaluated.
        if "unhashable" in str(expected) and "text" in got:
            return report.excuse("a constant that has no value, never used")
        report.check("error" in got, source, f"expected {expected!r}", f"got {got}")
        return
    if re.search(r" at 0x[0-9a-f]+>|Undefined|built-in method|<function|<class", expected):
        return report.excuse("what Python shows of its own objects")
    try:
        expected.encode()
    except UnicodeEncodeError:
        return report.excuse("half a surrogate pair")
    error = got.get("error", "")
    # Of a constant that has no slices Jinja's optimizer makes nothing, its compiled code an error.
    for limit in ("64 bits", "not supported", "beyond 10000", "nested more than 100", "has no slices"):
        if limit in error:
            return report.excuse(limit)
    report.rendered += 1
    report.check(got.get("text") == expected, source, f"expected {expected!r}", f"got      {got}")


def compare_programs(probe, report, count):
    for source in chat_programs.WRITTEN:
        compare_program(probe, report, source, chat_programs.VARIABLES)
    for seed in range(count):
        source = chat_programs.Generator(random.Random(seed)).program()
        compare_program(probe, report, source, chat_programs.VARIABLES)


def compare_characters(probe, report):
    """What the text methods know of every character, alone and among others."""
    # Beyond are ideographs of the last planes, tags and what is not assigned.
    everything = [chr(c) for c in range(0x20000) if not 0xD800 <= c < 0xE000]
    for method in "upper lower title capitalize swapcase".split():
        for text in ("".join(everything), "|".join(everything), "a".join(everything)):
            got = probe.ask(plain=True, template="{{ text." + method + "() }}", variables={"text": text})
            report.check(got.get("text") == getattr(text, method)(), f"{method} of all", got.get("error"))
    # A capital sigma at the end of a word is another one; what ends a word depends on its neighbours.
    for form in ("AΣ{}", "AΣ{}A", "A{}Σ"):
        text = " ".join(form.format(c) for c in everything)
        got = probe.ask(plain=True, template="{{ text.lower() }}", variables={"text": text})
        report.check(got.get("text") == text.lower(), f"lower of {form}", got.get("error"))
    kinds = "isalpha isdigit isdecimal isnumeric isspace isupper islower istitle isprintable isalnum".split()

    def answers(character):
        return [getattr(character, kind)() for kind in kinds]

    # All that are unlike a neighbour: where a table is wrong, it is so at an end of a run.
    known = [answers(c) for c in everything]
    some = [c for i, c in enumerate(everything) if known[i] != known[i - 1] or known[i] != known[(i + 1) % len(known)]]
    calls = "".join("{{ c." + kind + "() }}" for kind in kinds)
    for begin in range(0, len(some), 5000):
        block = some[begin : begin + 5000]
        template = "{% for c in text %}" + calls + "|{% endfor %}"
        got = probe.ask(plain=True, template=template, variables={"text": "".join(block)})
        expected = "".join("".join(map(str, answers(c))) + "|" for c in block)
        report.check(got.get("text") == expected, f"kinds from {begin}", got.get("error"))


def main():
    probe = Probe(sys.argv[1])
    report = Report()
    tokenizer = make_tokenizer()
    for name, template in chat_templates.TEMPLATES.items():
        compare_conversations(probe, report, name, template, tokenizer)
        if "{% generation" in template:
            compare_marked(probe, report, name, template)
    compare_found(probe, report)
    compare_folders(probe, report)
    if len(sys.argv) > 2:
        for path in sorted(pathlib.Path(sys.argv[2]).glob("*.jinja")):
            template = path.read_text()
            compare_conversations(probe, report, path.name, template, tokenizer)
            if re.search(r"\{%-?\s*generation", template):
                compare_marked(probe, report, path.name, template)
    conversations = report.checks
    compare_characters(probe, report)
    compare_programs(probe, report, 2500)
    print(f"{conversations} checks of conversations, {report.checks - conversations} of the language "
          f"({report.rendered} programs with a text, the others refused), {report.failures} different, not compared: {report.excused}")
    if report.rendered < 1500:
        sys.exit("too few programs have a text")
    if sum(report.excused.values()) * 10 > report.checks:
        sys.exit("too much was not compared")
    sys.exit(1 if report.failures else 0)


if __name__ == "__main__":
    main()
