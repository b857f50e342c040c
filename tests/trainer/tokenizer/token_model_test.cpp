#include "trainer/tokenizer/token_model.h"

#include <gtest/gtest.h>

#include "tests/trainer/tokenizer/small_tokenizer.h"
#include "trainer/tokenizer/byte_alphabet.h"
#include "trainer/tokenizer/byte_pair_model.h"
#include "trainer/tokenizer/word_piece_model.h"

namespace shardlens::trainer {
namespace {

Vocabulary numbered(std::initializer_list<std::string_view> tokens) {
  Vocabulary vocabulary;
  TokenId next = 0;
  for (const std::string_view token : tokens) vocabulary.add(token, next++);
  return vocabulary;
}

Ids tokens_of(const trace::Result<std::unique_ptr<TokenModel>>& model, std::string_view word) {
  ModelScratch scratch;
  Ids tokens;
  model.value()->tokenize(word, scratch, tokens);
  return tokens;
}

TEST(ByteAlphabet, SpellsEveryByteAndBack) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const auto back = byte_spelled(spelled_byte(static_cast<std::uint8_t>(byte)));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, byte);
  }
  EXPECT_EQ(spelled_bytes(" \n a"), "ĠĊĠa");
  EXPECT_FALSE(byte_spelled(U' ') || byte_spelled(0x144) || byte_spelled(0xAD));
}

TEST(BytePairModel, TheLowestRankMergesFirstAndTheLeftmostOfThose) {
  // a=0 b=1 c=2 ab=3 bc=4 abc=5
  const auto vocabulary = [] { return numbered({"a", "b", "c", "ab", "bc", "abc"}); };
  const BytePairModel::Merges bc_first{{"b", "c"}, {"a", "b"}, {"a", "bc"}};
  EXPECT_EQ(tokens_of(BytePairModel::make({}, vocabulary(), bc_first), "abc"), Ids{5});
  const BytePairModel::Merges ab_first{{"a", "b"}, {"b", "c"}, {"a", "bc"}};
  EXPECT_EQ(tokens_of(BytePairModel::make({}, vocabulary(), ab_first), "abc"), (Ids{3, 2}));
  EXPECT_EQ(tokens_of(BytePairModel::make({}, numbered({"a", "aa"}), {{"a", "a"}}), "aaa"),
            (Ids{1, 0}));
}

TEST(BytePairModel, AWordThatIsATokenStaysWholeIfMergesAreIgnored) {
  const auto model = [](bool ignore) {
    return BytePairModel::make({.ignore_merges = ignore}, numbered({"a", "b", "ba"}), {});
  };
  EXPECT_EQ(tokens_of(model(true), "ba"), Ids{2});
  EXPECT_EQ(tokens_of(model(false), "ba"), (Ids{1, 0}));
}

TEST(BytePairModel, UnknownCharactersAreBytesOrOneTokenOrNothing) {
  const auto vocabulary = [] { return numbered({"<unk>", "a", "<0xC3>", "<0xA9>"}); };
  const auto with = [&](BytePairOptions options) {
    return BytePairModel::make(std::move(options), vocabulary(), {});
  };
  EXPECT_EQ(tokens_of(with({.unknown = "<unk>", .byte_fallback = true}), "aéa"), (Ids{1, 2, 3, 1}));
  // ö has a byte that is no token. Bytes overtake what is unknown, as in the package.
  EXPECT_EQ(tokens_of(with({.unknown = "<unk>", .byte_fallback = true}), "aöéa"),
            (Ids{1, 2, 3, 0, 1}));
  EXPECT_EQ(tokens_of(with({.unknown = "<unk>"}), "xyaz"), (Ids{0, 0, 1, 0}));
  EXPECT_EQ(tokens_of(with({.unknown = "<unk>", .fuse_unknown = true}), "xyaz"), (Ids{0, 1, 0}));
  EXPECT_EQ(tokens_of(with({}), "xyaz"), Ids{1});
}

TEST(BytePairModel, PrefixesAndSuffixesMarkThePlaceInTheWord) {
  const auto ends = BytePairModel::make(
      {.end_suffix = "</w>"}, numbered({"a", "a</w>", "b</w>", "ab</w>"}), {{"a", "b</w>"}});
  EXPECT_EQ(tokens_of(ends, "aab"), (Ids{0, 3}));
  EXPECT_EQ(tokens_of(ends, "aa"), (Ids{0, 1}));
  const auto begins = BytePairModel::make({.continuing_prefix = "##"},
                                          numbered({"a", "##b", "ab", "##a"}), {{"a", "##b"}});
  EXPECT_EQ(tokens_of(begins, "aba"), (Ids{2, 3}));
}

TEST(BytePairModel, AMergeOfWhatIsNoTokenIsRefused) {
  for (const BytePairModel::Merges& merges :
       {BytePairModel::Merges{{"a", "x"}}, {{"x", "a"}}, {{"b", "a"}}}) {
    const auto model = BytePairModel::make({}, numbered({"a", "b", "ab"}), merges);
    ASSERT_FALSE(model);
    EXPECT_NE(model.error().message.find("not in the vocabulary"), std::string::npos);
  }
  EXPECT_FALSE(
      BytePairModel::make({.continuing_prefix = "##"}, numbered({"a", "aa"}), {{"a", "a"}}));
}

TEST(WordPieceModel, TakesTheLongestTokenEachTime) {
  const auto model = WordPieceModel::make(
      {.longest_word = 9}, numbered({"[UNK]", "un", "##aff", "##able", "##a", "##ff", "unaf"}));
  EXPECT_EQ(tokens_of(model, "unaffable"), Ids{0});  // unaf, then nothing for "fable"
  EXPECT_EQ(tokens_of(model, "unable"), (Ids{1, 3}));
  EXPECT_EQ(tokens_of(model, "unaaff"), (Ids{1, 4, 2}));
  EXPECT_EQ(tokens_of(model, "unaaffaaaa"), Ids{0});  // ten characters
  EXPECT_FALSE(WordPieceModel::make({.unknown = "<unk>"}, numbered({"a"})));
}

// Worked out by hand: ab+cd scores 3, a+b+cd 2, abc+d 5, abcd 10.
TEST(UnigramModel, TakesTheLikeliestDivision) {
  const auto loaded =
      load_json(R"({"model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0],
      ["a", 0.0], ["b", 0.0], ["c", 0.0], ["d", 0.0], ["cd", 1.0], ["ab", 2.0], ["abc", 5.0],
      ["abcd", 10.0]]}})");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(encode(**loaded, "abcdacdxx"), (Ids{8, 1, 5, 0}));
}

TEST(Vocabulary, TheLastIdOfATokenCounts) {
  Vocabulary vocabulary;
  vocabulary.add("a", 1);
  vocabulary.add("b", 2);
  vocabulary.add("a", 7);
  EXPECT_EQ(vocabulary.find("a"), 7);
  EXPECT_EQ(vocabulary.size(), 2u);
  EXPECT_FALSE(vocabulary.token_of(1));
  EXPECT_EQ(vocabulary.token_of(7), "a");
  EXPECT_EQ(vocabulary.largest_id(), 7);
  for (int i = 0; i < 1000; ++i) vocabulary.add("t" + std::to_string(i), 10 + i);
  EXPECT_EQ(vocabulary.find("t999"), 1009);
  EXPECT_EQ(vocabulary.token_of(1009), "t999");
}

}  // namespace
}  // namespace shardlens::trainer
