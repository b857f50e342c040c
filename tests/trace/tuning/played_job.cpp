#include "tests/trace/tuning/played_job.h"

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include "tests/trace/tuning/played_rows.h"
#include "tests/trace/tuning/played_script.h"
#include "trace/job/shape/lora.h"
#include "trace/job/shape/model_shape.h"
#include "trace/job/shape/parameter_shapes.h"
#include "trace/job/shape/shape_text.h"
#include "trace/job/shape/strategy.h"
#include "trace/predict/schedule/bucket_program.h"
#include "trace/predict/sizes/model_sizes.h"
#include "trace/predict/sizes/model_units.h"
#include "trace/tuning/layer_moments.h"
#include "trace/tuning/predictable.h"

namespace shardlens::trace::tuning {

namespace {

using model::CollectiveFunction;
using predict::Deed;

constexpr std::int64_t kPeriodNs = 10'000'000'000, kFirstStepNs = 1'000'000'000'000;
constexpr double kBytesOfMib = 1024.0 * 1024.0;
// Of a forward that keeps nothing for backward, as on a CPU: two of them take 1.75 times as long.
constexpr double kWithoutKeeping = 0.875;

}  // namespace

// Of a GPT-2, as forward goes through it.
struct PlayedJob::Layer {
  std::string name;
  std::int64_t block = -1;
  predict::ParameterRange parameters{};  // none: attention, the head
  double share = 0;                      // of the operations
};

auto PlayedJob::layers_of(const job::ModelShape& shape, std::int64_t sequence)
    -> std::vector<Layer> {
  std::vector<Layer> layers;
  double sum = 0;
  const auto add = [&](Layer layer) {
    sum += layer.share;
    layers.push_back(std::move(layer));
  };
  const auto parameters = job::parameter_shapes(shape);
  for (int i = 0; i < static_cast<int>(parameters.size()); ++i) {
    const auto& each = parameters[static_cast<std::size_t>(i)];
    const std::string name = each.name.substr(0, each.name.rfind('.'));
    const bool multiplies = each.block >= 0 || name.ends_with("ln_f");
    const double share = multiplies ? static_cast<double>(each.numel()) : 0;
    if (!layers.empty() && layers.back().name == name) {
      layers.back().parameters.end = i + 1;
      layers.back().share += share;
      sum += share;
      continue;
    }
    if (name.ends_with("attn.c_proj")) {
      add({"attention", each.block, {}, 2 * static_cast<double>(shape.width * sequence)});
    }
    add({name, each.block, {i, i + 1}, share});
  }
  add({"head", -1, {}, static_cast<double>(shape.vocabulary * shape.width)});
  for (Layer& layer : layers) layer.share /= sum;
  return layers;
}

class PlayedJob::Writer {
 public:
  Writer(const PlayedJob& job, const job::Settings& settings, std::int64_t step)
      : job_(job),
        settings_(acting_settings(job.figures(settings).info, settings)),
        step_(step),
        planned_(job.planned(settings_)) {
    layers_ = layers_of(planned_.shape, planned_.sequence());
    const auto sizes = predict::model_sizes(planned_.shape, planned_.settings);
    for (const auto& shard : predict::shard_sizes(planned_, sizes).units) {
      Unit unit{.bytes = 4 * shards() * shard.trained};
      unit.is_block = shard.unit.block >= 0 &&
                      shard.unit.parameters == sizes.block_parameters(shard.unit.block);
      unit.is_recomputed = !unit.is_block && recomputes(shard.unit.block);
      unit.passes_gradient = shard.unit.parameters.first > sizes.one_block.first - 1;
      for (int i = 0; i < static_cast<int>(layers_.size()); ++i) {
        const predict::ParameterRange& own = layers_[static_cast<std::size_t>(i)].parameters;
        if (own.end == 0 || !shard.unit.parameters.contains(own)) continue;
        unit.first = unit.last < 0 ? i : unit.first;
        unit.last = i;
      }
      units_.push_back(unit);
    }
    script_.gradients = gradients_backwards(planned_);
    std::vector<std::int64_t> bytes;
    for (const auto& gradient : script_.gradients) bytes.push_back(gradient.bytes);
    const auto cap = [](double mib) { return static_cast<std::int64_t>(mib * kBytesOfMib); };
    script_.buckets = predict::plan_buckets(
        bytes, {cap(settings_.first_bucket_mb), cap(settings_.bucket_cap_mb)});
    for (auto& rank : script_.ranks) {
      rank.begin_ns = static_cast<double>(kFirstStepNs + step * kPeriodNs);
    }
  }

