#include "trainer/comm/rendezvous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <vector>

namespace shardlens::trainer::comm {
namespace {

using testing::HasSubstr;
using StorePointer = c10::intrusive_ptr<c10d::Store>;

constexpr int kRanks = 3;

struct Attempts {
  std::array<int, kRanks> begun{};
  std::array<std::string, kRanks> errors;
};

// Ranks as threads; `fails` says which attempt, from 1, fails on which rank.
template <typename Fails>
Attempts connect_with(const Fails& fails) {
  const StorePointer store = c10::make_intrusive<c10d::HashStore>();
  store->setTimeout(std::chrono::seconds(20));
  Attempts attempts;
  std::vector<std::jthread> ranks;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    ranks.emplace_back([&, rank] {
      try {
        connect_together(store, static_cast<int>(rank), kRanks, [&](const StorePointer& part) {
          const int attempt = ++attempts.begun[rank];
          // As Gloo does: ranks write their addresses under names that attempts would share.
          const std::string key = "address " + std::to_string(rank);
          TORCH_CHECK(part->add(key, 1) == 1, "this attempt sees an earlier one");
          TORCH_CHECK(!fails(static_cast<int>(rank), attempt), "rank ", rank,
                      " was refused in attempt ", attempt);
        });
      } catch (const c10::Error& error) {
        attempts.errors[rank] = error.what_without_backtrace();
      }
    });
  }
  ranks.clear();
  return attempts;
}

TEST(ConnectTogether, DoesItOnceWhenItSucceeds) {
  const Attempts attempts = connect_with([](int, int) { return false; });
  EXPECT_THAT(attempts.begun, testing::Each(1));
  EXPECT_THAT(attempts.errors, testing::Each(""));
}

TEST(ConnectTogether, AllRanksTryAgainWhenOneFailed) {
  const Attempts attempts =
      connect_with([](int rank, int attempt) { return rank == 2 && attempt == 1; });
  EXPECT_THAT(attempts.begun, testing::Each(2));
  EXPECT_THAT(attempts.errors, testing::Each(""));
}

TEST(ConnectTogether, GivesUpOnEveryRankWithTheReason) {
  const Attempts attempts = connect_with([](int rank, int) { return rank == 1; });
  EXPECT_THAT(attempts.begun, testing::Each(kConnectAttempts));
  EXPECT_THAT(attempts.errors, testing::Each(HasSubstr("rank 1 was refused in attempt " +
                                                       std::to_string(kConnectAttempts))));
}

TEST(WaitForAll, EndsWhenAllAreThere) {
  c10d::HashStore store;
  std::vector<std::jthread> ranks;
  for (int rank = 0; rank < kRanks; ++rank) {
    ranks.emplace_back([&, rank] { wait_for_all(store, rank, kRanks, std::chrono::seconds(20)); });
  }
}

TEST(WaitForAll, NamesWhoDidNotCome) {
  c10d::HashStore store;
  try {
    wait_for_all(store, 1, 4, std::chrono::seconds(1));
    FAIL() << "nobody else was there";
  } catch (const c10::Error& error) {
    EXPECT_THAT(error.what_without_backtrace(), HasSubstr("waited 1 s for rank 0, 2, 3"));
  }
}

TEST(WaitForAll, WaitsOnWhileOneSaysThatItIsPreparing) {
  c10d::HashStore store;
  constexpr std::chrono::seconds kPatience{2};
  std::jthread late([&] {
    for (int i = 0; i < 50; ++i) {
      tell_preparing(store);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    EXPECT_NO_THROW(wait_for_all(store, 1, 2, kPatience));
  });
  EXPECT_NO_THROW(wait_for_all(store, 0, 2, kPatience));
}

TEST(WaitForAll, WaitsNoLongerForOneThatHasToldItOnce) {
  c10d::HashStore store;
  tell_preparing(store);
  EXPECT_THROW(wait_for_all(store, 0, 2, std::chrono::seconds(1)), c10::Error);
}

TEST(Meet, GivesUpOnARankThatIsNotThereWhenPatienceIsOver) {
  MeetingPlace place;
  place.rank = 1;
  place.world_size = 2;
  place.master_address = "127.0.0.1";
  place.master_port = 1;  // where nobody listens
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_THROW(meet(place, std::chrono::seconds(1)), c10::Error);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, kConnectTimeout / 4);
}

}  // namespace
}  // namespace shardlens::trainer::comm
