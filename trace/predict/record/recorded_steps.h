// What a recorded run tells of its steps, as far as a prediction needs it: what ranks computed,
// when gradients and units were ready, what transfers took. Fed with what a reader polls. One
// owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trace/base/intervals.h"
#include "trace/model/batch.h"
#include "trace/model/strings.h"
#include "trace/predict/costs/core_delay.h"
#include "trace/predict/costs/matched_calls.h"
#include "trace/predict/record/device_clock.h"
#include "trace/predict/record/rank_work.h"
#include "trace/predict/record/step_work.h"
#include "trace/predict/record/unit_record.h"

namespace shardlens::trace::predict {

// Which operators end with a parameter's gradient, by their names.
class GradientNodes {
 public:
  bool hold(const model::StringTable& strings, int rank, model::StringId name);

 private:
  std::map<std::pair<int, model::StringId>, bool> known_;
};

class RecordedSteps {
 public:
  static constexpr std::size_t kMostSteps = 64;
  // Launches and kernels from which on fewer steps are enough, for their memory. Where so many told
  // no step, more would not, either.
  static constexpr std::size_t kMostLaunches = 2'000'000;
  // Operators of a CPU, which take less, that count as one of these.
  static constexpr std::size_t kOperatorsOfALaunch = 4;

  // Of a run of `ranks` ranks, without its first `skip_steps`.
  RecordedSteps(int ranks, std::int64_t skip_steps)
      : ranks_(ranks), skip_steps_(skip_steps), calls_(ranks) {}

  // Nothing any more once that is enough.
  void learn(const model::Batch& batch);
  // Nothing more is to come. `is_done`: all ranks have ended in order; else those that said so. Of
  // the others a GPU's last records may be missing, and with them what its last steps took.
  void learn_end(bool is_done);
  // It has as many steps as it takes, or will never have them.
  bool is_enough() const { return is_enough_; }

  struct Gradient {
    std::string parameter;
    std::int64_t bytes = 0;
  };
  // Those that DDP reduces, in the order in which they come: that of the plan that PyTorch makes
  // after the first step. Empty: the run has no buckets.
  std::vector<Gradient> gradients() const;
  // The program looks for unused parameters: PyTorch plans by their order, and not by gradients'.
  bool looks_for_unused() const { return looks_for_unused_; }
  bool has_buckets() const { return !buckets_.empty(); }
  std::vector<std::size_t> bucket_sizes() const;  // gradients of each
  // What the run says of why it has none; "": nothing.
  const std::string& why_no_buckets() const { return why_no_buckets_; }
  const std::string& why_no_units() const { return why_no_units_; }  // likewise
  // What buckets were reduced as.
  struct ReducedType {
    std::string name;        // "float32"
    bool is_halved = false;  // half the bytes that gradients have
  };
  ReducedType reduced_type() const;
  // How many ranks took part in what was gathered and reduced of buckets and units: each number
  // that there was. 0: of some of that it is not known.
  const std::set<int>& ranks_of_parts() const { return ranks_of_parts_; }
  // How often steps reduced all buckets or units: of rank 0, each number that there was.
  std::set<std::size_t> reductions_of_steps() const;
  // The root first; empty: the run has no units.
  std::vector<std::string> unit_names() const;
  // As rank 0 recorded them, likewise.
  const std::map<int, model::Unit>& units() const { return units_; }
  // Of rank 0.
  UnitHabits unit_habits() const;
  // What hosts did for each gather and reduction of a unit themselves, where they mark it: the mean
  // over these steps, in nanoseconds. On a GPU its streams do that.
  std::map<std::pair<UnitWork::What, int>, double> unit_works_ns() const;

  // Whether collectives show that ranks had not one clock.
  bool contradicts_one_clock() const { return calls_.contradict_one_clock(); }
  // What the collectives of these steps took from their last rank's start on, by the bytes that
  // were moved; without what they waited for a link that they pass together.
  MeasuredCollectives transfers(const MatchedCalls::LinkTime& link_ns = {}) const;
  // Each of them, with `least_ns`, what its link takes at least; none where a GPU computes.
  std::vector<ObservedTransfer> observed_transfers(const MatchedCalls::LinkTime& link_ns,
                                                   const MatchedCalls::LinkTime& least_ns) const;
  // Of the rest, while the job started or warmed up: the fastest of each size, and never more than
  // a larger one's, since all that disturbs makes them longer. For sizes that no step moved.
  MeasuredCollectives other_transfers() const;
  // What kernels on a GPU's gather stream take per byte of a shard that is then gathered: casts.
  // None: not a GPU, or nothing was gathered.
  std::optional<double> gather_copy_ns_per_byte() const;

