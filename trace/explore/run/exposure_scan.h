// Which collectives of a rank compute hid, each as a whole: found in the background, a stretch of
// time after the other. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "trace/explore/run/run_snapshot.h"

namespace shardlens::trace::explore {

// Adds the next ones to the classes of the rank's first collectives, kOverlapped or kExposed: up to
// `end`, as many as are decoded at once.
void classify_some(store::EventStore& store, const RankSnapshot& rank, std::size_t end,
                   std::vector<base::TimeClass>& classes);

class ExposureScan {
 public:
  // Looks at some more of the rank's collectives, of those that end before `until_ns`; true while
  // there are more of them. Those that came in since are looked at, too.
  bool scan_some(store::EventStore& store, const RankSnapshot& rank,
                 std::int64_t until_ns = INT64_MAX);

  // Events of this time on came in since: what ended later is looked at again.
  void add_news(const RankRows& rows, std::int64_t from_ns);

  // What is kept of a scan that has ended, and begun with instead of another one.
  const std::vector<base::TimeClass>& classes() const { return classes_; }
  void restore(std::vector<base::TimeClass> classes) { restored_ = std::move(classes); }

  // kOverlapped or kExposed for each collective of `rows`; null until all of them are known.
  std::shared_ptr<const std::vector<base::TimeClass>> classes_of(const RankRows& rows) const;

 private:
  std::vector<std::int64_t> ids_;  // of the collectives that were looked at, in order of start
  std::vector<base::TimeClass> classes_;
  std::vector<base::TimeClass> restored_;  // until the rows are known that they are of
  bool operators_counted_ = true;          // as computing, as far as they do
  mutable std::shared_ptr<const std::vector<base::TimeClass>> shared_;
};

}  // namespace shardlens::trace::explore
