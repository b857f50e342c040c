// What the names of NVTX ranges tell of a program that was not written for us. Pure functions, any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trace/model/events.h"

namespace shardlens::profiler::inject {

// "step 17", "ProfilerStep#3", "train_step", "iteration: 5", "Iter 5/100", "Trainer.step"; not
// "optimizer step", not "timestep embedding", and not what else does its part of a step:
// "DeepSpeedEngine.step", "scheduler.step()".
bool names_a_step(std::string_view range);

// 17 of "step 17", "Step: 17/200" and "iter 3 of step 17"; none of "train_step" and "step of rank
// 3".
std::optional<std::int64_t> step_number(std::string_view range);

// "Forward", "model.forward", "loss.backward()", "optimizer.step", "zero_grad", "dataloader", …
std::optional<trace::base::Phase> phase_named(std::string_view range);
// Of one that names the optimizer's phase, whether it updates only after the last of several
// micro-batches, and comes with each of them: "DeepSpeedEngine.step".
bool may_leave_out_the_update(std::string_view range);

// Whether a domain is that of a library (NCCL, cuBLAS, …), whose ranges tell nothing of training.
bool is_of_a_library(std::string_view domain);

// The name without what PyTorch's emit_nvtx adds for each call ("aten::mm, seq = 12, op_id = 7").
std::string_view without_call_details(std::string_view range);
// "step 17" as "step #".
std::string without_numbers(std::string_view range);

}  // namespace shardlens::profiler::inject
