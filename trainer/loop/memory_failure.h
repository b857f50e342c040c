// What to say when memory ran out: what was asked for, what was held, and which changes of the
// settings are estimated to fit. Called where the exception is caught, on any thread.
#pragma once

#include <torch/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "trace/predict/sizes/planned_job.h"
#include "trainer/loop/device_memory.h"

namespace shardlens::trainer::loop {

// From the allocator of a CPU, or from the words of the CUDA allocator's exception and its
// statistics. None: nothing failed there.
std::optional<FailedAllocation> failed_allocation(torch::Device device, std::string_view message);

// Bytes of "Tried to allocate 20.00 GiB. …"; 0: no such words.
std::int64_t asked_bytes(std::string_view message);

// "asked for 1.0 PiB beside 27.3 MiB (parameters 9.1 MiB, …). Estimated to fit …", one line; where
// the job itself is, what is estimated to need less. What fits is measured against the device's
// memory, on a CPU against what was held. `unit`: where in the model, or "".
std::string explain_out_of_memory(const FailedAllocation& failed,
                                  const trace::predict::PlannedJob& job, const std::string& unit);

}  // namespace shardlens::trainer::loop
