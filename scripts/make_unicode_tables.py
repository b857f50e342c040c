#!/usr/bin/env python3
"""Writes trainer/chat/unicode_traits.cpp and unicode_case.cpp: what Python's str knows of characters.

Needed only to follow a newer Python, whose Unicode is that of transformers.
"""

import pathlib
import platform
import unicodedata

FOLDER = pathlib.Path(__file__).parents[1] / "trainer" / "chat"
CHARACTERS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
# In the order of the bits of CharacterTraits.
TRAITS = [str.isprintable, str.isalpha, str.isdecimal, str.isdigit, str.isnumeric, str.islower, str.isupper,
          lambda s: s.istitle() and not s.isupper()]  # fmt: skip


def trait_runs():
    """Where characters begin to alternate between two sets of traits, which may be the same."""
    masks = [0 if 0xD800 <= code < 0xE000 else sum(1 << bit for bit, has in enumerate(TRAITS) if has(chr(code)))
             for code in range(0x110000)]  # fmt: skip
    runs, begin = [], 0
    while begin < len(masks):
        even, odd = masks[begin], masks[begin + 1] if begin + 1 < len(masks) else 0
        runs.append(f"0x{begin << 16 | odd << 8 | even:x},")
        begin += 1
        while begin < len(masks) and masks[begin] == odd:
            begin, even, odd = begin + 1, odd, even
    return runs


def case_ignorable_ranges():
    """What Python passes over to see whether a capital sigma ends its word."""
    def passed_over(character):
        before_letter, at_end = "A\u03a3" + character + "A", "A\u03a3" + character
        return before_letter.lower()[1] == "\u03c3" and at_end.lower()[1] == "\u03c2"

    ranges = []
    for code in CHARACTERS:
        if not passed_over(chr(code)):
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return [f"{{0x{first:x},0x{last:x}}}," for first, last in ranges]


def case_ranges(change):
    """Characters that become one other, as ranges of the same distance, every character or every second."""
    pairs = [(c, ord(change(chr(c))) - c) for c in CHARACTERS if len(change(chr(c))) == 1 and change(chr(c)) != chr(c)]
    ranges, begin = [], 0
    while begin < len(pairs):
        best_end, best_step = begin, 1
        for step in (1, 2):
            end = begin
            while end + 1 < len(pairs) and pairs[end + 1] == (pairs[end][0] + step, pairs[begin][1]):
                end += 1
            if end > best_end:
                best_end, best_step = end, step
        ranges.append(f"{{0x{pairs[begin][0]:x},0x{pairs[best_end][0]:x},{best_step},{pairs[begin][1]}}},")
        begin = best_end + 1
    return ranges


def texts(change, wanted):
    def literal(text):
        return "".join(c if c.isascii() and c.isalpha() else f"\\u{ord(c):04x}" for c in text)

    return [f'{{0x{c:x}, "{literal(change(chr(c)))}"}},' for c in CHARACTERS if wanted(chr(c))]


class Source:
    """A file of tables and of the functions that give them away."""

    def __init__(self, name):
        self.path = FOLDER / name
        self.functions = []
        self.lines = [f"""\
// Made by scripts/make_unicode_tables.py with Python {platform.python_version()}, Unicode {unicodedata.unidata_version}.
#include "trainer/chat/unicode_tables.h"

namespace shardlens::trainer::chat {{

namespace {{

// clang-format off"""]

    def table(self, element, name, function, entries):
        self.lines.append(f"constexpr {element} {name}[] = {{")
        line = "   "
        for entry in entries:
            if len(line) + 1 + len(entry) > 98:
                self.lines.append(line)
                line = "   "
            line += " " + entry
        self.lines += [line, "};"]
        self.functions.append(f"std::span<const {element}> {function}() {{ return {name}; }}")

    def write(self):
        text = "\n".join([*self.lines, "// clang-format on", "", "}  // namespace", "", *self.functions, "",
                          "}  // namespace shardlens::trainer::chat", ""])  # fmt: skip
        self.path.write_text(text, encoding="utf-8")


def main():
    traits = Source("unicode_traits.cpp")
    traits.table("std::uint64_t", "kTraitRuns", "trait_runs", trait_runs())
    traits.write()
    case = Source("unicode_case.cpp")
    case.table("CaseRange", "kUpper", "upper_ranges", case_ranges(str.upper))
    case.table("CaseRange", "kLower", "lower_ranges", case_ranges(str.lower))
    case.table("CaseText", "kUpperTexts", "upper_texts", texts(str.upper, lambda s: len(s.upper()) > 1))
    case.table("CaseText", "kTitleTexts", "title_texts", texts(str.title, lambda s: s.title() != s.upper()))
    case.table("CharacterRange", "kCaseIgnorable", "case_ignorable_ranges", case_ignorable_ranges())
    case.write()


if __name__ == "__main__":
    main()
