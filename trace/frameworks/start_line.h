// The command that starts a tuned job: environment variables and a launcher. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/frameworks/framework_file.h"

namespace shardlens::trace::frameworks {

// What NCCL, CUDA and OpenMP read, each with a space behind it as a shell takes it: "NCCL_ALGO=Ring
// OMP_NUM_THREADS=4 "; "" where the settings say nothing.
std::string environment_words(const TunedJob& job);
// PyTorch's launcher for all ranks, up to the program: "torchrun --standalone --nproc-per-node 2 ".
std::string torchrun_words(const TunedJob& job);
// The knobs that the environment says, or that there is nothing to say of.
std::vector<std::string_view> knobs_of_environment(const TunedJob& job);

}  // namespace shardlens::trace::frameworks
