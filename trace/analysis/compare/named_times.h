// How long kernels or operators, collectives and buckets or units took in each of some steps of a
// run, by name. One owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trace/analysis/collectives/process_groups.h"
#include "trace/analysis/compare/run_difference.h"
#include "trace/analysis/figures/figures.h"
#include "trace/base/intervals.h"
#include "trace/model/batch.h"
#include "trace/model/strings.h"

namespace shardlens::trace::analysis {

// Plain values. Times of a name are summed, also where several run at once.
struct NamedTimes {
  using Key = std::pair<DetailKind, std::string>;
  std::map<Key, std::vector<double>> ns;  // one for each step: the mean over ranks
  std::set<Key> not_timed = {};           // no sum is known: some call's times are not
  std::size_t steps = 0;                  // that were read
  bool has_all_sizes = true;              // of collectives; else they cannot be told apart by them
};

class NamedTimesReader {
 public:
  static constexpr std::size_t kMostSteps = 64;

  // The first measured steps with full detail are read; `run` outlives this.
  explicit NamedTimesReader(const RunFigures& run);

  // What is to be read; empty: there is no such step.
  base::Interval window() const { return window_; }
  // Strings and process groups, before the first events of their rank.
  void learn(const model::Batch& batch);
  // What begins in one of the steps counts there with its whole length; the rest is passed over.
  void add(const model::Batch& batch);
  NamedTimes times() const;

 private:
  struct Place {  // of a step on a rank
    base::Interval window;
    std::size_t step = 0;  // among those that are read
  };
  // −1: none.
  std::ptrdiff_t step_at(int rank, std::int64_t time_ns) const;
  // A rank alone sends nothing, which takes no time.
  bool is_timed(const model::Collective& collective);
  std::vector<double>& series_of(DetailKind kind, std::string name);
  void add_events(const model::EventRun& run);
  void add_collective(DetailKind kind, std::string name, std::size_t step,
                      const model::Collective& collective);
  void add_collective(const model::Collective& collective);

  std::vector<std::vector<Place>> places_;  // by rank, in order
  std::vector<double> rank_counts_;         // by step
  base::Interval window_;
  bool has_all_sizes_ = true;
  model::StringTable strings_;
  ProcessGroups groups_;
  int world_size_;
  std::map<NamedTimes::Key, std::vector<double>> sums_;  // over ranks
  std::set<NamedTimes::Key> not_timed_;
  std::map<std::pair<int, model::StringId>, std::vector<double>*> by_id_;
};

}  // namespace shardlens::trace::analysis
