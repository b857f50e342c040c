#include "trainer/text/load_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <utility>

#include "tests/trainer/text/text_files.h"
#include "trainer/text/prepared_text.h"
#include "trainer/text/text_source.h"

namespace shardlens::trainer::text {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr TokenId kEnd = kEndOfBytes;

class LoadText : public ::testing::Test {
 protected:
  trace::base::Result<EncodedText> load(const std::string& data) {
    TextOptions options;
    options.data = data;
    options.preparation.skip_bad_lines = skip_bad_lines_;
    return load_text(options, [this](const std::string& message) { warnings_.push_back(message); });
  }
  void TearDown() override { EXPECT_THAT(warnings_, IsEmpty()); }
  std::vector<std::int64_t> tokens_of(const std::string& data) {
    const auto text = load(data);
    if (!text) {
      ADD_FAILURE() << text.error().message;
      return {};
    }
    std::vector<std::int64_t> tokens(static_cast<std::size_t>(text->tokens()));
    text->copy(0, text->tokens(), tokens.data());
    return tokens;
  }
  std::string error_of(const std::string& data) {
    const auto text = load(data);
    return text ? "" : text.error().message;
  }

  TextFiles files_;
  bool skip_bad_lines_ = false;
  std::vector<std::string> warnings_;
};

TEST_F(LoadText, ReadsAFolderRecursivelyInOrderOfPaths) {
  files_.write("b.txt", "B");
  files_.write("a/deep/er.md", "A");
  files_.write("c.bin", "left out for its name");
  files_.write(".hidden/d.txt", "left out for its folder");
  files_.write("e.txt", std::string("left out for the zero byte\0", 27));
  files_.write("f.txt", "");
  EXPECT_THAT(tokens_of(files_.folder().string()), ElementsAre('A', kEnd, 'B', kEnd));
  EXPECT_EQ(load(files_.folder().string())->encoding_counts().binary_files, 1);
}

TEST_F(LoadText, KeepsEveryByteOfAFileWhateverItsName) {
  const auto file = files_.write("emoji 🙂 'quoted'", "\xff\x80é");
  EXPECT_THAT(tokens_of(file), ElementsAre(0xff, 0x80, 0xc3, 0xa9, kEnd));
}

TEST_F(LoadText, SaysWhatIsWrongWithAText) {
  EXPECT_THAT(error_of((files_.folder() / "nowhere").string()),
              HasSubstr("is not there. Name a text file"));
  EXPECT_THAT(error_of(files_.folder().string()), HasSubstr("holds no text files"));
  EXPECT_THAT(error_of(files_.write("empty.txt", "")), HasSubstr("is empty"));
  EXPECT_THAT(error_of(files_.write("empty.jsonl", "\n \r\n")), HasSubstr("is empty"));
  EXPECT_THAT(error_of(files_.write("binary", std::string("\0\0", 2))),
              HasSubstr("is binary. Name a text file"));
}

TEST_F(LoadText, IsLongEnoughWithTheProjectsOwnText) {
  EXPECT_GT(load("builtin")->tokens(), 500 * 128);
}

TEST_F(LoadText, HasACopyOfTheProjectsOwnText) {
  const auto source = find_text(std::string(kBuiltinText));
  ASSERT_TRUE(source);
  std::set<std::string> extensions;
  for (const auto& file : source->files) {
    EXPECT_TRUE(file.string().starts_with(SHARDLENS_BINARY_DIR)) << file;
    extensions.insert(file.extension().string());
  }
  EXPECT_THAT(extensions, ElementsAre(".cpp", ".h", ".md"));
}

TEST_F(LoadText, CutsLongTextsWithoutLosingAByte) {
  std::string text;
  for (int i = 0; text.size() < (3u << 20) + 17; ++i) text += std::to_string(i) + " ";
  const auto tokens = tokens_of(files_.write("long.txt", text));
  ASSERT_EQ(tokens.size(), text.size() + 1);
  EXPECT_TRUE(std::equal(text.begin(), text.end(), tokens.begin()));
}

// What counts against RLIMIT_DATA.
rlim_t own_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmData:")) return std::stoul(line.substr(7)) << 10;
  }
  ADD_FAILURE() << "no VmData";
  return 0;
}