  PlayedScript write() {
    for (std::int64_t i = 0; i < settings_.gradient_accumulation_steps; ++i) {
      syncs_ = settings_.sync_each_batch || i + 1 == settings_.gradient_accumulation_steps;
      at(Mark::kForwardBegin);
      forward();
      at(Mark::kForwardEnd);
      at(Mark::kBackwardBegin);
      backward();
      at(Mark::kBackwardEnd);
    }
    at(Mark::kOptimizerBegin);
    update();
    return std::move(script_);
  }

 private:
  using Mark = PlayedScript::Mark;
  using Name = PlayedScript::Name;

  bool has_units() const { return job::strategy_traits(settings_.sharding_strategy).has_units; }
  bool frees() const { return settings_.sharding_strategy == job::Strategy::kFullShard; }
  std::int64_t shards() const {
    return settings_.sharding_strategy == job::Strategy::kNoShard ? 1 : kPlayedRanks;
  }
  bool recomputes(std::int64_t block) const {
    const std::int64_t every = settings_.activation_checkpointing;
    return every > 0 && block >= 0 && block % every == 0;
  }

  void at(Mark moment) { script_.moments.emplace_back(moment, script_.ranks[0].deeds.size()); }
  void compute(double ns, int layer, bool in_forward) {
    for (int rank = 0; rank < kPlayedRanks; ++rank) {
      script_.ranks[static_cast<std::size_t>(rank)].deeds.push_back(
          {Deed::What::kCompute, job_.computes_ns(ns, step_, rank, layer, in_forward)});
    }
  }
  std::size_t launch(Name name, std::size_t lane = 0) {
    // What Gloo moves of it: it sums before it scatters.
    const bool is_gather = name.function == CollectiveFunction::kAllGather;
    const PlayedSettings& p = job_.played_;
    const std::size_t call = script_.calls.size();
    const double took =
        (is_gather ? 0.5 : 1) * (p.latency_ns + p.ns_per_byte * static_cast<double>(name.bytes) +
                                 job_.held_up_ns(step_, call));
    script_.calls.push_back({lane, false, std::round(took), std::round(took)});
    script_.names.push_back(std::move(name));
    for (auto& rank : script_.ranks) rank.deeds.push_back({Deed::What::kLaunch, 0, call});
    return call;
  }
  void wait(std::size_t call) {
    for (auto& rank : script_.ranks) rank.deeds.push_back({Deed::What::kWait, 0, call});
  }

  struct Unit {
    std::int64_t bytes = 0;
    int first = 0, last = -1;  // layers
    bool is_block = false, is_recomputed = false, passes_gradient = true;
    bool is_gathered = false;
    std::optional<std::size_t> gather{};
  };
  Unit& unit(int index) { return units_[static_cast<std::size_t>(index)]; }
  int unit_count() const { return static_cast<int>(units_.size()); }
  const Layer& layer(int index) const { return layers_[static_cast<std::size_t>(index)]; }
  int layer_count() const { return static_cast<int>(layers_.size()); }

  void gather(int index, const std::string& what) {
    Unit& each = unit(index);
    if (!has_units() || each.is_gathered) return;
    each.is_gathered = true;
    if (shards() == 1) return;
    each.gather = launch({CollectiveFunction::kAllGather, model::TagKind::kUnit, index,
                          "unit" + std::to_string(index) + " " + what, each.bytes},
                         settings_.separate_communicators ? 1 : 0);
  }
  void use(int index) {
    if (const auto call = std::exchange(unit(index).gather, {})) wait(*call);
  }
  void free(int index) { unit(index).is_gathered = false; }
  void reduce(int index) {
    if (const auto call = std::exchange(reduction_, {})) wait(*call);
    reduction_ =
        launch({shards() == 1 ? CollectiveFunction::kAllReduce : CollectiveFunction::kReduceScatter,
                model::TagKind::kUnit, index, "unit" + std::to_string(index) + " reduce",
                unit(index).bytes});
  }

  double forward_ns(int index) const {
    const double all = job_.played_.forward_ns, root = job_.played_.root_share;
    if (index == 0) return all * root;
    return (recomputes(layer(index).block) ? kWithoutKeeping : 1) * all * (1 - root) *
           layer(index).share;
  }
  double backward_ns(int index) const {
    const double all = job_.played_.backward_ns, root = job_.played_.root_share;
    return index == 0 ? all * root : all * (1 - root) * layer(index).share;
  }

