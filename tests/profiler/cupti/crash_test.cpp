// What is in the file after a process that recorded has crashed.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "profiler/cupti/cupti_source.h"
#include "profiler/process/fatal_signals.h"
#include "tests/files.h"
#include "tests/profiler/cupti/activity_records.h"
#include "tests/profiler/cupti/fake_cupti.h"
#include "trace/store/read/run_reader.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::profiler::cupti {
namespace {

using namespace std::chrono_literals;

// CUPTI still holds the last kernels, and the recorder has a step that it has not written.
[[noreturn]] void record_and_crash(const std::filesystem::path& file) {
  recorder::RecorderOptions recording;
  recording.file = file;
  auto recorder = recorder::Recorder::start(std::move(recording));
  if (!recorder) _exit(1);
  FakeCupti cupti;
  const CuptiApi api = FakeCupti::api();
  CuptiOptions options;
  options.buffers = 2;
  options.api = &api;
  auto source = CuptiSource::start(**recorder, options);
  if (!source) _exit(2);
  const process::FatalSignals guard(
      [&](bool) {
        (*source)->flush(2s);
        static_cast<void>((*recorder)->stop());
      },
      5s);
  (*recorder)->begin_step(0);
  const std::int64_t now = recorder::Recorder::now_ns();
  for (std::uint32_t i = 0; i < 3; ++i)
    cupti.add(kernel_record(i, "_Z4gemmPf", now + i, now + i + 1));
  (*recorder)->end_step({});
  std::abort();
}

TEST(Crash, LosesNothingThatWasRecorded) {
  const trace::test::Folder parent;
  const auto run = parent / "run";
  trace::model::RunInfo info;
  info.name = "crashed";
  info.world_size = 1;
  info.device = "cpu";
  ASSERT_TRUE(trace::store::create_run_at(run, info));
  const pid_t child = fork();
  if (child == 0) record_and_crash(trace::store::rank_file(run, 0));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "exit code " << WEXITSTATUS(status);
  EXPECT_EQ(WTERMSIG(status), SIGABRT);

  auto reader = trace::store::RunReader::open(run);
  ASSERT_TRUE(reader) << reader.error().message;
  std::size_t steps = 0, kernels = 0;
  const auto all = trace::store::read_everything(**reader, [&](const trace::model::Batch& batch) {
    steps += batch.steps.size();
    for (const trace::model::EventRun& events : batch.events) kernels += events.events.size();
  });
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_TRUE(all->empty());
  EXPECT_EQ(steps, 1u);
  EXPECT_EQ(kernels, 3u);
  const auto wal = trace::store::rank_file(run, 0).string() + "-wal";
  EXPECT_FALSE(std::filesystem::exists(wal)) << "the file was closed in order";
}

}  // namespace
}  // namespace shardlens::profiler::cupti
