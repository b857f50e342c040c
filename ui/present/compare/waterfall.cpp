#include "ui/present/compare/waterfall.h"

#include <algorithm>

#include "ui/present/compare/comparison_text.h"
#include "ui/present/format.h"

namespace shardlens::ui::present {

namespace {

using trace::analysis::ShareDifference;
using trace::analysis::StepShare;
using trace::base::TimeClass;

constexpr double kRoomBeside = 0.12;  // of the axis, on both sides of what moves

TimeClass class_of_phase(std::string_view name) {
  using trace::base::Phase;
  for (const auto& [phase, time_class] :
       {std::pair{Phase::kData, TimeClass::kData}, std::pair{Phase::kForward, TimeClass::kForward},
        std::pair{Phase::kBackward, TimeClass::kBackward},
        std::pair{Phase::kOptimizer, TimeClass::kOptimizerPhase},
        std::pair{Phase::kEvaluation, TimeClass::kEvaluation}}) {
    if (name == trace::base::to_string(phase)) return time_class;
  }
  return TimeClass::kOtherPhase;
}

WaterfallBar total_bar(const std::string& name, double ns) {
  return {.title = name,
          .from_ns = 0,
          .to_ns = ns,
          .is_total = true,
          .text = format_duration(ns).text()};
}

}  // namespace

TimeClass share_class(const ShareDifference& share) {
  switch (share.share) {
    case StepShare::kCompute:
      return TimeClass::kCompute;
    case StepShare::kExposed:
    case StepShare::kTransfer:
      return TimeClass::kExposed;
    case StepShare::kWaiting:
      return TimeClass::kWaiting;
    case StepShare::kExposedCopy:
      return TimeClass::kCopy;
    case StepShare::kIdle:
      return TimeClass::kIdle;
    case StepShare::kUndetailed:
      return TimeClass::kOtherPhase;
    case StepShare::kPhase:
      break;
  }
  return class_of_phase(share.name);
}

Waterfall waterfall_of(const trace::analysis::StepExplanation& explanation, WaterfallOf what,
                       const std::string& first, const std::string& second, std::size_t most_bars) {
  const auto& shares = what == WaterfallOf::kParts ? explanation.parts : explanation.phases;
  Waterfall waterfall;
  if (shares.empty()) return waterfall;
  waterfall.bars.push_back(total_bar(first, explanation.first_ns));
  const std::size_t room = std::max<std::size_t>(most_bars, 3) - 2;
  const std::size_t alone = shares.size() > room ? room - 1 : shares.size();
  double at = explanation.first_ns, low = at, high = at;
  const auto add = [&](WaterfallBar bar, double difference) {
    bar.from_ns = at;
    bar.to_ns = at += difference;
    low = std::min(low, at);
    high = std::max(high, at);
    waterfall.bars.push_back(std::move(bar));
  };
  for (std::size_t i = 0; i < alone; ++i) {
    add({.title = std::string(share_title(shares[i])),
         .text = share_text(shares[i]),
         .beyond_noise = shares[i].beyond_noise,
         .time_class = share_class(shares[i])},
        shares[i].difference());
  }
  double rest = 0;
  for (std::size_t i = alone; i < shares.size(); ++i) rest += shares[i].difference();
  if (alone < shares.size()) {
    add({.title = "the rest",
         .text = trace::base::format_signed_duration(rest),
         .time_class = TimeClass::kOtherPhase},
        rest);
  }
  waterfall.bars.push_back(total_bar(second, explanation.second_ns));
  low = std::min(low, explanation.second_ns);
  high = std::max(high, explanation.second_ns);
  const double span = std::max(high - low, 1e-3 * high);
  waterfall.low_ns = std::max(0.0, low - kRoomBeside / (1 - 2 * kRoomBeside) * span);
  waterfall.high_ns = high + kRoomBeside / (1 - 2 * kRoomBeside) * span;
  // Where they are large, bars that begin at 0 tell more.
  if (waterfall.low_ns < 0.35 * waterfall.high_ns) waterfall.low_ns = 0;
  return waterfall;
}

}  // namespace shardlens::ui::present
