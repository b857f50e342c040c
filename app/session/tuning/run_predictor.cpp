#include "app/session/tuning/run_predictor.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "app/session/runs/run_liveness.h"
#include "trace/advice/facts/run_facts.h"
#include "trace/base/wall_clock.h"
#include "trace/predict/costs/costs_file.h"
#include "trace/store/run/run_folder.h"
#include "trace/tuning/predictable.h"
#include "ui/present/tune/knob_chart.h"
#include "ui/present/tune/knob_rows.h"

namespace shardlens::app::session {

using trace::job::Settings;
using trace::tuning::CurvePoint;
using trace::tuning::Interval;
using trace::tuning::KnobCurve;
using trace::tuning::Prediction;
using trace::tuning::Predictor;
using ui::state::PredictionView;

namespace {

void move_by(double ns, std::optional<Interval>& interval) {
  if (interval) interval = {interval->low_ns + ns, interval->high_ns + ns};
}

void measure_peaks(const trace::analysis::RunFigures& figures, Prediction& prediction) {
  for (Prediction::Peak& peak : prediction.peaks) {
    const auto rank = static_cast<std::size_t>(peak.rank);
    if (rank >= figures.ranks.size()) continue;
    const std::int64_t now = figures.ranks[rank].peak.allocated_bytes();
    if (now <= 0) continue;
    peak.bytes += now - peak.recorded_bytes;
    peak.recorded_bytes = now;
  }
}

}  // namespace

void measure_now(const trace::analysis::RunFigures& figures, Prediction& prediction) {
  const auto& summary = figures.summary;
  if (summary.step_ns.count == 0) return;
  const double difference_ns = prediction.difference_ns();
  const double later_ns = summary.step_ns.mean - prediction.recorded_step_ns;
  prediction.recorded_step_ns = summary.step_ns.mean;
  prediction.step_ns = summary.step_ns.mean + difference_ns;
  move_by(later_ns, prediction.interval);
  if (summary.has_detail && prediction.recorded_exposed_ns && prediction.exposed_ns) {
    const double more_ns = *prediction.exposed_ns - *prediction.recorded_exposed_ns;
    prediction.recorded_exposed_ns = summary.exposed_ns;
    prediction.exposed_ns =
        std::clamp(summary.exposed_ns + more_ns, 0.0, std::max(0.0, prediction.step_ns));
  }
  measure_peaks(figures, prediction);
}

void measure_now(const Predictor& predictor, const Settings& next, double step_ns,
                 KnobCurve& curve) {
  const auto divisor_of = [&](const Settings& settings) {
    const auto ranks = trace::tuning::acting_settings(predictor.info(), settings).ranks;
    return trace::tuning::curve_divisor(*curve.knob, settings, ranks);
  };
  const double before = divisor_of(predictor.info().settings);
  const double later_ns = step_ns - curve.recorded_step_ns * before;
  const double recorded_ns = later_ns / before;
  curve.recorded_step_ns += recorded_ns;
  for (CurvePoint& point : curve.points) {
    Settings settings = next;
    if (!trace::job::set_value(settings, curve.knob->name, point.text)) continue;
    const double more_ns = later_ns / divisor_of(settings);
    point.step_ns += more_ns;
    move_by(more_ns - recorded_ns, point.difference);
  }
}

namespace {

constexpr int kCurvePoints = 48;
constexpr auto kLookPause = std::chrono::seconds(1);
constexpr std::size_t kMoreSteps = 4;    // a quarter more than were learnt before
constexpr std::size_t kFirstSteps = 32;  // of which each may be the one that was missing

bool has_slider(const trace::job::Knob& knob) {
  return ui::present::control_of(knob) == ui::present::KnobControl::kSliderInput;
}

// All that its control offers; none where it takes any text or number.
bool offers_values(const trace::job::Knob& knob) {
  return has_slider(knob) || !ui::present::closed_choices(knob).empty();
}

// On a slider also what is set by default, what was recorded and what earlier runs had: a curve
// between its points misses what one value alone does.
std::vector<std::string> curve_values(const Predictor& predictor, const trace::job::Knob& knob,
                                      const ui::state::MeasuredRuns& measured) {
  if (!has_slider(knob)) return ui::present::closed_choices(knob);
  std::vector<std::string> more{trace::job::value_text(Settings{}, knob),
                                trace::job::value_text(predictor.info().settings, knob)};
  if (const auto along = measured.find(&knob); along != measured.end()) {
    for (const ui::state::MeasuredRun& run : along->second) more.push_back(run.value);
  }
  return ui::present::slider_values(knob, kCurvePoints, more);
}

// Of another program's run those that it tells, but for curves of time per sample: how many samples
// a step had it does not tell.
std::vector<const trace::job::Knob*> predictable_knobs(const Predictor& predictor) {
  const auto is_known = [&](const trace::job::Knob& knob) {
    if (!predictor.told()) return trace::tuning::is_predictable(knob);
    const auto& told = predictor.told()->knobs;
    return std::ranges::find(told, &knob) != told.end() && !trace::tuning::changes_samples(knob);
  };
  std::vector<const trace::job::Knob*> found;
  for (const trace::job::Knob& knob : trace::job::knobs()) {
    if (is_known(knob) && offers_values(knob)) found.push_back(&knob);
  }
  return found;
}

// One value by itself is no curve.
void add_curve(KnobCurve curve, PredictionView& view) {
  const bool is_slider = has_slider(*curve.knob);
  if (curve.points.size() > 1) {
    (is_slider ? view.curves : view.choices).push_back(std::move(curve));
  } else if (is_slider && !curve.unpredicted.empty()) {
    view.why_no_curve[curve.knob] = curve.unpredicted.front().why;
  }
}

bool is_written_now(const ui::state::RunView& run) {
  return is_written(run.figures.info, trace::base::wall_clock_ns());
}

// The stamp of the folder of costs changes with each file in it, since files are moved to their
// places there.
trace::base::FileStamp stamp_of_costs(const ui::state::RunView& run) {
  return trace::base::stamp_of(trace::store::library_of(run.figures.info.folder) /
                               trace::predict::kCostsFolder);
}

// What a knob is set to does not change its own curve.
Settings without(const trace::job::Knob& knob, Settings next) {
  trace::job::copy_value(knob, Settings{}, next);
  return next;
}

}  // namespace

void add_all_curves(const Predictor& predictor, const CurveInput& input, PredictionView& view) {
  for (const trace::job::Knob* knob : predictable_knobs(predictor)) {
    const auto values = curve_values(predictor, *knob, view.measured);
    add_curve(trace::tuning::knob_curve(predictor, input.next, *knob, values, input.usable_bytes),
              view);
  }
}

Settings asked_settings(const Predictor& predictor, const ui::state::KnobDraft& draft) {
  const bool shows_others = predictor.told() && draft.told.empty();
  return shows_others ? predictor.info().settings : draft.next;
}

std::int64_t usable_bytes(const ui::state::RunView& run, const ui::state::KnobDraft& draft) {
  return trace::advice::usable_bytes(run.figures, draft.next.ranks);
}

PredictionView predict_next(const LearntRun& learnt, const ui::state::RunView& run,
                            const ui::state::KnobDraft& draft) {
  PredictionView view{.folder = learnt.folder, .ordinal = run.ordinal};
  view.refused = learnt.refused;
  view.may_come = learnt.may_come;
  if (!learnt.predictor) return view;
  const Settings next = asked_settings(*learnt.predictor, draft);
  auto forecast = learnt.predictor->predict_with_step(next, run.selected_step);
  if (!forecast) {
    view.refused = forecast.error().message;
    return view;
  }
  auto& prediction = forecast->prediction;
  const auto& told = learnt.predictor->told();
  if (told) prediction.left_out = untold_knobs(*told, differing_knobs(draft.baseline, draft.next));
  if (prediction.changes.empty()) {
    const auto known = told ? trace::tuning::refuse_untold(*told, prediction.left_out)
                            : trace::tuning::refuse_unknown(prediction.left_out);
    if (!known) view.refused = known.error().message;
  }
  if (run.is_live) measure_now(run.figures, prediction);
  view.prediction = std::move(prediction);
  view.step = std::move(forecast->step);
  return view;
}

RunPredictor::RunPredictor(std::function<void()> on_change)
    : on_change_(std::move(on_change)),
      reading_([this](const Reading& asked, const auto& is_wanted) {
        const Run& run = asked.run;
        const auto costs = stamp_of_costs(*run);  // from before they are read
        if (asked.only_with_other_costs && costs == costs_) return;
        costs_ = costs;
        const LearntRun learnt = source_.learn(run->figures);
        if (!is_wanted()) return;
        publish([&] { learnt_ = learnt; });
        auto advice =
            std::make_shared<const ui::state::AdviceView>(advise_run(run->figures, learnt));
        if (is_wanted()) publish([&] { advice_ = std::move(advice); });
      }),
      drawing_([this](const std::vector<CurveQuestion>& asked, const auto& is_wanted) {
        DrawnCurves drawn;
        for (const CurveQuestion& of : asked) {
          if (!is_wanted()) return;
          drawn[of.knob] = {of, trace::tuning::knob_curve(*of.predictor, of.next, *of.knob,
                                                          of.values, of.usable_bytes)};
        }
        publish([&] {
          for (auto& [knob, curve] : drawn) curves_[knob] = std::move(curve);
        });
      }) {}

void RunPredictor::publish(const std::function<void()>& change) {
  {
    const std::lock_guard lock(mutex_);
    change();
    ++version_;
  }
  if (on_change_) on_change_();
}

bool RunPredictor::is_refused() const {
  const std::lock_guard lock(mutex_);
  return learnt_.folder == asked_folder_ && !learnt_.predictor;
}

// A run that goes on is learnt again when it has grown by a part of what it was, or when it may by
// now tell enough.
bool RunPredictor::is_worth_reading(const ui::state::RunView& run,
                                    std::uint64_t replacements) const {
  const std::size_t steps = run.figures.steps.size();
  const auto& info = run.figures.info;
  if (info.folder != asked_folder_ || info.start_ns != asked_start_ns_) return true;
  if (replacements != asked_replacements_) return true;
  if (run.is_live != asked_live_ || is_written_now(run) != asked_written_) return true;
  const bool may_be_enough = steps <= kFirstSteps && is_refused();
  const std::size_t more = may_be_enough ? 0 : asked_steps_ / kMoreSteps;
  return steps < asked_steps_ || steps > asked_steps_ + more;
}

void RunPredictor::follow(const Run& run, std::uint64_t replacements) {
  run_ = run;
  if (!run) {
    reading_.cancel();
    asked_folder_.clear();
    return;
  }
  if (!is_worth_reading(*run, replacements)) {
    look_for_costs();
    return;
  }
  asked_folder_ = run->figures.info.folder;
  asked_start_ns_ = run->figures.info.start_ns;
  asked_replacements_ = replacements;
  asked_steps_ = run->figures.steps.size();
  asked_live_ = run->is_live;
  asked_written_ = is_written_now(*run);
  reading_.ask({run});
}

// `shardlens calibrate` may have measured what was missing. The disk is the worker's to wait for.
void RunPredictor::look_for_costs() {
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_at_ < kLookPause || !reading_.is_idle()) return;
  looked_at_ = now;
  reading_.ask({run_, true});
}

