// What recording costs: events per second and core from a queue to the file, losses at a steady
// rate, and the steps of small training loops with and without recording, interleaved.
#include "profiler/recorder.h"

#include <stdlib.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "bench/bench_rows.h"
#include "profiler/allocation_tracker.h"
#include "profiler/torch/torch_sources.h"

namespace shardlens::bench {
namespace {

using profiler::Recorder;

// A recorder that writes into a temporary folder.
class ScratchRecorder {
 public:
  static trace::Result<std::unique_ptr<ScratchRecorder>> start(
      profiler::RecorderOptions options = {}) {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "bench_recorder.XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      return trace::fail(trace::ErrorKind::kIo, "No temporary folder could be made: set TMPDIR.");
    options.file = std::filesystem::path(pattern) / "rank_0.sqlite";
    TRY_ASSIGN(auto recorder, Recorder::start(std::move(options)));
    return std::unique_ptr<ScratchRecorder>(new ScratchRecorder(pattern, std::move(recorder)));
  }
  ~ScratchRecorder() {
    recorder_.reset();
    std::filesystem::remove_all(folder_);
  }
  Recorder& operator*() { return *recorder_; }
  Recorder* operator->() { return recorder_.get(); }
  std::int64_t file_bytes() const {
    return static_cast<std::int64_t>(std::filesystem::file_size(folder_ / "rank_0.sqlite"));
  }

 private:
  ScratchRecorder(std::filesystem::path folder, std::unique_ptr<Recorder> recorder)
      : folder_(std::move(folder)), recorder_(std::move(recorder)) {}
  std::filesystem::path folder_;
  std::unique_ptr<Recorder> recorder_;
};

double process_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double thread_cpu_ms() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

// As an operator trace looks: 40 names, irregular durations of microseconds.
class EventStream {
 public:
  explicit EventStream(Recorder& recorder)
      : recorder_(recorder), lane_(recorder.add_lane(trace::LaneKind::kOperators, "bench")) {
    for (int i = 0; i < 40; ++i) names_.push_back(recorder.intern("aten::op" + std::to_string(i)));
  }
  void push(int count) {
    for (int i = 0; i < count; ++i) {
      trace::Event event;
      event.start_ns = time_;
      // Linear congruential, constants of Numerical Recipes; its high bits are irregular.
      random_ = random_ * 1664525 + 1013904223;
      event.duration_ns = 1'000 + (random_ >> 14);
      event.name = names_[(random_ >> 8) % names_.size()];
      event.flags = trace::kEventLeaf;
      recorder_.add_event(lane_, trace::EventKind::kOperator, event);
      time_ += event.duration_ns + 100;
    }
  }

 private:
  Recorder& recorder_;
  const int lane_;
  std::vector<trace::StringId> names_;
  std::int64_t time_ = Recorder::now_ns();
  std::uint32_t random_ = 1;
};

trace::Result<void> measure_throughput(std::vector<BenchRow>& rows) {
  constexpr int kChunk = 40'000, kChunks = 50;
  // Far faster than any job, in bursts: the queue has to hold several of them.
  profiler::RecorderOptions options;
  options.event_queue_capacity = 1 << 19;
  TRY_ASSIGN(auto recorder, ScratchRecorder::start(options));
  EventStream stream(**recorder);
  const double before = process_cpu_seconds();
  for (int i = 0; i < kChunks; ++i) {
    stream.push(kChunk);
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
  }
  TRY((*recorder)->stop());
  const double seconds = process_cpu_seconds() - before;
  const double rate = kChunk * kChunks / seconds;
  const auto lost = static_cast<double>((*recorder)->lost());
  rows.push_back({"events per second of CPU, from the queue to the file",
                  rate,
                  "events/s",
                  "",
                  {},
                  ">= 10e6 events/s, none lost",
                  rate >= 10e6 && lost == 0});
  rows.push_back({"bytes per operator on disk",
                  static_cast<double>(recorder->file_bytes()) / (kChunk * kChunks),
                  "B",
                  "",
                  {},
                  "<= 12 B",
                  recorder->file_bytes() <= std::int64_t{12} * kChunk * kChunks});
  return {};
}

trace::Result<void> measure_losses(std::vector<BenchRow>& rows) {
  constexpr int kPerMillisecond = 200, kMilliseconds = 2'000;
  TRY_ASSIGN(auto recorder, ScratchRecorder::start());
  EventStream stream(**recorder);
  auto next = std::chrono::steady_clock::now();
  for (int i = 0; i < kMilliseconds; ++i) {
    stream.push(kPerMillisecond);
    next += std::chrono::milliseconds(1);
    std::this_thread::sleep_until(next);
  }
  TRY((*recorder)->stop());
  const auto lost = static_cast<double>((*recorder)->lost());
  rows.push_back(
      {"events lost at 200,000 a second for 2 s", lost, "events", "", {}, "0", lost == 0});
  return {};
}

// A few layers: bound by their products or, with a small width, by the launch of their operators.
class Loop {
 public:
  explicit Loop(std::int64_t width)
      : layers_(torch::nn::Sequential(torch::nn::Linear(width, 4 * width), torch::nn::GELU(),
                                      torch::nn::Linear(4 * width, width),
                                      torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})),
                                      torch::nn::Linear(width, 4 * width), torch::nn::GELU(),
                                      torch::nn::Linear(4 * width, width))),
        input_(torch::randn({64, width})),
        optimizer_(layers_->parameters(), torch::optim::SGDOptions(1e-3)) {}

  void step(Recorder* recorder) {
    if (recorder) recorder->begin_step(index_++);
    optimizer_.zero_grad();
    const auto loss = phase(recorder, trace::Phase::kForward,
                            [&] { return layers_->forward(input_).pow(2).mean(); });
    phase(recorder, trace::Phase::kBackward, [&] { loss.backward(); });
    phase(recorder, trace::Phase::kOptimizer, [&] { optimizer_.step(); });
    if (recorder) recorder->end_step({});
  }

 private:
  template <typename Work>
  static std::invoke_result_t<Work> phase(Recorder* recorder, trace::Phase phase, Work&& work) {
    std::optional<profiler::PhaseScope> scope;
    if (recorder) scope.emplace(*recorder, phase);
    return work();
  }

  torch::nn::Sequential layers_;
  torch::Tensor input_;
  torch::optim::SGD optimizer_;
  std::int64_t index_ = 0;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Blocks of both kinds alternate, so that whatever else the machine does falls on both.
