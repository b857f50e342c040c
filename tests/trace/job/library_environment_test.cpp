#include "trace/job/library_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace shardlens::trace::job {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Map = std::map<std::string, std::string>;

Map changes(const Settings& settings, const Map& environment = {}) {
  Map result;
  for (const auto& change : environment_changes(settings, [&](std::string_view name) {
         return environment.contains(std::string(name));
       })) {
    result[std::string(change.name)] = change.value.value_or("(removed)");
  }
  return result;
}

TEST(LibraryEnvironment, IsLeftAloneButForTheAllocatorsDefault) {
  EXPECT_EQ(changes({}), (Map{{"PYTORCH_ALLOC_CONF", "expandable_segments:True"}}));
  EXPECT_THAT(changes({}, {{"PYTORCH_ALLOC_CONF", "x:1"}}), IsEmpty());
  EXPECT_THAT(changes({}, {{"PYTORCH_CUDA_ALLOC_CONF", "x:1"}}), IsEmpty());
  Settings none;
  none.allocator_conf = "none";
  EXPECT_THAT(changes(none), IsEmpty());
}

TEST(LibraryEnvironment, FollowsTheKnobsThatAreGiven) {
  Settings settings;
  settings.nccl_algo = "Ring,Tree";
  settings.nccl_proto = "^LL128";
  settings.nccl_min_channels = 2;
  settings.nccl_max_channels = 4;
  settings.cuda_device_max_connections = 1;
  settings.allocator_conf = "max_split_size_mb:128";
  const Map expected{{"NCCL_ALGO", "Ring,Tree"},
                     {"NCCL_PROTO", "^LL128"},
                     {"NCCL_MIN_NCHANNELS", "2"},
                     {"NCCL_MAX_NCHANNELS", "4"},
                     {"CUDA_DEVICE_MAX_CONNECTIONS", "1"},
                     {"PYTORCH_ALLOC_CONF", "max_split_size_mb:128"},
                     {"PYTORCH_CUDA_ALLOC_CONF", "(removed)"}};
  EXPECT_EQ(changes(settings, {{"PYTORCH_CUDA_ALLOC_CONF", "x:1"}, {"NCCL_ALGO", "Tree"}}),
            expected);
}

TEST(LibraryEnvironment, NotesOnlyWhatItsListNames) {
  const Map environment{
      {"NCCL_ALGO", "Ring"}, {"SECRET_TOKEN", "x"}, {"OMP_NUM_THREADS", "two\n2"}};
  const std::string noted = noted_environment([&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
  EXPECT_EQ(noted, "NCCL_ALGO=Ring\nOMP_NUM_THREADS=two 2\n");
  const auto parsed = parse_environment(noted);
  ASSERT_EQ(parsed.size(), 2u);
  EXPECT_EQ(parsed[1].first, "OMP_NUM_THREADS");
  EXPECT_EQ(parsed[1].second, "two 2");
  EXPECT_TRUE(parse_environment("").empty());
}

std::string problem_of(std::string_view knob, std::string_view value) {
  Settings settings;
  if (auto set = set_value(settings, knob, value); !set) return set.error().message;
  const auto problems = problems_of(settings);
  return problems.empty() ? "" : problems.front().message;
}

TEST(LibraryEnvironment, RefusesNamesThatNcclDoesNotKnow) {
  for (const char* fine : {"auto", "Ring", "ring,TREE", "^NVLS", "CollnetDirect,NVLSTree,PAT",
                           "Ring;allreduce:Tree,NVLS", "AllGather:^PAT"}) {
    EXPECT_EQ(problem_of("nccl_algo", fine), "") << fine;
  }
  for (const char* wrong : {"Rign", "Ring,", "Ring Tree", "^", "LL"}) {
    EXPECT_THAT(problem_of("nccl_algo", wrong), HasSubstr("Ring, Tree, CollnetDirect")) << wrong;
  }
  EXPECT_THAT(problem_of("nccl_algo", "gather:Ring"), HasSubstr("allreduce, allgather"));
  EXPECT_EQ(problem_of("nccl_proto", "LL,Simple"), "");
  EXPECT_THAT(problem_of("nccl_proto", "Ring"), HasSubstr("LL, LL128, Simple"));
  EXPECT_THAT(problem_of("allocator_conf", "fast"), HasSubstr("option:value"));
}

TEST(LibraryEnvironment, RefusesFewerChannelsAtMostThanAtLeast) {
  Settings settings;
  settings.nccl_min_channels = 8;
  settings.nccl_max_channels = 4;
  ASSERT_EQ(problems_of(settings).size(), 1u);
  EXPECT_EQ(problems_of(settings)[0].knob, "nccl_min_channels");
}

}  // namespace
}  // namespace shardlens::trace::job
