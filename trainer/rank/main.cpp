// The process of one rank: signals, environment, arguments, and its end.
#include <dlfcn.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "trace/base/spawn.h"
#include "trainer/rank/rank_main.h"

namespace {

// A signal handler reaches nothing else.
std::atomic<int> stop_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

void request_stop(int number) { stop_signal = number; }

void handle_signals() {
  struct sigaction stop = {};
  stop.sa_handler = request_stop;
  stop.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &stop, nullptr);
  sigaction(SIGINT, &stop, nullptr);
  // A full disk and a reader that left are errors to report, not reasons to die.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  // Where a parent ignores it, the system keeps no exit of the program that prepares texts.
  std::signal(SIGCHLD, SIG_DFL);
}

// LibTorch takes 0.3 s of processor time to take its tables of operators apart, for nothing. Where
// CUDA was used the process ends in the long way: Nsight and compute-sanitizer write what they have
// when it does.
void leave_at_once(int code) {
  if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) != nullptr) return;
  std::fflush(nullptr);
  std::_Exit(code);
}

}  // namespace

int main(int count, char** arguments) {
  handle_signals();
  shardlens::trace::base::allow_most_open_files();
  const auto lookup = [](const char* name) -> const char* { return std::getenv(name); };
  const int code = shardlens::trainer::rank::rank_main(
      std::vector<std::string>(arguments + 1, arguments + count), lookup, stop_signal);
  leave_at_once(code);
  return code;
}
