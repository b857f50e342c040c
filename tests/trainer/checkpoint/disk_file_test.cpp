#include "trainer/checkpoint/disk_file.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <span>
#include <string_view>

#include "trace/base/file_system.h"

namespace shardlens::trainer::checkpoint {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// On NFS the parts that machines write would otherwise lose values where they meet in a page.
TEST(DiskFile, ThatSeveralWriteIsReadThroughNoneOfTheirDescriptors) {
  const auto folder = std::move(*trace::base::TemporaryFolder::create());
  const std::filesystem::path path = folder.path() / "parts";
  auto first = DiskFile::create(path, 4), second = DiskFile::create(path, 4);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(first->write(0, bytes_of("ab")));
  EXPECT_TRUE(second->write(2, bytes_of("cd")));
  std::array<char, 4> text{};
  EXPECT_FALSE(first->read(0, std::as_writable_bytes(std::span(text))));
  const auto whole = DiskFile::open(path);
  ASSERT_TRUE(whole);
  EXPECT_TRUE(whole->read(0, std::as_writable_bytes(std::span(text))));
  EXPECT_EQ(std::string_view(text.data(), text.size()), "abcd");
}

}  // namespace
}  // namespace shardlens::trainer::checkpoint
