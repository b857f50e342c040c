#include "trainer/comm/connect_together.h"

#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <vector>

namespace shardlens::trainer::comm {

namespace {

using StorePointer = c10::intrusive_ptr<c10d::Store>;

// A rank that has met all others, or has failed to, gets an answer of those that live soon.
constexpr std::chrono::milliseconds kAnswerTimeout{30'000};
// Waited for in parts: a process that is held still meanwhile (SIGSTOP) loses one of them, not all.
constexpr int kAnswerParts = 30;

// What went wrong; "": nothing.
std::string problem_of(const std::function<void(const StorePointer&)>& connect,
                       const StorePointer& store) {
  try {
    connect(store);
    return {};
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::string key_of(int rank) { return "problem of rank " + std::to_string(rank); }

bool have_all_answered(c10d::Store& store, const std::vector<std::string>& keys) {
  for (int part = 0; part < kAnswerParts; ++part) {
    try {
      store.wait(keys, kAnswerTimeout / kAnswerParts);
      return true;
    } catch (const c10::Error&) {
      // Not yet.
    }
  }
  return false;
}

// Waits for all ranks. This rank's own problem tells more than what it made others say.
std::string shared_problem(c10d::Store& store, int rank, int size, const std::string& own) {
  store.set(key_of(rank), std::vector<std::uint8_t>(own.begin(), own.end()));
  std::vector<std::string> keys;
  for (int other = 0; other < size; ++other) keys.push_back(key_of(other));
  TORCH_CHECK(have_all_answered(store, keys),
              own.empty() ? "not all ranks said whether they could connect." : own);
  std::string shared = own;
  for (const std::string& key : keys) {
    if (!shared.empty()) break;
    const std::vector<std::uint8_t> problem = store.get(key);
    shared.assign(problem.begin(), problem.end());
  }
  return shared;
}

}  // namespace

void connect_together(const StorePointer& store, int rank, int size,
                      const std::function<void(const StorePointer&)>& connect) {
  std::string problem;
  for (int attempt = 1; attempt <= kConnectAttempts; ++attempt) {
    const auto part =
        c10::make_intrusive<c10d::PrefixStore>("attempt " + std::to_string(attempt), store);
    problem = shared_problem(*part, rank, size, problem_of(connect, part));
    if (problem.empty()) return;
  }
  TORCH_CHECK(false, problem);
}

}  // namespace shardlens::trainer::comm
