// What the knobs panel shows, from the one table of knobs: rows, what changed, how a slider moves,
// which values a sweep may try. Free of ImGui; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "trace/job/settings/settings.h"
#include "trace/tuning/prediction.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::present {

enum class KnobControl : std::uint8_t { kCheckbox, kChoice, kInput, kSliderInput };

struct KnobRow {
  enum class Kind : std::uint8_t { kHeading, kKnob, kMore, kStrategies } kind = Kind::kKnob;
  trace::job::KnobGroup group = trace::job::KnobGroup::kModelAndData;
  const trace::job::Knob* knob = nullptr;
  KnobControl control = KnobControl::kInput;
  bool changed = false;  // against the baseline
  std::string value;     // as in YAML
  std::string before;    // "run 3: 25", where it changed
  std::string problem;   // "" for none
  std::string note;      // what the value means: of the strategy, what it shards; "" for none
  int hidden = 0;        // of kMore: how many rows unfold; 0: they fold
};

using UnfoldedGroups = std::array<bool, trace::job::kKnobGroupCount>;

// Essential knobs of every group first; of the others only those that changed or have a problem,
// until their group is unfolded. Behind the strategy stands a row for what each would need.
std::vector<KnobRow> knob_rows(const state::KnobDraft& draft, const UnfoldedGroups& unfolded);

KnobControl control_of(const trace::job::Knob& knob);
// All values of a checkbox, or of a choice that takes no other; none of what takes any.
std::vector<std::string> closed_choices(const trace::job::Knob& knob);

// Position 0..1 of a number on its slider; logarithmic where the knob is.
float slider_position(const trace::job::Knob& knob, double value);
// The number at a position: its ends as they are, else two significant digits; integers where the
// knob holds integers.
std::string slider_text(const trace::job::Knob& knob, float position);
// All numbers that a slider gives at `count` positions, and `more` within its range: ascending,
// each once.
std::vector<std::string> slider_values(const trace::job::Knob& knob, int count,
                                       const std::vector<std::string>& more = {});
// The range that a slider covers: a useful part of the allowed one.
struct SliderRange {
  double low = 0, high = 1;
};
SliderRange slider_range(const trace::job::Knob& knob);

// "3 changes against run 3"; "" for none. Several at once: their effects cannot be told apart. What
// the strategy does not obey is none, and what no step takes longer for is counted apart.
std::string change_summary(const state::KnobDraft& draft);
// Where there is none: "as run 3", and beside another program's run "as recorded, else as run 3".
std::string unchanged_text(const state::KnobDraft& draft);

// "2, 6, 25, 100, 400": around the present value of a number, within its slider's range; all
// choices; "" for texts, of which nothing can be proposed. As a sweep's axis takes it.
std::string proposed_values(const trace::job::Knob& knob, const trace::job::Settings& settings);

// The predicted ones first: "bucket_cap_mb=4", "without record: effect not known", "seed: no effect
// on the step".
std::vector<std::string> changed_items(const trace::tuning::Prediction& prediction);

// In at most `most` lines that fit: "a=1 · b=2", "c=3 +4 more". A first item that does not fit
// stands alone.
std::vector<std::string> folded_lines(const std::vector<std::string>& items, std::size_t most,
                                      const std::function<bool(const std::string&)>& fits);

}  // namespace shardlens::ui::present
