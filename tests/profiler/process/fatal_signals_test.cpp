#include "profiler/process/fatal_signals.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

namespace shardlens::profiler::process {
namespace {

using namespace std::chrono_literals;

struct Ending {
  int status = 0;
  std::string said;
  std::chrono::milliseconds took{0};
};

// In a process of its own, which may write to `out` and dies of what it does.
Ending end_of(const std::function<void(int out)>& child) {
  std::array<int, 2> pipe_ends{};
  EXPECT_EQ(pipe(pipe_ends.data()), 0);
  const auto start = std::chrono::steady_clock::now();
  const pid_t pid = fork();
  if (pid == 0) {
    close(pipe_ends[0]);
    // As in a program without a sanitizer.
    for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
      ::signal(signal, SIG_DFL);
    }
    child(pipe_ends[1]);
    _exit(0);
  }
  close(pipe_ends[1]);
  Ending ending;
  std::array<char, 64> text{};
  ssize_t count = 0;
  while ((count = read(pipe_ends[0], text.data(), text.size())) > 0)
    ending.said.append(text.data(), static_cast<std::size_t>(count));
  close(pipe_ends[0]);
  waitpid(pid, &ending.status, 0);
  ending.took = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - start);
  return ending;
}

void say(int out, std::string_view text) {
  EXPECT_EQ(write(out, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

TEST(FatalSignals, RescuesBeforeTheProcessDiesOfWhatHitIt) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTERM, SIGINT, SIGHUP}) {
    const Ending ending = end_of([signal](int out) {
      FatalSignals guard([out](bool) { say(out, "rescued"); }, 5s);
      raise(signal);
    });
    EXPECT_EQ(ending.said, "rescued") << signal;
    ASSERT_TRUE(WIFSIGNALED(ending.status)) << signal;
    EXPECT_EQ(WTERMSIG(ending.status), signal);
    EXPECT_LT(ending.took, 4s);
  }
}

TEST(FatalSignals, RescuesAfterARealFaultInAnotherThread) {
  const Ending ending = end_of([](int out) {
    FatalSignals guard([out](bool) { say(out, "rescued"); }, 5s);
    std::thread([] {
      volatile int* nowhere = nullptr;
      *nowhere = 1;
    }).join();
  });
  EXPECT_EQ(ending.said, "rescued");
  ASSERT_TRUE(WIFSIGNALED(ending.status));
  EXPECT_EQ(WTERMSIG(ending.status), SIGSEGV);
}

TEST(FatalSignals, DiesAllTheSameIfTheRescueHangs) {
  const Ending ending = end_of([](int) {
    FatalSignals guard([](bool) { std::this_thread::sleep_for(1h); }, 200ms);
    std::abort();
  });
  ASSERT_TRUE(WIFSIGNALED(ending.status));
  EXPECT_EQ(WTERMSIG(ending.status), SIGABRT);
  EXPECT_LT(ending.took, 5s);
  EXPECT_GE(ending.took, 200ms);
}

TEST(FatalSignals, ADeathInTheRescueIsNotRescuedAgain) {
  const Ending ending = end_of([](int out) {
    FatalSignals guard(
        [out](bool) {
          say(out, "once");
          std::abort();
        },
        300ms);
    raise(SIGTERM);
  });
  EXPECT_EQ(ending.said, "once");
  EXPECT_TRUE(WIFSIGNALED(ending.status));
  EXPECT_LT(ending.took, 5s);
}

TEST(FatalSignals, LeavesAloneWhatTheProgramHandlesOrIgnores) {
  static volatile sig_atomic_t handled = 0;
  const Ending ending = end_of([](int out) {
    struct sigaction own = {};
    own.sa_handler = [](int) { handled = 1; };
    sigaction(SIGTERM, &own, nullptr);
    signal(SIGINT, SIG_IGN);
    FatalSignals guard([out](bool) { say(out, "rescued"); }, 5s);
    raise(SIGTERM);
    raise(SIGINT);
    say(out, handled != 0 ? "handled" : "not handled");
  });
  EXPECT_EQ(ending.said, "handled");
  EXPECT_TRUE(WIFEXITED(ending.status));
}