trace::Result<void> measure_steps(const std::string& what, std::int64_t width, int blocks,
                                  double budget, std::vector<BenchRow>& rows) {
  constexpr int kStepsPerBlock = 10;
  TRY_ASSIGN(auto recorder, ScratchRecorder::start());
  Loop loop(width);
  for (int i = 0; i < kStepsPerBlock; ++i) loop.step(nullptr);
  std::vector<double> with, without, cpu_with, cpu_without;
  for (int block = 0; block < 2 * blocks; ++block) {
    const bool recorded = block % 2 == 1;
    std::optional<profiler::OperatorObserver> observer;
    if (recorded) observer.emplace(**recorder);
    for (int i = 0; i < kStepsPerBlock; ++i) {
      const auto start = std::chrono::steady_clock::now();
      const double cpu_start = thread_cpu_ms();
      loop.step(recorded ? &**recorder : nullptr);
      const double cpu = thread_cpu_ms() - cpu_start;
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - start;
      if (i == 0) continue;  // it warms up
      (recorded ? with : without).push_back(took.count());
      (recorded ? cpu_with : cpu_without).push_back(cpu);
    }
  }
  TRY((*recorder)->stop());
  const double ratio = median(with) / median(without);
  char budget_text[32];
  std::snprintf(budget_text, sizeof budget_text, "<= +%g %%", budget * 100);
  rows.push_back({"step time with recording, " + what, median(with), "ms",
                  "the same without recording", ratio, budget_text, ratio <= 1 + budget});
  const double cpu_ratio = median(cpu_with) / median(cpu_without);
  rows.push_back({"CPU time of the training thread per step, " + what,
                  median(cpu_with),
                  "ms",
                  "the same without recording",
                  cpu_ratio,
                  "",
                  {}});
  return {};
}

// What one allocation and its end cost the thread that allocates, beside the allocator's own work.
double ns_per_allocation(profiler::AllocationTracker& tracker) {
  constexpr std::uint64_t kLive = 2'000, kCount = 100'000;
  const auto address = [](std::uint64_t i) { return (i % kLive + 1) * 512; };
  const double before = thread_cpu_ms();
  for (std::uint64_t i = 0; i < kCount; ++i) {
    if (i >= kLive) tracker.freed({address(i), 512});
    tracker.allocated({address(i), 512});
  }
  const double ms = thread_cpu_ms() - before;
  for (std::uint64_t i = 0; i < kLive; ++i) tracker.freed({address(i), 512});
  return ms * 1e6 / kCount;
}

void measure_allocations(std::vector<BenchRow>& rows) {
  profiler::AllocationTracker tracker;
  const double counted = ns_per_allocation(tracker);
  tracker.keep_addresses(true);
  ns_per_allocation(tracker);  // touches the table
  const double kept = ns_per_allocation(tracker);
  tracker.begin_record();
  const double recorded = ns_per_allocation(tracker);
  const double before = thread_cpu_ms();
  tracker.end_record(0);
  const double end_us = (thread_cpu_ms() - before) * 1e3;
  const std::string same = "only counted by category";
  rows.push_back({"an allocation and its end, address kept", kept, "ns", same, kept / counted,
                  "<= 500 ns", kept <= 500});
  rows.push_back({"the same in a recorded step", recorded, "ns", same, recorded / counted,
                  "<= 1000 ns", recorded <= 1000});
  rows.push_back({"end of a recorded step", end_us, "us", "", {}, "<= 5000 us", end_us <= 5000});
}

trace::Result<void> measure(std::vector<BenchRow>& rows) {
  torch::set_num_threads(1);
  torch::manual_seed(0);
  TRY(measure_throughput(rows));
  TRY(measure_losses(rows));
  measure_allocations(rows);
  TRY(measure_steps("large layers", 512, 12, 0.01, rows));
  TRY(measure_steps("launch-bound", 16, 40, 0.02, rows));
  return {};
}

}  // namespace
}  // namespace shardlens::bench

int main() {
  std::vector<shardlens::bench::BenchRow> rows;
  const auto measured = shardlens::bench::measure(rows);
  shardlens::bench::print_rows(rows);
  if (measured) return 0;
  std::fprintf(stderr, "error: %s\n", measured.error().message.c_str());
  return 1;
}
