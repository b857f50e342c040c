#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <random>
#include <thread>

#include "tests/trace/store/testing/child_process.h"
#include "tests/trace/store/testing/store_fixture.h"
#include "trace/store/read/run_reader.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/write/batch_queue.h"
#include "trace/store/write/trace_writer.h"

namespace shardlens::trace::store {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::Folder;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Memory that a killed child leaves behind.
template <typename T>
class Shared {
 public:
  Shared()
      : value_(new (mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                         0)) T()) {}
  ~Shared() { munmap(value_, sizeof(T)); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  T* operator->() { return value_; }
  T& operator*() { return *value_; }

 private:
  T* value_;
};

struct Progress {
  static constexpr int kMost = 4096;
  std::atomic<std::int64_t> submitted{0};
  std::atomic<std::int64_t> time_ns[kMost]{};
};

// For how long all threads of a process were ready to run, but had no core
// (https://docs.kernel.org/scheduler/sched-stats.html).
std::int64_t waited_for_core_ns(pid_t process) {
  std::int64_t all = 0;
  std::error_code gone;
  const fs::path threads = "/proc/" + std::to_string(process) + "/task";
  for (const auto& thread : fs::directory_iterator(threads, gone)) {
    std::int64_t ran = 0, waited = 0;
    std::ifstream(thread.path() / "schedstat") >> ran >> waited;
    all += waited;
  }
  return all;
}

void write_until_killed(const fs::path& file, Progress& progress) {
  auto writer = TraceWriter::create(file, 0);
  if (!writer) return;
  for (int step = 0; step < Progress::kMost; ++step) {
    (*writer)->submit(test::step_batch(0, step));
    progress.time_ns[step] = now_ns();
    progress.submitted = step + 1;
    std::this_thread::sleep_for(2ms);
  }
}

TEST(KilledWriter, LosesAtMostTheLastMomentAndTheFileOpens) {
  const Folder folder;
  std::mt19937 random(1);
  for (int round = 0; round < 6; ++round) {
    model::RunInfo info = test::run_info("killed " + std::to_string(round), 1);
    const auto run = create_run(folder.path(), info, false);
    ASSERT_TRUE(run);
    Shared<Progress> progress;
    test::EndlessChild child([&] { write_until_killed(rank_file(*run, 0), *progress); });
    while (progress->submitted < 100) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 400'000));  // any moment
    const std::int64_t waited_ns = waited_for_core_ns(child.process());
    child.kill();

    auto reader = RunReader::open(*run);
    ASSERT_TRUE(reader) << reader.error().message;
    const auto batches = (*reader)->poll();
    ASSERT_TRUE(batches) << batches.error().message;
    ASSERT_EQ(batches->size(), 1u);
    const model::Batch& batch = batches->front();
    const auto submitted = progress->submitted.load();
    const auto kept = static_cast<std::int64_t>(batch.steps.size());
    ASSERT_GT(kept, 0);
    for (std::int64_t step = 0; step < kept; ++step) {
      ASSERT_EQ(batch.steps[static_cast<std::size_t>(step)].index, step);
    }
    EXPECT_EQ(batch.collectives.size(), static_cast<std::size_t>(3 * kept));
    EXPECT_EQ(count_events(batch), 40 * kept);
    // 250 ms and one commit interval, where the machine had time for it: while it stands still
    // nothing is submitted.
    const auto lost_ns = std::min((submitted - kept) * 2'000'000,
                                  progress->time_ns[submitted - 1] - progress->time_ns[kept - 1]);
    EXPECT_LE(lost_ns, 350'000'000 + waited_ns) << submitted << " submitted, " << kept << " kept";
  }
}

// ---- disk full

struct FileLimit {
  rlim_t bytes = 0;
  bool is_quota = false;
};

// As a quota is met: a write fails with an error of its own.
rlim_t quota_bytes = 0;
ssize_t write_within_quota(int file, const void* data, std::size_t size, off_t at) {
  if (static_cast<rlim_t>(at) + size <= quota_bytes) return pwrite(file, data, size, at);
  errno = EDQUOT;
  return -1;
}

bool limit_files(const FileLimit& limit) {
  if (!limit.is_quota) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit bytes{limit.bytes, limit.bytes};
    return setrlimit(RLIMIT_FSIZE, &bytes) == 0;
  }
  quota_bytes = limit.bytes;
  sqlite3_vfs* const system = sqlite3_vfs_find(nullptr);
  for (const char* name : {"pwrite", "pwrite64"}) {
    const auto call = reinterpret_cast<sqlite3_syscall_ptr>(write_within_quota);
    if (system->xSetSystemCall(system, name, call) != SQLITE_OK) return false;
  }
  return true;
}

