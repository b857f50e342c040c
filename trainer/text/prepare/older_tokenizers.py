"""Tokenizers from vocab.json and merges.txt, or from vocab.txt, which leave to the family of the model what surrounds
their vocabulary: as `transformers` completes them."""

import tokenizers
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors

from .tokenizer_files import token_text

QWEN_WORDS = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
              r"\s*[\r\n]+|\s+(?!\S)|\s+")


def byte_pairs(files):
    family = files.model.get("model_type") or files.config.get("tokenizer_class", "gpt2").lower().split("tokenizer")[0]
    if family not in ("gpt2", "roberta", "bart", "qwen2", "qwen3"):
        raise ValueError(f"vocab.json and merges.txt of the family '{family[:40]}' are not supported without a "
                         "tokenizer.json, which transformers writes")
    tokenizer = tokenizers.Tokenizer(models.BPE.from_file(*files.paths))
    space = bool(files.config.get("add_prefix_space", False))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=space)
    tokenizer.decoder = decoders.ByteLevel()
    usual = ["<|endoftext|>"]
    if family.startswith("qwen"):
        tokenizer.normalizer = normalizers.NFC()
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
            pre_tokenizers.Split(Regex(QWEN_WORDS), "isolated"), pre_tokenizers.ByteLevel(space, use_regex=False)])
    elif family != "gpt2":
        usual = ["<s>", "</s>", "<unk>", "<pad>", "<mask>"]
    add_special_tokens(tokenizer, files, usual, always=family.startswith("qwen"))
    if family in ("roberta", "bart"):
        put_around(tokenizer, files, "<s>", "</s>")
    return tokenizer


def word_pieces(files):
    unknown = files.role("unk_token") or "[UNK]"
    tokenizer = tokenizers.Tokenizer(models.WordPiece.from_file(*files.paths, unk_token=unknown))
    lower = files.config.get("do_lower_case", True)
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=files.config.get("tokenize_chinese_chars", True),
        strip_accents=files.config.get("strip_accents", lower), lowercase=lower)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    add_special_tokens(tokenizer, files, ["[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"], always=False)
    put_around(tokenizer, files, "[CLS]", "[SEP]")
    return tokenizer


def add_special_tokens(tokenizer, files, usual, always):
    """Those whose ids are told, those with a role, and of the usual ones what the vocabulary has."""
    told = files.config.get("added_tokens_decoder") or {}
    tokens = {}
    for number in sorted(told, key=int):
        entry = {key: value for key, value in told[number].items() if key != "__type"}
        tokens.setdefault(entry["content"], AddedToken(**entry))
    more = [token for file in (files.config, files.special) for token in file.get("additional_special_tokens") or []]
    roles = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
    for token in [*(files.role(role + "_token") for role in roles), *map(token_text, more)]:
        if token:
            strips = next((value for value in (files.config.get("mask_token"), files.special.get("mask_token"))
                           if isinstance(value, dict) and value.get("content") == token), {})
            tokens.setdefault(token, AddedToken(token, special=True, normalized=False, lstrip=strips.get("lstrip", False),
                                                rstrip=strips.get("rstrip", False)))
    for token in usual:
        if always or tokenizer.token_to_id(token) is not None:
            tokens.setdefault(token, AddedToken(token, special=True, normalized=False))
    for token in tokens.values():
        (tokenizer.add_special_tokens if token.special else tokenizer.add_tokens)([token])
    for number, entry in told.items():
        given = tokenizer.token_to_id(entry["content"])
        if given != int(number):
            raise ValueError(f"tokenizer_config.json gives '{entry['content']}' the id {number}, the vocabulary {given}")


def put_around(tokenizer, files, begin, end):
    """What the family puts before and behind every text."""
    names = files.role("cls_token") or begin, files.role("sep_token") or end
    ids = [(name, tokenizer.token_to_id(name)) for name in names]
    if None in dict(ids).values():
        raise ValueError(f"the vocabulary lacks '{names[0]}' or '{names[1]}', which belong around every text")
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{names[0]}:0 $A:0 {names[1]}:0", special_tokens=ids)
