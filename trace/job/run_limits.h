// How large a run may be. Plain values, any thread.
#pragma once

namespace shardlens::trace::job {

// Larger jobs are not what one trace holds; bounds what nonsense can make us allocate.
inline constexpr int kMostRunRanks = 65536;

}  // namespace shardlens::trace::job
