// All that is known of one event, with links to what belongs to it. Any thread; takes milliseconds,
// to tenths of a second where every event of a rank must be compared.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/base/result.h"
#include "trace/explore/run/run_snapshot.h"
#include "trace/timeline/values/event_details.h"

namespace shardlens::trace::explore {

// Errors: kMissing for what is not in the trace; those of reading its chunk.
base::Result<timeline::EventDetails> event_details(const RunSnapshot& run,
                                                   const timeline::EventRef& event);

// Puts the details of one event together: labels, figures with their units, definitions. One
// thread.
class FactSheet {
 public:
  FactSheet(const RunSnapshot& run, const RankSnapshot& rank) : run_(run), rank_(rank) {}

  void add(std::string_view label, std::string value, std::string note = {});
  void add_duration(std::string_view label, std::int64_t ns, std::string note = {});
  // Start in its step and in the run, clock time, duration.
  void add_times(std::int64_t start_ns, std::int64_t duration_ns);
  // "rank 0 · step 301"
  std::string subtitle(std::int64_t step) const;
  void add_link(std::string_view label, const timeline::EventPlace& place);

  timeline::EventDetails details;

 private:
  const RunSnapshot& run_;
  const RankSnapshot& rank_;
};

namespace detail {
base::Result<timeline::EventDetails> bulk_details(const RunSnapshot& run, const RankSnapshot& rank,
                                                  const timeline::EventRef& event);
base::Result<timeline::EventDetails> span_details(const RunSnapshot& run, const RankSnapshot& rank,
                                                  const timeline::EventRef& event);
base::Result<timeline::EventDetails> collective_details(const RunSnapshot& run,
                                                        const RankSnapshot& rank,
                                                        const timeline::EventRef& event);
}  // namespace detail

}  // namespace shardlens::trace::explore
