#include <algorithm>
#include <array>
#include <cmath>

#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "trace/frameworks/read/framework_readers.h"
#include "trace/frameworks/write/framework_export.h"
#include "trace/job/shape/strategy.h"

namespace shardlens::trace::frameworks {

namespace {

using job::Strategy;

constexpr const char* kTotal = "train_batch_size";
constexpr const char* kMicro = "train_micro_batch_size_per_gpu";
constexpr const char* kSteps = "gradient_accumulation_steps";

// The first that a key begins with.
constexpr KeyReason kDeepSpeedKeys[] = {
    {"zero_optimization.offload_", "only whether and where to is taken over"},
    {"zero_optimization.stage3_gather_16bit", "it says how a model is saved"},
    {"zero_optimization.zero_quantized", "nothing here sends quantised values"},
    {"zero_optimization.stage3_max_live", "a unit is freed once it is used"},
    {"zero_optimization.stage3_max_reuse", "a unit is freed once it is used"},
    {"zero_optimization.stage3_param_persist", "every parameter is sharded, however small"},
    {"zero_optimization.stage3_model_persist", "every parameter is sharded, however small"},
    {"zero_optimization.sub_group_size", "the optimizer steps over a whole shard at once"},
    {"zero_optimization.allgather_", "updated parameters and units are gathered whole"},
    {"zero_optimization.reduce_scatter", "the strategy says which collective reduces"},
    {"zero_optimization.reduce_bucket_size",
     "only stage 1's buckets can be chosen: stage 0 has its own, stages 2 and 3 are units here"},
    {"zero_optimization.contiguous_gradients",
     "only buckets have such a choice; units' gradients are contiguous"},
    {"zero_optimization.overlap_comm", "units are reduced while backward goes on"},
    {"zero_optimization.stage3_prefetch", "only stage 3 gathers ahead"},
    {"zero_optimization.zero_hpz", "only stage 3 has such groups"},
    {"zero_optimization.mics", "only stage 3 has such groups"},
    {"activation_checkpointing.",
     "it says how DeepSpeed's checkpoint() works, not which blocks the model passes to it; set "
     "activation_checkpointing"},
    {"torch_autocast.", "which modules communicate in 16 bits follows from the strategy here"},
    {"bf16.", "only whether it is enabled has a counterpart"},
    {"fp16.", "the factor grows and shrinks as torch.amp.GradScaler's"},
    {"optimizer.params.", "this optimizer has no such parameter here"},
    {"optimizer.legacy_fusion", "it says which kernel computes it"},
    {"scheduler.", "the schedule has no such parameter here"},
    {"data_types.grad_accum", "gradients are added up in the type in which they come"},
    {"zero_allow_untested", "every optimizer works with every strategy"},
    {"zero_force_ds_cpu", "the optimizer is PyTorch's own"},
    {"flops_profiler.", "every run is recorded anyway"},
    {"wall_clock_breakdown", "every run is recorded anyway"},
    {"comms_logger.", "every run is recorded anyway"},
    {"steps_per_print", "it says what is logged, not how it trains"},
    {"tensorboard.", "it says what is logged, not how it trains"},
    {"wandb.", "it says what is logged, not how it trains"},
    {"csv_monitor.", "it says what is logged, not how it trains"},
    {"dump_state", "it says what is logged, not how it trains"},
    {"memory_breakdown", "it says what is logged, not how it trains"},
    {"aio.", "nothing is offloaded to disks here"},
    {"tensor_parallel.", "only data parallelism is trained here"},
    {"pipeline.", "only data parallelism is trained here"},
    {"checkpoint.", "it says how checkpoints are saved"},
    {"prescale_gradients", "gradients are divided as PyTorch divides them"},
    {"gradient_predivide_factor", "gradients are divided as PyTorch divides them"},
};

// The MiB that people would write for so many elements of 4 bytes: 25, not 24.99999.
std::string mib_of_elements(double elements) {
  std::string text;
  for (int digits = 1; digits < 17; ++digits) {
    text = base::formatted("%.*g", digits, elements / kGradientElementsPerMiB);
    if (std::round(std::stod(text) * kGradientElementsPerMiB) == elements) break;
  }
  return base::shortest_text(std::stod(text));
}

class DeepSpeedReader {
 public:
  DeepSpeedReader(const ConfigFile& file, std::int64_t ranks)
      : in_(file, Framework::kDeepSpeed, ranks) {}

