"""Conversations as text, by the template of a folder or in ChatML."""

import copy
import os
import re

from .answers import Answers
from .files import content_of, json_object
from .limits import Overrun, processor_time
from .packages import need
from .refusal import BadExample, NoPackage, Refused, reason_of
from .tokenizer_files import token_text

RENDER_SECONDS = 10  # of the processor, for one conversation


class ChatTemplate:
    """The chat template of a folder, or the one of its own that it has for conversations with tools. The tokens are those
    of the tokenizer's folder, where that says some. What is wrong with it is said by every conversation, for data without
    conversations needs none."""

    def __init__(self, folder, tokenizer_folder="", for_tools=False):
        self.wrong, self.template, self.place = None, None, folder
        self.names = ["tool_use", "default"] if for_tools else ["default"]
        try:
            self.tokens = (tokenizer_folder and tokens_of(tokenizer_folder)) or tokens_of(folder)
            self.load(folder)
        except NoPackage:
            raise
        except Refused as refused:
            self.wrong = refused.message

    def load(self, folder):
        source = self.source_in_file(folder)
        if source is None:
            self.place = os.path.join(folder, "tokenizer_config.json")
            source = self.source_in(json_object(self.place), folder)
        need("jinja2")
        self.compile(source)

    def source_in_file(self, folder):
        """Those in files come before all of the configuration."""
        for name in self.names:
            self.place = os.path.join(folder, "additional_chat_templates", f"{name}.jinja")
            source = content_of(self.place)
            if source is not None:
                return source
        self.place = os.path.join(folder, "chat_template.jinja")
        return content_of(self.place)

    def source_in(self, config, folder):
        source = config.get("chat_template")
        if isinstance(source, list):
            named = {entry.get("name"): entry.get("template") for entry in source if isinstance(entry, dict)}
            source = next((named[name] for name in self.names if name in named), None)
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

    def compile(self, source):
        import jinja2

        from . import chat_environment
        self.environment, self.line_of = chat_environment.Environment(), chat_environment.line_of
        try:
            source = source if isinstance(source, str) else source.decode()
            self.template = self.environment.from_string(source)
        except (jinja2.TemplateError, RecursionError, ValueError, SyntaxError, MemoryError) as error:
            raise Refused("damaged", f"the chat template {self.place}{self.line_of(error)} cannot be read: "
                                     f"{reason_of(error)}") from None
        self.marks_answers = re.search(r"\{%-?\s*generation\b", source) is not None

    def render(self, shown, given, prompt=False):
        """Of messages as templates see them, and what else they are given: the text, and what {% generation %} marked:
        (begin, what was said)."""
        variables = {"tools": None, "documents": None, **self.tokens, **given}
        return self.environment.render(self.template, **variables, messages=shown, add_generation_prompt=prompt)

    def with_answers(self, messages, given):
        """The text of a conversation, and its ranges that are the assistant's answers."""
        if self.wrong:
            raise BadExample(self.wrong)
        try:
            with processor_time(RENDER_SECONDS):
                shown = shown_to_templates(messages)
                text, said = self.render(shown, given)
                if not self.marks_answers:
                    return text, Answers(self, shown, given, text).ranges()
        except BadExample:
            raise
        except Overrun:
            raise BadExample(f"the chat template {self.place} took more than {RENDER_SECONDS} s of the processor, "
                             "longer than any conversation needs; of hundreds of answers templates that mark "
                             "them with {% generation %} are faster") from None
        except MemoryError:
            raise BadExample(f"the chat template {self.place} needs more memory than any conversation does") from None
        except Exception as error:  # templates raise whatever Python does
            raise BadExample(f"the chat template {self.place}{self.line_of(error)}: {reason_of(error)}") from None
        if any(text[begin : begin + len(answer)] != answer for begin, answer in said):
            raise BadExample("the chat template marks answers with {% generation %} inside of a macro or a block, "
                             "where their place is not known")
        return text, [(begin, begin + len(answer)) for begin, answer in said]


def tokens_of(folder):
    """What templates call bos_token, eos_token, …"""
    config = json_object(os.path.join(folder, "tokenizer_config.json"))
    files = [config]
    # transformers 5 reads the older file only where the tokens are not described in the newer one.
    if "added_tokens_decoder" not in config:
        files.append(json_object(os.path.join(folder, "special_tokens_map.json")))
    return {name: token_text(value) for file in files for name, value in file.items()
            if name.endswith("_token") and token_text(value) is not None}


def shown_to_templates(messages):
    """As transformers shows them: without keys of no value, reasoning under all its names. Copies, so that no template
    changes ours."""
    return [shown_message(copy.deepcopy(message)) for message in messages]


def shown_message(message):
    shown = {key: value for key, value in message.items() if value is not None}
    reasoning = next((shown[key] for key in ("reasoning_content", "thinking", "reasoning") if key in shown), None)
    if reasoning is None:
        return shown
    if "thinking" not in shown:
        shown = {"thinking": reasoning, **shown}
    return {**shown, "reasoning_content": reasoning}


class Chatml:
    """For models without a folder. An answer is a content with its <|im_end|>, so that the model learns to stop."""

    def with_answers(self, messages, given):
        lost = next((name for name in ("tools", "documents") if given.get(name)), None)
        if lost:
            raise BadExample(f'"{lost}" has no place in ChatML, which conversations are written in without a chat template: '
                             "set model or tokenizer to a folder that has one")
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
