"""Texts that are hard on tokenizers. Used by tokenizer_truth.py."""

import pathlib
import random

SCRIPTS = [
    "The quick brown fox jumps over the lazy dog. I'll say it's they've we'd you're I'M DON'T 's 'S 'ſ",
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. STRASSE Straße ẞ ﬁ ﬂ ﬀ",
    "Příliš žluťoučký kůň úpěl ďábelské ódy. Pchnąć w tę łódź jeża lub ośm skrzyń fig.",
    "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία. ΟΔΥΣΣΕΥΣ ΣΑΣ ἄνθρωπος ᾳ ᾼ",
    "Съешь же ещё этих мягких французских булок, да выпей чаю. Ѣ ѣ Ґ ґ",
    "דג סקרן שט בים מאוכזב ולפתע מצא לו חברה. שָׁלוֹם עֲלֵיכֶם",
    "نص حكيم له سر قاطع وذو شأن عظيم مكتوب على ثوب أخضر ومغلف بجلد أزرق. السَّلَامُ ١٢٣٤ ۱۲۳۴",
    "ऋषियों को सताने वाले दुष्ट राक्षसों के राजा रावण का सर्वनाश। क्षत्रिय १२३४",
    "আমার সোনার বাংলা ১২৩ ਪੰਜਾਬੀ ૧૨૩ தமிழ் ௧௨௩ తెలుగు ಕನ್ನಡ മലയാളം සිංහල",
    "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า ๑๒๓๔ ພາສາລາວ ភាសាខ្មែរ မြန်မာဘာသာ བོད་ཡིག",
    "我能吞下玻璃而不伤身体。中文，标点；「引号」『书名』…… 一二三 〇 ㊀ ㋿",
    "いろはにほへと ちりぬるを ｶﾀｶﾅ ﾊﾟ ガ が ヶ々〆 ゛゜ ㌔ ㍻",
    "키스의 고유조건은 입술끼리 만나야 하고. 각 ᄀ ᅡ ᆨ 가 각 ᄒᆞᆫ",
    "ქართული ენა Ⴀ ⴀ Ა հայերեն ԱԲԳ ᎠᎡᎢ ꭰꭱ ᏸ አማርኛ ፩፪፫ ᚠᚢᚦ ⲀⲂ 𐌰𐌱 𐐀𐐨 𝒜𝓑𝔠 𝟘𝟙𝟚",
    "Tiếng Việt: Ă Â Đ Ê Ô Ơ Ư ắ ằ ẳ ẵ ặ ế ề ể ễ ệ İ ı I i ǅ ǆ Ǆ ŉ ǰ ΐ ﬓ",
    "½ ⅓ ¼ ² ³ ¹ ⁴ Ⅳ ⅷ ① ⑳ ㈠ 𝟏 ൧ ༣ 〣 1,234.56 -7e-10 0x1F 3.14159 100000000 12 345 6789",
    "👍🏽 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪🇫🇷 👨🏿‍🚀 ❤️ ☎︎ ☎️ 1️⃣ #️⃣ 🫠 🥲 🧑‍🤝‍🧑 \U0001f9d1\U0001f3fb\u200d\u2764\ufe0f\u200d\U0001f48b\u200d\U0001f9d1\U0001f3ff",
    "é ȩ́ ạ̈̂ a\u0301\u0327 a\u0327\u0301 \u0301a q̣̇ q̣̇ Å Å Å ḍ̇ ṩ ṩ ṩ Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘!",
    "a\u00a0b\u1680c\u2000d\u2003e\u2009f\u200ag\u200bh\u202fi\u205fj\u3000k\ufeffl\u2028m\u2029n\u0085o\u180ep\u200dq\u200cr\u2060s",
    "  two  spaces   three    four\t\ttabs \n\n newlines \r\n\r\n crlf \r cr \v vt \f ff  \n  \n ",
    "\x00nul\x00 \x01\x02\x1b[31mred\x1b[0m \x7f \x80\x9f \ufffd \ufffe \uffff \U0010ffff \ue000 \U000f0000",
    "\u202eright to left\u202c \u2066isolate\u2069 \u061c \u200e\u200f soft\u00adhyphen zero\u200bwidth",
    "def f(x):\n\tif x > 0:\n\t\treturn x**2  # comment\n    else: pass\n\n\n#include <vector>\nstd::vector<int> v{1,2,3};\n",
    "for (auto& [k, v] : m) { a->b += c[d] << 2; } // !@#$%^&*()_+-=[]{}|;':\",./<>?`~\\ ¡¿§¶†‡•…‰′″‹›€£¥₿©®™",
    "<s></s><unk><pad><mask>[CLS][SEP][MASK][PAD][UNK]<|endoftext|><|begin_of_text|><|im_start|>user\nhi<|im_end|>",
    "text <mask> more<mask>  <mask>  end [MASK] x[MASK]y <s> a</s> b <|endoftext|> c<|endoftext|>d [ MASK ] <| endoftext|>",
    "<0x0A><0x41> <0xE2><0x96><0x81> ▁▁ ▁a▁ Ġa Ċ ĠĠ ## ##ing #ing ing## </w> a</w>",
    "added_tok ADDED_TOK xadded_tokx added_tok, lword LWORD  rword  both  lrboth  added  tok",
    "supercalifragilisticexpialidocious" * 8, "a" * 700, "ab" * 200, "ä" * 300, "的" * 300, " " * 300,
    "1234567890" * 40, "!?" * 150, "\n" * 120, " \n" * 80, "x" + " " * 129 + "y", "🙂" * 120, "e\u0301" * 150,
    "https://user:pass@example.com:8080/path/to%20page?q=1&r=ü#frag  mail@example.org  C:\\Users\\x\\n",
    "don't can't won't I'd I've he'll DON'T I'LL 'tis ’s it’s ‘quote’ “double” — – - ‐ ‑ ― 'll'll 's's",
    "", " ", "  ", "\n", "\t", "a", "é", "▁", "<s>", "\u0301", "\u200d", "\ufeffbom", "\x00", "‏", "'", "''s",
]


