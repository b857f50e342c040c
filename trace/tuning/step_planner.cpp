#include "trace/tuning/step_planner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "trace/analysis/figures/memory_figures.h"
#include "trace/base/median.h"
#include "trace/base/words/quantity.h"
#include "trace/job/shape/lora.h"
#include "trace/job/shape/parameter_shapes.h"
#include "trace/job/shape/shape_text.h"
#include "trace/job/shape/strategy.h"
#include "trace/job/units/partition.h"
#include "trace/model/acting_settings.h"
#include "trace/predict/memory/memory_model.h"
#include "trace/predict/schedule/bucket_program.h"
#include "trace/predict/schedule/step_program.h"
#include "trace/predict/sizes/model_units.h"
#include "trace/tuning/call_costs.h"
#include "trace/tuning/predictable.h"
#include "trace/tuning/work_factor.h"

namespace shardlens::trace::tuning {

using base::Result;
using job::Settings;

namespace {

constexpr double kBytesPerMib = 1024.0 * 1024.0;

// Of what it adds on a CPU, where forward is faster with less to keep, the first as well as the
// second one: memory that is freed stays in caches. Of `tiny` on two cores of a Xeon 0.7 to 0.8.
constexpr double kSecondForwardOnCpu = 0.75;

std::int64_t bytes_of_mib(double mib) { return static_cast<std::int64_t>(mib * kBytesPerMib); }

// By owner, in bytes.
std::vector<std::vector<std::int64_t>> updated_parts(const predict::PlannedJob& job) {
  const auto values = predict::model_sizes(job.shape, job.settings).trained();
  const auto owners = job::partition_parameters(values, static_cast<int>(job.ranks));
  const auto cap = static_cast<std::int64_t>(job.settings.bucket_cap_mb * kBytesPerMib / 4);
  std::vector<std::vector<std::int64_t>> parts;
  for (int owner = 0; owner < static_cast<int>(job.ranks); ++owner) {
    auto& of_owner = parts.emplace_back();
    for (const auto& indices : job::parts_of_owner(values, owners, owner, cap)) {
      std::int64_t bytes = 0;
      for (const std::size_t i : indices) bytes += 4 * values[i];
      of_owner.push_back(bytes);
    }
  }
  return parts;
}

// By rank, in what the fullest one owns.
std::vector<double> owned_shares(const predict::PlannedJob& job) {
  const auto values = predict::model_sizes(job.shape, job.settings).trained();
  const auto owners = job::partition_parameters(values, static_cast<int>(job.ranks));
  std::vector<double> owned(static_cast<std::size_t>(job.ranks));
  for (std::size_t i = 0; i < values.size(); ++i) {
    owned[static_cast<std::size_t>(owners[i])] += static_cast<double>(values[i]);
  }
  const double most = std::ranges::max(owned);
  for (double& each : owned) each /= most;
  return owned;
}

// By what all ranks of the step took for what they own.
void tell_fullest(const std::vector<double>& owned, predict::StepWork& step) {
  const auto took_ns = static_cast<double>(
      base::sum_of(step.ranks, [](const auto& rank) { return rank.optimizer_ns; }));
  const double shares = base::sum_of(owned);
  for (auto& rank : step.ranks) rank.fullest_optimizer_ns = std::llround(took_ns / shares);
}

// Of a run of which nothing can be planned: the end of a sentence.
std::string why_no_job(const analysis::RunFigures& figures) {
  const std::string text = figures.ranks.empty() ? "" : figures.ranks.front().info.model;
  const auto shape = job::parse_shape_text(text);
  if (shape && !job::are_blocks_adapted_alike(*shape, figures.info.settings)) {
    return "some of the run's blocks alone have adapters (lora_target_modules)";
  }
  return "the run's model is not known to this version";
}

std::int64_t ranks_of_shards(const Settings& settings) {
  return job::shard_group_size(settings, settings.ranks, settings.ranks);
}

bool is_zero1(const Settings& settings) {
  return settings.sharding_strategy == job::Strategy::kZero1;
}

// Whether as many gradients came in each micro-batch.
bool have_gradients(const predict::RecordedSteps& recorded, std::size_t count) {
  const auto steps = recorded.steps();
  const auto has_all = [&](const predict::MicroBatchWork& work) {
    return work.gradients.size() == count;
  };
  return std::ranges::all_of(steps, [&](const predict::StepWork& step) {
    return std::ranges::all_of(step.ranks, [&](const predict::RankWork& rank) {
      return std::ranges::all_of(rank.micro_batches, has_all);
    });
  });
}

}  // namespace

StepPlanner::StepPlanner(const analysis::RunFigures& figures,
                         const predict::RecordedSteps& recorded, const KnownCosts& known)
    : info_(figures.info),
      recorded_(acting_settings(info_, info_.settings)),
      padded_width_(analysis::padded_width(figures)),
      attention_share_(attention_share(recorded.computed_ns())),
      steady_share_(recorded.steady_share()),
      reducing_share_(recorded.reducing_share(recorded_.sync_each_batch)),
      copy_ns_per_byte_(recorded.gather_copy_ns_per_byte().value_or(0)),
      costs_(costs_of_run(info_, recorded_, recorded, known.beside)) {
  if (!known.instead.empty()) other_costs_ = costs_.preceded_by(known.instead);
  if (!figures.ranks.empty()) {
    job_ = analysis::planned_job(figures.ranks.front(), figures.info);
    if (padded_width_) padded_work_ = padded_work(figures, job_);
    if (job_) job_->padded_width = padded_width_.value_or(0);
    cores_ = cores_named(figures.ranks.front().info.device_name);
  }
  const auto& groups = recorded.ranks_of_parts();
  if (recorded.has_buckets() && !groups.empty() && *groups.begin() < recorded_.ranks) {
    bucket_group_ = *groups.begin();
  }
  if (job_) {
    recorded_bytes_ = predict::predict_peak_bytes(*job_);
  } else {
    why_no_job_ = why_no_job(figures);
  }
  auto gradients = recorded.gradients();
  const std::size_t units = recorded.unit_names().size();
  if (gradients.empty() && job_ && units > 0) {
    auto expected = gradients_backwards(*job_);
    if (have_gradients(recorded, expected.size())) gradients = std::move(expected);
  }
  for (auto& gradient : gradients) {
    gradient_bytes_.push_back(gradient.bytes);
    gradient_names_.push_back(std::move(gradient.parameter));
  }
  if (job_) {
    clock_.emplace(*job_, gradient_names_, units > 0);
    parameters_ = job::parameter_shapes(job_->shape);
  } else if (!model::has_settings(figures.info) && units > 1) {
    tell_units(recorded);
  }
}

void StepPlanner::tell_units(const predict::RecordedSteps& recorded) {
  const auto names = recorded.unit_names();
  habits_ = recorded.unit_habits();
  // A GPU's host waits for none.
  if (info_.device == "cuda") habits_.do_gathers_block = habits_.do_reductions_block = false;
  const auto works_ns = recorded.unit_works_ns();
  const auto work_ns = [&](predict::UnitWork::What what, std::size_t unit) {
    const auto found = works_ns.find({what, static_cast<int>(unit)});
    return found == works_ns.end() ? 0.0 : found->second;
  };
  clock_.emplace(names.size());
  for (const auto& [index, unit] : recorded.units()) {
    const std::size_t place = told_units_.size();
    const bool is_root = place == 0;
    predict::PlannedUnit& told = told_units_.emplace_back();
    told.name = names[place];
    if (unit.bytes > 0) told.gathered_bytes = {unit.bytes};
    told.reduced_bytes = unit.reduced_bytes;
    told.first = is_root ? 0 : place;
    told.end = is_root ? clock_->layers().size() : place + 1;
    told.before_gather_ns = work_ns(predict::UnitWork::What::kBeforeGather, place);
    told.behind_gather_ns = work_ns(predict::UnitWork::What::kBehindGather, place);
    told.reduce_work_ns = work_ns(predict::UnitWork::What::kReduce, place);
  }
}

// Where the model's shape does not tell when forward and backward are where, units have to.
bool StepPlanner::tells_units(const predict::StepWork& step) const {
  if (told_units_.empty()) return true;
  const auto tells_all = [&](const predict::MicroBatchWork& work) {
    return work.forwards.size() + 1 == told_units_.size() &&
           work.backwards.size() + 1 == told_units_.size();
  };
  return std::ranges::all_of(step.ranks, [&](const predict::RankWork& rank) {
    return std::ranges::all_of(rank.micro_batches, tells_all);
  });
}

std::vector<predict::StepWork> StepPlanner::steps(const predict::RecordedSteps& recorded) const {
  auto steps = recorded.steps([&](const predict::CollectiveKind& kind, double bytes, double ns) {
    return costs_.working_ns(kind, bytes, ns);
  });
  const auto micro_batches = static_cast<std::size_t>(recorded_.gradient_accumulation_steps);
  std::erase_if(steps, [&](const predict::StepWork& step) {
    return step.ranks.front().micro_batches.size() != micro_batches || !tells_units(step);
  });
  if (job_ && is_zero1(recorded_)) {
    const auto owned = owned_shares(*job_);
    for (predict::StepWork& step : steps) tell_fullest(owned, step);
  }
  if (!clock_) return steps;
  for (predict::StepWork& step : steps) {
    for (predict::RankWork& rank : step.ranks) {
      for (predict::MicroBatchWork& work : rank.micro_batches) clock_->fill(work);
    }
  }
  return steps;
}

Result<StepPlan> StepPlanner::plan(const Settings& settings) const {
  return plan_with(other_costs_ ? *other_costs_ : costs_, settings);
}

Result<StepPlan> StepPlanner::plan_recorded() const { return plan_with(costs_, info_.settings); }

Result<StepPlan> StepPlanner::plan_with(const CallCosts& costs, const Settings& settings) const {
  const Settings next = acting_settings(info_, settings);
  const bool has_units = job::strategy_traits(next.sharding_strategy).has_units;
  TRY_ASSIGN(StepPlan plan, has_units ? plan_units(next) : plan_buckets(next));
  plan.is_another_strategy = next.sharding_strategy != recorded_.sharding_strategy;
  if (info_.shared_gpu && next.ranks != recorded_.ranks) {
    return refuse(
        "Ranks of this run share a GPU, so what more or fewer of them would take is not known. "
        "Name a run in which each has its own.");
  }
  const auto slower = pace(next);
  if (!slower) {
    return refuse(
        "How many cores the ranks of this run shared is not known, so what more or fewer "
        "ranks would take is not, either.");
  }
  plan.ranks = static_cast<std::size_t>(next.ranks);
  TRY_ASSIGN(const WorkFactor sequences, work_of_sequences(next));
  const double batches =
      static_cast<double>(next.batch_per_rank) / static_cast<double>(recorded_.batch_per_rank);
  const double grows = *slower * (1 - steady_share_);
  plan.program.work = *slower + grows * (batches * sequences.factor - 1);
  plan.micro_batches = static_cast<double>(next.gradient_accumulation_steps) /
                       static_cast<double>(recorded_.gradient_accumulation_steps);
  plan.unsure_work = plan.micro_batches * grows * batches * sequences.unsure;
  plan.scales_sequences = sequence_ratio(next) != 1;
  plan.scales_padding = changes_padding(next);
  const bool recomputes = next.activation_checkpointing != recorded_.activation_checkpointing;
  plan.recomputes_on_cpu = recomputes && info_.device != "cuda";
  plan.scales_computation =
      recomputes || plan.program.work != 1 ||
      next.gradient_accumulation_steps != recorded_.gradient_accumulation_steps;
  add_update(next, *slower, plan);
  TRY(add_costs(costs, next, *slower, plan));
  return plan;
}

predict::SecondForwardCost StepPlanner::second_forward_cost() const {
  return {.added = info_.device == "cuda" ? 1 : kSecondForwardOnCpu};
}

std::int64_t StepPlanner::reducing_ranks(const Settings& settings) const {
  return bucket_group_ > 0 ? bucket_group_ : settings.ranks;
}

Result<StepPlan> StepPlanner::plan_buckets(const Settings& settings) const {
  if (!told_units_.empty()) TRY(check_units(settings));
  if (gradient_bytes_.empty()) {
    return refuse(
        "When single gradients are ready is known of runs with DDP or ZeRO-1 only. Name "
        "one of those to predict " +
        job::chosen<&Settings::sharding_strategy>(settings) + ".");
  }
  if (!job_ && is_zero1(settings) != is_zero1(recorded_)) {
    return refuse("Which parameters each rank of zero1 updates and sends is not known, because " +
                  why_no_job_ + ".");
  }
  const bool recomputes = settings.activation_checkpointing != recorded_.activation_checkpointing;
  if (recomputes && !clock_) {
    return refuse("What activation_checkpointing computes again is not known, because " +
                  why_no_job_ + ".");
  }
  predict::BucketProgramPlan plan{
      .gradient_bytes = gradient_bytes_,
      .caps = {bytes_of_mib(settings.first_bucket_mb), bytes_of_mib(settings.bucket_cap_mb)},
      .overlaps = settings.overlap_comm,
      .compresses = settings.communication_hook != job::CommunicationHook::kNone,
      .micro_batches = static_cast<std::size_t>(settings.gradient_accumulation_steps),
      .recorded_micro_batches = static_cast<std::size_t>(recorded_.gradient_accumulation_steps),
      .reduces_each = settings.sync_each_batch,
      .recorded_reduces_each = recorded_.sync_each_batch,
      .reducing_share = reducing_share_,
      .second_forward = second_forward_cost(),
      .ranks = static_cast<int>(reducing_ranks(settings))};
  if (recomputes) {
    plan.second_forwards = clock_->second_forwards(settings);
    plan.gradient_places = clock_->gradient_places();
    plan.layers = clock_->layers().size();
  }
  StepPlan planned;
  planned.program = predict::bucket_program(plan);
  planned.parts = predict::plan_buckets(plan.gradient_bytes, plan.caps).size();
  return planned;
}

Result<void> StepPlanner::check_units(const Settings& settings) const {
  const std::string strategy = job::chosen<&Settings::sharding_strategy>(settings);
  if (!told_units_.empty()) {
    const job::StrategyTraits& traits = job::strategy_traits(settings.sharding_strategy);
    const bool has_groups = job::strategy_traits(recorded_.sharding_strategy).has_groups;
    if (traits.shards_parameters && traits.has_groups == has_groups) return {};
    const std::string told =
        has_groups ? "hybrid_shard and hybrid_shard_zero2" : "full_shard and shard_grad_op";
    return refuse("What " + strategy +
                  " would do is not known of a run of another program, whose units tell of " +
                  told + " alone.");
  }
  if (!job_) {
    return refuse("What the units of " + strategy + " hold is not known, because " + why_no_job_ +
                  ".");
  }
  if (job_->on_gpu && settings.cpu_offload) {
    return refuse("When a GPU's host copies shards of " + strategy +
                  " and updates them (cpu_offload) cannot be predicted so far.");
  }
  return {};
}

std::vector<predict::PlannedUnit> StepPlanner::units(const predict::ShardSizes& shards) const {
  std::vector<predict::PlannedUnit> units;
  for (const predict::UnitShard& shard : shards.units) {
    const predict::LayerSpan layers = predict::layers_of(shard.unit, clock_->layers());
    units.push_back({.name = units.empty() ? "root" : unit_name(shard.unit, parameters_),
                     .gathered_bytes = shard.gathered_bytes,
                     .reduced_bytes = shard.reduced_bytes,
                     .first = layers.first,
                     .end = layers.end,
                     .has_backward = shard.unit.has_backward,
                     .passes_gradient = shard.unit.passes_gradient,
                     .is_recomputed = shard.unit.is_recomputed});
  }
  return units;
}

// What the program that was recorded does with its units in a way of its own.
void StepPlanner::tell_habits(const Settings& settings, predict::UnitProgramPlan& plan) const {
  plan.schedule.keeps_without_sync = habits_.are_kept_without_sync || habits_.are_wrapped;
  plan.schedule.kept = habits_.kept_units;
  plan.copies_out = plan.has_streams && !habits_.are_wrapped;
  if (plan.has_streams) {
    using Awaited = predict::UnitProgramPlan::Awaited;
    plan.before_reduction = habits_.are_wrapped ? Awaited::kNothing : Awaited::kOwnGroup;
  }
  // What has no parameters of its own is no unit to FullyShardedDataParallel, and prefetches none;
  // nor does a root to which backward comes when the last unit is gathered.
  const bool is_unit = !plan.units.front().gathered_bytes.empty();
  plan.schedule.root_prefetches = !habits_.are_wrapped || (is_unit && habits_.comes_root_first);
  // FullyShardedDataParallel makes views of parameters as it gathers them, and autograd comes to
  // what was made later first: to the next unit's forward before the views of one that was gathered
  // ahead of that. Behind its gradients nothing is left to gather ahead then.
  plan.are_gradients_late = habits_.are_wrapped && settings.forward_prefetch;
  const bool is_too_late = plan.schedule.backward_prefetch == job::BackwardPrefetch::kPost;
  if (plan.are_gradients_late && is_too_late) {
    plan.schedule.backward_prefetch = job::BackwardPrefetch::kNone;
  }
}

KeptUnits StepPlanner::kept_units(const Settings& settings) const {
  KeptUnits kept;
  if (told_units_.empty()) return kept;
  const bool frees = job::strategy_traits(settings.sharding_strategy).frees_after_forward;
  kept.are_all = !frees;
  // FullyShardedDataParallel has one strategy for all that it wraps, unless told otherwise.
  kept.are_untold = frees && !habits_.are_gathered_again && !habits_.are_wrapped;
  for (const int unit : habits_.kept_units) {
    kept.recorded.push_back(told_units_[static_cast<std::size_t>(unit)].name);
  }
  return kept;
}

Result<StepPlan> StepPlanner::plan_units(const Settings& settings) const {
  TRY(check_units(settings));
  predict::UnitProgramPlan plan{
      .layers = clock_->layers().size(),
      .second_forwards = clock_->second_forwards(settings),
      .second_forward = second_forward_cost(),
      .schedule = job::unit_schedule_options(settings),
      .separate_communicators = settings.separate_communicators,
      .micro_batches = static_cast<std::size_t>(settings.gradient_accumulation_steps),
      .recorded_micro_batches = static_cast<std::size_t>(recorded_.gradient_accumulation_steps),
      .reduces_each = settings.sync_each_batch,
      .has_streams = info_.device == "cuda",
      .copy_ns_per_byte = copy_ns_per_byte_,
      .do_gathers_block = habits_.do_gathers_block,
      .do_reductions_block = habits_.do_reductions_block};
  if (job_) {
    const predict::PlannedJob job = job_with(settings);
    const auto shards = predict::shard_sizes(job, predict::model_sizes(job.shape, job.settings));
    plan.units = units(shards);
    plan.shard_group = static_cast<int>(shards.group);
    plan.replicas = static_cast<int>(job.ranks / shards.group);
  } else {
    plan.units = told_units_;
    plan.adds_as_it_reduces =
        recorded_.gradient_accumulation_steps == 1 || recorded_.sync_each_batch;
    tell_habits(settings, plan);
    plan.shard_group = static_cast<int>(ranks_of_shards(settings));
    plan.replicas = static_cast<int>(settings.ranks) / plan.shard_group;
  }
  StepPlan planned;
  planned.program = predict::unit_program(plan);
  planned.parts = plan.units.size();
  planned.kept_units = kept_units(settings);
  return planned;
}

// Of gradients that lie on several ranks. Units' sums carry with it which parameters were used at
// all (trainer/strategy/fsdp/fully_sharded). Where only large sizes were recorded, what sums of
// some values take is left out on both sides.
std::vector<predict::UpdatePlan::Sum> StepPlanner::norm_sums(const Settings& settings) const {
  constexpr std::int64_t kValueBytes = 4;
  const job::StrategyTraits& traits = job::strategy_traits(settings.sharding_strategy);
  if (settings.ranks < 2 || (!traits.shards_optimizer && !traits.has_units)) return {};
  const auto ranks = static_cast<int>(settings.ranks);
  std::vector<predict::UpdatePlan::Sum> sums{{ranks, kValueBytes}};
  if (traits.has_units && job_) {
    const predict::PlannedJob job = job_with(settings);
    const auto sizes = predict::model_sizes(job.shape, job.settings);
    sums.front().bytes += kValueBytes * sizes.trained_tensors();
    const auto group = static_cast<int>(predict::shard_sizes(job, sizes).group);
    if (group > 1 && group < ranks) sums.push_back({group, kValueBytes});
  }
  const auto conditions = CallCosts::conditions(settings);
  std::erase_if(sums, [&](const predict::UpdatePlan::Sum& sum) {
    return !costs_.of(conditions, model::CollectiveFunction::kAllReduce, {sum.ranks},
                      static_cast<double>(sum.bytes));
  });
  return sums;
}

// As the trainer's own steps have it (trainer/optimizer/grad_scaler, trainer/loop/step_exchange),
// where the run tells what such sizes take.
void StepPlanner::add_agreements(const Settings& settings, predict::UpdatePlan& update) const {
  if (!model::has_settings(info_) || settings.ranks < 2) return;
  constexpr std::int64_t kOverflowBytes = 4;
  // Other ranks exchange a few bytes more or less, on which what it takes does not depend.
  const std::int64_t loss_bytes = 8 * (1 + 2 * recorded_.ranks);
  const predict::CollectiveKind recorded{model::CollectiveFunction::kAllReduce,
                                         static_cast<int>(recorded_.ranks)};
  const auto has = [&](std::int64_t bytes) {
    return costs_.measures(recorded, static_cast<double>(bytes));
  };
  const auto ranks = static_cast<int>(settings.ranks);
  if (job::scales_loss(settings) && has(kOverflowBytes)) {
    update.sums_before.insert(update.sums_before.begin(), {ranks, kOverflowBytes, "fp16 overflow"});
  }
  if (has(loss_bytes)) {
    update.sums_behind.push_back(
        {ranks, loss_bytes, "loss", 1 / static_cast<double>(settings.loss_every)});
  }
}

// The optimizer's work is in proportion to the values that the fullest rank updates.
void StepPlanner::add_update(const Settings& settings, double slower, StepPlan& plan) const {
  predict::UpdatePlan update{.sums_before = norm_sums(settings),
                             .ranks = static_cast<int>(settings.ranks)};
  add_agreements(settings, update);
  if (job_) {
    const predict::PlannedJob job = job_with(settings);
    const auto values_of = [](const predict::PlannedJob& each) {
      const auto sizes = predict::model_sizes(each.shape, each.settings);
      return static_cast<double>(predict::optimizer_state(each, sizes).values);
    };
    const double before = values_of(*job_);
    if (before > 0) update.share = values_of(job) / before;
    if (is_zero1(settings) && settings.ranks > 1) update.parts = updated_parts(job);
  } else if (!told_units_.empty()) {
    update.share = static_cast<double>(ranks_of_shards(recorded_)) /
                   static_cast<double>(ranks_of_shards(settings));
  }
  update.share *= slower;
  plan.program.updates_as_recorded = settings.sharding_strategy == recorded_.sharding_strategy &&
                                     settings.ranks == recorded_.ranks;
  predict::add_update(update, plan.program);
}

// Of another program's trace only a GPU is told by name, for which costs can be kept.
std::string StepPlanner::no_such_size(const predict::PlannedCall& call) const {
  const std::string elsewhere = info_.device == "cuda"
                                    ? "`shardlens calibrate --from FILE` keeps it for this library"
                                    : "`shardlens predict --costs FILE` takes it";
  return "The run moved no sizes near " + base::bytes_text(call.bytes) + " (" + call.what +
         "), so what that takes is not known. " +
         (model::has_settings(info_)
              ? "`shardlens calibrate` measures it, or name"
              : "`shardlens calibrate -o FILE` measures it where the program runs, " + elsewhere +
                    "; or name") +
         " a run with other buckets or units.";
}

Result<void> StepPlanner::add_costs(const CallCosts& costs, const Settings& settings, double slower,
                                    StepPlan& plan) const {
  auto conditions = CallCosts::conditions(settings);
  conditions.slower = slower;
  const auto others = conditions.of_other_calls(costs.recorded());
  std::int64_t bytes = 0, faster_bytes = 0;
  for (predict::PlannedCall& call : plan.program.calls) {
    const auto cost = costs.of(call.is_reduction ? conditions : others, call.function,
                               {call.group, call.are_replicas}, static_cast<double>(call.bytes));
    if (!cost) return refuse(no_such_size(call));
    const auto planned = [&](double ns) { return std::llround(call.share * ns); };
    call.transfer_ns = planned(cost->transfer.ns);
    call.working_ns = planned(cost->working_ns);
    call.link_ns = planned(cost->link_ns);
    call.least_ns = planned(cost->least_ns);
    call.unsure_ns = planned(cost->transfer.unsure_ns);
    call.core_delay_ns = planned(cost->core_delay_ns);
    plan.spread_ns = std::max(plan.spread_ns, cost->transfer.spread_ns);
    plan.is_extrapolated = plan.is_extrapolated || cost->transfer.is_extrapolated;
    bytes += call.bytes;
    if (cost->is_link_faster) faster_bytes += call.bytes;
  }
  plan.is_link_faster = 2 * faster_bytes > bytes;
  return {};
}

predict::PlannedJob StepPlanner::job_with(const Settings& settings) const {
  predict::PlannedJob job = *job_;
  job.settings = settings;
  job.ranks = job.ranks_per_node = acting_settings(info_, settings).ranks;
  return job;
}

std::optional<double> StepPlanner::pace(const Settings& settings) const {
  if (settings.ranks == recorded_.ranks || info_.device == "cuda") return 1;
  if (!cores_) return std::nullopt;
  return cores_of_a_rank(recorded_, *cores_) / cores_of_a_rank(settings, *cores_);
}

bool StepPlanner::changes_padded(const Settings& settings) const {
  return padded_width_ && settings.sequence_length != recorded_.sequence_length;
}

bool StepPlanner::changes_padding(const Settings& settings) const {
  return padded_width_ && settings.batch_per_rank != recorded_.batch_per_rank;
}

double StepPlanner::sequence_ratio(const Settings& settings) const {
  const auto length = [&](const Settings& each) {
    return static_cast<double>(job_ ? job_with(each).sequence() : each.sequence_length);
  };
  return length(settings) / length(recorded_);
}

Result<WorkFactor> StepPlanner::work_of_sequences(const Settings& settings) const {
  if (changes_padded(settings)) {
    return refuse(
        "Texts of this run were shorter than its sequence_length and padded, so what another "
        "sequence_length does to them is not known. A run with it shows.");
  }
  if (changes_padding(settings)) {
    return other_batch_work(padded_work_, settings.batch_per_rank > recorded_.batch_per_rank);
  }
  const double ratio = sequence_ratio(settings);
  if (ratio == 1) return WorkFactor{};
  if (job_ && settings.sequence_length > job_->shape.longest_sequence()) {
    return refuse("The model sees no more than " + std::to_string(job_->shape.longest_sequence()) +
                  " tokens (sequence_length).");
  }
  if (!attention_share_) {
    return refuse(
        "How much of what ranks computed is attention is not known, because none of it is named "
        "so; what sequences of another length take is not, either.");
  }
  return sequence_work(*attention_share_, ratio);
}

double StepPlanner::tokens(const Settings& settings) const {
  return samples(settings) * sequence_ratio(settings);
}

double StepPlanner::samples(const Settings& settings) const {
  const auto ranks = static_cast<double>(acting_settings(info_, settings).ranks);
  return samples_of_a_rank(settings) / samples_of_a_rank(recorded_) * ranks /
         static_cast<double>(recorded_.ranks);
}

std::optional<std::int64_t> StepPlanner::more_bytes(const Settings& settings) const {
  if (!job_ || changes_padded(settings)) return std::nullopt;
  predict::PlannedJob job = job_with(settings);
  job.padded_width =
      analysis::width_of_batch(padded_width_, recorded_.batch_per_rank, settings.batch_per_rank);
  return predict::predict_peak_bytes(job) - recorded_bytes_;
}

}  // namespace shardlens::trace::tuning
