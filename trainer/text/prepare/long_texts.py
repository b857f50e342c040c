"""Where long texts may be cut."""

import re

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
