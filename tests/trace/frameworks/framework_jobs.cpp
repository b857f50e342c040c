#include "tests/trace/frameworks/framework_jobs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "trace/job/shape/strategy.h"

namespace shardlens::trace::frameworks {

namespace {

// Another value than the default that the knob takes.
std::string another_value(const job::Knob& knob) {
  const job::Settings defaults;
  if (knob.name.ends_with("_dtype")) return "bf16";  // fp32 is what auto comes to
  for (const std::string_view choice : knob.choices) {
    if (choice != default_text(knob)) return std::string(choice);
  }
  if (type_name(knob) == "bool") return default_text(knob) == "true" ? "false" : "true";
  for (const char* value : {"3", "0.5", "7"}) {
    job::Settings settings;
    if (job::set_value(settings, knob.name, value) && !(settings == defaults)) return value;
  }
  return "max_split_size_mb:128";
}

bool is_of_parallelism(const job::Knob& knob) {
  return knob.group == job::KnobGroup::kParallelism ||
         knob.group == job::KnobGroup::kPrecisionAndMemory || knob.name == "uneven_inputs";
}

// What belongs to the program, and what says something only beside another setting.
constexpr std::array<std::string_view, 10> kOfNoEffectAlone{
    "sharding_strategy",  "device",          "oversubscribe",
    "use_orig_params",    "base_dtype",      "min_num_params",
    "initial_loss_scale", "sync_each_batch", "reshard_after_forward",
    "sync_module_states"};

struct Draw {
  std::string_view knob;
  std::vector<std::string_view> values;
};
const std::vector<Draw>& draws() {
  static const std::vector<Draw> kDraws{
      {"ranks", {"4", "8", "16"}},
      {"batch_per_rank", {"1", "8", "48"}},
      {"drop_last", {"true", "false"}},
      {"shard_group_size", {"auto", "2", "4"}},
      {"bucket_cap_mb", {"25", "0.01", "0.37", "4", "33.3", "512"}},
      {"first_bucket_mb", {"auto", "25", "0.5"}},
      {"min_num_params", {"100000000", "4096"}},
      {"threads_per_rank", {"auto", "3"}},
      {"nccl_algo", {"auto", "Ring"}},
      {"initial_loss_scale", {"65536", "1024", "3000"}},
      {"activation_checkpointing", {"0", "1", "2"}},
      {"gradient_accumulation_steps", {"1", "6"}},
      {"steps", {"40", "100", "12345"}},
      {"learning_rate", {"0.0003", "1e-05", "0.123456789"}},
      {"warmup_steps", {"0", "1", "7"}},
      {"lr_decay_steps", {"auto", "9"}},
      {"lr_min_ratio", {"auto", "0.25"}},
      {"lr_cycles", {"auto", "0.5", "2"}},
      {"lr_power", {"1", "2.5"}},
      {"weight_decay", {"0", "0.01", "0.1"}},
      {"adam_beta1", {"0.9", "0.85"}},
      {"adam_beta2", {"0.999", "0.95"}},
      {"adam_epsilon", {"1e-08", "1e-06"}},
      {"max_grad_norm", {"0", "1", "0.3"}},
      {"loss_chunk_tokens", {"auto", "1024"}}};
  return kDraws;
}
constexpr std::array<std::string_view, 24> kDrawnChoices{"sharding_strategy",
                                                         "uneven_inputs",
                                                         "wrap_policy",
                                                         "backward_prefetch",
                                                         "forward_prefetch",
                                                         "limit_all_gathers",
                                                         "overlap_comm",
                                                         "static_graph",
                                                         "find_unused_parameters",
                                                         "gradient_as_bucket_view",
                                                         "communication_hook",
                                                         "communication",
                                                         "separate_communicators",
                                                         "sync_module_states",
                                                         "comm_stream_priority",
                                                         "precision",
                                                         "param_dtype",
                                                         "reduce_dtype",
                                                         "buffer_dtype",
                                                         "cpu_offload",
                                                         "sync_each_batch",
                                                         "optimizer",
                                                         "lr_schedule",
                                                         "checkpoint_format"};

std::string drawn_value(const job::Knob& knob, std::mt19937& random) {
  if (type_name(knob) == "bool") return random() % 2 == 0 ? "true" : "false";
  return std::string(knob.choices[random() % knob.choices.size()]);
}

// By what it does: without a warm-up these two are one, and with one, too.
std::string acting_text(const job::Settings& settings, const job::Knob& knob) {
  const std::string text = value_text(settings, knob);
  return text == "constant_with_warmup" ? "constant" : text;
}

// What needs no word there.
bool is_done_anyway(const job::Settings& s, std::string_view knob) {
  if (knob == "first_bucket_mb") return s.first_bucket_mb == s.bucket_cap_mb;
  if (knob == "min_num_params") return s.wrap_policy != job::WrapPolicy::kSize;
  if (knob == "initial_loss_scale") return !job::scales_loss(s);
  return knob == "reduce_dtype" &&
         s.reduce_dtype ==
             (s.param_dtype == job::DataType::kAuto ? job::DataType::kFp32 : s.param_dtype);
}

// DeepSpeed's stage 0 has no units, but their types.
bool is_a_type_of_replicas(const TunedJob& job, const job::Knob& knob, const FrameworkFile& file) {
  return job.settings.sharding_strategy == job::Strategy::kNoShard &&
         (knob.name.ends_with("_dtype") || knob.name == "precision") &&
         has(file.text, "\"" + value_text(job.settings, knob).substr(0, 2));
}

}  // namespace

TunedJob job_with(std::string_view settings) {
  TunedJob job;
  job.run = "base";
  while (!settings.empty()) {
    const auto end = std::min(settings.find(' '), settings.size());
    const auto set = job::set_assignment(job.settings, settings.substr(0, end));
    EXPECT_TRUE(set) << set.error().message;
    settings.remove_prefix(std::min(settings.size(), end + 1));
  }
  return job;
}

TunedJob drawn_job(std::mt19937& random) {
  for (;;) {
    TunedJob job;
    job.on_gpu = true;
    for (const Draw& draw : draws()) {
      const auto value = draw.values[random() % draw.values.size()];
      EXPECT_TRUE(job::set_value(job.settings, draw.knob, value)) << draw.knob << " " << value;
    }
    for (const std::string_view name : kDrawnChoices) {
      const job::Knob& knob = *job::find_knob(name);
      if (random() % 2 == 0) continue;  // so that many are valid
      EXPECT_TRUE(job::set_value(job.settings, name, drawn_value(knob, random))) << name;
    }
    if (job::problems_of(job.settings).empty()) return job;
  }
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

void expect_every_setting_is_said(const std::function<std::string(const TunedJob&)>& said) {
  for (const job::StrategyTraits& traits : job::strategies()) {
    TunedJob job;
    job.run = "base";
    job.settings.sharding_strategy = traits.strategy;
    job.settings.device = job::DeviceChoice::kCuda;
    job.settings.ranks = 6;
    const std::string before = said(job);
    for (const job::Knob& knob : job::knobs()) {
      if (!is_of_parallelism(knob) || !applies(knob, traits.strategy)) continue;
      if (std::ranges::find(kOfNoEffectAlone, knob.name) != kOfNoEffectAlone.end()) continue;
      TunedJob other = job;
      const std::string value = another_value(knob);
      ASSERT_TRUE(job::set_value(other.settings, knob.name, value)) << knob.name << " " << value;
      EXPECT_NE(said(other), before)
          << traits.name << ": nothing says " << knob.name << "=" << value;
    }
  }
}

void expect_none_is_forgotten(const TunedJob& job, const FrameworkFile& file) {
  const auto of_start = knobs_of_environment(job);
  std::set<std::string_view> said(file.written.begin(), file.written.end());
  for (const LeftOut& each : file.left_out) {
    EXPECT_FALSE(each.reason.empty()) << each.knob;
    EXPECT_FALSE(said.contains(each.knob)) << each.knob << " is written, and listed as left out";
    EXPECT_FALSE(each.reason.ends_with("has no such setting") && each.knob != "shard_group_size")
        << each.knob << ": " << each.reason;
    said.insert(each.knob);
  }
  said.insert(of_start.begin(), of_start.end());
  for (const job::Knob* knob : job::differing_knobs({}, job.settings)) {
    if (!is_of_parallelism(*knob) || !applies(*knob, job.settings.sharding_strategy)) continue;
    if (said.contains(knob->name)) continue;
    EXPECT_TRUE(is_done_anyway(job.settings, knob->name) || is_a_type_of_replicas(job, *knob, file))
        << knob->name << ": " << value_text(job.settings, *knob) << " is lost\n"
        << file.text;
  }
}

void expect_round_trip(const TunedJob& job, const FrameworkFile& file, Framework framework) {
  const auto read = parse_foreign_settings(file.text, "written");
  ASSERT_TRUE(read) << read.error().message << "\n" << file.text;
  ASSERT_TRUE(read->has_value()) << file.text;
  EXPECT_EQ((*read)->framework, framework);
  for (const std::string_view name : file.written) {
    const job::Knob& knob = *job::find_knob(name);
    if (!applies(knob, job.settings.sharding_strategy)) continue;
    EXPECT_EQ(acting_text((*read)->settings, knob), acting_text(job.settings, knob))
        << name << " in\n"
        << file.text;
  }
}

}  // namespace shardlens::trace::frameworks
