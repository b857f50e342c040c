#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "trace/analysis/steps/collective_calls.h"
#include "trace/base/saturated.h"

namespace shardlens::trace::analysis {
namespace {

// Collectives of ranks whose clocks are known to be wrong, by how much at which time.
class WrongClocks {
 public:
  using Clock = std::int64_t (*)(int rank, std::int64_t true_ns);
  explicit WrongClocks(Clock ahead) : ahead_(ahead) {}

  // `count` calls of the ranks, a millisecond apart, of 20 to 400 µs after the last rank has come.
  void meet(std::vector<int> ranks, int count, int group = 0) {
    for (int i = 0; i < count; ++i, now_ += 1'000'000) {
      std::int64_t latest = 0;
      std::map<int, std::int64_t> starts;
      for (const int rank : ranks) {
        starts[rank] = now_ + random(0, 200'000);
        latest = std::max(latest, starts[rank]);
      }
      for (const int rank : ranks) {
        const std::int64_t end = latest + random(20'000, 400'000);
        parts_.push_back({group, ranks.front(), i, model::CollectiveFunction::kAllReduce, rank, 0,
                          starts[rank] + ahead_(rank, starts[rank]), end + ahead_(rank, end)});
      }
    }
  }
  void add(const CollectivePart& part) { parts_.push_back(part); }

  HostClocks hosts(const std::vector<std::string>& hosts) const {
    std::vector<RankHost> ranks;
    for (const auto& name : hosts) ranks.push_back({static_cast<int>(ranks.size()), name});
    return CollectiveCalls(parts_).clocks(ranks);
  }
  std::vector<RankClock> clocks(const std::vector<std::string>& names) const {
    return hosts(names).ranks();
  }
  std::int64_t now() const { return now_; }

 private:
  std::int64_t random(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(engine_);
  }

  Clock ahead_;
  std::mt19937_64 engine_{7};
  std::int64_t now_ = 1'000'000'000;
  std::vector<CollectivePart> parts_;
};

constexpr std::int64_t kLongest = 620'000;  // of a call

TEST(RankClocks, HoldWhatIsTrueOfEachClock) {
  WrongClocks run([](int rank, std::int64_t) { return rank * std::int64_t{3'000'000}; });
  run.meet({0, 1, 2}, 500);
  const auto clocks = run.clocks({"", "", ""});
  ASSERT_EQ(clocks.size(), 3u);
  EXPECT_EQ(clocks[0].error_ns(), 0);
  for (const int rank : {1, 2}) {
    const RankClock& clock = clocks[static_cast<std::size_t>(rank)];
    EXPECT_LE(clock.least_ns, rank * 3'000'000);
    EXPECT_GE(clock.most_ns, rank * 3'000'000);
    EXPECT_LT(clock.most_ns - clock.least_ns, kLongest) << "narrower than most calls alone";
    EXPECT_EQ(clock.error_ns(), clock.most_ns);
  }
}

TEST(RankClocks, TheShortestCallsNarrowThemDown) {
  WrongClocks run([](int, std::int64_t) { return std::int64_t{0}; });
  run.meet({0, 1}, 64);
  const auto wide = run.clocks({"", ""})[1];
  // Both begin and end together.
  run.add({0, 0, 1'000, model::CollectiveFunction::kBarrier, 0, 0, run.now(), run.now() + 5'000});
  run.add({0, 0, 1'000, model::CollectiveFunction::kBarrier, 1, 0, run.now(), run.now() + 5'000});
  EXPECT_GT(wide.error_ns(), 5'000);
  // Of the stretch that it belongs to; the one before it stays as wide as it was.
  EXPECT_EQ(run.clocks({"", ""})[1].error_ns(), wide.error_ns());
  WrongClocks alone([](int, std::int64_t) { return std::int64_t{0}; });
  alone.meet({0, 1}, 20);
  alone.add(
      {0, 0, 1'000, model::CollectiveFunction::kBarrier, 0, 0, alone.now(), alone.now() + 5'000});
  alone.add(
      {0, 0, 1'000, model::CollectiveFunction::kBarrier, 1, 0, alone.now(), alone.now() + 5'000});
  EXPECT_EQ(alone.clocks({"", ""})[1].error_ns(), 5'000);
}

TEST(RankClocks, AClockThatDriftsOrIsSetStaysWithinItsError) {
  const auto ahead = [](int rank, std::int64_t true_ns) {
    const std::int64_t since = true_ns - 1'000'000'000;
    return rank == 0 ? 0 : since / 5'000 + (since > 1'000'000'000 ? 40'000'000 : 0);
  };
  WrongClocks run(ahead);
  run.meet({0, 1}, 2'000);
  const RankClock clock = run.clocks({"", ""})[1];
  for (std::int64_t time = 1'000'000'000; time < run.now(); time += 1'000'000) {
    EXPECT_LE(clock.least_ns, ahead(1, time));
    EXPECT_GE(clock.most_ns, ahead(1, time));
  }
  EXPECT_LT(clock.error_ns(), 41'500'000);
}

TEST(RankClocks, RanksOfOneHostHaveOneClock) {
  WrongClocks run([](int rank, std::int64_t) { return std::int64_t{rank < 2 ? 0 : 700'000}; });
  run.meet({0, 2}, 200);
  const HostClocks hosts = run.hosts({"node-1", "node-1", "node-2", "node-2"});
  const auto& clocks = hosts.ranks();
  EXPECT_EQ(clocks[1].error_ns(), 0);
  EXPECT_GE(clocks[2].most_ns, 700'000);
  EXPECT_EQ(clocks[3].most_ns, clocks[2].most_ns) << "it met nobody, its neighbour did";
  EXPECT_EQ(hosts.error_between_hosts(), clocks[2].error_ns());
  EXPECT_EQ(hosts.error_between_hosts(std::vector{0, 1}), -1);
}

TEST(RankClocks, RanksOfUnknownHostsMayHaveOneClockUnlessTheirCallsContradictIt) {
  WrongClocks near([](int rank, std::int64_t) { return std::int64_t{rank * 20'000}; });
  near.meet({0, 1}, 200);
  EXPECT_EQ(near.hosts({"", ""}).error_between_hosts(), -1);
  WrongClocks far([](int rank, std::int64_t) { return std::int64_t{rank < 2 ? 0 : 700'000}; });
  far.meet({0, 1, 2}, 200);
  const HostClocks hosts = far.hosts({"", "", ""});
  EXPECT_EQ(hosts.error_between_hosts(), hosts.ranks()[2].error_ns());
  EXPECT_EQ(hosts.error_between_hosts(std::vector{0, 1}), -1);
  EXPECT_TRUE(hosts.of_call(std::vector{0, 2}).are_contradicted);
  EXPECT_FALSE(hosts.of_call(std::vector{0, 1}).are_contradicted);
  EXPECT_FALSE(far.hosts({"a", "a", "a"}).of_call(std::vector{0, 2}).are_contradicted);
}

TEST(RankClocks, AreReachedOverOtherRanks) {
  WrongClocks run([](int rank, std::int64_t) { return rank * std::int64_t{1'000'000}; });
  run.meet({0, 1}, 100, 1);
  run.meet({1, 2}, 100, 2);
  const auto clocks = run.clocks({"", "", "", ""});
  EXPECT_LE(clocks[2].least_ns, 2'000'000);
  EXPECT_GE(clocks[2].most_ns, 2'000'000);
  EXPECT_GT(clocks[2].most_ns - clocks[2].least_ns, clocks[1].most_ns - clocks[1].least_ns);
  EXPECT_EQ(clocks[3].error_ns(), kUnknownClockError) << "met nobody";
}

// Hosts that meet in pairs, of which some may be connected to no other; their clocks are wrong by
// what is known here.
struct HostsInPairs {
  static constexpr int kHosts = 7;
  using Widths = std::array<std::array<std::int64_t, kHosts>, kHosts>;

  explicit HostsInPairs(unsigned seed) : engine(seed) {
    for (auto& ahead : ahead_ns) ahead = random(-50'000'000, 50'000'000);
    for (auto& row : widths) row.fill(kUnknownClockError);
    for (int host = 0; host < kHosts; ++host) {
      ranks.push_back({host, "host " + std::to_string(host)});
      widths[index(host)][index(host)] = 0;
    }
    for (int links = static_cast<int>(random(0, 9)); links > 0; --links) meet();
    // Floyd and Warshall: the least error of all ways.
    for (std::size_t over = 0; over < kHosts; ++over) {
      for (auto& from : widths) {
        for (std::size_t to = 0; to < kHosts; ++to) {
          from[to] = std::min(from[to], base::saturated_add(from[over], widths[over][to]));
        }
      }
    }
  }

  static std::size_t index(int host) { return static_cast<std::size_t>(host); }
  std::int64_t random(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(engine);
  }

  // One call of two hosts, which lasts for half of what it says of their clocks.
  void meet() {
    const int one = static_cast<int>(random(0, kHosts - 2));
    const int other = static_cast<int>(random(one + 1, kHosts - 1));
    if (widths[index(one)][index(other)] != kUnknownClockError) return;
    const std::int64_t start = random(0, 1'000'000'000), ns = random(1'000, 900'000);
    const auto part = [&](int host) {
      const std::int64_t ahead = ahead_ns[index(host)];
      return ClockMeetings::Part{host, start + ahead, start + ahead + ns};
    };
    meetings.add(model::CollectiveFunction::kAllReduce, part(one), part(other));
    widths[index(one)][index(other)] = widths[index(other)][index(one)] = 2 * ns;
  }

  std::mt19937_64 engine;
  std::array<std::int64_t, kHosts> ahead_ns{};
  Widths widths{};  // of what is known of a difference
  std::vector<RankHost> ranks;
  ClockMeetings meetings;
};

TEST(RankClocks, OfHostsThatMeetInPairsAreWhatTheBestWayTells) {
  int reached = 0, unknown = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const HostsInPairs hosts(seed);
    const HostClocks clocks = hosts.meetings.clocks(hosts.ranks);
    bool all_known = true;
    std::int64_t largest = 0;
    for (std::size_t a = 0; a < HostsInPairs::kHosts; ++a) {
      for (std::size_t b = a + 1; b < HostsInPairs::kHosts; ++b) {
        const std::vector<int> pair{static_cast<int>(a), static_cast<int>(b)};
        const std::int64_t error = clocks.error_between_hosts(pair);
        const std::int64_t width = hosts.widths[a][b];
        EXPECT_EQ(error == kUnknownClockError, width == kUnknownClockError) << a << " and " << b;
        all_known = all_known && error != kUnknownClockError;
        (error == kUnknownClockError ? unknown : reached) += 1;
        if (error == kUnknownClockError) continue;
        largest = std::max(largest, error);
        const std::int64_t apart = std::abs(hosts.ahead_ns[b] - hosts.ahead_ns[a]);
        EXPECT_GE(error, apart) << a << " and " << b;
        if (a > 0) continue;
        const RankClock& clock = clocks.ranks()[b];
        EXPECT_EQ(clock.most_ns - clock.least_ns, width) << "of host " << b;
        EXPECT_EQ(error, clock.error_ns());
      }
    }
    EXPECT_EQ(clocks.error_between_hosts(), all_known ? largest : kUnknownClockError);
  }
  EXPECT_GT(reached, 500);
  EXPECT_GT(unknown, 500);
}

TEST(RankClocks, WhatWaitsForNobodyTellsNothing) {
  WrongClocks run([](int, std::int64_t) { return std::int64_t{0}; });
  for (const auto function :
       {model::CollectiveFunction::kBroadcast, model::CollectiveFunction::kReduce}) {
    run.add({0, 0, 1, function, 0, 0, 1'000, 2'000});
    run.add({0, 0, 1, function, 1, 0, 9'000, 9'500});
  }
  run.add({0, 0, 2, model::CollectiveFunction::kAllReduce, 0, 0, 5'000,
           4'000});  // ended before it began
  run.add({0, 0, 2, model::CollectiveFunction::kAllReduce, 1, 0, 5'000, 6'000});
  EXPECT_EQ(run.clocks({"", ""})[1].error_ns(), kUnknownClockError);
  EXPECT_EQ(run.hosts({"a", "b"}).error_between_hosts(), kUnknownClockError);
  EXPECT_EQ(run.hosts({"a", "a"}).error_between_hosts(), -1);
  EXPECT_TRUE(CollectiveCalls().clocks({}).ranks().empty());
}

TEST(RankClocks, AbsurdTimesDoNotRunOver) {
  WrongClocks run([](int, std::int64_t) { return std::int64_t{0}; });
  run.add({0, 0, 1, model::CollectiveFunction::kAllReduce, 0, 0, INT64_MIN, INT64_MAX});
  run.add({0, 0, 1, model::CollectiveFunction::kAllReduce, 1, 0, INT64_MIN, INT64_MAX});
  EXPECT_EQ(run.clocks({"a", "b"})[1].error_ns(), kUnknownClockError);
  EXPECT_EQ(run.hosts({"a", "b"}).error_between_hosts(), kUnknownClockError);
}

}  // namespace
}  // namespace shardlens::trace::analysis