  // For how long, from its last rank's start on, a collective that took so long needed what
  // computes. None: for no time.
  using WorkingTime =
      std::function<double(const CollectiveKind&, double bytes, double transfer_ns)>;
  // What all ranks computed under each name: leaf operators of a CPU, kernels of a GPU.
  std::map<std::string, double> computed_ns() const;
  // The share of what micro-batches computed that takes as long with any batch. Known on a CPU
  // only; else 0.
  double steady_share() const;
  // Of what a micro-batch whose buckets are reduced computed up to its last gradient, how much was
  // done for that: as far as that is known, on a CPU. `each`: all micro-batches are, not only the
  // last one.
  double reducing_share(bool each) const;

  // The first kMostSteps of which each rank told everything, its GPU included.
  std::vector<StepWork> steps(const WorkingTime& working_ns = {}) const;

 private:
  // What one rank did, in order, by the time of the device that computes.
  struct FinishedRank : RankTimes {
    std::map<std::int64_t, base::Interval> steps;  // by index: those that were told in detail
    std::vector<std::int64_t> awaited_ends_ns;     // of collectives
    base::Intervals computes;
  };
  struct Rank : RankTimes {
    std::vector<std::int64_t> bucket_ends_ns, other_ends_ns;  // of collectives
    std::vector<MatchedCalls::Key> calls;
    // By lane: leaf operators of a CPU, kernels of a GPU's stream.
    std::map<int, std::vector<base::Interval>> operators, kernels;
    // Of a CPU's operators, without the pauses between them, and of the nodes of autograd that end
    // with a gradient: of all lanes, as they were told.
    std::vector<base::Interval> each_operator, gradient_nodes;
    std::map<int, std::int64_t> kernels_ns;  // by lane: without the pauses between kernels
    std::vector<std::int64_t> computed_ns;   // by name
    bool is_on_device = false;               // kernels compute, and what launched them is known
    bool has_launched = false;               // what is known by its kernels, which come later
    bool is_closed = false;                  // see model::kClosedInOrder
    // Of the last call for a bucket or a unit, by what was done.
    std::map<std::pair<model::TagKind, model::CollectiveFunction>, std::int64_t> part_ends_ns;
    DeviceClock device;
    std::int64_t gathered_bytes = 0;  // by this rank's shards

    // The stream of a GPU that has most to do: model and optimizer. On others what is gathered is
    // copied. 0 without kernels.
    int compute_lane() const;
    base::Intervals computes() const;
    // Whether a GPU's records, which come after the host's, reach the end of a step: by the host's
    // time and by that of the stream that computes.
    bool reaches(std::int64_t host_ns, const DeviceTimes& times) const;
    FinishedRank finished(const DeviceTimes& times) const;
  };

  void learn_span(const model::Span& span);
  void learn_calls(const model::Batch& batch);
  void learn_events(const model::EventRun& run);
  static void add_computed(const model::Event& event, Rank& rank);
  // Of those that count: a run that was resumed does not begin with step 0.
  std::int64_t first_step() const {
    return skip_steps_ + (steps_.empty() ? 0 : steps_.begin()->first.second);
  }
  static std::size_t most_wanted(std::size_t launches);
  std::size_t detailed() const;
  void see_if_enough();
  void forget_events();
  ExpectedWork expected() const;
  const std::map<int, FinishedRank>& finished() const;
  MatchedCalls::Counts begins_in_chosen(bool wanted) const;
  std::map<int, base::Intervals> communication_work(const WorkingTime& working_ns) const;

  int ranks_ = 1;
  std::int64_t skip_steps_ = 0;
  bool is_enough_ = false;
  bool has_ended_ = false, is_done_ = false;  // see learn_end()
  std::size_t look_again_ = kMostSteps;       // once that many steps were told of, or
  std::size_t look_at_launches_ = kMostLaunches;
  model::StringTable strings_;
  GradientNodes gradient_nodes_;
  std::map<int, model::Bucket> buckets_;  // of rank 0's last plan, by place
  int plan_ = -1;
  std::string why_no_buckets_, why_no_units_;
  std::set<int> ranks_of_parts_;
  bool looks_for_unused_ = false;
  model::Collective bucket_call_;             // any of rank 0; without a tag: none
  std::vector<std::int64_t> first_calls_ns_;  // of rank 0: when bucket 0 was asked for
  std::map<int, model::Unit> units_;          // of rank 0, by index
  bool are_wrapped_ = false;                  // the units, by FullyShardedDataParallel
  struct MarkedUnit {                         // none: it marks none
    std::optional<UnitMark> mark{};
    std::optional<UnitWorkMark> work{};
  };
  std::map<std::pair<int, model::StringId>, MarkedUnit> unit_marks_;  // by rank and name of a span
  std::map<std::pair<int, std::int64_t>, model::Step> steps_;         // by rank and step
  std::map<int, Rank> by_rank_;
  MatchedCalls calls_;
  mutable std::map<int, FinishedRank> finished_;  // of by_rank_; empty: more was told since
};

}  // namespace shardlens::trace::predict
