"""From the files of a request to the image of its tokens."""

import os

from .documents import Documents
from .examples import BadLines, Examples
from .image import LABELED, Image
from .limits import more_than_memory, seconds_for
from .lines import Lines
from .refusal import Refused, place, quoted
from .tokenizer import Encoder


class Preparation:
    def __init__(self, request, tokenizer):
        self.request, self.tokenizer = request, tokenizer
        self.image = Image(request["image"], tokenizer.vocabulary)
        self.encoder = Encoder(tokenizer)
        self.bad_lines = BadLines(request["skip_bad_lines"])
        self.examples = Examples(self.encoder, self.tell, self.bad_lines.leave_out)
        self.lines = Lines(request, self.encoder, self.image, self.examples, self.bad_lines, self.tell)
        self.documents = Documents(self.encoder, self.image, self.examples, self.lines.finish_plain, self.tell,
                                   request["seconds"])
        self.file, self.line = 0, 0

    def tell(self, first_line, last_line, characters):
        self.line = last_line
        self.image.tell(self.file, first_line, last_line, seconds_for(characters, self.request["seconds"]))

    def run(self):
        try:
            return self.prepare()
        except MemoryError:
            raise Refused("failed", f"{self.place()}: {more_than_memory()}") from None

    def place(self):
        files = self.request.get("files")
        return place(self.path(files[self.file]), self.line) if files else self.request["data"]

    @staticmethod
    def path(name):
        return os.fsdecode(bytes.fromhex(name))

    def prepare(self):
        if "prompt" in self.request:
            self.image.append(self.encoder.to_go_on(self.encoder.encode([self.request["prompt"]], True)[0]))
            self.image.end_example()
        else:
            reader = self.lines if self.request["json_lines"] else self.documents
            for self.file, name in enumerate(self.request["files"]):
                reader.add(self.path(name))
            self.examples.flush()
            self.check_not_empty()
        names = self.lines.labels.names(self.image.labels)
        return self.summary(*self.image.finish(names, self.bad_lines.shown))

    def check_not_empty(self):
        if len(self.image.offsets) > 1:
            return
        why = " is binary" if self.documents.binary_files else " is empty"
        if self.bad_lines.shown:
            why = f" has no line that can be used; the first: {self.bad_lines.shown[0]}"
        raise Refused("usage", f"The text {quoted(self.request['data'])}{why}. Name a text file, a folder of "
                               "text files, JSON Lines, or builtin.")

    def summary(self, notes_bytes, messages_bytes):
        """What the image's header is to say."""
        def number(token):
            return -1 if token is None else token

        return {"kind": self.image.kind, "tokens": self.image.tokens, "examples": len(self.image.offsets) - 1,
                "token_bytes": 2 if self.image.type == "H" else 4, "notes_bytes": notes_bytes,
                "messages_bytes": messages_bytes,
                "tail_tokens": len(self.encoder.behind) if self.image.kind == LABELED else 0,
                "end": number(self.tokenizer.end), "padding": number(self.tokenizer.padding),
                "bad_lines": self.bad_lines.count, "binary_files": self.documents.binary_files,
                "crossed_boundaries": self.lines.crossed_boundaries}
