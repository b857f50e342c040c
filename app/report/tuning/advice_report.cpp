#include "app/report/tuning/advice_report.h"

#include "app/report/report_json.h"
#include "app/session/tuning/prediction_source.h"
#include "ui/present/tune/advice_text.h"

namespace shardlens::app::report {

namespace {

using trace::advice::Advice;
using trace::advice::Evidence;

Json evidence_json(const Evidence& evidence) {
  return {{"what", evidence.what},
          {"step", known(evidence.step >= 0, evidence.step)},
          {"rank", known(evidence.rank >= 0, evidence.rank)},
          {"start_ns", known(evidence.has_range(), evidence.start_ns)},
          {"end_ns", known(evidence.has_range(), evidence.end_ns)}};
}

Json one_json(const Advice& advice) {
  Json settings = Json::object();
  for (const auto& change : advice.changes) settings[change.knob] = change.value;
  Json gain = nullptr;
  if (advice.gain) gain = estimate_ms(advice.gain->ns, advice.gain->interval);
  return {{"rule", std::string(advice.rule)},
          {"title", advice.title},
          {"sentence", advice.why},
          {"measured", text_or_null(advice.measured)},
          {"evidence", array_of(advice.evidence, evidence_json)},
          {"gain_ms", std::move(gain)},
          {"gain_unknown", advice.gain ? Json(nullptr) : text_or_null(advice.gain_unknown)},
          {"saved_bytes", known(advice.saved_bytes != 0, advice.saved_bytes)},
          {"costs", text_or_null(advice.costs)},
          {"settings", std::move(settings)}};
}

}  // namespace

ui::state::AdviceView advice_of(const trace::analysis::RunFigures& figures) {
  session::PredictionSource source;
  return session::advise_run(figures, source.learn(figures));
}

Json advice_json(const ui::state::AdviceView& view) { return array_of(view.advice, one_json); }

std::string advice_text(const ui::state::AdviceView& view, double step_ns) {
  std::string not_tried = ui::present::not_tried_text(view);
  if (!not_tried.empty()) not_tried = "\n" + not_tried + "\n";
  if (view.advice.empty()) return "\n" + ui::present::no_advice_text(view) + "\n" + not_tried;
  std::string text = "\nWhat would help\n";
  for (const Advice& advice : view.advice) {
    const auto row = ui::present::advice_row(advice, step_ns);
    text += "\n" + row.title + ": " + row.gain + "\n  " + row.why + "\n";
    if (!row.unknown.empty()) text += "  " + row.unknown + "\n";
    if (!row.changes.empty()) text += "  Try it: " + row.changes + "\n";
    for (const Evidence& evidence : advice.evidence) {
      text += "  See " + ui::present::evidence_text(evidence) + "\n";
    }
  }
  return text + not_tried;
}

}  // namespace shardlens::app::report
