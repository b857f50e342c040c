"""Text as tokens, and tokens as text."""

import concurrent.futures
import os
import re

from .limits import lacks_memory, more_than_memory
from .packages import need
from .refusal import NotEncoded, Refused, quoted, reason_of
from .tokenizer_files import TokenizerFiles

# Any character may be unknown to a tokenizer, which then leaves it out or fails.
PROBES = ("a", "A", "1", "中", ".", " ")
# Ġ is a space, Ċ a line's end, where tokens are made of bytes; the others are blank, too, and no part of a word.
BETWEEN_WORDS = re.compile("[^ĠĊĉċČč][ĠĊĉċČč]*[ĠĊ][ĠĊĉċČč]*[^ĠĊĉċČč]")
MOST_TRIED = 50  # added tokens that look at what is beside them


class Bytes:
    """Token 0 to 255 is the byte itself, one more ends a document."""

    name, vocabulary, end, padding = "The bytes of the text", 257, 256, None
    around = [], []
    counts_characters = False

    def encode(self, texts, special):
        return [list(text.encode()) for text in texts]

    def encode_with_ends(self, texts):
        return [(list(text.encode()), [end for end, character in enumerate(text, 1) for _ in character.encode()])
                for text in texts]

    def added_tokens(self):
        return None  # nothing to remember


class Tokenizer:
    """One that the package `tokenizers` reads."""

    def __init__(self, path):
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        os.environ["RUST_BACKTRACE"] = "0"  # our last words say why we die
        need("tokenizers")
        files = TokenizerFiles(path)
        self.name = f"The tokenizer {quoted(files.paths[0])}"
        try:
            self.tokenizer = self.read(files)
            self.tokenizer.no_truncation()
            self.tokenizer.no_padding()
            self.vocabulary = 1 + max(self.tokenizer.get_vocab().values(), default=-1)
            self.around = self.find_around()
            # Its words depend on how far away the text's beginning is.
            self.counts_characters = "FixedLength(" in repr(self.tokenizer.pre_tokenizer)
        except Refused:
            raise
        except BaseException as error:  # a panic of Rust is no Exception
            if lacks_memory(error):
                raise Refused("failed", f"{self.name} cannot be used: {more_than_memory()}") from None
            raise Refused("damaged", f"{self.name} cannot be used: {reason_of(error)}. Download it again.") from None
        self.end = files.id_of(self.tokenizer, "eos_token", "sep_token",
                               ("<|endoftext|>", "</s>", "<|end_of_text|>", "[SEP]"))
        self.padding = files.id_of(self.tokenizer, "pad_token", None, ("[PAD]", "<pad>"))

    @staticmethod
    def read(files):
        from . import older_tokenizers
        if files.paths[0].endswith(".txt"):
            return older_tokenizers.word_pieces(files)
        if len(files.paths) == 2:
            return older_tokenizers.byte_pairs(files)
        return older_tokenizers.tokenizers.Tokenizer.from_file(files.paths[0])

    def find_around(self):
        """The tokens before and behind every text."""
        for probe in PROBES:
            try:
                encoding = self.tokenizer.encode(probe)
            except Exception:  # it knows no such character
                continue
            added = encoding.special_tokens_mask
            if 0 in added:
                begin, end = added.index(0), len(added) - added[::-1].index(0)
                return encoding.ids[:begin], encoding.ids[end:]
        return self.tokenizer.encode("").ids, []

    def encode(self, texts, special):
        return [encoding.ids for encoding in self.tokenizer.encode_batch_fast(texts, add_special_tokens=special)]

    def encode_with_ends(self, texts):
        """Without special tokens, and where in the text each token ends."""
        return [(encoding.ids, [end for _, end in encoding.offsets])
                for encoding in self.tokenizer.encode_batch(texts, add_special_tokens=False)]

    def added_tokens(self):
        """Those that are looked for before all else; None where they or a normalizer may change a word by what stands
        beside it."""
        if type(self.tokenizer.normalizer).__name__ not in ("NoneType", "NFC"):
            return None
        added = self.tokenizer.get_added_tokens_decoder().values()
        if any(token.rstrip or re.search(r"^[\w']|\s", token.content) for token in added):
            return None
        return list(added) if sum(token.lstrip or token.single_word for token in added) <= MOST_TRIED else None

    def joins_words(self):
        """Whether tokens may hold the end of a word and the beginning of the next one."""
        return any("▁" in token.lstrip("▁") or BETWEEN_WORDS.search(token) for token in self.tokenizer.get_vocab())

    def words(self, texts):
        """Of each, what the model gets one by one, as it is written there; all of it where it gets all."""
        normalize = self.tokenizer.normalizer.normalize_str if self.tokenizer.normalizer else str
        split = self.tokenizer.pre_tokenizer.pre_tokenize_str if self.tokenizer.pre_tokenizer else lambda text: [(text, 0)]
        return [[word for word, _ in split(normalize(text))] for text in texts]

    def decode(self, tokens):
        return self.tokenizer.decode(tokens, skip_special_tokens=True)


class Encoder:
    """A tokenizer whose failures end the request in words."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.before, self.behind = tokenizer.around

    def encode(self, texts, special):
        return self.guarded(self.tokenizer.encode, texts, special)

    def encode_with_ends(self, texts):
        return self.guarded(self.tokenizer.encode_with_ends, texts)

    def guarded(self, work, *arguments):
        try:
            return work(*arguments)
        except Refused:
            raise
        except (concurrent.futures.BrokenExecutor, OSError) as error:
            raise NotEncoded("failed", f"a process that encodes the text has ended: {reason_of(error)}. Is there too little "
                                    "memory, or does a regular expression of the tokenizer's file try too much?") from None
        except BaseException as error:  # a panic of Rust is no Exception
            if lacks_memory(error):
                raise NotEncoded("failed", more_than_memory()) from None
            raise NotEncoded("damaged", f"{self.tokenizer.name} cannot encode the text: {reason_of(error)}") from None

    def to_go_on(self, tokens):
        """Of a text that goes on, without what the tokenizer puts behind every text."""
        return tokens[: max(0, len(tokens) - len(self.behind))]

    def end_of_text(self, tokens):
        """What is still to follow them at the end of a text."""
        end = self.tokenizer.end
        return [] if end is None or (len(tokens) and tokens[-1] == end) else [end]
