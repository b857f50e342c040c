// YAML of jobs and of checkpoints.
#include "bench/fuzz/fuzz_files.h"
#include "bench/fuzz/subjects.h"
#include "trace/job/checkpoint/checkpoint_info.h"
#include "trace/store/run/settings_file.h"

namespace shardlens::bench {
namespace {

namespace fs = std::filesystem;

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
    if (!findings.check(settings)) return;
    // What was understood is said so that it is understood again.
    const auto again =
        trace::store::parse_settings(trace::store::settings_to_yaml(*settings), "it");
    if (!again) return findings.add("settings are not read again: " + again.error().message);
    if (trace::store::settings_to_yaml(*again) != trace::store::settings_to_yaml(*settings)) {
      findings.add("settings change when they are written and read");
    }
  }

 private:
  std::string job_, checkpoint_;
  fs::path file_;
};

}  // namespace

std::unique_ptr<Subject> yaml_subject() { return std::make_unique<YamlSubject>(); }

}  // namespace shardlens::bench
