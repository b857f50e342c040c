// What collectives take, on the run's own link or another one. Any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "trace/job/settings/grammars.h"
#include "trace/job/settings/settings.h"
#include "trace/model/run_info.h"
#include "trace/predict/costs/collective_costs.h"
#include "trace/predict/costs/core_delay.h"
#include "trace/predict/costs/gpu_turns.h"
#include "trace/predict/record/recorded_steps.h"

namespace shardlens::trace::tuning {

class CallCosts {
 public:
  enum class Backend : std::uint8_t {
    kGloo,  // runs a reduce-scatter as an all-reduce
    kNccl,
  };
  // `recorded`: the settings that `measured` was measured with.
  // `turns`: in which ranks get a GPU that they share; they tell what was not measured.
  // `core_delay`: without which that is, where ranks compute beside it.
  CallCosts(const job::Settings& recorded, predict::CollectiveCosts measured,
            Backend backend = Backend::kGloo, std::optional<predict::GpuTurns> turns = {},
            const predict::CoreDelay& core_delay = {});

  struct Cost {
    predict::TransferCosts::Cost transfer;
    double working_ns = 0;     // of it, that takes cores from computation
    double link_ns = 0;        // of it, that it has a simulated link to itself
    double least_ns = 0;       // of it, that such a link takes in any case, latency included
    double core_delay_ns = 0;  // of it, that its threads wait for cores where ranks compute
    // The link that is asked for would take less than what was measured without one, which holds.
    bool is_link_faster = false;
  };
  struct Conditions {
    std::optional<job::SimulatedLink> link;
    std::int64_t ranks = 1;  // of the job
    // Of gradients while they are reduced, and whether they are cast for it.
    std::int64_t value_bytes = 4;
    bool casts = false;
    double slower = 1;  // the same computation, where `ranks` share the cores and not the recorded

    // What moves no gradients.
    Conditions of_other_calls(const Conditions& recorded) const;
  };
  static Conditions conditions(const job::Settings& settings);
  const Conditions& recorded() const { return recorded_; }

  // Which ranks of the job take part: so many one beside the other, or, as replicas of a shard do,
  // as far apart as there are ranks for each of them.
  struct Group {
    int ranks = 0;
    bool are_replicas = false;
  };
  // With other settings, of `bytes` (S of nccl-tests). What was not measured is derived, as
  // extrapolated, from an all-reduce or from another number of ranks. None: nothing is near enough.
  std::optional<Cost> of(const Conditions& next, model::CollectiveFunction function, Group group,
                         double bytes) const;

  // What comes before these, where `costs` has a kind and a size within a factor of two.
  CallCosts preceded_by(const predict::CollectiveCosts& costs) const;

  // Whether such sizes were moved.
  bool measures(const predict::CollectiveKind& kind, double bytes) const {
    return costs_.measures(kind, bytes);
  }

  // For how long one of a run with these settings had a simulated link to itself; 0: it passed
  // none.
  static double link_ns(const Conditions& recorded, const predict::CollectiveKind& kind,
                        double bytes);
  // What that link needs for it at least, latency included.
  static double least_ns(const Conditions& recorded, const predict::CollectiveKind& kind,
                         double bytes);
  // What the backend itself takes for one, in what it takes for another: as much as it moves.
  static double own_ratio(const predict::CollectiveKind& kind,
                          const predict::CollectiveKind& measured, Backend backend);

  // Of a recorded transfer.
  double working_ns(const predict::CollectiveKind& kind, double bytes, double transfer_ns) const;

 private:
  // The nearest number of ranks of a function that tells such sizes, or, where none does, between
  // which times they lie.
  struct Source {
    model::CollectiveFunction function = model::CollectiveFunction::kOther;
    int ranks = 0;
    predict::TransferCosts::Cost cost;
  };
  std::optional<Source> source_of(model::CollectiveFunction function, int ranks,
                                  double bytes) const;
  // What the backend itself needs at least for what was measured on a link, known of Gloo alone.
  double core_delay_ns(double least_ns, double undelayed_ns) const;
  double hidden_ns(const Source& source, double bytes) const;
  // What the backend carries it out as.
  static model::CollectiveFunction executed(model::CollectiveFunction function, Backend backend);

  Conditions recorded_;
  predict::CollectiveCosts costs_;
  Backend backend_;
  std::optional<predict::GpuTurns> turns_;
  predict::CoreDelay core_delay_;
};

// What collectives that were measured apart from a run's steps would take in them, where they are
// held up by what ranks compute: each transfer of `apart` longer by what the run's took beyond it,
// of the sizes that the run has linear between them and above them as of the largest; below them as
// of the smallest, but what that has beyond a wait for a core in proportion to their time. Of a
// function that the run has not, by what its all-reduces took beyond, as much as the backend moves
// of it. Never shorter.
predict::CollectiveCosts disturbed_as(const predict::CollectiveCosts& run,
                                      const predict::CollectiveCosts& apart,
                                      CallCosts::Backend backend);

// What the run's steps tell, then what is `known` beside it, then what it moved before them.
// `settings`: its own, as they act.
CallCosts costs_of_run(const model::RunInfo& info, const job::Settings& settings,
                       const predict::RecordedSteps& recorded,
                       const predict::CollectiveCosts& known);

// What collectives cost, as it is known beside a run's own steps.
struct KnownCosts {
  predict::CollectiveCosts beside{};   // for sizes and functions that the run did not have
  predict::CollectiveCosts instead{};  // for the next settings also where the run has them
  // The run does not tell its link, and `beside` may have been measured over another one.
  bool is_link_untold = false;
};

}  // namespace shardlens::trace::tuning
