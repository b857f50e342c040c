#!/usr/bin/env python3
"""Writes trainer/chat/unicode_tables.cpp: what Python's str knows of characters.

    python3 scripts/make_unicode_tables.py > trainer/chat/unicode_tables.cpp

Needed only to follow a newer Python, whose Unicode is that of transformers.
"""

import platform
import unicodedata

CHARACTERS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
# In the order of the bits of CharacterTraits.
TRAITS = [str.isprintable, str.isalpha, str.isdecimal, str.isdigit, str.isnumeric, str.islower, str.isupper,
          lambda s: s.istitle() and not s.isupper()]  # fmt: skip


def trait_runs():
    runs, last = [], None
    for code in range(0x110000):
        surrogate = 0xD800 <= code < 0xE000
        mask = 0 if surrogate else sum(1 << bit for bit, has in enumerate(TRAITS) if has(chr(code)))
        if mask != last:
            runs.append(f"0x{code << 8 | mask:x},")
            last = mask
    return runs


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


def table(declaration, entries):
    print(f"constexpr {declaration}[] = {{")
    line = "   "
    for entry in entries:
        if len(line) + 1 + len(entry) > 98:
            print(line)
            line = "   "
        line += " " + entry
    print(line + "\n};\n")


def main():
    print(f"""// Made by scripts/make_unicode_tables.py with Python {platform.python_version()}, Unicode {unicodedata.unidata_version}.
#include "trainer/chat/unicode_tables.h"

namespace shardlens::trainer::chat {{

namespace {{

// clang-format off
// First code point of a run << 8 | its CharacterTraits.""")
    table("std::uint32_t kTraits", trait_runs())
    table("CaseRange kUpper", case_ranges(str.upper))
    table("CaseRange kLower", case_ranges(str.lower))
    table("CaseText kUpperTexts", texts(str.upper, lambda s: len(s.upper()) > 1))
    print("// Where it is not the upper case.")
    table("CaseText kTitleTexts", texts(str.title, lambda s: s.title() != s.upper()))
    print("""// clang-format on

}  // namespace

std::span<const std::uint32_t> character_traits() { return kTraits; }
std::span<const CaseRange> upper_ranges() { return kUpper; }
std::span<const CaseRange> lower_ranges() { return kLower; }
std::span<const CaseText> upper_texts() { return kUpperTexts; }
std::span<const CaseText> title_texts() { return kTitleTexts; }

}  // namespace shardlens::trainer::chat""")


if __name__ == "__main__":
    main()