std::string record_with_file_limit(const fs::path& file, const FileLimit& limit) {
  if (!limit_files(limit)) return "no limit";
  auto writer = TraceWriter::create(file, 0, {2ms, INT64_MAX, 64});
  if (!writer) return writer.error().message;
  int after_failure = 0;
  std::int64_t step = 0;
  for (; step < 20'000 && after_failure < 50; ++step) {
    (*writer)->submit(test::step_batch(0, step));
    if (!(*writer)->failure().empty()) ++after_failure;
    std::this_thread::sleep_for(1ms);
  }
  const auto closed = (*writer)->close();
  if (closed) return "close() told of no failure";
  if (closed.error().kind != base::ErrorKind::kDiskFull) return "kind: " + closed.error().message;
  if ((*writer)->lost() < 50 * 40) return "lost only " + std::to_string((*writer)->lost());
  return "as expected: " + std::to_string(step) + " steps, " + (*writer)->failure();
}

std::int64_t events_per_step() {
  const model::Batch batch = test::step_batch(0, 0);
  return count_events(batch) + static_cast<std::int64_t>(batch.collectives.size());
}

class FullDiskTest : public testing::TestWithParam<FileLimit> {};

TEST_P(FullDiskTest, StopsTheRecordingAndLeavesAReadableFile) {
  const Folder folder;
  model::RunInfo info = test::run_info("full", 1);
  const auto run = create_run(folder.path(), info, false);
  ASSERT_TRUE(run);
  const std::string answer =
      test::in_child([&] { return record_with_file_limit(rank_file(*run, 0), GetParam()); });
  EXPECT_TRUE(answer.starts_with("as expected: ")) << answer;
  EXPECT_NE(answer.find("rank_0.sqlite"), std::string::npos) << answer;
  EXPECT_NE(answer.find("disk is full"), std::string::npos) << answer;

  auto reader = RunReader::open(*run);
  ASSERT_TRUE(reader) << reader.error().message;
  std::vector<model::Batch> parts;
  const auto problems =
      read_everything(**reader, [&](const model::Batch& part) { parts.push_back(part); });
  ASSERT_TRUE(problems && problems->empty());
  const model::Batch batch = test::joined(parts, 0);
  // How many fit depends on how many a commit took.
  ASSERT_FALSE(batch.steps.empty());
  for (std::size_t i = 0; i < batch.steps.size(); ++i) {
    EXPECT_EQ(batch.steps[i].index, static_cast<std::int64_t>(i));
  }
  // The file itself says that it is incomplete.
  std::int64_t lost = 0;
  std::int64_t lost_steps = 0, lost_events = 0, without_time = 0;
  for (const model::Lost& row : batch.lost) {
    if (row.reason.starts_with("write failed")) lost += row.count;
    if (row.reason == "write failed: steps") lost_steps += row.count;
    if (row.reason == "write failed: events") lost_events += row.count;
    // Where the machine has no time for the writer.
    if (row.reason == "writer queue full") without_time += row.count;
  }
  EXPECT_GT(lost, lost_steps + lost_events) << "phases, too";
  // To the last one: what was handed over is in the file, or counted in it.
  const std::int64_t handed_over = std::stoll(answer.substr(std::string("as expected: ").size()));
  EXPECT_EQ(static_cast<std::int64_t>(batch.steps.size()) + lost_steps, handed_over);
  EXPECT_EQ(count_events(batch) + static_cast<std::int64_t>(batch.collectives.size()) +
                lost_events + without_time,
            handed_over * events_per_step());
  const auto told = std::find_if(
      batch.log.begin(), batch.log.end(),
      [](const model::LogLine& line) { return line.text.starts_with("recording stopped"); });
  EXPECT_NE(told, batch.log.end());
}

INSTANTIATE_TEST_SUITE_P(Limits, FullDiskTest,
                         testing::Values(FileLimit{250'000}, FileLimit{4'200'000},
                                         FileLimit{1'000'000, true}),
                         [](const auto& of) {
                           return (of.param.is_quota ? "Quota" : "Files") +
                                  std::to_string(of.param.bytes);
                         });

TEST(FullDisk, IsToldWhenTheFileCannotEvenBeCreated) {
  const Folder folder;
  const std::string answer =
      test::in_child([&] { return record_with_file_limit(folder / "rank_0.sqlite", {10'000}); });
  EXPECT_NE(answer.find("disk is full"), std::string::npos) << answer;
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace shardlens::trace::store
