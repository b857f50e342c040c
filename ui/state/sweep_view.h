// Sweeps as panels need them: the card on which one is made, the one that is looked at, how far it
// is. Plain values, published by `app`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trace/job/settings/settings.h"
#include "trace/tuning/prediction.h"

namespace shardlens::ui::state {

// ---- the card ---------------------------------------------------------------------------------

struct SweepAxis {
  std::string knob{};    // its name
  std::string values{};  // "1, 4, 25"
  bool operator==(const SweepAxis&) const = default;
};

// Only what may win is run, the most promising first, until nothing else may or the time is over.
struct SearchDraft {
  std::string goal = "step_time";  // or "tokens_per_s", "memory"
  int budget_minutes = 10;
  bool operator==(const SearchDraft&) const = default;
};

struct SweepDraft {
  std::vector<SweepAxis> axes{};  // of a search: none, it chooses itself
  std::string name{};             // "": by what varies
  int repeats = 2;
  bool stops_early = true;
  std::optional<SearchDraft> search{};  // none: all points are run
  bool operator==(const SweepDraft&) const = default;
};

// What is asked for, and what it would come to with the settings for the next run.
struct SweepCard {
  SweepDraft draft{};
  bool is_checked = false;  // else it is being checked, and the rest is not known yet
  std::string name{};       // that it would have
  std::string problem{};    // of the whole; "": none
  struct Refusal {
    std::string point, reason;
  };
  std::vector<Refusal> refused{};  // points that cannot be run
  // Left out, as they do what another point does; of a search also what cannot be run.
  std::vector<std::string> doubles{};
  std::size_t points = 0, runs = 0;
  std::optional<double> seconds{};  // expected of all runs; none: no run tells
  std::string expected_from{};      // the run that tells: "run 4"
  bool can_start() const { return is_checked && problem.empty() && refused.empty(); }
};

// ---- one that is looked at ----------------------------------------------------------------------

// Of a point, beside the best.
enum class SweepStanding : std::uint8_t {
  kBest,         // nothing is lower; that it truly is best is another matter
  kWithinNoise,  // nothing tells it from the best
  kNotKnown,     // nor does anything tell how far runs of the same settings lie apart
  kSlower,       // beyond noise
  kStoppedEarly,
  kFailed,
  kNotRun,
};

// What is predicted of a point from a run of another one.
struct PointPrediction {
  std::optional<double> step_ns{};
  std::optional<trace::tuning::Interval> interval{};  // of it; none: not known how sure
  std::string reason{};                               // why nothing is predicted; "": it is
};

// What is to be small of a point: nanoseconds per step or per token, or bytes.
struct PointCost {
  std::optional<double> measured{};     // mean over its runs
  std::optional<double> half_width{};   // of it, 95 %; none: not known
  std::optional<double> predicted{};    // none: it is not
  std::optional<double> low{}, high{};  // of that, 95 %; none: not known
  std::vector<double> runs{};
};

// What came of a point's runs.
struct PointFigures {
  SweepStanding standing = SweepStanding::kNotRun;
  std::string reason{};  // why it failed, was stopped, or not run by a search; "": none of these
  std::string failed_once{};  // why one of its runs failed that was well the second time; "": none
  // Geometric means over its runs, as of a round that is like all that were measured: what points
  // are put in order by (step_ns or tokens_per_s, as the goal is) is what is shown; of a search
  // their means. None: none was measured; of the rate: not known of every run.
  std::optional<double> step_ns{}, tokens_per_s{};
  std::optional<double> half_width_ns{};      // of step_ns, 95 %; none: no point was measured twice
  std::optional<double> exposed_ns{};         // mean; none: not known of every run
  std::optional<double> peak_tensor_bytes{};  // of the rank that needs most
  // No other point is better in both step time (or time per token) and tensors' memory. Of a point
  // that failed or has no figures: no.
  bool is_on_front = false;
  // Of its cost to the best's, time per step or per token: 0.1 is 10 %. None: not known.
  std::optional<double> slower_by{};
};

struct SweepPoint : PointFigures {
  trace::job::Settings settings{};
  std::vector<std::string> values{};  // of the knobs that vary, as in YAML
  struct Run {
    std::string name;
    double step_ns = 0;
  };
  std::vector<Run> runs{};              // that were measured
  PointPrediction prediction{};         // of a search: none, as `searched` has its own
  std::optional<PointCost> searched{};  // of a search: as its goal counts
};

enum class SweepPhase : std::uint8_t {
  kUnfinished,  // runs are left, and nobody runs them
  kRunning,     // by this window
  kStopping,
  kElsewhere,  // by another program
  kDone,
};

struct ShownSearch {
  std::string goal{};
  double budget_seconds = 0;
  std::string ended{};  // why, a sentence; "": it has not
};

struct ShownSweep {
  std::string name{};
  SweepPhase phase = SweepPhase::kUnfinished;
  std::string problem{};  // why it cannot be shown, or why it does not go on; "": none
  std::vector<const trace::job::Knob*> varied{};
  std::vector<SweepPoint> points{};
  std::vector<std::size_t> best_first{};  // of a search: its points as they are listed; else none
  int repeats = 0;
  bool by_tokens = false;  // judged by tokens/s: points do different work per step, or are to
  std::optional<std::size_t> best{};         // none: no point has a result
  std::string why{};                         // the verdict in words; "": there is none yet
  std::size_t runs_done = 0, runs_left = 0;  // left: of a search it is not known
  std::optional<double> seconds_left{};
  std::optional<std::size_t> running_point{};
  std::string predicted_from{};  // the run; "": none
  std::vector<std::string> banners{};
  std::optional<ShownSearch> search{};  // none: all points are run

  bool is_for_memory() const { return search && search->goal == "memory"; }
  bool is_complete() const { return search ? !search->ended.empty() : runs_left == 0; }
};

struct SweepView {
  std::vector<std::string> names{};           // of the library, the newest first
  std::shared_ptr<const ShownSweep> shown{};  // null: being read, or there is none
  bool is_loading = false;
  std::string running{};                    // the one that this window runs; "": none
  std::shared_ptr<const SweepCard> card{};  // null: closed
};

}  // namespace shardlens::ui::state
