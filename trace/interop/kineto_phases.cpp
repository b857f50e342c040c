#include "trace/interop/kineto_phases.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "trace/base/intervals.h"
#include "trace/interop/marks/fsdp1_marks.h"
#include "trace/interop/marks/fsdp2_marks.h"
#include "trace/model/activity.h"
#include "trace/model/untold.h"

namespace shardlens::trace::interop {

namespace {

constexpr std::string_view kStepPrefix = "ProfilerStep#";
constexpr std::string_view kOptimizerPrefix = "Optimizer.step#";  // "Optimizer.step#AdamW.step"

// Of a step's mark its number, which no job counts beyond 32 bits.
std::optional<std::int64_t> marked_step(const Annotation& annotation) {
  if (!annotation.name.starts_with(kStepPrefix)) return {};
  std::uint32_t number = 0;
  const char* const end = annotation.name.data() + annotation.name.size();
  const auto read = std::from_chars(annotation.name.data() + kStepPrefix.size(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return {};
  return number;
}

// Of collectives and sharded units, within whatever phase.
bool is_mark(std::string_view name) {
  return name.starts_with("nccl:") || name.starts_with("FSDP::") || name.starts_with(kFsdp1Prefix);
}

// What users and PyTorch call the phases of a step.
base::Phase phase_named(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (is_mark(name)) return base::Phase::kOther;
  for (int phase = 0; phase < base::kPhaseCount; ++phase) {
    const auto named = static_cast<base::Phase>(phase);
    if (name == base::to_string(named)) return named;
  }
  if (name.starts_with("Optimizer.step") || has("## optimizer")) return base::Phase::kOptimizer;
  if (has("backward") && has("forward")) return base::Phase::kOther;  // "forward_backward"
  if (has("backward")) return base::Phase::kBackward;
  if (has("forward") && !has("DistributedDataParallel")) return base::Phase::kForward;
  if (name.starts_with("enumerate(DataLoader)")) return base::Phase::kData;
  return base::Phase::kOther;
}

// Whether counts come in turns, as of several optimizers: different ones, the same again after each
// `period` steps, of which at least two whole ones are there: of fewer a chance repeats the end.
// What is missing now and then comes in none. Of at least two counts; fewer than four do not tell
// and are taken to.
bool are_in_turns(std::span<const std::ptrdiff_t> counts) {
  for (std::size_t period = 2; period <= std::max<std::size_t>(2, counts.size() / 2); ++period) {
    const auto repeated = counts.first(counts.size() - period);
    if (!std::ranges::equal(repeated, counts.subspan(period))) continue;
    if (counts.size() < 4 || std::set(repeated.begin(), repeated.end()).size() > 1) return true;
  }
  return false;
}

}  // namespace

KinetoPhases::KinetoPhases(std::vector<Annotation> annotations, const base::Interval& recorded,
                           BackwardTimes backward)
    : backward_(std::move(backward)) {
  for (Annotation& annotation : annotations) {
    const base::Phase phase = phase_named(annotation.name);
    marked_.push_back({std::move(annotation), phase});
  }
  make_steps(recorded);
}

void KinetoPhases::add_marked_steps() {
  for (const auto& [annotation, phase] : marked_) {
    const auto number = marked_step(annotation);
    if (!number) continue;
    model::Step step;
    step.index = *number;
    step.start_ns = annotation.start_ns;
    step.end_ns = annotation.end_ns;
    step.full_detail = annotation.has_detail;
    steps_.push_back(step);
  }
}

// Of several optimizers nothing tells which ends a step, but where no backward pass comes between
// them: so one updates its groups of parameters one by one, and is called within another. One that
// works within backward passes, for a parameter as soon as it has its gradient, ends no step.
void KinetoPhases::add_steps_of_optimizer(const base::Interval& recorded) {
  std::vector<const Annotation*> updates;
  for (const auto& [annotation, phase] : marked_) {
    if (annotation.name.starts_with(kOptimizerPrefix)) updates.push_back(&annotation);
  }
  std::ranges::sort(updates, {}, [](const Annotation* update) {
    return std::pair(update->start_ns, -update->end_ns);
  });
  const base::Intervals& nodes = backward_.nodes;
  std::int64_t start_ns = recorded.start_ns;
  for (const Annotation* update : updates) {
    if (base::length_within(nodes, {update->start_ns, update->start_ns + 1}) > 0) {
      return steps_.clear();
    }
    const bool belongs_to_last = !steps_.empty() && !nodes.empty() &&
                                 base::length_within(nodes, {start_ns, update->end_ns}) == 0;
    const bool is_another = update->name != updates.front()->name ||
                            update->thread != updates.front()->thread ||
                            update->start_ns < start_ns;
    if (!belongs_to_last && is_another) return steps_.clear();
    if (!belongs_to_last) {
      model::Step step;
      step.index = std::ssize(steps_);
      step.start_ns = start_ns;
      step.full_detail = true;
      steps_.push_back(step);
    }
    steps_.back().end_ns = start_ns = std::max(start_ns, update->end_ns);
  }
  if (!have_same_gradients()) steps_.clear();
}

// As those of one optimizer have, or several times as many where they are accumulated. Now and then
// a few may be missing, up to a tenth: not every step uses every parameter. The first step may have
// begun before the recording.
bool KinetoPhases::have_same_gradients() const {
  const auto before = [&](std::int64_t time_ns) {
    return std::ranges::lower_bound(backward_.gradients_ns, time_ns) -
           backward_.gradients_ns.begin();
  };
  std::vector<std::ptrdiff_t> counts;
  for (std::size_t i = 1; i < steps_.size(); ++i) {
    counts.push_back(before(steps_[i].end_ns) - before(steps_[i].start_ns));
  }
  if (counts.empty()) return true;
  const std::ptrdiff_t least = std::ranges::min(counts);
  if (least == 0) return std::ranges::max(counts) == 0;
  std::ptrdiff_t most_off = 0;
  for (const std::ptrdiff_t count : counts) {
    const std::ptrdiff_t nearest = (count + least / 2) / least * least;
    most_off = std::max(most_off, std::abs(count - nearest));
  }
  return most_off == 0 || (10 * most_off <= least && !are_in_turns(counts));
}

void KinetoPhases::make_steps(const base::Interval& recorded) {
  add_marked_steps();
  if (steps_.empty() && recorded.start_ns < recorded.end_ns) {
    add_steps_of_optimizer(recorded);
    where_from_ = model::kStepsOfOptimizer;
  }
  if (steps_.empty() && recorded.start_ns < recorded.end_ns) {
    model::Step whole;
    whole.start_ns = recorded.start_ns;
    whole.end_ns = recorded.end_ns;
    whole.full_detail = true;
    steps_.push_back(whole);
    where_from_ = model::kOneStep;
  }
  std::ranges::sort(steps_, {}, &model::Step::start_ns);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    model::Step& step = steps_[i];
    step.loss = step.gradient_norm = std::numeric_limits<double>::quiet_NaN();
    // The GPU works on after the host has left the step: until the next one begins.
    const bool has_next = i + 1 < steps_.size() && steps_[i + 1].index == step.index + 1;
    if (has_next) step.end_ns = steps_[i + 1].start_ns;
  }
}

std::optional<std::int64_t> KinetoPhases::repeated_step() const {
  std::set<std::int64_t> seen;
  for (const model::Step& step : steps_) {
    if (!seen.insert(step.index).second) return step.index;
  }
  return {};
}

std::set<std::pair<std::string, std::int64_t>> KinetoPhases::begins_by_thread() const {
  std::set<std::pair<std::string, std::int64_t>> begins;
  for (const auto& [annotation, phase] : marked_) {
    if (!is_mark(annotation.name)) begins.emplace(annotation.thread, annotation.start_ns);
  }
  return begins;
}

void KinetoPhases::add_passes(std::span<const TrainingPass> passes,
                              std::span<const std::int64_t> ends_ns) {
  if (passes.empty()) return;
  std::vector<base::Interval> forwards, backwards;
  for (const TrainingPass& pass : passes) {
    forwards.insert(forwards.end(), pass.forwards.begin(), pass.forwards.end());
  }
  std::vector<Marked> added;
  for (auto& [annotation, phase] : marked_) {
    if (phase == base::Phase::kBackward) {
      backwards.push_back({annotation.start_ns, annotation.end_ns});
    }
    const bool is_whole = annotation.name == kDdpForward || annotation.name == kFsdp1Forward;
    if (!is_whole && annotation.name != kFsdp2Forward) continue;
    const auto forward =
        std::ranges::lower_bound(forwards, annotation.start_ns, {}, &base::Interval::start_ns);
    if (forward == forwards.end() || forward->start_ns != annotation.start_ns) continue;
    if (is_whole) {
      phase = base::Phase::kForward;
    } else {
      added.push_back({{"forward", annotation.thread, forward->start_ns, forward->end_ns},
                       base::Phase::kForward});
    }
  }
  const base::Intervals by_program = base::normalize(std::move(backwards));
  const auto begins = begins_by_thread();
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const base::Interval& backward = passes[i].backward;
    if (base::length_within(by_program, backward) > 0) continue;
    const std::string& thread = passes[i].backward_thread;
    // Gloo's threads note the ends of collectives late, when the host has gone on already.
    const auto next = begins.lower_bound({thread, backward.end_ns});
    const bool goes_on = next != begins.end() && next->first == thread;
    const std::int64_t end_ns = goes_on ? std::min(ends_ns[i], next->second) : ends_ns[i];
    added.push_back({{"backward", thread, backward.start_ns, end_ns}, base::Phase::kBackward});
  }
  marked_.insert(marked_.end(), added.begin(), added.end());
}

void KinetoPhases::name_units(const UnitMarks& marks) {
  for (auto& [annotation, phase] : marked_) {
    if (!annotation.name.starts_with(kFsdp1Prefix)) continue;
    const auto unit = marks.unit_from(annotation.start_ns);
    if (!unit) continue;
    annotation.name += " (" + marks.unit_names()[static_cast<std::size_t>(*unit)] + ")";
  }
}

// One that is given a closure runs the passes itself, as Lightning's: its own work lies behind
// them.
void KinetoPhases::take_passes_from_optimizers() {
  base::Intervals passes = backward_.nodes;
  for (const auto& [annotation, phase] : marked_) {
    if (phase != base::Phase::kForward && phase != base::Phase::kBackward) continue;
    passes.push_back({annotation.start_ns, annotation.end_ns});
  }
  passes = base::normalize(std::move(passes));
  std::vector<Marked> added;
  for (auto& [annotation, phase] : marked_) {
    if (phase != base::Phase::kOptimizer) continue;
    const auto behind =
        std::ranges::lower_bound(passes, annotation.end_ns, {}, &base::Interval::start_ns);
    if (behind == passes.begin()) continue;
    const base::Interval& last = *std::prev(behind);
    if (last.start_ns < annotation.start_ns) continue;
    phase = base::Phase::kOther;
    added.push_back({{"optimizer", annotation.thread, last.end_ns, annotation.end_ns},
                     base::Phase::kOptimizer});
  }
  std::erase_if(
      added, [](const Marked& each) { return each.annotation.start_ns >= each.annotation.end_ns; });
  marked_.insert(marked_.end(), added.begin(), added.end());
}

void KinetoPhases::finish(RowIds& ids) {
  take_passes_from_optimizers();
  std::ranges::sort(marked_, {}, [](const Marked& each) {
    return std::pair(each.annotation.start_ns, -each.annotation.end_ns);
  });
  std::int64_t phase_end = INT64_MIN;
  std::map<std::string, std::vector<std::int64_t>> open;  // by thread
  for (const auto& [annotation, phase] : marked_) {
    if (marked_step(annotation)) continue;
    model::Span span;
    span.lane = ids.lane_of(model::LaneKind::kPhases, "annotations of thread " + annotation.thread);
    span.start_ns = annotation.start_ns;
    span.end_ns = annotation.end_ns;
    span.step = step_at(annotation.start_ns);
    span.name = ids.intern(annotation.name);
    auto& ends = open[annotation.thread];
    while (!ends.empty() && ends.back() <= annotation.start_ns) ends.pop_back();
    span.depth = static_cast<int>(ends.size()) + 1;
    if (phase != base::Phase::kOther && annotation.start_ns >= phase_end) {
      span.phase = phase;
      span.depth = 0;
      phase_end = annotation.end_ns;
      phases_.push_back(span);
    }
    ends.push_back(annotation.end_ns);
    spans_.push_back(span);
  }
}

std::int64_t KinetoPhases::step_at(std::int64_t time_ns) const {
  const model::Step* const step = model::step_at(steps_, time_ns);
  return step == nullptr ? -1 : step->index;
}

base::Phase KinetoPhases::phase_at(std::int64_t time_ns) const {
  const auto next = std::ranges::upper_bound(phases_, time_ns, {}, &model::Span::start_ns);
  if (next == phases_.begin()) return base::Phase::kOther;
  const model::Span& span = *std::prev(next);
  return time_ns < span.end_ns ? span.phase : base::Phase::kOther;
}

void KinetoPhases::move_to(model::Batch& rows) {
  rows.steps = std::move(steps_);
  rows.spans = std::move(spans_);
}

}  // namespace shardlens::trace::interop