  base::Result<ForeignSettings> read() {
    read_strategy();
    has_units_ = job::strategy_traits(in_.settings().sharding_strategy).has_units;
    read_batch();
    if (has_units_) {
      read_units();
    } else {
      read_buckets();
    }
    read_offload();
    read_precision();
    read_communication_type();
    read_deepspeed_optimizer(in_);
    read_deepspeed_schedule(in_);
    if (const auto drops = in_.boolean("dataloader_drop_last")) {
      in_.settings().drop_last = *drops;
    } else {
      in_.leave({"drop_last"});
    }
    return in_.finish([](std::string_view key) { return reason_of_key(kDeepSpeedKeys, key); });
  }

 private:
  static std::string zero(std::string_view key) { return "zero_optimization." + std::string(key); }

  // ---- ZeRO -------------------------------------------------------------------------------------

  void read_strategy() {
    stage_ = in_.whole(zero("stage")).value_or(0);
    // What came before `stage`.
    if (in_.has("zero_optimization")) {
      stage_ = in_.boolean("zero_optimization").value_or(false) ? 1 : 0;
    }
    constexpr std::array<Strategy, 4> kOfStage{Strategy::kDdp, Strategy::kZero1,
                                               Strategy::kShardGradOp, Strategy::kFullShard};
    if (stage_ < 0 || stage_ > 3) {
      in_.fail(zero("stage"), "there is no stage " + std::to_string(stage_) + "; use 0 to 3");
      stage_ = 0;
    }
    in_.settings().sharding_strategy = kOfStage[static_cast<std::size_t>(stage_)];
    if (stage_ == 3) read_groups();
  }

  void read_groups() {
    const auto mics = in_.whole(zero("mics_shard_size")),
               hpz = in_.whole(zero("zero_hpz_partition_size"));
    const bool has_mics = mics.value_or(0) > 1, has_hpz = hpz.value_or(1) > 1;
    if (has_mics && has_hpz) {
      in_.fail(zero("zero_hpz_partition_size"), "contradicts mics_shard_size: keep one of them");
    }
    if (!has_mics && !has_hpz) return;
    in_.settings().sharding_strategy = Strategy::kHybridShard;
    const std::string key = zero(has_mics ? "mics_shard_size" : "zero_hpz_partition_size");
    in_.set("shard_group_size", std::to_string(has_mics ? *mics : *hpz), key);
    if (has_hpz) {
      in_.remark(key +
                 " is read as hybrid_shard: here gradients and optimizer state are "
                 "sharded within its groups, too, not over all ranks");
    }
  }

  void read_buckets() {
    double elements = kDeepSpeedBucketElements;
    if (stage_ == 1) {
      elements = static_cast<double>(
          in_.whole(zero("reduce_bucket_size")).value_or(kDeepSpeedBucketElements));
      in_.settings().overlap_comm = in_.boolean(zero("overlap_comm")).value_or(false);
      in_.settings().gradient_as_bucket_view =
          in_.boolean(zero("contiguous_gradients")).value_or(true);
    } else {
      in_.settings().overlap_comm = false;
      in_.ignore(zero("overlap_comm"), "stage 0 always reduces after backward");
    }
    const std::string key = zero("reduce_bucket_size");
    if (stage_ == 1 && in_.is_left(key, {"bucket_cap_mb", "first_bucket_mb"})) return;
    const std::string cap = mib_of_elements(elements);
    const job::Knob& knob = *job::find_knob("bucket_cap_mb");
    if (std::stod(cap) > knob.maximum) {
      in_.settings().bucket_cap_mb = knob.maximum;
      in_.remark("reduce_bucket_size is " + cap + " MiB, read as the largest bucket_cap_mb, " +
                 base::shortest_text(knob.maximum));
    } else {
      in_.set("bucket_cap_mb", cap, key);
    }
    // Only the default has a small first bucket.
    if (in_.settings().bucket_cap_mb == job::Settings{}.bucket_cap_mb) {
      in_.settings().first_bucket_mb = in_.settings().bucket_cap_mb;
    }
  }