bool RunPredictor::has_news() const {
  const std::lock_guard lock(mutex_);
  return !answered_ || answered_->version != version_;
}

std::shared_ptr<const Predictor> RunPredictor::told() const {
  const std::lock_guard lock(mutex_);
  const bool is_of_run = run_ && learnt_.folder == run_->figures.info.folder;
  const bool is_told = is_of_run && learnt_.predictor && learnt_.predictor->told();
  return is_told ? learnt_.predictor : nullptr;
}

std::shared_ptr<const ui::state::AdviceView> RunPredictor::advice() const {
  const std::lock_guard lock(mutex_);
  const bool is_of_run = run_ && advice_ && advice_->folder == run_->figures.info.folder;
  return is_of_run ? advice_ : nullptr;
}

std::shared_ptr<const PredictionView> RunPredictor::view(const ui::state::KnobDraft& draft,
                                                         const LedgerOf& ledger) {
  std::unique_lock lock(mutex_);
  if (!run_ || learnt_.folder != run_->figures.info.folder) {
    answered_ = Question{.version = version_};
    return view_ = nullptr;
  }
  const std::int64_t usable = usable_bytes(*run_, draft);
  const Question question{.folder = learnt_.folder,
                          .ordinal = run_->ordinal,
                          .next = draft.next,
                          .baseline = draft.baseline,
                          .shows_told = !draft.told.empty(),
                          .step = run_->selected_step,
                          .usable_bytes = usable,
                          .measured_ns = run_->is_live ? run_->figures.summary.step_ns.mean : 0,
                          .version = version_,
                          .ledger = ledger};
  if (answered_ == question) return view_;
  const LearntRun learnt = learnt_;
  const auto curves = curves_;
  lock.unlock();
  answered_ = question;
  auto view = std::make_shared<PredictionView>(predict_next(learnt, *run_, draft));
  if (learnt.predictor) {
    const Settings next = asked_settings(*learnt.predictor, draft);
    view->measured = measured_runs(ledger, next);
    add_curves(learnt, {next, usable}, curves, *view);
    if (question.measured_ns > 0) {
      for (auto* all : {&view->curves, &view->choices}) {
        for (KnobCurve& curve : *all) {
          measure_now(*learnt.predictor, next, question.measured_ns, curve);
        }
      }
    }
  }
  return view_ = std::move(view);
}