// In a process of its own, for its limit.
TEST_F(LoadText, TakesLittleMoreMemoryThanAPieceForALongText) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's own memory counts";
#endif
  constexpr std::size_t kBytes = std::size_t{32} << 20;
  constexpr rlim_t kAllowedBytes = rlim_t{12} << 20;
  const auto file = files_.write("long.txt", std::string(kBytes, 'x'));
  malloc_trim(0);
  const pid_t child = fork();
  if (child == 0) {
    // Memory of one's own: the mapped image of the tokens, which the system takes back, is not.
    const rlim_t bytes = own_bytes() + kAllowedBytes;
    const struct rlimit limit = {bytes, bytes};
    setrlimit(RLIMIT_DATA, &limit);
    TextOptions options;
    options.data = file;
    options.cache_folder = files_.folder() / "cache";
    const auto text = load_text(options, {});
    _exit(text && text->tokens() > static_cast<std::int64_t>(kBytes) * 9 / 10 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(LoadText, JsonLinesAreTextInAMixedFolderOnlyAndThatIsSaid) {
  files_.write("lines/a.jsonl", "{\"text\": \"A\"}\r\n\n{\"text\": \"B\"}");
  files_.write("lines/b.jsonl", "\xef\xbb\xbf{\"text\": \"C\"}\n");
  EXPECT_THAT(tokens_of((files_.folder() / "lines").string()),
              ElementsAre('A', kEnd, 'B', kEnd, 'C', kEnd));
  files_.write("mixed/a.jsonl", "{}");
  files_.write("mixed/b.txt", "B");
  EXPECT_THAT(tokens_of((files_.folder() / "mixed").string()),
              ElementsAre('{', '}', kEnd, 'B', kEnd));
  EXPECT_THAT(std::exchange(warnings_, {}), ElementsAre(HasSubstr("are read as plain text")));
  EXPECT_THAT(tokens_of(files_.write("one.json", "{\"text\": \"A\"}")), ElementsAre('A', kEnd));
}

TEST_F(LoadText, JsonLinesAreKnownByTheirNameAndMissedUnderAnother) {
  const std::string lines = "{\"text\": \"A\"}\n{\"text\": \"B\"}\n";
  for (const char* name : {"a.ndjson", "a.JSONL", "a.Json", "folder/a.NdJson"}) {
    EXPECT_THAT(tokens_of(files_.write(name, lines)), ElementsAre('A', kEnd, 'B', kEnd)) << name;
  }
  EXPECT_THAT(tokens_of((files_.folder() / "folder").string()), ElementsAre('A', kEnd, 'B', kEnd));
  EXPECT_THAT(warnings_, IsEmpty());
  for (const char* name : {"a.jsonl.txt", "without extension"}) {
    EXPECT_EQ(tokens_of(files_.write(name, lines)).size(), lines.size() + 1) << name;
    EXPECT_THAT(std::exchange(warnings_, {}), ElementsAre(HasSubstr("begins as JSON Lines do")));
  }
  for (const char* other : {"{\"name\": \"A\"}\n", "[1]\n", "{\n", "{\"text\": \"A\"} said he\n"}) {
    tokens_of(files_.write("other.txt", other));
    EXPECT_THAT(warnings_, IsEmpty()) << other;
  }
}

TEST_F(LoadText, WhatDescribesJsonLinesInTheirFolderIsNotTheirText) {
  files_.write("data/README.md", "# Lines");
  files_.write("data/deep/train.jsonl", "{\"text\": \"A\"}\n");
  const std::string folder = (files_.folder() / "data").string();
  EXPECT_THAT(tokens_of(folder), ElementsAre('A', kEnd));
  EXPECT_THAT(warnings_, IsEmpty());
  files_.write("data/infos.json", "{}");
  EXPECT_THAT(tokens_of(folder), ElementsAre('A', kEnd));
  EXPECT_THAT(std::exchange(warnings_, {}), ElementsAre(HasSubstr(".json files are taken for")));
  files_.write("notes/README.md", "N");
  EXPECT_THAT(tokens_of((files_.folder() / "notes").string()), ElementsAre('N', kEnd));
}

TEST_F(LoadText, IsGivenUpWhenItIsStopped) {
  TextOptions options;
  options.data = files_.write("data.txt", "text");
  options.program.is_stopped = [] { return true; };
  for (const fs::path& cache : {fs::path(), files_.folder() / "cache"}) {
    options.cache_folder = cache;
    const auto text = load_text(options, {});
    ASSERT_FALSE(text);
    EXPECT_THAT(text.error().message, HasSubstr("data.txt\" was stopped"));
  }
}

TEST_F(LoadText, NamesTheFileAndTheLineOfWhatIsWrong) {
  const auto file = files_.write("data.jsonl",
                                 "{\"prompt\": \"p\", \"completion\": \"c\"}\n\n"
                                 "{\"prompt\": \"p\"}\n");
  EXPECT_EQ(error_of(file), file +
                                ":3: \"completion\" is missing. Mend the line, or set "
                                "on_bad_lines to skip to leave out lines that cannot be used.");
  const auto mixed = files_.write("mixed.jsonl", "{\"text\": \"a\"}\n{\"messages\": []}\n");
  EXPECT_THAT(error_of(mixed), StartsWith(mixed + ":2: has messages, but"));
  files_.write("folder/a.jsonl", "{\"text\": \"a\"}\n");
  const auto second = files_.write("folder/b.jsonl", "{\"text\": \"a\", \"label\": 1}\n");
  EXPECT_THAT(error_of((files_.folder() / "folder").string()), StartsWith(second + ":1: "));
}

TEST_F(LoadText, LeavesBadLinesOutIfAskedTo) {
  skip_bad_lines_ = true;
  const auto file =
      files_.write("data.jsonl", "not JSON\n{\"text\": \"A\"}\n[]\n{\"text\": \"B\"}\n");
  EXPECT_THAT(tokens_of(file), ElementsAre('A', kEnd, 'B', kEnd));
  const auto text = load(file);
  EXPECT_EQ(text->encoding_counts().bad_lines, 2);
  ASSERT_EQ(text->bad_lines().size(), 2);
  EXPECT_EQ(text->bad_lines()[1], file + ":3: is JSON, but not an object");
  // As another machine may have it, or the one before: ranks compare what they train on.
  const auto elsewhere = files_.write("elsewhere/data.jsonl", files_.read("data.jsonl"));
  const auto other = load(elsewhere);
  ASSERT_TRUE(other);
  EXPECT_THAT(other->bad_lines()[1], StartsWith(elsewhere));
  EXPECT_EQ(other->content(), text->content());
}

TEST_F(LoadText, NeedsOneGoodLineAndAFirstOneThatSaysWhatTheyAre) {
  skip_bad_lines_ = true;
  EXPECT_THAT(error_of(files_.write("bad.jsonl", "x\ny\n")),
              HasSubstr("has no line that can be used; the first: "));
  const auto unknown = files_.write("unknown.jsonl", "{\"content\": \"a\"}\n{\"text\": \"a\"}\n");
  EXPECT_THAT(error_of(unknown), StartsWith(unknown + ":1: has none of the keys \"text\""));
}

TEST_F(LoadText, KnowsTheNamesThatAModelsFolderGivesItsClasses) {
  files_.write("named/config.json", R"({"label2id": {"no": 0, "yes": 1}, "other": [1]})");
  const auto named = read_label_numbers(files_.folder() / "named");
  ASSERT_TRUE(named);
  EXPECT_EQ(named->at("yes"), 1);
  files_.write("plain/config.json", R"({"label2id": {"LABEL_0": 0, "LABEL_1": 1}})");
  EXPECT_TRUE(read_label_numbers(files_.folder() / "plain")->empty());
  files_.write("none/config.json", "{}");
  EXPECT_TRUE(read_label_numbers(files_.folder() / "none")->empty());
  files_.write("bad/config.json", R"({"label2id": {"no": -1}})");
  EXPECT_THAT(read_label_numbers(files_.folder() / "bad").error().message,
              HasSubstr("numbers are no classes"));
}

}  // namespace
}  // namespace shardlens::trainer::text
