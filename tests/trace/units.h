// For tests that give times and sizes.
#pragma once

#include <cstdint>

namespace shardlens::trace {

inline constexpr std::int64_t kSecond = 1'000'000'000;  // ns
inline constexpr std::int64_t kMs = 1'000'000;
inline constexpr std::int64_t kMiB = 1 << 20;

}  // namespace shardlens::trace
