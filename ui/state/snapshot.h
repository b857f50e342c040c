// All that a frame shows: immutable, published by `app`, read by panels. Plain values.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/advice/values/advice.h"
#include "trace/analysis/compare/run_difference.h"
#include "trace/analysis/figures/figures.h"
#include "trace/analysis/run/comparison.h"
#include "trace/job/settings/settings.h"
#include "trace/job/shape/lora.h"
#include "trace/predict/plan/plan.h"
#include "trace/predict/plan/remedies.h"
#include "trace/timeline/values/picture.h"
#include "trace/timeline/values/timeline_rows.h"
#include "trace/tuning/knob_curve.h"
#include "trace/tuning/prediction.h"
#include "ui/state/inspect_view.h"
#include "ui/state/lesson.h"
#include "ui/state/sweep_view.h"
#include "ui/state/view_address.h"

namespace shardlens::ui::state {

// ---- what the next run would need under every strategy, before it runs ------------------------

// On this machine, for the bars beside the strategy knob.
struct StrategyEstimates {
  // All strategies, in the order of trace::strategies(); `largest_batch` is not worked out.
  std::vector<trace::predict::StrategyPlan> strategies;
  std::int64_t usable_bytes = 0;  // of one rank; 0: not known
  std::string device;             // whose memory that is: "NVIDIA H100 80GB HBM3"
  trace::job::TrainedShare parameters;
};

// On GPUs that one might have: where a planned job would run, as it was typed or picked.
struct PlanTarget {
  std::string model;  // "": that of the settings
  std::string gpu = "h100-80";
  std::int64_t gpus_per_node = 8;
  std::int64_t nodes = 1;

  bool operator==(const PlanTarget&) const = default;
};

struct PlanCard {
  PlanTarget target;
  std::optional<trace::predict::Plan> plan;  // none: `problem` says why
  std::string problem;
  // So that the strategy of the settings fits; none if it does, or if nothing is enough.
  std::vector<trace::predict::Remedy> remedies;
};

// ---- the run on screen ------------------------------------------------------------------------

// One run as panels need it: live, finished or in replay. Shared between frames, never changed.
struct RunView {
  trace::analysis::RunFigures figures;  // up to now, or up to the replay clock
  std::shared_ptr<const trace::timeline::StepPicture>
      timeline;                            // of `selected_step`; null: being read
  std::int64_t selected_step = -1;         // -1: no step yet
  bool follows_live = false;               // selected_step is the latest
  std::vector<trace::model::LogLine> log;  // the last few hundred lines of all ranks
  std::string ordinal;                     // "run 4", its number in the library
  bool is_live = false;
  std::uint64_t inode = 0;           // of its file: a run that takes its place has another
  std::vector<std::string> banners;  // "CPU run: shows how it works, not how fast a GPU is", …
  std::string diagnosis;             // after a failure: which rank did not arrive, …; else ""
};

// ---- the library ------------------------------------------------------------------------------

struct LedgerRow {
  std::string name;
  std::string folder;
  std::string ordinal;
  std::int64_t start_ns = 0;
  trace::model::RunStatus status = trace::model::RunStatus::kDone;
  std::string reason;
  trace::job::Settings settings;
  int ranks = 0;
  std::int64_t nodes = 1;  // that it ran on, as far as that is known
  bool on_gpu = false;
  std::string note;  // the user's own words
  std::vector<std::string> tags;
  bool is_imported = false;  // another program's: `settings` say nothing
  trace::analysis::RunSummary summary;
  double peak_memory_bytes = 0;
  std::optional<double> loss_at_common_step;
  std::int64_t common_step = -1;
  // Against the baseline run: relative difference of step time (of time per token once batch or
  // ranks differ), and whether it is beyond the noise. None: not comparable, or the baseline
  // itself; of the noise: not known.
  std::optional<double> relative_to_baseline;
  std::optional<bool> beyond_noise;
  bool per_token = false;
  std::string not_compared;                         // "other job", "other machine", …; "": it is
  std::optional<trace::analysis::Scaling> scaling;  // against the baseline, if only ranks differ
  bool is_baseline = false;
  bool is_being_read = false;  // its figures are not known yet
  bool is_pinned = false;      // the baseline because the user said so
  bool is_shown = false;
  bool is_bundled = false;                                // came with the program
  std::optional<trace::model::StepPrediction> predicted;  // before it ran
  bool simulated = false;  // on a simulated link, with an injected fault, …: see its settings
};

struct Ledger {
  std::vector<LedgerRow> rows;        // newest first
  std::string spread_note;            // what the noise model says of it: one sentence
  std::optional<double> apart{};      // its NoiseModel::apart(), of the baseline's job
  std::vector<std::string> problems;  // unreadable runs
  std::int64_t next_number = 1;       // of the next run
  std::size_t deleted = 0;            // runs that were deleted last and can be had back
};

// ---- the job, the trainer's installation, replay ----------------------------------------------

enum class JobPhase : std::uint8_t { kNone, kStarting, kRunning, kStopping };

struct JobState {
  JobPhase phase = JobPhase::kNone;
  std::string run_name;              // that it was started with
  std::string folder;                // of its run; "": it has none yet
  std::int64_t step = 0, steps = 0;  // done, those before a checkpoint included; of so many
  double seconds_left = -1;          // -1: not known
  bool saves_checkpoints = false;
  struct Queued {
    std::uint64_t id = 0;
    std::string name;
  };
  std::vector<Queued> queued;  // the runs that start one after another when this one ends
};

// The trainer is fetched and built behind the window the first time.
struct TrainerSetup {
  enum class State : std::uint8_t {
    kReady,
    kInstalling,
    kFailed,
    kNotWanted
  } state = State::kReady;
  std::string message;   // "Fetching LibTorch: 850 of about 1700 MB", or why it failed, what to do
  double fraction = -1;  // -1: not known

