// Small traces as PyTorch's profiler writes them, for fuzzers. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace shardlens::bench {

enum class KinetoProgram : std::uint8_t { kDdp, kFullyShard, kWrappedModules };
inline constexpr std::array kKinetoPrograms{KinetoProgram::kDdp, KinetoProgram::kFullyShard,
                                            KinetoProgram::kWrappedModules};

// Four steps of one of two ranks.
std::string kineto_sample(KinetoProgram program, int rank, bool on_gpu);

}  // namespace shardlens::bench
