#include "trainer/loop/training_checkpoints.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "trace/job/huggingface/find_model.h"
#include "trainer/checkpoint/rank_exchange.h"
#include "trainer/loop/step_exchange.h"
#include "trainer/lora/base_weights.h"
#include "trainer/tensor/random_state.h"

namespace shardlens::trainer::loop {

namespace {

constexpr const char* kLossScale = "loss_scale";
constexpr const char* kGoodSteps = "steps_without_overflow";
constexpr const char* kBestLoss = "best_evaluation_loss";
constexpr const char* kBestText = "best_evaluation_text";

std::string exact_text(double value) { return trace::base::formatted("%.17g", value); }
constexpr const char* kBase = "base";
constexpr const char* kBaseType = "base_dtype";
// In order of their numbers. Some checkpoints have "labels", which were not told apart for certain.
constexpr const char* kLabels = "label_names";
constexpr char kBetweenLabels = '\0';  // a name may have several lines

bool trains_adapters(const trace::job::Settings& settings) { return settings.lora_rank > 0; }

}  // namespace

bool TrainingCheckpoints::is_due(std::int64_t steps_done) const {
  const auto every = parts_.settings.save_every;
  return every > 0 && steps_done % every == 0;
}

std::vector<checkpoint::StatePiece> TrainingCheckpoints::pieces() const {
  std::vector<checkpoint::StatePiece> pieces;
  const auto parameters = parts_.strategy.local_parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const strategy::LocalParameter& parameter = parameters[i];
    if (parameter.is_frozen && trains_adapters(parts_.settings)) continue;
    checkpoint::StatePiece& piece = pieces.emplace_back();
    piece.name = parameter.name;
    piece.full_sizes = parameter.sizes;
    piece.begin = parameter.begin;
    piece.end = parameter.end;
    piece.value = parameter.value.detach();
    piece.writes = parameter.is_primary;
    if (!parameter.is_optimized) continue;
    const optimizer::OptimizerState state = parts_.optimizer.state_of(i);
    piece.first_moment = state.first_moment;
    piece.second_moment = state.second_moment;
    if (state.steps.defined()) piece.optimizer_steps = state.steps.item<double>();
  }
  return pieces;
}

trace::job::CheckpointInfo TrainingCheckpoints::describe(std::int64_t steps_done) const {
  const trace::job::Settings& settings = parts_.settings;
  const auto ranks = parts_.communicator.world_size();
  trace::job::CheckpointInfo info;
  info.step = steps_done;
  info.epoch = parts_.batches.epoch();
  info.batch_index = parts_.batches.batches_drawn();
  // In the epoch under way, of all ranks: what another number of ranks can go on from.
  info.samples_seen = info.batch_index * settings.batch_per_rank * ranks;
  info.seed = static_cast<std::uint64_t>(settings.seed);
  info.strategy = trace::job::chosen<&trace::job::Settings::sharding_strategy>(settings);
  info.format = trace::job::chosen<&trace::job::Settings::checkpoint_format>(settings);
  info.model = settings.model;
  info.optimizer = trace::job::chosen<&trace::job::Settings::optimizer>(settings);
  info.notes = parts_.meaning;
  if (parts_.scaler.enabled()) {
    const optimizer::GradScalerState scaler = parts_.scaler.state();
    info.notes[kLossScale] = exact_text(scaler.scale);
    info.notes[kGoodSteps] = std::to_string(scaler.good_steps);
  }
  if (std::isfinite(best_loss_)) {
    info.notes[kBestLoss] = exact_text(best_loss_);
    info.notes[kBestText] = best_text_;
  }
  if (!parts_.label_names.empty()) {
    info.notes[kLabels] = trace::base::joined(parts_.label_names, {&kBetweenLabels, 1});
  }
  if (trains_adapters(settings)) {
    info.notes[kBase] = base_;
    info.notes[kBaseType] = trace::job::chosen<&trace::job::Settings::base_dtype>(settings);
  }
  return info;
}

trace::base::Result<std::filesystem::path> TrainingCheckpoints::save(std::int64_t steps_done) {
  return save_into(trace::job::kCheckpointsFolder, steps_done, parts_.settings.keep_checkpoints);
}

bool TrainingCheckpoints::forget_best_of_other_text(const std::string& text) {
  const std::string before = std::exchange(best_text_, text);
  if (before == text || before.empty()) return false;  // older checkpoints do not tell it
  return std::isfinite(std::exchange(best_loss_, std::numeric_limits<double>::infinity()));
}

bool TrainingCheckpoints::is_best(double loss) {
  was_evaluated_ = true;
  if (!(loss < best_loss_)) return false;
  best_loss_ = loss;
  return true;
}

std::string TrainingCheckpoints::why_no_best() const {
  if (!was_evaluated_) {
    return "no evaluation took place, as evaluate_every (" +
           std::to_string(parts_.settings.evaluate_every) + ") is more than the steps trained";
  }
  if (!std::isfinite(best_loss_)) return "no evaluation had a finite loss";
  return "no evaluation had a lower loss than " + trace::base::formatted("%.4f", best_loss_) +
         ", the lowest before the run was resumed";
}

trace::base::Result<std::filesystem::path> TrainingCheckpoints::save_best(std::int64_t steps_done) {
  return save_into(trace::job::kBestCheckpointFolder, steps_done, 1);
}

