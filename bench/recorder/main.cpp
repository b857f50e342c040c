// What recording costs: events per second and core from a queue to the file, losses at a steady
// rate, checksums, and the steps of small training loops with and without recording, interleaved.
#include <ATen/Parallel.h>
#include <torch/types.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <thread>

#include "bench/recorder/parts.h"
#include "profiler/memory/allocation_tracker.h"

namespace shardlens::bench {
namespace {

// From the queue to the file: events per second of CPU, and losses.
trace::base::Result<void> measure_throughput(EventStream::Times times, Rows& rows) {
  constexpr int kChunk = 40'000, kChunks = 50;
  // Far faster than any job, in bursts: the queue has to hold several of them.
  profiler::recorder::RecorderOptions options;
  options.event_queue_capacity = 1 << 19;
  TRY_ASSIGN(const ScratchRecorder scratch, start_scratch_recorder(options));
  EventStream stream(*scratch.recorder, times);
  const double before = seconds_on(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < kChunks; ++i) {
    stream.push(kChunk);
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
  }
  TRY(scratch.recorder->stop());
  const double seconds = seconds_on(CLOCK_PROCESS_CPUTIME_ID) - before;
  const double rate = kChunk * kChunks / seconds;
  const auto lost = static_cast<double>(scratch.recorder->lost());
  const bool is_now = times == EventStream::Times::kNow;
  const std::string whose = is_now ? "" : ", of times far in the future";
  rows.push_back({"events per second of CPU, from the queue to the file" + whose, rate, "events/s",
                  is_now ? ">= 10e6 events/s, none lost" : "none lost",
                  (!is_now || rate >= 10e6) && lost == 0});
  const double bytes =
      static_cast<double>(std::filesystem::file_size(scratch.file())) / (kChunk * kChunks);
  rows.push_back({"bytes per operator on disk" + whose, bytes, "B", "<= 12 B", bytes <= 12});
  return {};
}

trace::base::Result<void> measure_throughput(Rows& rows) {
  TRY(measure_throughput(EventStream::Times::kNow, rows));
  return measure_throughput(EventStream::Times::kAhead, rows);
}

trace::base::Result<void> measure_losses(Rows& rows) {
  constexpr int kPerMillisecond = 200, kMilliseconds = 2'000;
  TRY_ASSIGN(const ScratchRecorder scratch, start_scratch_recorder());
  EventStream stream(*scratch.recorder);
  auto next = std::chrono::steady_clock::now();
  for (int i = 0; i < kMilliseconds; ++i) {
    stream.push(kPerMillisecond);
    next += std::chrono::milliseconds(1);
    std::this_thread::sleep_until(next);
  }
  TRY(scratch.recorder->stop());
  const auto lost = static_cast<double>(scratch.recorder->lost());
  rows.push_back({"events lost at 200,000 a second for 2 s", lost, "events", "0", lost == 0});
  return {};
}

// What one allocation and its end cost the thread that allocates, beside the allocator's own work.
double ns_per_allocation(profiler::memory::AllocationTracker& tracker) {
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

void measure_allocations(Rows& rows) {
  profiler::memory::AllocationTracker tracker;
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
  rows.push_back({"an allocation and its end, address kept", kept, "ns", "<= 500 ns", kept <= 500,
                  same, kept / counted});
  rows.push_back({"the same in a recorded step", recorded, "ns", "<= 1000 ns", recorded <= 1000,
                  same, recorded / counted});
  rows.push_back({"end of a recorded step", end_us, "us", "<= 5000 us", end_us <= 5000});
}

trace::base::Result<void> measure(Rows& rows) {
  at::set_num_threads(1);
  torch::manual_seed(0);
  TRY(measure_throughput(rows));
  TRY(measure_losses(rows));
  TRY(measure_checksums(rows));
  measure_allocations(rows);
  TRY(measure_steps({.what = "large layers", .width = 512, .blocks = 40, .budget = 0.01}, rows));
  TRY(measure_steps({.what = "launch-bound", .width = 16, .blocks = 10, .budget = 0.02}, rows));
  return measure_steps({.what = "launch-bound, one core for all",
                        .width = 16,
                        .blocks = 10,
                        .budget = 0.02,
                        .on_one_core = true},
                       rows);
}

}  // namespace
}  // namespace shardlens::bench

int main(int argc, char** argv) {
  CLI::App app{"What recording costs, against its budgets."};
  CLI11_PARSE(app, argc, argv);
  shardlens::bench::Rows rows;
  const auto measured = shardlens::bench::measure(rows);
  shardlens::bench::print_rows(rows);
  if (measured) return 0;
  std::fprintf(stderr, "error: %s\n", measured.error().message.c_str());
  return 1;
}
