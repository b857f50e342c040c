// With what the program leaves: a contract with scripts.
#pragma once

namespace shardlens::app::cli {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUse = 2;

}  // namespace shardlens::app::cli
