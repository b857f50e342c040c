#include "trainer/text/image/growing_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>
#include <vector>

namespace shardlens::trainer {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string text_of(const MappedImage& image) {
  return {reinterpret_cast<const char*>(image.bytes().data()), image.bytes().size()};
}

TEST(GrowingMemory, HoldsWhatWasWrittenInAnyOrderWithZerosBetween) {
  GrowingMemory memory;
  ASSERT_TRUE(memory.write_at(6, bytes_of("world")));
  ASSERT_TRUE(memory.write_at(0, bytes_of("hello")));
  EXPECT_EQ(text_of(memory.to_image()), std::string("hello\0world", 11));
}

TEST(GrowingMemory, KeepsItsContentAsItGrows) {
  GrowingMemory memory;
  std::string all;
  for (int i = 0; i < 40; ++i) {
    const std::string part(100'000 + static_cast<std::size_t>(i), static_cast<char>('a' + i % 26));
    ASSERT_TRUE(memory.write_at(all.size(), bytes_of(part)));
    all += part;
  }
  GrowingMemory moved = std::move(memory);
  EXPECT_EQ(text_of(moved.to_image()), all);
}

TEST(GrowingMemory, IsAnEmptyImageWithoutContent) {
  GrowingMemory memory;
  EXPECT_TRUE(memory.to_image().bytes().empty());
}

TEST(GrowingMemory, DoesNotCountAgainstTheLimitOfAFile) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{1024, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  GrowingMemory memory;
  const bool written = memory.write_at(0, std::vector<std::byte>(100'000)).has_value();
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_TRUE(written);
}

}  // namespace
}  // namespace shardlens::trainer
