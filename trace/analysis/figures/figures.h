// The numbers of a run: what panels, reports and comparisons show. Definitions: docs/NUMBERS.md.
// Plain values; durations in nanoseconds, sizes in bytes. Any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/model/events.h"
#include "trace/model/run_info.h"

namespace shardlens::trace::analysis {

class HostClocks;

// Where the time of one step on one rank went. Without full detail, and until all of it was read,
// only step_ns and phase_ns are known, and has_detail is false.
//   step = compute + exposed + exposed_copy + idle;  comm = overlap + exposed
struct StepBreakdown {
  std::int64_t step_ns = 0;
  std::int64_t compute_ns = 0;            // union of compute, the optimizer's too
  std::int64_t optimizer_compute_ns = 0;  // the part of it inside the optimizer phase
  std::int64_t optimizer_overlap_ns = 0;  // the part of that under communication
  std::int64_t comm_ns = 0;               // union of collectives
  std::int64_t overlap_ns = 0;            // |comm ∩ compute|
  std::int64_t exposed_ns = 0;            // comm − overlap
  std::int64_t copy_ns = 0;
  std::int64_t exposed_copy_ns = 0;  // copies outside compute and comm
  std::int64_t idle_ns = 0;          // step − union of all
  std::array<std::int64_t, base::kPhaseCount>
      phase_ns{};  // partition of the step; kOther: the rest
  std::array<std::int64_t, base::kPhaseCount> exposed_phase_ns{};  // the part of exposed in each
  bool has_detail = false;
  bool awaits_detail = false;  // not all that its GPU did in it was read yet, or ever will be
  std::int64_t start_ns = 0;   // the rank's own step began (absolute); it ended step_ns later
  // By the collectives that started in the step; nothing: the size of one is not known.
  std::optional<double> bytes_sent = 0;

  bool operator==(const StepBreakdown&) const = default;
};

// What held a GPU's clocks down in a step, and for how long of it.
struct StepThrottling {
  int rank = 0;
  std::uint32_t limits = 0;  // of kThrottling, trace/model/gpu_counter_names.h
  std::int64_t ns = 0;

  bool operator==(const StepThrottling&) const = default;
};

// Why it is not known how much of exposed time is waiting.
enum class WaitDoubt : std::uint8_t {
  kNone,            // it is
  kRecordsMissing,  // of calls on other ranks
  kClockError,      // it is no longer than clocks of hosts may be apart
  kClocksUnknown,   // nothing tells how far they are
};
std::string_view to_text(WaitDoubt doubt);  // "" for none; goes on a sentence

// How long a rank waited in a collective for the last one, and moved data with it from then on. One
// that ended before the last one began, as a broadcast's root may, did neither; where none can, it
// waited to its end.
struct CallWait {
  std::optional<std::int64_t> wait_ns{};         // latest start over the ranks − own start
  std::optional<std::int64_t> transfer_ns{};     // own end − latest start
  bool has_left = false;                         // before the last rank began
  WaitDoubt doubt = WaitDoubt::kRecordsMissing;  // why the wait is not known
};

struct StepFigures {
  std::int64_t index = 0;
  bool warmup = false;        // one of the first skip_steps: shown, not measured
  bool complete = false;      // every rank has reported it
  std::int64_t start_ns = 0;  // earliest over ranks
  std::int64_t end_ns = 0;    // latest over ranks
  int slowest_rank = 0;
  std::vector<StepBreakdown> ranks;  // by rank
  double loss = std::numeric_limits<double>::quiet_NaN();
  double gradient_norm = std::numeric_limits<double>::quiet_NaN();
  bool nonfinite = false;
  int nonfinite_rank = -1;
  std::optional<double> learning_rate;  // of the ranks that tell it
  // Of all ranks together; nothing: one of them does not tell.
  std::optional<std::int64_t> tokens, samples, model_flops;
  std::vector<StepThrottling> throttling;  // by rank; filled in by RunAnalysis::figures()
  // By rank, likewise: the part of exposed time before the last rank had come; −1: not known.
  std::vector<std::int64_t> exposed_wait_ns;
  // By rank: how far clocks of different hosts may have put that off; infinite: nothing tells.
  std::vector<double> wait_error_ns;