  void forward() {
    awaiting_.clear();
    gather(0, "forward gather");
    if (has_units()) use(0);
    prefetch_forward(0);
    for (int i = 0; i < layer_count(); ++i) {
      for (int u = 1; has_units() && u < unit_count(); ++u) {
        if (unit(u).first == i) enter_forward(u, false);
      }
      compute(forward_ns(i), i, true);
      for (int u = unit_count(); has_units() && --u > 0;) {
        if (unit(u).last == i) leave_forward(u, !unit(u).is_recomputed);
      }
    }
  }
  void enter_forward(int index, bool again) {
    gather(index, again ? "backward gather" : "forward gather");
    use(index);
    if (!again) prefetch_forward(index);
  }
  // In registration order, which is that of forward here.
  void prefetch_forward(int index) {
    if (settings_.forward_prefetch && index + 1 < unit_count()) {
      gather(index + 1, "forward gather, prefetched");
    }
  }
  void leave_forward(int index, bool awaits) {
    if (frees()) free(index);
    if (awaits) awaiting_.push_back(index);
  }

  void backward() {
    gradient_ = 0;
    const bool pre = settings_.backward_prefetch == job::BackwardPrefetch::kPre;
    if (pre) prefetch_backward();
    for (int i = layer_count(); i-- > 0;) {
      for (int u = 1; has_units() && u < unit_count(); ++u) {
        if (unit(u).last == i && unit(u).is_block) enter_backward(u);
      }
      if (i + 1 == layer_count() || layer(i + 1).block != layer(i).block) compute_again(i);
      for (int u = 1; has_units() && u < unit_count(); ++u) {
        if (unit(u).last == i && !unit(u).is_block) enter_backward(u);
      }
      layer_backward(i);
      for (int u = unit_count(); has_units() && --u > 0;) {
        if (unit(u).first == i && unit(u).passes_gradient) leave_backward(u);
      }
    }
    finish_backward();
  }
  void prefetch_backward() {
    if (has_units() && !awaiting_.empty()) {
      gather(awaiting_.back(), "backward gather, prefetched");
    }
  }
  void enter_backward(int index) {
    const auto at = std::ranges::find(awaiting_, index);
    awaiting_.erase(at, awaiting_.end());
    gather(index, "backward gather");
    use(index);
    if (settings_.backward_prefetch == job::BackwardPrefetch::kPre) prefetch_backward();
  }
  void leave_backward(int index) {
    if (settings_.backward_prefetch == job::BackwardPrefetch::kPost) prefetch_backward();
    if (syncs_ || frees()) free(index);
    if (syncs_) reduce(index);
  }
  // `last`: of the block.
  void compute_again(int last) {
    const std::int64_t block = layer(last).block;
    if (!recomputes(block)) return;
    for (int i = 0; i <= last; ++i) {
      if (layer(i).block != block) continue;
      for (int u = 1; has_units() && u < unit_count(); ++u) {
        if (unit(u).first == i && unit(u).is_recomputed) enter_forward(u, true);
      }
      compute(forward_ns(i), i, true);
      for (int u = unit_count(); has_units() && --u > 0;) {
        if (unit(u).last == i && unit(u).is_recomputed) leave_forward(u, true);
      }
    }
  }
  void finish_backward() {
    if (has_units()) {
      awaiting_.clear();
      for (int u = unit_count(); --u > 0;) {
        if (!unit(u).passes_gradient) leave_backward(u);
      }
      if (syncs_ || frees()) free(0);
      if (syncs_) reduce(0);
      if (const auto call = std::exchange(reduction_, {})) wait(*call);
    } else if (syncs_) {
      if (!settings_.overlap_comm) {
        for (std::size_t i = 0; i < script_.buckets.size(); ++i) reduce_bucket(i);
      }
      for (const std::size_t call : std::exchange(buckets_, {})) wait(call);
    }
  }

  // Each of a layer's gradients is ready after an equal part of its backward.
  void layer_backward(int index) {
    const predict::ParameterRange& own = layer(index).parameters;
    const int count = own.end - own.first;
    const double ns = backward_ns(index);
    if (count == 0 && ns > 0) compute(ns, index, false);
    for (int i = 0; i < count; ++i, ++gradient_) {
      if (ns > 0) compute(ns / count, index, false);
      at(Mark::kGradient);
      if (has_units() || !syncs_ || !settings_.overlap_comm) continue;
      const std::size_t bucket = buckets_.size();
      if (script_.buckets[bucket].back() == gradient_) reduce_bucket(bucket);
    }
  }
  void reduce_bucket(std::size_t bucket) {
    std::int64_t bytes = 0;
    for (const std::size_t each : script_.buckets[bucket]) bytes += script_.gradients[each].bytes;
    buckets_.push_back(launch({CollectiveFunction::kAllReduce, model::TagKind::kBucket,
                               static_cast<int>(bucket), "", bytes}));
  }

