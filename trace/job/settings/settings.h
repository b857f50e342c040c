// Every knob of a run. One table describes them all; YAML, the command line, validation, the knobs
// panel, tooltips and the file's `setting` rows come from it. Plain values, any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/settings/choices.h"

namespace shardlens::trace::job {

// Numbers that may be left to the program hold this and are written "auto".
inline constexpr std::int64_t kAuto = -1;

// Larger jobs are not what one trace holds; bounds what nonsense can make us allocate.
inline constexpr int kMostRunRanks = 65536;

// The values a user chose; names and defaults are PyTorch's where PyTorch has them.
struct Settings {
  // Model and data
  std::string model = "tiny";
  std::string data = "builtin";
  std::string tokenizer = "auto";
  std::string evaluation_data = "split";
  std::int64_t batch_per_rank = 8;
  std::int64_t sequence_length = 128;
  AutoBool packing = AutoBool::kAuto;
  bool completion_only_loss = true;
  std::int64_t num_labels = kAuto;
  OnBadLines on_bad_lines = OnBadLines::kStop;
  std::string token_cache = "auto";
  double evaluation_fraction = 0.1;
  bool shuffle = true;
  bool drop_last = true;
  UnevenInputs uneven_inputs = UnevenInputs::kEven;
  double dropout = 0.0;

  // Parallelism
  std::int64_t ranks = 2;
  DeviceChoice device = DeviceChoice::kAuto;
  bool oversubscribe = false;
  Strategy sharding_strategy = Strategy::kDdp;
  std::int64_t shard_group_size = kAuto;
  WrapPolicy wrap_policy = WrapPolicy::kTransformerBlock;
  std::int64_t min_num_params = 100'000'000;
  BackwardPrefetch backward_prefetch = BackwardPrefetch::kPre;
  bool forward_prefetch = false;
  bool limit_all_gathers = false;
  AutoBool reshard_after_forward = AutoBool::kAuto;
  bool separate_communicators = false;
  bool sync_module_states = false;
  bool use_orig_params = true;
  double bucket_cap_mb = 25.0;
  double first_bucket_mb = kAuto;
  bool gradient_as_bucket_view = false;
  bool static_graph = false;
  bool find_unused_parameters = false;
  CommunicationHook communication_hook = CommunicationHook::kNone;
  bool overlap_comm = true;
  Communication communication = Communication::kOn;
  std::int64_t collective_timeout_s = 600;
  std::int64_t threads_per_rank = kAuto;
  std::string nccl_algo = "auto";
  std::string nccl_proto = "auto";
  std::int64_t nccl_min_channels = kAuto;
  std::int64_t nccl_max_channels = kAuto;
  std::int64_t cuda_device_max_connections = kAuto;
  StreamPriority comm_stream_priority = StreamPriority::kAuto;

  // Precision and memory
  Precision precision = Precision::kFp32;
  DataType param_dtype = DataType::kAuto;
  DataType reduce_dtype = DataType::kAuto;
  DataType buffer_dtype = DataType::kAuto;
  BaseType base_dtype = BaseType::kAuto;
  double initial_loss_scale = 65536.0;
  std::int64_t activation_checkpointing = 0;
  bool cpu_offload = false;
  std::int64_t gradient_accumulation_steps = 1;
  bool sync_each_batch = false;
  std::int64_t loss_chunk_tokens = kAuto;
  std::string allocator_conf = "auto";