  // What a single step on screen shows: the slowest rank's, so that its parts sum to it.
  const StepBreakdown& shown() const { return ranks[static_cast<std::size_t>(slowest_rank)]; }
  // Parts are final, and shown, once no rank awaits any more.
  bool awaits_detail() const {
    return std::ranges::any_of(ranks, [](const auto& rank) { return rank.awaits_detail; });
  }
  bool shows_detail() const { return !ranks.empty() && shown().has_detail && !awaits_detail(); }
  // Those that have reported it: of an imported run some may be missing altogether.
  double rank_count() const {
    const auto count =
        std::ranges::count_if(ranks, [](const auto& rank) { return rank.step_ns > 0; });
    return count > 0 ? static_cast<double>(count) : 1;
  }
  // Of one rank, or summed over several or over steps.
  struct Waiting {
    double ns = 0, error_ns = 0;

    void add(const Waiting& other) { ns += other.ns, error_ns += other.error_ns; }
    // None: clocks of hosts that are apart would look like it.
    std::optional<double> believed_ns() const {
      return doubt() == WaitDoubt::kNone ? std::optional(ns) : std::nullopt;
    }
    WaitDoubt doubt() const {
      if (std::isinf(error_ns)) return WaitDoubt::kClocksUnknown;
      return error_ns > 0 && ns <= error_ns ? WaitDoubt::kClockError : WaitDoubt::kNone;
    }
  };
  // None: other ranks' records are missing.
  std::optional<Waiting> waiting_of(std::size_t rank) const {
    if (rank >= exposed_wait_ns.size() || exposed_wait_ns[rank] < 0) return std::nullopt;
    const double error_ns = rank < wait_error_ns.size() ? wait_error_ns[rank] : 0;
    return Waiting{static_cast<double>(exposed_wait_ns[rank]), error_ns};
  }
  // None also where it is not believed.
  std::optional<double> exposed_wait_of(std::size_t rank) const {
    const auto waiting = waiting_of(rank);
    return waiting ? waiting->believed_ns() : std::nullopt;
  }
  WaitDoubt wait_doubt_of(std::size_t rank) const {
    const auto waiting = waiting_of(rank);
    return waiting ? waiting->doubt() : WaitDoubt::kRecordsMissing;
  }
  bool operator==(const StepFigures&) const = default;
};

struct Distribution {  // of a sample; all zero when count is 0
  std::int64_t count = 0;
  double mean = 0, median = 0, p10 = 0, p90 = 0, p99 = 0, max = 0, standard_deviation = 0;

  bool operator==(const Distribution&) const = default;
};

// Means over measured steps of the mean over ranks, in nanoseconds.
struct RunSummary {
  std::int64_t steps_executed = 0;
  std::int64_t steps_measured = 0;
  std::int64_t last_step = -1;  // the last that was executed; a run that was resumed has few before
  Distribution step_ns;         // over measured steps of the mean over ranks
  std::optional<double> tokens_per_s, samples_per_s;  // of all ranks together
  std::optional<double> mfu;
  // Nothing: another program does not mark the phase; the others then hold its time.
  std::array<std::optional<double>, base::kPhaseCount> phase_ns{};
  double compute_ns = 0, comm_ns = 0, overlap_ns = 0, exposed_ns = 0;
  double optimizer_compute_ns = 0, copy_ns = 0, exposed_copy_ns = 0, idle_ns = 0;
  bool has_detail = false;  // the row above is known
  // The row above is over the measured steps with full detail, whose mean time its parts sum to.
  std::int64_t steps_detailed = 0;
  double detailed_step_ns = 0;
  std::optional<double> exposed_wait_ns;        // of exposed: for other ranks; the rest is transfer
  WaitDoubt wait_doubt = WaitDoubt::kNone;      // why that is not known
  std::optional<double> overlap_fraction;       // overlap / comm; none when comm is 0
  std::optional<std::int64_t> effective_batch;  // batch × accumulation × ranks
  std::optional<double> bytes_sent_per_step;    // per rank, measured from the collectives
  std::optional<double> bytes_sent_per_step_theory;  // per rank: docs/NUMBERS.md
  std::optional<double> loss_first, loss_last;

  bool operator==(const RunSummary&) const = default;
};

struct CollectiveGroupFigures {  // a row per (function, executed, tag, bytes per call)
  model::CollectiveFunction function = model::CollectiveFunction::kOther;
  model::CollectiveFunction executed = model::CollectiveFunction::kOther;
  std::string tag;  // "bucket 3", "loss", …; "" for none
  std::int64_t bytes = model::kNotKnown;
  std::int64_t count = 0;        // over all ranks and steps
  std::int64_t matched = 0;      // those with a wait and a transfer; 0: neither is known
  double median_ns = 0;          // of own durations; negative: none is known
  double wait_ns = 0;            // mean: latest start − own start
  double transfer_ns = 0;        // mean: end − latest start
  double algbw_bytes_per_s = 0;  // S / t, t the median transfer; 0: nothing moved, or not known
  double busbw_bytes_per_s = 0;
  std::string algorithm, protocol;  // as NCCL chose them: "RING", "RING, TREE"; "": not known
  double exposed_ns = 0;            // per step, mean over ranks

