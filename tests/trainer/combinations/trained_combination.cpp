#include "tests/trainer/combinations/trained_combination.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <mutex>

#include "tests/trainer/comm/rank_threads.h"
#include "tests/trainer/encoded_texts.h"
#include "trace/model/strategy.h"
#include "trainer/build_strategy.h"
#include "trainer/model/build_model.h"
#include "trainer/model/recompute.h"
#include "trainer/text/byte_tokenizer.h"
#include "trainer/train_loop.h"
#include "trainer/trained_part.h"

namespace shardlens::trainer {

namespace {

// Divides by 2, 3 and 4 ranks times 1, 2 and 3 micro-batches.
constexpr std::int64_t kSequences = 72, kLength = 8, kSteps = 4;
constexpr std::int64_t kVocabulary = 61;

// As the preset's, but small; with 3 and 4 ranks some units need padding. Attention has a little
// more parameters than kNestingUnit, the MLP a little less, and with the norms more again: a block
// is a unit with attention as a unit in it, adapters beside attention or not.
constexpr std::int64_t kNestingUnit = 1670;
ModelShape small_shape_of(const std::string& model) {
  ModelShape shape = *trace::find_model_preset(model);
  const bool is_gpt2 = shape.layout == ModelLayout::kGpt2;
  shape.layers = 3;
  shape.width = is_gpt2 ? 20 : 24;
  shape.heads = 2;
  shape.kv_heads = is_gpt2 ? 2 : 1;
  shape.mlp_width = is_gpt2 ? 40 : 23;
  shape.vocabulary = kVocabulary;
  shape.context = 16;
  shape.tied_head = is_gpt2;
  return shape;
}

// Something to learn: each token follows from the one before, but for every fifth.
EncodedText text_of(std::int64_t tokens) {
  LiteralExample document;
  std::int64_t token = 1;
  for (std::int64_t i = 0; i < tokens; ++i) {
    token = (i % 5 == 4 ? i / 5 * 17 : token * 7 + 3) % kVocabulary;
    document.tokens.push_back(static_cast<TokenId>(token));
  }
  return encoded(TextKind::kPlain, {document});
}

std::int64_t share_of_a_rank(const trace::Settings& settings) {
  return kSequences / (settings.ranks * settings.gradient_accumulation_steps);
}

std::string train_rank(const trace::Settings& settings, const TokenDataset& dataset,
                       const std::filesystem::path& folder, Communicator& communicator,
                       profiler::Recorder& recorder) {
  const ModelShape shape = small_shape_of(settings.model);
  const auto model = build_any_model(
      shape, {0.0, static_cast<std::uint64_t>(settings.seed), torch::kCPU, /*has_memory=*/true});
  const auto chosen = choose_trained_part(*model, settings);
  if (!chosen) return chosen.error().message;
  recompute_every_nth_block(*model, settings.activation_checkpointing);
  const auto strategy = build_strategy(settings, *model, communicator, recorder,
                                       static_cast<int>(settings.ranks), nullptr);
  RankLog log(&recorder);
  const std::atomic<int> stop_signal = 0;
  const ByteTokenizer tokenizer;
  const auto samples = SampleWriter::create(settings, dataset, tokenizer);
  if (!samples) return samples.error().message;
  const ModelSaver saver({settings, folder, shape, *model, {}});
  TrainLoop loop(
      {settings, shape, dataset, torch::kCPU, *model, *strategy, communicator, folder, recorder,
       nullptr, log, stop_signal, *samples, saver, [](std::int64_t, std::int64_t) {}},
      {});
  const auto outcome = loop.run();
  return outcome ? "" : outcome.error().message;
}

bool is_narrow(const std::string& type) { return type == "bf16" || type == "fp16"; }

}  // namespace

trace::Settings combination_base() {
  trace::Settings settings;
  settings.device = "cpu";
  settings.steps = kSteps;
  settings.sequence_length = kLength;
  settings.lr_schedule = "constant";
  settings.learning_rate = 0.01;
  settings.save_model = "none";
  settings.evaluation_batches = 0;
  settings.seed = 5;
  return settings;
}

Curve train_combination(const trace::Settings& wished) {
  trace::Settings settings = wished;
  settings.batch_per_rank = share_of_a_rank(settings);
  const int ranks = static_cast<int>(settings.ranks);
  const auto text = text_of((kSequences * kSteps + kSequences) * kLength * 10 / 9);
  const auto dataset =
      TokenDataset::create(text, std::nullopt, settings, {kVocabulary, 0, 0}, ranks);
  Curve curve;
  if (!dataset) {
    curve.error = dataset.error().message;
    return curve;
  }
  std::mutex mutex;
  const StoreFile folder;  // nothing is written there
  CommunicatorOptions options;
  options.timeout = std::chrono::seconds(60);
  const auto recordings = on_ranks(
      ranks,
      [&](Communicator& communicator, profiler::Recorder& recorder) {
        std::string error;
        try {
          error = train_rank(settings, *dataset, folder.path(), communicator, recorder);
        } catch (...) {
          error = message_of(std::current_exception());
        }
        const std::lock_guard lock(mutex);
        if (!error.empty()) {
          curve.error += "rank " + std::to_string(communicator.rank()) + ": " + error + "\n";
        }
      },
      options);
  for (const trace::Step& step : recordings.front().rows.steps) {
    curve.losses.push_back(step.loss);
    curve.norms.push_back(step.gradient_norm);
  }
  for (const trace::Evaluation& each : recordings.front().rows.evaluations) {
    curve.evaluations.push_back(each.loss);
  }
  return curve;
}

trace::Settings in_one_process(const trace::Settings& settings) {
  trace::Settings one = combination_base();
  one.ranks = 1;
  one.model = settings.model;
  one.precision = settings.precision;
  one.lora_rank = settings.lora_rank;
  one.lora_target_modules = settings.lora_target_modules;
  one.base_dtype = settings.base_dtype;
  one.frozen_blocks = settings.frozen_blocks;
  one.optimizer = settings.optimizer;
  one.max_grad_norm = settings.max_grad_norm;
  one.evaluate_every = settings.evaluate_every;
  // A model whose weights are cast as a whole: there is nothing to gather, and nothing ahead.
  const bool casts = is_narrow(settings.param_dtype) || is_narrow(settings.buffer_dtype);
  if (casts && trace::strategy_traits(settings.sharding_strategy).has_units) {
    one.sharding_strategy = "no_shard";
    one.wrap_policy = "whole_model";
    one.backward_prefetch = "none";
    one.param_dtype = settings.param_dtype;
    one.buffer_dtype = settings.buffer_dtype;
    one.reduce_dtype = "fp32";
  }
  return one;
}

std::vector<std::int64_t> smallest_units() { return {1, kNestingUnit}; }

double tolerance(const trace::Settings& s) {
  const bool has_units = trace::strategy_traits(s.sharding_strategy).has_units;
  const bool computes_narrow = s.precision != "fp32" || (has_units && is_narrow(s.param_dtype));
  const bool sends_narrow = has_units ? is_narrow(s.reduce_dtype) : s.communication_hook != "none";
  // Half a unit in the last of bf16's eight places: what one value may lose by being rounded. A
  // mean over hundreds of them loses less; 3e-4 is the most that was seen.
  if (computes_narrow || sends_narrow) return 0x1p-9;
  // As where strategies are compared with PyTorch's; sums in another order made 2e-7.
  return 1e-5;
}

std::optional<double> difference(const Curve& a, const Curve& b) {
  if (a.losses.size() != b.losses.size() || a.evaluations.size() != b.evaluations.size()) return {};
  double worst = 0;
  const auto compare = [&](const std::vector<double>& ours, const std::vector<double>& theirs) {
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const double apart = std::abs(ours[i] - theirs[i]) / std::abs(theirs[i]);
      worst = apart <= worst ? worst : apart;  // not a number is worst
    }
  };
  compare(a.losses, b.losses);
  compare(a.evaluations, b.evaluations);
  return worst;
}

}  // namespace shardlens::trainer
