#include "ui/present/tune/advice_text.h"

#include "trace/analysis/noise/mean_estimate.h"
#include "trace/base/text.h"
#include "ui/present/format.h"

namespace shardlens::ui::present {

namespace {

using trace::advice::Advice;

// "21.4 ms ± 3.0"
std::string saved_text(const trace::advice::Gain& gain) {
  std::string text = trace::base::format_signed_duration(
      gain.ns, (gain.interval.high_ns - gain.interval.low_ns) / 2);
  if (text.starts_with('+')) text.erase(0, 1);
  return text;
}

}  // namespace

std::string changes_text(const Advice& advice) {
  return trace::base::joined(advice.changes, ", ",
                             [](const auto& change) { return change.knob + "=" + change.value; });
}

std::string evidence_text(const trace::advice::Evidence& evidence) {
  std::string text;
  if (evidence.step >= 0) text = "step " + format_integer(evidence.step);
  if (evidence.rank >= 0)
    text += (text.empty() ? "rank " : ", rank ") + std::to_string(evidence.rank);
  return text.empty() ? evidence.what : text + ": " + evidence.what;
}

AdviceRow advice_row(const Advice& advice, double step_ns) {
  AdviceRow row{.title = advice.title,
                .gain = advice.measured,
                .is_predicted = advice.gain.has_value(),
                .why = advice.why,
                .changes = changes_text(advice),
                .unknown = advice.gain || advice.gain_unknown.empty()
                               ? ""
                               : "Gain not known: " + advice.gain_unknown,
                .shows = advice.evidence.empty() ? "" : evidence_text(advice.evidence.front())};
  if (advice.gain) {
    row.gain = "saves " + saved_text(*advice.gain);
    if (step_ns > 0) row.gain += " (" + format_percent(advice.gain->ns / step_ns).text() + ")";
    if (advice.aim == trace::advice::Aim::kThroughput) row.gain += " for as many samples";
  }
  if (!advice.costs.empty()) row.why += " Costs: " + advice.costs;
  return row;
}

std::string not_tried_text(const state::AdviceView& view) {
  const bool were_tried = view.refused.empty() || view.steps == 0;
  return were_tried ? "" : "Other settings could not be tried. " + view.refused;
}

std::string no_advice_text(const state::AdviceView& view) {
  if (view.steps == 0) return "No step was measured, so nothing can be said";
  std::string text = "Nothing that this run tells would help";
  for (std::size_t i = 0; i < view.looked_at.size(); ++i) {
    text += (i == 0 ? ". Looked at: " : ", ") + std::string(view.looked_at[i]);
  }
  constexpr std::int64_t kFewest = trace::analysis::kFewestWithError;
  if (view.refused.empty() && view.steps < kFewest) {
    text += ". How sure a gain is takes at least " + std::to_string(kFewest) +
            " steps to tell; this run has " + std::to_string(view.steps);
  }
  return text;
}

}  // namespace shardlens::ui::present
