#include <algorithm>
#include <array>
#include <utility>

#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "trace/frameworks/read/framework_readers.h"
#include "trace/frameworks/write/framework_export.h"
#include "trace/job/shape/strategy.h"

namespace shardlens::trace::frameworks {

namespace {

using job::Strategy;

constexpr std::string_view kOneMachine = "ranks are started on this machine";
// The first that a key begins with.
constexpr KeyReason kAccelerateKeys[] = {
    {"machine_rank", kOneMachine},
    {"num_machines", kOneMachine},
    {"main_process_", kOneMachine},
    {"rdzv_backend", kOneMachine},
    {"same_network", kOneMachine},
    {"mpirun_config", kOneMachine},
    {"gpu_ids", "ranks take the first GPUs; CUDA_VISIBLE_DEVICES says which these are"},
    {"main_training_function", "it is a function of the program"},
    {"debug", "collectives are always compared between ranks"},
    {"enable_cpu_affinity", "ranks are not bound to cores"},
    {"downcast_bf16", "it is for TPUs"},
    {"tpu_", "it is for TPUs"},
    {"command", "it is for TPUs"},
    {"dynamo_config", "models are not compiled here"},
    {"fp8_config", "nothing computes in 8 bits here"},
    {"megatron_lm_config", "only data parallelism is trained here"},
    {"parallelism_config", "only dp_replicate_size and dp_shard_size have counterparts"},
    {"fsdp_config.fsdp_transformer_layer_cls_to_wrap", "the blocks of the model are known"},
    {"fsdp_config.fsdp_cpu_ram_efficient_loading", "every rank reads only its shards"},
    {"fsdp_config.fsdp_activation_checkpointing_offload", "activations stay on the GPU"},
    {"fsdp_config.fsdp_use_orig_params", "the optimizer always sees the original parameters"},
    {"fsdp_config.fsdp_ignored_modules", "every parameter is sharded"},
    {"deepspeed_config.zero3_init_flag", "every rank reads only its shards"},
    {"deepspeed_config.zero3_save_16bit_model", "save_model says how a model is saved"},
    {"deepspeed_config.deepspeed_", kOneMachine},
};

// Accelerate's keys of DeepSpeed, DeepSpeed's own, and what Accelerate 1.15 makes of those that are
// absent or "auto" (DeepSpeedPlugin, Accelerator.prepare). Steps that stay "auto" are the
// program's.
struct DeepSpeedKey {
  std::string_view ours, theirs;
  const char* absent;
};
constexpr std::array kOfDeepSpeed{
    DeepSpeedKey{"zero_stage", "zero_optimization.stage", "2"},
    DeepSpeedKey{"gradient_accumulation_steps", "gradient_accumulation_steps", "auto"},
    DeepSpeedKey{"gradient_clipping", "gradient_clipping", "1"},
    DeepSpeedKey{"offload_optimizer_device", "zero_optimization.offload_optimizer.device", "none"},
    DeepSpeedKey{"offload_param_device", "zero_optimization.offload_param.device", "none"}};

class AccelerateReader {
 public:
  AccelerateReader(const ConfigFile& file, std::int64_t ranks)
      : file_(file), in_(file, Framework::kAccelerate, ranks) {}

  base::Result<ForeignSettings> read() {
    const std::string where = in_.text("compute_environment").value_or("LOCAL_MACHINE");
    if (where != "LOCAL_MACHINE") {
      in_.fail("compute_environment",
               base::shortened(where) + " cannot be read; only LOCAL_MACHINE can");
    }
    const std::string kind = in_.text("distributed_type").value_or("NO");
    read_ranks(kind);
    if (kind == "FSDP") {
      read_fsdp();
    } else if (kind == "DEEPSPEED") {
      TRY(read_deepspeed_section());
    } else if (kind != "NO" && kind != "MULTI_GPU" && kind != "MULTI_CPU") {
      in_.fail("distributed_type", "'" + base::shortened(kind) +
                                       "' has no counterpart; use NO, MULTI_GPU, MULTI_CPU, FSDP "
                                       "or DEEPSPEED");
    }
    read_precision(kind);
    leave_to_program(kind);
    return in_.finish([&](std::string_view key) { return reason(key, kind); });
  }

