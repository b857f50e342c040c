#include <chrono>
#include <thread>

#include "bench/recorder/parts.h"

namespace shardlens::bench {
namespace {

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

}  // namespace

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

}  // namespace shardlens::bench
