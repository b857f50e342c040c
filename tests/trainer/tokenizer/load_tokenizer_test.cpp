#include "trainer/tokenizer/load_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/trainer/tokenizer/small_tokenizer.h"

namespace shardlens::trainer {
namespace {

using testing::HasSubstr;
using trace::ErrorKind;

TEST(LoadTokenizer, ByteLevelPairs) {
  const auto loaded = load_json(kByteLevelJson);
  ASSERT_TRUE(loaded) << loaded.error().message;
  const Tokenizer& tokenizer = **loaded;
  EXPECT_EQ(encode(tokenizer, "hello world"), (Ids{11, 12, 3, 6, 2, 7}));
  EXPECT_EQ(encode(tokenizer, "he<|end|>lo"), (Ids{8, 13, 2, 3}));
  EXPECT_EQ(encode(tokenizer, ""), Ids{});
  EXPECT_EQ(tokenizer.decode(Ids{11, 13, 12, 3, 99, -1}, false), "hello<|end|> wo");
  EXPECT_EQ(tokenizer.decode(Ids{11, 13, 12, 3}, true), "hello wo");
  EXPECT_EQ(tokenizer.vocabulary(), 14);
  EXPECT_EQ(tokenizer.id_of("<|end|>"), 13);
  EXPECT_EQ(tokenizer.id_of("hell"), 10);
  EXPECT_FALSE(tokenizer.id_of("hel"));
}

TEST(LoadTokenizer, SentencePiecesWithBytes) {
  const auto loaded = load_json(kSentencePieceJson);
  ASSERT_TRUE(loaded) << loaded.error().message;
  const Tokenizer& tokenizer = **loaded;
  EXPECT_EQ(encode(tokenizer, "ab a", true), (Ids{1, 9, 7}));
  EXPECT_EQ(encode(tokenizer, "é"), (Ids{4, 2, 3}));
  // U+FFFD has bytes that are no tokens: one unknown token for both.
  EXPECT_EQ(encode(tokenizer, "\xFF\xFF"), (Ids{4, 0}));
  EXPECT_EQ(encode(tokenizer, "a<s>a"), (Ids{7, 1, 7}));
  EXPECT_EQ(tokenizer.decode(Ids{1, 9, 7, 2, 3}, true), "ab aé");
  EXPECT_EQ(tokenizer.decode(Ids{7, 2, 7}, true), "a\xEF\xBF\xBD a");
  EXPECT_EQ(tokenizer.begin_of_text(), 1);
}

TEST(LoadTokenizer, AddedTokensTakeTheirSpacesAlong) {
  const std::string model = R"("model": {"type": "WordLevel", "unk_token": "?",
      "vocab": {"?": 0, "a": 1, " ": 2}}, "added_tokens": [)";
  const auto with = [&](const std::string& token) {
    const auto loaded = load_json("{" + model + token + "]}");
    return loaded ? encode(**loaded, "a <m>  a<m>b") : Ids{-9};
  };
  EXPECT_EQ(with(R"({"content": "<m>"})"), (Ids{0, 3, 0, 3, 0}));
  EXPECT_EQ(with(R"({"content": "<m>", "lstrip": true, "rstrip": true})"), (Ids{1, 3, 1, 3, 0}));
  // ">" is no letter, so only what stands right before counts.
  EXPECT_EQ(with(R"({"content": "<m>", "single_word": true})"), (Ids{0, 3, 0}));
}

TEST(LoadTokenizer, IdsOfAddedTokensFollowTheVocabularyWhateverTheFileSays) {
  const auto loaded = load_json(R"({"model": {"type": "WordLevel", "unk_token": "?",
      "vocab": {"?": 0, "a": 5}}, "added_tokens": [{"id": 70, "content": "x"},
      {"id": 71, "content": "a"}, {"id": 72, "content": "y"}]})");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ((*loaded)->id_of("x"), 2);
  EXPECT_EQ((*loaded)->id_of("a"), 5);
  EXPECT_EQ((*loaded)->id_of("y"), 3);
  EXPECT_EQ((*loaded)->vocabulary(), 6);
}

