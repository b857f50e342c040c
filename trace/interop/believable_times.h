// Which of a trace's times can be believed. CUPTI gives a zero now and then, and a damaged file
// anything: one such event would make a run of decades. One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

namespace shardlens::trace::interop {

class BelievableTimes {
 public:
  // No trace is longer, and what lies further from all others is no part of it.
  static constexpr std::int64_t kDay = 86'400'000'000'000;

  void add(std::int64_t start_ns) { ++events_[start_ns / kDay]; }

  // Chooses, of all that were added, the days in a row that hold the most events; of equal ones
  // the latest, since a time that is missing is 0.
  void choose();
  // After choose(): why an event cannot be believed; "": it can.
  std::string_view objection(std::int64_t start_ns, std::int64_t end_ns) const;

 private:
  std::map<std::int64_t, std::int64_t> events_;  // by day
  std::int64_t first_day_ = 0, last_day_ = 0;
};

}  // namespace shardlens::trace::interop
