"""Whole files as examples. Long ones are encoded in pieces that give the same tokens."""

import codecs

from .examples import BATCH, WITH_SPECIAL
from .files import READ_BYTES, open_text
from .long_texts import Cutter
from .refusal import NotEncoded, Refused, quoted
from .words import Words

PIECE = 100_000  # characters that are encoded as one
# A text that cannot be cut needs some hundred times its size while it is encoded.
LONGEST_PIECE = 64_000_000


class Documents:
    def __init__(self, encoder, image, examples, finish, tell, patience):
        self.encoder, self.image, self.examples, self.finish = encoder, image, examples, finish
        self.tell, self.patience = tell, patience
        self.cutter = Cutter(encoder.tokenizer)
        self.words = None  # made for the first long text
        self.binary_files = 0

    def add(self, path):
        with open_text(path) as file:
            data = file.read(READ_BYTES)
            if b"\0" in data[:8192]:  # as grep and git decide what is binary
                self.binary_files += 1
            elif data:
                try:
                    self.add_pieces(path, self.pieces(file, data, path))
                except NotEncoded as failed:
                    raise Refused(failed.kind, f"{path}: {failed.message}") from None

    def pieces(self, file, data, path):
        """Of a text that begins with `data`: (piece, whether it is the last)."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text, searched = decoder.decode(data, not data), 0
        while data:
            cut = self.encoder.guarded(self.cutter.find, text, max(PIECE, searched)) if len(text) > PIECE else None
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
            self.examples.add(path, 0, [(first, WITH_SPECIAL)], self.finish)
            return
        self.examples.flush()
        self.image.append(self.encoder.before)
        batch, size, tokens, under_way = [first], len(first), [], []
        for piece, is_last in pieces:
            batch.append(piece)
            size += len(piece)
            if size >= BATCH or is_last:
                self.tell(0, 0, size)
                # The one before is written while this one is encoded.
                before, under_way = under_way, self.encode_words(batch)
                tokens = self.encoder.guarded(self.append, before) or tokens
                batch, size = [], 0
        tokens = self.encoder.guarded(self.append, under_way) or tokens
        self.image.append(self.encoder.behind)
        self.image.append(self.encoder.end_of_text(self.encoder.behind or tokens))
        self.image.end_example()

    def append(self, encoded):
        """Returns the last of them."""
        tokens = []
        for tokens in encoded:
            self.image.append(tokens)
        return tokens

    def encode_words(self, texts):
        if self.words is None:
            self.words = self.encoder.guarded(Words, self.encoder.tokenizer, self.image.type, self.patience, texts)
        return self.encoder.guarded(self.words.encode, texts)
