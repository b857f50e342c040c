#include "app/session/jobs/knob_editor.h"

#include <algorithm>

#include "trace/job/huggingface/find_model.h"
#include "ui/present/job_text.h"

namespace shardlens::app::session {

using trace::job::Settings;

trace::base::Result<void> KnobEditor::set(const std::string& knob, const std::string& text) {
  Settings changed = next_;
  TRY(trace::job::set_value(changed, knob, text));
  next_ = changed;
  return {};
}

trace::base::Result<void> KnobEditor::reset(const std::string& knob) {
  const auto* known = trace::job::find_knob(knob);
  return set(knob, known == nullptr ? "" : trace::job::value_text(baseline(), *known));
}

void KnobEditor::reset_all() {
  next_ = baseline();
  aside_ = baseline_;
}

// Paths become absolute, as they are in a run.
void KnobEditor::replace(const Settings& settings) {
  next_ = aside_ = trace::job::with_absolute_paths(settings);
}

void KnobEditor::begin_with(const Settings& settings) {
  hide_told();  // until it is asked for again
  replace(settings);
}

bool KnobEditor::show_told(const std::string& folder, const trace::tuning::ToldSettings* told) {
  if (told == nullptr && !told_) return false;
  if (told != nullptr && told_ && told_->folder == folder && told_->settings == told->settings) {
    return false;
  }
  hide_told();
  if (told == nullptr) return true;
  told_ = Told{folder, told->settings, told->knobs};
  // It decides which knobs there are, also where no other one can be predicted.
  const trace::job::Knob* strategy = trace::job::find_knob("sharding_strategy");
  if (std::ranges::find(told_->knobs, strategy) == told_->knobs.end()) {
    told_->knobs.push_back(strategy);
  }
  aside_ = next_;
  next_ = with_told(next_);
  for (const auto& [knob, text] : set_beside_[folder]) {
    (void)trace::job::set_value(next_, knob->name, text);  // it was one of the knob's
  }
  return true;
}

bool KnobEditor::is_told(const std::string& knob) const {
  return told_ &&
         std::ranges::find(told_->knobs, trace::job::find_knob(knob)) != told_->knobs.end();
}

void KnobEditor::hide_told() {
  if (!told_) return;
  auto& others = set_beside_[told_->folder];
  others.clear();
  for (const trace::job::Knob* knob : told_->knobs) {
    const std::string text = trace::job::value_text(next_, *knob);
    if (text != trace::job::value_text(told_->settings, *knob)) others[knob] = text;
    trace::job::copy_value(*knob, aside_, next_);
  }
  told_.reset();
}

KnobEditor::Kept KnobEditor::kept() const {
  KnobEditor own = *this;
  own.hide_told();
  return {own.next_, own.set_beside_};
}

void KnobEditor::go_back_to(const Kept& kept) {
  begin_with(kept.settings);
  set_beside_ = kept.set_beside;
}

Settings KnobEditor::with_told(Settings settings) const {
  if (!told_) return settings;
  for (const trace::job::Knob* knob : told_->knobs) {
    trace::job::copy_value(*knob, told_->settings, settings);
  }
  return settings;
}

void KnobEditor::set_baseline(const Settings& settings, const std::string& ordinal,
                              const std::string& name) {
  baseline_ = settings;
  baseline_ordinal_ = ordinal;
  baseline_name_ = name;
}

// By what differs from the baseline, which is of one's own runs whatever another program's tells;
// a repetition is named after what it repeats.
std::string KnobEditor::free_name(const std::vector<std::string>& taken) const {
  const auto is_taken = [&](const std::string& name) {
    return std::ranges::find(taken, name) != taken.end();
  };
  const bool repeats = !baseline_name_.empty() && next_ == baseline_;
  const std::string first = repeats ? std::string(ui::present::repeated_name(baseline_name_))
                                    : trace::job::name_from_difference(baseline_, next_);
  if (!repeats && !is_taken(first)) return first;
  const std::string again = first + " again";
  std::string name = again;
  for (int i = 2; is_taken(name); ++i) name = again + " " + std::to_string(i);
  return name;
}

ui::state::KnobDraft KnobEditor::draft(const std::vector<std::string>& taken) const {
  return {.next = next_,
          .baseline = baseline(),
          .baseline_name = baseline_ordinal_,
          .problems = trace::job::problems_of(next_),
          .next_name = free_name(taken),
          .estimates = nullptr,
          .told = told_ ? told_->knobs : std::vector<const trace::job::Knob*>{}};
}

}  // namespace shardlens::app::session
