// One phase of a step: in the recording, in the memory's categories, and for the message of a
// failure. The training thread.
#pragma once

#include "trainer/loop/train_loop.h"

namespace shardlens::trainer::loop {

class TrainLoop::PhaseMark {
 public:
  PhaseMark(TrainLoop& loop, std::int64_t step, trace::base::Phase phase);
  ~PhaseMark();
  PhaseMark(const PhaseMark&) = delete;
  PhaseMark& operator=(const PhaseMark&) = delete;

 private:
  TrainLoop& loop_;
  profiler::recorder::PhaseScope scope_;
};

}  // namespace shardlens::trainer::loop
