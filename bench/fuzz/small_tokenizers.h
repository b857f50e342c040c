// Small files of tokenizers, with every part there is. Any thread.
#pragma once

#include <string_view>

namespace shardlens::bench {

// Byte-level: h e l o Ġ(space) w r d, then "he" "ll" "hell" "hello" "Ġw", "<|end|>" special.
inline constexpr std::string_view kByteLevelJson = R"({
  "version": "1.0", "truncation": {"max_length": 2}, "padding": null,
  "added_tokens": [{"id": 13, "content": "<|end|>", "single_word": false, "lstrip": false,
                    "rstrip": false, "normalized": false, "special": true}],
  "normalizer": null,
  "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true},
  "post_processor": null,
  "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true},
  "model": {"type": "BPE", "dropout": null, "unk_token": null,
    "vocab": {"h":0,"e":1,"l":2,"o":3,"Ġ":4,"w":5,"r":6,"d":7,"he":8,"ll":9,"hell":10,"hello":11,
              "Ġw":12},
    "merges": ["h e", "l l", "he ll", "hell o", "Ġ w"]}})";

// SentencePiece: spaces become ▁, unknown characters bytes if all of them are tokens.
inline constexpr std::string_view kSentencePieceJson = R"({
  "version": "1.0",
  "added_tokens": [
    {"id": 0, "content": "<unk>", "single_word": false, "lstrip": false, "rstrip": false,
     "normalized": false, "special": true},
    {"id": 1, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false,
     "normalized": false, "special": true}],
  "normalizer": {"type": "Sequence", "normalizers": [
    {"type": "Prepend", "prepend": "▁"},
    {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
  "pre_tokenizer": null,
  "post_processor": {"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
               {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [], "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}},
  "decoder": {"type": "Sequence", "decoders": [
    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"},
    {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
  "model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true,
    "vocab": {"<unk>":0,"<s>":1,"<0xC3>":2,"<0xA9>":3,"▁":4,"a":5,"b":6,"▁a":7,"ab":8,"▁ab":9},
    "merges": [["▁","a"], ["a","b"], ["▁a","b"]]}})";

// Every other part there is.
inline constexpr std::string_view kWordPieceJson = R"({
  "added_tokens": [{"id": 6, "content": "w\u00f6r", "lstrip": true, "rstrip": true, "normalized": true},
                   {"id": 7, "content": "ab", "single_word": true, "special": true}],
  "normalizer": {"type": "Sequence", "normalizers": [
    {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
     "strip_accents": null, "lowercase": true},
    {"type": "NFKC"}, {"type": "NFD"}, {"type": "StripAccents"}, {"type": "Nmt"}, {"type": "Lowercase"},
    {"type": "Strip", "strip_left": true, "strip_right": true},
    {"type": "Replace", "pattern": {"Regex": "l{2,3}|(?<=o) "}, "content": "l"}]},
  "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
    {"type": "BertPreTokenizer"}, {"type": "Digits", "individual_digits": true},
    {"type": "Punctuation", "behavior": "Contiguous"}, {"type": "Whitespace"},
    {"type": "CharDelimiterSplit", "delimiter": "x"},
    {"type": "Split", "pattern": {"String": "o"}, "behavior": "MergedWithNext", "invert": false}]},
  "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]},
  "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
  "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 100, "vocab": {"[UNK]":0,"[CLS]":1,"[SEP]":2,"he":3,"##l":4,"o":5}}})";

inline constexpr std::string_view kUnigramJson = R"({
  "normalizer": {"type": "Prepend", "prepend": "_"},
  "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
    {"type": "WhitespaceSplit"},
    {"type": "Metaspace", "replacement": "_", "prepend_scheme": "first", "split": true}]},
  "post_processor": {"type": "Sequence", "processors": [{"type": "ByteLevel", "trim_offsets": true},
    {"type": "RobertaProcessing", "sep": ["</s>", 3], "cls": ["<s>", 2], "trim_offsets": true,
     "add_prefix_space": false}]},
  "decoder": {"type": "Sequence", "decoders": [{"type": "BPEDecoder", "suffix": "</w>"},
    {"type": "Metaspace", "replacement": "_", "prepend_scheme": "always", "split": true}]},
  "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": true, "vocab": [["<unk>", 0.0],
    ["_", -1.5], ["<s>", 0], ["</s>", 0], ["he", -2.25], ["l", -3.0], ["ll", -2.5], ["<0xC3>", -9]]}})";

}  // namespace shardlens::bench
