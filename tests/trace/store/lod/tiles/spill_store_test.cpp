#include "trace/store/lod/tiles/spill_store.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace shardlens::trace {
namespace {

std::vector<std::byte> bytes(std::size_t count, int value) {
  return std::vector<std::byte>(count, static_cast<std::byte>(value));
}

void expect_bytes(SpillStore& store, const SpillStore::Block& block,
                  const std::vector<std::byte>& expected) {
  const auto found = store.bytes_of(block);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(std::ranges::equal(*found, expected));
}

TEST(SpillStore, KeepsAllBlocksAndOnlySoMuchOfThemInMemory) {
  SpillStore store(1000);
  std::vector<SpillStore::Block> blocks;
  for (int i = 0; i < 50; ++i) {
    blocks.push_back(store.put(bytes(static_cast<std::size_t>(i) * 7, i)));
    EXPECT_LE(store.in_memory(), 1000u);
  }
  for (int i = 49; i >= 0; --i) {
    expect_bytes(store, blocks[static_cast<std::size_t>(i)],
                 bytes(static_cast<std::size_t>(i) * 7, i));
  }
}

TEST(SpillStore, UsesTheMemoryOfForgottenBlocksAgain) {
  SpillStore store(100);
  const auto first = store.put(bytes(80, 1));
  const auto second = store.put(bytes(80, 2));
  EXPECT_TRUE(second.bytes.empty());
  store.forget(first);
  EXPECT_EQ(store.in_memory(), 0u);
  const auto third = store.put(bytes(90, 3));
  EXPECT_EQ(third.bytes.size(), 90u);
  expect_bytes(store, second, bytes(80, 2));
}

}  // namespace
}  // namespace shardlens::trace
