"""Tokenizers configured as the published families are, trained on given lines. Used by tokenizer_truth.py.

Each function returns the text of a tokenizer.json."""

import array
import functools
import json
import struct

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers,
                        processors, trainers)

LLAMA3_WORDS = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
                r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN_WORDS = LLAMA3_WORDS.replace(r"\p{N}{1,3}", r"\p{N}")
# Mistral Nemo and later: words end before a capital letter.
TEKKEN_WORDS = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|"
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}|"
                r" ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")

# GPT-4o: as Mistral's, and contractions belong to the word before them.
GPT4O_WORDS = (TEKKEN_WORDS.replace(r"\p{N}|", r"\p{N}{1,3}|").replace(r"\p{M}]+|", r"\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|")
               .replace(r"\p{M}]*|", r"\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"))
# One after the other.
DEEPSEEK_WORDS = (r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",
                  r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|"
                  r" ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")

# Every combination of what an added token may be, in the texts and in capitals.
ADDED = [AddedToken("added_tok", single_word=True), AddedToken("lword", lstrip=True, normalized=False),
         AddedToken("rword", rstrip=True, normalized=True), AddedToken("both", lstrip=True, rstrip=True),
         AddedToken("lrboth", single_word=True, lstrip=True, rstrip=True, normalized=False),
         AddedToken("added  tok"), AddedToken("é", normalized=True), AddedToken("quick brown", normalized=False)]


def byte_level(lines, pre_tokenizer, special, size=3000, normalizer=None, **options):
    tokenizer = Tokenizer(models.BPE(**options))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(lines, trainers.BpeTrainer(
        vocab_size=size, special_tokens=special, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return tokenizer


def gpt2(lines):
    tokenizer = byte_level(lines, pre_tokenizers.ByteLevel(add_prefix_space=False), ["<|endoftext|>"])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def gpt2_with_added_tokens(lines):
    tokenizer = byte_level(lines, pre_tokenizers.ByteLevel(add_prefix_space=True), ["<|endoftext|>"])
    tokenizer.add_tokens(ADDED)
    tokenizer.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    return tokenizer


def roberta(lines):
    special = ["<s>", "<pad>", "</s>", "<unk>", AddedToken("<mask>", lstrip=True, normalized=False)]
    tokenizer = byte_level(lines, pre_tokenizers.ByteLevel(add_prefix_space=False), special)
    ids = tokenizer.get_vocab()
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", ids["</s>"]), ("<s>", ids["<s>"]), add_prefix_space=False)
    return tokenizer


def split_words(*words):
    return pre_tokenizers.Sequence([
        *(pre_tokenizers.Split(Regex(each), behavior="isolated") for each in words),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def llama3(lines):
    tokenizer = byte_level(lines, split_words(LLAMA3_WORDS), ["<|begin_of_text|>", "<|end_of_text|>"],
                           size=6000, ignore_merges=True)
    begin = tokenizer.token_to_id("<|begin_of_text|>")
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=True),
        processors.TemplateProcessing(single="<|begin_of_text|> $A", pair="<|begin_of_text|> $A $B",
                                      special_tokens=[("<|begin_of_text|>", begin)])])
    # A token that no merge makes: taken whole where ignore_merges says so.
    definition = json.loads(tokenizer.to_str())
    vocabulary = definition["model"]["vocab"]
    vocabulary["Ġlazyfox"] = len(vocabulary)
    vocabulary["Ġjumps"] = vocabulary.get("Ġjumps", len(vocabulary))
    return Tokenizer.from_str(json.dumps(definition))


def qwen2(lines):
    tokenizer = byte_level(lines, split_words(QWEN_WORDS), [], normalizer=normalizers.NFC())
    tokenizer.add_special_tokens(["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    tokenizer.add_tokens(ADDED)
    return tokenizer


def mistral_tekken(lines):
    tokenizer = byte_level(lines, split_words(TEKKEN_WORDS), ["<unk>", "<s>", "</s>", "[INST]"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 1), ("</s>", 2)])
    return tokenizer


def chat_model(pre_tokenizer, normalizer=None):
    return lambda lines: byte_level(lines, pre_tokenizer, ["<|endoftext|>", "<|im_start|>", "</think>"], normalizer=normalizer)


@functools.cache  # the training takes seconds
def trained_pairs(lines):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    tokenizer.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=2500, show_progress=False, limit_alphabet=300))
    return tokenizer.to_str()


def sentence_piece(lines, legacy, bytes_too=True, fuse=True):
    """As converted from SentencePiece: bytes after the special tokens, then what was trained."""
    definition = json.loads(trained_pairs(tuple(lines)))
    special = ["<unk>", "<s>", "</s>"]
    tokens = special + [f"<0x{byte:02X}>" for byte in range(256)] * bytes_too
    tokens += [token for token in definition["model"]["vocab"] if token not in tokens]
    definition["model"].update(vocab={token: i for i, token in enumerate(tokens)}, byte_fallback=bytes_too,
                               fuse_unk=fuse, unk_token="<unk>")
    definition["added_tokens"] = [
        dict(id=i, content=token, single_word=False, lstrip=False, rstrip=False, normalized=False, special=True)
        for i, token in enumerate(special)]
    tokenizer = Tokenizer.from_str(json.dumps(definition))
    if legacy:
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
        tokenizer.pre_tokenizer = None
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(),
                                           decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)])
    return tokenizer


def llama2_with_added_tokens(lines):
    tokenizer = sentence_piece(lines, legacy=True)
    tokenizer.add_tokens(ADDED)
    return tokenizer


