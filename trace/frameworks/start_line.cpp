#include "trace/frameworks/start_line.h"

#include <algorithm>

#include "trace/job/library_environment.h"
#include "trace/job/shape/strategy.h"

namespace shardlens::trace::frameworks {

namespace {

// As a shell takes it for one word.
std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:=-";
  if (text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string word = text;
  std::ranges::replace(word, '\'', ' ');
  return "'" + word + "'";
}

}  // namespace

bool computes_on_gpu(const TunedJob& job) {
  return job.settings.device == job::DeviceChoice::kAuto
             ? job.on_gpu
             : job.settings.device == job::DeviceChoice::kCuda;
}

std::string environment_words(const TunedJob& tuned) {
  const job::Settings& settings = tuned.settings;
  std::string text;
  if (computes_on_gpu(tuned)) {
    const auto changes = job::environment_changes(settings, [](std::string_view) { return false; });
    for (const auto& [name, value] : changes) {
      if (value) text += std::string(name) + "=" + shell_word(*value) + " ";
    }
    if (settings.comm_stream_priority == job::StreamPriority::kHigh) {
      text += "TORCH_NCCL_HIGH_PRIORITY=1 ";
    }
  }
  if (settings.threads_per_rank != job::kAuto) {
    text += "OMP_NUM_THREADS=" + std::to_string(settings.threads_per_rank) + " ";
  }
  return text;
}

std::string torchrun_words(const TunedJob& job) {
  const std::string where = job.nodes > 1 ? "--nnodes " + std::to_string(job.nodes) +
                                                " --rdzv-backend c10d --rdzv-endpoint HOST:29500 "
                                          : "--standalone ";
  return "torchrun " + where + "--nproc-per-node " +
         std::to_string(job.settings.ranks / job.nodes) + " ";
}

std::vector<std::string_view> knobs_of_environment(const TunedJob& job) {
  std::vector<std::string_view> knobs{"nccl_algo",
                                      "nccl_proto",
                                      "nccl_min_channels",
                                      "nccl_max_channels",
                                      "threads_per_rank",
                                      "allocator_conf",
                                      "ranks",
                                      "cuda_device_max_connections"};
  // fully_shard's streams have a high priority whatever is said.
  if (!job::strategy_traits(job.settings.sharding_strategy).has_units) {
    knobs.push_back("comm_stream_priority");
  }
  return knobs;
}

}  // namespace shardlens::trace::frameworks
