#include "trace/interop/marks/call_groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace shardlens::trace::interop {
namespace {

using Function = model::CollectiveFunction;

// What a program does next, in the group of its rank that stands at this place.
struct Asked {
  int group = 0;
  std::int64_t elements = 1000;
  Function function = Function::kAllReduce;
};

// Four ranks as a mesh of two by two: all, columns, rows. Each waits in every call, computes before
// it for as long as `work_ns` says, and leaves it 50 µs after the last of the group came.
class Mesh {
 public:
  using Work = std::function<std::int64_t(int rank, std::size_t call)>;

  static std::vector<UnnamedCalls> record(const std::vector<Asked>& program, const Work& work_ns) {
    std::vector<UnnamedCalls> ranks;
    std::vector<std::int64_t> now(4, 0);
    for (int rank = 0; rank < 4; ++rank) {
      ranks.push_back({.rank = rank,
                       .groups = {{0, 1, 2, 3},
                                  {rank % 2, rank % 2 + 2},
                                  {rank - rank % 2, rank - rank % 2 + 1}},
                       .calls = {}});
    }
    for (std::size_t i = 0; i < program.size(); ++i) {
      const auto group = static_cast<std::size_t>(program[i].group);
      std::vector<std::int64_t> starts;
      for (int rank = 0; rank < 4; ++rank) {
        starts.push_back(now[static_cast<std::size_t>(rank)] + work_ns(rank, i));
      }
      for (UnnamedCalls& rank : ranks) {
        std::int64_t latest = 0;
        for (const int member : rank.groups[group]) {
          latest = std::max(latest, starts[static_cast<std::size_t>(member)]);
        }
        const auto own = static_cast<std::size_t>(rank.rank);
        // Two threads of each group's, whichever is free.
        const std::string thread = std::to_string(10 * group + (i + own) % 2);
        now[own] = latest + 50'000;
        rank.calls.push_back({.thread = thread,
                              .asked = program[i].function,
                              .executed = program[i].function,
                              .elements = program[i].elements,
                              .ranks = 0,
                              .start_ns = starts[own],
                              .end_ns = now[own],
                              .place = static_cast<std::int64_t>(i)});
      }
    }
    return ranks;
  }
  static std::int64_t uneven_ns(int rank, std::size_t call) {
    return 100'000 + 300'000 * ((7 * rank * rank + 5 * static_cast<int>(call) * (rank + 1)) % 13);
  }
};

std::vector<int> of_program(const std::vector<Asked>& program) {
  std::vector<int> groups;
  for (const Asked& each : program) groups.push_back(each.group);
  return groups;
}

std::vector<Asked> repeated(const std::vector<Asked>& step, int times) {
  std::vector<Asked> program;
  for (int i = 0; i < times; ++i) program.insert(program.end(), step.begin(), step.end());
  return program;
}

TEST(CallGroups, AreThoseInWhichAllCallsCanHaveMet) {
  for (const int group : {1, 2}) {
    const auto program = repeated({{.group = group}}, 12);
    for (const auto& groups : groups_of_calls(Mesh::record(program, Mesh::uneven_ns))) {
      EXPECT_EQ(groups, of_program(program));
    }
  }
}

TEST(CallGroups, OfSeveralAreToldByTheirThreads) {
  // Nothing tells when a broadcast's root leaves: its threads are those of no other group.
  const auto program = repeated({{.group = 1},
                                 {.group = 2, .elements = 30},
                                 {.group = 1, .elements = 500},
                                 {.group = 0, .elements = 30, .function = Function::kBroadcast},
                                 {.group = 2, .elements = 30}},
                                6);
  for (const auto& groups : groups_of_calls(Mesh::record(program, Mesh::uneven_ns))) {
    EXPECT_EQ(groups, of_program(program));
  }
}

TEST(CallGroups, AreNotKnownWhereOthersCouldHaveMetToo) {
  const std::vector<int> unknown(12, kNoGroup);
  const auto in_step = [](int, std::size_t) { return std::int64_t{10'000}; };
  for (const int group : {0, 1, 2}) {
    for (const auto& groups :
         groups_of_calls(Mesh::record(repeated({{.group = group}}, 12), in_step))) {
      EXPECT_EQ(groups, unknown) << group;
    }
  }
  // All of one group also met in each of its parts.
  for (const auto& groups :
       groups_of_calls(Mesh::record(repeated({{.group = 0}}, 12), Mesh::uneven_ns))) {
    EXPECT_EQ(groups, unknown);
  }
}

TEST(CallGroups, DoNotDependOnClocks) {
  const auto program = repeated({{.group = 1}}, 12);
  auto ranks = Mesh::record(program, Mesh::uneven_ns);
  for (UnnamedCall& call : ranks[2].calls) {
    call.start_ns += 5'000'000'000;
    call.end_ns += 5'000'000'000;
  }
  for (const auto& groups : groups_of_calls(ranks)) EXPECT_EQ(groups, of_program(program));
}

TEST(CallGroups, OfRanksThatDoDifferentThingsAreNotKnown) {
  auto ranks = Mesh::record(repeated({{.group = 1}}, 12), Mesh::uneven_ns);
  ranks[3].calls[5].elements = 7;
  for (const auto& groups : groups_of_calls(ranks)) {
    EXPECT_EQ(groups, std::vector<int>(12, kNoGroup));
  }
}

TEST(CallGroups, OfOneRankAloneAreToldByHowManyTakePart) {
  auto alone = std::vector{Mesh::record(repeated({{.group = 1}}, 4), Mesh::uneven_ns).front()};
  EXPECT_EQ(groups_of_calls(alone).front(), std::vector<int>(4, kNoGroup));
  alone[0].calls[1].ranks = 2;
  EXPECT_EQ(groups_of_calls(alone).front(), std::vector<int>(4, kNoGroup)) << "two groups fit";
  alone[0].calls[1].ranks = 4;
  EXPECT_EQ(groups_of_calls(alone).front()[1], 0);
}

TEST(CallGroups, TheOnlyOneIsTheirs) {
  auto ranks = Mesh::record(repeated({{.group = 1}}, 4), Mesh::uneven_ns);
  for (UnnamedCalls& rank : ranks) rank.groups.resize(1);
  for (const auto& groups : groups_of_calls(ranks)) EXPECT_EQ(groups, std::vector<int>(4, 0));
  for (UnnamedCalls& rank : ranks) rank.groups.clear();
  for (const auto& groups : groups_of_calls(ranks)) {
    EXPECT_EQ(groups, std::vector<int>(4, kNoGroup));
  }
}

}  // namespace
}  // namespace shardlens::trace::interop
