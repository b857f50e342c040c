"""JSON Lines as examples: which texts of a line are encoded, and which of their tokens count."""

import codecs
import os
from bisect import bisect_right

from .chat_template import ChatTemplate, Chatml
from .examples import ALONE, WITH_ENDS, WITH_SPECIAL
from .files import open_text
from .image import COMPLETION, LABELED, PLAIN
from .json_lines import Labels, given_of, kind_of, messages_of, parse_line, text_of
from .refusal import BadExample


class Lines:
    def __init__(self, request, encoder, image, examples, bad_lines, tell):
        self.image, self.encoder, self.examples, self.bad_lines, self.tell = image, encoder, examples, bad_lines, tell
        self.completion_only = request["completion_only_loss"]
        self.chat_folder, tokenizer = (os.fsdecode(bytes.fromhex(request[name])) for name in ("chat", "tokenizer"))
        is_file = tokenizer and not os.path.isdir(tokenizer)
        self.tokenizer_folder = os.path.dirname(os.path.abspath(tokenizer)) if is_file else tokenizer
        self.labels = Labels(request["label_numbers"], request["classes"])
        self.chats = {}  # for conversations with tools and without, made for the first
        self.kind = None
        self.crossed_boundaries = 0

    def add(self, path):
        with open_text(path) as file:
            for number, line in enumerate(file, 1):
                if number == 1:
                    line = line.removeprefix(codecs.BOM_UTF8)
                if line.strip(b" \t\r\n"):
                    self.add_line(path, number, line)

    def add_line(self, path, number, line):
        self.tell(number, number, len(line))
        kind = None
        try:
            keys = parse_line(line)
            kind = kind_of(keys, self.kind)
            example = self.read(kind, keys)
        except BadExample as wrong:
            self.examples.flush()
            has_no_kind = self.kind is None and str(wrong).startswith("has none of the keys")
            self.bad_lines.leave_out(path, number, str(wrong), is_needed=has_no_kind)
            return
        if self.kind is None:
            self.kind = self.image.kind = kind
        self.examples.add(path, number, *example)

    def read(self, kind, keys):
        """The texts to be encoded, and what becomes of their tokens."""
        if kind == PLAIN:
            text = text_of(keys, "text")
            if not text:
                raise BadExample("the text is empty")
            return [(text, WITH_SPECIAL)], self.finish_plain
        if kind == COMPLETION:
            prompt, completion = text_of(keys, "prompt"), text_of(keys, "completion")
            if not completion:
                raise BadExample('"completion" is empty')
            return [(prompt + completion, WITH_SPECIAL), (prompt, WITH_SPECIAL)], self.finish_completion
        if kind == LABELED:
            text, label = text_of(keys, "text"), keys["label"]
            return [(text, WITH_SPECIAL)], lambda tokens: self.finish_labeled(tokens, label)
        messages, given = messages_of(keys), given_of(keys)
        text, answers = self.chat("tools" in given).with_answers(messages, given)
        if not text:
            raise BadExample("its messages are rendered as nothing")
        if not self.completion_only:
            return [(text, ALONE)], self.finish_whole
        return [(text, WITH_ENDS)], lambda encoded: self.finish_conversation(*encoded, answers)

    def chat(self, has_tools):
        if has_tools not in self.chats:
            self.chats[has_tools] = (ChatTemplate(self.chat_folder, self.tokenizer_folder, has_tools) if self.chat_folder
                                     else Chatml())
        return self.chats[has_tools]

    def finish_plain(self, tokens):
        self.image.append(tokens)
        self.image.append(self.encoder.end_of_text(tokens))
        self.image.end_example()

    def finish_completion(self, tokens, prompt):
        """As many tokens as the prompt alone has are not learnt, also where one holds its end and what follows; as
        TRL."""
        alone = self.encoder.to_go_on(prompt)
        if common_prefix(alone, tokens) < len(alone):
            self.crossed_boundaries += 1
        asked = min(len(alone), len(tokens))
        self.image.append(tokens[:asked], counted=not self.completion_only)
        self.image.append(tokens[asked:])
        self.image.append(self.encoder.end_of_text(tokens))
        self.image.end_example()

    def finish_labeled(self, tokens, label):
        if not tokens:
            raise BadExample("the text is empty")
        number = self.labels.number_of(label)
        self.image.append(tokens)
        self.image.end_example(number)

    def finish_whole(self, tokens):
        self.image.append(tokens)
        self.image.end_example()

    def finish_conversation(self, tokens, ends, answers):
        """A token is learnt if it ends inside an answer."""
        done = 0
        for answer in answers:
            begin, end = (max(done, bisect_right(ends, place)) for place in answer)
            self.image.append(tokens[done:begin], counted=False)
            self.image.append(tokens[begin:end])
            done = end
        self.image.append(tokens[done:], counted=False)
        self.image.end_example()


def common_prefix(a, b):
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
