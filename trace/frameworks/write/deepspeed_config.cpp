#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "trace/frameworks/write/framework_export.h"
#include "trace/job/shape/strategy.h"
#include "trace/model/acting_settings.h"

namespace shardlens::trace::frameworks {

namespace {

using job::DataType;
using job::kAuto;
using job::LrSchedule;
using job::Precision;
using job::Strategy;
using Json = nlohmann::ordered_json;

int zero_stage(Strategy strategy) {
  switch (strategy) {
    case Strategy::kDdp:
    case Strategy::kNoShard:
      return 0;
    case Strategy::kZero1:
      return 1;
    case Strategy::kShardGradOp:
    case Strategy::kHybridShardZero2:
      return 2;
    case Strategy::kFullShard:
    case Strategy::kHybridShard:
      return 3;
  }
  return 0;
}

constexpr std::string_view kIgnoredBesideAutocast =
    "beside autocast stages 1 to 3 ignore communication_data_type and reduce in fp32";
constexpr KnobReason kDeepSpeedReasons[] = {
    {"first_bucket_mb", "DeepSpeed's buckets all have one size"},
    {"uneven_inputs", "DeepSpeed has no Join; give every rank as many sequences"},
    {"static_graph", "DeepSpeed's hooks fire per parameter, whatever the graph"},
    {"find_unused_parameters", "DeepSpeed reduces what has a gradient and needs no search"},
    {"forward_prefetch", "stage 3 fetches ahead in forward whenever it does in backward"},
    {"limit_all_gathers", "stage 3 bounds what is gathered by stage3_max_live_parameters"},
    {"separate_communicators", "DeepSpeed has one communicator for each group"},
    {"sync_module_states", "DeepSpeed always broadcasts rank 0's weights"},
    {"wrap_policy", "DeepSpeed has no units: stage 3 gathers module by module"},
    {"min_num_params", "DeepSpeed has no units: stage 3 gathers module by module"},
    {"activation_checkpointing",
     "DeepSpeed recomputes what the model passes to checkpoint(), as after "
     "model.gradient_checkpointing_enable()"},
    {"sync_each_batch", "stages 0 and 1 reduce once a step"},
    {"collective_timeout_s", "pass it to deepspeed.init_distributed(timeout=timedelta(seconds=…))"},
    {"comm_stream_priority", "DeepSpeed makes its streams itself"},
    {"steps", "without a schedule of DeepSpeed's the program counts the steps"},
    {"precision", "DeepSpeed's fp16 casts the model, as param_dtype: fp16 does"},
    {"param_dtype", "DeepSpeed keeps parameters in fp32 unless bf16 or fp16 is enabled"},
    {"reduce_dtype", kIgnoredBesideAutocast},
    {"communication_hook", kIgnoredBesideAutocast},
    {"buffer_dtype", "only what bf16 and fp16 cast has buffers of another type there"},
    {"initial_loss_scale", "DeepSpeed's begins with a power of two"},
};

std::string deepspeed_reason(std::string_view knob, const job::Settings& settings) {
  const int stage = zero_stage(settings.sharding_strategy);
  if (stage == 0 && (knob == "bucket_cap_mb" || knob == "gradient_as_bucket_view")) {
    return "stage 0 reduces in buckets of 500,000,000 elements that nothing changes";
  }
  if (knob == "backward_prefetch") {
    return stage == 3 ? "stage 3 fetches ahead before a module's backward, as pre does"
                      : "stage 2 gathers nothing in backward";
  }
  if (knob == "lr_schedule" && settings.epochs > 0) {
    return "it falls over as many steps as the epochs have, which your program knows: pass it as "
           "deepspeed.initialize(lr_scheduler=…)";
  }
  if (knob.starts_with("lr_") || knob == "warmup_steps") {
    return "DeepSpeed has no such schedule: pass one as deepspeed.initialize(lr_scheduler=…), "
           "as `export --format pytorch` makes it";
  }
  return reason_of_knob(kDeepSpeedReasons, knob, "DeepSpeed has no such setting");
}

class DeepSpeedFile {
 public:
  explicit DeepSpeedFile(const TunedJob& tuned)
      : job_(tuned),
        s_(tuned.settings),
        has_units_(job::strategy_traits(s_.sharding_strategy).has_units),
        stage_(zero_stage(s_.sharding_strategy)) {}

