#include "tests/ui/testing/sample_snapshot.h"

#include <cmath>
#include <random>
#include <string>
#include <utility>

#include "tests/ui/testing/sample_timeline.h"
#include "trace/job/shape/model_shape.h"
#include "trace/job/shape/strategy.h"
#include "trace/predict/plan/gpu_table.h"

namespace shardlens::ui {

namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kStart = 1'795'183'331'000'000'000;  // some day in November 2026

std::vector<std::int64_t> bucket_sizes(bool gpu) {
  std::vector<std::int64_t> sizes;
  sizes.push_back(gpu ? 9 * kMiB : 1 * kMiB);
  for (int i = 0; i < 11; ++i) sizes.push_back(gpu ? 27 * kMiB : 1 * kMiB + i * kMiB / 16);
  if (gpu) sizes.push_back(168 * kMiB);
  return sizes;
}

SampleStep step_shape(const SampleOptions& options, std::int64_t index, double milliseconds,
                      std::int64_t start_ns) {
  SampleStep shape;
  shape.index = index;
  shape.start_ns = start_ns;
  shape.ranks = options.ranks;
  shape.milliseconds = milliseconds;
  shape.late_milliseconds = 0.012 * milliseconds;
  shape.bucket_bytes = bucket_sizes(options.gpu);
  shape.bucket_cap = (options.gpu ? 25 : 1) * kMiB;
  shape.gpu = options.gpu;
  shape.operators = options.operators;
  return shape;
}

double step_milliseconds(const SampleOptions& options, std::int64_t index, std::mt19937& random) {
  std::normal_distribution<double> jitter(0, 1.6);
  double ms = (options.gpu ? 232 : 158) + jitter(random);
  if (index == 0) ms *= 2.9;
  if (index == 1 || index == 2) ms *= 1.4;
  if (index == 37 || index == 96) ms += 46;
  return ms;
}

trace::analysis::StepFigures step_figures(const SampleOptions& options, std::int64_t index,
                                          double milliseconds, std::int64_t start_ns) {
  trace::analysis::StepFigures step;
  step.index = index;
  step.warmup = index < 3;
  step.complete = true;
  step.start_ns = start_ns;
  SampleTimeline timeline = sample_timeline(step_shape(options, index, milliseconds, start_ns));
  step.end_ns = timeline.picture.rows->end_ns;
  for (std::size_t i = 0; i < timeline.ranks.size(); ++i) {
    step.ranks.push_back(std::move(timeline.ranks[i]));
    if (step.ranks[i].step_ns > step.shown().step_ns) step.slowest_rank = static_cast<int>(i);
  }
  step.loss = 5.5 - 2.2 * static_cast<double>(index) / (static_cast<double>(index) + 40);
  step.learning_rate = 3e-4;
  return step;
}

trace::analysis::RankFigures rank_figures(const SampleOptions& options, int rank) {
  trace::analysis::RankFigures out;
  out.info.rank = out.info.local_rank = rank;
  out.info.device = options.gpu ? "cuda:" + std::to_string(rank) : "cpu";
  out.info.sources = options.gpu ? "kernels: CUPTI; collectives: the host's calls; memory: CUDA's "
                                   "caching allocator"
                                 : "operators: RecordFunction; collectives: Gloo's own thread; "
                                   "memory: CPU allocator";
  const double unit = static_cast<double>(kMiB) * (options.gpu ? 1024 : 14);
  const double parts[trace::model::kMemoryCategoryCount] = {
      0.46, 0, 0.46, 0.93, 5.9 + 0.12 * rank, 0.25, 0.5, 1.2};
  for (std::size_t i = 0; i < trace::model::kMemoryCategoryCount; ++i) {
    out.peak.bytes[i] = static_cast<std::int64_t>(parts[i] * unit);
    out.now.bytes[i] = static_cast<std::int64_t>(parts[i] * unit * (i == 4 ? 0.3 : 1));
    out.estimate[i] = static_cast<std::int64_t>(parts[i] * unit * 1.03);
  }
  out.peak.rank = out.now.rank = rank;
  return out;
}

void summarize(trace::analysis::RunFigures& figures, const SampleOptions& options) {
  trace::analysis::RunSummary& s = figures.summary;
  s.steps_executed = static_cast<std::int64_t>(figures.steps.size());
  double sum = 0, squares = 0;
  for (const auto& step : figures.steps) {
    if (step.warmup) continue;
    ++s.steps_measured;
    const auto& b = step.shown();
    const auto count = static_cast<double>(b.step_ns);
    sum += count;
    squares += count * count;
    s.exposed_ns += static_cast<double>(b.exposed_ns);
    s.overlap_ns += static_cast<double>(b.overlap_ns);
    s.comm_ns += static_cast<double>(b.comm_ns);
  }
  if (s.steps_measured == 0) return;
  const auto n = static_cast<double>(s.steps_measured);
  s.step_ns.count = s.steps_measured;
  s.step_ns.mean = s.step_ns.median = sum / n;
  s.step_ns.standard_deviation = std::sqrt(std::max(0.0, squares / n - (sum / n) * (sum / n)));
  s.exposed_ns /= n;
  s.overlap_ns /= n;
  s.comm_ns /= n;
  s.has_detail = true;
  s.steps_detailed = s.steps_measured;
  s.detailed_step_ns = s.step_ns.mean;
  s.overlap_fraction = s.overlap_ns / s.comm_ns;
  s.tokens_per_s = (options.gpu ? 8192.0 : 1024.0) * options.ranks / (s.step_ns.mean / 1e9);
  if (options.gpu) s.mfu = 0.412;
  s.loss_last = figures.steps.back().loss;
}

void add_log(state::RunView& run, const SampleOptions& options) {
  for (int rank = 0; rank < options.ranks; ++rank) {
    run.log.push_back({rank, kStart + 200'000'000, trace::model::LogLine::Level::kInfo,
                       "process group ready: gloo, world size " + std::to_string(options.ranks)});
    run.log.push_back({rank, kStart + 900'000'000, trace::model::LogLine::Level::kInfo,
                       "buckets rebuilt in the order in which gradients arrived: 12 buckets"});
  }
}

std::shared_ptr<state::RunView> sample_run(const SampleOptions& options) {
  auto run = std::make_shared<state::RunView>();
  trace::analysis::RunFigures& figures = run->figures;
  figures.info.name = "cap 1";
  figures.info.folder = "runs/cap-1";
  figures.info.start_ns = kStart;
  figures.info.device = options.gpu ? "cuda" : "cpu";
  figures.info.world_size = options.ranks;
  figures.info.settings.model = options.gpu ? "gpt2" : "tiny";
  figures.info.settings.bucket_cap_mb = options.gpu ? 25 : 1;
  figures.info.settings.precision =
      options.gpu ? trace::job::Precision::kBf16 : trace::job::Precision::kFp32;
  figures.info.settings.ranks = options.ranks;
  figures.info.status =
      options.live ? trace::model::RunStatus::kRunning : trace::model::RunStatus::kDone;
  std::mt19937 random(static_cast<unsigned>(options.seed));
  std::int64_t cursor = kStart + 1'000'000'000;
  double last_milliseconds = 160;
  for (std::int64_t i = 0; i < options.steps; ++i) {
    last_milliseconds = step_milliseconds(options, i, random);
    figures.steps.push_back(step_figures(options, i, last_milliseconds, cursor));
    trace::analysis::StepFigures& step = figures.steps.back();
    cursor = step.end_ns;
    if (options.odd && i >= 60 && i < 90 && i % 3 != 0) {
      for (auto& rank : step.ranks) rank.has_detail = false;
    }
    if (options.odd && i == options.steps - 20) {
      step.nonfinite = true;
      step.nonfinite_rank = 1;
    }
  }
  if (!options.live) figures.info.end_ns = cursor;
  for (int rank = 0; rank < options.ranks; ++rank)
    figures.ranks.push_back(rank_figures(options, rank));
  summarize(figures, options);
  run->ordinal = "run 4";
  run->is_live = options.live;
  run->follows_live = options.live;
  if (options.steps > 0) {
    run->selected_step = options.steps - 1;
    run->timeline = std::make_shared<trace::timeline::StepPicture>(
        sample_timeline(step_shape(options, options.steps - 1, last_milliseconds,
                                   figures.steps.back().start_ns))
            .picture);
  }
  if (!options.gpu) run->banners = {"CPU run: shows how it works, not how fast a GPU is"};
  add_log(*run, options);
  return run;
}

state::LedgerRow ledger_row(const state::RunView& run, const std::string& ordinal,
                            const std::string& name, double factor) {
  state::LedgerRow row;
  row.name = name;
  row.folder = "runs/" + name;
  row.ordinal = ordinal;
  row.start_ns = kStart - static_cast<std::int64_t>(factor * 4e11);
  row.status = trace::model::RunStatus::kDone;
  row.settings = run.figures.info.settings;
  row.ranks = run.figures.info.world_size;
  row.summary = run.figures.summary;
  row.summary.step_ns.mean *= factor;
  row.summary.exposed_ns *= factor * factor;
  row.peak_memory_bytes = static_cast<double>(run.figures.ranks.front().peak.total_bytes());
  row.loss_at_common_step = 3.412;
  row.common_step = run.figures.summary.steps_executed - 1;
  row.relative_to_baseline = factor - 1.002;
  row.beyond_noise = std::abs(factor - 1) > 0.01;
  return row;
}

std::shared_ptr<state::Ledger> sample_ledger(const state::RunView& run) {
  auto ledger = std::make_shared<state::Ledger>();
  state::LedgerRow shown = ledger_row(run, run.ordinal, run.figures.info.name, 1.0);
  shown.folder = run.figures.info.folder;
  shown.status = run.figures.info.status;
  shown.reason = run.figures.info.reason;
  shown.is_shown = true;
  ledger->rows.push_back(shown);
  state::LedgerRow baseline = ledger_row(run, "run 3", "baseline", 1.002);
  baseline.is_baseline = true;
  baseline.settings.bucket_cap_mb = 25;
  ledger->rows.push_back(baseline);
  state::LedgerRow hook = ledger_row(run, "run 2", "hook bf16_compress", 0.914);
  hook.settings.communication_hook = trace::job::CommunicationHook::kBf16Compress;
  hook.settings.bucket_cap_mb = 25;
  ledger->rows.push_back(hook);
  state::LedgerRow slow = ledger_row(run, "run 1", "cap 0.25", 1.373);
  slow.settings.bucket_cap_mb = 0.25;
  slow.settings.simulate_link = "latency_us=50, gbit_per_s=1";
  slow.simulated = true;
  ledger->rows.push_back(slow);
  state::LedgerRow bundled = ledger_row(run, "", "demo, two ranks", 1.1);
  bundled.is_bundled = true;
  bundled.relative_to_baseline.reset();
  ledger->rows.push_back(bundled);
  ledger->next_number = 5;
  ledger->spread_note =
      "Two runs of the same settings differ by up to 0.3 % by chance (95 %, from 5 runs)";
  return ledger;
}

state::KnobDraft sample_knobs(const state::RunView& run) {
  state::KnobDraft knobs;
  knobs.baseline = run.figures.info.settings;
  knobs.baseline.bucket_cap_mb = 25;
  knobs.baseline_name = "run 3";
  knobs.next = knobs.baseline;
  knobs.next.bucket_cap_mb = 60;
  knobs.next_name = "cap 60";
  knobs.estimates = sample_estimates(knobs.next);
  return knobs;
}

}  // namespace