def random_texts(seed, count):
    """Random code points: all there are, assigned or not, and neighbours of the same block."""
    rng = random.Random(seed)
    texts = []
    for _ in range(count):
        chars = []
        for _ in range(rng.randrange(1, 60)):
            kind = rng.random()
            if kind < 0.25:
                c = rng.randrange(0x20, 0x7F)
            elif kind < 0.4:
                c = rng.choice((0x20, 0x20, 0x0A, 0x09, 0x0D, 0x27, 0x2581, 0x3000, 0xA0))
            elif kind < 0.7:
                c = rng.randrange(0x80, 0x3000)
            elif kind < 0.85:
                c = rng.randrange(0x3000, 0x20000)
            elif kind < 0.9:
                c = rng.choice((0x300, 0x301, 0x323, 0x327, 0x200D, 0xFE0F, 0x1161, 0x11A8, 0x3099))
            else:
                c = rng.randrange(0x110000)
            if not 0xD800 <= c <= 0xDFFF:
                chars.append(chr(c))
        texts.append("".join(chars))
    return texts


def damaged_texts(seed):
    """Bytes that are no UTF-8."""
    rng = random.Random(seed)
    texts = [b"\xff", b"a\xc3", b"\xe2\x96", b"\xf0\x9f\x98 x", b"\xed\xa0\x80\xed\xb0\x80", b"\xc0\xaf",
             b"\xf4\x90\x80\x80", b"\xe0\x80\x80 \xe0\xa0", b"ok \x80\x81\xbf ok", b"\xf8\x88\x80\x80\x80"]
    for text in SCRIPTS[:40] * 3:
        data = bytearray(text.encode())
        for _ in range(1 + len(data) // 12):
            if data:
                data[rng.randrange(len(data))] = rng.randrange(256)
        texts.append(bytes(data[: rng.randrange(len(data) + 1)] if rng.random() < 0.3 else data))
    return texts


def project_texts(root, most_bytes):
    """The project's own sources and documents, whole and by lines."""
    root = pathlib.Path(root)
    left_out = {"build", "runs"}  # and hidden ones, which may hold whole environments of Python
    folders = [f for f in root.iterdir() if f.is_dir() and f.name not in left_out and f.name[0] != "."]
    paths = [path for folder in (root.glob("*"), *(f.rglob("*") for f in folders)) for path in folder
             if path.suffix in (".md", ".h", ".cpp", ".py")]
    texts, total = {}, 0  # a dict for its order: many lines are in many files
    for path in sorted(paths):
        text = path.read_bytes().decode("utf-8", "replace")
        if total + len(text) > most_bytes:
            break
        total += len(text)
        texts.update(dict.fromkeys([text, *text.splitlines(keepends=True)[:30]]))
    return list(texts)
