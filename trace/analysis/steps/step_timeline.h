// One step of all ranks, laid out as rows of bars: what the timeline draws. Plain values, any
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/analysis/steps/step_rows.h"
#include "trace/base/time_partition.h"
#include "trace/model/strings.h"

namespace shardlens::trace {

struct Bar {
  std::int64_t start_ns = 0;  // relative to StepTimeline::origin_ns
  std::int64_t end_ns = 0;
  TimeClass bar_class = TimeClass::kCompute;
  int depth = 0;        // nested operators
  std::string label;    // "forward", "aten::addmm", "bucket 3 · 4.0 MiB", "exposed 42.1 ms"
  int collective = -1;  // index into RankTimeline::collectives, else -1
};

struct CollectiveBar {
  Collective event;   // absolute times
  std::string label;  // "bucket 3"
  // Relative: until then this rank waited for others; then the transfer. Nothing: not known.
  std::optional<std::int64_t> waits_until_ns;
  WaitDoubt wait_doubt = WaitDoubt::kNone;  // why not
  std::int64_t start_ns = 0;                // relative
  std::int64_t end_ns = 0;                  // relative
  std::int64_t overlapped_ns = 0;
  std::int64_t exposed_ns = 0;
  std::shared_ptr<const UnitFigures> unit;  // what is gathered or reduced; null: no unit
};

struct ReadyMark {           // the last gradient of a bucket or unit was ready
  std::int64_t time_ns = 0;  // relative
  TagKind kind = TagKind::kBucket;
  int index = 0;
  std::string name;        // "bucket 3", "blocks.3"
  std::int64_t bytes = 0;  // as it is reduced
  std::string note;        // oversize reason, else ""
  std::shared_ptr<const UnitFigures> unit = nullptr;
};

// Collectives of one process group wait for each other, those of several do not.
struct CommunicationLane {
  int group = 0;
  std::string name;        // "world", "shard", …
  std::vector<int> ranks;  // its members; empty: the group was not announced
};

struct RankTimeline {
  int rank = 0;
  std::string device;                     // "cpu", "cuda:0"
  std::int64_t start_ns = 0, end_ns = 0;  // the rank's own step, relative
  StepBreakdown breakdown;
  std::vector<Bar> phases;
  std::vector<Bar> compute;        // operators or kernels; what is too short to be seen is merged
  std::vector<Bar> communication;  // split at the border of overlapped and exposed
  std::vector<CollectiveBar> collectives;
  std::vector<CommunicationLane> lanes;  // of the groups in `collectives`, by number
  std::vector<ReadyMark> ready;
  std::vector<Bar>
      ribbon;  // a partition of the step: compute, overlapped, exposed, optimizer, idle
};

struct StepTimeline {
  std::int64_t step = -1;
  std::int64_t origin_ns = 0;  // absolute: the earliest start over ranks
  std::int64_t end_ns = 0;     // relative: the latest end
  std::vector<RankTimeline> ranks;
};

// What of the run a step's rows refer to.
struct StepContext {
  std::vector<BucketFigures> buckets;  // the plan in force
  std::vector<UnitFigures> units;
  std::vector<ProcessGroupFigures> process_groups;
  std::vector<RankInfo> ranks;
  std::shared_ptr<const HostClocks> clocks;  // null: there is one
};
StepContext step_context(const RunFigures& figures);

// `rows`: of `figures`, which are the step's; everything recorded inside its time range, of all
// ranks.
StepTimeline build_step_timeline(const StepFigures& figures, StepRowCollector rows,
                                 const StepContext& context, const StringTable& strings);

}  // namespace shardlens::trace