TEST(LoadTokenizer, SpecialTokensComeFromTheFilesBesideIt) {
  const SmallFolder folder;
  folder.write("tokenizer.json", kSentencePieceJson);
  const auto end = [&] { return load_tokenizer(folder.path()).value()->end_of_text(); };
  EXPECT_FALSE(end());
  folder.write("config.json", R"({"eos_token_id": [8, 5], "pad_token_id": 4000})");
  EXPECT_EQ(end(), 8);
  EXPECT_FALSE(load_tokenizer(folder.path()).value()->padding());  // there is no token 4000
  folder.write("special_tokens_map.json",
               R"({"eos_token": {"content": "b"}, "pad_token": "<unk>"})");
  EXPECT_EQ(end(), 6);
  EXPECT_EQ(load_tokenizer(folder.path()).value()->padding(), 0);
  folder.write("tokenizer_config.json", R"({"eos_token": "ab", "bos_token": null})");
  EXPECT_EQ(end(), 8);
  folder.write("tokenizer_config.json", "{");
  EXPECT_THAT(load_tokenizer(folder.path()).error().message, HasSubstr("tokenizer_config.json"));
}

TEST(LoadTokenizer, WholeNumbersOfAnySizeAreRead) {
  // As transformers writes a tokenizer without a limit.
  const SmallFolder folder;
  folder.write("tokenizer.json", kByteLevelJson);
  folder.write("tokenizer_config.json",
               R"({"model_max_length":1000000000000000019884624838656,
                   "name": "12345678901234567890 \"9", "eos_token": "<|end|>",
                   "x": [-98765432109876543210987]})");
  const auto loaded = load_tokenizer(folder.path());
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ((*loaded)->end_of_text(), 13);
}

TEST(LoadTokenizer, VocabularyAndMergesAlone) {
  const SmallFolder folder;
  folder.write("vocab.json", R"({"<s>":0,"</s>":1,"a":2,"b":3,"ab":4,"Ġ":5,"Ġab":6,"<mask>":7})");
  folder.write("merges.txt", "#version: 0.2\na b\r\nĠ ab\n");
  const auto gpt2 = load_tokenizer(folder.path());
  ASSERT_TRUE(gpt2) << gpt2.error().message;
  EXPECT_EQ(encode(**gpt2, "ab abb", true), (Ids{4, 6, 3}));
  EXPECT_EQ((*gpt2)->decode(Ids{4, 6}, false), "ab ab");
  folder.write("config.json", R"({"model_type": "roberta"})");
  const auto roberta = load_tokenizer(folder.path());
  ASSERT_TRUE(roberta) << roberta.error().message;
  EXPECT_EQ(encode(**roberta, "ab <mask>", true), (Ids{0, 4, 5, 7, 1}));
  folder.write("special_tokens_map.json",
               R"({"mask_token": {"content": "<mask>", "lstrip": true}})");
  EXPECT_EQ(encode(**load_tokenizer(folder.path()), "ab <mask>", true), (Ids{0, 4, 7, 1}));
  EXPECT_NE((*gpt2)->fingerprint(), (*roberta)->fingerprint());
  folder.write("config.json", R"({"model_type": "whisper"})");
  EXPECT_THAT(load_tokenizer(folder.path()).error().message, HasSubstr("'whisper'"));
  folder.write("config.json", "{}");
  folder.write("merges.txt", "a b c\n");
  EXPECT_THAT(load_tokenizer(folder.path()).error().message, HasSubstr("line 1 of merges.txt"));
}

