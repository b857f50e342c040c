#include "trace/frameworks/framework_file.h"

#include <algorithm>
#include <array>
#include <utility>

#include "trace/job/library_environment.h"
#include "trace/job/shape/strategy.h"

namespace shardlens::trace::frameworks {

namespace {

// Of these groups, but not how a model is to be parallelised.
constexpr std::array<std::string_view, 12> kOfTheProgram{"device",
                                                         "evaluate_every",
                                                         "evaluation_batches",
                                                         "sample_tokens",
                                                         "seed",
                                                         "sample_prompt",
                                                         "epochs",
                                                         "on_nonfinite",
                                                         "oversubscribe",
                                                         "loss_every",
                                                         "use_orig_params",
                                                         "sample_temperature"};

// What is trained changes buckets, units and memory, but is done to the model before.
constexpr std::string_view kAdapters = "adapters are a part of the model: wrap it by peft before";
constexpr KnobReason kOfAllFrameworks[] = {
    {"lora_rank", kAdapters},
    {"lora_alpha", kAdapters},
    {"lora_dropout", kAdapters},
    {"lora_target_modules", kAdapters},
    {"base_dtype", "load what is frozen in that type before"},
    {"frozen_blocks", "set requires_grad to False in their parameters before"},
    {"communication", "it is a ceiling for speed, not a way to train"},
    {"loss_chunk_tokens", "it belongs to the loss, which your program computes"},
};

bool is_of_parallelism(const job::Knob& knob) {
  if (knob.name == "uneven_inputs") return true;  // how ranks end together, besides the data
  switch (knob.group) {
    case job::KnobGroup::kParallelism:
    case job::KnobGroup::kPrecisionAndMemory:
    case job::KnobGroup::kOptimization:
      return std::ranges::find(kOfTheProgram, knob.name) == kOfTheProgram.end();
    default:
      return false;
  }
}

// What says nothing beside the other settings.
bool is_idle(const job::Knob& knob, const job::Settings& settings) {
  if (knob.name == "base_dtype") return settings.lora_rank == 0;
  if (knob.name == "initial_loss_scale") return !job::scales_loss(settings);
  if (knob.name == "reshard_after_forward") return true;  // follows from the strategy
  return !ignored_with(knob, settings).empty();
}

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

std::string reason_of_knob(std::span<const KnobReason> reasons, std::string_view knob,
                           std::string_view otherwise) {
  const auto found = std::ranges::find(reasons, knob, &KnobReason::knob);
  return std::string(found == reasons.end() ? otherwise : found->text);
}

std::string origin_text(const TunedJob& job) {
  if (job.run.empty()) return "as set for the next run";
  const std::string run = "as in the run '" + job.run + "'";
  return job.changed.empty() ? run : run + ", but " + job.changed;
}

void FrameworkFile::wrote(std::initializer_list<std::string_view> knobs) {
  written.insert(written.end(), knobs);
}

void FrameworkFile::remark_on_loss(const job::Settings& settings) {
  const bool all_have_as_many =
      settings.data == job::Settings{}.data && settings.packing != job::AutoBool::kFalse;
  if (all_have_as_many) return;
  remark(
      "the run's loss is the mean over all targets of a step, but averaging micro-batches and "
      "ranks "
      "gives targets in short texts more weight; to weigh alike, let a micro-batch's loss be the "
      "sum over its targets, times micro-batches and ranks, divided by the step's targets on all "
      "ranks");
}

void FrameworkFile::leave_out_the_rest(const TunedJob& job,
                                       const std::vector<std::string_view>& elsewhere,
                                       const std::function<std::string(std::string_view)>& reason) {
  auto said = written;
  for (const std::string_view knob : knobs_of_environment(job)) said.push_back(knob);
  said.insert(said.end(), elsewhere.begin(), elsewhere.end());
  for (const job::Knob* knob : job::differing_knobs({}, job.settings)) {
    if (!is_of_parallelism(*knob) || is_idle(*knob, job.settings)) continue;
    if (std::ranges::find(said, knob->name) != said.end()) continue;
    std::string why = reason_of_knob(kOfAllFrameworks, knob->name, "");
    if (why.empty()) why = reason(knob->name);
    left_out.push_back({knob->name, value_text(job.settings, *knob), std::move(why)});
  }
}

std::string remarks_text(const FrameworkFile& file) {
  std::string text = "start with: " + file.start + "\n";
  for (const LeftOut& each : file.left_out) {
    text += "left out: " + std::string(each.knob) + ": " + each.value + " (" + each.reason + ")\n";
  }
  for (const std::string& remark : file.remarks) text += "differs: " + remark + "\n";
  return text;
}

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
