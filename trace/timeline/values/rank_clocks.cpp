#include "trace/timeline/values/rank_clocks.h"

namespace shardlens::trace::timeline {

analysis::HostClocks rank_clocks(std::span<const analysis::RankHost> ranks,
                                 const analysis::CollectiveCalls& calls) {
  analysis::ClockMeetings meetings;
  calls.for_each_call([&](std::span<const analysis::CollectivePart> parts) {
    const analysis::CollectivePart& first = parts.front();
    for (const analysis::CollectivePart& part : parts.subspan(1)) {
      meetings.add(first.function, {first.rank, first.start_ns, first.end_ns},
                   {part.rank, part.start_ns, part.end_ns});
    }
  });
  return meetings.clocks(ranks);
}

}  // namespace shardlens::trace::timeline