TEST(LoadTokenizer, VocabularyOfBertAlone) {
  const SmallFolder folder;
  folder.write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhe\n##llo\n!\nHe\n");
  const auto uncased = load_tokenizer(folder.path());
  ASSERT_TRUE(uncased) << uncased.error().message;
  EXPECT_EQ(encode(**uncased, "HELLO!", true), (Ids{2, 5, 6, 7, 3}));
  EXPECT_EQ((*uncased)->decode(Ids{2, 5, 6, 7, 3}, true), "hello!");
  EXPECT_EQ((*uncased)->end_of_text(), 3);
  EXPECT_EQ((*uncased)->padding(), 0);
  folder.write("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_EQ(encode(**load_tokenizer(folder.path()), "Hello [MASK]"), (Ids{8, 6, 4}));
}

TEST(LoadTokenizer, SaysWhatIsMissingAndWhatIsThere) {
  const SmallFolder folder;
  folder.write("model.safetensors", "");
  const auto missing = load_tokenizer(folder.path());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kMissing);
  EXPECT_THAT(missing.error().message, HasSubstr("model.safetensors"));
  EXPECT_THAT(missing.error().message, HasSubstr("tokenizer.json"));
  folder.write("tokenizer.model", "");
  EXPECT_THAT(load_tokenizer(folder.path()).error().message, HasSubstr("save_pretrained"));
  EXPECT_EQ(load_tokenizer(folder.path() / "none").error().kind, ErrorKind::kMissing);
  EXPECT_EQ(load_tokenizer(folder.path() / "model.safetensors").error().kind, ErrorKind::kUsage);
}

TEST(LoadTokenizer, WhatIsNotSupportedIsNamedWithWhatIs) {
  const auto with = [](const std::string& part) {
    return error_of(R"({"model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0}}, )" +
                    part + "}");
  };
  EXPECT_EQ(with(R"("truncation": 1)"), "");
  EXPECT_THAT(with(R"("normalizer": {"type": "Precompiled"})"),
              testing::AllOf(HasSubstr("'Precompiled'"), HasSubstr("NFKC")));
  EXPECT_THAT(with(R"("normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {}]})"),
              HasSubstr("normalizer.normalizers[1]"));
  EXPECT_THAT(with(R"("pre_tokenizer": {"type": "UnicodeScripts"})"), HasSubstr("Metaspace"));
  EXPECT_THAT(with(R"("pre_tokenizer": {"type": "Split", "pattern": {"Regex": "["}})"),
              HasSubstr("'['"));
  EXPECT_THAT(with(R"("decoder": {"type": "CTC"})"), HasSubstr("ByteFallback"));
  EXPECT_THAT(with(R"("post_processor": {"type": "X"})"), HasSubstr("TemplateProcessing"));
  EXPECT_THAT(with(R"("version": "2.0")"), HasSubstr("2.0"));
  EXPECT_THAT(error_of(R"({"model": {"type": "CharBPE"}})"), HasSubstr("WordPiece"));
  EXPECT_THAT(error_of(R"({"model": {"type": "BPE", "dropout": 0.1, "vocab": {}, "merges": []}})"),
              HasSubstr("dropout"));
}

TEST(LoadTokenizer, TheFingerprintIsOfWhatMakesTheTokens) {
  const auto print = [](std::string_view json) { return load_json(json).value()->fingerprint(); };
  std::string other(kByteLevelJson);
  other.replace(other.find("\"h e\", "), 7, "");
  EXPECT_EQ(print(kByteLevelJson), print(kByteLevelJson));
  EXPECT_EQ(print(kByteLevelJson).size(), 32u);
  EXPECT_NE(print(kByteLevelJson), print(kSentencePieceJson));
}

TEST(LoadTokenizer, ManyThreadsAtOnceGetTheSame) {
  const auto tokenizer = load_json(kByteLevelJson).value();
  std::string text;
  for (int i = 0; i < 200; ++i) text += "hello w" + std::string(static_cast<std::size_t>(i), 'l');
  const Ids expected = encode(*tokenizer, text);
  std::vector<Ids> found(4);
  {
    std::vector<std::jthread> threads;
    for (Ids& ids : found) {
      threads.emplace_back([&] {
        for (int i = 0; i < 20; ++i) ids = encode(*tokenizer, text);
      });
    }
  }
  for (const Ids& ids : found) EXPECT_EQ(ids, expected);
}

}  // namespace
}  // namespace shardlens::trainer
