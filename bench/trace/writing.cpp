// Writing: one core as fast as it can, and several recorders at a steady rate.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <limits>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "bench/benchmark.h"
#include "bench/trace/stages.h"
#include "trace/base/wall_clock.h"
#include "trace/store/write/row_writer.h"
#include "trace/store/write/trace_writer.h"
#include "trace/synthetic/step_schedule.h"
#include "trace/synthetic/synthetic_rank.h"

namespace shardlens::bench {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kStartNs = 1'790'000'000'000'000'000;
constexpr int kSteps = 100;
constexpr int kWriters = 8;
constexpr std::int64_t kEventsPerSecond = 200'000;  // of each
constexpr auto kBeat = 20ms;                        // how often a recorder hands over what it has

std::int64_t events_in(const trace::model::Batch& batch) {
  std::int64_t count = 0;
  for (const auto& run : batch.events) count += static_cast<std::int64_t>(run.events.size());
  return count;
}

struct Prepared {
  trace::model::Batch definitions;
  std::vector<trace::model::Batch> steps;
  std::vector<std::int64_t> ends_ns;
  std::int64_t events = 0;
};

Prepared prepare(int rank, int ranks, int steps) {
  const trace::synthetic::StepShape shape = trace::synthetic::make_step_shape();
  trace::synthetic::SyntheticRank rows(shape, rank, ranks, 0);
  trace::synthetic::StepSchedule schedule(shape, ranks, 0, kStartNs);
  Prepared prepared;
  prepared.definitions = rows.definitions();
  for (int step = 0; step < steps; ++step) {
    schedule.advance();
    prepared.steps.push_back(rows.step(step, schedule.of(rank)));
    prepared.ends_ns.push_back(schedule.of(rank).end);
    prepared.events += events_in(prepared.steps.back());
  }
  return prepared;
}

// A recorder's part of a beat: events of the prepared steps, one after the other, moved to now.
class Stream {
 public:
  explicit Stream(const trace::model::Batch& step) {
    for (const auto& run : step.events) {
      for (const auto& event : run.events) events_.push_back({run.lane, run.kind, event});
    }
  }
  trace::model::Batch take(int rank, std::int64_t count, std::int64_t begin_ns,
                           std::int64_t length_ns) {
    trace::model::Batch batch;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto& [lane, kind, event] = events_[next_++ % events_.size()];
      auto& events = run_of(batch, rank, lane, kind);
      events.push_back(event);
      events.back().start_ns = begin_ns + length_ns * i / count;
      events.back().duration_ns = std::min(event.duration_ns, length_ns / count);
    }
    return batch;
  }

 private:
  struct Placed {
    int lane;
    trace::model::EventKind kind;
    trace::model::Event event;
  };
  static std::vector<trace::model::Event>& run_of(trace::model::Batch& batch, int rank, int lane,
                                                  trace::model::EventKind kind) {
    for (auto& run : batch.events) {
      if (run.lane == lane && run.kind == kind) return run.events;
    }
    auto& run = batch.events.emplace_back();
    run.rank = rank;
    run.lane = lane;
    run.kind = kind;
    return run.events;
  }

  std::vector<Placed> events_;
  std::size_t next_ = 0;
};

double seconds_of_writing(const Prepared& prepared, const std::filesystem::path& file) {
  const double begin = seconds_on(CLOCK_THREAD_CPUTIME_ID);
  auto writer = must(trace::store::RowWriter::create_file(file, 0));
  for (std::size_t step = 0; step < prepared.steps.size(); ++step) {
    must(writer.begin());
    if (step == 0) must(writer.write(prepared.definitions));
    must(writer.write(prepared.steps[step]));
    must(writer.commit(prepared.ends_ns[step]));
  }
  return seconds_on(CLOCK_THREAD_CPUTIME_ID) - begin;
}

}  // namespace

// The best of several: what it costs where nothing else disturbs it.
Figures measure_writing(const std::filesystem::path& folder) {
  constexpr int kRounds = 5;
  const Prepared prepared = prepare(0, 8, kSteps);
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    const auto file = folder / ("rank_" + std::to_string(round) + ".sqlite");
    best = std::min(best, seconds_of_writing(prepared, file));
    std::filesystem::remove(file);
  }
  return {{"events_per_core_s", static_cast<double>(prepared.events) / best}};
}

Figures measure_soak(const std::filesystem::path& folder, double seconds) {
  std::signal(SIGXFSZ, SIG_IGN);
  std::vector<std::unique_ptr<trace::store::TraceWriter>> writers;
  std::vector<Stream> streams;
  const Prepared prepared = prepare(0, kWriters, 1);
  for (int rank = 0; rank < kWriters; ++rank) {
    writers.push_back(must(trace::store::TraceWriter::create(
        folder / ("rank_" + std::to_string(rank) + ".sqlite"), rank)));
    writers.back()->submit(trace::model::Batch(prepare(rank, kWriters, 0).definitions));
    streams.emplace_back(prepared.steps.front());
  }
  const auto begin = Clock::now();
  Figures figures;
  std::int64_t told_ns = trace::base::wall_clock_ns();
  for (auto next = begin + kBeat;; next += kBeat) {
    std::this_thread::sleep_until(next);
    const std::int64_t now_ns = trace::base::wall_clock_ns();
    const std::int64_t length = now_ns - told_ns;
    const std::int64_t count = kEventsPerSecond * length / 1'000'000'000;
    for (std::size_t rank = 0; rank < writers.size(); ++rank) {
      writers[rank]->submit(streams[rank].take(static_cast<int>(rank), count, told_ns, length));
    }
    told_ns = now_ns;
    const double passed = std::chrono::duration<double>(Clock::now() - begin).count();
    if (passed >= seconds / 2 && !figures.contains("early_mib")) {
      figures["early_mib"] = resident_mib();
    }
    if (passed >= seconds) break;
  }
  figures["late_mib"] = resident_mib();
  for (const auto& writer : writers) {
    must(writer->close());
    figures["lost"] += static_cast<double>(writer->lost());
    figures["writer_cpu_s"] += static_cast<double>(writer->cpu_ns()) / 1e9;
  }
  return figures;
}

}  // namespace shardlens::bench