  // Optimization
  OptimizerChoice optimizer = OptimizerChoice::kAdamW;
  std::int64_t steps = 100;
  std::int64_t epochs = 0;
  double learning_rate = 3e-4;
  LrSchedule lr_schedule = LrSchedule::kCosine;
  std::int64_t warmup_steps = 0;
  std::int64_t lr_decay_steps = kAuto;
  double lr_min_ratio = kAuto;
  double lr_cycles = kAuto;
  double lr_power = 1.0;
  double weight_decay = 0.01;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.999;
  double adam_epsilon = 1e-8;
  double max_grad_norm = 1.0;
  OnNonfinite on_nonfinite = OnNonfinite::kStop;
  std::int64_t loss_every = 1;
  std::int64_t evaluate_every = 0;
  std::int64_t evaluation_batches = 20;
  std::int64_t sample_tokens = 0;
  std::string sample_prompt = "auto";
  double sample_temperature = 0.0;
  std::int64_t frozen_blocks = 0;
  std::int64_t lora_rank = 0;
  double lora_alpha = 8.0;
  double lora_dropout = 0.0;
  std::string lora_target_modules = "auto";
  std::int64_t seed = 0;

  // Checkpoints
  std::int64_t save_every = 0;
  std::int64_t keep_checkpoints = 2;
  CheckpointFormat checkpoint_format = CheckpointFormat::kFull;
  bool checkpoint_on_stop = false;
  bool keep_best = false;
  std::string resume = "none";
  SaveModel save_model = SaveModel::kAuto;
  bool merge_lora = false;

  // Recording
  std::string record = "every step";
  std::string record_allocations = "step 4";
  std::int64_t record_limit_mb = 2048;
  std::int64_t skip_steps = 3;
  double peak_tflops = kAuto;

  // Simulation
  std::string simulate_link = "off";
  std::string inject = "off";

  bool operator==(const Settings&) const = default;
};

inline bool resumes(const Settings& settings) { return settings.resume != "none"; }
inline bool has_simulated_link(const Settings& settings) { return settings.simulate_link != "off"; }
inline bool injects_faults(const Settings& settings) { return settings.inject != "off"; }
// The threads that a rank computes with, where `ranks` of them share a machine's cores.
inline std::int64_t threads_of_a_rank(const Settings& settings, std::int64_t ranks,
                                      std::int64_t cores) {
  if (settings.threads_per_rank != kAuto) return settings.threads_per_rank;
  return std::max<std::int64_t>(1, cores / std::max<std::int64_t>(1, ranks));
}
inline bool saves_checkpoints(const Settings& settings) {
  return settings.save_every > 0 || settings.checkpoint_on_stop || settings.keep_best;
}
// The same job without checkpoints and a model, as of runs that are only measured.
inline Settings saving_nothing(Settings settings) {
  settings.save_every = 0;
  settings.checkpoint_on_stop = settings.keep_best = false;
  settings.save_model = SaveModel::kNone;
  return settings;
}

enum class KnobGroup : std::uint8_t {
  kModelAndData,
  kParallelism,
  kPrecisionAndMemory,
  kOptimization,
  kCheckpoints,
  kRecording,
  kSimulation,
};
inline constexpr int kKnobGroupCount = 7;
std::string_view to_string(KnobGroup);  // as a heading: "Model and data"

// A member of any of the enumerations in choices.h, as the place of its value among the knob's
// choices.
struct ChoiceMember {
  int (*get)(const Settings&);
  void (*set)(Settings&, int);

