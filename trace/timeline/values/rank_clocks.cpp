#include "trace/timeline/values/rank_clocks.h"

namespace shardlens::trace {

HostClocks rank_clocks(std::span<const RankHost> ranks, const CollectiveCalls& calls) {
  ClockMeetings meetings;
  calls.for_each_call([&](std::span<const CollectivePart> parts) {
    const CollectivePart& first = parts.front();
    for (const CollectivePart& part : parts.subspan(1)) {
      meetings.add(first.function, {first.rank, first.start_ns, first.end_ns},
                   {part.rank, part.start_ns, part.end_ns});
    }
  });
  return meetings.clocks(ranks);
}

}  // namespace shardlens::trace
