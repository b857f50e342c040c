// What would help, in words, for the window and for reports. Free of ImGui; any thread.
#pragma once

#include <string>

#include "ui/state/snapshot.h"

namespace shardlens::ui::present {

struct AdviceRow {
  std::string title;          // "Lower the bucket cap to 4 MiB"
  std::string gain;           // "saves 21.4 ms ± 3.0 (8.9 %)"; without one what was measured
  bool is_predicted = false;  // `gain` is one
  std::string why;            // with what it costs
  std::string changes;        // "bucket_cap_mb=4"; "": no knob does it
  std::string unknown;        // "Gain not known: …"; "" where one is predicted
  std::string shows;          // where a click leads: "step 41, rank 1: bucket 3 (4.00 MiB)"
};

// `step_ns`: the mean of the run, of which gains are told as shares.
AdviceRow advice_row(const trace::advice::Advice& advice, double step_ns);
std::string evidence_text(const trace::advice::Evidence& evidence);
std::string changes_text(const trace::advice::Advice& advice);
// Where there is no advice: that there is none, and what was looked at.
std::string no_advice_text(const state::AdviceView& view);
// "Other settings could not be tried. …"; "": they were.
std::string not_tried_text(const state::AdviceView& view);

}  // namespace shardlens::ui::present
