#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "trace/base/file_system.h"

namespace shardlens::trace::base {
namespace {

namespace fs = std::filesystem;
using testing::Optional;

class WholeFile : public testing::Test {
 protected:
  const TemporaryFolder folder_ = *TemporaryFolder::create();
  const fs::path file_ = folder_.path() / "file";
};

TEST_F(WholeFile, IsReadAsItWasWritten) {
  std::string text(200'000, 'x');
  text += std::string("\0\r\n\xff", 4);
  for (const auto& each : {text, std::string()}) {
    ASSERT_FALSE(replace_text(file_, each));
    EXPECT_TRUE(whole_text(file_) == each);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 1);
}

TEST_F(WholeFile, HasAFirstLineIfItCanBeRead) {
  EXPECT_EQ(first_line(file_), "");
  ASSERT_FALSE(replace_text(file_, "one\ntwo\n"));
  EXPECT_EQ(first_line(file_), "one");
}

TEST_F(WholeFile, IsTheSameUnderAnotherName) {
  ASSERT_FALSE(replace_text(file_, "x"));
  const fs::path link = folder_.path() / "link", other = folder_.path() / "other";
  fs::create_symlink(file_, link);
  EXPECT_TRUE(is_same_file(file_, link));
  EXPECT_FALSE(is_same_file(file_, other)) << "it is not there";
  EXPECT_TRUE(is_same_file(other, other));
}

TEST_F(WholeFile, IsNoneWhereThereIsNothingToRead) {
  EXPECT_FALSE(whole_text(file_));
  EXPECT_FALSE(whole_text(folder_.path()));
}

TEST_F(WholeFile, StaysAsItIsWhereItCannotBeReplaced) {
  ASSERT_FALSE(replace_text(file_, "before"));
  const fs::path unfinished = beside(file_, ".new-" + std::to_string(getpid()));
  fs::create_directories(unfinished);
  EXPECT_EQ(replace_text(file_, "after"), std::errc::is_a_directory);
  EXPECT_THAT(whole_text(file_), Optional(std::string("before")));
  fs::remove(unfinished);
  EXPECT_EQ(replace_text(folder_.path(), "text"), std::errc::is_a_directory);
  EXPECT_FALSE(fs::exists(beside(folder_.path(), ".new-" + std::to_string(getpid()))));
  EXPECT_EQ(replace_text(folder_.path() / "none" / "file", "text"),
            std::errc::no_such_file_or_directory);
}

}  // namespace
}  // namespace shardlens::trace::base
