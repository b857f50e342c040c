#include <yaml-cpp/yaml.h>

#include <map>
#include <string>

#include "trace/frameworks/write/framework_export.h"
#include "trace/job/shape/model_shape.h"
#include "trace/job/shape/strategy.h"

namespace shardlens::trace::frameworks {

namespace {

using job::DataType;
using job::kAuto;
using job::Precision;
using job::Strategy;
using job::WrapPolicy;

constexpr std::string_view kOfTheOptimizer = "it belongs to the optimizer that your program makes";
constexpr std::string_view kOfTheSchedule = "it belongs to the schedule that your program makes";
constexpr std::string_view kNoUnits = "without FSDP there are no units";
constexpr std::string_view kOfReducer = "DeepSpeed reduces instead of DistributedDataParallel";
// What a program says in code instead.
constexpr KnobReason kAccelerateReasons[] = {
    {"gradient_accumulation_steps", "say it in code: Accelerator(gradient_accumulation_steps=…)"},
    {"max_grad_norm", "say it in code: accelerator.clip_grad_norm_(model.parameters(), …)"},
    {"sync_each_batch",
     "say it in code: Accelerator(gradient_accumulation_plugin=GradientAccumulationPlugin("
     "sync_each_batch=True, …))"},
    {"batch_per_rank", "your program's DataLoader has it"},
    {"steps", "your program counts the steps"},
    {"reduce_dtype",
     "say it in code: FullyShardedDataParallelPlugin(mixed_precision_policy="
     "MixedPrecisionPolicy(reduce_dtype=…))"},
    {"param_dtype", "parameters are fp32 unless mixed_precision says otherwise"},
    {"buffer_dtype", "cast the model's buffers in code"},
    {"initial_loss_scale",
     "say it in code: Accelerator(kwargs_handlers=[GradScalerKwargs(init_scale=…)])"},
    {"collective_timeout_s",
     "say it in code: Accelerator(kwargs_handlers=[InitProcessGroupKwargs(timeout=…)])"},
    {"forward_prefetch", "Accelerate refuses it with FSDP 2"},
    {"sync_module_states", "load or initialise the same weights on all ranks"},
    {"comm_stream_priority", "fully_shard's streams always have a high one"},
    {"optimizer", kOfTheOptimizer},
    {"learning_rate", kOfTheOptimizer},
    {"weight_decay", kOfTheOptimizer},
    {"adam_beta1", kOfTheOptimizer},
    {"adam_beta2", kOfTheOptimizer},
    {"adam_epsilon", kOfTheOptimizer},
    {"lr_schedule", kOfTheSchedule},
    {"warmup_steps", kOfTheSchedule},
    {"lr_decay_steps", kOfTheSchedule},
    {"lr_min_ratio", kOfTheSchedule},
    {"lr_cycles", kOfTheSchedule},
    {"lr_power", kOfTheSchedule},
    {"wrap_policy", kNoUnits},
    {"min_num_params", kNoUnits},
};

std::string in_ddp_arguments(const std::string& argument) {
  return "say it in code: Accelerator(kwargs_handlers=[DistributedDataParallelKwargs(" + argument +
         ")])";
}

std::string accelerate_reason(std::string_view knob, const job::Settings& s) {
  const bool is_deepspeed = s.sharding_strategy == Strategy::kZero1;
  for (const std::string_view each :
       {"bucket_cap_mb", "gradient_as_bucket_view", "static_graph", "find_unused_parameters"}) {
    if (knob == each) {
      return is_deepspeed ? std::string(kOfReducer) : in_ddp_arguments(std::string(knob) + "=…");
    }
  }
  if (is_deepspeed && knob == "overlap_comm") return std::string(kOfReducer);
  if (knob == "communication_hook") {
    return is_deepspeed ? std::string(kOfReducer)
                        : in_ddp_arguments("comm_hook=DDPCommunicationHookType.…");
  }
  if (knob == "uneven_inputs") {
    return !is_deepspeed && !job::strategy_traits(s.sharding_strategy).shards_parameters
               ? "say it in code: with accelerator.join_uneven_inputs([model])"
               : "Accelerate joins only DistributedDataParallel; give every rank as many sequences";
  }
  if (knob == "first_bucket_mb") return "Accelerate can give DistributedDataParallel one cap only";
  if (knob == "activation_checkpointing") {
    return s.wrap_policy == WrapPolicy::kTransformerBlock && !is_deepspeed &&
                   job::strategy_traits(s.sharding_strategy).shards_parameters
               ? "fsdp_activation_checkpointing recomputes every block"
               : "say it in code: model.gradient_checkpointing_enable()";
  }
  if (knob == "sharding_strategy") {
    return s.sharding_strategy == Strategy::kNoShard
               ? "FSDP 2 always shards; written as DistributedDataParallel"
               : "its one group holds all ranks, as those of full_shard and shard_grad_op";
  }
  if (knob == "wrap_policy" && s.wrap_policy == WrapPolicy::kWholeModel &&
      job::strategy_traits(s.sharding_strategy).shards_parameters) {
    return "Accelerate makes units of the embedding and of the head with NO_WRAP, too";
  }
  if (knob == "shard_group_size") return "one group holds all ranks";
  if (knob == "precision") {
    return "written as mixed_precision, with which Accelerate's FSDP also gathers and reduces in "
           "16 bits, as param_dtype does here";
  }
  return reason_of_knob(kAccelerateReasons, knob,
                        reason_of_knob(kPyTorchReasons, knob, "Accelerate has no such setting"));
}

// The class in transformers of a preset's blocks; "" of a folder's, whose own class knows it.
std::string block_class(const std::string& model) {
  const auto shape = job::find_model_preset(model);
  if (!shape) return "";
  switch (shape->layout) {
    case job::ModelLayout::kGpt2:
      return "GPT2Block";
    case job::ModelLayout::kLlama:
      return "LlamaDecoderLayer";
    case job::ModelLayout::kBert:
      return "BertLayer";
    case job::ModelLayout::kRoberta:
      return "RobertaLayer";
  }
  return "";
}

using Section = std::map<std::string, std::string>;

std::string yaml_text(const Section& top, const std::map<std::string, Section>& sections) {
  YAML::Emitter out;
  const auto add = [&](const std::string& key, const std::string& value) {
    out << YAML::Key << key << YAML::Value;
    // Which YAML 1.1, as Python reads it, takes for false.
    if (value == "no") out << YAML::SingleQuoted;
    out << value;
  };
  out << YAML::BeginMap;
  for (const auto& [key, value] : top) {
    const auto section = sections.find(key);
    if (section == sections.end()) {
      add(key, value);
      continue;
    }
    out << YAML::Key << key << YAML::Value << YAML::BeginMap;
    for (const auto& [inner, inner_value] : section->second) add(inner, inner_value);
    out << YAML::EndMap;
  }
  out << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

// Text that cannot end the comment it stands in.
std::string commented(const std::string& lines) {
  std::string text = "# ";
  for (const char c : lines) text += c == '\n' ? std::string("\n# ") : std::string(1, c);
  text.resize(text.size() - 2);  // behind the last line
  return text;
}

std::string yes_no(bool value) { return value ? "true" : "false"; }

class AccelerateFile {
 public:
  explicit AccelerateFile(const TunedJob& tuned)
      : job_(tuned),
        s_(tuned.settings),
        traits_(job::strategy_traits(s_.sharding_strategy)),
        shards_(traits_.shards_parameters) {}

  FrameworkFile write() {
    add_machine();
    if (s_.sharding_strategy == Strategy::kZero1) {
      add_deepspeed();
    } else if (shards_) {
      add_units();
      if (traits_.has_groups) add_groups();
    } else {
      add_replicas();
    }
    add_precision();
    file_.start = environment_words(job_) + launcher() + "train.py";
    file_.remark_on_loss(s_);
    file_.leave_out_the_rest(job_, said_elsewhere_,
                             [&](std::string_view knob) { return accelerate_reason(knob, s_); });
    file_.text = commented(heading()) + yaml_text(top_, sections_);
    return std::move(file_);
  }

 private:
  void add_machine() {
    top_ = {{"compute_environment", "LOCAL_MACHINE"},
            {"debug", "false"},
            {"downcast_bf16", "no"},
            {"enable_cpu_affinity", "false"},
            {"machine_rank", "0"},
            {"main_training_function", "main"},
            {"num_machines", std::to_string(job_.nodes)},
            {"num_processes", std::to_string(s_.ranks)},
            {"rdzv_backend", job_.nodes > 1 ? "c10d" : "static"},
            {"same_network", "true"},
            {"use_cpu", "false"}};
    file_.wrote({"ranks"});
  }

  std::string launcher() {
    if (top_["distributed_type"] == "MULTI_CPU") {
      file_.remark(
          "of ranks on CPUs `accelerate launch` starts one, unless MPI starts them: torchrun "
          "starts all, with what this file says in the environment");
      return "ACCELERATE_USE_CPU=true ACCELERATE_MIXED_PRECISION=" + top_["mixed_precision"] + " " +
             torchrun_words(job_);
    }
    return "accelerate launch --config_file accelerate.yaml " +
           std::string(job_.nodes > 1 ? "--machine_rank N --main_process_ip HOST "
                                        "--main_process_port 29500 "
                                      : "");
  }

  // What a run on the CPU shards is written for GPUs, as Accelerate shards nowhere else.
  void say_what_needs_a_gpu(const std::string& what) {
    if (!computes_on_gpu(job_)) {
      file_.remark("Accelerate uses " + what + " on GPUs only; on the CPU it would train as ddp");
    }
  }

  void add_replicas() {
    const bool on_gpu = computes_on_gpu(job_);
    top_["distributed_type"] = s_.ranks == 1 ? "NO" : on_gpu ? "MULTI_GPU" : "MULTI_CPU";
    top_["use_cpu"] = yes_no(!on_gpu);
    if (s_.sharding_strategy == Strategy::kDdp) {
      file_.wrote({"sharding_strategy"});
      if (s_.first_bucket_mb == s_.bucket_cap_mb) said_elsewhere_.push_back("first_bucket_mb");
    }
  }

  void add_deepspeed() {
    top_["distributed_type"] = "DEEPSPEED";
    top_["deepspeed_config"] = "";
    sections_["deepspeed_config"] = {
        {"gradient_accumulation_steps", std::to_string(s_.gradient_accumulation_steps)},
        {"gradient_clipping", value_text(s_, *job::find_knob("max_grad_norm"))},
        {"offload_optimizer_device", "none"},
        {"offload_param_device", "none"},
        {"zero3_init_flag", "false"},
        {"zero_stage", "1"}};
    file_.wrote({"sharding_strategy", "gradient_accumulation_steps", "max_grad_norm"});
    say_what_needs_a_gpu("DeepSpeed");
    file_.remark(
        "stage 1 has DeepSpeed's buckets here; `export --format deepspeed` also writes theirs");
  }

  void add_units() {
    top_["distributed_type"] = "FSDP";
    top_["fsdp_config"] = "";
    Section& fsdp = sections_["fsdp_config"];
    fsdp = {{"fsdp_version", "2"},
            {"fsdp_reshard_after_forward", yes_no(traits_.frees_after_forward)},
            {"fsdp_offload_params", yes_no(s_.cpu_offload)},
            {"fsdp_cpu_ram_efficient_loading", "false"},
            {"fsdp_state_dict_type", s_.checkpoint_format == job::CheckpointFormat::kSharded
                                         ? "SHARDED_STATE_DICT"
                                         : "FULL_STATE_DICT"}};
    file_.wrote({"sharding_strategy", "cpu_offload", "checkpoint_format"});
    add_wrapping(fsdp);
    file_.remark(std::string(kUnitsOfAccelerate));
    if (!traits_.frees_after_forward && s_.gradient_accumulation_steps > 1 && !s_.sync_each_batch) {
      file_.remark(std::string(kMicroBatchesOfAccelerate));
    }
    const bool is_block = s_.wrap_policy == WrapPolicy::kTransformerBlock;
    fsdp["fsdp_activation_checkpointing"] = yes_no(is_block && s_.activation_checkpointing > 0);
    if (s_.activation_checkpointing == 0 || (is_block && s_.activation_checkpointing == 1)) {
      file_.wrote({"activation_checkpointing"});
    }
    say_what_needs_a_gpu("FSDP");
  }

  void add_wrapping(Section& fsdp) {
    if (s_.wrap_policy != WrapPolicy::kWholeModel) file_.wrote({"wrap_policy"});
    switch (s_.wrap_policy) {
      case WrapPolicy::kTransformerBlock:
        fsdp["fsdp_auto_wrap_policy"] = "TRANSFORMER_BASED_WRAP";
        if (const std::string block = block_class(s_.model); !block.empty()) {
          fsdp["fsdp_transformer_layer_cls_to_wrap"] = block;
        }
        return;
      case WrapPolicy::kSize:
        fsdp["fsdp_auto_wrap_policy"] = "SIZE_BASED_WRAP";
        fsdp["fsdp_min_num_params"] = std::to_string(s_.min_num_params);
        file_.wrote({"min_num_params"});
        return file_.remark(
            "fsdp_min_num_params counts what already is in a unit, too, and Accelerate 1.15 fails "
            "where a list of blocks is larger, since fully_shard refuses lists; "
            "TRANSFORMER_BASED_WRAP does not");
      case WrapPolicy::kWholeModel:
        fsdp["fsdp_auto_wrap_policy"] = "NO_WRAP";
        return;
    }
  }

  void add_groups() {
    const std::int64_t group = job::shard_group_size(s_, s_.ranks, s_.ranks / job_.nodes);
    if (group == s_.ranks) {
      std::erase(file_.written, "sharding_strategy");
      return;
    }
    top_["parallelism_config"] = "";
    sections_["parallelism_config"] = {
        {"parallelism_config_dp_replicate_size", std::to_string(s_.ranks / group)},
        {"parallelism_config_dp_shard_size", std::to_string(group)}};
    if (s_.shard_group_size != kAuto) file_.wrote({"shard_group_size"});
  }

  static std::string type_name_of(DataType type) {
    return type == DataType::kBf16 ? "bf16" : type == DataType::kFp16 ? "fp16" : "no";
  }
  void add_precision() {
    const bool computes_in_fp32 = s_.precision == Precision::kFp32;
    std::string mixed = computes_in_fp32 ? "no" : value_text(s_, *job::find_knob("precision"));
    if (!shards_ || computes_in_fp32) file_.wrote({"precision"});
    if (shards_ && computes_in_fp32) {
      mixed = type_name_of(s_.param_dtype);
      if (s_.param_dtype != DataType::kFp32) file_.wrote({"param_dtype"});
      const DataType as_reduced =
          s_.param_dtype == DataType::kAuto ? DataType::kFp32 : s_.param_dtype;
      if (s_.reduce_dtype == as_reduced) said_elsewhere_.push_back("reduce_dtype");
    }
    top_["mixed_precision"] = mixed;
    if (s_.sharding_strategy == Strategy::kZero1 && mixed != "no") {
      file_.remark(
          "with DeepSpeed mixed_precision keeps weights and gradients in 16 bits, beside an "
          "fp32 copy in the optimizer");
    }
  }

  std::string heading() const {
    std::string origin = origin_text(job_);
    for (char& c : origin) c = static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    return std::string(traits_.name) + " " + origin +
           ", for Accelerate 1.15. Written by Shardlens.\n" + remarks_text(file_);
  }

  const TunedJob& job_;
  const job::Settings& s_;
  const job::StrategyTraits& traits_;
  const bool shards_;
  Section top_;  // a section's own key has an empty value
  std::map<std::string, Section> sections_;
  FrameworkFile file_;
  std::vector<std::string_view> said_elsewhere_;  // or as the default does; not in the file
};

}  // namespace

FrameworkFile accelerate_config(const TunedJob& job) { return AccelerateFile(job).write(); }

}  // namespace shardlens::trace::frameworks
