// What the generated tests vary. The first value of each factor is the default.
#include "tests/combinations/combinations.h"

namespace shardlens::combinations {

namespace {

// "name=value" for each value.
Factor knob(const std::string& name, const std::vector<std::string>& values) {
  Factor factor;
  for (const std::string& value : values) factor.values.push_back(name + "=" + value);
  return factor;
}

Factor units(std::span<const std::int64_t> smallest_units) {
  Factor factor{{"wrap_policy=transformer_block", "wrap_policy=whole_model"}};
  for (const std::int64_t smallest : smallest_units) {
    factor.values.push_back("wrap_policy=size min_num_params=" + std::to_string(smallest));
  }
  return factor;
}

const std::vector<std::string> kOffOn{"false", "true"};

}  // namespace

std::vector<Factor> training_factors(std::span<const std::int64_t> smallest_units) {
  return {
      knob("ranks", {"2", "3", "4"}),
      knob("sharding_strategy", {"ddp", "zero1", "no_shard", "shard_grad_op", "full_shard",
                                 "hybrid_shard", "hybrid_shard_zero2"}),
      knob("shard_group_size", {"auto", "2"}),
      units(smallest_units),
      knob("backward_prefetch", {"pre", "post", "none"}),
      knob("forward_prefetch", kOffOn),
      knob("limit_all_gathers", kOffOn),
      knob("reshard_after_forward", {"auto", "true", "false"}),
      knob("separate_communicators", kOffOn),
      knob("sync_module_states", kOffOn),
      knob("cpu_offload", kOffOn),
      knob("bucket_cap_mb", {"25", "0.01"}),
      knob("first_bucket_mb", {"auto", "0.01"}),
      knob("gradient_as_bucket_view", kOffOn),
      knob("static_graph", kOffOn),
      knob("find_unused_parameters", kOffOn),
      knob("communication_hook", {"none", "bf16_compress", "fp16_compress"}),
      knob("overlap_comm", {"true", "false"}),
      {{"gradient_accumulation_steps=1", "gradient_accumulation_steps=2",
        "gradient_accumulation_steps=3", "gradient_accumulation_steps=2 sync_each_batch=true",
        "gradient_accumulation_steps=3 sync_each_batch=true"}},
      knob("activation_checkpointing", {"0", "1", "2"}),
      knob("loss_chunk_tokens", {"auto", "48"}),
      knob("precision", {"fp32", "bf16", "fp16"}),
      knob("param_dtype", {"auto", "bf16", "fp16"}),
      knob("reduce_dtype", {"auto", "fp32", "bf16"}),
      knob("buffer_dtype", {"auto", "bf16"}),
      {{"lora_rank=0", "frozen_blocks=2", "lora_rank=4",
        "lora_rank=4 lora_target_modules=all-linear"}},
      knob("base_dtype", {"auto", "fp32", "bf16", "nf4"}),
      {{"optimizer=adamw", "optimizer=sgd learning_rate=0.03"}},
      knob("max_grad_norm", {"1", "0"}),
      knob("evaluate_every", {"0", "1"}),
  };
}

}  // namespace shardlens::combinations
