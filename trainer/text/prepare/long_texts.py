"""Long texts: where they may be cut, and how their words are encoded once."""

import concurrent.futures
import itertools
import multiprocessing
import os
import re
from array import array

from .limits import die_with, killed_after, limit_share, seconds_for
from .refusal import reason_of

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
        if self.tokenizer.counts_characters:
            return None
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

    MOST = 2_000_000  # of all processes together, some 200 bytes each
    LONGEST = 60
    TRIED = 5
    CHARACTERS = "aZéя中가ا1٣.,'\"`-_#@<>|/\\(){}&%=+*:;!?…—§€²🙂\u0301\u200b\u200d\ufeff\xad▁Ġ\x07"

    def __init__(self, tokenizer, type_code, patience):
        self.tokenizer, self.type, self.patience = tokenizer, type_code, patience
        # Those of late, and those of the time before: what is used goes on from one to the other.
        self.recent, self.earlier, self.most = {}, {}, self.MOST // 2
        self.is_tried, self.pool = False, None
        added = tokenizer.added_tokens()
        places = [] if added is None else self.places(added)
        self.place = next((place for place in places if self.fits(place, added)), None)

    @staticmethod
    def places(added):
        """As PLACES, but of several spaces before an added token all belong to what stands before it."""
        first = re.escape("".join(sorted({token.content[0] for token in added})))
        word = rf"(?= [^\s{first}])|(?<=\S)(?= \S)"
        return map(re.compile, (rf"{word}|(?<=\S\n)(?=\S)", word, PLACES[2].pattern))

    def fits(self, place, added):
        # What takes the space before it is not like others.
        some = [*(token for token in added if token.lstrip), *added[:10], *added[-10:]]
        added = list(dict.fromkeys(token.content for token in some))
        behind = [character + more for character in self.CHARACTERS for more in ("s", ".", "1")] + ["'s x", "ll."]
        texts = [f"b{before}{space}{after}" for before in [*self.CHARACTERS, *added] for after in [*behind, *added]
                 for space in (" ", "\n", "  ", " \n", "\n\n", "\t\n", "\r\n", " \n ")]
        parts = [place.split(text) for text in texts]
        each = sorted({part for split in parts for part in split})
        tokens = dict(zip(each, self.tokenizer.encode(each, False)))
        return all(list(whole) == [token for part in split for token in tokens[part]]
                   for split, whole in zip(parts, self.tokenizer.encode(texts, False)))

    def encode(self, texts):
        """The tokens of each, perhaps still being found when they are asked for."""
        if self.place is None:
            return self.tokenizer.encode(texts, False)
        if not self.is_tried:
            self.is_tried = True
            some = texts[: self.TRIED]
            whole = [array(self.type, tokens) for tokens in self.tokenizer.encode(some, False)]
            if whole != list(map(self.look_up, some)):
                self.place = None
            rest = texts[self.TRIED :]
            return itertools.chain(whole, self.encode(rest) if rest else [])
        if self.pool is None:
            self.pool = WordProcesses(self)
        return self.pool.encode(texts)

    def look_up(self, text):
        words = self.place.split(text)
        found = list(map(self.recent.get, words))
        if None in found:
            missing = {word for word, tokens in zip(words, found) if tokens is None}
            tokens = {word: known for word in missing if (known := self.earlier.get(word)) is not None}
            new = [word for word in missing if word not in tokens]
            tokens.update((word, array(self.type, each).tobytes())
                          for word, each in zip(new, self.tokenizer.encode(new, False)))
            found = [tokens[word] if known is None else known for word, known in zip(words, found)]
            if len(self.recent) > self.most:
                self.recent, self.earlier = {}, self.recent
            self.recent.update((word, known) for word, known in tokens.items() if len(word) <= self.LONGEST)
        return array(self.type, b"".join(found))


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
            self.map = lambda texts: executor.map(self.look_up, texts, chunksize=-(-len(texts) // (4 * count)))
        except OSError:  # a system without shared memory
            self.map = lambda texts: map(words.look_up, texts)

    def encode(self, texts):
        return self.map(texts)

    @staticmethod
    def begin(parent, count):
        die_with(parent)
        limit_share(count)
        os.environ["TOKENIZERS_PARALLELISM"] = "false"  # each has one core

    @staticmethod
    def look_up(text):
        words = WordProcesses.words
        with killed_after(seconds_for(len(text), words.patience)):
            try:
                return words.look_up(text)
            except Exception:
                raise
            except BaseException as error:  # a panic of Rust cannot be sent to who started us
                raise RuntimeError(reason_of(error)) from None
