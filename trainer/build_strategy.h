// From settings to the strategy they ask for. The training thread.
#pragma once

#include <memory>

#include "profiler/recorder.h"
#include "trace/model/settings.h"
#include "trainer/comm/communicator.h"
#include "trainer/model/model.h"
#include "trainer/strategy/strategy.h"

namespace shardlens::trainer {

// `model` and `communicator` outlive the strategy. Throws c10::Error when ranks differ or the ranks
// cannot be divided as asked.
std::unique_ptr<Strategy> build_strategy(const trace::Settings& settings, Model& model,
                                         Communicator& communicator, profiler::Recorder& recorder,
                                         int local_world_size);

}  // namespace shardlens::trainer