  FrameworkFile write() {
    add_batch();
    add_zero();
    add_precision();
    add_optimizer();
    add_scheduler();
    file_.text = json_.dump(2) + "\n";
    file_.start = environment_words(job_) + launcher() +
                  " train.py --deepspeed --deepspeed_config ds_config.json";
    file_.remark_on_loss(s_);
    said_elsewhere_.push_back("sharding_strategy");
    file_.leave_out_the_rest(job_, said_elsewhere_,
                             [&](std::string_view knob) { return deepspeed_reason(knob, s_); });
    add_strategy();
    return std::move(file_);
  }

 private:
  std::string launcher() const {
    const std::string per_node = std::to_string(s_.ranks / job_.nodes);
    return job_.nodes == 1 ? "deepspeed --num_gpus " + per_node
                           : "deepspeed --hostfile HOSTFILE --num_nodes " +
                                 std::to_string(job_.nodes) + " --num_gpus " + per_node;
  }

  void add_batch() {
    json_["train_batch_size"] = s_.batch_per_rank * s_.gradient_accumulation_steps * s_.ranks;
    json_["train_micro_batch_size_per_gpu"] = s_.batch_per_rank;
    json_["gradient_accumulation_steps"] = s_.gradient_accumulation_steps;
    json_["gradient_clipping"] = s_.max_grad_norm;
    file_.wrote({"batch_per_rank", "gradient_accumulation_steps", "max_grad_norm", "ranks"});
  }

  // ---- ZeRO -------------------------------------------------------------------------------------

  void add_zero() {
    json_["zero_optimization"]["stage"] = stage_;
    Json& zero = json_["zero_optimization"];
    if (stage_ == 0) {
      if (!has_units_ && s_.overlap_comm) {
        file_.remark("stage 0 reduces after backward; stage 1 overlaps with it");
      }
      if (!has_units_ && !s_.overlap_comm) file_.wrote({"overlap_comm"});
    } else if (stage_ == 1) {
      add_buckets(zero);
    } else {
      zero["overlap_comm"] = true;
      zero["contiguous_gradients"] = true;
      add_micro_batches();
    }
    if (stage_ == 3) add_prefetch(zero);
    if (s_.sharding_strategy == Strategy::kHybridShard) add_group(zero);
    add_offload(zero);
  }

  void add_buckets(Json& zero) {
    zero["reduce_bucket_size"] =
        std::max(1.0, std::round(s_.bucket_cap_mb * kGradientElementsPerMiB));
    zero["reduce_bucket_size"] = zero["reduce_bucket_size"].get<std::int64_t>();
    zero["overlap_comm"] = s_.overlap_comm;
    zero["contiguous_gradients"] = s_.gradient_as_bucket_view;
    file_.wrote({"bucket_cap_mb", "overlap_comm", "gradient_as_bucket_view"});
    const double first = model::first_bucket_mb(s_.first_bucket_mb, s_.bucket_cap_mb);
    if (first == s_.bucket_cap_mb) {
      said_elsewhere_.push_back("first_bucket_mb");
    } else if (s_.first_bucket_mb == kAuto) {
      file_.remark("the first bucket is as large as the others: " +
                   value_text(s_, *job::find_knob("bucket_cap_mb")) + " MiB instead of 1 MiB");
    }
  }

  void add_micro_batches() {
    if (s_.sync_each_batch) return file_.wrote({"sync_each_batch"});
    if (s_.gradient_accumulation_steps > 1) {
      file_.remark(
          "stages 2 and 3 reduce in every micro-batch, as with sync_each_batch: true, and send " +
          std::to_string(s_.gradient_accumulation_steps) + " times as much for it");
    }
  }

  void add_prefetch(Json& zero) {
    const bool prefetches = s_.backward_prefetch != job::BackwardPrefetch::kNone;
    zero["stage3_prefetch_bucket_size"] = prefetches ? kDeepSpeedPrefetchElements : 0;
    if (s_.backward_prefetch != job::BackwardPrefetch::kPost) file_.wrote({"backward_prefetch"});
    if (prefetches == s_.forward_prefetch) file_.wrote({"forward_prefetch"});
    if (prefetches && !s_.forward_prefetch) {
      file_.remark(
          "stage 3 fetches ahead in forward, too; only stage3_prefetch_bucket_size 0, which "
          "stops both, prevents it");
    }
  }

  void add_group(Json& zero) {
    const std::int64_t group = job::shard_group_size(s_, s_.ranks, s_.ranks / job_.nodes);
    if (group < 2) return;
    zero["zero_hpz_partition_size"] = group;
    if (s_.shard_group_size != kAuto) file_.wrote({"shard_group_size"});
    file_.remark("hybrid_shard is written as ZeRO++'s hpZ: backward gathers within groups of " +
                 std::to_string(group) +
                 " ranks, but gradients and optimizer state stay sharded over all of them, since "
                 "MiCS, its exact counterpart, is no part of DeepSpeed 0.19 any more");
  }

