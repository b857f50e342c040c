#include "trace/advice/facts/step_sample.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "trace/analysis/figures/labels.h"
#include "trace/analysis/figures/run_summary.h"
#include "trace/base/median.h"

namespace shardlens::trace::advice {

using analysis::StepFigures;

namespace {

bool lies_in(const StepFigures& step, int rank, std::int64_t start_ns) {
  if (rank < 0 || static_cast<std::size_t>(rank) >= step.ranks.size()) return false;
  const auto& own = step.ranks[static_cast<std::size_t>(rank)];
  return start_ns >= own.start_ns && start_ns < own.start_ns + own.step_ns;
}

struct Launch {
  std::int64_t start_ns = 0, duration_ns = 0;
};
using Launches = std::unordered_map<std::uint64_t, Launch>;  // by correlation

Launches launches_of(const model::Batch& batch) {
  Launches launches;
  for (const model::EventRun& run : batch.events) {
    if (run.kind != model::EventKind::kLaunch) continue;
    for (const model::Event& event : run.events) {
      if (event.correlation != 0) {
        launches.try_emplace(event.correlation, Launch{event.start_ns, event.duration_ns});
      }
    }
  }
  return launches;
}

std::int64_t median_launch_ns(const Launches& launches) {
  std::vector<std::int64_t> durations;
  for (const auto& [correlation, launch] : launches) durations.push_back(launch.duration_ns);
  return durations.empty() ? 0 : base::upper_median(std::move(durations));
}

// The kernels of a rank in a step, in order.
std::vector<model::Event> kernels_of(const StepFigures& step, int rank, const model::Batch& batch) {
  std::vector<model::Event> kernels;
  for (const model::EventRun& run : batch.events) {
    if (run.kind != model::EventKind::kKernel) continue;
    for (const model::Event& event : run.events) {
      if (lies_in(step, rank, event.start_ns)) kernels.push_back(event);
    }
  }
  std::ranges::sort(kernels, {}, &model::Event::start_ns);
  return kernels;
}

}  // namespace

std::vector<const StepFigures*> StepSample::choose(const analysis::RunFigures& figures) {
  std::vector<const StepFigures*> all;
  for (const StepFigures& step : figures.steps) {
    if (analysis::is_measured(step) && analysis::has_detail(step)) all.push_back(&step);
  }
  if (all.size() <= kMostSteps) return all;
  std::vector<const StepFigures*> chosen;
  for (std::size_t i = 0; i < kMostSteps; ++i) {
    chosen.push_back(all[i * (all.size() - 1) / (kMostSteps - 1)]);
  }
  return chosen;
}

void StepSample::learn_facts(const model::Batch& batch) {
  for (const auto& string : batch.strings) strings_.add(string);
}

void StepSample::add(const StepFigures& step, const model::Batch& batch) {
  steps_.insert(step.index);
  for (const model::EventRun& run : batch.events) {
    if (run.kind == model::EventKind::kOperator) add_gradients(step, run);
  }
  std::set<int> ranks;
  for (const model::EventRun& run : batch.events) ranks.insert(run.rank);
  for (const model::Collective& call : batch.collectives) ranks.insert(call.rank);
  for (const int rank : ranks) {
    add_kernels(step, rank, batch);
    add_calls(step, rank, batch);
  }
}

void StepSample::add_gradients(const StepFigures& step, const model::EventRun& run) {
  const auto count = std::ranges::count_if(run.events, [&](const model::Event& event) {
    return lies_in(step, run.rank, event.start_ns) &&
           gradient_nodes_.hold(strings_, run.rank, event.name);
  });
  if (count > 0) gradients_[{step.index, run.rank}] += count;
}

void StepSample::add_kernels(const StepFigures& step, int rank, const model::Batch& batch) {
  const auto kernels = kernels_of(step, rank, batch);
  if (kernels.empty()) return;
  const Launches launches = launches_of(batch);
  SampledKernels& sum = kernels_[rank];
  sum.steps += 1;
  sum.step_ns += step.ranks[static_cast<std::size_t>(rank)].step_ns;
  if (const auto median = median_launch_ns(launches); median > 0) sum.launch_ns = median;
  std::optional<std::int64_t> free_since_ns;
  for (const model::Event& kernel : kernels) {
    sum.count += 1;
    if (kernel.duration_ns < sum.launch_ns) sum.short_count += 1;
    const auto launch = launches.find(kernel.correlation);
    const bool is_joined = kernel.correlation != 0 && launch != launches.end();
    if (is_joined && free_since_ns && launch->second.start_ns > *free_since_ns) {
      const std::int64_t late = kernel.start_ns - *free_since_ns;
      sum.host_late_ns += late;
      if (late > sum.longest_end_ns - sum.longest_start_ns) {
        sum.longest_start_ns = *free_since_ns;
        sum.longest_end_ns = kernel.start_ns;
        sum.longest_step = step.index;
      }
    }
    free_since_ns = std::max(free_since_ns.value_or(kernel.end_ns()), kernel.end_ns());
  }
}

void StepSample::add_calls(const StepFigures& step, int rank, const model::Batch& batch) {
  std::vector<const model::Collective*> calls;
  for (const model::Collective& call : batch.collectives) {
    if (call.rank == rank && lies_in(step, rank, call.start_ns)) calls.push_back(&call);
  }
  std::ranges::sort(calls, {}, [](const auto* call) { return call->start_ns; });
  std::int64_t busy_until_ns = INT64_MIN;
  for (const model::Collective* call : calls) {
    calls_.push_back({.step = step.index,
                      .rank = rank,
                      .tag = analysis::tag_text(call->tag_kind, call->tag_index,
                                                strings_.get(rank, call->tag_name)),
                      .enqueued_ns = call->enqueued_ns,
                      .start_ns = call->start_ns,
                      .end_ns = call->end_ns,
                      .found_link_idle = busy_until_ns < call->enqueued_ns});
    busy_until_ns = std::max(busy_until_ns, call->end_ns);
  }
}

}  // namespace shardlens::trace::advice
