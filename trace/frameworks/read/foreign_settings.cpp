#include "trace/frameworks/read/foreign_settings.h"

#include <algorithm>
#include <array>

#include "trace/base/text.h"
#include "trace/frameworks/read/framework_readers.h"

namespace shardlens::trace::frameworks {

namespace {

using Parsed = base::Result<std::optional<ForeignSettings>>;

// Keys without which neither framework trains, so that a damaged file is known for what it was
// meant to be.
bool names_a_foreign_key(const std::string& text) {
  constexpr std::array<std::string_view, 7> kKeys{
      "zero_optimization", "train_micro_batch_size_per_gpu",
      "train_batch_size",  "gradient_clipping",
      "distributed_type",  "compute_environment",
      "torch_autocast"};
  return std::ranges::any_of(
      kKeys, [&](std::string_view key) { return text.find(key) != std::string::npos; });
}

// What their files say by a key or, without it, by their own default. Of other knobs, what differs
// from ours was said.
constexpr auto kSpokenOf = std::to_array<std::string_view>({"sharding_strategy",
                                                            "shard_group_size",
                                                            "wrap_policy",
                                                            "min_num_params",
                                                            "backward_prefetch",
                                                            "forward_prefetch",
                                                            "limit_all_gathers",
                                                            "sync_module_states",
                                                            "cpu_offload",
                                                            "overlap_comm",
                                                            "gradient_as_bucket_view",
                                                            "bucket_cap_mb",
                                                            "first_bucket_mb",
                                                            "communication_hook",
                                                            "batch_per_rank",
                                                            "gradient_accumulation_steps",
                                                            "sync_each_batch",
                                                            "precision",
                                                            "param_dtype",
                                                            "reduce_dtype",
                                                            "buffer_dtype",
                                                            "optimizer",
                                                            "max_grad_norm",
                                                            "drop_last"});

Parsed read_known(const ConfigFile& file, std::int64_t ranks) {
  if (is_accelerate(file)) return read_accelerate(file, ranks);
  if (is_deepspeed(file)) return read_deepspeed(file, ranks);
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Framework framework) {
  return framework == Framework::kDeepSpeed ? "DeepSpeed" : "Accelerate";
}

job::Settings changed_by(const ForeignSettings& foreign, job::Settings job) {
  const auto is_spoken_of = [&](const job::Knob& knob) {
    const auto& left = foreign.left_to_program;
    return std::ranges::find(kSpokenOf, knob.name) != kSpokenOf.end() &&
           std::ranges::find(left, knob.name) == left.end();
  };
  for (const job::Knob& knob : job::knobs()) {
    const bool was_said =
        std::ranges::find(foreign.said, knob.name) != foreign.said.end() ||
        job::value_text(foreign.settings, knob) != job::value_text(job::Settings{}, knob);
    if (was_said || is_spoken_of(knob)) job::copy_value(knob, foreign.settings, job);
  }
  return job;
}

std::string remarks_text(const ForeignSettings& foreign) {
  std::string text;
  for (const IgnoredKey& each : foreign.ignored) {
    text += "ignored: " + each.key + ": " + each.value + " (" + each.reason + ")\n";
  }
  for (const std::string& remark : foreign.remarks) text += "differs: " + remark + "\n";
  return text;
}

Parsed parse_foreign_settings(const std::string& text, const std::string& source,
                              std::int64_t ranks) {
  const std::string plain = plain_json(text);
  const bool is_json = base::trimmed(plain).starts_with('{');
  const bool is_meant = names_a_foreign_key(text);
  if (!is_json && !is_meant) return std::nullopt;
  const auto file = is_json ? parse_json_config(plain, source) : parse_yaml_config(text, source);
  if (file) return read_known(*file, ranks);
  if (is_meant) return tl::make_unexpected(file.error());
  return std::nullopt;  // settings of ours as a map of YAML, or nothing that is known
}

}  // namespace shardlens::trace::frameworks
