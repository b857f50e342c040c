// A step as all ranks go through it: what they compute, which collectives they launch, for which
// they wait. And its schedule: when that happens. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/base/intervals.h"
#include "trace/model/events.h"
#include "trace/predict/record/step_work.h"
#include "trace/predict/schedule/step_ranks.h"

namespace shardlens::trace::predict {

struct PlannedCall {
  std::string what;  // "bucket 3", "blocks.2 forward gather"
  model::CollectiveFunction function = model::CollectiveFunction::kOther;
  // Ranks that take part: so many beside each other, or those that have the same part of a unit, as
  // far apart as it has parts.
  int group = 0;
  bool are_replicas = false;
  std::int64_t bytes = 0;     // S of nccl-tests
  std::size_t tensors = 0;    // of a bucket; 0: not told
  bool is_reduction = false;  // of gradients, in the type that is set for that
  double share = 1;           // of steps, that have it: of what it takes so much is planned
  // Collectives of one lane run one after the other, in the order of their launches.
  std::size_t lane = 0;
  // Begins at the end of the one launched before, at the earliest.
  bool follows = false;
  // A GPU's gather is launched on a stream of its own: it begins once all ranks have reached this
  // mark and the one that was so launched before has ended, whatever they compute by then; and is
  // copied there for so long first. None: it begins where ranks launch it.
  std::optional<std::size_t> behind_mark{};
  std::int64_t copy_ns = 0;
  // What it takes from the last rank's start on where ranks compute all the while, and for how much
  // of that, now and then, it needs what computes.
  std::int64_t transfer_ns = 0, working_ns = 0;
  // How much less it takes where they wait all the while: its threads wait for no core then. Never
  // less than `least_ns`.
  std::int64_t core_delay_ns = 0;
  // For so long it has the link that calls of all lanes pass to itself, from its begin or from when
  // the one launched before leaves it: so much longer it takes then. 0: it passes none.
  std::int64_t link_ns = 0;
  // The part of its duration that a simulated link needs in any case, latency included.
  std::int64_t least_ns = 0;
  std::int64_t unsure_ns = 0;  // it may take so much less or more
};

// What ranks compute, up to the next of its moments.
enum class Until : std::uint8_t {
  kForward,        // of a layer, by its place in LayerMoments::forwards
  kBackward,       // the begin of all of it
  kLayerBackward,  // by its place in LayerMoments::backwards
  kGradient,       // by its place
  kEnd,            // of what backward computes
  kForwardAgain,   // of a layer, by its place in LayerMoments::second_forwards
  kSecondForward,  // not a moment: as long as forward from one layer to another
  kUpdate,         // not a moment: a part of the optimizer's work
  kOwnWork,        // not a moment: what the host does for a call itself, Action::ns
};

struct Action {
  enum class What : std::uint8_t { kCompute, kLaunch, kWait, kMark };
  What what = What::kCompute;
  Until until = Until::kEnd;
  std::size_t place = 0;  // of a moment, or the index of a call or of a mark: by its order
  double share = 1;       // of what was recorded up to there that is computed
  std::size_t from = 0;   // of kSecondForward: the layer that it begins with
  double ns = 0;          // of kOwnWork: what that takes
};

// Computing forward a second time adds less than the first one took where both are faster with less
// to keep, as on a CPU.
struct SecondForwardCost {
  double added = 1;  // in what the first one takes that keeps all
  // Of a recorded second one, how much is left where forward keeps all instead: the first one takes
  // longer by that. Both are taken to be as fast, (1 + added) / 2.
  double left() const { return (1 - added) / (1 + added); }
};

// Layers whose forward backward computes a second time, before it comes to the last of them: in
// what was recorded, and in what is planned. The recorded time stands at the place behind them.
struct SecondForward {
  std::size_t first = 0, end = 0;
  bool was = false, is = false;
};

struct MicroBatchProgram {
  std::size_t like = 0;  // the recorded one whose work it repeats
  std::vector<Action> actions;
};

struct StepProgram {
  std::vector<PlannedCall> calls;  // by launch
  std::vector<MicroBatchProgram> micro_batches;
  std::vector<Action> update;  // after them
  // In what each rank's optimizer took (RankWork::optimizer_ns), or else in what that of the rank
  // did which updated most.
  bool updates_as_recorded = true;
  // What a micro-batch takes to compute, in those that were recorded.
  double work = 1;
};

struct CallTime {
  std::size_t call = 0;       // of the program
  std::int64_t ready_ns = 0;  // launched by the last rank; absolute
  std::int64_t start_ns = 0, end_ns = 0;
  bool operator==(const CallTime&) const = default;
};

struct StepSchedule {
  std::vector<CallTime> calls;  // by launch
  // When a rank waited for a collective, and for which.
  struct Wait {
    std::int64_t start_ns = 0, end_ns = 0;
    std::size_t call = 0;
  };
  // In order: of the rank that ends last, and of all others, one rank after the other.
  std::vector<Wait> waits, waits_of_others;
  int rank = 0;                      // the one that ends last
  std::int64_t start_ns = 0;         // of that rank
  std::int64_t backward_end_ns = 0;  // of that rank, the last one's
  std::int64_t end_ns = 0;           // of the update, as far as the program has it
  double mean_ns = 0;                // from a rank's start to its end, mean over ranks
  double exposed_ns = 0;             // waited, mean over ranks
  double contended_ns = 0;           // computed while communication worked, mean over ranks

  std::int64_t waited_ns() const;  // of the rank that ends last
};

// Whether calls of it take longer while ranks compute: it is then gone through twice.
bool waits_for_cores(const StepProgram& program);

// `slowdown`: of each nanosecond in which communication works beside computation, how much of it
// computation loses (0: nothing, 1: all), in what was recorded and in what is scheduled.
StepSchedule schedule_step(const std::vector<StepRank>& ranks, const StepProgram& program,
                           double slowdown);
// Of the ranks that were recorded.
StepSchedule schedule_step(const StepWork& step, const StepProgram& program, double slowdown);

// The recorded micro-batch that one of `planned` repeats: the last the last, the others those
// before it, or the only one.
std::size_t recorded_like(std::size_t micro_batch, std::size_t planned, std::size_t recorded);

// Which collectives bound a step: those that the rank which ends last waits for, and those that run
// right before them on the same lane. Between them it computes.
// Places in the schedule's calls, ascending; empty: it never waits.
std::vector<std::size_t> critical_calls(const StepProgram& program, const StepSchedule& schedule);

// The first of the last critical calls of which each begins where the one before it ends.
// `critical` is not empty.
std::size_t last_train_begin(const StepSchedule& schedule,
                             const std::vector<std::size_t>& critical);

// What follows the last backward of a step: the norm of gradients that lie on several ranks, the
// optimizer, ZeRO-1's updated parameters, the loss of all ranks.
struct UpdatePlan {
  double share = 1;  // of the recorded optimizer's work, on the fullest rank
  struct Sum {
    int ranks = 2;
    std::int64_t bytes = 0;
    std::string what = "gradient norm";
    double share = 1;  // of steps, that have it
  };
  // Before the optimizer and in the step's end, one after the other.
  std::vector<Sum> sums_before{}, sums_behind{};
  int ranks = 2;
  // ZeRO-1: bytes of each part that a rank updates and then sends to all, by owner.
  std::vector<std::vector<std::int64_t>> parts{};
};

// The update is cut into as many parts as the fullest owner has; each is sent when it is there, and
// waited for in the end.
void add_update(const UpdatePlan& plan, StepProgram& program);

}  // namespace shardlens::trace::predict
