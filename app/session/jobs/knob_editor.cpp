#include "app/session/jobs/knob_editor.h"

#include <algorithm>

namespace shardlens::app {

using trace::Settings;

trace::Result<void> KnobEditor::set(const std::string& knob, const std::string& text) {
  Settings changed = next_;
  TRY(trace::set_value(changed, knob, text));
  next_ = changed;
  return {};
}

trace::Result<void> KnobEditor::reset(const std::string& knob) {
  const auto* known = trace::find_knob(knob);
  return set(knob, known == nullptr ? "" : trace::value_text(baseline_, *known));
}

void KnobEditor::reset_all() { next_ = baseline_; }

void KnobEditor::replace(const Settings& settings) { next_ = settings; }

void KnobEditor::set_baseline(const Settings& settings, const std::string& ordinal,
                              const std::string& name) {
  baseline_ = settings;
  baseline_ordinal_ = ordinal;
  baseline_name_ = name;
}

// By what differs; a repetition is named after what it repeats.
std::string KnobEditor::wanted_name() const {
  constexpr std::string_view kAgain = " again";
  if (baseline_name_.empty() || next_ != baseline_) {
    return trace::name_from_difference(baseline_, next_);
  }
  const auto repeated = baseline_name_.find(kAgain);
  return baseline_name_.substr(0, repeated).append(kAgain);
}

ui::KnobDraft KnobEditor::draft(const std::vector<std::string>& taken) const {
  const auto wanted = wanted_name();
  auto name = wanted;
  for (int i = 2; std::ranges::find(taken, name) != taken.end(); ++i) {
    name = wanted + " " + std::to_string(i);
  }
  return {.next = next_,
          .baseline = baseline_,
          .baseline_name = baseline_ordinal_,
          .problems = trace::problems_of(next_),
          .next_name = name,
          .estimates = nullptr};
}

}  // namespace shardlens::app
