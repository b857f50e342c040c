"""Long texts word by word: each word is encoded once, and remembered."""

import concurrent.futures
import multiprocessing
import os
import random
import re
import signal
import string
from array import array

from .limits import die_with, limit_share, processor_time, seconds_for
from .refusal import reason_of

# What is tried beside each other, and what may lie between.
CHARACTERS = "aZs1" + string.punctuation + "éßЯ中가ا²Ⅷ٣…—§€’🙂\u0301\u0338\u200b\u200d\ufeff\xad\u3000▁Ġ\x07\x1c\x85"
BLANKS = ("", " ", "\n", "  ", " \n", "\n\n", "\t", "\t\n", "\r\n", "\n  ")


def coarse_splits(heads):
    """At blanks: before a line's or a word's beginning; before a word; at a space that the tokenizer puts before every
    text itself. Of several blanks before an added token all belong to it."""
    word = rf"(?= (?!{heads})\S)|(?<=\S)(?= \S)"
    return [re.compile(split).split for split in (rf"{word}|(?<=\S\n)(?=\S)", word, r"(?<=\S) (?=\S)")]


def fine_split(added, heads):
    """Where those tokenizers let a text be cut that begin with a regular expression as GPT-2's, GPT-4's or one of their
    descendants': also between letters, digits and marks. A piece may be several of their words, never a part of one.
    Where one expression or another might go on, as beside characters that are not ASCII, what follows up to the next
    blank is left whole."""
    first = {token[0] for token in added}
    marks = re.escape("".join(set(string.punctuation) - first))
    first = re.escape("".join(first & set(string.punctuation))) or "\n"  # of added tokens: to be looked at closely
    letter, blank, other = "[A-Za-z]", r"[ \t\r\n]", r"[^\t\r\n -~]"
    mark = rf"(?:[{marks}]|(?!{heads}|\n)[{first}])"
    letters = rf"{letter}+(?:'{letter}+)?(?!'?{letter}|{other})"  # don't: some take what follows an apostrophe along
    digits = rf"[0-9]+(?![0-9]|{other})"
    at_line = rf"(?!{heads}|/)(?=\S)"
    at_blank = rf"(?=[ \t](?!{heads})[!-/:-~])"  # the last one goes with the word; before digits some keep all together
    return re.compile("|".join((
        rf"(?:[ \t]|(?!'){mark})?{letters}",
        # Marks may take the ends of lines that follow them, an apostrophe the letters, and letters one mark.
        rf"(?!{mark}{letter})(?: ?{mark}+)(?:\n{at_line}|[\r\n]{blank}*{at_blank}|[\r\n]{blank}*(?:{letters}|{digits})|"
        rf"(?![\r\n{marks}{first}]|(?<='){letter}|{other}))| ?{mark}*'{letters}",
        rf"{blank}*{digits}",
        rf"\n{at_line}|{blank}+{at_blank}|{blank}*[\r\n]{letters}",
        rf"\s*\S+(?:(?![ \t]|\n{at_line}|{blank}+{at_blank})\s+\S+)*(?:\n{at_line}|{blank}+{at_blank}|\s+\Z)?",
        r"\s+"))).findall


class Words:
    """Remembers the tokens of words, as texts repeat theirs: several times as fast as the tokenizer on long texts.

    Used where made-up texts with every kind of neighbours, and a first long text, have the same tokens with it and
    without.
    """

    MOST_BYTES = 600_000_000  # of all processes together
    BYTES_OF_WORD = 200  # besides its characters
    TRIED = 5  # pieces of the first long text

    def __init__(self, tokenizer, type_code, patience, texts):
        self.tokenizer, self.type, self.patience = tokenizer, type_code, patience
        self.known, self.most, self.size = {}, self.MOST_BYTES, 0
        added = tokenizer.added_tokens()
        self.split = None if added is None else self.find_split(added, texts[: self.TRIED])
        self.pool = WordProcesses(self) if self.split else None

    def find_split(self, added, texts):
        contents = [token.content for token in added]
        heads = "|".join(sorted({re.escape(content[:2]) for content in contents})) or "(?!)"
        texts = self.texts_for(added) + texts
        fine = fine_split(contents, heads)
        # Words, not tokens, which with other merges would be others; both, as added tokens are no words.
        if self.fits(fine, texts, self.tokenizer.words) and self.fits(fine, texts, self.tokens):
            return fine
        if self.tokenizer.joins_words():
            return None
        return next((split for split in coarse_splits(heads) if self.fits(split, texts, self.tokens)), None)

    @staticmethod
    def texts_for(added):
        # Those that look at what is beside them are not like others.
        some = [*(token for token in added if token.lstrip or token.single_word), *added[:10], *added[-10:]]
        some = [*CHARACTERS, *dict.fromkeys(token.content for token in some)]
        chooser = random.Random(0)
        texts = [f"b{before}{blank}{after}{chooser.choice(CHARACTERS)}" for before in some for blank in BLANKS for after in some]
        parts = [*some, *"aaZs1.'\n  ", *BLANKS, "'ll", "word", "12345"]
        return texts + ["".join(chooser.choices(parts, k=chooser.randrange(60))) for _ in range(2000)]

    def tokens(self, texts):
        return [list(tokens) for tokens in self.tokenizer.encode(texts, False)]

    @staticmethod
    def fits(split, texts, encode):
        """Whether the parts of each have together what it has whole."""
        for some in (texts[::100], texts):  # most that do not fit are soon found
            parts = [split(text) for text in some]
            each = list({part for split in parts for part in split})
            of_part = dict(zip(each, encode(each)))
            if any(whole != [token for part in split for token in of_part[part]]
                   for split, whole in zip(parts, encode(some))):
                return False
        return True

    def encode(self, texts):
        """The tokens of each, perhaps still being found when they are asked for."""
        return self.pool.encode(texts) if self.pool else self.tokenizer.encode(texts, False)

    def look_up(self, text):
        words = self.split(text)
        if self.size > self.most:
            self.known, self.size = {}, 0
        new = list(set(words).difference(self.known))
        if new:
            tokens = (array(self.type, each).tobytes() for each in self.tokenizer.encode(new, False))
            self.known.update(zip(new, tokens))
            self.size += self.BYTES_OF_WORD * len(new) + 8 * sum(map(len, new))
        return array(self.type, b"".join(map(self.known.__getitem__, words)))


class WordProcesses:
    """Copies of us, one for each core, that remember words: Python runs on one core only."""

    words = None  # theirs

    def __init__(self, words):
        WordProcesses.words = words
        count = min(len(os.sched_getaffinity(0)), 16)
        words.most //= count
        try:
            executor = concurrent.futures.ProcessPoolExecutor(
                count, multiprocessing.get_context("fork"), self.begin, (os.getpid(), count))
            self.encode = lambda texts: executor.map(self.look_up, texts, chunksize=-(-len(texts) // (4 * count)))
        except OSError:  # a system without shared memory
            self.encode = lambda texts: map(words.look_up, texts)

    @staticmethod
    def begin(parent, count):
        die_with(parent)
        limit_share(count)
        os.environ["TOKENIZERS_PARALLELISM"] = "false"  # each has one core

    @staticmethod
    def look_up(text):
        words = WordProcesses.words
        with processor_time(seconds_for(len(text), words.patience), signal.SIG_DFL):  # which what is not Python cannot put off
            try:
                return words.look_up(text)
            except Exception:
                raise
            except BaseException as error:  # a panic of Rust cannot be sent to who started us
                raise RuntimeError(reason_of(error)) from None
