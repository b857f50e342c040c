// Predicts, from the run on screen, what the settings for the next run would do: learns that run on
// a thread of its own, then answers at once. Interface thread only; `on_change` comes from others.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/session/jobs/strategy_planner.h"
#include "app/session/tuning/prediction_source.h"
#include "app/session/worker/latest_worker.h"
#include "trace/analysis/figures/figures.h"
#include "trace/base/file_system.h"
#include "trace/job/settings/settings.h"
#include "trace/tuning/knob_curve.h"
#include "trace/tuning/predictor.h"
#include "ui/state/snapshot.h"

namespace shardlens::app::session {

// What is predicted of a run that goes on, from what it had recorded when it was learnt, moved to
// what is measured by now: a figure, and the difference beside it, are of the same steps.
// `figures`: of the run that was predicted from, as they are now. What the change does stays as it
// was learnt, and so do the widths of intervals. Any thread, as all functions here.
void measure_now(const trace::analysis::RunFigures& figures, trace::tuning::Prediction& prediction);

// `next`: the settings that the curve is of. `step_ns`: the run's mean now.
void measure_now(const trace::tuning::Predictor& predictor, const trace::job::Settings& next,
                 double step_ns, trace::tuning::KnobCurve& curve);

struct CurveInput {
  const trace::job::Settings& next;
  std::int64_t usable_bytes = 0;  // of one rank; 0: not known
};
// Those of every knob that can be predicted, through what `view` says was measured along them.
void add_all_curves(const trace::tuning::Predictor& predictor, const CurveInput& input,
                    ui::state::PredictionView& view);
// What the knobs ask of the run: of another program's nothing until they show what it tells
// (KnobEditor::show_told()), since the settings are not its own.
trace::job::Settings asked_settings(const trace::tuning::Predictor& predictor,
                                    const ui::state::KnobDraft& draft);
// What the tensors of a rank may take where the run's ranks trained, which its peaks are of. 0: not
// known.
std::int64_t usable_bytes(const ui::state::RunView& run, const ui::state::KnobDraft& draft);
// All but the curves.
ui::state::PredictionView predict_next(const LearntRun& learnt, const ui::state::RunView& run,
                                       const ui::state::KnobDraft& draft);

class RunPredictor {
 public:
  using LedgerOf = std::shared_ptr<const ui::state::Ledger>;  // null: not read yet

  explicit RunPredictor(std::function<void()> on_change);

  // The run on screen; null: nothing is predicted. To be called again now and then: of one that has
  // just ended more may come, and costs may have been measured meanwhile. Where `replacements`
  // changes another run has its place.
  void follow(const std::shared_ptr<const ui::state::RunView>& run, std::uint64_t replacements = 0);
  bool has_news() const;
  // Null until the run was read; the same pointer for the same question.
  std::shared_ptr<const ui::state::PredictionView> view(const ui::state::KnobDraft& draft,
                                                        const LedgerOf& ledger = {});
  // To be kept with the run that starts now. None: of another job, or not of all that is set.
  std::optional<trace::model::StepPrediction> to_keep(const ui::state::KnobDraft& draft,
                                                      const LedgerOf& ledger,
                                                      const Machine& machine);
  // Learnt from that run, where it is another program's. Null: it is not, or was not read.
  std::shared_ptr<const trace::tuning::Predictor> told() const;
  // What would help that run. Null until it was read.
  std::shared_ptr<const ui::state::AdviceView> advice() const;

 private:
  using Run = std::shared_ptr<const ui::state::RunView>;
  struct Reading {
    Run run;
    bool only_with_other_costs = false;  // than it was learnt with
  };
  struct CurveQuestion {
    std::shared_ptr<const trace::tuning::Predictor> predictor;
    const trace::job::Knob* knob = nullptr;
    trace::job::Settings next;
    std::int64_t usable_bytes = 0;
    std::vector<std::string> values;
    bool operator==(const CurveQuestion&) const = default;
  };
  struct Question {
    std::string folder{}, ordinal{};  // "": there is no run
    trace::job::Settings next{}, baseline{};
    bool shows_told = false;
    std::int64_t step = -1, usable_bytes = 0;
    double measured_ns = 0;  // mean step of a run that goes on, which grows
    std::uint64_t version = 0;
    LedgerOf ledger{};
    bool operator==(const Question&) const = default;
  };
  struct Curve {
    CurveQuestion of;
    trace::tuning::KnobCurve curve;
  };
  using DrawnCurves = std::map<const trace::job::Knob*, Curve>;

  bool is_refused() const;  // the run that was asked for, so far
  bool is_worth_reading(const ui::state::RunView& run, std::uint64_t replacements) const;
  void look_for_costs();
  void publish(const std::function<void()>& change);
  const ui::state::MeasuredRuns& measured_runs(const LedgerOf& ledger,
                                               const trace::job::Settings& next);
  // Of every knob that can be predicted; asks for those that are missing.
  void add_curves(const LearntRun& learnt, const CurveInput& input, const DrawnCurves& drawn,
                  ui::state::PredictionView& view);

  const std::function<void()> on_change_;
  Run run_;
  std::string asked_folder_;
  std::int64_t asked_start_ns_ = 0;
  std::uint64_t asked_replacements_ = 0;
  std::size_t asked_steps_ = 0;
  bool asked_live_ = false, asked_written_ = false;
  std::chrono::steady_clock::time_point looked_at_{};
  std::vector<CurveQuestion> asked_curves_;
  // Every run of the ledger is looked at, which neither a step nor a frame has the time for.
  struct {
    LedgerOf ledger;
    trace::job::Settings next;
    ui::state::MeasuredRuns runs;
  } measured_;
  std::optional<Question> answered_;
  std::shared_ptr<const ui::state::PredictionView> view_;

  mutable std::mutex mutex_;  // guards what follows
  LearntRun learnt_;
  std::shared_ptr<const ui::state::AdviceView> advice_;
  DrawnCurves curves_;
  std::uint64_t version_ = 0;

  PredictionSource source_;       // the reading worker's own
  trace::base::FileStamp costs_;  // likewise: of what it learnt with
  LatestWorker<Reading> reading_;
  LatestWorker<std::vector<CurveQuestion>> drawing_;  // last: stops first
};

}  // namespace shardlens::app::session