  void read_units() {
    read_micro_batches();
    if (const auto overlaps = in_.boolean(zero("overlap_comm")); overlaps == false) {
      in_.ignore(zero("overlap_comm"), "units are always reduced while backward goes on");
    } else if (!overlaps && stage_ == 2) {
      in_.remark(
          "without overlap_comm: true stage 2 holds backward up while it reduces; units are always "
          "reduced while it goes on");
    }
    if (in_.boolean(zero("contiguous_gradients")) == false) {
      in_.ignore(zero("contiguous_gradients"), "units' gradients are always contiguous");
    }
    if (stage_ != 3) return;
    const auto ahead = in_.whole(zero("stage3_prefetch_bucket_size"));
    const bool prefetches = ahead.value_or(kDeepSpeedPrefetchElements) > 0;
    in_.settings().forward_prefetch = prefetches;
    if (!prefetches) in_.settings().backward_prefetch = job::BackwardPrefetch::kNone;
    if (prefetches && ahead.value_or(kDeepSpeedPrefetchElements) != kDeepSpeedPrefetchElements) {
      in_.remark("stage3_prefetch_bucket_size is read as one unit ahead, of whatever size");
    }
  }

  // Stages 2 and 3 reduce in each of them.
  void read_micro_batches() {
    if (in_.settings().gradient_accumulation_steps > 1) {
      in_.settings().sync_each_batch = true;
    } else if (in_.is_left(kSteps, {"sync_each_batch"})) {
      in_.remark(
          "stages 2 and 3 reduce in every micro-batch: set sync_each_batch where the program "
          "accumulates gradients");
    }
  }

  // By a section, or by the single key that came before it and that DeepSpeed still takes.
  struct Offload {
    std::string key;
    bool is_on = false;
  };
  Offload read_offload_of(const std::string& what, const char* older) {
    if (in_.has(zero(older))) return {zero(older), in_.boolean(zero(older)).value_or(false)};
    Offload offload{zero(what + ".device"), false};
    const auto device = in_.text(offload.key);
    in_.boolean(zero(what + ".pin_memory"));  // ours is pinned wherever there is a GPU
    offload.is_on = device == "cpu";
    if (device && !offload.is_on && *device != "none") {
      in_.ignore(offload.key, "shards are offloaded to the CPU or not at all");
    }
    return offload;
  }
  void read_offload() {
    in_.boolean(zero("cpu_offload_use_pin_memory"));
    const auto [optimizer_key, optimizer] = read_offload_of("offload_optimizer", "cpu_offload");
    const auto [parameters_key, parameters] = read_offload_of("offload_param", "cpu_offload_param");
    if (stage_ == 2 ? optimizer : stage_ == 3 && optimizer && parameters) {
      in_.settings().cpu_offload = true;
      if (!parameters) return;
    }
    const bool is_alone = !in_.settings().cpu_offload || stage_ == 2;
    const std::string reason =
        "cpu_offload moves shards, gradients and optimizer together, which "
        "stage 3 has with offload_optimizer and offload_param";
    if (optimizer && !in_.settings().cpu_offload) in_.ignore(optimizer_key, reason);
    if (parameters && is_alone) in_.ignore(parameters_key, reason);
  }

  // ---- the batch --------------------------------------------------------------------------------

