// How fast a recorded run may be played: times its own speed. Any thread.
#pragma once

namespace shardlens::ui::state {

inline constexpr double kSlowestReplay = 0.01;  // one step, bucket by bucket
inline constexpr double kFastestReplay = 100;

}  // namespace shardlens::ui::state