TEST(FatalSignals, CallsAFaultHandlerOfTheProgramAfterwards) {
  static int pipe_end = -1;
  const Ending ending = end_of([](int out) {
    pipe_end = out;
    struct sigaction own = {};
    own.sa_handler = [](int) {
      say(pipe_end, ", reported");
      _exit(3);
    };
    sigaction(SIGSEGV, &own, nullptr);
    FatalSignals guard([out](bool) { say(out, "rescued"); }, 5s);
    raise(SIGSEGV);
  });
  EXPECT_EQ(ending.said, "rescued, reported");
  ASSERT_TRUE(WIFEXITED(ending.status));
  EXPECT_EQ(WEXITSTATUS(ending.status), 3);
}

// As programs do that grow a stack or collect garbage: the fault is part of how they work.
TEST(FatalSignals, AFaultThatTheProgramMendsIsSeenAsItHappenedAndIsNotTheEnd) {
  static int pipe_end = -1;
  static char* page = nullptr;
  const Ending ending = end_of([](int out) {
    pipe_end = out;
    const auto bytes = static_cast<std::size_t>(getpagesize());
    page = static_cast<char*>(mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    struct sigaction own = {};
    own.sa_flags = SA_SIGINFO;
    own.sa_sigaction = [](int, siginfo_t* info, void*) {
      const bool is_true = info->si_code == SEGV_ACCERR && info->si_addr == page + 7;
      say(pipe_end, is_true ? "the true cause, " : "another cause, ");
      mprotect(page, static_cast<std::size_t>(getpagesize()), PROT_READ | PROT_WRITE);
    };
    sigaction(SIGSEGV, &own, nullptr);
    FatalSignals guard([out](bool is_last) { say(out, is_last ? "ended" : "flushed, "); }, 5s);
    static_cast<volatile char*>(page)[7] = 1;
    say(out, "goes on, ");
    raise(SIGTERM);
  });
  EXPECT_EQ(ending.said, "flushed, the true cause, goes on, ended");
  ASSERT_TRUE(WIFSIGNALED(ending.status));
  EXPECT_EQ(WTERMSIG(ending.status), SIGTERM);
}

// As Python's faulthandler.
TEST(FatalSignals, AHandlerThatReportsAndGivesTheSignalBackEndsTheProcessByIt) {
  static int pipe_end = -1;
  const Ending ending = end_of([](int out) {
    pipe_end = out;
    struct sigaction own = {};
    own.sa_handler = [](int signal) {
      say(pipe_end, ", reported");
      ::signal(signal, SIG_DFL);
      raise(signal);
    };
    sigaction(SIGSEGV, &own, nullptr);
    FatalSignals guard([out](bool) { say(out, "rescued"); }, 5s);
    volatile int* nowhere = nullptr;
    *nowhere = 1;
  });
  EXPECT_EQ(ending.said, "rescued, reported");
  ASSERT_TRUE(WIFSIGNALED(ending.status));
  EXPECT_EQ(WTERMSIG(ending.status), SIGSEGV);
}

TEST(FatalSignals, DoesNotHoldUpForkedChildren) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer delivers no signal in a child of a process with threads";
#endif
  const Ending ending = end_of([](int out) {
    FatalSignals guard([out](bool) { say(out, "rescued"); }, 10s);
    const Ending child = end_of([](int) { raise(SIGTERM); });
    say(out, WIFSIGNALED(child.status) && child.took < 5s ? "at once" : "late");
  });
  EXPECT_EQ(ending.said, "at once");
}

TEST(FatalSignals, RestoresWhatWasThereBefore) {
  const Ending ending = end_of([](int out) {
    {
      FatalSignals guard([out](bool) { say(out, "rescued"); }, 5s);
    }
    struct sigaction now = {};
    sigaction(SIGSEGV, nullptr, &now);
    say(out, now.sa_handler == SIG_DFL ? "default" : "not restored");
  });
  EXPECT_EQ(ending.said, "default");
}

}  // namespace
}  // namespace shardlens::profiler::process