  void positive(std::optional<std::int64_t> value, const char* key) {
    if (value && *value < 1) in_.fail(key, "must be at least 1");
  }
  void leave_batch() {
    in_.is_left(kMicro, {"batch_per_rank"});
    in_.is_left(kTotal, {"batch_per_rank"});
    in_.is_left(kSteps, {"gradient_accumulation_steps"});
  }
  void read_batch() {
    const auto total = in_.whole(kTotal), micro = in_.whole(kMicro), steps = in_.whole(kSteps);
    positive(total, kTotal);
    positive(micro, kMicro);
    positive(steps, kSteps);
    const std::int64_t accumulated = std::max<std::int64_t>(1, steps.value_or(1));
    if (steps) in_.set("gradient_accumulation_steps", std::to_string(accumulated), kSteps);
    if (micro) in_.set("batch_per_rank", std::to_string(*micro), kMicro);
    if (!total) leave_batch();
    if (!total || in_.has_failed()) return;  // what a knob refused may be too large to multiply
    if (micro && steps) {
      read_ranks(*total, *micro * accumulated);
    } else {
      share_out(*total, micro, accumulated);
    }
  }

  void read_ranks(std::int64_t total, std::int64_t of_rank) {
    if (total % of_rank != 0) {
      return in_.fail(kTotal, std::to_string(total) +
                                  " is no multiple of train_micro_batch_size_per_gpu times "
                                  "gradient_accumulation_steps (" +
                                  std::to_string(of_rank) + "): correct one of them");
    }
    in_.set("ranks", std::to_string(total / of_rank), kTotal);
  }

  // Among the ranks that there are, since the file does not say how many it means.
  void share_out(std::int64_t total, std::optional<std::int64_t> micro, std::int64_t accumulated) {
    const std::int64_t ranks = in_.settings().ranks;
    const std::int64_t parts = micro ? *micro * ranks : accumulated * ranks;
    if (total % parts != 0) {
      in_.ignore(kTotal, "it does not divide by the " + std::to_string(parts) +
                             " that the other keys and " + std::to_string(ranks) + " ranks make");
      return leave_batch();
    }
    in_.set(micro ? "gradient_accumulation_steps" : "batch_per_rank", std::to_string(total / parts),
            kTotal);
    in_.remark("train_batch_size is shared out among " + std::to_string(ranks) +
               " ranks, as the file does not say how many there are");
  }

  // ---- types of numbers -------------------------------------------------------------------------

  bool is_enabled(const std::string& section) {
    return in_.boolean(section + ".enabled").value_or(false);
  }

  void read_precision() {
    const bool bf16 = is_enabled("bf16") || is_enabled("bfloat16"), fp16 = is_enabled("fp16");
    const bool autocast = is_enabled("torch_autocast");
    if (bf16 && fp16)
      return in_.fail("fp16.enabled", "contradicts bf16.enabled: disable one of them");
    if (autocast && (bf16 || fp16)) {
      return in_.fail("torch_autocast.enabled",
                      "contradicts bf16 and fp16, which cast the model: disable one of them");
    }
    if (autocast) return read_autocast();
    if (bf16) return read_sixteen_bits("bf16");
    if (fp16) return read_fp16();
    for (const char* key : {"bf16.enabled", "fp16.enabled"}) {
      in_.is_left(key, {"precision", "param_dtype", "communication_hook"});
    }
  }

  void read_autocast() {
    const std::string key = "torch_autocast.dtype";
    const std::string type = in_.text(key).value_or("bfloat16");
    const bool is_bf16 = type == "bfloat16" || type == "bf16" || type == "torch.bfloat16";
    const bool is_fp16 =
        type == "float16" || type == "fp16" || type == "half" || type == "torch.float16";
    if (!is_bf16 && !is_fp16)
      return in_.fail(key, "'" + base::shortened(type) + "' is no type; use bfloat16 or float16");
    const std::string name = is_bf16 ? "bf16" : "fp16";
    in_.set("precision", name, key);
    const bool has_none = in_.take_empty_list("torch_autocast.lower_precision_safe_modules");
    reduces_by_autocast_ = stage_ > 0;
    if (has_none || !reduces_by_autocast_) return;
    set_reduced_type(name, key);
    in_.remark(
        "from stage 1 on torch_autocast reduces the gradients of its safe modules (linear "
        "layers, unless it lists others) in " +
        name + "; here all are reduced so");
  }

