#include "trace/synthetic/synthetic_run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

#include "trace/base/file_system.h"
#include "trace/base/side_by_side.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/write/row_writer.h"
#include "trace/synthetic/synthetic_rank.h"

namespace shardlens::trace::synthetic {

namespace fs = std::filesystem;

namespace {

using namespace std::chrono_literals;

constexpr int kMostRanks = 4096;
constexpr std::int64_t kMostEvents = 10'000'000'000;
constexpr std::int64_t kStartNs = 1'790'000'000'000'000'000;  // in September 2026
constexpr std::int64_t kCommitDelayNs = 20'000'000;

tl::unexpected<base::Error> generation_stopped() {
  return base::fail(base::ErrorKind::kFailed,
                    "stopped before the run was complete; nothing was kept");
}

// One rank after the other, on several threads.
class Generation {
 public:
  Generation(const SyntheticRunOptions& options, fs::path folder)
      : options_(options),
        folder_(std::move(folder)),
        shape_(make_step_shape()),
        steps_(
            std::max<std::int64_t>(1, options.events / options.ranks / shape_.events_per_step())) {}

  base::Result<void> run();
  std::int64_t steps() const { return steps_; }
  std::int64_t events() const { return steps_ * options_.ranks * shape_.events_per_step(); }
  std::int64_t end_ns() const { return end_ns_; }

 private:
  void work(int rank);
  base::Result<void> write_rank(int rank);
  void watch();

  const SyntheticRunOptions& options_;
  const fs::path folder_;
  const StepShape shape_;
  const std::int64_t steps_;
  std::atomic<bool> has_ended_{false};
  std::atomic<std::int64_t> steps_written_{0};
  std::atomic<std::int64_t> end_ns_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::optional<base::Error> failure_;  // guarded by mutex_
};

base::Result<void> Generation::write_rank(int rank) {
  TRY_ASSIGN(store::RowWriter writer,
             store::RowWriter::create_file(store::rank_file(folder_, rank), rank, kStartNs));
  SyntheticRank rows(shape_, rank, options_.ranks, options_.seed);
  StepSchedule schedule(shape_, options_.ranks, options_.seed, kStartNs);
  TRY(writer.begin());
  TRY(writer.write(rows.definitions()));
  TRY(writer.commit(kStartNs));
  for (std::int64_t step = 0; step < steps_; ++step) {
    if (stop_) return generation_stopped();
    schedule.advance();
    TRY(writer.begin());
    TRY(writer.write(rows.step(step, schedule.of(rank))));
    TRY(writer.commit(schedule.of(rank).end + kCommitDelayNs));
    ++steps_written_;
  }
  if (rank == 0) end_ns_ = schedule.of(rank).end;
  { const store::RowWriter closed = std::move(writer); }
  return store::checkpoint_trace_file(store::rank_file(folder_, rank));
}

void Generation::work(int rank) {
  if (stop_) return;
  const auto written = write_rank(rank);
  if (written) return;
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = written.error();
  stop_ = true;
}

// Until all ranks are written.
void Generation::watch() {
  const auto all = static_cast<double>(steps_ * options_.ranks);
  while (!has_ended_) {
    std::this_thread::sleep_for(20ms);
    if (!options_.progress) continue;
    if (!options_.progress(static_cast<double>(steps_written_) / all)) stop_ = true;
  }
}

base::Result<void> Generation::run() {
  std::jthread writing([this] {
    base::for_each_side_by_side(base::thread_count(options_.threads),
                                static_cast<std::size_t>(options_.ranks),
                                [this](int, std::size_t rank) { work(static_cast<int>(rank)); });
    has_ended_ = true;
  });
  watch();
  writing.join();
  const std::lock_guard lock(mutex_);
  if (failure_) return tl::make_unexpected(*failure_);
  return stop_ ? generation_stopped() : base::Result<void>();
}

base::Result<void> check_options(const SyntheticRunOptions& options) {
  if (options.ranks < 1 || options.ranks > kMostRanks) {
    return base::fail(base::ErrorKind::kUsage,
                      "the number of ranks must be from 1 to " + std::to_string(kMostRanks));
  }
  if (options.events < 1 || options.events > kMostEvents) {
    return base::fail(base::ErrorKind::kUsage,
                      "the number of events must be from 1 to " + std::to_string(kMostEvents));
  }
  return {};
}

model::RunInfo describe(const SyntheticRunOptions& options) {
  model::RunInfo info;
  info.name = options.name;
  info.start_ns = kStartNs;
  info.device = "cuda";
  info.world_size = options.ranks;
  info.program = "shardlens generate";
  info.imported_from = "a generator, with made-up figures";
  info.settings.ranks = options.ranks;
  return info;
}

}  // namespace

base::Result<SyntheticRun> generate_run(const fs::path& runs_dir,
                                        const SyntheticRunOptions& options) {
  TRY(check_options(options));
  model::RunInfo info = describe(options);
  TRY_ASSIGN(store::ClaimedRun made,
             store::create_claimed_run(
                 runs_dir, info,
                 options.overwrite ? store::TakenName::kIsReplaced : store::TakenName::kIsRefused));
  SyntheticRun result{made.folder, 0, 0, 0};
  if (options.begun) options.begun(result.folder);
  const auto begin = std::chrono::steady_clock::now();
  Generation generation(options, result.folder);
  auto done = generation.run();
  if (done) {
    info.status = model::RunStatus::kDone;
    info.end_ns = generation.end_ns();
    done = store::update_run(result.folder, info);
  }
  if (!done) {
    std::error_code ignored;
    fs::remove_all(result.folder, ignored);
    return tl::make_unexpected(done.error());
  }
  if (options.whole) options.whole();
  if (const auto placed = store::take_place(made); !placed) {
    // Of the old run nothing may be left.
    return base::fail(
        placed.error().kind,
        placed.error().message + ". What was written is whole, in " + base::quoted(result.folder));
  }
  result.steps = generation.steps();
  result.events = generation.events();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace shardlens::trace::synthetic
