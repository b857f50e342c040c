"""The file of an encoded text: see trainer/text/image/token_layout.h."""

import errno
import os
import struct
from array import array

from .files import READ_BYTES
from .refusal import Refused

TOKENS_BEGIN = 4096
PLAIN, COMPLETION, CHAT, LABELED = range(4)  # TextKind


class Image:
    """Its header is written by whoever started us."""

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
        """How many bytes of notes there are, and how many of them are about bad lines."""
        def listed(texts):  # a zero byte ends each, an empty one the list
            return ("".join((text.replace("\0", " ") or " ") + "\0" for text in texts) + "\0").encode("utf-8", "replace")

        names, messages = listed(names), listed(bad_lines)
        self.pad()
        self.pack(len(self.bits))
        for data in (self.mask, self.offsets.tobytes(), self.labels.tobytes()):
            self.put(data)
        self.pad()
        self.put(names + messages)
        self.written(self.file.flush)
        return len(names + messages), len(messages) if bad_lines else 0