trace::base::Result<std::filesystem::path> TrainingCheckpoints::save_into(std::string_view folder,
                                                                          std::int64_t steps_done,
                                                                          std::int64_t keep_last) {
  checkpoint::SaveOptions options;
  if (trains_adapters(parts_.settings)) base();
  options.info = describe(steps_done);
  options.keep_last = keep_last;
  options.generator_state = tensor::generator_state(parts_.communicator.device());
  options.on_piece = parts_.on_piece_saved;
  return checkpoint::save_checkpoint(parts_.run_folder / folder, options, pieces(),
                                     parts_.communicator);
}

trace::base::Result<std::int64_t> TrainingCheckpoints::resume() {
  if (!trace::job::resumes(parts_.settings)) return 0;
  if (trains_adapters(parts_.settings)) base();
  // A rank that reads slower than others, or cannot read its part, tells it those who wait for it.
  checkpoint::SharedWork reading(parts_.communicator, "resume", parts_.on_piece_read);
  const trace::base::Result<trace::job::CheckpointInfo> loaded =
      load([&reading] { reading.piece_done(); });
  TRY(reading.agree(loaded ? trace::base::Result<void>() : tl::unexpected(loaded.error())));
  TRY(check_equal_on_all_ranks(parts_.communicator, parts_.communicator.device(),
                               {loaded->step, loaded->saved_ns}, "checkpoint"));
  return loaded->step;
}

trace::base::Result<trace::job::CheckpointInfo> TrainingCheckpoints::load(
    const std::function<void()>& on_piece) {
  TRY_ASSIGN(const auto folder, trace::job::find_checkpoint(parts_.settings.resume));
  TRY_ASSIGN(const auto info, trace::job::read_checkpoint_info(folder));
  // The launcher has looked, too, but ranks have other launchers as well.
  TRY(trace::job::check_resume(info, parts_.settings, parts_.parameters, parts_.meaning,
                               trace::job::leaves_model(parts_.settings)));
  TRY(check_base(info));
  TRY(check_labels(info));
  std::vector<checkpoint::StatePiece> wanted = pieces();
  {
    const torch::NoGradGuard no_grad;
    TRY(checkpoint::load_checkpoint(info, wanted, on_piece));
  }
  take_over(wanted, info);
  TRY_ASSIGN(const auto random_numbers,
             checkpoint::load_generator_state(info, parts_.communicator.rank(),
                                              parts_.communicator.world_size()));
  const torch::Device device = parts_.communicator.device();
  // Another kind of device has another generator, whose state has another size.
  if (random_numbers.defined() &&
      random_numbers.numel() == tensor::generator_state(device).numel()) {
    tensor::set_generator_state(device, random_numbers);
  }
  return info;
}

const std::string& TrainingCheckpoints::base() {
  if (base_.empty())
    base_ = lora::base_fingerprint(parts_.strategy.local_parameters(), parts_.communicator);
  return base_;
}

trace::base::Result<void> TrainingCheckpoints::check_base(
    const trace::job::CheckpointInfo& info) const {
  const auto saved = info.notes.find(kBase);
  if (!trains_adapters(parts_.settings) || saved == info.notes.end() || saved->second == base_) {
    return {};
  }
  const auto type = info.notes.find(kBaseType);
  return trace::base::fail(
      trace::base::ErrorKind::kUsage,
      "resume: the adapters in " + info.folder.string() +
          " belong to other frozen weights: model " + info.model + ", seed " +
          std::to_string(info.seed) + ", base_dtype " +
          (type == info.notes.end() ? "" : type->second) +
          ". Set the same model, seed, precision and base_dtype, or do not resume.");
}

// Names that the data gives are numbered by what is in it: new classes must come behind the others.
trace::base::Result<void> TrainingCheckpoints::check_labels(
    const trace::job::CheckpointInfo& info) const {
  const auto saved = info.notes.find(kLabels);
  if (saved == info.notes.end()) return {};
  const auto names = trace::base::split(saved->second, kBetweenLabels);
  const std::size_t count = std::min(names.size(), parts_.label_names.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (names[i] == parts_.label_names[i]) continue;
    return trace::base::fail(
        trace::base::ErrorKind::kUsage,
        "resume: class " + std::to_string(i) + " is \"" + parts_.label_names[i] +
            "\" in this data and was \"" + std::string(names[i]) + "\" in that of " +
            info.folder.string() +
            ". Names are numbered in alphabetical order: give data with the same classes, or with "
            "their numbers as labels.");
  }
  return {};
}

void TrainingCheckpoints::take_over(std::span<const checkpoint::StatePiece> loaded,
                                    const trace::job::CheckpointInfo& info) {
  const auto parameters = parts_.strategy.local_parameters();
  auto piece = loaded.begin();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].is_frozen && trains_adapters(parts_.settings)) continue;
    const torch::Tensor steps = parts_.optimizer.state_of(i).steps;
    if (steps.defined()) steps.fill_(piece->optimizer_steps);
    ++piece;
  }
  const std::int64_t together = parts_.settings.batch_per_rank * parts_.communicator.world_size();
  parts_.batches.go_to(info.epoch, info.samples_seen / together);
  if (const auto scale = info.notes.find(kLossScale); scale != info.notes.end()) {
    const auto good = info.notes.find(kGoodSteps);
    parts_.scaler.restore(
        {std::stod(scale->second), good == info.notes.end() ? 0 : std::stoll(good->second)});
  }
  if (const auto best = info.notes.find(kBestLoss); best != info.notes.end()) {
    best_loss_ = std::stod(best->second);
    const auto text = info.notes.find(kBestText);
    best_text_ = text == info.notes.end() ? "" : text->second;
  }
}

}  // namespace shardlens::trainer::loop