std::shared_ptr<const state::StrategyEstimates> sample_estimates(
    const trace::job::Settings& settings, std::int64_t usable_bytes) {
  auto out = std::make_shared<state::StrategyEstimates>();
  out->usable_bytes = usable_bytes;
  out->device = "a sample device";
  out->parameters =
      trace::job::trained_share(*trace::job::find_model_preset(settings.model), settings);
  for (const trace::job::StrategyTraits& traits : trace::job::strategies()) {
    auto job = trace::predict::job_on_this_machine(settings,
                                                   *trace::job::find_model_preset(settings.model));
    job.settings.sharding_strategy = traits.strategy;
    trace::predict::StrategyPlan plan;
    plan.strategy = traits.strategy;
    for (const auto& problem : trace::job::problems_of(job.settings))
      plan.refused += problem.message;
    if (plan.refused.empty()) {
      plan.memory = trace::predict::predict_memory(job);
      plan.traffic = trace::predict::predict_traffic(job);
      if (usable_bytes > 0) plan.spare_bytes = usable_bytes - plan.memory.total();
    }
    out->strategies.push_back(std::move(plan));
  }
  return out;
}

state::Snapshot plan_snapshot(const char* model, trace::job::Strategy strategy, bool offloads) {
  SampleOptions options;
  options.ranks = 4;
  options.gpu = true;
  state::Snapshot snapshot = sample_snapshot(options);
  snapshot.knobs.next.sharding_strategy = strategy;
  snapshot.knobs.next.cpu_offload = offloads;
  snapshot.knobs.estimates = sample_estimates(snapshot.knobs.next, std::int64_t{7} << 28);
  auto card = std::make_shared<state::PlanCard>();
  card->target.model = model;
  card->target.nodes = 2;
  trace::predict::PlanRequest request;
  request.settings = snapshot.knobs.next;
  request.shape = *trace::job::find_planning_model(model);
  request.memory_bytes = trace::predict::find_gpu(card->target.gpu)->memory_bytes();
  request.reserved_bytes = trace::predict::kReservedBytes;
  request.nodes = card->target.nodes;
  card->plan = *trace::predict::plan_job(request);
  card->remedies = trace::predict::changes_that_would_fit(*card->plan);
  snapshot.plan = std::move(card);
  return snapshot;
}