  bool operator==(const ChoiceMember&) const = default;
};
template <auto Member>
constexpr ChoiceMember choice_member() {
  using Choice = std::remove_cvref_t<decltype(Settings{}.*Member)>;
  return {[](const Settings& settings) { return static_cast<int>(settings.*Member); },
          [](Settings& settings, int place) { settings.*Member = static_cast<Choice>(place); }};
}

using KnobMember = std::variant<bool Settings::*, std::int64_t Settings::*, double Settings::*,
                                std::string Settings::*, ChoiceMember>;

struct Knob {
  std::string_view name;   // as in YAML and --set
  std::string_view label;  // English, sentence case
  KnobGroup group = KnobGroup::kModelAndData;
  KnobMember member;
  std::string_view unit = {};  // "MiB", "steps", … or ""
  double minimum = 0;          // of numbers, inclusive
  double maximum = 0;
  bool may_be_auto = false;
  bool logarithmic = false;  // how a slider should move
  bool essential = false;    // shown without unfolding "more"
  // Of texts; empty: free text. Of a ChoiceMember all, in the order of its enumeration.
  std::span<const std::string_view> choices = {};
  bool choices_are_open = false;      // a path or grammar is accepted beside the choices
  std::string_view accepted = {};     // what that is, choices included; "": any text
  std::string_view explanation = {};  // one sentence, no full stop
  std::string_view applies_to = {};   // strategies, comma-separated; "": all
  // Another knob, "": none, and with which of its values this one is obeyed, comma-separated, or
  // with all but the one that says that there is nothing to obey it.
  std::string_view depends_on = {}, obeyed_with = {}, obeyed_unless = {};
  bool needs_gpu = false;  // ranks on a CPU have nothing that it is for
};
// Whether the strategy obeys the knob.
bool applies(const Knob& knob, Strategy strategy);
// Whether the settings' strategy obeys the knob, and the device that they name: `auto` may be a
// GPU.
bool applies(const Knob& knob, const Settings& settings);
// The setting because of which the knob is ignored, whatever its value: "full_shard", "lr_schedule:
// cosine"; "": it is obeyed.
std::string ignored_with(const Knob& knob, const Settings& settings);

std::span<const Knob> knobs();
const Knob* find_knob(std::string_view name);          // also by alias; nullptr: unknown
std::string_view nearest_knob(std::string_view name);  // by edit distance

// "bool", "integer", "number", "choice", "text"
std::string_view type_name(const Knob&);
// "1 to 4096 MiB", "none, fp16_compress or bf16_compress", …
std::string range_text(const Knob&);
// The value as written in YAML: "25", "auto", "true", "every step".
std::string value_text(const Settings&, const Knob&);
std::string default_text(const Knob&);
// The same of a choice: "full_shard" of chosen<&Settings::sharding_strategy>(settings).
std::string_view choice_text(ChoiceMember member, int place);
template <auto Member>
std::string chosen(const Settings& settings) {
  constexpr ChoiceMember kMember = choice_member<Member>();
  return std::string(choice_text(kMember, kMember.get(settings)));
}

// Sets one knob from its text. Errors (kUsage): unknown key with the nearest one named, wrong
// type, value out of range or not among the choices.
base::Result<void> set_value(Settings&, std::string_view name, std::string_view text);
void copy_value(const Knob& knob, const Settings& from, Settings& to);
// "key=value" as after --set.
base::Result<void> set_assignment(Settings&, std::string_view assignment);

struct SettingProblem {
  std::string_view knob;
  std::string message;
};
// Combinations that contradict each other, and grammars (`record`, `record_allocations`,
// `simulate_link`, `inject`).
// `device: auto` passes: what needs a GPU is checked again once the device is known. Empty: the
// settings can be run.
std::vector<SettingProblem> problems_of(const Settings&);
// All problems as one kUsage error.
base::Result<void> validate(const Settings&);

// The knobs in which two settings differ, in table order.
std::vector<const Knob*> differing_knobs(const Settings& a, const Settings& b);
// A run's name from what differs from `base`: "cap 60", "cap 60, hook bf16_compress"; "baseline" if
// nothing does that the strategy obeys. Only letters, digits, spaces and ".,_-"; at most 60
// characters.
std::string name_from_difference(const Settings& base, const Settings& next);
// The same of the values of these knobs; "" of none.
std::string name_from_values(const Settings& settings, std::span<const Knob* const> knobs);

// Whether its values are files or folders, beside its choices.
bool names_a_path(const Knob&);
// value_text(), of a path its last part: "Llama-3.2-1B".
std::string short_value_text(const Settings&, const Knob&);

// "Unknown setting 'buket'. Did you mean 'bucket_cap_mb'? `shardlens settings` lists all."; without
// the question where no name is near.
std::string unknown_setting_text(std::string_view name);

}  // namespace shardlens::trace::job
