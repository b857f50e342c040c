"""Turns texts into tokens for shardlens-rank, which starts it (trainer/text/text_program.h).

Standard input is one line of JSON, the request, standard output one line, the reply: {"done": …} or
{"error": {"kind", "message"}}. "encode" writes the tokens into an open file, behind the page of its header
(trainer/text/token_layout.h); that page says meanwhile where in the text we are. "decode" goes on: each further
line is a list of tokens, answered with their text.
"""
import sys

if __name__ == "__main__" and not getattr(sys.flags, "safe_path", False):
    del sys.path[0]  # of the folder that we lie in, which may be anybody's

import codecs
import collections
import concurrent.futures
import copy
import ctypes
import datetime
import errno
import json
import multiprocessing
import os
import re
import resource
import signal
import stat
import struct
from array import array
from importlib import metadata

PACKAGES = "tokenizers==0.23.3 jinja2==3.1.6"
TOKENS_BEGIN = 4096
PLAIN, COMPLETION, CHAT, LABELED = range(4)
KIND_NAMES = ("text", "prompt and completion", "messages", "text and label")
MOST_CLASSES = 1 << 20
SHOWN_BAD_LINES = 5
READ_BYTES = 1 << 20
PIECE = 100_000  # characters that are encoded as one
BATCH = 2_000_000  # characters that are encoded side by side
BATCH_EXAMPLES = 2000
# A text that cannot be cut needs some hundred times its size while it is encoded.
LONGEST_PIECE = 64_000_000
RENDER_SECONDS = 10  # of the processor, for one conversation
# What the slowest models need on a slow core, ten times over.
SLOWEST_CHARACTERS_PER_SECOND = 20_000
# 26 July 2024, which Llama 3's templates write where they are told no date: today's would give other texts tomorrow.
DATE_OF_TEXTS = datetime.datetime(2024, 7, 26, 12)
# Stands for an answer: no text of a conversation, nothing that a template would change.
MARK = "QshardlensanswerQ"


class Refused(Exception):
    """Ends the request. Kinds: usage, missing, damaged, failed, disk."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind, self.message = kind, message


class NoPackage(Refused):
    """What would prepare the text is not installed."""


class BadExample(Exception):
    """What is wrong with a line, without its place."""


class Overrun(BaseException):
    """A template took too long."""


def quoted(path):
    return '"' + os.fspath(path) + '"'


def reason_of(error):
    """One line of an exception's text."""
    text = " ".join(str(error).split())[:500].rstrip(".")
    return text or type(error).__name__


# ---- tokenizers


class Bytes:
    """Token 0 to 255 is the byte itself, one more ends a document."""

    vocabulary, end, padding = 257, 256, None

    def encode(self, texts, special):
        return [list(text.encode()) for text in texts]

    def added_tokens(self):
        return None  # nothing to remember


def need(package):
    """Other versions may give other tokens, and older ones of jinja2 let templates out of their sandbox."""
    wanted = dict(each.split("==") for each in PACKAGES.split())[package]
    try:
        found = metadata.version(package)
    except metadata.PackageNotFoundError:
        found = None
    if found != wanted:
        has = f"has {package} {found}" if found else f'has no package "{package}"'
        raise NoPackage("missing", f"This text is prepared by Hugging Face's own code, {package} {wanted}, but Python {has}. "
                                 f"Install it with this command, then start again: {sys.executable} -m pip install "
                                 f"{PACKAGES}")


