#include "trainer/loop/phase_mark.h"

#include <exception>

#include "profiler/pytorch/torch_sources.h"

namespace shardlens::trainer::loop {

using trace::base::Phase;
using trace::model::MemoryCategory;

namespace {

// What tensors that appear in a phase are for, unless their maker says otherwise. Backward makes
// gradients of activations, too; those of parameters are moved to their category as they appear.
MemoryCategory category_of(Phase phase) {
  switch (phase) {
    case Phase::kForward:
    case Phase::kBackward:
    case Phase::kEvaluation:
      return MemoryCategory::kActivations;
    default:
      return MemoryCategory::kOther;
  }
}

}  // namespace

TrainLoop::PhaseMark::PhaseMark(TrainLoop& loop, std::int64_t step, Phase phase)
    : loop_(loop), scope_(loop.parts_.recorder, phase) {
  loop.phase_ = phase;
  if (loop.parts_.memory_sampler != nullptr) loop.parts_.memory_sampler->sample_phase_border();
  profiler::memory::set_default_category(category_of(phase));
  loop.faults_.enter(step, phase);
}

TrainLoop::PhaseMark::~PhaseMark() {
  profiler::memory::set_default_category(MemoryCategory::kOther);
  // After an exception the phase stays, so that the message can name it.
  if (std::uncaught_exceptions() == 0) loop_.phase_ = Phase::kOther;
}

}  // namespace shardlens::trainer::loop
