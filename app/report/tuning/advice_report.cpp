#include "app/report/tuning/advice_report.h"

#include "app/session/tuning/run_advice.h"
#include "ui/present/tune/advice_text.h"

namespace shardlens::app::report {

namespace {

using trace::advice::Advice;
using trace::advice::Evidence;

Json evidence_json(const Evidence& evidence) {
  Json json{{"what", evidence.what},
            {"step", evidence.step >= 0 ? Json(evidence.step) : Json(nullptr)},
            {"rank", evidence.rank >= 0 ? Json(evidence.rank) : Json(nullptr)},
            {"start_ns", nullptr},
            {"end_ns", nullptr}};
  if (evidence.has_range()) {
    json["start_ns"] = evidence.start_ns;
    json["end_ns"] = evidence.end_ns;
  }
  return json;
}

Json one_json(const Advice& advice) {
  Json evidence = Json::array(), settings = Json::object();
  for (const Evidence& one : advice.evidence) evidence.push_back(evidence_json(one));
  for (const auto& change : advice.changes) settings[change.knob] = change.value;
  Json gain = nullptr;
  if (advice.gain) {
    gain = {{"mean", ms(advice.gain->ns)},
            {"low", ms(advice.gain->interval.low_ns)},
            {"high", ms(advice.gain->interval.high_ns)}};
  }
  return {{"rule", std::string(advice.rule)},
          {"title", advice.title},
          {"sentence", advice.why},
          {"measured", text_or_null(advice.measured)},
          {"evidence", std::move(evidence)},
          {"gain_ms", std::move(gain)},
          {"gain_unknown", advice.gain ? Json(nullptr) : text_or_null(advice.gain_unknown)},
          {"saved_bytes", advice.saved_bytes != 0 ? Json(advice.saved_bytes) : Json(nullptr)},
          {"costs", text_or_null(advice.costs)},
          {"settings", std::move(settings)}};
}

}  // namespace

ui::state::AdviceView advice_of(const trace::analysis::RunFigures& figures) {
  session::PredictionSource source;
  return session::advise_run(figures, source.learn(figures));
}

Json advice_json(const ui::state::AdviceView& view) {
  Json all = Json::array();
  for (const Advice& advice : view.advice) all.push_back(one_json(advice));
  return all;
}

std::string advice_text(const ui::state::AdviceView& view, double step_ns) {
  if (view.advice.empty()) return "\n" + ui::present::no_advice_text(view) + "\n";
  std::string text = "\nWhat would help\n";
  for (const Advice& advice : view.advice) {
    const auto row = ui::present::advice_row(advice, step_ns);
    text += "\n" + row.title + ": " + row.gain + "\n  " + row.why + "\n";
    if (!row.unknown.empty()) text += "  Gain not known: " + row.unknown + "\n";
    if (!row.changes.empty()) text += "  Try it: " + row.changes + "\n";
    for (const Evidence& evidence : advice.evidence) {
      text += "  See " + ui::present::evidence_text(evidence) + "\n";
    }
  }
  return text;
}

}  // namespace shardlens::app::report