  bool operator==(const CollectiveGroupFigures&) const = default;
};

struct BucketFigures {
  int index = 0;
  std::int64_t bytes = 0;
  std::vector<std::string> parameters;
  std::vector<std::int64_t> parameter_bytes;
  std::string oversize_reason;  // "wte.weight 147 MiB: a tensor is never split"; "" within 2 × cap

  bool operator==(const BucketFigures&) const = default;
};

struct UnitFigures {
  int index = 0;
  std::string name;                // "root", "blocks.3", …
  std::int64_t bytes = 0;          // gathered
  std::int64_t shard_bytes = 0;    // what a rank keeps
  std::int64_t reduced_bytes = 0;  // gradients before they are scattered
  int shard_count = 1;             // ranks that share it
  std::string data_type;           // as it is gathered
  std::vector<std::string> parameters;
  std::vector<std::int64_t> parameter_bytes;

  bool operator==(const UnitFigures&) const = default;
};

struct RankTotals {  // over the whole recording
  std::int64_t comm_events = 0, compute_events = 0, memory_events = 0;
  std::int64_t span_ns = 0, busy_ns = 0, compute_ns = 0, comm_ns = 0;
  std::int64_t overlap_ns = 0, exposed_ns = 0, idle_ns = 0;

  // Without any event nothing is known: a rank does not work without one.
  bool is_known() const { return comm_events + compute_events + memory_events > 0; }

  bool operator==(const RankTotals&) const = default;
};

struct RankFigures {
  model::RankInfo info;
  double step_ns = 0, exposed_ns = 0;  // means over measured steps
  std::optional<double> exposed_wait_ns;
  WaitDoubt wait_doubt = WaitDoubt::kNone;  // why that is not known
  model::MemorySample now;                  // the last sample
  model::MemorySample peak;                 // composition at the peak of what PyTorch allocated
  // Each at its own time, within steps once there is one.
  std::array<std::int64_t, model::kMemoryCategoryCount> category_peaks{};
  bool has_step_memory = false;  // a sample of a step has come
  // The memory that trace/predict expects of settings and shape, with `other` and `outside` as
  // measured. All zero where the model's shape is not known.
  std::array<std::int64_t, model::kMemoryCategoryCount>
      estimate{};  // of the composition at the peak
  std::array<std::int64_t, model::kMemoryCategoryCount>
      estimate_peaks{};  // of each category's own peak
  RankTotals totals;
  model::Heartbeat heartbeat;
  std::optional<model::RecorderCost> cost;  // of recording it; nothing: not known
  std::vector<model::PendingCollective> pending;
  std::optional<model::Collective> last_completed;
  std::vector<model::Collective>
      recent_completed;  // the last 64 of each process group, by sequence
};

struct ProcessGroupFigures {
  int id = 0;
  std::string name;        // "world", …
  std::string backend;     // "gloo", "nccl", …
  std::vector<int> ranks;  // ascending; kNotKnown for each of whom nobody told

  bool operator==(const ProcessGroupFigures&) const = default;
};

struct RecorderFigures {
  // By how much recording made the job longer. Measured by its own steps with and without detail,
  // where its schedule has both, else estimated by the recorder.
  std::optional<double> overhead_fraction;
  bool overhead_is_measured = false;
  // On a GPU what CUPTI adds to each launch comes on top, whatever the schedule: it stays on.
  bool overhead_is_least = false;
  std::optional<std::int64_t> events;  // nothing: no recorder of ours counted them
  std::int64_t lost = 0;
  // A rank of another program ended without telling that it had written all: its last records are
  // lost uncounted.
  bool lacks_end = false;
  std::vector<model::Lost> losses;
  std::int64_t bytes_on_disk = 0;
};

// Everything that `report` prints.
struct RunFigures {
  model::RunInfo info;
  RunSummary summary;
  std::vector<RankFigures> ranks;
  std::vector<StepFigures> steps;
  std::vector<CollectiveGroupFigures> collectives;
  std::vector<BucketFigures> buckets;          // the plan after the rebuild
  std::vector<UnitFigures> units;              // of a sharding strategy, by index
  std::vector<model::Evaluation> evaluations;  // by step
  RecorderFigures recorder;
  std::vector<ProcessGroupFigures> process_groups;
  std::shared_ptr<const HostClocks> clocks;  // null: there is one
  std::int64_t ignored_rows = 0;  // contradictory rows: negative durations, impossible ranks, …
};

}  // namespace shardlens::trace::analysis
