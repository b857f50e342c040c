"""Chat templates against transformers.

    chat_truth.py TEXT_PROBE [FOLDER]

Conversations of many kinds are rendered with templates in the style of every family, with the real
apply_chat_template and with ours: the same text, or both refuse. Marked answers ({% generation %})
are compared to the tokenizer's own; then which tokens count in the image that is made of all. With FOLDER, the
templates (*.jinja) in it are compared over the same conversations, too: the real ones, which are not ours to keep here.
"""

import datetime
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import transformers
from tokenizers import Tokenizer, models
from transformers.utils import chat_template_utils

import chat_conversations
import chat_templates

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "trainer" / "text"))
from prepare import chat_environment, chat_template, refusal  # noqa: E402

TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}


class FixedDate(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return chat_environment.DATE_OF_TEXTS


chat_template_utils.datetime = FixedDate
warnings.simplefilter("ignore", SyntaxWarning)  # of what Jinja compiles


class Ours:
    """Asks the program's own code; folders are those of models."""

    def __init__(self, folder):
        self.folder, self.made = folder, {}

    def template(self, source=None, folder=None, has_tools=False):
        if folder is None and source not in self.made:
            folder = self.folder / str(len(self.made))
            folder.mkdir()
            (folder / "chat_template.jinja").write_bytes(source.encode())
            (folder / "tokenizer_config.json").write_text(json.dumps(TOKENS))
            self.made[source] = chat_template.ChatTemplate(str(folder))
        return self.made[source] if source is not None else chat_template.ChatTemplate(str(folder), for_tools=has_tools)

    def ask(self, template=None, folder=None, messages=(), prompt=False, answers=False, given=None):
        given = given or {}
        made = self.template(template, folder, "tools" in given)
        try:
            if made.wrong:
                raise refusal.BadExample(made.wrong)
            if not answers:
                return {"text": made.render(chat_template.shown_to_templates(messages), given, prompt)[0]}
            text, ranges = made.with_answers(messages, given)
            return {"text": text, "answers": [list(found) for found in ranges]}
        except Exception as error:
            return {"error": str(error)}


class Report:
    def __init__(self):
        self.checks = 0
        self.failures = 0

    def check(self, passed, *what):
        self.checks += 1
        if passed:
            return
        self.failures += 1
        if self.failures <= 20:
            print("DIFFERENT:", *what, sep="\n  ", flush=True)


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


def compare_conversations(ours, report, name, template, tokenizer):
    given = [(title, messages, {}) for title, messages in chat_conversations.CONVERSATIONS]
    for title, messages, variables in given + chat_conversations.GIVEN_MORE:
        for prompt in (False, True):
            if not messages:
                continue  # refused before
            expected = reference(tokenizer, template, messages, prompt, variables)
            got = ours.ask(template=template, messages=messages, prompt=prompt, given=variables)
            where = f"{name}, {title}, prompt={prompt}"
            if isinstance(expected, Exception):
                report.check("error" in got, where, f"expected {expected!r}", f"got {got}")
                raised = type(expected).__name__ == "TemplateError"
                if raised and "error" in got:
                    report.check(str(expected) in got["error"], where, str(expected), got["error"])
            else:
                report.check(got.get("text") == expected, where, f"expected {expected!r}", f"got      {got}")


def compare_answers_with_tools(ours, report, name, template, tokenizer):
    """What the template adds to the prompt, which has the tools, where the prompt is how the whole begins."""
    found = 0
    for title, messages, variables in chat_conversations.GIVEN_MORE:
        whole = reference(tokenizer, template, messages, False, variables)
        asked = reference(tokenizer, template, messages[:-1], True, variables)
        if isinstance(whole, Exception) or isinstance(asked, Exception) or not whole.startswith(asked):
            continue
        got = ours.ask(template=template, messages=messages, answers=True, given=variables)
        if "error" in got:  # of an answer before, which the template writes differently
            continue
        found += 1
        report.check(got["text"] == whole and got["answers"][-1][0] == len(asked), f"{name}, {title}: {asked!r}", got)
    return found


def compare_called_tools(ours, report):
    """A turn without a word that calls a tool is all of that turn, also where templates write it differently at the end."""
    for name in "in the style of Qwen3", "in the style of Llama 3.1 and 3.2":
        got = ours.ask(template=chat_templates.TEMPLATES[name], messages=chat_conversations.CALL, answers=True,
                       given={"tools": [chat_conversations.WEATHER]})
        called = pieces(got)[0] if "text" in got else ""
        report.check('"name": "weather"' in called and "exact" in called and called.rstrip().endswith(">"), name, got)
        report.check("rain" not in called and "weather?" not in called and len(pieces(got)) == 2, name, got)


def marked_answers(template, messages):
    # What apply_chat_template does before.
    messages = [{k: v for k, v in message.items() if v is not None} for message in messages]
    messages = chat_template_utils._alias_reasoning_fields(messages)
    compiled = chat_template_utils._compile_jinja_template(template)
    text, ranges = chat_template_utils._render_with_assistant_indices(
        compiled, messages, None, None, False, **TOKENS
    )
    return text, [list(found) for found in ranges]


def compare_marked(ours, report, name, template):
    for title, messages in chat_conversations.CONVERSATIONS:
        try:
            text, ranges = marked_answers(template, messages)
        except Exception:
            continue  # compared above
        if not messages:
            continue
        got = ours.ask(template=template, messages=messages, answers=True)
        report.check(got == {"text": text, "answers": ranges}, f"{name}, {title}", f"expected {ranges}", got)


def pieces(reply):
    return [reply["text"][begin:end] for begin, end in reply["answers"]]


def compare_found(ours, report):
    """Answers without marks: those of the same template with marks, by its author's hand."""
    for name, (plain, marked) in chat_templates.MARKED.items():
        for title, messages in chat_conversations.CONVERSATIONS:
            try:
                text, ranges = marked_answers(marked, messages)
            except Exception:
                continue
            if not messages:
                continue
            got = ours.ask(template=plain, messages=messages, answers=True)
            if "error" in got:
                report.check(False, f"{name}, {title}", got["error"])
                continue
            expected = pieces({"text": text, "answers": ranges})
            report.check(got["text"] == text, f"{name}, {title}: the template changed its text by marks")
            report.check(pieces(got) == expected, f"{name}, {title}", f"expected {expected}", f"got {pieces(got)}")


def compare_folders(ours, report):
    """How a folder's template and tokens are found."""
    messages = [{"role": "user", "content": "hello"}]
    first = "{{ bos_token }}1{% for m in messages %}{{ m.content }}{{ eos_token }}{% endfor %}"
    second = first.replace("1", "2")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def same(where):
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
            for given in {}, {"tools": [{"name": "a"}]}, {"tools": []}:
                expected = tokenizer.apply_chat_template(messages, tokenize=False, **given)
                got = ours.ask(folder=str(folder), messages=messages, given=given)
                report.check(got.get("text") == expected, where, given, f"expected {expected!r}", f"got {got}")

        make_tokenizer(chat_template=first).save_pretrained(folder)
        same("chat_template.jinja")
        config_path = folder / "tokenizer_config.json"
        config = json.loads(config_path.read_text())
        config_path.write_text(json.dumps(config | {"chat_template": second}))
        same("chat_template.jinja beside another in the configuration")
        more = folder / "additional_chat_templates"
        more.mkdir()
        (more / "tool_use.jinja").write_text(second.replace("2", "3"))
        same("one for tools in a file of its own")
        (more / "default.jinja").write_text(second.replace("2", "4"))
        same("the default beside it")
        for file in folder / "chat_template.jinja", more / "tool_use.jinja", more / "default.jinja":
            file.unlink()
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
        got = ours.ask(folder=str(folder), messages=messages)
        report.check("has no chat template" in got.get("error", ""), "a folder without a template", got)


def compare_counted(ours, report, probe, folder):
    """Which tokens count, from a file of conversations to the image: text is bytes here, so a token is a byte."""
    process = subprocess.Popen([probe], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    data = folder / "conversations.jsonl"
    for name, template in chat_templates.TEMPLATES.items():
        lines, expected = [], []
        for title, messages in chat_conversations.CONVERSATIONS:
            got = ours.ask(template=template, messages=messages, answers=True)
            if "error" in got or not messages or not got["text"] or any("role" not in message for message in messages):
                continue
            size = lambda end: len(got["text"][:end].encode())  # noqa: B023, E731
            mask = bytearray(b"0" * size(None))
            for begin, end in got["answers"]:
                mask[size(begin) : size(end)] = b"1" * (size(end) - size(begin))
            lines.append(json.dumps({"messages": messages}))
            expected.append((got["text"].encode(), mask.decode()))
        data.write_text("\n".join(lines))
        chat = ours.template(template).place
        print(json.dumps({"data": str(data), "chat": str(pathlib.Path(chat).parent)}), file=process.stdin, flush=True)
        answer = json.loads(process.stdout.readline())
        found = [(bytes(example["tokens"]), example["mask"]) for example in answer.get("examples", [])]
        report.check(found == expected, f"counted tokens of {name}", answer.get("error"))
        report.check(len(lines) > 5 or ours.template(template).wrong, f"{name} has too few conversations")


def main():
    report = Report()
    tokenizer = make_tokenizer()
    with tempfile.TemporaryDirectory() as name:
        ours = Ours(pathlib.Path(name))
        for name, template in chat_templates.TEMPLATES.items():
            compare_conversations(ours, report, name, template, tokenizer)
            if "{% generation" in template:
                compare_marked(ours, report, name, template)
        with_tools = sum(compare_answers_with_tools(ours, report, name, template, tokenizer)
                         for name, template in chat_templates.TEMPLATES.items() if "{% generation" not in template)
        report.check(with_tools > 30, "too few answers to prompts with tools", with_tools)
        compare_called_tools(ours, report)
        compare_found(ours, report)
        compare_folders(ours, report)
        compare_counted(ours, report, sys.argv[1], ours.folder)
        for path in sorted(pathlib.Path(sys.argv[2]).glob("*.jinja")) if len(sys.argv) > 2 else ():
            template = path.read_text()
            compare_conversations(ours, report, path.name, template, tokenizer)
            if re.search(r"\{%-?\s*generation", template):
                compare_marked(ours, report, path.name, template)
    print(f"{report.checks} checks, {report.failures} different")
    sys.exit(1 if report.failures else 0)


if __name__ == "__main__":
    main()
