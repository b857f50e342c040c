// Takes the steps and phases that are found in a program which does not tell them. Times are ns of
// CLOCK_REALTIME and never go back.
#pragma once

#include <cstdint>
#include <optional>

#include "trace/model/events.h"

namespace shardlens::profiler::inject {

class StepSink {
 public:
  virtual ~StepSink() = default;
  // `number`: as the program counts it, where it says so.
  virtual void begin_step(std::int64_t at_ns, std::optional<std::int64_t> number) = 0;
  virtual void end_step(std::int64_t at_ns) = 0;
  virtual void begin_phase(trace::base::Phase phase, std::int64_t at_ns) = 0;
  virtual void end_phase(std::int64_t at_ns) = 0;
};

}  // namespace shardlens::profiler::inject
