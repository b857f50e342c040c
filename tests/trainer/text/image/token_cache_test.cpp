#include "trainer/text/image/token_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <fstream>
#include <optional>
#include <thread>

#include "tests/file_size_limit.h"
#include "tests/files.h"
#include "tests/trainer/text/text_files.h"
#include "trainer/text/load_text.h"

namespace shardlens::trainer::text {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The image of one text.
trace::base::Result<MappedImage> document(TokenFile& file, std::uint64_t key,
                                          const std::vector<TokenId>& tokens) {
  TokenHeader header;
  header.key = key;
  header.tokens = tokens.size();
  header.examples = 1;
  const std::array offsets{std::uint64_t{0}, header.tokens};
  TRY(file.append(std::as_bytes(std::span(tokens))));
  TRY(file.append(std::vector<std::byte>(header.mask_begin() - header.tokens_end())));
  TRY(file.append(std::as_bytes(std::span(offsets))));
  return file.finish(header);
}

class TokenCacheTest : public ::testing::Test {
 protected:
  TokenCacheTest() : cache_folder_(files_.folder() / "cache") {
    options_.data = files_.write("data.jsonl", "{\"prompt\": \"p\", \"completion\": \"abc\"}\n");
    options_.cache_folder = cache_folder_;
  }
  EncodedText load() {
    auto text =
        load_text(options_, [this](const std::string& message) { warnings_.push_back(message); });
    EXPECT_TRUE(text) << text.error().message;
    return *text;
  }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> found;
    if (!fs::exists(cache_folder_)) return found;
    for (const auto& entry : fs::directory_iterator(cache_folder_)) found.push_back(entry.path());
    std::ranges::sort(found);
    return found;
  }
  // A process that is about to make an entry, and does not end by itself.
  pid_t begin_entry(std::uint64_t key) const {
    int started[2];
    EXPECT_EQ(pipe(started), 0);
    const pid_t child = fork();
    if (child == 0) {
      const TokenCache cache(cache_folder_, [](const std::string&) {});
      const auto never = cache.get(key, [&](TokenFile&) -> trace::base::Result<MappedImage> {
        if (write(started[1], "x", 1) != 1) _exit(1);
        pause();
        _exit(1);
      });
      _exit(never ? 0 : 1);
    }
    char byte = 0;
    EXPECT_EQ(read(started[0], &byte, 1), 1);
    close(started[0]);
    close(started[1]);
    return child;
  }
  static std::int64_t first_token(const EncodedText& text) {
    std::int64_t token = 0;
    text.copy(0, 1, &token);
    return token;
  }

  TextFiles files_;
  fs::path cache_folder_;
  TextOptions options_;
  std::vector<std::string> warnings_;
};

