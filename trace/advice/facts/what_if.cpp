#include "trace/advice/facts/what_if.h"

#include "trace/base/words/quantity.h"

namespace shardlens::trace::advice {

bool WhatIf::is_unsure() const {
  return prediction && !prediction->difference && prediction->narrowest_difference;
}

std::optional<tuning::Interval> WhatIf::bounds() const {
  if (!prediction) return std::nullopt;
  return prediction->difference ? prediction->difference : prediction->narrowest_difference;
}

bool WhatIf::is_slower() const {
  return prediction && prediction->difference && prediction->difference->low_ns > 0;
}

WhatIf what_if(const RunFacts& run, const std::vector<KnobValue>& changes) {
  const auto next = run.with(changes);
  if (!next) return {std::nullopt, "These settings contradict each other."};
  if (run.predictor == nullptr) return {std::nullopt, run.refused};
  auto prediction =
      run.predictor->told() ? run.predictor->predict_known(*next) : run.predictor->predict(*next);
  if (!prediction) return {std::nullopt, prediction.error().message};
  return {std::move(*prediction), ""};
}

namespace {

// Where a step has n times the tokens it takes the place of n recorded ones.
Gain gain_of(const tuning::Prediction& prediction, const tuning::Interval& difference) {
  const auto saved = [&](double difference_ns) {
    return prediction.recorded_step_ns -
           (prediction.recorded_step_ns + difference_ns) / prediction.tokens;
  };
  return {saved(prediction.difference_ns()), {saved(difference.high_ns), saved(difference.low_ns)}};
}

std::string unsure_gain(const tuning::Prediction& prediction, Aim aim, const Gain& gain) {
  return "It is predicted to save " + base::format_duration(gain.ns).text() +
         (aim == Aim::kThroughput ? " for as many samples. " : ". ") + why_unsure(prediction);
}

}  // namespace

bool add_gain(const RunFacts& run, Advice& advice) {
  const WhatIf answer = what_if(run, advice.changes);
  if (!answer.prediction) {
    advice.gain_unknown = answer.unknown;
    return true;
  }
  const tuning::Prediction& prediction = *answer.prediction;
  if (const auto bounds = answer.bounds()) {
    const Gain gain = gain_of(prediction, *bounds);
    const bool is_worth = advice.aim == Aim::kMemory || gain.ns >= run.noticeable_ns();
    if (gain.interval.low_ns > 0 && is_worth) {
      if (answer.is_unsure()) {
        advice.gain_unknown = unsure_gain(prediction, advice.aim, gain);
      } else {
        advice.gain = gain;
      }
      return true;
    }
  }
  if (advice.aim != Aim::kMemory) return false;
  const auto& known = prediction.difference;
  const bool is_unchanged = known && known->low_ns == 0 && known->high_ns == 0;
  if (!known || is_unchanged) {
    const std::string why = why_unsure(prediction);
    advice.gain_unknown =
        why.empty() ? "A step is predicted to take as long."
                    : "A step is predicted to take " +
                          base::format_signed_duration(prediction.difference_ns()) + ". " + why;
    return true;
  }
  const std::string difference = base::format_signed_duration(prediction.difference_ns(),
                                                              (known->high_ns - known->low_ns) / 2);
  advice.gain_unknown = answer.is_slower()
                            ? "A step would take " + difference + "."
                            : "That a step changes at all is not sure: " + difference + ".";
  return true;
}

}  // namespace shardlens::trace::advice
