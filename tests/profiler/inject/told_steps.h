// Writes down what a finder of steps tells: "step 10..30: forward 10..20, backward 20..30".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/inject/steps/step_sink.h"

namespace shardlens::profiler::test {

class ToldSteps final : public inject::StepSink {
 public:
  struct Phase {
    trace::base::Phase phase = trace::base::Phase::kOther;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
  };
  struct Step {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::optional<std::int64_t> number;
  };
  void begin_step(std::int64_t at_ns, std::optional<std::int64_t> number) override {
    steps.push_back({at_ns, -1, number});
  }
  void end_step(std::int64_t at_ns) override { steps.back().end_ns = at_ns; }
  void begin_phase(trace::base::Phase phase, std::int64_t at_ns) override {
    phases.push_back({phase, at_ns, -1});
  }
  void end_phase(std::int64_t at_ns) override { phases.back().end_ns = at_ns; }

  // The steps that have ended: "0-40 40-80".
  std::string ended() const {
    std::string text;
    for (const Step& step : steps) {
      if (step.end_ns < 0) continue;
      text += (text.empty() ? "" : " ") + std::to_string(step.start_ns) + "-" +
              std::to_string(step.end_ns);
    }
    return text;
  }
  // "forward 0-10 backward 10-30"
  std::string phases_text() const {
    std::string text;
    for (const Phase& phase : phases) {
      text += (text.empty() ? "" : " ") + std::string(trace::base::to_string(phase.phase)) + " " +
              std::to_string(phase.start_ns) + "-" + std::to_string(phase.end_ns);
    }
    return text;
  }

  std::vector<Step> steps;
  std::vector<Phase> phases;
};

}  // namespace shardlens::profiler::test