  bool operator==(const TrainerSetup&) const = default;
};

// How fast a recorded run may be played: times its own speed.
inline constexpr double kSlowestReplay = 0.01;  // one step, bucket by bucket
inline constexpr double kFastestReplay = 100;

struct ReplayState {
  bool active = false;
  bool playing = false;
  double speed = 1;
  std::int64_t start_ns = 0, end_ns = 0, now_ns = 0;
};

struct KnobDraft {
  trace::job::Settings next;      // for the next run
  trace::job::Settings baseline;  // what "changed" compares with
  std::string baseline_name;      // "run 3"; "" compares with the defaults
  std::vector<trace::job::SettingProblem> problems;
  std::string next_name;  // what the run will be called
  // Of `next`; null: its model cannot be used, which `problems` says, or is being read.
  std::shared_ptr<const StrategyEstimates> estimates;
  // Knobs whose baseline is what the run on screen, of another program, tells; else empty.
  std::vector<const trace::job::Knob*> told{};
};

// ---- what would help the run on screen, what other settings would do, how runs differ ----------

struct AdviceView {
  std::string folder;                           // of the run
  std::vector<trace::advice::Advice> advice{};  // what helps most comes first
  std::vector<std::string_view> looked_at{};    // by the rules: "buckets", "memory", …
  std::string refused{};                        // why other settings could not be tried; "": were
  std::int64_t steps = 0;                       // that were measured; 0: nothing can be said
};

// Along a knob's curve.
struct MeasuredRun {
  std::string value, run;  // the knob's, and "run 3"
  double step_ns = 0;      // divided as the curve's times are
};
using MeasuredRuns = std::map<const trace::job::Knob*, std::vector<MeasuredRun>>;

// Of the settings for the next run, from the run on screen.
struct PredictionView {
  std::string folder, ordinal;  // of the run that it is made from: "run 4"
  // None: `refused` says why, as where nothing is changed but knobs whose effect is not known.
  std::optional<trace::tuning::Prediction> prediction{};
  std::optional<trace::tuning::PredictedStep> step{};  // the selected one, or a typical one
  std::string refused{};
  bool may_come = false;  // a prediction, once the run has more steps
  // Of knobs with a slider; without points while they are worked out.
  std::vector<trace::tuning::KnobCurve> curves{};
  MeasuredRuns measured{};  // along them
  // Likewise, of each value of knobs that are a choice or a checkbox.
  std::vector<trace::tuning::KnobCurve> choices{};
  // Of sliders of which one value at most is predicted, why not others: a sentence or more.
  std::map<const trace::job::Knob*, std::string> why_no_curve{};
};

struct ComparedRun {
  std::string folder, name;
  std::string ordinal{};                 // "run 4"
  std::shared_ptr<const RunView> run{};  // with a typical step; null: being read, or `problem`
  std::string problem{};                 // why it cannot be read
};

struct ComparisonView {
  std::vector<ComparedRun> runs;  // the base first; empty: none was chosen
  std::int64_t step = -1;         // that is shown of each; -1: a typical one of each
  // Of runs[1], runs[2], … from the base; null where one of the two was not read.
  std::vector<std::shared_ptr<const trace::analysis::RunDifference>> differences;

  bool is_reading() const {
    for (const ComparedRun& run : runs) {
      if (!run.run && run.problem.empty()) return true;
    }
    return false;
  }
};

// ---- all of it --------------------------------------------------------------------------------

struct Snapshot {
  std::shared_ptr<const RunView> run;          // null: nothing to show yet
  bool is_loading = false;                     // … because it, or the library, is being read
  std::shared_ptr<const InspectView> inspect;  // null: the workspace was not opened
  std::shared_ptr<const Ledger> ledger;
  KnobDraft knobs;
  std::shared_ptr<const PredictionView> prediction;  // null: no run to predict from, or being read
  std::shared_ptr<const AdviceView> advice;          // null: no run, or it is being read
  std::shared_ptr<const PlanCard> plan;              // null: the card is closed
  std::shared_ptr<const SweepView> sweep;            // null: nobody asked for one
  std::shared_ptr<const ComparisonView> comparison;  // null: no runs were chosen to be compared
  std::shared_ptr<const LessonShelf> lessons;        // null: Learn was not opened, or being read
  // Of the GoToView that was done last: its runs, which are on their way to the screen, by the
  // names of their files. Another pointer each time; null: none was.
  std::shared_ptr<const ViewAddress> gone_to;
  JobState job;
  TrainerSetup trainer;
  ReplayState replay;
  std::string notice;  // one line about the last command, with its error
  bool notice_is_error = false;
  std::vector<std::string> file_work;  // "the import of rank0.json.gz", while that goes on
  bool asks_to_close = false;          // the window is to close, which would end what goes on
  std::uint64_t version = 0;           // grows with every change
};

}  // namespace shardlens::ui::state
