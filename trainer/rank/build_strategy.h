// From settings to the strategy they ask for. The training thread.
#pragma once

#include <functional>
#include <memory>

#include "profiler/recorder/recorder.h"
#include "trace/job/settings/settings.h"
#include "trainer/comm/communicator.h"
#include "trainer/model/layers/parameter_source.h"
#include "trainer/model/model.h"
#include "trainer/strategy/strategy.h"

namespace shardlens::trainer::rank {

// `model` and `communicator` outlive the strategy. Parameters without memory get it, and their
// values from `source`: whole on rank 0, which sends them to the others, or shard by shard.
// `after_reading`: called on all ranks once this one has read what it has to. Throws c10::Error
// when ranks differ or the ranks cannot be divided as asked.
std::unique_ptr<strategy::Strategy> build_strategy(
    const trace::job::Settings& settings, model::Model& model, comm::Communicator& communicator,
    profiler::recorder::Recorder& recorder, int local_world_size,
    model::ParameterSource* source = nullptr, const std::function<void()>& after_reading = nullptr);

}  // namespace shardlens::trainer::rank
