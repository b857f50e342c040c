#include "trainer/comm/connect_together.h"

#include <chrono>
#include <string>
#include <string_view>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <vector>

#include "trace/base/text.h"

namespace shardlens::trainer::comm {

namespace {

using StorePointer = c10::intrusive_ptr<c10d::Store>;

// A rank that has met all others, or has failed to, gets an answer of those that live soon.
constexpr std::chrono::seconds kAnswerTimeout{60};
// Waited for in parts: a process that is held still meanwhile (SIGSTOP) loses one of them, not all.
constexpr std::chrono::seconds kPart{1};

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

std::vector<std::string> keys_of(std::string_view what, int size) {
  std::vector<std::string> keys;
  for (int rank = 0; rank < size; ++rank) keys.push_back(std::string(what) + std::to_string(rank));
  return keys;
}

bool are_there(c10d::Store& store, const std::vector<std::string>& keys,
               std::chrono::seconds patience) {
  for (auto waited = kPart; waited <= patience; waited += kPart) {
    try {
      store.wait(keys, kPart);
      return true;
    } catch (const c10::Error&) {
      // Not yet.
    }
  }
  return false;
}

// Waits for all ranks. This rank's own problem tells more than what it made others say.
std::string shared_problem(c10d::Store& store, int rank, int size, const std::string& own) {
  const auto keys = keys_of("problem of rank ", size);
  store.set(keys[static_cast<std::size_t>(rank)],
            std::vector<std::uint8_t>(own.begin(), own.end()));
  TORCH_CHECK(are_there(store, keys, kAnswerTimeout),
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

void wait_for_all(c10d::Store& store, int rank, int size, std::chrono::seconds patience) {
  const auto keys = keys_of("here is rank ", size);
  store.set(keys[static_cast<std::size_t>(rank)], std::vector<std::uint8_t>{1});
  if (are_there(store, keys, patience)) return;
  std::vector<int> missing;
  for (int other = 0; other < size; ++other) {
    if (!store.check({keys[static_cast<std::size_t>(other)]})) missing.push_back(other);
  }
  TORCH_CHECK(missing.empty(), "waited ", patience.count(), " s for rank ",
              trace::base::joined(missing));
}

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
