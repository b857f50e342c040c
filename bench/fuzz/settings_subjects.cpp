// What tells how to train: YAML of jobs and of checkpoints, files of DeepSpeed and Accelerate,
// those of sweeps and searches.
#include <array>
#include <system_error>

#include "app/settings/settings_input.h"
#include "app/sweep/sweep.h"
#include "bench/fuzz/subject.h"
#include "tests/app/sweep/made_up_sweep.h"
#include "trace/job/checkpoint/checkpoint_info.h"
#include "trace/store/run/settings_file.h"

namespace shardlens::bench {
namespace {

namespace fs = std::filesystem;

// What was understood is said so that it is understood again.
void check_settings(const trace::job::Settings& settings, Findings& findings) {
  const std::string said = trace::store::settings_to_yaml(settings);
  const auto again = trace::store::parse_settings(said, "it");
  if (!again) return findings.add("settings are not read again: " + again.error().message);
  if (trace::store::settings_to_yaml(*again) != said) {
    findings.add("settings change when they are written and read");
  }
}

trace::job::CheckpointInfo sample_checkpoint() {
  trace::job::CheckpointInfo info;
  info.step = 20;
  info.samples_seen = 640;
  info.epoch = 1;
  info.batch_index = 4;
  info.world_size = 2;
  info.strategy = "full_shard";
  info.format = "sharded";
  info.model = "tiny";
  info.optimizer = "adamw";
  info.optimizer_steps = 20;
  info.notes = {{"loss_scale", "65536"}, {"best", "5.25: \"at\" step 10"}};
  info.parameters = {{"wte.weight", {512, 64}}, {"ln.bias", {64}}};
  return info;
}

class YamlSubject final : public Subject {
 public:
  std::string_view name() const override { return "yaml"; }
  int weight() const override { return 8; }

  trace::base::Result<void> prepare(const fs::path&) override {
    trace::job::Settings settings;
    settings.seed = 7;
    job_ = trace::store::settings_to_yaml(settings) +
           "model: tiny\nsharding_strategy: full_shard\nbucket_cap_mb: 2.5\nlearning_rate: 3e-4\n"
           "simulate_link: {latency_us: 50, gbit_per_s: 1}\ninject: rank=1,step=3,delay_ms=5\n"
           "steps: 20\nrecord_allocations: 10\nname: \"a name\"\n";
    checkpoint_ = trace::job::checkpoint_info_to_yaml(sample_checkpoint());
    return {};
  }

  void damage(Mutation& mutation, const fs::path& input) override {
    const bool is_job = mutation.one_in(2);
    file_ = input / (is_job ? "job.yaml" : trace::job::kCheckpointFile);
    write_text_file(file_, mutation.yaml(is_job ? job_ : checkpoint_));
    // Settings may come through a pipe.
    if (!is_job && mutation.one_in(100)) mutation.replace_file(file_);
  }

  void read(const fs::path& input, const fs::path&, Findings& findings) override {
    if (file_.filename() == trace::job::kCheckpointFile) {
      if (const auto found = trace::job::find_checkpoint(input); !findings.check(found)) return;
      if (const auto info = trace::job::read_checkpoint_info(input); findings.check(info)) {
        findings.check(trace::job::check_parameters(*info, sample_checkpoint().parameters));
      }
      const auto info = trace::job::parse_checkpoint_info(text_of_file(file_), "it");
      if (findings.check(info))
        findings.check(
            trace::job::parse_checkpoint_info(trace::job::checkpoint_info_to_yaml(*info), "it"));
      return;
    }
    const auto settings = trace::store::read_settings(file_);
    if (findings.check(settings)) check_settings(*settings, findings);
  }

 private:
  std::string job_, checkpoint_;
  fs::path file_;
};

constexpr std::array<std::string_view, 2> kDeepSpeed{
    R"({"train_batch_size": 32, "train_micro_batch_size_per_gpu": 4,
 "gradient_accumulation_steps": 4, "gradient_clipping": 0.7,
 "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu", "pin_memory": true},
                       "stage3_prefetch_bucket_size": 5e7, "zero_hpz_partition_size": 2},
 "bf16": {"enabled": true}, "communication_data_type": "fp32",
 "optimizer": {"type": "AdamW", "params": {"lr": 1e-4, "betas": [0.9, 0.99], "eps": "auto"}},
 "scheduler": {"type": "WarmupDecayLR", "params": {"total_num_steps": 100, "warmup_num_steps": 5}}})",
    R"(# of SGD
{"train_batch_size": 24, "zero_optimization": {"stage": 1, "reduce_bucket_size": 5e8},
 "fp16": {"enabled": true, "loss_scale": 0, "initial_scale_power": 12},
 "optimizer": {"type": "SGD", "params": {"lr": 0.1,}},  // "high"
 "scheduler": {"type": "WarmupCosineLR", "params": {"cos_min_ratio": 0.1}} /* , */ })"};
