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
  return set(knob, known == nullptr ? "" : trace::job::value_text(baseline_, *known));
}

void KnobEditor::reset_all() { next_ = baseline_; }

// As a run has them.
void KnobEditor::replace(const Settings& settings) {
  next_ = trace::job::with_absolute_paths(settings);
}

void KnobEditor::set_baseline(const Settings& settings, const std::string& ordinal,
                              const std::string& name) {
  baseline_ = settings;
  baseline_ordinal_ = ordinal;
  baseline_name_ = name;
}

// By what differs; a repetition is named after what it repeats.
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
          .baseline = baseline_,
          .baseline_name = baseline_ordinal_,
          .problems = trace::job::problems_of(next_),
          .next_name = free_name(taken),
          .estimates = nullptr};
}

}  // namespace shardlens::app::session