  void set_reduced_type(const std::string& type, const std::string& key) {
    if (has_units_) {
      in_.set("reduce_dtype", type, key);
    } else {
      in_.set("communication_hook", type == "fp32" ? "none" : type + "_compress", key);
    }
  }

  void read_sixteen_bits(const std::string& type) {
    in_.set(has_units_ ? "param_dtype" : "precision", type, type + ".enabled");
    if (has_units_) return;
    if (!in_.has("communication_data_type")) {
      in_.set("communication_hook", type + "_compress", type + ".enabled");
    }
    in_.remark(type +
               ".enabled is read as autocast: weights and gradients stay in fp32 here, and "
               "gradients are reduced in " +
               type);
  }

  void read_fp16() {
    const auto scale = in_.number("fp16.loss_scale"),
               power = in_.number("fp16.initial_scale_power");
    const bool is_fixed = scale.value_or(0) > 0;
    const double first = is_fixed ? *scale : std::exp2(power.value_or(16));
    in_.set("initial_loss_scale", base::shortest_text(first),
            is_fixed ? "fp16.loss_scale" : "fp16.initial_scale_power");
    if (is_fixed) in_.remark("fp16.loss_scale is where the factor begins here, and then changes");
    read_sixteen_bits("fp16");
  }

  void read_communication_type() {
    const char* const kKey = "communication_data_type";
    if (reduces_by_autocast_) {
      in_.ignore(kKey, "beside torch_autocast only stage 0 reads it");
    } else if (const auto given = in_.text(kKey)) {
      constexpr std::array<std::string_view, 3> kTypes{"fp32", "fp16", "bf16"};
      const auto type = std::ranges::find_if(
          kTypes, [&](std::string_view each) { return base::equal_but_for_case(*given, each); });
      if (type == kTypes.end()) {
        const std::string said = base::shortened(*given);
        return in_.fail(kKey, "'" + said + "' is no type; use fp32, fp16 or bf16");
      }
      set_reduced_type(std::string(*type), kKey);
    }
    if (!has_units_) return;
    if (const auto buffers = in_.text("data_types.buffer_dtype")) {
      in_.set("buffer_dtype", *buffers, "data_types.buffer_dtype");
    }
  }

  ConfigReader in_;
  std::int64_t stage_ = 0;
  bool has_units_ = false, reduces_by_autocast_ = false;
};

}  // namespace

bool is_deepspeed(const ConfigFile& file) {
  constexpr std::array<std::string_view, 13> kOnlyTheirs{"zero_optimization",
                                                         kTotal,
                                                         kMicro,
                                                         "gradient_clipping",
                                                         "communication_data_type",
                                                         "zero_allow_untested_optimizer",
                                                         "zero_force_ds_cpu_optimizer",
                                                         "steps_per_print",
                                                         "wall_clock_breakdown",
                                                         "torch_autocast",
                                                         "bf16",
                                                         "fp16",
                                                         "prescale_gradients"};
  const bool has_one = std::ranges::any_of(kOnlyTheirs, [&](std::string_view key) {
    return file.find(key) != nullptr || file.has_section(key);
  });
  return has_one || file.has_section("optimizer.params") || file.has_section("scheduler.params");
}

base::Result<ForeignSettings> read_deepspeed(const ConfigFile& file, std::int64_t ranks) {
  return DeepSpeedReader(file, ranks).read();
}

}  // namespace shardlens::trace::frameworks