constexpr std::array<std::string_view, 3> kAccelerate{
    "distributed_type: FSDP\nfsdp_config:\n  fsdp_sharding_strategy: FULL_SHARD\n"
    "  fsdp_version: 1\n  fsdp_auto_wrap_policy: SIZE_BASED_WRAP\n  fsdp_min_num_params: 1000\n"
    "mixed_precision: bf16\nnum_processes: 2\n",
    "distributed_type: FSDP\nnum_processes: 4\nfsdp_config:\n  fsdp_version: 2\n"
    "parallelism_config:\n  parallelism_config_dp_replicate_size: 2\n"
    "  parallelism_config_dp_shard_size: 2\n",
    "compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\ndeepspeed_config:\n"
    "  zero_stage: 3\n  gradient_accumulation_steps: 2\n  offload_param_device: cpu\n"};

class FrameworkSubject final : public Subject {
 public:
  std::string_view name() const override { return "frameworks"; }
  int weight() const override { return 8; }

  void damage(Mutation& mutation, const fs::path& input) override {
    const bool is_json = mutation.one_in(2);
    file_ = input / (is_json ? "ds.json" : "accelerate.yaml");
    write_text_file(file_, is_json ? mutation.json(std::string(mutation.pick(kDeepSpeed)))
                                   : mutation.yaml(std::string(mutation.pick(kAccelerate))));
  }

  void read(const fs::path&, const fs::path&, Findings& findings) override {
    const auto read = app::settings::read_settings_input(file_, kRanks);
    if (findings.check(read)) check_settings(read->settings, findings);
  }

 private:
  static constexpr std::int64_t kRanks = 2;
  fs::path file_;
};

class SweepSubject final : public Subject {
 public:
  std::string_view name() const override { return "sweeps"; }
  int weight() const override { return 8; }

  trace::base::Result<void> prepare(const fs::path& folder) override {
    app::sweep::SweepRecord record;
    record.plan = app::sweep::made_up_plan({0.25, 25}, 2);
    record.plan.search.emplace().ended = "sure";
    record.created_ns = 1'700'000'000'000'000'000;
    record.runs[{0, 0}].file_name = "2026-01-01T00-00-00_caps";
    auto& failed = record.runs[{1, 0}];
    failed.failure = "out of memory";
    failed.predicted = app::sweep::PredictedCost{1e8, 2.5e6};
    TRY_ASSIGN(text_, written(folder, record));
    return {};
  }

  void damage(Mutation& mutation, const fs::path& input) override {
    const fs::path folder = app::sweep::sweep_folder(input, kName);
    fs::create_directories(folder);
    write_text_file(folder / kFile, mutation.json(text_));
    if (mutation.one_in(100)) mutation.replace_file(folder / kFile);
  }

  void read(const fs::path& input, const fs::path& scratch, Findings& findings) override {
    const auto no_run = [](const fs::path&) { return trace::base::Result<app::sweep::WholeRun>(); };
    findings.check(app::sweep::Sweep::look_at(input, kName, no_run));
    const auto record = app::sweep::read_sweep(input, kName);
    if (!findings.check(record)) return;
    // What was understood is said so that it is understood again.
    const auto said = written(scratch, *record);
    if (!findings.check(said)) return;
    const auto again = app::sweep::parse_sweep(*said, "it");
    if (!again) return findings.add("a sweep is not read again: " + again.error().message);
    const auto twice = written(scratch, *again);
    if (!twice || *twice != *said) findings.add("a sweep changes when it is written and read");
  }

 private:
  static constexpr const char* kName = "caps";
  static constexpr const char* kFile = "sweep.json";

  static trace::base::Result<std::string> written(const fs::path& library,
                                                  const app::sweep::SweepRecord& record) {
    const fs::path folder = app::sweep::sweep_folder(library, record.plan.name);
    std::error_code ignored;  // what is written says it
    fs::create_directories(folder, ignored);
    TRY(app::sweep::write_sweep(library, record));
    return text_of_file(folder / kFile);
  }

  std::string text_;
};

}  // namespace

std::unique_ptr<Subject> yaml_subject() { return std::make_unique<YamlSubject>(); }
std::unique_ptr<Subject> framework_subject() { return std::make_unique<FrameworkSubject>(); }
std::unique_ptr<Subject> sweep_subject() { return std::make_unique<SweepSubject>(); }

}  // namespace shardlens::bench
