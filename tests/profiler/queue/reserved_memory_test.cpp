#include "profiler/queue/reserved_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace shardlens::profiler::queue {
namespace {

constexpr std::size_t kBytes = 8 << 20;

std::size_t resident_pages(const ReservedMemory& memory, std::size_t bytes) {
  const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> states(bytes / page_bytes);
  EXPECT_EQ(mincore(memory.data(), bytes, states.data()), 0);
  return static_cast<std::size_t>(
      std::ranges::count_if(states, [](unsigned char state) { return (state & 1) != 0; }));
}

TEST(ReservedMemory, HoldsNothingUntilItIsTouched) {
  const ReservedMemory memory(kBytes);
  EXPECT_EQ(resident_pages(memory, kBytes), 0u);
  memory.touch(kBytes / 2);
  const std::size_t all = kBytes / static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  EXPECT_EQ(resident_pages(memory, kBytes / 2), all / 2);
  memory.touch(2 * kBytes);
  EXPECT_EQ(resident_pages(memory, kBytes), all);
}

TEST(ReservedMemory, IsZeroed) {
  const ReservedMemory memory(kBytes);
  const auto* bytes = static_cast<const std::uint8_t*>(memory.data());
  EXPECT_TRUE(std::all_of(bytes, bytes + kBytes, [](std::uint8_t byte) { return byte == 0; }));
}

TEST(ReservedMemory, FailsAsNewDoes) {
  EXPECT_THROW(ReservedMemory(std::size_t{1} << 62), std::bad_alloc);
}

}  // namespace
}  // namespace shardlens::profiler::queue
