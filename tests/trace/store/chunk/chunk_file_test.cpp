#include "trace/store/chunk/chunk_file.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <system_error>
#include <vector>

#include "tests/files.h"
#include "tests/trace/store/testing/store_fixture.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::trace::store {
namespace {

namespace fs = std::filesystem;

// Descriptors that this process has open in `folder`.
std::size_t open_files_in(const fs::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code error;  // the iterator's own is gone by then
    const fs::path target = fs::read_symlink(entry.path(), error);
    if (!error && target.parent_path() == fs::canonical(folder)) ++count;
  }
  return count;
}

// Two ranks' files, and a chunk of each.
class IdleConnectionsTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const int rank : {0, 1}) {
      auto file = ChunkFile::open(rank_file(run_, rank), idle_);
      ASSERT_TRUE(file) << file.error().message;
      const auto news = (*file)->tail();
      ASSERT_TRUE(news && !news->chunks.empty());
      files_.push_back(std::move(*file));
      chunks_.push_back(news->chunks.front().row_id);
    }
  }
  // One chunk within the other, of both files in turns, as so many threads read them.
  base::Result<void> read_within(std::size_t count) {
    if (count == 0) return {};
    const std::size_t which = count % files_.size();
    return files_[which]->read(chunks_[which], [&](auto) { return read_within(count - 1); });
  }

  const test::Folder folder_;
  const fs::path run_ = test::record_run(folder_.path(), "chunks", 2, 3);
  const std::shared_ptr<IdleConnections> idle_ = std::make_shared<IdleConnections>(3);
  std::vector<std::unique_ptr<ChunkFile>> files_;
  std::vector<std::int64_t> chunks_;
};

TEST_F(IdleConnectionsTest, AreNoMoreThanAllowedHoweverManyWereNeeded) {
  const std::size_t before = open_files_in(run_);
  ASSERT_GE(before, 2u);
  const auto read = read_within(10);
  EXPECT_TRUE(read) << read.error().message;
  EXPECT_EQ(idle_->count(), 3u);
  EXPECT_EQ(open_files_in(run_), before + 3);
  idle_->allow(5);
  EXPECT_TRUE(read_within(10));
  EXPECT_EQ(idle_->count(), 5u);
}

TEST_F(IdleConnectionsTest, AreUsedAgain) {
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(read_within(2));
  EXPECT_EQ(idle_->count(), 2u) << "one of each file";
}

TEST_F(IdleConnectionsTest, GoWithTheirFile) {
  EXPECT_TRUE(read_within(2));
  files_.pop_back();
  EXPECT_EQ(idle_->count(), 1u);
}

}  // namespace
}  // namespace shardlens::trace::store
