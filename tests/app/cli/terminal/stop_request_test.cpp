#include "app/cli/terminal/stop_request.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "tests/files.h"

namespace shardlens::app::cli {
namespace {

using namespace std::chrono_literals;

// The exit status of a process that does `work` and gets SIGTERM once `ready` is there.
template <typename Work>
int status_after_signal(const std::filesystem::path& ready, Work work) {
  const pid_t process = fork();
  if (process == 0) {
    work();
    _exit(42);
  }
  while (!std::filesystem::exists(ready)) std::this_thread::sleep_for(5ms);
  kill(process, SIGTERM);
  int status = 0;
  waitpid(process, &status, 0);
  return status;
}

TEST(StopRequest, WorkThatAsksEndsByItself) {
  const trace::test::Folder folder;
  const auto ready = folder / "ready";
  const int status = status_after_signal(ready, [&] {
    StopRequest stop;
    std::ofstream(ready) << "now";
    while (!stop.is_made()) std::this_thread::sleep_for(1ms);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

TEST(StopRequest, WorkThatNeverAsksIsEndedAndWhatItHasHalfMadeGoes) {
  const trace::test::Folder folder;
  const auto ready = folder / "ready";
  const auto run = folder / "run";
  const auto file = folder / "packed.new";
  std::filesystem::create_directory(run);
  for (const auto& each : {run / "rank_0.sqlite", file, folder / "packed.new-wal"}) {
    std::ofstream(each) << "half";
  }
  const auto begin = std::chrono::steady_clock::now();
  const int status = status_after_signal(ready, [&] {
    StopRequest stop;
    stop.remove_if_ended(run);
    stop.remove_if_ended(file);
    std::ofstream(ready) << "now";
    std::this_thread::sleep_for(60s);
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_FALSE(std::filesystem::exists(run));
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_FALSE(std::filesystem::exists(folder / "packed.new-wal"));
}

TEST(StopRequest, WhatIsWholeStaysWhereWorkIsEnded) {
  const trace::test::Folder folder;
  const auto ready = folder / "ready";
  const auto run = folder / "run";
  std::filesystem::create_directory(run);
  const int status = status_after_signal(ready, [&] {
    StopRequest stop;
    stop.remove_if_ended(run);
    stop.keep_all();
    std::ofstream(ready) << "now";
    std::this_thread::sleep_for(60s);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_TRUE(std::filesystem::exists(run));
}

TEST(StopRequest, EndsAtOnceWithoutASignal) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) const StopRequest stop;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

}  // namespace
}  // namespace shardlens::app::cli