std::optional<trace::model::StepPrediction> RunPredictor::to_keep(const ui::state::KnobDraft& draft,
                                                                  const LedgerOf& ledger,
                                                                  const Machine& machine) {
  const auto answer = view(draft, ledger);
  if (!answer || !answer->prediction || answer->prediction->changes.empty()) return std::nullopt;
  // Of another job than the one that starts, or of what it takes elsewhere.
  const auto& run = run_->figures;
  if (!trace::model::has_settings(run.info)) return std::nullopt;
  if (!would_run_where(run, draft.next, machine)) return std::nullopt;
  // Of a part of what changes: no prediction of this run.
  if (!answer->prediction->left_out.empty()) return std::nullopt;
  return trace::tuning::kept_prediction(*answer->prediction, run.info.name);
}

const ui::state::MeasuredRuns& RunPredictor::measured_runs(const LedgerOf& ledger,
                                                           const Settings& next) {
  if (ledger == measured_.ledger && next == measured_.next) return measured_.runs;
  measured_ = {ledger, next, {}};
  if (ledger) measured_.runs = ui::present::measured_runs(*ledger, next);
  return measured_.runs;
}

void RunPredictor::add_curves(const LearntRun& learnt, const CurveInput& input,
                              const DrawnCurves& drawn, PredictionView& view) {
  std::vector<CurveQuestion> missing;
  for (const trace::job::Knob* knob : predictable_knobs(*learnt.predictor)) {
    auto& curves = has_slider(*knob) ? view.curves : view.choices;
    CurveQuestion wanted{learnt.predictor, knob, without(*knob, input.next), input.usable_bytes,
                         curve_values(*learnt.predictor, *knob, view.measured)};
    const auto found = drawn.find(knob);
    if (found == drawn.end() || found->second.of != wanted) {
      curves.push_back({.knob = knob});
      missing.push_back(std::move(wanted));
    } else {
      add_curve(found->second.curve, view);
    }
  }
  if (!missing.empty() && missing != asked_curves_) drawing_.ask(missing);
  asked_curves_ = std::move(missing);
}

}  // namespace shardlens::app::session
