#include "profiler/inject/range_recorder.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

#include "profiler/inject/steps/range_names.h"

namespace shardlens::profiler::inject {
namespace {

// A program that puts numbers into its names would fill the table of names.
constexpr std::size_t kMostExactNames = 4096;
constexpr std::size_t kMostNames = 65'536;
constexpr std::size_t kMostStarted = 65'536;
constexpr int kMostDepth = 64;

std::atomic<std::uint64_t> next_id{1};

bool is_same_thread(std::uint64_t place, std::uint64_t other) { return place >> 16 == other >> 16; }

bool computes(std::string_view name) {
  using trace::base::Phase;
  const auto phase = phase_named(name);
  return phase == Phase::kForward || phase == Phase::kBackward || phase == Phase::kOptimizer;
}

}  // namespace

// What one thread has open, in one domain after the other.
struct RangeRecorder::ThreadRanges {
  struct Open {
    trace::model::StringId name = 0;
    std::int64_t start_ns = 0;
  };
  struct Domain {
    int id = 0;
    int lane = -1;
    int depth = 0;
    std::array<Open, kMostDepth> open{};
  };
  std::uint64_t recorder = 0;
  std::uint64_t thread = 0;
  std::vector<Domain> domains;

  Domain& of(int id) {
    for (Domain& domain : domains) {
      if (domain.id == id) return domain;
    }
    return domains.emplace_back(Domain{.id = id});
  }
};

std::uint64_t RangeRecorder::place_of(const ThreadRanges& thread, int domain) {
  return thread.thread << 16 | static_cast<std::uint16_t>(domain);
}

RangeRecorder::RangeRecorder(recorder::Recorder& recorder, FoundSteps& steps)
    : recorder_(recorder),
      finder_(steps, StepSource::kRanges),
      guesses_(steps, StepSource::kPasses),
      id_(next_id.fetch_add(1)),
      steps_(finder_, guesses_) {
  domains_.emplace("", 0);
}

RangeRecorder::ThreadRanges& RangeRecorder::of_this_thread() {
  thread_local ThreadRanges ranges;
  if (ranges.recorder != id_) {
    ranges = {};
    ranges.recorder = id_;
    ranges.thread = static_cast<std::uint64_t>(gettid());
  }
  return ranges;
}

// The libraries' domains have negative numbers.
int RangeRecorder::domain(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (const auto found = domains_.find(name); found != domains_.end()) return found->second;
  const int number = static_cast<int>(domains_.size());
  return domains_.emplace(name, is_of_a_library(name) ? -number : number).first->second;
}

trace::model::StringId RangeRecorder::name_id(std::string_view name) {
  const std::size_t before = names_.load(std::memory_order_relaxed);
  if (before >= kMostNames) return recorder_.intern("range");
  name = without_call_details(name);
  const trace::model::StringId id =
      before < kMostExactNames ? recorder_.intern(name) : recorder_.intern(without_numbers(name));
  // Ids are given one after the other, to others, too: an upper bound of our names is enough.
  std::size_t seen = before;
  while (id > seen && !names_.compare_exchange_weak(seen, id, std::memory_order_relaxed)) {
  }
  return id;
}

int RangeRecorder::lane_of(ThreadRanges& thread, int domain) {
  auto& state = thread.of(domain);
  if (state.lane >= 0) return state.lane;
  std::string text = "NVTX";
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, id] : domains_) {
      if (id == domain && !name.empty()) text += " " + name;
    }
  }
  text += " of thread " + std::to_string(thread.thread);
  state.lane = recorder_.add_lane(trace::model::LaneKind::kOperators, text);
  if (domain == 0) recorder_.set_lane_of_this_thread(state.lane);
  return state.lane;
}

bool RangeRecorder::trains(const ThreadRanges& thread, int domain) const {
  return training_.load(std::memory_order_relaxed) == place_of(thread, domain);
}

// Other threads load data ahead or save checkpoints. Phases alone do not say who tells the steps:
// whoever first names one does, unless another thread trains already.
void RangeRecorder::look_for_training(const ThreadRanges& thread, int domain,
                                      std::string_view name) {
  if (domain < 0 || has_found_steps_.load(std::memory_order_relaxed)) return;
  const std::uint64_t place = place_of(thread, domain);
  const std::uint64_t before = training_.load(std::memory_order_relaxed);
  if (before == place) return;
  const bool may_be_it = before == 0 ? names_a_step(name) || computes(name) : names_a_step(name);
  if (!may_be_it) return;
  const std::lock_guard lock(mutex_);
  if (training_ != before || steps_.has_found_steps()) return;
  if (steps_.has_trained() && !is_same_thread(before, place)) return;
  steps_.leave(recorder::Recorder::now_ns());
  training_ = place;
}

int RangeRecorder::push(int domain, std::string_view name) {
  ThreadRanges& thread = of_this_thread();
  lane_of(thread, domain);
  auto& state = thread.of(domain);
  const int depth = state.depth++;
  if (depth >= kMostDepth) return depth;
  auto& open = state.open[static_cast<std::size_t>(depth)];
  open = {name_id(name), recorder::Recorder::now_ns()};
  look_for_training(thread, domain, name);
  if (trains(thread, domain)) {
    const std::lock_guard lock(mutex_);
    if (!is_finished_ && trains(thread, domain)) steps_.opened(name, depth, open.start_ns);
    has_found_steps_ = steps_.has_found_steps();
  }
  return depth;
}

int RangeRecorder::pop(int domain) {
  ThreadRanges& thread = of_this_thread();
  auto& state = thread.of(domain);
  if (state.depth == 0) return -1;
  const int depth = --state.depth;
  if (depth >= kMostDepth) {
    recorder_.count_lost("NVTX ranges nested too deeply", 1);
    return depth;
  }
  const auto open = state.open[static_cast<std::size_t>(depth)];
  add_event(state.lane, open.name, open.start_ns, depth);
  if (trains(thread, domain)) {
    const std::lock_guard lock(mutex_);
    if (!is_finished_ && trains(thread, domain)) steps_.closed(depth, recorder::Recorder::now_ns());
  }
  return depth;
}

void RangeRecorder::add_event(int lane, trace::model::StringId name, std::int64_t start_ns,
                              int depth) {
  if (!recorder_.wanted_detail_at(start_ns)) return;
  trace::model::Event event;
  event.start_ns = start_ns;
  event.duration_ns = recorder::Recorder::now_ns() - start_ns;
  event.name = name;
  event.flags = static_cast<std::uint32_t>(std::min(depth, 255)) << trace::model::kEventDepthShift;
  recorder_.add_event(lane, trace::model::EventKind::kOperator, event);
}

std::uint64_t RangeRecorder::start(int domain, std::string_view name) {
  const Started range{domain, name_id(name), recorder::Recorder::now_ns()};
  const std::uint64_t id = next_range_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  if (started_.size() < kMostStarted) {
    started_.emplace(id, range);
  } else {
    recorder_.count_lost("NVTX ranges that were started and not ended", 1);
  }
  return id;
}

void RangeRecorder::end(std::uint64_t range) {
  const std::lock_guard lock(mutex_);
  const auto found = started_.find(range);
  if (found == started_.end()) return;
  if (started_lane_ < 0)
    started_lane_ = recorder_.add_lane(trace::model::LaneKind::kOperators, "NVTX across threads");
  add_event(started_lane_, found->second.name, found->second.start_ns, 0);
  started_.erase(found);
}

void RangeRecorder::finish() {
  const std::lock_guard lock(mutex_);
  if (!is_finished_) steps_.finish();
  is_finished_ = true;
}

}  // namespace shardlens::profiler::inject
