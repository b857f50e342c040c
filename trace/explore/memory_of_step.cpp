#include "trace/explore/memory_of_step.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "trace/explore/run/lane_events.h"
#include "trace/model/activity.h"

namespace shardlens::trace::explore {

namespace {

// To know which steps have a record of allocations, chunks are decoded; of a run with more chunks
// than this every step from a chunk's first event to its last is taken to have one.
constexpr std::size_t kMostDecodedChunks = 512;

class RecordedSteps {
 public:
  explicit RecordedSteps(const RankRows& rows) : rows_(rows) {}

  void add(const store::EventColumns& columns) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::int64_t start_ns = columns.start_ns(i);
      if (last_ != nullptr && start_ns >= last_->start_ns && start_ns < last_->end_ns) continue;
      if (!model::category_of(columns.flags(i))) continue;  // a moment of another program's trace
      last_ = rows_.step_at(start_ns);
      if (last_ != nullptr) steps_.push_back(last_->index);
    }
  }
  void add(std::int64_t first_ns, std::int64_t last_ns) {
    for (const model::Step& step : rows_.steps) {
      if (step.start_ns <= last_ns && step.end_ns > first_ns) steps_.push_back(step.index);
    }
  }
  std::vector<std::int64_t> take() {
    std::ranges::sort(steps_);
    steps_.erase(std::ranges::unique(steps_).begin(), steps_.end());
    return std::move(steps_);
  }

 private:
  const RankRows& rows_;
  const model::Step* last_ = nullptr;
  std::vector<std::int64_t> steps_;
};

std::vector<std::int64_t> recorded_steps(store::EventStore& store, const RankSnapshot& rank) {
  RecordedSteps steps(*rank.rows);
  const auto chunks = chunks_of(store, rank.rank, model::EventKind::kAllocation);
  for (const store::ChunkEntry& chunk : chunks) {
    if (chunks.size() > kMostDecodedChunks) {
      steps.add(chunk.header.first_ns, chunk.header.last_ns);
    } else if (const auto columns = store.load(chunk)) {
      steps.add(**columns);
    }
  }
  return steps.take();
}

// -1: none had ended by then.
std::int64_t last_ended_step(const RankRows& rows, std::int64_t until_ns) {
  std::int64_t last = -1;
  for (const model::Step& step : rows.steps) {
    if (step.end_ns <= until_ns) last = std::max(last, step.index);
  }
  return last;
}

// Names of the rank as names of the step.
class StepNames {
 public:
  explicit StepNames(const RankRows& rows) : rows_(rows) {}

  std::uint32_t index_of(model::StringId id) {
    if (id == 0) return 0;
    const auto [found, is_new] = indices_.try_emplace(id, names_.size());
    if (is_new) names_.emplace_back(rows_.text(id));
    return static_cast<std::uint32_t>(found->second);
  }
  std::vector<std::string> take() { return std::move(names_); }

 private:
  const RankRows& rows_;
  std::vector<std::string> names_{""};
  std::unordered_map<model::StringId, std::size_t> indices_;
};

base::Result<timeline::StepAllocations> read_step(store::EventStore& store,
                                                  const RankSnapshot& rank, const model::Step& step,
                                                  timeline::StepMemory& memory) {
  timeline::StepAllocations result;
  result.start_ns = step.start_ns;
  result.end_ns = step.end_ns;
  StepNames names(*rank.rows);
  for (const store::ChunkEntry& chunk :
       chunks_of(store, rank.rank, model::EventKind::kAllocation)) {
    if (chunk.header.first_ns >= step.end_ns || chunk.header.last_ns < step.start_ns) continue;
    const auto events = store.load_whole(chunk);
    if (!events) {
      memory.problem = events.error().message;
      continue;
    }
    for (const model::Event& event : *events) {
      const auto category = model::category_of(event.flags);
      if (!category || event.start_ns < step.start_ns || event.start_ns >= step.end_ns) continue;
      timeline::StepAllocation one;
      one.start_ns = event.start_ns;
      one.end_ns = std::clamp(event.end_ns(), event.start_ns, step.end_ns);
      one.bytes = event.value;
      one.address = event.correlation;
      one.name = names.index_of(event.name);
      one.category = *category;
      one.is_older = (event.flags & model::kEventOlder) != 0;
      one.outlives = (event.flags & model::kEventNotFreed) != 0;
      result.all.push_back(one);
    }
  }
  std::ranges::stable_sort(result.all, {}, &timeline::StepAllocation::start_ns);
  result.names = names.take();
  return result;
}