 private:
  static std::string fsdp(std::string_view key) { return "fsdp_config.fsdp_" + std::string(key); }

  // Sections of what is not chosen are ignored as a whole.
  static std::string reason(std::string_view key, const std::string& kind) {
    const bool is_fsdp = key.starts_with("fsdp_config"),
               is_ds = key.starts_with("deepspeed_config");
    if ((is_fsdp && kind != "FSDP") || (is_ds && kind != "DEEPSPEED")) {
      return "distributed_type is " + base::shortened(kind);
    }
    return reason_of_key(kAccelerateKeys, key);
  }

  void leave_to_program(const std::string& kind) {
    in_.leave({"batch_per_rank", "optimizer", "drop_last"});
    if (kind == "DEEPSPEED") return;
    in_.leave({"gradient_accumulation_steps", "sync_each_batch", "max_grad_norm", "bucket_cap_mb",
               "first_bucket_mb", "gradient_as_bucket_view", "communication_hook"});
  }

  void read_ranks(const std::string& kind) {
    const auto processes = in_.whole("num_processes");
    if (processes) in_.set("ranks", std::to_string(*processes), "num_processes");
    if (kind == "NO") {
      if (processes.value_or(1) != 1) {
        in_.fail("num_processes", "contradicts distributed_type: NO, which is one process");
      }
      in_.set("ranks", "1", "distributed_type");
    }
    const bool on_cpu = in_.boolean("use_cpu").value_or(false);
    if (on_cpu && kind == "MULTI_GPU") {
      in_.fail("use_cpu", "contradicts distributed_type: MULTI_GPU; use MULTI_CPU, or false");
    }
    in_.set("device", on_cpu || kind == "MULTI_CPU" ? "cpu" : "auto",
            in_.has("use_cpu") ? "use_cpu" : "distributed_type");
  }

  // ---- FSDP -------------------------------------------------------------------------------------

  void read_fsdp() {
    version_ = in_.whole(fsdp("version")).value_or(1);
    if (version_ != 1 && version_ != 2) {
      in_.fail(fsdp("version"), "there is no version " + std::to_string(version_) + "; use 1 or 2");
    }
    if (version_ == 2) {
      read_second_version();
    } else {
      read_first_version();
    }
    read_wrapping();
    const auto& traits = job::strategy_traits(in_.settings().sharding_strategy);
    if (in_.boolean(fsdp("offload_params")).value_or(false)) {
      if (traits.shards_parameters) {
        in_.settings().cpu_offload = true;
      } else {
        in_.ignore(fsdp("offload_params"), "without shards there is nothing to offload");
      }
    }
    const std::string key = fsdp("activation_checkpointing");
    if (const auto recomputes = in_.boolean(key)) {
      in_.set("activation_checkpointing", *recomputes ? "1" : "0", key);
    }
    read_state_dict();
  }

  void read_second_version() {
    const bool frees = in_.boolean(fsdp("reshard_after_forward")).value_or(true);
    in_.settings().sharding_strategy = frees ? Strategy::kFullShard : Strategy::kShardGradOp;
    read_groups(frees);
    in_.remark(std::string(kUnitsOfAccelerate));
    if (!frees) in_.remark(std::string(kMicroBatchesOfAccelerate));
    for (const char* key : {"sharding_strategy", "backward_prefetch", "sync_module_states"}) {
      in_.ignore(fsdp(key), "FSDP 2 does not read it");
    }
    if (in_.boolean(fsdp("forward_prefetch")).value_or(false)) {
      in_.ignore(fsdp("forward_prefetch"), "FSDP 2 does not read it");
    }
  }

