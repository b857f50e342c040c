#include "app/session/tuning/run_predictor.h"

#include <utility>

#include "app/session/tuning/run_advice.h"
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

bool has_slider(const trace::job::Knob& knob) {
  return ui::present::control_of(knob) == ui::present::KnobControl::kSliderInput;
}

// All that its control offers; none where it takes any text or number.
std::vector<std::string> offered_values(const trace::job::Knob& knob) {
  if (has_slider(knob)) return ui::present::slider_values(knob, kCurvePoints);
  return ui::present::closed_choices(knob);
}

std::vector<const trace::job::Knob*> predictable_knobs() {
  std::vector<const trace::job::Knob*> found;
  for (const trace::job::Knob& knob : trace::job::knobs()) {
    if (trace::tuning::is_predictable(knob) && !offered_values(knob).empty()) {
      found.push_back(&knob);
    }
  }
  return found;
}

KnobCurve curve_of(const Predictor& predictor, const trace::job::Knob& knob, const Settings& next,
                   std::int64_t usable_bytes) {
  return trace::tuning::knob_curve(predictor, next, knob, offered_values(knob), usable_bytes);
}

bool is_worth_drawing(const KnobCurve& curve) { return curve.points.size() > 1; }

// What a knob is set to does not change its own curve.
Settings without(const trace::job::Knob& knob, Settings next) {
  trace::job::copy_value(knob, Settings{}, next);
  return next;
}

}  // namespace

void add_all_curves(const Predictor& predictor, const Settings& next, std::int64_t usable_bytes,
                    PredictionView& view) {
  for (const trace::job::Knob* knob : predictable_knobs()) {
    auto curve = curve_of(predictor, *knob, next, usable_bytes);
    if (!is_worth_drawing(curve)) continue;
    (has_slider(*knob) ? view.curves : view.choices).push_back(std::move(curve));
  }
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
          drawn[of.knob] = {of, curve_of(*of.predictor, *of.knob, of.next, of.usable_bytes)};
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

std::shared_ptr<const ui::state::AdviceView> RunPredictor::advice() const {
  const std::lock_guard lock(mutex_);
  const bool is_of_run = run_ && advice_ && advice_->folder == run_->figures.info.folder;
  return is_of_run ? advice_ : nullptr;
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
  const auto curves = curves_;
  lock.unlock();
  answered_ = question;
  auto view = std::make_shared<PredictionView>(predict_next(learnt, *run_, draft.next));
  if (learnt.predictor) add_curves(learnt, draft.next, usable, curves, *view);
  return view_ = std::move(view);
}

void RunPredictor::add_curves(const LearntRun& learnt, const Settings& next,
                              std::int64_t usable_bytes, const DrawnCurves& drawn,
                              PredictionView& view) {
  std::vector<CurveQuestion> missing;
  for (const trace::job::Knob* knob : predictable_knobs()) {
    auto& curves = has_slider(*knob) ? view.curves : view.choices;
    CurveQuestion wanted{learnt.predictor, knob, without(*knob, next), usable_bytes};
    const auto found = drawn.find(knob);
    if (found == drawn.end() || found->second.of != wanted) {
      curves.push_back({.knob = knob});
      missing.push_back(std::move(wanted));
    } else if (is_worth_drawing(found->second.curve)) {
      curves.push_back(found->second.curve);
    }
  }
  if (!missing.empty() && missing != asked_curves_) drawing_.ask(missing);
  asked_curves_ = std::move(missing);
}

}  // namespace shardlens::app::session