std::vector<timeline::StepMemory::PhasePart> phases_of(const RankRows& rows,
                                                       const model::Step& step) {
  std::vector<timeline::StepMemory::PhasePart> phases;
  for (const model::Span& span : rows.spans.rows) {
    if (span.depth != 0 || span.start_ns >= step.end_ns || span.end_ns <= step.start_ns) continue;
    phases.push_back({span.phase, model::phase_class(span.phase),
                      std::max(span.start_ns, step.start_ns), std::min(span.end_ns, step.end_ns)});
  }
  return phases;
}

// What the user has not chosen is the first rank with a record, and that rank's first such step.
void choose(timeline::StepMemory& memory) {
  memory.rank = memory.request.rank;
  memory.step = memory.request.step;
  const auto has_any = [](const auto& each) { return !each.steps.empty(); };
  if (memory.rank < 0) {
    const auto first = std::ranges::find_if(memory.recorded, has_any);
    if (first != memory.recorded.end()) memory.rank = first->rank;
  }
  const auto of_rank =
      std::ranges::find(memory.recorded, memory.rank, &timeline::StepMemory::Recorded::rank);
  if (memory.step < 0 && of_rank != memory.recorded.end() && has_any(*of_rank)) {
    memory.step = of_rank->steps.front();
  }
}

}  // namespace

base::Result<timeline::StepMemory> memory_of_step(const RunSnapshot& run,
                                                  const timeline::StepMemoryRequest& request,
                                                  const std::function<bool()>& wanted,
                                                  std::int64_t until_ns) {
  const auto given_up = [&] { return wanted && !wanted(); };
  timeline::StepMemory memory;
  memory.request = request;
  for (const RankSnapshot& rank : run.ranks) {
    if (given_up())
      return base::fail(base::ErrorKind::kFailed, "The memory of the step is no longer wanted.");
    std::vector<std::int64_t> steps = recorded_steps(*run.store, rank);
    const auto later = std::ranges::upper_bound(steps, last_ended_step(*rank.rows, until_ns));
    const bool is_asked = request.rank < 0 || request.rank == rank.rank;
    memory.is_to_come |= is_asked && later != steps.end();
    steps.erase(later, steps.end());
    memory.recorded.push_back({rank.rank, std::move(steps)});
  }
  choose(memory);
  const RankSnapshot* const rank = run.rank(memory.rank);
  if (rank == nullptr) return memory;
  const auto step = std::ranges::find(rank->rows->steps, memory.step, &model::Step::index);
  if (step == rank->rows->steps.end()) return memory;
  memory.is_to_come = step->end_ns > until_ns;
  if (memory.is_to_come) return memory;
  TRY_ASSIGN(auto allocations, read_step(*run.store, *rank, *step, memory));
  if (const auto peak = rank->rows->step_peaks.find(memory.step);
      peak != rank->rows->step_peaks.end()) {
    memory.counted_peak_bytes = peak->second.allocated_bytes();
    memory.reserved_bytes = peak->second.reserved_bytes;
  }
  memory.phases = phases_of(*rank->rows, *step);
  if (allocations.all.empty() || given_up()) return memory;
  memory.peak = timeline::find_peak(allocations.all);
  memory.flame = std::make_shared<const timeline::MemoryFlame>(
      timeline::layout_flame(allocations, {.hides_constant = request.hides_constant}));
  memory.allocations = std::make_shared<const timeline::StepAllocations>(std::move(allocations));
  return memory;
}

}  // namespace shardlens::trace::explore
