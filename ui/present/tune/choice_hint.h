// What the values of a knob that is a choice or a checkbox are predicted to do. Free of ImGui; any
// thread.
#pragma once

#include <optional>
#include <string>

#include "ui/state/snapshot.h"

namespace shardlens::ui::present {

// Of one value; null: not predicted, or not yet.
const trace::tuning::CurvePoint* predicted_choice(const state::Snapshot& snapshot,
                                                  const trace::job::Knob& knob,
                                                  std::string_view value);
// Else why it is not, a sentence or more; "": nothing tells.
std::string why_not_predicted(const state::Snapshot& snapshot, const trace::job::Knob& knob,
                              std::string_view value);
// "449.8 ms, +52 ms ± 10 against run 4": the time of a step, or of a sample where steps differ in
// samples.
std::string choice_text(const state::Snapshot& snapshot, const trace::job::Knob& knob,
                        const trace::tuning::CurvePoint& point);

struct ChoiceHint {
  std::string value;  // to set
  std::string text;   // "true: −27.4 ms ± 4.3"
};
// Of those that fit and are surely faster than the one that is set, the surest.
std::optional<ChoiceHint> choice_hint(const state::Snapshot& snapshot,
                                      const trace::job::Knob& knob);

}  // namespace shardlens::ui::present
