// A rank for the launcher's tests: does what its first argument says instead of training.
//   --behaviour=RANK:VERB[:WHEN],…  verbs: leave, fail, lose_peer, kill, stay, stay_deaf, exit, and
//   stop, signalled, lose_records, break_off: leaves and tells its outcome; train, train_deaf:
//   tells that it trains, and stays, or saves for a while once it is told to leave; save_long: the
//   same, but saves for two seconds and tells of each piece; begin: what a rank does before SIGTERM
//   tells it anything
// WHEN: so many milliseconds after all ranks have come, or "gone": once run.sqlite is.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>

#include "trace/model/rank_outcome.h"

namespace {

namespace fs = std::filesystem;

volatile sig_atomic_t told_to_leave = 0;

void stay_until_told() {
  for (int i = 0; i < 6000 && told_to_leave == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

template <typename Condition>
void wait_until(Condition condition) {
  while (!condition() && told_to_leave == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// As the first collective does: a machine may take its time to start a process.
void wait_for_all(const fs::path& run, int ranks) {
  for (int rank = 0; rank < ranks; ++rank) {
    const fs::path log = run / ("rank_" + std::to_string(rank) + ".log");
    wait_until([&] {
      std::error_code error;
      return fs::file_size(log, error) > 0 && !error;
    });
  }
}

void wait_for(const std::string& when, const fs::path& run) {
  if (when == "gone") {
    wait_until([&] { return !fs::exists(run / "run.sqlite"); });
  } else {
    std::this_thread::sleep_for(std::chrono::milliseconds(std::stoi(when)));
  }
}

int fail_with(const char* message) {
  std::fprintf(stderr, "error: %s\n", message);
  return 1;
}

void become_deaf() {
  signal(SIGTERM, SIG_IGN);
  std::puts("deaf");
  std::fflush(stdout);
}

int tell(const std::string& verb, int saved_pieces = 0) {
  shardlens::trace::model::RankOutcome outcome;
  outcome.steps = 3;
  outcome.steps_total = 10;
  outcome.saved_pieces = saved_pieces;
  outcome.finished = verb != "break_off" && verb != "train" && verb != "train_deaf";
  outcome.left_early = verb == "stop" || verb == "signalled";
  if (verb == "signalled") outcome.stop_signal = SIGTERM;
  if (verb == "lose_records") outcome.unwritten = {.steps = 2, .events = 4'000};
  outcome.set_recording_error("the disk is full");
  const char* descriptor = std::getenv(shardlens::trace::model::kOutcomeVariable);
  shardlens::trace::model::tell_outcome(descriptor != nullptr ? std::atoi(descriptor) : -1,
                                        outcome);
  return 0;
}

int behave(const std::string& verb) {
  if (verb == "stop" || verb == "signalled" || verb == "lose_records" || verb == "break_off") {
    return tell(verb);
  }
  if (verb == "train" || verb == "train_deaf" || verb == "save_long") {
    tell(verb == "save_long" ? "train" : verb);
    if (verb == "train_deaf") become_deaf();
    std::puts("trains");
    std::fflush(stdout);
    stay_until_told();
    const int pieces = verb == "save_long" ? 20 : 5;
    for (int piece = 1; piece <= pieces; ++piece) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      if (verb == "save_long") tell("train", piece);
    }
    return tell("stop");
  }
  if (verb == "leave") return 0;
  if (verb == "fail") return fail_with("the cause");
  if (verb == "lose_peer") return fail_with("gloo: Connection closed by peer [127.0.0.1]:4711");
  if (verb == "kill") raise(SIGKILL);
  if (verb == "exit") _exit(7);
  if (verb == "stay_deaf") become_deaf();
  if (verb == "begin") {
    signal(SIGTERM, SIG_DFL);
    std::puts("begins");
    std::fflush(stdout);
  }
  stay_until_told();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const char* rank = std::getenv("RANK");
  const char* launcher = std::getenv("SHARDLENS_LAUNCHER_PID");
  if (rank == nullptr || launcher == nullptr || argc < 2) return 2;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != std::atoi(launcher)) return 3;
  signal(SIGTERM, [](int) { told_to_leave = 1; });
  const char* ranks = std::getenv("WORLD_SIZE");
  std::printf("rank %s of %s\n", rank, ranks);
  std::fflush(stdout);
  const fs::path run = argv[argc - 1];  // the launcher's last words are --run FOLDER
  wait_for_all(run, std::atoi(ranks));
  std::istringstream behaviours(std::string(argv[1]).substr(std::string("--behaviour=").size()));
  for (std::string entry; std::getline(behaviours, entry, ',');) {
    std::istringstream parts(entry);
    std::string of, verb, when = "0";
    std::getline(parts, of, ':');
    std::getline(parts, verb, ':');
    std::getline(parts, when, ':');
    if (of != rank) continue;
    wait_for(when, run);
    return behave(verb);
  }
  stay_until_told();
  return 0;
}