def json_object(path):
    """Of a file; {} where there is none."""
    if not os.path.exists(path):
        return {}
    try:
        with open(path, "rb") as file:
            value = json.load(file)
    except OSError as error:
        raise Refused("failed", f"{quoted(path)} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise Refused("damaged", f"{quoted(path)} is not JSON: {reason_of(error)}. Download it again.") from None
    if not isinstance(value, dict):
        raise Refused("damaged", f"{quoted(path)} is no JSON object. Download it again.")
    return value


def token_text(value):
    """Of a token that is told as a string or as an object."""
    return value.get("content") if isinstance(value, dict) else value if isinstance(value, str) else None


def find_tokenizer(path):
    """The files of a folder's tokenizer, or of one of its files."""
    folder, name = (path, "") if os.path.isdir(path) else os.path.split(path)
    there = [file for file in ("tokenizer.json", "vocab.json", "merges.txt", "vocab.txt")
             if os.path.isfile(os.path.join(folder, file))]
    if not os.path.exists(path):
        raise Refused("missing", f"The tokenizer {quoted(path)} is not there. Name a model's folder or its "
                                 "tokenizer.json.")
    if name in ("vocab.json", "merges.txt"):
        names = ["vocab.json", "merges.txt"]
    elif name == "vocab.txt" or name.endswith(".json"):
        names = [name]
    elif name:
        raise Refused("usage", f"The file {quoted(path)} is no tokenizer. Name a model's folder, a tokenizer.json, "
                               "vocab.json or vocab.txt.")
    elif "tokenizer.json" in there:
        names = ["tokenizer.json"]
    elif "vocab.json" in there and "merges.txt" in there:
        names = ["vocab.json", "merges.txt"]
    elif "vocab.txt" in there:
        names = ["vocab.txt"]
    elif os.path.isfile(os.path.join(folder, "tokenizer.model")):
        raise Refused("usage", f"The folder {quoted(path)} has its tokenizer as tokenizer.model only. Let transformers "
                               "write tokenizer.json into it: "
                               "AutoTokenizer.from_pretrained(folder).save_pretrained(folder).")
    else:
        held = sorted(os.listdir(path))
        listed = ", ".join(held[:12]) + (", …" if len(held) > 12 else "") if held else "nothing"
        raise Refused("missing", f"The folder {quoted(path)} has no tokenizer: neither tokenizer.json, nor vocab.json "
                                 f"with merges.txt, nor vocab.txt. It holds {listed}.")
    return folder, [os.path.join(folder, name) for name in names]


class Tokenizer:
    """One that the package `tokenizers` reads."""

    def __init__(self, path):
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        need("tokenizers")
        import tokenizers
        folder, files = find_tokenizer(path)
        self.name = f"The tokenizer {quoted(files[0])}"
        self.config = json_object(os.path.join(folder, "tokenizer_config.json"))
        self.special = json_object(os.path.join(folder, "special_tokens_map.json"))
        self.model = json_object(os.path.join(folder, "config.json"))
        try:
            if files[0].endswith(".txt"):
                self.tokenizer = self.word_pieces(tokenizers, *files)
            elif len(files) == 2:
                self.tokenizer = self.byte_pairs(tokenizers, *files)
            else:
                self.tokenizer = tokenizers.Tokenizer.from_file(files[0])
            self.tokenizer.no_truncation()
            self.tokenizer.no_padding()
            self.vocabulary = 1 + max(self.tokenizer.get_vocab().values(), default=-1)
        except (Refused, KeyboardInterrupt):
            raise
        except BaseException as error:  # a panic of Rust is no Exception
            raise Refused("damaged", f"{self.name} cannot be used: {reason_of(error)}. Download it again.") from None
        self.end = self.find("eos_token", "sep_token", ("<|endoftext|>", "</s>", "<|end_of_text|>", "[SEP]"))
        self.padding = self.find("pad_token", None, ("[PAD]", "<pad>"))

    def role(self, name):
        return token_text(self.config.get(name)) or token_text(self.special.get(name))

    def find(self, role, other_role, usual):
        """The id of a token by what the files say, else by its usual names."""
        number = self.model.get(role + "_id")
        number = number[0] if isinstance(number, list) and number else number
        named = [self.role(name) for name in (role, other_role) if name]
        ids = [self.tokenizer.token_to_id(name) if name else None for name in (*named, *usual)]
        if isinstance(number, int) and 0 <= number < self.vocabulary:
            ids.insert(1, number)
        return next((token for token in ids if token is not None), None)

    def add_special_tokens(self, tokenizer, tokenizers, usual, always):
        """Those whose ids are told, those with a role, and of the usual ones what the vocabulary has."""
        told = self.config.get("added_tokens_decoder") or {}
        tokens = {}
        for number in sorted(told, key=int):
            entry = {key: value for key, value in told[number].items() if key != "__type"}
            tokens.setdefault(entry["content"], tokenizers.AddedToken(**entry))
        more = [*(self.config.get("additional_special_tokens") or []), *(self.special.get("additional_special_tokens") or [])]
        roles = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
        for token in [*(self.role(role + "_token") for role in roles), *map(token_text, more)]:
            if token:
                strips = next((value for value in (self.config.get("mask_token"), self.special.get("mask_token"))
                               if isinstance(value, dict) and value.get("content") == token), {})
                tokens.setdefault(token, tokenizers.AddedToken(
                    token, special=True, normalized=False, lstrip=strips.get("lstrip", False),
                    rstrip=strips.get("rstrip", False)))
        for token in usual:
            if always or tokenizer.token_to_id(token) is not None:
                tokens.setdefault(token, tokenizers.AddedToken(token, special=True, normalized=False))
        for token in tokens.values():
            (tokenizer.add_special_tokens if token.special else tokenizer.add_tokens)([token])
        for number, entry in told.items():
            given = tokenizer.token_to_id(entry["content"])
            if given != int(number):
                raise ValueError(f"tokenizer_config.json gives '{entry['content']}' the id {number}, the vocabulary {given}")

    def around(self, tokenizer, tokenizers, begin, end):
        """What the family puts before and behind every text."""
        names = self.role("cls_token") or begin, self.role("sep_token") or end
        ids = [(name, tokenizer.token_to_id(name)) for name in names]
        if None in dict(ids).values():
            raise ValueError(f"the vocabulary lacks '{names[0]}' or '{names[1]}', which belong around every text")
        tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
            single=f"{names[0]}:0 $A:0 {names[1]}:0", special_tokens=ids)

    def byte_pairs(self, tokenizers, vocabulary, merges):
        """vocab.json and merges.txt leave to the family what surrounds the model."""
        family = self.model.get("model_type") or self.config.get("tokenizer_class", "gpt2").lower().split("tokenizer")[0]
        if family not in ("gpt2", "roberta", "bart", "qwen2", "qwen3"):
            raise ValueError(f"vocab.json and merges.txt of the family '{family[:40]}' are not supported without a "
                             "tokenizer.json, which transformers writes")
        tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE.from_file(vocabulary, merges))
        before, space = tokenizers.pre_tokenizers, bool(self.config.get("add_prefix_space", False))
        tokenizer.pre_tokenizer = before.ByteLevel(add_prefix_space=space)
        tokenizer.decoder = tokenizers.decoders.ByteLevel()
        usual = ["<|endoftext|>"]
        if family.startswith("qwen"):
            words = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
                     r"\s*[\r\n]+|\s+(?!\S)|\s+")
            tokenizer.normalizer = tokenizers.normalizers.NFC()
            tokenizer.pre_tokenizer = before.Sequence([
                before.Split(tokenizers.Regex(words), "isolated"), before.ByteLevel(space, use_regex=False)])
        elif family != "gpt2":
            usual = ["<s>", "</s>", "<unk>", "<pad>", "<mask>"]
        self.add_special_tokens(tokenizer, tokenizers, usual, always=family.startswith("qwen"))
        if family in ("roberta", "bart"):
            self.around(tokenizer, tokenizers, "<s>", "</s>")
        return tokenizer

    def word_pieces(self, tokenizers, vocabulary):
        unknown = self.role("unk_token") or "[UNK]"
        tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece.from_file(vocabulary, unk_token=unknown))
        lower = self.config.get("do_lower_case", True)
        tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(
            clean_text=True, handle_chinese_chars=self.config.get("tokenize_chinese_chars", True),
            strip_accents=self.config.get("strip_accents", lower), lowercase=lower)
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = tokenizers.decoders.WordPiece()
        self.add_special_tokens(tokenizer, tokenizers, ["[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"], always=False)
        self.around(tokenizer, tokenizers, "[CLS]", "[SEP]")
        return tokenizer

    def encode(self, texts, special):
        return [encoding.ids for encoding in self.tokenizer.encode_batch_fast(texts, add_special_tokens=special)]

    def added_tokens(self):
        """Those that are looked for before all else; None where they or others may hold the end of a word and the
        beginning of the next one."""
        # Others change a word by what stands beside it.
        if type(self.tokenizer.normalizer).__name__ not in ("NoneType", "NFC"):
            return None
        added = self.tokenizer.get_added_tokens_decoder().values()
        if any(token.rstrip or re.search(r"^\w|\s", token.content) for token in added):
            return None
        # Ġ is a space, Ċ a line's end, where tokens are made of bytes.
        if any("▁" in token.lstrip("▁") or re.search(r"[^ĠĊ][ĠĊ]+[^ĠĊ]", token) for token in self.tokenizer.get_vocab()):
            return None
        return [token.content for token in added]

    def decode(self, tokens):
        return self.tokenizer.decode(tokens, skip_special_tokens=True)


