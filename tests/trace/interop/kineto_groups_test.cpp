#include "trace/interop/kineto_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/trace/interop/kineto_traces.h"

namespace shardlens::trace::interop {
namespace {

struct ListedGroup {
  std::string name, description, backends;
  std::vector<int> ranks;
};

std::string info_of(int rank, int world_size, const std::vector<ListedGroup>& groups) {
  std::string list;
  for (const ListedGroup& group : groups) {
    std::string ranks;
    for (const int each : group.ranks) ranks += (ranks.empty() ? "" : ",") + std::to_string(each);
    list += std::string(list.empty() ? "" : ",") + "{\"pg_name\":\"" + group.name +
            "\",\"pg_desc\":\"" + group.description + "\",\"backend_config\":\"" + group.backends +
            "\",\"ranks\":[" + ranks + "]}";
  }
  return "\"backend\":\"cpu:gloo,cuda:nccl\",\"rank\":" + std::to_string(rank) +
         ",\"world_size\":" + std::to_string(world_size) +
         (groups.empty() ? "" : ",\"pg_config\":[" + list + "]");
}

// `group`: what it names; "" as before PyTorch 2.4.
std::string reduction_on_gpu(double start_us, const std::string& group,
                             const std::string& more = "") {
  const std::string named =
      (group.empty() ? "" : ",\"Process Group Name\":\"" + group + "\"") + more;
  return complete("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "20", start_us, 5,
                  "\"device\":0,\"stream\":20,\"Collective name\":\"allreduce\",\"In msg nelems\":"
                  "1000,\"dtype\":\"Float\"" +
                      named);
}

std::string reduction_on_host(double start_us) {
  return complete("user_annotation", "gloo:all_reduce", "88", start_us, 30,
                  "\"Input Dims\":[[10]],\"Input type\":[\"float\"]");
}

class KinetoGroupsTest : public KinetoImport {
 protected:
  // By rank, title and backend of a group: the numbers of its calls.
  using Calls = std::map<std::string, std::vector<std::int64_t>>;
  static std::vector<Calls> calls_of(const Run& run) {
    std::vector<Calls> ranks(run.figures.ranks.size());
    for (const model::Batch& batch : run.batches) {
      for (const model::Collective& row : batch.collectives) {
        auto& calls = ranks.at(static_cast<std::size_t>(row.rank));
        calls[title_of_group(run, row.rank, row.process_group)].push_back(row.sequence);
      }
    }
    return ranks;
  }
  static std::string title_of_group(const Run& run, int rank, int id) {
    for (const model::Batch& batch : run.batches) {
      for (const model::ProcessGroup& group : batch.process_groups) {
        if (group.rank != rank || group.id != id) continue;
        return std::string(run.strings.get(rank, group.name)) + ", " +
               std::string(run.strings.get(rank, group.backend));
      }
    }
    return "not known";
  }
  static std::int64_t matched_in(const Run& run) {
    const auto& all = run.figures.collectives;
    return std::accumulate(all.begin(), all.end(), std::int64_t{0},
                           [](std::int64_t sum, const auto& each) { return sum + each.matched; });
  }
};

// A mesh of two by two behind a group of which ranks 1 and 3 are no members.
std::vector<ListedGroup> groups_of_mesh(int rank) {
  const int column = rank % 2, row = rank / 2;
  std::vector<ListedGroup> groups{{"0", "default_pg", "cuda:nccl", {0, 1, 2, 3}}};
  if (column == 0) groups.push_back({"1", "leaders", "cuda:nccl", {0, 2}});
  groups.push_back(
      {std::to_string(2 + column), "mesh_replicate", "cuda:nccl", {column, column + 2}});
  groups.push_back({std::to_string(4 + row), "mesh_shard", "cuda:nccl", {2 * row, 2 * row + 1}});
  return groups;
}

// Kineto writes ranks as a text where it gathers groups from the calls itself.
TEST_F(KinetoGroupsTest, HaveOneNumberOnAllTheirRanks) {
  for (const bool as_text : {false, true}) {
    std::vector<std::string> traces;
    std::int64_t calls = 0;
    for (int rank = 0; rank < 4; ++rank) {
      std::vector<std::string> events;
      for (const ListedGroup& group : groups_of_mesh(rank)) {
        events.push_back(reduction_on_gpu(100 + 10 * std::stod(group.name), group.name));
        ++calls;
      }
      std::string info = info_of(rank, 4, groups_of_mesh(rank));
      if (as_text) info = std::regex_replace(info, std::regex(R"((\[[0-9,]+\]))"), R"("$1")");
      traces.push_back(trace_of(events, info));
    }
    const Run run = open(import_of(traces).folder);
    std::map<std::pair<std::string, std::vector<int>>, std::set<int>> numbers;
    std::set<int> different;
    for (const model::Batch& batch : run.batches) {
      for (const model::ProcessGroup& group : batch.process_groups) {
        const std::string title(run.strings.get(group.rank, group.name));
        numbers[{title, group.ranks}].insert(group.id);
        different.insert(group.id);
      }
    }
    EXPECT_EQ(numbers.size(), 6u);
    EXPECT_EQ(different.size(), 6u);
    for (const auto& [group, ids] : numbers) EXPECT_EQ(ids.size(), 1u) << group.first;
    EXPECT_EQ(matched_in(run), calls) << "each met the other members' calls of its group";
  }
}

// Of more than 30 members PyTorch writes down the first ones and the last. Groups without a common
// rank may bear one name.
TEST_F(KinetoGroupsTest, OfAListThatIsCutOffHaveAllTheirMembers) {
  const auto import_with = [&](bool are_listed, int members) {
    std::vector<std::string> traces;
    for (int rank = 0; rank < 6; ++rank) {
      const int first = rank / members * members;
      const std::string ranks =
          "\"[" + std::to_string(first) + ", ..., " + std::to_string(first + members - 1) + "]\"";
      const std::string size = std::to_string(members);
      const std::string in_call = ",\"Process Group Ranks\":" + ranks + ",\"Group size\":" + size;
      const std::string in_list =
          ",\"pg_config\":[{\"pg_name\":\"1\",\"pg_size\":" + size + ",\"ranks\":" + ranks + "}]";
      traces.push_back(trace_of({reduction_on_gpu(100, "1", are_listed ? "" : in_call)},
                                info_of(rank, 6, {}) + (are_listed ? in_list : "")));
    }
    const Run run = open(import_of(traces).folder);
    EXPECT_EQ(matched_in(run), 6);
    std::set<std::vector<int>> groups;
    for (const auto& group : run.figures.process_groups) {
      if (group.name == "group 1") groups.insert(group.ranks);
    }
    return groups;
  };
  for (const bool are_listed : {false, true}) {
    EXPECT_THAT(import_with(are_listed, 3),
                testing::ElementsAre(std::vector{0, 1, 2}, std::vector{3, 4, 5}));
    EXPECT_THAT(import_with(are_listed, 6), testing::ElementsAre(std::vector{0, 1, 2, 3, 4, 5}));
  }
}

// As with PyTorch 2.2, of a part of the job or of all of it.
TEST_F(KinetoGroupsTest, WithoutAListAreAllRanksOnlyIfACallSaysSo) {
  const auto calls_of_size = [&](int size) {
    std::vector<std::string> traces;
    for (int rank = 0; rank < 4; ++rank) {
      const std::string told = ",\"Group size\":" + std::to_string(size);
      traces.push_back(trace_of({reduction_on_gpu(100, "", told)}, info_of(rank, 4, {})));
    }
    return calls_of(open(import_of(traces).folder)).at(0);
  };
  EXPECT_EQ(calls_of_size(4), (Calls{{"world, nccl", {0}}}));
  EXPECT_EQ(calls_of_size(2), (Calls{{"not known", {-1}}}));
}

// PyTorch gives them the number that the group's next collective will have.
TEST_F(KinetoGroupsTest, DoNotCountSendsByTheNumbersTheyTell) {
  std::vector<std::string> traces;
  for (const int rank : {0, 1}) {
    const std::string send =
        complete("kernel", "ncclDevKernel_SendRecv(x)", "20", rank == 0 ? 0 : 500, 10,
                 "\"device\":0,\"stream\":20,\"Collective name\":\"send\",\"In msg nelems\":"
                 "1000,\"dtype\":\"Float\",\"Process Group Name\":\"0\",\"Seq\":7");
    const std::string sum = reduction_on_gpu(600, "0", ",\"Seq\":7");
    traces.push_back(
        trace_of({send, sum}, info_of(rank, 2, {{"0", "default_pg", "cuda:nccl", {0, 1}}})));
  }
  const Run run = open(import_of(traces).folder);
  EXPECT_EQ(calls_of(run).at(0), (Calls{{"default_pg, nccl", {-1, 7}}}));
  EXPECT_EQ(matched_in(run), 2) << "of the sums alone";
}

// The host counts its own calls, wherever the GPU is by then; on rank 1 it is further.
std::string trace_beside_gloo(int rank, const std::vector<ListedGroup>& groups,
                              const std::string& named) {
  const double late = rank == 0 ? 0 : 25;
  return trace_of(
      {reduction_on_gpu(100, named), reduction_on_host(112 + late), reduction_on_gpu(120, named),
       reduction_on_host(134 + late), reduction_on_gpu(150, named)},
      info_of(rank, 2, groups));
}

TEST_F(KinetoGroupsTest, OfTwoBackendsCountTheCallsOfEach) {
  const std::vector<int> all{0, 1};
  const std::vector<ListedGroup> one{{"0", "default_pg", "cpu:gloo,cuda:nccl", all}};
  const std::vector<ListedGroup> of_each{{"0", "default_pg", "cuda:nccl", all},
                                         {"1", "checkpoints", "cpu:gloo,cuda:gloo", all}};
  const std::vector<ListedGroup> untold{{"0", "default_pg", "", all}};
  struct Case {
    std::vector<ListedGroup> groups;
    std::string named, on_gpu, on_host;
  };
  for (const Case& each : {Case{one, "0", "default_pg, nccl", "default_pg (gloo), gloo"},
                           Case{one, "", "default_pg, nccl", "default_pg (gloo), gloo"},
                           Case{of_each, "0", "default_pg, nccl", "checkpoints, gloo"},
                           Case{of_each, "", "default_pg, nccl", "checkpoints, gloo"},
                           Case{untold, "0", "default_pg, nccl", "default_pg (gloo), gloo"},
                           Case{{}, "", "world, nccl", "world (gloo), gloo"}}) {
    const Run run = open(import_of({trace_beside_gloo(0, each.groups, each.named),
                                    trace_beside_gloo(1, each.groups, each.named)})
                             .folder);
    const KinetoGroupsTest::Calls expected{{each.on_gpu, {0, 1, 2}}, {each.on_host, {0, 1}}};
    EXPECT_THAT(calls_of(run), testing::ElementsAre(expected, expected));
    EXPECT_EQ(matched_in(run), 10) << each.on_host;
  }
}

// Of rank 1 no kernel was recorded: its calls on the host are those that rank 0's met all the same.
TEST_F(KinetoGroupsTest, OfTwoBackendsAreThoseOfTheJob) {
  const std::vector<ListedGroup> groups{{"0", "default_pg", "cpu:gloo,cuda:nccl", {0, 1}}};
  const Run run = open(
      import_of({trace_beside_gloo(0, groups, "0"),
                 trace_of({reduction_on_host(130), reduction_on_host(160)}, info_of(1, 2, groups))})
          .folder);
  EXPECT_EQ(calls_of(run).at(1), (Calls{{"default_pg (gloo), gloo", {0, 1}}}));
  EXPECT_EQ(matched_in(run), 4);
}

}  // namespace
}  // namespace shardlens::trace::interop
