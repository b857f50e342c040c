// A rank that trains nothing: records a made-up run in real time, for windows under test where the
// launcher and live runs are to be real but LibTorch is not there.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "trace/store/run/run_folder.h"
#include "trace/store/write/trace_writer.h"
#include "trace/synthetic/synthetic_rank.h"

namespace {

using namespace shardlens::trace;

volatile sig_atomic_t told_to_leave = 0;

std::int64_t now_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

int fail_with(const base::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.message.c_str());
  return 1;
}

void wait_until(std::int64_t time_ns) {
  while (told_to_leave == 0 && now_ns() < time_ns) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

int record(const std::filesystem::path& run, int rank, int ranks) {
  const auto info = store::read_run_info(run);
  if (!info) return fail_with(info.error());
  auto writer = store::TraceWriter::create(store::rank_file(run, rank), rank);
  if (!writer) return fail_with(writer.error());
  const synthetic::StepShape shape = synthetic::make_step_shape();
  constexpr std::uint64_t kSeed = 1;  // the same on all ranks, which meet in their collectives
  synthetic::SyntheticRank rows(shape, rank, ranks, kSeed);
  synthetic::StepSchedule schedule(shape, ranks, kSeed, info->start_ns);
  (*writer)->submit(rows.definitions());
  for (std::int64_t step = 0; step < info->settings.steps && told_to_leave == 0; ++step) {
    schedule.advance();
    const synthetic::RankStepTimes& times = schedule.of(rank);
    wait_until(times.end);
    model::Batch batch = rows.step(step, times);
    batch.heartbeat = model::Heartbeat{
        .rank = rank, .alive_ns = times.end, .progress_ns = times.end, .step = step};
    (*writer)->submit(std::move(batch));
  }
  const auto closed = (*writer)->close();
  return closed ? 0 : fail_with(closed.error());
}

}  // namespace

int main(int argc, char** argv) {
  signal(SIGXFSZ, SIG_IGN);
  const char* rank = std::getenv("RANK");
  const char* ranks = std::getenv("WORLD_SIZE");
  const char* launcher = std::getenv("SHARDLENS_LAUNCHER_PID");
  if (rank == nullptr || ranks == nullptr || launcher == nullptr) return 2;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != std::atoi(launcher)) return 3;
  signal(SIGTERM, [](int) { told_to_leave = 1; });
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::string_view(argv[i]) == "--run") {
      return record(argv[i + 1], std::atoi(rank), std::atoi(ranks));
    }
  }
  return 2;
}