  void add_offload(Json& zero) {
    if (stage_ < 2) return;
    file_.wrote({"cpu_offload"});
    if (!s_.cpu_offload) return;
    zero["offload_optimizer"] = {{"device", "cpu"}, {"pin_memory", true}};
    if (stage_ == 3) zero["offload_param"] = {{"device", "cpu"}, {"pin_memory", true}};
  }

  // Why what is written is not the strategy; "": it is.
  std::string why_not_the_strategy() const {
    switch (s_.sharding_strategy) {
      case Strategy::kNoShard:
        return "written as stage 0, which reduces everything after backward, not by units";
      case Strategy::kHybridShardZero2:
        return "written as stage 2, which has no groups and shards over all ranks";
      case Strategy::kHybridShard:
        return json_["zero_optimization"].contains("zero_hpz_partition_size")
                   ? ""
                   : "written as stage 3, since its groups have one rank";
      default:
        return "";
    }
  }
  void add_strategy() {
    const job::Knob& knob = *job::find_knob("sharding_strategy");
    const std::string why = why_not_the_strategy();
    if (why.empty()) return file_.wrote({knob.name});
    file_.left_out.insert(file_.left_out.begin(), {knob.name, value_text(s_, knob), why});
  }

  // ---- types of numbers -------------------------------------------------------------------------

  void add_precision() {
    // With units read in again as param_dtype.
    const bool casts_model = has_units_ && s_.precision == Precision::kFp16;
    if (!casts_model) types_.push_back("precision");
    if (s_.precision == Precision::kBf16) {
      json_["torch_autocast"] = {{"enabled", true},
                                 {"dtype", "bfloat16"},
                                 // Else the gradients of linear layers are reduced in bf16.
                                 {"lower_precision_safe_modules", Json::array()}};
    } else if (s_.precision == Precision::kFp16) {
      add_scaled_fp16();
      file_.remark(
          "DeepSpeed's fp16 keeps weights and gradients in 16 bits, beside an fp32 copy in the "
          "optimizer");
    }
    if (has_units_) add_unit_types();
    add_reduced_type(has_units_ ? s_.reduce_dtype : hook_type());
    // Without units the same words are read in again as precision and hook.
    auto& where = s_.sharding_strategy == Strategy::kNoShard ? said_elsewhere_ : file_.written;
    where.insert(where.end(), types_.begin(), types_.end());
  }

  void add_reduced_type(DataType reduced) {
    // With autocast only stage 0 reads the key; the others reduce what is no safe module's in fp32.
    if (stage_ > 0 && s_.precision == Precision::kBf16 && reduced != DataType::kAuto) {
      if (reduced == DataType::kFp32) said_elsewhere_.push_back("reduce_dtype");
      return;
    }
    if (reduced != DataType::kAuto) json_["communication_data_type"] = type_name_of(reduced);
    types_.insert(types_.end(), {"reduce_dtype", "communication_hook"});
  }

  // The factor begins, grows and shrinks as torch.amp.GradScaler's, which ours is.
  void add_scaled_fp16() {
    const double power = std::round(std::log2(s_.initial_loss_scale));
    json_["fp16"] = {{"enabled", true},
                     {"loss_scale", 0},
                     {"initial_scale_power", static_cast<std::int64_t>(power)},
                     {"loss_scale_window", 2000},
                     {"hysteresis", 1},
                     {"min_loss_scale", 1}};
    if (std::exp2(power) == s_.initial_loss_scale) file_.wrote({"initial_loss_scale"});
  }

  void add_unit_types() {
    if (s_.param_dtype == DataType::kBf16) json_["bf16"]["enabled"] = true;
    if (s_.param_dtype == DataType::kFp16) add_scaled_fp16();
    const bool is_said = s_.param_dtype != DataType::kFp32 && s_.precision != Precision::kFp16;
    if (is_said) types_.push_back("param_dtype");
    if (s_.buffer_dtype != DataType::kAuto) {
      json_["data_types"]["buffer_dtype"] = type_name_of(s_.buffer_dtype);
    }
    types_.push_back("buffer_dtype");
  }

  static std::string type_name_of(DataType type) {
    return type == DataType::kBf16 ? "bf16" : type == DataType::kFp16 ? "fp16" : "fp32";
  }
  DataType hook_type() const {
    switch (s_.communication_hook) {
      case job::CommunicationHook::kFp16Compress:
        return DataType::kFp16;
      case job::CommunicationHook::kBf16Compress:
        return DataType::kBf16;
      case job::CommunicationHook::kNone:
        break;
    }
    // In 16 bits DeepSpeed would reduce in them.
    return s_.precision == Precision::kFp16 ? DataType::kFp32 : DataType::kAuto;
  }