  std::optional<std::int64_t> size_of(const char* name) {
    const std::string plain = "parallelism_config." + std::string(name);
    const std::string key = "parallelism_config.parallelism_config_" + std::string(name);
    const std::string& given = in_.has(key) ? key : plain;
    const auto size = in_.whole(given);
    const double most = job::find_knob("ranks")->maximum;
    if (size && (*size < 1 || static_cast<double>(*size) > most)) {
      in_.fail(given, "use 1 to " + base::shortest_text(most));
    }
    return size;
  }
  void read_groups(bool frees) {
    const auto replicas = size_of("dp_replicate_size"), shards = size_of("dp_shard_size");
    if ((!replicas && !shards) || in_.has_failed()) return;
    const std::int64_t copies = replicas.value_or(1), parts = shards.value_or(1);
    if (in_.has("num_processes") && copies * parts != in_.settings().ranks) {
      return in_.fail("parallelism_config",
                      "dp_replicate_size times dp_shard_size is " + std::to_string(copies * parts) +
                          ", but num_processes is " + std::to_string(in_.settings().ranks));
    }
    if (copies <= 1) return;
    if (parts <= 1) {
      in_.settings().sharding_strategy = Strategy::kNoShard;
      return;
    }
    in_.settings().sharding_strategy = frees ? Strategy::kHybridShard : Strategy::kHybridShardZero2;
    in_.set("shard_group_size", std::to_string(parts), "parallelism_config.dp_shard_size");
  }

  void read_first_version() {
    // Without it `accelerate launch` hands FULL_SHARD to ranks, whatever the other key says.
    const std::string key = fsdp("sharding_strategy");
    in_.ignore(
        fsdp("reshard_after_forward"),
        "with version 1 Accelerate 1.15 takes fsdp_sharding_strategy, by default FULL_SHARD");
    const std::string name = in_.text(key).value_or("FULL_SHARD");
    constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kStrategies{{
        {"FULL_SHARD", "full_shard"},
        {"SHARD_GRAD_OP", "shard_grad_op"},
        {"NO_SHARD", "no_shard"},
        {"HYBRID_SHARD", "hybrid_shard"},
        {"HYBRID_SHARD_ZERO2", "hybrid_shard_zero2"},
    }};
    for (std::size_t i = 0; i < kStrategies.size(); ++i) {
      if (base::equal_but_for_case(name, kStrategies[i].first) || name == std::to_string(i + 1)) {
        in_.set("sharding_strategy", std::string(kStrategies[i].second), key);
        return read_prefetches();
      }
    }
    in_.fail(key, "'" + base::shortened(name) +
                      "' is no strategy; use FULL_SHARD, SHARD_GRAD_OP, NO_SHARD, HYBRID_SHARD or "
                      "HYBRID_SHARD_ZERO2");
  }

  void read_prefetches() {
    const std::string key = fsdp("backward_prefetch");
    const std::string when = in_.text(key).value_or("NO_PREFETCH");
    const auto is = [&](std::string_view name) { return base::equal_but_for_case(when, name); };
    if (!is("BACKWARD_PRE") && !is("BACKWARD_POST") && !is("NO_PREFETCH")) {
      in_.fail(key, "'" + base::shortened(when) +
                        "' is not valid; use BACKWARD_PRE, BACKWARD_POST or NO_PREFETCH");
    }
    in_.settings().backward_prefetch = is("BACKWARD_PRE")    ? job::BackwardPrefetch::kPre
                                       : is("BACKWARD_POST") ? job::BackwardPrefetch::kPost
                                                             : job::BackwardPrefetch::kNone;
    in_.settings().forward_prefetch = in_.boolean(fsdp("forward_prefetch")).value_or(false);
    in_.settings().sync_module_states = in_.boolean(fsdp("sync_module_states")).value_or(true);
    in_.settings().limit_all_gathers = true;  // the plugin's default, which no file changes
  }

  void read_wrapping() {
    const std::string key = fsdp("auto_wrap_policy");
    const std::string policy = in_.text(key).value_or("NO_WRAP");
    const auto is = [&](std::string_view name) { return base::equal_but_for_case(policy, name); };
    if (is("TRANSFORMER_BASED_WRAP")) {
      in_.settings().wrap_policy = job::WrapPolicy::kTransformerBlock;
    } else if (is("SIZE_BASED_WRAP")) {
      in_.settings().wrap_policy = job::WrapPolicy::kSize;
    } else if (is("NO_WRAP")) {
      in_.settings().wrap_policy = job::WrapPolicy::kWholeModel;
    } else {
      in_.fail(key, "'" + base::shortened(policy) +
                        "' is no policy; use TRANSFORMER_BASED_WRAP, SIZE_BASED_WRAP or NO_WRAP");
    }
    const std::string size = fsdp("min_num_params");
    if (!is("SIZE_BASED_WRAP")) return in_.ignore(size, "only SIZE_BASED_WRAP reads it");
    if (const auto least = in_.whole(size)) in_.set("min_num_params", std::to_string(*least), size);
  }

