// Files that are damaged or made to do harm: a clear error or a tokenizer that works, quickly, in
// memory of the file's order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/stat.h>

#include <array>
#include <chrono>
#include <random>
#include <stdexcept>

#include "tests/trainer/tokenizer/small_tokenizer.h"

namespace shardlens::trainer {
namespace {

using testing::HasSubstr;

constexpr std::string_view kText = "hello wörld <s> ab  <|end|>\n\xFF的 12";

// Loads and, if that works, uses it.
void try_out(std::string_view json) {
  const auto loaded = load_json(json);
  if (!loaded) {
    EXPECT_FALSE(loaded.error().message.empty());
    return;
  }
  try {
    const Ids tokens = encode(**loaded, kText, true);
    for (const TokenId token : tokens) ASSERT_LT(token, (*loaded)->vocabulary());
    (*loaded)->decode(tokens, false);
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("tokenizer"));
  }
}

// Bytes are lost, doubled, turned over, or pieces of JSON put in their place.
std::string mutated(std::string json, std::mt19937& random) {
  const std::vector<std::string_view> pieces{
      "null", "-1",       "1e999", "2147483648", "99999999999999999999",
      "[]",   "{}",       "\"\"",  "true",       "[[[[",
      "}}}",  "\"a\"",    "\xC3",  "\\ud800",    "\\u0000",
      "0.5",  "\"type\"", "(a+)+", "|",          "*",
      ","};
  const auto below = [&](std::size_t most) { return random() % std::max<std::size_t>(1, most); };
  for (std::size_t i = 0; i <= below(4); ++i) {
    const std::size_t at = below(json.size()), length = std::min(below(12), json.size() - at);
    switch (below(5)) {
      case 0:
        json.erase(at, length);
        break;
      case 1:
        json.insert(at, json.substr(at, length));
        break;
      case 2:
        json[at] = static_cast<char>(random());
        break;
      case 3:
        json.replace(at, length, pieces[below(pieces.size())]);
        break;
      default:
        json.replace(at, length, json.substr(below(json.size()), below(30)));
    }
  }
  return json;
}

TEST(HostileTokenizer, APipeInPlaceOfAFileIsNotWaitedFor) {
  for (const char* name : {"tokenizer.json", "tokenizer_config.json", "vocab.txt"}) {
    const SmallFolder folder;
    if (std::string_view(name) == "tokenizer_config.json") {
      folder.write("tokenizer.json", kByteLevelJson);
    }
    ASSERT_EQ(mkfifo((folder.path() / name).c_str(), 0600), 0);
    const auto loaded = load_tokenizer(folder.path());
    ASSERT_FALSE(loaded) << name;
    EXPECT_THAT(loaded.error().message, HasSubstr(name));
  }
}

TEST(HostileTokenizer, MutationsOfGoodFilesAreErrorsOrWork) {
  std::mt19937 random(7);
  const std::array goods{kByteLevelJson, kSentencePieceJson, kWordPieceJson, kUnigramJson};
  for (const std::string_view good : goods) ASSERT_EQ(error_of(good), "");
  for (std::size_t i = 0; i < 2400; ++i) {
    const std::string json = mutated(std::string(goods[i % goods.size()]), random);
    SCOPED_TRACE(json);
    ASSERT_NO_FATAL_FAILURE(try_out(json));
  }
}

TEST(HostileTokenizer, EveryBeginningOfAFileIsAnError) {
  for (const std::string_view good : {kByteLevelJson, kSentencePieceJson}) {
    for (std::size_t length = 0; length < good.size(); length += 7) {
      EXPECT_NE(error_of(good.substr(0, length)), "") << length;
    }
  }
}

std::string with_model(const std::string& model) { return R"({"model": )" + model + "}"; }

TEST(HostileTokenizer, IdsMustBeIds) {
  const auto vocabulary = [](const std::string& id) {
    return error_of(
        with_model(R"({"type": "WordLevel", "unk_token": "?", "vocab": {"?": )" + id + "}}"));
  };
  EXPECT_EQ(vocabulary("2147483647"), "");
  for (const char* id : {"2147483648", "-1", "1.5", "null", "\"1\"", "[]"}) {
    EXPECT_THAT(vocabulary(id), HasSubstr("model.vocab['?']")) << id;
  }
}

TEST(HostileTokenizer, NumbersBeyond64BitsAreNoNumbers) {
  EXPECT_THAT(error_of(with_model(R"({"type": "BPE", "vocab": {"a": 18446744073709551616}})")),
              HasSubstr("number"));
}

TEST(HostileTokenizer, AnIdFarBeyondTheRestTakesNoMemory) {
  const auto loaded = load_json(
      with_model(R"({"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "a": 2147483647}})"));
  ASSERT_TRUE(loaded);
  EXPECT_EQ((*loaded)->vocabulary(), std::int64_t{1} << 31);
  EXPECT_EQ((*loaded)->decode(encode(**loaded, "a"), false), "a");
  EXPECT_LT(mallinfo2().uordblks + mallinfo2().hblkhd, std::size_t{256} << 20);
}