TEST_F(TokenCacheTest, GivesWhatWasEncodedBefore) {
  const EncodedText first = load();
  ASSERT_EQ(entries().size(), 1) << "an entry, and neither a lock nor a part";
  const fs::path same_file = files_.folder() / "same file";
  fs::create_hard_link(entries().front(), same_file);
  const EncodedText second = load();
  EXPECT_TRUE(fs::equivalent(entries().front(), same_file)) << "it was made again";
  EXPECT_EQ(second.tokens(), first.tokens());
  EXPECT_EQ(second.content(), first.content());
  EXPECT_FALSE(second.counts(0));
  EXPECT_TRUE(second.counts(1));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(TokenCacheTest, ContentDecidesNotPlaceOrTime) {
  load();
  options_.data =
      files_.write("elsewhere/other name.jsonl", "{\"prompt\": \"p\", \"completion\": \"abc\"}\n");
  load();
  EXPECT_EQ(entries().size(), 1);
}

TEST_F(TokenCacheTest, EachChangeThatMattersMakesAnotherEntry) {
  std::size_t count = 0;
  const auto expect_another = [&](const char* change) {
    load();
    EXPECT_EQ(entries().size(), ++count) << change;
  };
  expect_another("first");
  options_.preparation.completion_only_loss = false;
  expect_another("loss");
  options_.preparation.classes = 2;
  expect_another("classes");
  options_.preparation.label_numbers = {{"a", 0}};
  expect_another("names");
  options_.preparation.skip_bad_lines = true;
  expect_another("bad lines");
  // As long as before, and as old.
  const auto time = fs::last_write_time(options_.data);
  files_.write("data.jsonl", "{\"prompt\": \"p\", \"completion\": \"abd\"}\n");
  fs::last_write_time(options_.data, time);
  expect_another("content");
}

// Folders without files, so that nothing but what they are for differs.
TEST_F(TokenCacheTest, BytesAndATokenizerAreNotTheSameNorChatmlAndATemplate) {
  const fs::path empty = files_.folder() / "empty";
  fs::create_directory(empty);
  const auto key = [](const fs::path& tokenizer, const fs::path& chat) {
    return fingerprint_of({.tokenizer = tokenizer, .chat = chat, .label_numbers = {}}).value();
  };
  EXPECT_NE(key({}, {}), key(empty, {}));
  EXPECT_NE(key({}, {}), key({}, empty));
  EXPECT_NE(key(empty, {}), key({}, empty));
  EXPECT_EQ(key(empty, empty), key(empty, empty));
}

TEST_F(TokenCacheTest, MakesADamagedEntryAgain) {
  load();
  const fs::path entry = entries().front();
  const auto size = fs::file_size(entry);
  const auto damage = [&](const std::function<void()>& action) {
    warnings_.clear();
    action();
    EXPECT_EQ(first_token(load()), 'p');
    ASSERT_EQ(warnings_.size(), 1);
    EXPECT_THAT(warnings_.front(), HasSubstr("is damaged"));
    EXPECT_EQ(fs::file_size(entry), size);
  };
  damage([&] { fs::resize_file(entry, size - 1); });
  damage([&] { fs::resize_file(entry, 10); });
  damage([&] { fs::resize_file(entry, 0); });
  damage([&] { std::ofstream(entry) << std::string(size, 'x'); });
  // Of the header; of the tokens, of which of them count, of where examples begin, of the names.
  const int tokens = kTokensBegin;
  for (const int byte : {0, 8, 12, 16, 24, 28, 32, 40, 56, 64, 80, 100, tokens, tokens + 1,
                         tokens + 16, tokens + 24, static_cast<int>(size) - 1}) {
    damage([&] { trace::test::flip(entry, static_cast<std::uintmax_t>(byte)); });
  }
  // Where examples begin is checked, too: it would be read beyond the end.
  damage([&] {
    std::fstream file(entry, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(kTokensBegin + 16 + 8 + 8));
    file.put('\x7f');
  });
}

TEST_F(TokenCacheTest, SeesDamageInWhatIsSaidOfBadLines) {
  options_.preparation.skip_bad_lines = true;
  files_.write("data.jsonl", "{\"text\": \"p\"}\nbad\n");
  ASSERT_EQ(load().bad_lines().size(), 1);
  const fs::path entry = entries().front();
  trace::test::flip(entry, fs::file_size(entry) - 3);
  EXPECT_EQ(load().bad_lines().size(), 1);
  ASSERT_EQ(warnings_.size(), 1);
  EXPECT_THAT(warnings_.front(), HasSubstr("is damaged"));
}

TEST_F(TokenCacheTest, TrainsFromMemoryWhereItCannotWrite) {
  files_.write("cache", "a file where a folder is expected");
  EXPECT_EQ(first_token(load()), 'p');
  ASSERT_EQ(warnings_.size(), 1);
  EXPECT_THAT(warnings_.front(), HasSubstr("tokens are kept in memory"));
}

TEST_F(TokenCacheTest, TrainsFromMemoryOnAFullDisk) {
  std::optional<trace::test::FileSizeLimit> limit(2048);
  // Memory counts as a file for this limit, so it is lifted when that is tried.
  const TokenCache cache(cache_folder_, [this](const std::string& m) { warnings_.push_back(m); });
  int calls = 0;
  const auto text = cache.get(5, [&](TokenFile& file) -> trace::base::Result<MappedImage> {
    if (++calls == 2) limit.reset();
    return document(file, 5, {7});
  });
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(first_token(*text), 7);
  ASSERT_EQ(warnings_.size(), 1);
  EXPECT_THAT(warnings_.front(), HasSubstr("cannot take the text"));
  EXPECT_THAT(entries(), IsEmpty());
}

TEST_F(TokenCacheTest, AnErrorOfTheTextLeavesNothing) {
  options_.data = files_.write("bad.jsonl", "{\"text\": \"a\"}\nx\n");
  EXPECT_FALSE(load_text(options_, {}));
  EXPECT_THAT(entries(), IsEmpty());
}

TEST_F(TokenCacheTest, SmallTextsAreNotWorthAFile) {
  options_.smallest_cached = 1000;
  options_.data = files_.write("data.txt", "bytes");
  load();
  EXPECT_THAT(entries(), IsEmpty());
}

TEST_F(TokenCacheTest, OfSeveralProcessesOneEncodes) {
  const auto count_file = files_.folder() / "encoded";
  const auto child = [&] {
    const TokenCache cache(cache_folder_, [](const std::string&) {});
    const auto text = cache.get(9, [&](TokenFile& file) -> trace::base::Result<MappedImage> {
      std::ofstream(count_file, std::ios::app) << "x" << std::flush;
      usleep(200'000);
      return document(file, 9, std::vector<TokenId>(5000, 17));
    });
    return text && text->tokens() == 5000 && first_token(*text) == 17;
  };
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(fork());
    if (children.back() == 0) _exit(child() ? 0 : 1);
  }
  for (const pid_t pid : children) {
    int status = -1;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(fs::file_size(count_file), 1);
  EXPECT_EQ(entries().size(), 1);
}

TEST_F(TokenCacheTest, AProcessThatDiesHoldsNobodyUp) {
  const pid_t child = begin_entry(3);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const TokenCache cache(cache_folder_, [](const std::string&) {});
  const auto text = cache.get(3, [&](TokenFile& file) -> trace::base::Result<MappedImage> {
    return document(file, 3, {1, 2});
  });
  ASSERT_TRUE(text);
  EXPECT_EQ(text->tokens(), 2);
}

TEST_F(TokenCacheTest, WaitingForAnotherProcessIsGivenUpWhenItIsStopped) {
  const pid_t child = begin_entry(3);
  std::atomic<int> stop{0};
  const std::jthread stopping([&] {
    usleep(100'000);
    stop = SIGTERM;
  });
  const TokenCache cache(
      cache_folder_, [](const std::string& message) { FAIL() << message; },
      [&] { return stop != 0; });
  const auto text = cache.get(3, [&](TokenFile& file) -> trace::base::Result<MappedImage> {
    return document(file, 3, {1});
  });
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("was stopped"));
  EXPECT_EQ(entries().size(), 2) << "the lock and the part are another's";
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST_F(TokenCacheTest, DeletesTheLongestUnusedBeyondItsLimit) {
  const auto put = [&](std::uint64_t key) {
    const TokenCache cache(
        cache_folder_, [](const std::string&) {}, nullptr, 3 * 4200);
    const auto text = cache.get(key, [&](TokenFile& file) -> trace::base::Result<MappedImage> {
      return document(file, key, {1});
    });
    EXPECT_TRUE(text);
    usleep(20'000);  // times of files are coarse
  };
  const TokenCache cache(cache_folder_, {});
  for (const std::uint64_t key : {1, 2, 3}) put(key);
  put(1);  // used again
  put(4);
  EXPECT_THAT(entries(), ElementsAre(cache.file_of(1), cache.file_of(3), cache.file_of(4)));
}

TEST(DefaultTokenCache, FollowsTheEnvironment) {
  const auto folder = [](const char* cache, const char* home) {
    return default_token_cache(
        [=](const char* name) { return std::string_view(name) == "HOME" ? home : cache; });
  };
  EXPECT_EQ(folder("/c", "/h"), "/c/shardlens/tokens");
  EXPECT_EQ(folder("relative", "/h"), "/h/.cache/shardlens/tokens");
  EXPECT_EQ(folder(nullptr, "/h"), "/h/.cache/shardlens/tokens");
  EXPECT_EQ(folder(nullptr, nullptr), "");
}

}  // namespace
}  // namespace shardlens::trainer::text