state::Snapshot empty_snapshot() {
  state::Snapshot snapshot;
  snapshot.ledger = std::make_shared<state::Ledger>();
  snapshot.knobs.next_name = "baseline";
  snapshot.knobs.estimates = sample_estimates(snapshot.knobs.next);
  return snapshot;
}

state::Snapshot sample_snapshot(const SampleOptions& options) {
  state::Snapshot snapshot;
  const auto run = sample_run(options);
  snapshot.run = run;
  snapshot.ledger = sample_ledger(*run);
  snapshot.knobs = sample_knobs(*run);
  if (options.live) {
    snapshot.job.phase = state::JobPhase::kRunning;
    snapshot.job.run_name = run->figures.info.name;
    snapshot.job.folder = run->figures.info.folder;
    snapshot.job.step = options.steps;
    snapshot.job.steps = 200;
    snapshot.job.seconds_left = 0.16 * (200 - options.steps);
  }
  snapshot.version = 1;
  return snapshot;
}

state::Snapshot failed_snapshot() {
  SampleOptions options;
  options.live = false;
  options.steps = 40;
  state::Snapshot snapshot = sample_snapshot(options);
  const auto run = std::make_shared<state::RunView>(*snapshot.run);
  run->figures.info.status = trace::model::RunStatus::kFailed;
  run->figures.info.reason =
      "rank 1 left with exit code 1: out of memory in backward of step 40. Lower batch_per_rank or "
      "sequence_length";
  run->diagnosis =
      "Rank 0 waits in all_reduce of bucket 3 (sequence 642, 4.0 MiB); rank 1 never entered it";
  run->log.push_back({1, kStart + 9'000'000'000, trace::model::LogLine::Level::kError,
                      "error: out of memory: tried to allocate 64.0 MiB"});
  snapshot.run = run;
  snapshot.ledger = sample_ledger(*run);
  return snapshot;
}

state::Snapshot installing_snapshot() {
  state::Snapshot snapshot = empty_snapshot();
  snapshot.trainer = {state::TrainerSetup::State::kInstalling, "Fetching LibTorch (1.2 of 4.6 GB)",
                      0.26};
  state::LedgerRow demo;
  demo.name = "demo, two ranks";
  demo.folder = "assets/runs/demo";
  demo.is_bundled = true;
  demo.summary.steps_executed = 30;
  auto ledger = std::make_shared<state::Ledger>();
  ledger->rows.push_back(demo);
  snapshot.ledger = ledger;
  return snapshot;
}

state::Snapshot replay_snapshot() {
  SampleOptions options;
  options.live = false;
  options.ranks = 4;
  options.gpu = true;
  state::Snapshot snapshot = sample_snapshot(options);
  snapshot.replay = {true, true, 2, kStart, kStart + 30'000'000'000, kStart + 18'400'000'000};
  return snapshot;
}

}  // namespace shardlens::ui