def around_texts(tokenizer):
    """The tokens that a tokenizer puts before and behind every text. Found by looking: it does not say."""
    (whole,), (alone,) = tokenizer.encode(["a"], True), tokenizer.encode(["a"], False)
    whole, alone = list(whole), list(alone)
    for at in range(len(whole) - len(alone) + 1):
        if alone and whole[at : at + len(alone)] == alone:
            return whole[:at], whole[at + len(alone) :]
    return whole, []


# ---- chat templates


def compile_template(source):
    """As transformers sets Jinja up: see its documentation of chat templates."""
    import jinja2
    import jinja2.ext
    import jinja2.sandbox

    class Names(jinja2.utils.Namespace):
        """What {% set names.x = … %} changes."""

        def __setitem__(self, name, value):
            if name.startswith("_"):
                raise jinja2.sandbox.SecurityError(f"no name of a namespace may begin with an underscore: {name}")
            super().__setitem__(name, value)

    class Generation(jinja2.ext.Extension):
        """{% generation %} … {% endgeneration %} marks what the assistant says."""

        tags = {"generation"}

        def parse(self, parser):
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return jinja2.nodes.CallBlock(self.call_method("mark"), [], [], body).set_lineno(line)

        def mark(self, caller):
            said = caller()
            if environment.said is not None:
                environment.said.append((sum(map(len, environment.written)), said))
            return said

    def raise_exception(message):
        raise jinja2.TemplateError(message)

    def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    environment.filters["tojson"] = tojson
    # Not the type itself, whose methods change what they are given.
    environment.globals.update(raise_exception=raise_exception, strftime_now=DATE_OF_TEXTS.strftime, namespace=Names,
                               dict=lambda *values, **named: dict(*values, **named))
    environment.written = environment.said = None
    return environment.from_string(source)


def line_of(error):
    """The template's line where an exception was raised."""
    line, step = getattr(error, "lineno", None), error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == "<template>":
            line = step.tb_lineno
        step = step.tb_next
    return f":{line}" if line else ""


class ChatTemplate:
    """The chat template of a model's folder. What is wrong with it is said by every conversation, for data without
    conversations needs none."""

    def __init__(self, folder):
        self.wrong, self.template, self.place = None, None, folder
        try:
            self.load(folder)
        except NoPackage:
            raise
        except Refused as refused:
            self.wrong = refused.message

    def load(self, folder):
        config_file = os.path.join(folder, "tokenizer_config.json")
        config = json_object(config_file)
        files = [config]
        # transformers 5 reads the older file only where the tokens are not described in the newer one.
        if "added_tokens_decoder" not in config:
            files.append(json_object(os.path.join(folder, "special_tokens_map.json")))
        self.tokens = {name: token_text(value) for file in files for name, value in file.items()
                       if name.endswith("_token") and token_text(value) is not None}
        self.place = os.path.join(folder, "chat_template.jinja")
        if os.path.exists(self.place):
            try:
                with open(self.place, encoding="utf-8", newline="") as file:
                    source = file.read()
            except (OSError, ValueError) as error:
                raise Refused("failed", f"{self.place} cannot be read: {reason_of(error)}") from None
        else:
            self.place = config_file
            source = self.source_in(config, folder)
        need("jinja2")
        import jinja2
        try:
            self.template = compile_template(source)
        except (jinja2.TemplateError, RecursionError, ValueError, SyntaxError, MemoryError) as error:
            raise Refused("damaged", f"the chat template {self.place}{line_of(error)} cannot be read: "
                                     f"{reason_of(error)}") from None
        self.marks_answers = re.search(r"\{%-?\s*generation\b", source) is not None

    def source_in(self, config, folder):
        source = config.get("chat_template")
        if isinstance(source, list):
            named = {entry.get("name"): entry.get("template") for entry in source if isinstance(entry, dict)}
            source = named.get("default")
            if not isinstance(source, str):
                raise Refused("damaged", f"{self.place} has chat templates, but none of the name 'default' (there are: "
                                         f"{', '.join(map(str, named))})")
        if source is None:
            raise Refused("missing", f"{folder} has no chat template: neither chat_template.jinja nor a chat_template "
                                     "in tokenizer_config.json. Instruct models have one, base models and GPT-2, BERT "
                                     "and RoBERTa do not. Put the template as chat_template.jinja into the folder, or "
                                     "use data with 'prompt' and 'completion' or with 'text'")
        if not isinstance(source, str):
            raise Refused("damaged", f"{self.place} has a chat_template that is no text")
        return source

    def render(self, messages, prompt=False):
        """The text, and what {% generation %} marked: (begin, what was said)."""
        environment = self.template.environment
        environment.written, environment.said = [], []
        for piece in self.template.generate(**{
                **self.tokens, "tools": None, "documents": None, "messages": [prepared(copy.deepcopy(m)) for m in messages],
                "add_generation_prompt": prompt}):
            environment.written.append(piece)
        return "".join(environment.written), environment.said

    def with_answers(self, messages):
        """The text of a conversation, and its ranges that are the assistant's answers."""
        if self.wrong:
            raise BadExample(self.wrong)
        signal.setitimer(signal.ITIMER_VIRTUAL, RENDER_SECONDS)
        try:
            text, said = self.render(messages)
            if not self.marks_answers:
                return text, Answers(self, messages, text).ranges()
            if any(text[begin : begin + len(answer)] != answer for begin, answer in said):
                raise BadExample("the chat template marks answers with {% generation %} inside of a macro or a block, "
                                 "where their place is not known")
            return text, [(begin, begin + len(answer)) for begin, answer in said]
        except BadExample:
            raise
        except Overrun:
            raise BadExample(f"the chat template {self.place} took more than {RENDER_SECONDS} s of the processor, "
                             "longer than any conversation needs") from None
        except MemoryError:
            raise BadExample(f"the chat template {self.place} needs more memory than any conversation does") from None
        except Exception as error:  # templates raise whatever Python does
            raise BadExample(f"the chat template {self.place}{line_of(error)}: {reason_of(error)}") from None
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def prepared(message):
    """As transformers shows messages to templates: without keys of no value, reasoning under all its names."""
    shown = {key: value for key, value in message.items() if value is not None}
    reasoning = next((shown[key] for key in ("reasoning_content", "thinking", "reasoning") if key in shown), None)
    if reasoning is None:
        return shown
    if "thinking" not in shown:
        shown = {"thinking": reasoning, **shown}
    return {**shown, "reasoning_content": reasoning}


