#include "app/session/tuning/run_predictor.h"

#include <utility>

#include "trace/tuning/predictable.h"
#include "ui/present/tune/knob_rows.h"

namespace shardlens::app::session {

using trace::job::Settings;
using trace::tuning::KnobCurve;
using trace::tuning::Predictor;
using ui::state::PredictionView;

namespace {

constexpr int kCurvePoints = 48;
constexpr std::size_t kMoreSteps = 4;  // a quarter more than were learnt before

std::vector<const trace::job::Knob*> sliders() {
  std::vector<const trace::job::Knob*> found;
  for (const trace::job::Knob& knob : trace::job::knobs()) {
    const bool slides = ui::present::control_of(knob) == ui::present::KnobControl::kSliderInput;
    if (slides && trace::tuning::is_predictable(knob)) found.push_back(&knob);
  }
  return found;
}

// Where the only slider stands does not change its curve.
Settings without_slider(Settings next) {
  const auto all = sliders();
  if (all.size() != 1) return next;
  (void)trace::job::set_value(next, all.front()->name, trace::job::default_text(*all.front()));
  return next;
}

std::vector<KnobCurve> awaited_curves() {
  std::vector<KnobCurve> curves;
  for (const trace::job::Knob* knob : sliders()) curves.push_back({.knob = knob});
  return curves;
}

}  // namespace

std::vector<KnobCurve> slider_curves(const Predictor& predictor, const Settings& next,
                                     std::int64_t usable_bytes) {
  std::vector<KnobCurve> curves;
  for (const trace::job::Knob* knob : sliders()) {
    const auto values = ui::present::slider_values(*knob, kCurvePoints);
    auto curve = trace::tuning::knob_curve(predictor, next, *knob, values, usable_bytes);
    if (curve.points.size() > 1) curves.push_back(std::move(curve));
  }
  return curves;
}

PredictionView predict_next(const LearntRun& learnt, const ui::state::RunView& run,
                            const Settings& next) {
  PredictionView view{.folder = learnt.folder, .ordinal = run.ordinal};
  view.refused = learnt.refused;
  if (!learnt.predictor) return view;
  auto prediction = learnt.predictor->predict(next);
  auto step = learnt.predictor->predict_step(next, run.selected_step);
  if (!prediction || !step) {
    view.refused = prediction ? step.error().message : prediction.error().message;
    return view;
  }
  view.prediction = std::move(*prediction);
  view.step = std::move(*step);
  return view;
}

RunPredictor::RunPredictor(std::function<void()> on_change)
    : on_change_(std::move(on_change)),
      reading_([this](const Run& run, const auto& is_wanted) {
        LearntRun learnt = source_.learn(run->figures);
        if (is_wanted()) publish([&] { learnt_ = std::move(learnt); });
      }),
      drawing_([this](const CurveQuestion& asked, const auto&) {
        auto curves = slider_curves(*asked.predictor, asked.next, asked.usable_bytes);
        publish([&] { curves_ = {asked, std::move(curves)}; });
      }) {}

void RunPredictor::publish(const std::function<void()>& change) {
  {
    const std::lock_guard lock(mutex_);
    change();
    ++version_;
  }
  if (on_change_) on_change_();
}

// A run that goes on is learnt again when it has grown by a part of what it was.
bool RunPredictor::is_worth_reading(const ui::state::RunView& run) const {
  const std::size_t steps = run.figures.steps.size();
  const auto& info = run.figures.info;
  if (info.folder != asked_folder_ || info.start_ns != asked_start_ns_) return true;
  if (run.is_live != asked_live_) return true;
  return steps < asked_steps_ || steps > asked_steps_ + asked_steps_ / kMoreSteps;
}

void RunPredictor::follow(const Run& run) {
  run_ = run;
  if (!run) {
    reading_.cancel();
    asked_folder_.clear();
    return;
  }
  if (!is_worth_reading(*run)) return;
  asked_folder_ = run->figures.info.folder;
  asked_start_ns_ = run->figures.info.start_ns;
  asked_steps_ = run->figures.steps.size();
  asked_live_ = run->is_live;
  reading_.ask(run);
}

bool RunPredictor::has_news() const {
  const std::lock_guard lock(mutex_);
  return !answered_ || answered_->version != version_;
}

std::shared_ptr<const PredictionView> RunPredictor::view(const ui::state::KnobDraft& draft) {
  std::unique_lock lock(mutex_);
  if (!run_ || learnt_.folder != run_->figures.info.folder) {
    answered_ = Question{.version = version_};
    return view_ = nullptr;
  }
  const std::int64_t usable = draft.estimates ? draft.estimates->usable_bytes : 0;
  const Question question{.folder = learnt_.folder,
                          .ordinal = run_->ordinal,
                          .next = draft.next,
                          .step = run_->selected_step,
                          .usable_bytes = usable,
                          .version = version_};
  if (answered_ == question) return view_;
  const LearntRun learnt = learnt_;
  const Curves curves = curves_;
  lock.unlock();
  answered_ = question;
  auto view = std::make_shared<PredictionView>(predict_next(learnt, *run_, draft.next));
  if (learnt.predictor) {
    const CurveQuestion wanted{learnt.predictor, without_slider(draft.next), usable};
    view->curves = curves.of == wanted ? curves.curves : awaited_curves();
    if (asked_curves_ != wanted) {
      asked_curves_ = wanted;
      drawing_.ask(wanted);
    }
  }
  return view_ = std::move(view);
}

}  // namespace shardlens::app::session