def bert(lines, lower, **options):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lower, **options)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix="##", cleanup=True)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(lines, trainers.WordPieceTrainer(vocab_size=3000, special_tokens=special, show_progress=False))
    ids = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ids)
    return tokenizer


def bert_processing(lines):
    tokenizer = bert(lines, lower=True, strip_accents=False, handle_chinese_chars=False)
    ids = tokenizer.get_vocab()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"]))
    tokenizer.add_tokens(ADDED)
    return tokenizer


def end_of_word(lines):
    """As OpenAI's first GPT and CLIP."""
    tokenizer = Tokenizer(models.BPE(end_of_word_suffix="</w>", unk_token="<unk>"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.BPEDecoder(suffix="</w>")
    tokenizer.train_from_iterator(lines, trainers.BpeTrainer(
        vocab_size=3000, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False))
    return tokenizer


@functools.cache
def trained_unigram(lines):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.train_from_iterator(lines, trainers.UnigramTrainer(
        vocab_size=2000, special_tokens=["<unk>", "</s>"], unk_token="<unk>", show_progress=False))
    return tokenizer.to_str()


def unigram(lines, byte_fallback):
    definition = json.loads(trained_unigram(tuple(lines)))
    if byte_fallback:
        definition["model"]["byte_fallback"] = True
        definition["model"]["vocab"] += [[f"<0x{byte:02X}>", -20.0 - byte / 10] for byte in range(256)]
    return Tokenizer.from_str(json.dumps(definition))


def characters_map(rules):
    """A map of characters as SentencePiece compiles it: a trie as a double array, then the texts it leads to. A node's
    children lie in a block of 256 of their own."""
    blocks, texts = {b"": 0}, b""
    for source in sorted(key.encode() for key in rules):
        for end in range(1, len(source) + 1):
            blocks.setdefault(source[:end], len(blocks))
    units = array.array("I", bytes(4 * 256 * len(blocks)))
    for key, block in blocks.items():
        at = blocks[key[:-1]] * 256 ^ key[-1] if key else 0
        result = rules.get(key.decode("utf-8", "replace"))
        units[at] |= (key[-1] if key else 0) | (result is not None) << 8 | (at ^ block * 256) << 10
        if result is not None:
            units[block * 256] |= len(texts)
            texts += result.encode() + b"\0"
    return struct.pack("<I", 4 * len(units)) + units.tobytes() + texts


# Of SentencePiece's nmt_nfkc a few: ligatures, full width, spaces, what goes.
PRECOMPILED = normalizers.Precompiled(characters_map({
    "ﬁ": "fi", "ﬃ": "ffi", "①": "1", "Ａ": "A", "ａ": "a", "！": "!", "\u3000": " ", "\u00a0": " ", "\t": " ",
    "\n": " ", "\r": " ", "\u200b": " ", "\xad": "", "ｶ": "カ", "ﾊﾟ": "パ", "ガ": "ガ", "½": "1⁄2", "Å": "Å"}))


def t5(lines):
    tokenizer = unigram(lines, False)
    tokenizer.normalizer = normalizers.Sequence([PRECOMPILED, normalizers.Strip(left=False, right=True),
                                                 normalizers.Replace(Regex(" {2,}"), "▁")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    tokenizer.add_special_tokens([f"<extra_id_{i}>" for i in range(3)])
    return tokenizer


def xlm_roberta(lines):
    tokenizer = unigram(lines, False)
    tokenizer.normalizer = PRECOMPILED
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always", split=True)])
    tokenizer.add_special_tokens(["<s>", AddedToken("<mask>", lstrip=True, normalized=False)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", tokenizer.token_to_id("<s>")), ("</s>", 1)])
    return tokenizer


def gemma(lines):
    """No text before the first word, spaces replaced, whole texts in one, bytes for what is unknown."""
    tokenizer = sentence_piece(lines, legacy=True)
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens(["<start_of_turn>", "<end_of_turn>"])
    return tokenizer


def word_level(lines):
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.train_from_iterator(lines, trainers.WordLevelTrainer(vocab_size=3000, special_tokens=["<unk>"], show_progress=False))
    return tokenizer


FAMILIES = {
    "gpt2": gpt2, "gpt2 with added tokens": gpt2_with_added_tokens, "roberta": roberta, "llama3": llama3,
    "qwen2": qwen2, "mistral, tekken": mistral_tekken,
    "qwen3": chat_model(split_words(QWEN_WORDS), normalizers.NFC()), "gpt4o": chat_model(split_words(GPT4O_WORDS)),
    "deepseek": chat_model(split_words(*DEEPSEEK_WORDS)),
    "smollm": chat_model(pre_tokenizers.Sequence([pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(add_prefix_space=False)])),
    "llama2, normalizer": lambda lines: sentence_piece(lines, legacy=True),
    "llama2, metaspace": lambda lines: sentence_piece(lines, legacy=False),
    "llama2 with added tokens": llama2_with_added_tokens,
    "sentence piece without bytes": lambda lines: sentence_piece(lines, legacy=True, bytes_too=False),
    "sentence piece, each unknown": lambda lines: sentence_piece(lines, legacy=False, bytes_too=False, fuse=False),
    "bert uncased": lambda lines: bert(lines, lower=True), "bert cased": lambda lines: bert(lines, lower=False),
    "bert with BertProcessing": bert_processing, "end of word": end_of_word,
    "unigram": lambda lines: unigram(lines, False), "unigram with bytes": lambda lines: unigram(lines, True),
    "word level": word_level, "t5": t5, "xlm-roberta": xlm_roberta, "gemma": gemma,
}
