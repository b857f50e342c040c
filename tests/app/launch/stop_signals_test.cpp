#include "app/launch/stop_signals.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "trace/base/spawn.h"

namespace shardlens::app::launch {
namespace {

using namespace std::chrono_literals;

// What `work` answers in a process of its own, whose signals are nobody else's.
template <typename Work>
int answer_of(Work work) {
  const pid_t process = fork();
  if (process == 0) _exit(work());
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(StopSignals, TellWhichOneCame) {
  EXPECT_EQ(answer_of([] {
              signal(SIGHUP, SIG_DFL);
              StopSignals signals;
              raise(SIGHUP);
              const auto heard = signals.take(10s);
              return heard ? heard->number : 0;
            }),
            SIGHUP);
}

TEST(StopSignals, DoNotHearWhatNohupHasIgnored) {
  EXPECT_EQ(answer_of([] {
              signal(SIGHUP, SIG_IGN);
              StopSignals signals;
              raise(SIGHUP);
              return signals.take(0ms) ? 1 : 0;
            }),
            0);
}

// As systemd does with SendSIGHUP where a session ends.
TEST(StopSignals, TakeTwoKindsThatComeTogetherForOneWish) {
  EXPECT_EQ(answer_of([] {
              signal(SIGHUP, SIG_DFL);
              StopSignals signals;
              raise(SIGTERM);
              raise(SIGHUP);
              if (!signals.take(10s)) return 1;
              return signals.take(100ms) ? 2 : 0;
            }),
            0);
  EXPECT_EQ(answer_of([] {
              signal(SIGHUP, SIG_DFL);
              StopSignals signals;
              for (int i = 0; i < 2; ++i) {  // somebody insists
                raise(SIGTERM);
                if (!signals.take(10s)) return 1;
              }
              return 0;
            }),
            0);
}

// The exit code of a shell that sends itself SIGHUP; 255: that ended it.
int shell_that_is_hung_up_on() {
  std::vector<std::string> words{"sh", "-c", "kill -HUP $$; exit 7"}, variables;
  const trace::base::SpawnAttributes attributes(/*in_own_group=*/false);
  pid_t process = -1;
  posix_spawnp(&process, "sh", nullptr, attributes.get(), trace::base::pointers_to(words).data(),
               trace::base::pointers_to(variables).data());
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

TEST(SpawnAttributes, WhatNohupHasIgnoredStaysIgnoredInChildren) {
  EXPECT_EQ(answer_of([] {
              signal(SIGHUP, SIG_IGN);
              const StopSignals signals;
              return shell_that_is_hung_up_on();
            }),
            7);
  EXPECT_EQ(answer_of([] {
              signal(SIGHUP, SIG_DFL);
              const StopSignals signals;
              return shell_that_is_hung_up_on();
            }),
            255);
}

}  // namespace
}  // namespace shardlens::app::launch
