// Texts that are read without anything else: the first byte says as what.
//   guided_texts FOLDER -max_len=6000 -max_total_time=600
#include <array>
#include <string_view>

#include "bench/fuzz/guided/guided_fuzz.h"
#include "trace/frameworks/read/foreign_settings.h"
#include "trace/job/checkpoint/checkpoint_info.h"
#include "trace/job/huggingface/model_config.h"
#include "trace/predict/costs/nccl_tests.h"
#include "trace/store/run/settings_file.h"

namespace shardlens::bench {
namespace {

using namespace trace;

void read_settings(const std::string& text, Findings& findings) {
  const auto read = store::parse_settings(text, "it");
  if (!findings.check(read)) return;
  const auto again = store::parse_settings(store::settings_to_yaml(*read), "it again");
  if (!again || *again != *read) findings.add("settings are others when written and read again");
}

void read_checkpoint(const std::string& text, Findings& findings) {
  findings.check(job::parse_checkpoint_info(text, "it"));
}

void read_framework(const std::string& text, Findings& findings) {
  findings.check(frameworks::parse_foreign_settings(text, "it"));
}

void read_model(const std::string& text, Findings& findings) {
  findings.check(job::shape_from_config(text, "it"));
}

void read_costs(const std::string& text, Findings& findings) {
  const auto table = predict::parse_nccl_tests(text, "it");
  if (findings.check(table)) findings.check(predict::cost_rows(*table, "it", {}, 0));
}

struct Kind {
  void (*read)(const std::string& text, Findings& findings);
  std::string (Mutation::*change)(std::string from);
  std::string_view sample;
};

constexpr std::array kKinds{
    Kind{read_settings, &Mutation::yaml,
         "model: tiny\nsharding_strategy: full_shard\nbucket_cap_mb: 2.5\nlearning_rate: 3e-4\n"
         "simulate_link: {latency_us: 50, gbit_per_s: 1}\ninject: rank=1,step=3,delay_ms=5\n"},
    Kind{read_checkpoint, &Mutation::yaml,
         "shardlens_checkpoint: 1\nstep: 20\nstrategy: \"full_shard\"\nnotes: {a: \"b\"}\n"},
    Kind{read_framework, &Mutation::yaml,
         "distributed_type: FSDP\nfsdp_config:\n  fsdp_sharding_strategy: FULL_SHARD\n"
         "  fsdp_version: 1\nmixed_precision: bf16\nnum_processes: 2\n"},
    Kind{read_framework, &Mutation::json,
         R"({"train_micro_batch_size_per_gpu": 4, "zero_optimization": {"stage": 3},)"
         R"( "optimizer": {"type": "AdamW", "params": {"lr": 1e-4, "betas": [0.9, 0.99]}}})"},
    Kind{read_model, &Mutation::json,
         R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128,)"
         R"( "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 500,)"
         R"( "max_position_embeddings": 128, "rms_norm_eps": 1e-5})"},
    Kind{read_costs, &Mutation::bytes,
         "size(B),count,type,time(ns),busbw(GB/s),time(ns),busbw(GB/s)\n"
         "1048576,262144,float,44210,23.72,45100,23.25\n"},
};

const Kind& kind_of(char first) {
  return kKinds[static_cast<unsigned char>(first) % kKinds.size()];
}

}  // namespace
}  // namespace shardlens::bench

using namespace shardlens::bench;

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  std::vector<std::string> samples;
  for (const Kind& kind : kKinds) {
    samples.push_back(static_cast<char>(samples.size()) + std::string(kind.sample));
  }
  begin_with(*argc, *argv, samples);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  return mutate(data, size, most, seed, [](Mutation& mutation, const std::string& input) {
    if (input.empty()) return mutation.text();
    return input[0] + (mutation.*kind_of(input[0]).change)(input.substr(1));
  });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  Findings findings;
  const auto* const text = reinterpret_cast<const char*>(data);
  kind_of(text[0]).read(std::string(text + 1, size - 1), findings);
  stop_at(findings);
  return 0;
}
