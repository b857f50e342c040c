#include "tests/fake_gpu/nccl/rendezvous.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "tests/fake_gpu/cuda/memory.h"

namespace shardlens::fake_gpu {
namespace {

constexpr std::chrono::seconds kPatience{60};
constexpr std::chrono::microseconds kPoll{100};
// A rank is one collective ahead of another at most: it waits for all others in each.
constexpr std::uint64_t kRing = 4;
constexpr int kLeft = 0;  // instead of a process; also before it has come

template <typename Done>
bool wait_until(Done done) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(kPoll);
  }
  return true;
}

// Also where nobody has asked for its exit code yet: no command line is left then.
bool has_ended(int process) {
  if (process == kLeft) return false;
  std::ifstream command("/proc/" + std::to_string(process) + "/cmdline");
  return command.peek() == std::ifstream::traits_type::eof();
}

// One rank's word on one collective or exchange.
struct Word {
  std::atomic<std::uint64_t> number;  // counted from 1; 0: nothing yet
  std::atomic<std::uint64_t> value;
  std::atomic<std::int64_t> arrived_ns;

  bool is_said(std::uint64_t wanted) const {
    return number.load(std::memory_order_acquire) >= wanted;
  }
  void say(std::uint64_t new_number, std::uint64_t new_value, std::int64_t new_arrived_ns) {
    value = new_value;
    arrived_ns = new_arrived_ns;
    number.store(new_number, std::memory_order_release);
  }
};

struct RankWords {
  std::atomic<int> process;
  Word collectives[kRing];
  Word exchanges[kRing];
  std::byte payloads[kRing][kMostKnownBytes];
};

}  // namespace

struct SharedPage {
  RankWords ranks[Rendezvous::kMostRanks];
};

// The stream of this rank arrives; it goes on when those of all others have.
class Rendezvous::Arrival final : public Gate {
 public:
  Arrival(std::shared_ptr<Rendezvous> at, std::uint64_t number, std::uint64_t kind,
          std::function<std::vector<std::byte>()> payload)
      : at_(std::move(at)), number_(number), kind_(kind), payload_(std::move(payload)) {}

  std::int64_t passed_ns(std::int64_t arrived_ns) override {
    if (at_->is_aborted_) return arrived_ns;
    say(at_->page_->ranks[at_->rank_], arrived_ns);
    std::int64_t last_ns = arrived_ns;
    for (int rank = 0; rank < at_->ranks_; ++rank) {
      const Word& word = at_->page_->ranks[rank].collectives[number_ % kRing];
      if (!word.is_said(number_) || word.value != kind_) return -1;
      last_ns = std::max(last_ns, word.arrived_ns.load());
    }
    return last_ns;
  }

 private:
  void say(RankWords& own, std::int64_t arrived_ns) const {
    Word& word = own.collectives[number_ % kRing];
    if (word.is_said(number_)) return;
    std::ranges::copy(payload_(), own.payloads[number_ % kRing]);
    word.say(number_, kind_, arrived_ns);
  }

  std::shared_ptr<Rendezvous> at_;
  std::uint64_t number_;
  std::uint64_t kind_;
  std::function<std::vector<std::byte>()> payload_;
};

Rendezvous::Rendezvous(std::uint64_t id, int ranks, int rank, SharedPage* page)
    : id_(id), ranks_(ranks), rank_(rank), page_(page) {}

Rendezvous::~Rendezvous() { munmap(page_, sizeof(SharedPage)); }

std::shared_ptr<Rendezvous> Rendezvous::join(std::uint64_t id, int ranks, int rank) {
  if (ranks > kMostRanks) return nullptr;
  char path[64];
  std::snprintf(path, sizeof path, "/fake_gpu_%016llx", static_cast<unsigned long long>(id));
  const int file = shm_open(path, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(SharedPage)) != 0) return nullptr;
  void* mapped = mmap(nullptr, sizeof(SharedPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (mapped == MAP_FAILED) return nullptr;
  auto* page = static_cast<SharedPage*>(mapped);
  page->ranks[rank].process = getpid();
  std::shared_ptr<Rendezvous> joined(new Rendezvous(id, ranks, rank, page));
  const bool all_have_come = !joined->exchange(0).empty();
  // All have it, or somebody never will: whatever becomes of them, nothing is left behind.
  if (rank == 0 || !all_have_come) shm_unlink(path);
  return all_have_come ? joined : nullptr;
}

Rendezvous::Entered Rendezvous::enter(std::uint64_t kind,
                                      std::function<std::vector<std::byte>()> payload) {
  const std::uint64_t number = ++entered_;
  return {number, std::make_shared<Arrival>(shared_from_this(), number, kind, std::move(payload))};
}

const std::byte* Rendezvous::payload_of(std::uint64_t number, int rank) const {
  return page_->ranks[rank].payloads[number % kRing];
}

std::vector<std::uint64_t> Rendezvous::exchange(std::uint64_t value) {
  const std::uint64_t number = ++exchanged_;
  page_->ranks[rank_].exchanges[number % kRing].say(number, value, 0);
  std::vector<std::uint64_t> values;
  for (int rank = 0; rank < ranks_; ++rank) {
    const Word& word = page_->ranks[rank].exchanges[number % kRing];
    if (!wait_until([&] { return word.is_said(number); })) return {};
    values.push_back(word.value);
  }
  return values;
}

void Rendezvous::leave() { page_->ranks[rank_].process = kLeft; }

bool Rendezvous::has_lost_a_rank() const {
  return std::any_of(page_->ranks, page_->ranks + ranks_,
                     [](const RankWords& rank) { return has_ended(rank.process); });
}

}  // namespace shardlens::fake_gpu
