// Steps of every rank, to be found by number and by time. Built once for a run's rows. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "trace/timeline/values/timeline_rows.h"

namespace shardlens::ui::inspect {

class StepIndex {
 public:
  StepIndex() = default;
  explicit StepIndex(const trace::timeline::TimelineRows& rows);

  // By start; empty for a rank that has none.
  std::span<const trace::timeline::StepBorder> of(int rank) const;
  // Whose border the axis shows: the first one that has steps; -1: none has.
  int reference_rank() const { return reference_; }
  // How many steps have begun on any rank before a time; a step counts once.
  std::size_t count_begun(std::int64_t time_ns) const;
  // null: there is no such step, or none that holds the time.
  const trace::timeline::StepBorder* find(int rank, std::int64_t step) const;
  const trace::timeline::StepBorder* at(int rank, std::int64_t time_ns) const;
  // The one that holds the time or is closest to it; null: the rank has no steps.
  const trace::timeline::StepBorder* nearest(int rank, std::int64_t time_ns) const;
  // The longest step of those that have ended by `until_ns`.
  const trace::timeline::StepBorder* longest(int rank, std::int64_t until_ns = INT64_MAX) const;
  // How long steps are, over all ranks. Typical: nineteen of twenty are shorter, so that a slow
  // first step, which is usual, does not squeeze the others.
  struct Lengths {
    std::int64_t typical_ns = 1, longest_ns = 1, mean_ns = 0;
  };
  Lengths lengths() const { return lengths_; }
  // Those that touch [start, end).
  std::span<const trace::timeline::StepBorder> within(int rank, std::int64_t start_ns,
                                                      std::int64_t end_ns) const;

 private:
  void collect_elsewhere();

  std::map<int, std::vector<trace::timeline::StepBorder>> by_rank_;
  std::vector<trace::timeline::StepBorder> elsewhere_;  // that the reference rank has not got
  int reference_ = -1;
  Lengths lengths_;
};

// Those of them, in order of start, that have begun before a time.
std::span<const trace::timeline::StepBorder> begun_before(
    std::span<const trace::timeline::StepBorder> steps, std::int64_t time_ns);

// How much later than the reference rank a rank began the step that is closest to `time_ns`; 0 for
// one that has not got it.
std::int64_t step_shift(const StepIndex& steps, int rank, std::int64_t time_ns);
// Of each rank of `rows`, in the order of rows.ranks.
std::vector<std::int64_t> step_shifts(const trace::timeline::TimelineRows& rows,
                                      const StepIndex& steps, std::int64_t time_ns);

}  // namespace shardlens::ui::inspect