TEST(HostileTokenizer, TwoTokensWithOneIdAreStillTokens) {
  try_out(with_model(R"({"type": "BPE", "vocab": {"a": 0, "b": 0, "ab": 0}, "merges": ["a b"]})"));
  const auto loaded = load_json(with_model(
      R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 0}, "merges": ["a b", "a b"]})"));
  ASSERT_TRUE(loaded);
  EXPECT_EQ(encode(**loaded, "abbb"), Ids{0});  // ab is a again, and merges on
}

TEST(HostileTokenizer, MergesMustBePairsOfTokens) {
  const auto merges = [](const std::string& list) {
    return error_of(with_model(R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": )" +
                               list + "}"));
  };
  EXPECT_EQ(merges(R"(["a b"])"), "");
  EXPECT_EQ(merges(R"([["a", "b"]])"), "");
  for (const char* list :
       {R"(["ab"])", R"(["a  b"])", R"([["a"]])", R"([["a","b","c"]])", R"([1])", R"({"a": "b"})",
        R"(["b a"])", R"(["a x"])", R"([["", "a b"]])", "null"}) {
    EXPECT_THAT(merges(list), testing::AnyOf(HasSubstr("merge"))) << list;
  }
}

TEST(HostileTokenizer, DeepNestingIsAnError) {
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += R"({"type": "Sequence", "normalizers": [)";
  EXPECT_NE(error_of(R"({"normalizer": )" + deep), "");
  std::string closed = R"({"type": "NFC"})";
  for (int i = 0; i < 400; ++i) {
    closed = R"({"type": "Sequence", "normalizers": [)" + closed + "]}";
  }
  try_out(R"({"normalizer": )" + closed +
          R"(, "model": {"type": "BPE", "vocab": {"h": 0}, "merges": []}})");
  EXPECT_NE(error_of(std::string(1'000'000, '[')), "");
}

TEST(HostileTokenizer, ANormalizerThatSwellsTextIsStopped) {
  std::string steps;
  for (int i = 0; i < 60; ++i) {
    steps += R"({"type": "Replace", "pattern": {"String": "a"}, "content": "aaaa"},)";
  }
  steps.pop_back();
  const auto loaded =
      load_json(R"({"normalizer": {"type": "Sequence", "normalizers": [)" + steps +
                R"(]}, "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}})");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_THROW(encode(**loaded, "a"), std::runtime_error);
  EXPECT_EQ(encode(**loaded, "b"), Ids{});  // and goes on to work
}

TEST(HostileTokenizer, AnExpressionThatNeverEndsIsStopped) {
  const auto loaded = load_json(R"({"pre_tokenizer": {"type": "Split", "pattern":
      {"Regex": "(h|h|hh)*x"}, "behavior": "Isolated", "invert": false},
      "model": {"type": "BPE", "vocab": {"h": 0}, "merges": []}})");
  ASSERT_TRUE(loaded) << loaded.error().message;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW(encode(**loaded, std::string(10'000, 'h') + "!x"), std::runtime_error);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  EXPECT_EQ(encode(**loaded, "hhx"), (Ids{0, 0}));
}

TEST(HostileTokenizer, TokensThatLookTheSameOnceNormalizedAreAnError) {
  EXPECT_THAT(error_of(R"({"normalizer": {"type": "Lowercase"}, "added_tokens": [
      {"content": "AB"}, {"content": "ab"}], "model": {"type": "BPE", "vocab": {}, "merges": []}})"),
              HasSubstr("'ab'"));
}

TEST(HostileTokenizer, OtherFilesAreJudgedAsWell) {
  const SmallFolder folder;
  folder.write("vocab.json", "{\"a\": 0, \"\xFF\": 1}");
  folder.write("merges.txt", "a a\n");
  EXPECT_THAT(load_tokenizer(folder.path()).error().message, HasSubstr("vocab.json"));
  folder.write("vocab.json", R"({"a": 0})");
  EXPECT_THAT(load_tokenizer(folder.path()).error().message, HasSubstr("'aa'"));
  folder.write("merges.txt", std::string("\xFF \0\n", 4));
  EXPECT_FALSE(load_tokenizer(folder.path()));
  const SmallFolder bert;
  bert.write("vocab.txt", std::string("\0\xFF\n\n\n[UNK]\r\n", 13));
  EXPECT_THAT(load_tokenizer(bert.path()).error().message, HasSubstr("[CLS]"));
}

}  // namespace
}  // namespace shardlens::trainer
