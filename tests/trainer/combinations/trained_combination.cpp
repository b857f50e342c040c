#include "tests/trainer/combinations/trained_combination.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <utility>

#include "tests/trainer/combinations/learnable_texts.h"
#include "tests/trainer/comm/rank_threads.h"
#include "trace/base/file_system.h"
#include "trace/job/shape/strategy.h"
#include "trainer/huggingface/folder_source.h"
#include "trainer/loop/train_loop.h"
#include "trainer/lora/base_weights.h"
#include "trainer/model/build_model.h"
#include "trainer/model/recompute.h"
#include "trainer/rank/build_strategy.h"
#include "trainer/saving/model_saver.h"

namespace shardlens::trainer {

namespace {

// Divides by 2, 3 and 4 ranks times 1, 2 and 3 micro-batches.
constexpr std::int64_t kSequences = 72, kLength = 8, kSteps = 4;
// One step's more than are trained, and a tenth to evaluate on.
constexpr std::int64_t kSamples = kSequences * (kSteps + 1) * 10 / 9;

text::EncodedText text_for(const trace::job::Settings& settings, const model::ModelShape& shape) {
  if (trace::job::is_encoder(shape.layout)) {
    return foretold_classes(kSamples, kLength, kSmallVocabulary, kSmallClasses);
  }
  return settings.data == kCompletions ? foretold_completions(kSamples, kLength, kSmallVocabulary)
                                       : foretold_text(kSamples, kLength, kSmallVocabulary);
}

std::int64_t share_of_a_rank(const trace::job::Settings& settings) {
  return kSequences / (settings.ranks * settings.gradient_accumulation_steps);
}

// What all ranks of a job have.
struct Job {
  const trace::job::Settings& settings;
  const SmallModel& model;
  const data::TokenDataset& dataset;
  const std::filesystem::path& folder;
};

trace::base::Result<void> train_rank(const Job& job, comm::Communicator& communicator,
                                     profiler::recorder::Recorder& recorder) {
  const trace::job::Settings& settings = job.settings;
  std::optional<huggingface::FolderSource> folder;
  if (!job.model.folder.empty()) {
    TRY_ASSIGN(folder, huggingface::FolderSource::open(job.model.folder, job.model.shape));
  }
  const auto model = model::build_any_model(
      job.model.shape, {0.0, static_cast<std::uint64_t>(settings.seed), torch::kCPU,
                        /*has_memory=*/!folder});
  TRY(lora::choose_trained_part(*model, settings));
  model::recompute_every_nth_block(*model, settings.activation_checkpointing);
  std::optional<lora::BaseSource> base;
  if (folder) base.emplace(*model, *folder);
  const auto strategy =
      rank::build_strategy(settings, *model, communicator, recorder,
                           static_cast<int>(settings.ranks), base ? &*base : nullptr);
  loop::RankLog log(&recorder);
  const std::atomic<int> stop_signal = 0;
  TRY_ASSIGN(
      evaluate::SampleWriter samples,
      evaluate::SampleWriter::create(settings, job.dataset, {{}, -1, text::TextDecoder({}, {})}));
  TRY_ASSIGN(const auto saver,
             saving::ModelSaver::create({settings, job.folder, job.model.shape, *model, {}, {}, {}},
                                        /*is_first=*/true));
  loop::TrainLoop loop({settings, job.model.shape, job.dataset, torch::kCPU, *model, *strategy,
                        communicator, job.folder, recorder, nullptr, log, stop_signal, samples,
                        saver, [](std::int64_t, std::int64_t) {}},
                       {});
  TRY(loop.run());
  return {};
}

std::string error_of_rank(const Job& job, comm::Communicator& communicator,
                          profiler::recorder::Recorder& recorder) {
  try {
    const auto trained = train_rank(job, communicator, recorder);
    return trained ? "" : trained.error().message;
  } catch (...) {
    return comm::message_of(std::current_exception());
  }
}

Curve train(const trace::job::Settings& wished, const SmallModels& models,
            const std::filesystem::path& folder) {
  trace::job::Settings settings = wished;
  settings.batch_per_rank = share_of_a_rank(settings);
  const int ranks = static_cast<int>(settings.ranks);
  const SmallModel model = models.find(settings.model);
  const std::int64_t padding = std::max<std::int64_t>(0, model.shape.padding_token);
  const auto dataset =
      data::TokenDataset::create(text_for(settings, model.shape), std::nullopt, settings,
                                 {kSmallVocabulary, model.shape.labels, padding}, ranks);
  Curve curve;
  if (!dataset) {
    curve.error = dataset.error().message;
    return curve;
  }
  std::mutex mutex;
  comm::CommunicatorOptions options;
  options.timeout = std::chrono::seconds(60);
  const Job job{settings, model, *dataset, folder};
  const auto recordings = comm::on_ranks(
      ranks,
      [&](comm::Communicator& communicator, profiler::recorder::Recorder& recorder) {
        const std::string error = error_of_rank(job, communicator, recorder);
        const std::lock_guard lock(mutex);
        if (!error.empty()) {
          curve.error += "rank " + std::to_string(communicator.rank()) + ": " + error + "\n";
        }
      },
      options);
  for (const trace::model::Step& step : recordings.front().rows.steps) {
    curve.losses.push_back(step.loss);
    curve.norms.push_back(step.gradient_norm);
  }
  for (const trace::model::Evaluation& each : recordings.front().rows.evaluations) {
    curve.evaluations.push_back(each.loss);
  }
  return curve;
}

// As where strategies are compared with PyTorch's; sums in another order made 2e-7.
constexpr double kExact = 1e-5;

bool is_narrow(trace::job::DataType type) {
  return type == trace::job::DataType::kBf16 || type == trace::job::DataType::kFp16;
}

}  // namespace

trace::job::Settings combination_base() {
  trace::job::Settings settings;
  settings.device = trace::job::DeviceChoice::kCpu;
  settings.steps = kSteps;
  settings.sequence_length = kLength;
  settings.lr_schedule = trace::job::LrSchedule::kConstant;
  settings.learning_rate = 0.01;
  settings.save_model = trace::job::SaveModel::kNone;
  settings.evaluation_batches = 0;
  settings.seed = 5;
  return settings;
}

Curve train_combination(const trace::job::Settings& settings, const SmallModels& models) {
  const trace::base::TemporaryFolder folder = std::move(*trace::base::TemporaryFolder::create());
  if (settings.resume == "none") return train(settings, models, folder.path());

  const trace::job::Settings one = in_one_process(settings);
  trace::job::Settings first = settings.resume == kAfterOneProcess ? one : settings;
  first.steps = first.save_every = settings.save_every;
  first.checkpoint_format = settings.checkpoint_format;
  first.resume = "none";
  Curve curve = train(first, models, folder.path());
  if (!curve.error.empty()) return curve;

  trace::job::Settings second = settings.resume == kThenOneProcess ? one : settings;
  second.save_every = 0;
  second.resume = folder.path();
  Curve rest = train(second, models, folder.path());
  curve.error = rest.error;
  curve.losses.insert(curve.losses.end(), rest.losses.begin(), rest.losses.end());
  curve.norms.insert(curve.norms.end(), rest.norms.begin(), rest.norms.end());
  curve.evaluations.insert(curve.evaluations.end(), rest.evaluations.begin(),
                           rest.evaluations.end());
  return curve;
}

trace::job::Settings in_one_process(const trace::job::Settings& settings) {
  trace::job::Settings one = combination_base();
  one.ranks = 1;
  one.model = settings.model;
  one.data = settings.data;
  one.precision = settings.precision;
  one.lora_rank = settings.lora_rank;
  one.lora_target_modules = settings.lora_target_modules;
  one.base_dtype = settings.base_dtype;
  one.frozen_blocks = settings.frozen_blocks;
  one.optimizer = settings.optimizer;
  one.learning_rate = settings.learning_rate;
  one.max_grad_norm = settings.max_grad_norm;
  one.evaluate_every = settings.evaluate_every;
  // In 16 bits sums over chunks are rounded otherwise; else whole logits are the better proof.
  if (tolerance(settings) > kExact) one.loss_chunk_tokens = settings.loss_chunk_tokens;
  // A model whose weights are cast as a whole: there is nothing to gather, and nothing ahead.
  const bool casts = is_narrow(settings.param_dtype) || is_narrow(settings.buffer_dtype);
  if (casts && trace::job::strategy_traits(settings.sharding_strategy).has_units) {
    one.sharding_strategy = trace::job::Strategy::kNoShard;
    one.wrap_policy = trace::job::WrapPolicy::kWholeModel;
    one.backward_prefetch = trace::job::BackwardPrefetch::kNone;
    one.param_dtype = settings.param_dtype;
    one.buffer_dtype = settings.buffer_dtype;
    one.reduce_dtype = trace::job::DataType::kFp32;
  }
  return one;
}

double tolerance(const trace::job::Settings& s) {
  const bool has_units = trace::job::strategy_traits(s.sharding_strategy).has_units;
  const bool computes_narrow =
      s.precision != trace::job::Precision::kFp32 || (has_units && is_narrow(s.param_dtype));
  const bool sends_narrow = has_units
                                ? is_narrow(s.reduce_dtype)
                                : s.communication_hook != trace::job::CommunicationHook::kNone;
  // Half a unit in the last of bf16's eight places: what one value may lose by being rounded. A
  // mean over hundreds of them loses less; 3e-4 is the most that was seen.
  if (computes_narrow || sends_narrow) return 0x1p-9;
  return kExact;
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