  void read_state_dict() {
    const std::string key = fsdp("state_dict_type");
    const std::string type =
        in_.text(key).value_or(version_ == 2 ? "SHARDED_STATE_DICT" : "FULL_STATE_DICT");
    const bool is_full = base::equal_but_for_case(type, "FULL_STATE_DICT");
    in_.set("checkpoint_format", is_full ? "full" : "sharded", key);
    if (!is_full && !base::equal_but_for_case(type, "SHARDED_STATE_DICT")) {
      in_.ignore(key, "checkpoints are full or sharded");
    }
  }

  // ---- DeepSpeed --------------------------------------------------------------------------------

  // By the keys that DeepSpeed itself would be given.
  base::Result<void> read_deepspeed_section() {
    const std::string elsewhere = "deepspeed_config.deepspeed_config_file";
    if (const auto name = in_.text(elsewhere).value_or("none"); name != "none") {
      in_.fail(elsewhere, "how it trains stands in '" + base::shortened(name) +
                              "': give that file instead, and how many ranks");
    }
    ConfigFile given{file_.source, {}};
    for (const auto& [ours, theirs, absent] : kOfDeepSpeed) {
      const ConfigEntry* entry = file_.find("deepspeed_config." + std::string(ours));
      const bool is_given = entry != nullptr && !entry->is_null && entry->text != "auto";
      given.entries.push_back(is_given ? *entry : ConfigEntry{"", absent, {}, false, false});
      given.entries.back().key = theirs;
    }
    const std::string mixed = in_.text("mixed_precision").value_or("no");
    if (mixed == "bf16" || mixed == "fp16") {
      given.entries.push_back({mixed + ".enabled", "true", {}, false, false});
    }
    TRY_ASSIGN(ForeignSettings read, read_deepspeed(given, in_.settings().ranks));
    const std::int64_t ranks = in_.settings().ranks;
    const job::DeviceChoice device = in_.settings().device;
    in_.settings() = read.settings;
    in_.settings().ranks = ranks;
    in_.settings().device = device;
    for (const auto& [ours, theirs, absent] : kOfDeepSpeed) {
      const std::string key = "deepspeed_config." + std::string(ours);
      const auto ignored = std::ranges::find(read.ignored, theirs, &IgnoredKey::key);
      in_.text(key);  // taken over
      if (ignored != read.ignored.end()) in_.ignore(key, ignored->reason);
    }
    for (const std::string& remark : read.remarks) in_.remark(remark);
    for (const std::string_view knob : read.left_to_program) in_.leave({knob});
    for (const std::string_view knob : read.said) in_.say(knob);
    return {};
  }

  void read_precision(const std::string& kind) {
    const std::string mixed = in_.text("mixed_precision").value_or("no");
    if (kind == "DEEPSPEED" || mixed == "no" || mixed == "false") return;
    if (mixed != "bf16" && mixed != "fp16") {
      return in_.ignore("mixed_precision", "only fp32, bf16 and fp16 compute here");
    }
    const bool is_fsdp = kind == "FSDP";
    in_.set(is_fsdp ? "param_dtype" : "precision", mixed, "mixed_precision");
    if (is_fsdp && version_ == 1) in_.set("buffer_dtype", mixed, "mixed_precision");
  }

  const ConfigFile& file_;
  ConfigReader in_;
  std::int64_t version_ = 0;  // of FSDP, if it shards
};

}  // namespace

bool is_accelerate(const ConfigFile& file) {
  return file.find("distributed_type") != nullptr || file.find("compute_environment") != nullptr;
}

base::Result<ForeignSettings> read_accelerate(const ConfigFile& file, std::int64_t ranks) {
  return AccelerateReader(file, ranks).read();
}

}  // namespace shardlens::trace::frameworks
