#include "trainer/comm/rendezvous.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <utility>
#include <vector>

#include "trace/base/text.h"

namespace shardlens::trainer::comm {

namespace {

using StorePointer = c10::intrusive_ptr<c10d::Store>;

// A rank that has met all others, or has failed to, gets an answer of those that live soon.
constexpr std::chrono::seconds kAnswerTimeout{60};
constexpr std::chrono::microseconds kFirstLook{1'000}, kLastLook{50'000};
constexpr std::chrono::seconds kFarewell{2};
constexpr const char* kPreparing = "preparing";

StorePointer tcp_store(const MeetingPlace& place, std::chrono::seconds patience) {
  c10d::TCPStoreOptions tcp;
  tcp.port = static_cast<std::uint16_t>(place.master_port);
  tcp.isServer = place.rank == 0 && !place.agent_store;
  tcp.numWorkers = static_cast<std::size_t>(place.world_size);
  // The agent's store counts its own workers; ours meet when the process group connects.
  tcp.waitWorkers = false;
  tcp.timeout = patience;
  return c10::make_intrusive<c10d::TCPStore>(place.master_address, tcp);
}

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

std::string key_of(const std::string& what, int rank) {
  return what + " of rank " + std::to_string(rank);
}

std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }
std::string text_of(const std::vector<std::uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

// "0, 2": who has not told `what`.
std::string missing_ranks(c10d::Store& store, const std::string& what, int size) {
  std::vector<int> missing;
  for (int rank = 0; rank < size; ++rank) {
    if (!store.check({key_of(what, rank)})) missing.push_back(rank);
  }
  return trace::base::joined(missing);
}

// Tells the others `what` of this rank, and waits until all have told it, or one has lost patience;
// says to all alike which ranks were missing then, "" if none. Looks instead of waiting in the
// store, which would log each second of it, and counts the time between looks: a process that is
// held still meanwhile (SIGSTOP) loses none. Whoever prepares gives new patience.
std::string exchange(c10d::Store& store, const std::string& what, int rank, int size,
                     const std::string& own, std::chrono::microseconds patience) {
  store.set(key_of(what, rank), bytes_of(own));
  // One key to look for, however many ranks there are.
  const std::string missing = "without " + what;
  if (store.add(what + " count", 1) == size) store.set(missing, bytes_of(""));
  std::int64_t told = store.add(kPreparing, 0);
  auto left = patience;
  for (auto look = kFirstLook; !store.check({missing}); look = std::min(look * 2, kLastLook)) {
    if (left <= look) {
      const std::int64_t before = std::exchange(told, store.add(kPreparing, 0));
      if (told == before) store.set(missing, bytes_of(missing_ranks(store, what, size)));
      left = patience;
    }
    std::this_thread::sleep_for(look);
    left -= look;
  }
  return text_of(store.get(missing));
}

// Waits for all ranks. This rank's own problem tells more than what it made others say.
std::string shared_problem(c10d::Store& store, int rank, int size, const std::string& own) {
  const std::string what = "problem";
  const std::string silent = exchange(store, what, rank, size, own, kAnswerTimeout);
  std::string shared = own;
  for (int other = 0; other < size && shared.empty() && silent.empty(); ++other) {
    shared = text_of(store.get(key_of(what, other)));
  }
  if (!shared.empty() || silent.empty()) return shared;
  return "rank " + silent + " did not say whether it could connect.";
}

// Throws it, but not before the others know: with this process the store may end.
[[noreturn]] void leave_with(const std::string& problem, c10d::Store& store, int rank, int size) {
  try {
    exchange(store, "farewell", rank, size, "", kFarewell);
  } catch (const c10::Error&) {
    // It has ended already.
  }
  TORCH_CHECK(false, problem);
}

}  // namespace

StorePointer meet(const MeetingPlace& place, std::chrono::seconds patience) {
  StorePointer store;
  if (place.store_file.empty()) {
    store = tcp_store(place, patience);
  } else {
    // FileStore would try again for minutes.
    const auto folder = std::filesystem::path(place.store_file).parent_path();
    TORCH_CHECK(std::filesystem::is_directory(folder), "there is no folder ", folder.string(), ".");
    store = c10::make_intrusive<c10d::FileStore>(place.store_file, place.world_size);
  }
  store->setTimeout(kConnectTimeout);
  return c10::make_intrusive<c10d::PrefixStore>("shardlens" + place.store_prefix, store);
}

void tell_preparing(c10d::Store& store) { store.add(kPreparing, 1); }

void wait_for_all(c10d::Store& store, int rank, int size, std::chrono::seconds patience) {
  const std::string missing = exchange(store, "arrival", rank, size, "", patience);
  if (missing.empty()) return;
  const std::string waited = std::to_string(patience.count());
  leave_with("waited " + waited + " s for rank " + missing, store, rank, size);
}

void connect_together(const StorePointer& store, int rank, int size,
                      const std::function<void(const StorePointer&)>& connect) {
  for (int attempt = 1;; ++attempt) {
    const auto part =
        c10::make_intrusive<c10d::PrefixStore>("attempt " + std::to_string(attempt), store);
    const std::string problem = shared_problem(*part, rank, size, problem_of(connect, part));
    if (problem.empty()) return;
    if (attempt == kConnectAttempts) leave_with(problem, *part, rank, size);
  }
}

}  // namespace shardlens::trainer::comm
