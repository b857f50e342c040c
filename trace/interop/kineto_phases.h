// Steps and phases of an imported rank: those that its program and the profiler annotated, and
// those that the marks of data parallelism tell. One owner.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/base/phase.h"
#include "trace/interop/marks/autograd_passes.h"
#include "trace/interop/marks/unit_marks.h"
#include "trace/interop/rank_lanes.h"
#include "trace/model/batch.h"

namespace shardlens::trace::interop {

// A range that was marked with record_function.
struct Annotation {
  std::string name, thread;
  std::int64_t start_ns = 0, end_ns = 0;
  bool has_detail = true;  // of a step: more than its times was recorded
};

class KinetoPhases {
 public:
  // Without a ProfilerStep steps end where the optimizer's end, if there is one, else the whole of
  // `recorded` is one step.
  KinetoPhases(std::vector<Annotation> annotations, const base::Interval& recorded,
               BackwardTimes backward);

  // Where the program marks no forward or backward itself. `ends_ns`: until when the host may
  // be in each backward, at the latest until what its thread does next is annotated.
  void add_passes(std::span<const TrainingPass> passes, std::span<const std::int64_t> ends_ns);
  // Names units in marks that do not: "FullyShardedDataParallel._pre_forward (module 2)".
  void name_units(const UnitMarks& marks);
  // Once all are known: numbers them by their steps.
  void finish(RowIds& ids);

  const std::vector<model::Step>& steps() const { return steps_; }  // by start; until move_to()
  // A number that several of them have, as where traces were merged.
  std::optional<std::int64_t> repeated_step() const;
  // "": where the program marks them; else what to say behind the trace's name.
  std::string_view where_steps_are_from() const { return where_from_; }

  // −1: in none. After finish().
  std::int64_t step_at(std::int64_t time_ns) const;
  base::Phase phase_at(std::int64_t time_ns) const;

  void move_to(model::Batch& rows);

 private:
  struct Marked {
    Annotation annotation;
    base::Phase phase = base::Phase::kOther;
  };
  void make_steps(const base::Interval& recorded);
  void add_marked_steps();
  void add_steps_of_optimizer(const base::Interval& recorded);
  bool have_same_gradients() const;
  void take_passes_from_optimizers();
  // When a thread begins to do what is annotated.
  std::set<std::pair<std::string, std::int64_t>> begins_by_thread() const;

  BackwardTimes backward_;
  std::vector<Marked> marked_;
  std::vector<model::Step> steps_;
  std::string_view where_from_;
  std::vector<model::Span> spans_;
  std::vector<model::Span> phases_;  // spans of depth 0, by start
};

}  // namespace shardlens::trace::interop