  void update() {
    if (has_units()) {
      // With a value for each parameter: whether it was used.
      const auto bytes = 4 * (1 + static_cast<std::int64_t>(script_.gradients.size()));
      wait(launch(
          {CollectiveFunction::kAllReduce, model::TagKind::kNamed, -1, "gradient norm", bytes}));
    }
    const auto values = [](const predict::PlannedJob& job) {
      const auto sizes = predict::model_sizes(job.shape, job.settings);
      return static_cast<double>(predict::optimizer_state(job, sizes).values);
    };
    job::Settings ddp = settings_;
    ddp.sharding_strategy = job::Strategy::kDdp;
    compute(job_.played_.optimizer_ns * values(planned_) / values(job_.planned(ddp)), 0, true);
  }

  const PlayedJob& job_;
  job::Settings settings_;
  std::int64_t step_;
  predict::PlannedJob planned_;
  PlayedScript script_;
  bool syncs_ = true;
  std::vector<Layer> layers_;
  std::vector<Unit> units_;
  std::vector<int> awaiting_;  // as forward left them, without those whose backward has begun
  std::optional<std::size_t> reduction_;
  std::vector<std::size_t> buckets_;  // under way
  std::size_t gradient_ = 0;
};

PlayedJob::PlayedJob(const PlayedSettings& settings)
    : played_(settings), shape_(*job::find_model_preset("tiny")) {
  if (settings.layers > 0) shape_.layers = settings.layers;
}

predict::PlannedJob PlayedJob::planned(const job::Settings& settings) const {
  predict::PlannedJob job = predict::job_on_this_machine(settings, shape_);
  job.ranks = job.ranks_per_node = kPlayedRanks;
  return job;
}

// The same in all micro-batches of a step.
double PlayedJob::computes_ns(double ns, std::int64_t step, int rank, int layer,
                              bool forward) const {
  std::seed_seq seed{static_cast<int>(played_.seed), static_cast<int>(step), rank, layer,
                     forward ? 1 : 0};
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> noise(-played_.noise, played_.noise);
  return ns * (1 + noise(random)) * (1 + rank * played_.late);
}

double PlayedJob::held_up_ns(std::int64_t step, std::size_t call) const {
  return (static_cast<std::size_t>(step) + call) % 4 == 0 ? played_.held_up_ns : 0;
}

PlayedScript PlayedJob::script(const job::Settings& settings, std::int64_t step) const {
  return Writer(*this, settings, step).write();
}

PlayedStep PlayedJob::play(const job::Settings& settings, std::int64_t step) const {
  const PlayedScript script = this->script(settings, step);
  const auto played = predict::play(script.ranks, script.calls, played_.slowdown);
  PlayedStep result;
  for (std::size_t rank = 0; rank < kPlayedRanks; ++rank) {
    const double took = played.end_ns(rank) - script.ranks[rank].begin_ns;
    result.step_ns = std::max(result.step_ns, took);
    result.exposed_ns += played.waited_ns(rank, script.ranks[rank]) / kPlayedRanks;
  }
  return result;
}

std::vector<model::Batch> PlayedJob::rows(const job::Settings& settings) const {
  std::vector<model::Batch> all;
  const PlayedScript first = script(settings, 0);
  const bool has_units = job::strategy_traits(settings.sharding_strategy).has_units;
  const auto job = planned(settings);
  const auto sizes = predict::model_sizes(job.shape, job.settings);
  const auto units = predict::model_units(job.shape, job.settings, sizes);
  for (int rank = 0; rank < kPlayedRanks; ++rank) {
    model::Batch& batch = all.emplace_back();
    add_sums(played_.latency_ns, played_.ns_per_byte, rank, batch);
    if (has_units) {
      add_units(units.size(), rank, batch);
    } else {
      add_buckets(first, rank, batch);
    }
  }
  for (std::int64_t step = 0; step < played_.steps; ++step) {
    const PlayedScript script = this->script(settings, step);
    const auto played = predict::play(script.ranks, script.calls, played_.slowdown);
    for (int rank = 0; rank < kPlayedRanks; ++rank) {
      all.push_back(rows_of_step(script, played, step, rank));
    }
  }
  return all;
}

predict::RecordedSteps PlayedJob::record(const job::Settings& settings) const {
  predict::RecordedSteps recorded(kPlayedRanks, 0);
  for (const model::Batch& batch : rows(settings)) recorded.learn(batch);
  return recorded;
}

analysis::RunFigures PlayedJob::figures(const job::Settings& settings) const {
  analysis::RunFigures figures;
  figures.info.world_size = kPlayedRanks;
  figures.info.device = "cpu";
  figures.info.settings = settings;
  figures.ranks.resize(kPlayedRanks);
  for (auto& rank : figures.ranks) rank.info.device = "cpu";
  for (auto& rank : figures.ranks) {
    rank.info.model = job::shape_text(shape_);
    rank.info.parameters = job::trained_share(shape_, settings).all;
  }
  return figures;
}

}  // namespace shardlens::trace::tuning