class Answers:
    """Where the answers are in the text of a template that does not mark them.

    An answer is what TRL trains on of a prompt and its completion: from the end of the text of all messages before it
    with the generation prompt to the end of the text that includes it. Both must be prefixes of the whole. Templates
    that write earlier turns differently (Qwen3, Phi-3) break this; then the place of the content is found as axolotl
    does, with another content in its place, and the turn's end is what follows it where the conversation ends there.
    """

    def __init__(self, template, messages, whole):
        self.template, self.messages, self.whole = template, messages, whole
        self.mark = MARK
        while self.mark in whole:
            self.mark += "Q"

    def ranges(self):
        found = []
        for number, message in enumerate(self.messages):
            if message.get("role") != "assistant":
                continue
            answer = self.find(number)
            if answer is None or answer[0] < (found[-1][1] if found else 0) or answer[1] < answer[0]:
                raise BadExample(f"where the answer of message {number + 1} is in the text cannot be told, because the "
                                 "chat template writes it differently within the conversation: mark answers with "
                                 "{% generation %} in the template, or use data with 'prompt' and 'completion'")
            found.append(answer)
        return found

    def text_of(self, messages, prompt=False):
        """None where the template refuses: a part of a conversation may not be one."""
        try:
            return self.template.render(messages, prompt)[0] if messages else None
        except Exception:
            return None

    def find(self, number):
        prompt = self.text_of(self.messages[:number], True)
        answered = self.text_of(self.messages[: number + 1])
        begins = prompt is not None and self.whole.startswith(prompt)
        ends = answered is not None and self.whole.startswith(answered)
        if begins and ends:
            return len(prompt), len(answered)
        content = self.content(number)
        if content is None:
            return None
        begin, end = content
        if begins and len(prompt) <= begin:
            begin = len(prompt)
        if ends and len(answered) >= end:
            return begin, len(answered)
        end = self.end_of_turn(number, end)
        return None if end is None else (begin, end)

    def marked(self, messages, number):
        """The text with the mark as the content of a message, in the shape that its content has."""
        content = messages[number].get("content")
        if not isinstance(content, (str, list)):
            return None
        content = self.mark if isinstance(content, str) else [{"type": "text", "text": self.mark}]
        return self.text_of([*messages[:number], {**messages[number], "content": content}, *messages[number + 1 :]])

    def content(self, number):
        text = self.marked(self.messages, number)
        if text is None or text.count(self.mark) != 1:
            return None
        before, after = text.split(self.mark)
        fits = len(self.whole) >= len(before) + len(after)
        if not fits or not self.whole.startswith(before) or not self.whole.endswith(after):
            return None
        return len(before), len(self.whole) - len(after)

    def end_of_turn(self, number, content_end):
        text = self.marked(self.messages[: number + 1], number)
        if text is None or self.mark not in text:
            return None
        ending = text[text.rfind(self.mark) + len(self.mark) :]
        if self.whole.startswith(ending, content_end):
            return content_end + len(ending)
        # What only ends a conversation: a special token after the one that ends the turn.
        token = next((t for t in self.template.tokens.values() if t and ending.endswith(t)), None)
        if token:
            ending = ending[: -len(token)]
            if ending and self.whole.startswith(ending, content_end):
                return content_end + len(ending)
        return None


class Chatml:
    """For models without a folder. An answer is a content with its <|im_end|>, so that the model learns to stop."""

    def with_answers(self, messages):
        text, answers = "", []
        for message in messages:
            role, content = message["role"], message.get("content")
            if not isinstance(content, str):
                raise BadExample('a message has no string "role" or no string "content"')
            text += f"<|im_start|>{role}\n"
            if role == "assistant":
                answers.append((len(text), len(text) + len(content) + len("<|im_end|>")))
            text += f"{content}<|im_end|>\n"
        return text, answers


# ---- examples


def no_constant(name):
    raise ValueError(f"{name} is no JSON")