  // ---- the optimizer ----------------------------------------------------------------------------

  void add_optimizer() {
    const bool is_adamw = s_.optimizer == job::OptimizerChoice::kAdamW;
    Json parameters{{"lr", s_.learning_rate}};
    if (is_adamw) {
      parameters["betas"] = {s_.adam_beta1, s_.adam_beta2};
      parameters["eps"] = s_.adam_epsilon;
      file_.wrote({"adam_beta1", "adam_beta2", "adam_epsilon"});
    }
    parameters["weight_decay"] = s_.weight_decay;
    json_["optimizer"] = {{"type", is_adamw ? "AdamW" : "SGD"}, {"params", parameters}};
    if (!is_adamw && stage_ > 0) json_["zero_allow_untested_optimizer"] = true;
    file_.wrote({"optimizer", "learning_rate", "weight_decay"});
    if (s_.weight_decay > 0) {
      file_.remark(
          "biases and norms do not decay here: pass deepspeed.initialize(model_parameters=…) "
          "groups, theirs with weight_decay 0");
    }
  }

  void add_scheduler() {
    switch (s_.lr_schedule) {
      case LrSchedule::kConstant:
      case LrSchedule::kConstantWithWarmup:
        return add_warmup("WarmupLR");
      case LrSchedule::kLinear:
        if (has_total()) add_warmup("WarmupDecayLR");
        return;
      case LrSchedule::kCosine:
        if (has_total() && has_half_a_wave()) add_cosine(0);
        return;
      case LrSchedule::kCosineWithMinLr:
        if (has_total() && has_half_a_wave())
          add_cosine(s_.lr_min_ratio == kAuto ? 0.1 : s_.lr_min_ratio);
        return;
      default:
        return;
    }
  }

  bool has_total() const { return s_.epochs == 0; }
  bool has_half_a_wave() const { return s_.lr_cycles == kAuto || s_.lr_cycles == 0.5; }

  // DeepSpeed has no schedule without a warm-up, so that one begins at the peak.
  std::int64_t warmup_steps() const { return std::max<std::int64_t>(1, s_.warmup_steps); }
  void add_warmup(const char* type) {
    Json parameters{{"warmup_min_lr", s_.warmup_steps > 0 ? 0.0 : s_.learning_rate},
                    {"warmup_max_lr", s_.learning_rate},
                    {"warmup_num_steps", warmup_steps()},
                    {"warmup_type", "linear"}};
    if (s_.lr_schedule == LrSchedule::kLinear) add_total(parameters);
    add_schedule(type, std::move(parameters));
  }
  void add_cosine(double lowest) {
    Json parameters{{"warmup_min_ratio", s_.warmup_steps > 0 ? 0.0 : 1.0},
                    {"warmup_num_steps", warmup_steps()},
                    {"warmup_type", "linear"},
                    {"cos_min_ratio", lowest}};
    // Before its first step DeepSpeed 0.19 has no rate, wherever a warm-up is to begin.
    if (s_.warmup_steps == 0) parameters["last_batch_iteration"] = 0;
    add_total(parameters);
    add_schedule("WarmupCosineLR", std::move(parameters));
    said_elsewhere_.push_back("lr_cycles");
    if (s_.lr_schedule == LrSchedule::kCosineWithMinLr && s_.lr_min_ratio != kAuto) {
      file_.wrote({"lr_min_ratio"});
    }
  }
  void add_total(Json& parameters) {
    parameters["total_num_steps"] = s_.steps;
    file_.wrote({"steps"});
  }
  void add_schedule(const char* type, Json parameters) {
    const bool is_flat = s_.warmup_steps == 0 && !parameters.contains("total_num_steps");
    json_["scheduler"] = {{"type", type}, {"params", std::move(parameters)}};
    file_.wrote({"lr_schedule", "warmup_steps"});
    if (!is_flat) {
      file_.remark(
          "DeepSpeed's schedules are a step behind: the second step still has the first one's "
          "learning rate, and a warm-up takes two steps at least");
    }
  }

  const TunedJob& job_;
  const job::Settings& s_;
  const bool has_units_;
  const int stage_;
  Json json_;
  FrameworkFile file_;
  std::vector<std::string_view> types_;           // knobs of types that are written
  std::vector<std::string_view> said_elsewhere_;  // or as the default does; not in the file
};

}  // namespace

FrameworkFile deepspeed_config(const TunedJob& job) { return DeepSpeedFile(job).write(); }

}  // namespace shardlens::trace::frameworks