def parse_line(line):
    """The object of a line of JSON Lines."""
    try:
        keys = json.loads(line.decode(), parse_constant=no_constant)
        if b"\\ud" in line.lower():
            json.dumps(keys, ensure_ascii=False).encode()
    except UnicodeDecodeError:
        raise BadExample("is not UTF-8") from None
    except UnicodeEncodeError:
        raise BadExample("is not one JSON object: it has half a surrogate pair") from None
    except RecursionError:
        raise BadExample("is not one JSON object: it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise BadExample(f"is not one JSON object: {error.msg} (column {error.colno})") from None
    except ValueError as error:
        raise BadExample(f"is not one JSON object: {reason_of(error)}") from None
    if not isinstance(keys, dict):
        raise BadExample("is JSON, but not an object")
    return keys


def kind_of(keys, expected):
    kind = (CHAT if "messages" in keys else COMPLETION if "prompt" in keys or "completion" in keys else
            LABELED if "label" in keys else PLAIN if "text" in keys else None)
    if kind is None:
        raise BadExample('has none of the keys "text"; "prompt" and "completion"; "messages"; "text" and "label"')
    if expected == LABELED and kind == PLAIN:  # it has only lost its label
        raise BadExample('"label" is missing')
    if expected not in (None, kind):
        raise BadExample(f"has {KIND_NAMES[kind]}, but the lines before have {KIND_NAMES[expected]}; one data set has "
                         "one kind")
    return kind


def text_of(keys, key):
    if key not in keys:
        raise BadExample(f'"{key}" is missing')
    if not isinstance(keys[key], str):
        raise BadExample(f'"{key}" is not a string')
    return keys[key]


def messages_of(keys):
    messages = keys["messages"]
    if not isinstance(messages, list):
        raise BadExample('"messages" is not a list')
    if not messages:
        raise BadExample('"messages" is empty')
    for message in messages:
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise BadExample('a message is not an object with a string "role"')
    return messages


class Labels:
    """Numbers of classes; names are numbered as they come, and sorted at the end."""

    def __init__(self, numbers, classes):
        self.known, self.classes, self.seen, self.are_names = numbers, classes or MOST_CLASSES, {}, None

    def number_of(self, label):
        is_name = isinstance(label, str)
        if not is_name and (isinstance(label, bool) or not isinstance(label, int) or abs(label) >= 1 << 63):
            raise BadExample('"label" is neither an integer nor a string')
        if not is_name and label < 0:
            raise BadExample(f'"label" is {label}; classes begin at 0')
        if self.are_names not in (None, is_name):
            raise BadExample("its label is a name, those before are numbers" if is_name else
                             "its label is a number, those before are names")
        if is_name and self.known and label not in self.known:
            raise BadExample(f'the label "{label}" is none of {", ".join(sorted(self.known))}')
        number = label if not is_name else self.known[label] if self.known else self.seen.get(label, len(self.seen))
        if number >= self.classes:
            raise BadExample(f"the label {number} is beyond the model's {self.classes} classes; set num_labels")
        if is_name and not self.known:
            self.seen.setdefault(label, number)
        self.are_names = is_name
        return number

    def names(self, labels):
        """In order of their numbers, which `labels` get where they were numbered as they came."""
        if not self.are_names:
            return []
        if self.known:
            by_number = {number: name for name, number in self.known.items()}
            return [by_number.get(number, "") for number in range(max(by_number) + 1)]
        names = sorted(self.seen, key=str.encode)
        new_numbers = {self.seen[name]: number for number, name in enumerate(names)}
        for at, label in enumerate(labels):
            labels[at] = new_numbers[label]
        return names


def common_prefix(a, b):
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


# ---- the image


class Image:
    """The file of an encoded text: see trainer/text/token_layout.h. Its header is written by whoever started us."""

    def __init__(self, descriptor, vocabulary):
        self.descriptor, self.type = descriptor, "H" if vocabulary <= 65536 else "I"
        self.file = open(descriptor, "wb", buffering=READ_BYTES, closefd=False)
        self.file.seek(TOKENS_BEGIN)
        self.kind, self.tokens, self.content, self.told = PLAIN, 0, TOKENS_BEGIN, 0
        self.bits, self.mask = bytearray(), bytearray()
        self.offsets, self.labels = array("Q", [0]), array("i")

    def tell(self, file, first_line, last_line, seconds):
        """Where we are, and how much of the processor we may take until we say so again."""
        self.told += 1
        now = struct.pack("<QQQdQ", file + 1, first_line, last_line, seconds, self.told)
        self.written(os.pwrite, self.descriptor, now, 0)

    def written(self, write, *arguments):
        """An error here is none of the text that is read meanwhile."""
        try:
            write(*arguments)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
            raise Refused("disk" if full else "io", f"its tokens cannot be written: {error.strerror}") from None

    def put(self, data):
        self.written(self.file.write, data)
        self.content += len(data)

    def append(self, tokens, counted=True):
        values = array(self.type, tokens)
        self.put(memoryview(values).cast("B"))
        self.tokens += len(values)
        if self.kind in (COMPLETION, CHAT):
            self.bits += (b"1" if counted else b"0") * len(values)
            if len(self.bits) >= READ_BYTES:
                self.pack(len(self.bits) // 64 * 64)

    def pack(self, count):
        self.mask += int(self.bits[count - 1 :: -1] if count else b"0", 2).to_bytes(-(-count // 64) * 8, "little")
        del self.bits[:count]

    def end_example(self, label=None):
        self.offsets.append(self.tokens)
        if label is not None:
            self.labels.append(label)

    def pad(self):
        self.put(bytes(-self.content % 8))

    def finish(self, names, bad_lines):
        # A zero byte ends each, an empty one the list.
        notes = "".join("".join((text.replace("\0", " ") or " ") + "\0" for text in texts) + "\0"
                        for texts in (names, bad_lines)).encode("utf-8", "replace")
        self.pad()
        self.pack(len(self.bits))
        for data in (self.mask, self.offsets.tobytes(), self.labels.tobytes()):
            self.put(data)
        self.pad()
        self.put(notes)
        self.written(self.file.flush)
        return len(notes)


# ---- texts


# Where most tokenizers let a text be cut without changing its tokens: before a line's or a word's beginning; before a
# word; at a space that the tokenizer puts before every text itself.
PLACES = tuple(map(re.compile, (r"(?= \S)|(?<=\S\n)(?=\S)", r"(?= \S)", r"(?<=\S) (?=\S)")))


class Cutter:
    """Cuts long texts where that does not change their tokens, which is seen at each place: what lies around it gives
    the same tokens whole and cut. Tokens depend on nothing further away than a word."""

    AROUND = 250
    TRIES = 20

    def __init__(self, tokenizer):
        self.tokenizer, self.places = tokenizer, list(PLACES)

    def find(self, text, begin):
        """Where the left part ends and the right one begins; None: nowhere yet."""
        limit = len(text) - self.AROUND
        for number, place in enumerate(self.places):
            matches = place.finditer(text, begin, limit) if begin < limit else ()
            for _, match in zip(range(self.TRIES), matches):
                if self.is_safe(text, *match.span()):
                    self.places.insert(0, self.places.pop(number))  # most likely the next one, too
                    return match.span()
        return None

    def is_safe(self, text, left, right):
        parts = text[max(0, left - self.AROUND) : left], text[right : right + self.AROUND]
        whole = text[max(0, left - self.AROUND) : right + self.AROUND]
        first, second, together = self.tokenizer.encode([*parts, whole], False)
        return list(first) + list(second) == list(together)


class Words:
    """Remembers the tokens of words, as texts repeat theirs: several times as fast as the tokenizer on long texts.

    Used where every kind of character may stand before and behind the places where words are cut, and where a first
    long text has the same tokens with it and without.
    """

    MOST = 300_000
    LONGEST = 60
    TRIED = 5
    CHARACTERS = "aZéя中가ا1٣.,'\"`-_#@<>|/\\(){}&%=+*:;!?…—§€²🙂\u0301\u200b\u200d\ufeff\xad▁Ġ\x07"

    def __init__(self, tokenizer, type_code):
        self.tokenizer, self.type = tokenizer, type_code
        self.memo, self.is_tried, self.pool = {}, False, None
        added = tokenizer.added_tokens()
        self.place = next((place for place in self.places(added) if self.fits(place, added)), None) if added is not None else None

    @staticmethod
    def places(added):
        """As PLACES, but of several spaces before an added token all belong to what stands before it."""
        first = re.escape("".join(sorted({token[0] for token in added})))
        word = rf"(?= [^\s{first}])|(?<=\S)(?= \S)"
        return map(re.compile, (rf"{word}|(?<=\S\n)(?=\S)", word, PLACES[2].pattern))

    def fits(self, place, added):
        added = added[:10] + added[-10:]
        behind = [character + more for character in self.CHARACTERS for more in ("s", ".", "1")] + ["'s x", "ll."]
        texts = [f"b{before}{space}{after}" for before in [*self.CHARACTERS, *added] for after in [*behind, *added]
                 for space in (" ", "\n", "  ", " \n", "\n\n", "\t\n", "\r\n", " \n ")]
        parts = [place.split(text) for text in texts]
        each = sorted({part for split in parts for part in split})
        tokens = dict(zip(each, self.tokenizer.encode(each, False)))
        return all(list(whole) == [token for part in split for token in tokens[part]]
                   for split, whole in zip(parts, self.tokenizer.encode(texts, False)))

    def encode(self, texts):
        if self.place is None:
            return self.tokenizer.encode(texts, False)
        if not self.is_tried:
            self.is_tried = True
            some = texts[: self.TRIED]
            whole = [array(self.type, tokens) for tokens in self.tokenizer.encode(some, False)]
            if whole != list(map(self.look_up, some)):
                self.place = None
            rest = texts[self.TRIED :]
            return whole + (self.encode(rest) if rest else [])
        if self.pool is None:
            self.pool = WordProcesses(self)
        return self.pool.encode(texts)

    def look_up(self, text):
        words = self.place.split(text)
        found = list(map(self.memo.get, words))
        if None in found:
            new = list({word for word, tokens in zip(words, found) if tokens is None})
            tokens = {word: array(self.type, tokens).tobytes()
                      for word, tokens in zip(new, self.tokenizer.encode(new, False))}
            found = [tokens[word] if known is None else known for word, known in zip(words, found)]
            if len(self.memo) > self.MOST:
                self.memo.clear()
            self.memo.update((word, known) for word, known in tokens.items() if len(word) <= self.LONGEST)
        return array(self.type, b"".join(found))


class WordProcesses:
    """Copies of us, one for each core, that remember words: Python runs on one core only."""

    words = None  # theirs

    def __init__(self, words):
        WordProcesses.words = words
        count = min(len(os.sched_getaffinity(0)), 16)
        try:
            executor = concurrent.futures.ProcessPoolExecutor(
                count, multiprocessing.get_context("fork"), self.begin, (os.getpid(),))
            self.map = lambda texts: executor.map(self.look_up, texts, chunksize=-(-len(texts) // (2 * count)))
        except OSError:  # a system without shared memory
            self.map = lambda texts: map(self.look_up, texts)

    def encode(self, texts):
        return list(self.map(texts))

    @staticmethod
    def begin(parent):
        die_with(parent)
        os.environ["TOKENIZERS_PARALLELISM"] = "false"  # each has one core

    @staticmethod
    def look_up(text):
        return WordProcesses.words.look_up(text)


def place(path, line):
    return f"{path}:{line}" if line else path


def is_binary(data):
    """As grep and git decide it: a zero byte near the start."""
    return b"\0" in data[:8192]


def open_text(path):
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "it is not a regular file")
        return open(descriptor, "rb", buffering=READ_BYTES)
    except OSError as error:
        raise unreadable(path, error) from None


def unreadable(path, error):
    return Refused("failed", f"The text {quoted(path)} cannot be read: {error.strerror}. Check its permissions.")


class Preparation:
    """Of one request, from its files to the image."""

    def __init__(self, request, tokenizer):
        self.request, self.tokenizer = request, tokenizer
        self.image = Image(request["image"], tokenizer.vocabulary)
        self.before, self.behind = self.guarded(around_texts, tokenizer)
        self.cutter = Cutter(tokenizer)
        self.words = None  # made for the first long text
        self.labels = Labels(request["label_numbers"], request["classes"])
        self.chat = None  # made for the first conversation
        self.counts = collections.Counter()
        self.bad_lines, self.kind, self.file = [], None, 0
        self.batch, self.batch_size = [], 0

    def run(self):
        if "prompt" in self.request:
            self.image.append(self.encode([self.request["prompt"]], True)[0])
            self.image.end_example()
        else:
            files = [os.fsdecode(bytes.fromhex(name)) for name in self.request["files"]]
            for self.file, path in enumerate(files):
                (self.add_lines if self.request["json_lines"] else self.add_document)(path)
            self.encode_batch()
            self.check_not_empty()
        names = self.labels.names(self.image.labels)
        notes = self.image.finish(names, self.bad_lines)
        number = lambda token: -1 if token is None else token  # noqa: E731
        return {"kind": self.image.kind, "tokens": self.image.tokens, "examples": len(self.image.offsets) - 1,
                "token_bytes": 2 if self.image.type == "H" else 4, "notes_bytes": notes,
                "tail_tokens": len(self.behind) if self.image.kind == LABELED else 0,
                "end": number(self.tokenizer.end), "padding": number(self.tokenizer.padding),
                **{key: self.counts[key] for key in ("bad_lines", "binary_files", "crossed_boundaries")}}

    def check_not_empty(self):
        if len(self.image.offsets) > 1:
            return
        why = " is binary" if self.counts["binary_files"] else " is empty"
        if self.bad_lines:
            why = f" has no line that can be used; the first: {self.bad_lines[0]}"
        raise Refused("usage", f"The text {quoted(self.request['data'])}{why}. Set data to a text file, a folder of "
                               "text files, JSON Lines, or builtin.")

    def encode(self, texts, special):
        return self.guarded(self.tokenizer.encode, texts, special)

    def guarded(self, encode, *arguments):
        try:
            return encode(*arguments)
        except (KeyboardInterrupt, MemoryError, Refused):
            raise
        except (concurrent.futures.BrokenExecutor, OSError) as error:
            raise Refused("failed", f"a process that encodes the text has ended: {reason_of(error)}. Is there too little "
                                    "memory?") from None
        except BaseException as error:  # a panic of Rust is no Exception
            raise Refused("damaged", f"{self.tokenizer.name} cannot encode the text: {reason_of(error)}") from None

    def tell(self, first_line, last_line, characters):
        allowed = self.request["seconds"] + characters / SLOWEST_CHARACTERS_PER_SECOND
        self.image.tell(self.file, first_line, last_line, allowed)

    def end_with_end_of_text(self, tokens):
        end = self.tokenizer.end
        return [] if end is None or (len(tokens) and tokens[-1] == end) else [end]

    # A document, in pieces that give the same tokens.

    def add_document(self, path):
        with open_text(path) as file:
            try:
                data = file.read(READ_BYTES)
                if is_binary(data):
                    self.counts["binary_files"] += 1
                elif data:
                    self.add_pieces(path, self.pieces(file, data, path))
            except OSError as error:
                raise unreadable(path, error) from None

    def pieces(self, file, data, path):
        """Of a text that begins with `data`: (piece, whether it is the last)."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text, searched = decoder.decode(data, not data), 0
        while data:
            cut = self.guarded(self.cutter.find, text, max(PIECE, searched)) if len(text) > PIECE else None
            if cut:
                yield text[: cut[0]], False
                text, searched = text[cut[1] :], 0
                continue
            searched = max(0, len(text) - 2 * Cutter.AROUND)
            if len(text) > LONGEST_PIECE:
                raise Refused("usage", f"The text {quoted(path)} has {LONGEST_PIECE // 1_000_000} million characters "
                                       f"without a place where the tokenizer lets it be cut. Split it, or write it as "
                                       "JSON Lines.")
            data = file.read(READ_BYTES)
            text += decoder.decode(data, not data)
        yield text, True

    def add_pieces(self, path, pieces):
        first, is_whole = next(pieces)
        if is_whole:  # exactly as the tokenizer does it
            self.add(path, 0, [(first, True)], self.finish_plain)
            return
        self.encode_batch()
        self.image.append(self.before)
        batch, size, tokens = [first], len(first), []
        for piece, is_last in pieces:
            batch.append(piece)
            size += len(piece)
            if size >= BATCH or is_last:
                self.tell(0, 0, size)
                for tokens in self.encode_words(batch):
                    self.image.append(tokens)
                batch, size = [], 0
        self.image.append(self.behind)
        self.image.append(self.end_with_end_of_text(self.behind or tokens))
        self.image.end_example()

    def encode_words(self, texts):
        if self.words is None:
            self.words = self.guarded(Words, self.tokenizer, self.image.type)
        return self.guarded(self.words.encode, texts)

    # Lines of JSON.

    def add_lines(self, path):
        with open_text(path) as file:
            try:
                for number, line in enumerate(file, 1):
                    if number == 1:
                        line = line.removeprefix(codecs.BOM_UTF8)
                    if line.strip(b" \t\r\n"):
                        self.add_line(path, number, line)
            except OSError as error:
                raise unreadable(path, error) from None

    def add_line(self, path, number, line):
        self.tell(number, number, len(line))
        try:
            keys = parse_line(line)
            kind = kind_of(keys, self.kind)
            example = self.read_example(kind, keys)
        except BadExample as wrong:
            self.encode_batch()
            self.leave_out(path, number, str(wrong))
            return
        if self.kind is None:
            self.kind = self.image.kind = kind
        self.add(path, number, *example)

    def leave_out(self, path, number, wrong):
        message = f"{place(path, number)}: {wrong}"
        # Without a first line that says what the lines are there is nothing to leave one out of.
        skips = self.request["skip_bad_lines"]
        if not skips or (self.kind is None and wrong.startswith("has none of the keys")):
            advice = "Mend the line." if skips else ("Mend the line, or set on_bad_lines to skip to leave out lines that "
                                                     "cannot be used.")
            raise Refused("usage", f"{message}. {advice}")
        self.counts["bad_lines"] += 1
        if len(self.bad_lines) < SHOWN_BAD_LINES:
            self.bad_lines.append(message)

    def read_example(self, kind, keys):
        """What is to be encoded, (text, with special tokens), and what becomes of its tokens."""
        if kind == PLAIN:
            text = text_of(keys, "text")
            if not text:
                raise BadExample("the text is empty")
            return [(text, True)], self.finish_plain
        if kind == COMPLETION:
            prompt, completion = text_of(keys, "prompt"), text_of(keys, "completion")
            if not completion:
                raise BadExample('"completion" is empty')
            return [(prompt + completion, True), (prompt, True)], self.finish_completion
        if kind == LABELED:
            if "text" in keys and isinstance(keys["text"], str) and not keys["text"] and not self.before + self.behind:
                raise BadExample("the text is empty")
            text, label = text_of(keys, "text"), self.labels.number_of(keys["label"])
            return [(text, True)], lambda tokens: self.finish_labeled(tokens, label)
        messages = messages_of(keys)
        if self.chat is None:
            self.chat = ChatTemplate(self.request["chat"]) if self.request["chat"] else Chatml()
        text, answers = self.chat.with_answers(messages)
        if not text:
            raise BadExample("its messages are rendered as nothing")
        if not self.request["completion_only_loss"]:
            answers = []
        ends = [end for answer in answers for end in answer]
        return [(text, False), *((text[:end], False) for end in ends)], self.finish_conversation

    def add(self, path, number, texts, finish):
        """An example: `finish` gets the tokens of its texts, which are encoded with those of others."""
        self.batch.append((path, number, texts, finish))
        self.batch_size += sum(len(text) for text, _ in texts)
        if self.batch_size >= BATCH or len(self.batch) >= BATCH_EXAMPLES:
            self.encode_batch()

    def encode_batch(self):
        batch, self.batch, size, self.batch_size = self.batch, [], self.batch_size, 0
        if not batch:
            return
        self.tell(batch[0][1] if batch[0][0] == batch[-1][0] else 0, batch[-1][1], size)
        encoded = {}
        for special in (False, True):
            texts = [text for _, _, texts, _ in batch for text, has_special in texts if has_special == special]
            try:
                encoded[special] = iter(self.encode(texts, special) if texts else [])
            except Refused as refused:
                raise Refused(refused.kind, f"{self.failing_place(batch)}: {refused.message}") from None
        for path, number, texts, finish in batch:
            try:
                finish(*[next(encoded[special]) for _, special in texts])
            except BadExample as wrong:
                self.leave_out(path, number, str(wrong))

    def failing_place(self, batch):
        for path, number, texts, _ in batch:
            for text, special in texts:
                try:
                    self.encode([text], special)
                except Refused:
                    return place(path, number)
        return place(*batch[0][:2])

    def finish_plain(self, tokens):
        self.image.append(tokens)
        self.image.append(self.end_with_end_of_text(tokens))
        self.image.end_example()

    def finish_completion(self, tokens, prompt):
        """As many tokens as the prompt alone has are not learnt, also where one holds its end and what follows; as
        TRL."""
        alone = prompt[: max(0, len(prompt) - len(self.behind))]
        if common_prefix(alone, tokens) < len(alone):
            self.counts["crossed_boundaries"] += 1
        asked = min(len(alone), len(tokens))
        self.image.append(tokens[:asked], counted=not self.request["completion_only_loss"])
        self.image.append(tokens[asked:])
        self.image.append(self.end_with_end_of_text(tokens))
        self.image.end_example()

    def finish_labeled(self, tokens, label):
        if not tokens:
            raise BadExample("the text is empty")
        self.image.append(tokens)
        self.image.end_example(label)

    def finish_conversation(self, tokens, *prefixes):
        """A token is learnt if it ends inside an answer."""
        done, ends = 0, [common_prefix(prefix, tokens) for prefix in prefixes]
        for begin, end in zip(ends[::2], ends[1::2]):
            if done <= begin < end:
                self.image.append(tokens[done:begin], counted=False)
                self.image.append(tokens[begin:end])
                done = end
        self.image.append(tokens[done:], counted=not self.request["completion_only_loss"])
        self.image.end_example()


# ---- requests


def encode(request):
    try:
        return Preparation(request, make_tokenizer(request)).run()
    except MemoryError:
        raise Refused("failed", f"The text {quoted(request['data'])} needs more memory than "
                                f"{request['memory'] >> 20} MiB, which is all that preparing it may take.") from None


def make_tokenizer(request):
    path = os.fsdecode(bytes.fromhex(request["tokenizer"]))
    return Tokenizer(path) if path else Bytes()


def die_with(parent):
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)


def take_limits(request):
    """We do not outlive who started us, and take no more memory than we are told."""
    die_with(request["parent"])
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    memory = request["memory"] if hard == resource.RLIM_INFINITY else min(request["memory"], hard)
    resource.setrlimit(resource.RLIMIT_DATA, (memory, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def stop_rendering(*_):
    raise Overrun


def reply(**values):
    sys.stdout.buffer.write(json.dumps(values).encode() + b"\n")
    sys.stdout.buffer.flush()


def decode_forever(tokenizer):
    for line in sys.stdin.buffer:
        reply(text=tokenizer.decode(json.loads(line)).encode("utf-8", "replace").decode())


def main():
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # quietly
    signal.signal(signal.SIGVTALRM, stop_rendering)
    request = json.loads(sys.stdin.buffer.readline())
    take_limits(request)
    try:
        if request["do"] == "decode":
            tokenizer = make_tokenizer(request)
            reply(done={})
            decode_forever(tokenizer)
        else:
            reply(done=encode(request))
    except Refused as refused:
        message = refused.message.encode("utf-8", "replace").decode()
        reply(error={"kind": refused.kind, "message": message})
    except ImportError as error:
        reply(error={"kind": "missing", "message": f"This text is prepared by Hugging Face's own code, but Python has no "
                     f"package \"{error.name}\". Install it with this command, then start again: "
                     f"{sys.executable} -m pip install {PACKAGES}"})


if __name__ == "__main__":
    main()
