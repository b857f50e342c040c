#include "trace/interop/kineto_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "tests/trace/interop/kineto_traces.h"
#include "trace/interop/kineto_rank.h"
#include "trace/model/untold.h"

namespace shardlens::trace::interop {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kBase = 1'700'000'000'000'000'000;

// Two steps of 100 µs: forward and backward on the host, a kernel, a reduction that it hides by
// half, a copy behind it.
std::string job(int rank, int world_size) {
  std::vector<std::string> events;
  for (int step = 0; step < 2; ++step) {
    const double t = 1000 + step * 100;
    const std::string n = std::to_string(step);
    events.push_back(
        complete("user_annotation", "ProfilerStep#" + std::to_string(5 + step), "77", t, 95));
    events.push_back(complete("user_annotation", "## forward ##", "77", t, 30));
    events.push_back(complete("user_annotation", "## backward ##", "77", t + 30, 40));
    events.push_back(complete("cpu_op", "aten::linear", "77", t + 1, 10));
    events.push_back(complete("cpu_op", "aten::addmm", "77", t + 2, 5));
    events.push_back(
        complete("cuda_runtime", "cudaLaunchKernel", "77", t + 35, 2, "\"correlation\":9" + n));
    events.push_back(complete("kernel", "gemm", "7", t + 40, 20,
                              "\"device\":0,\"stream\":7,\"correlation\":8" + n));
    events.push_back(complete(
        "kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "20", t + 50, 20 + rank,
        "\"device\":0,\"stream\":20,\"correlation\":9" + n +
            ",\"Collective name\":\"allreduce\",\"In msg nelems\":1000,\"Out msg nelems\":1000,"
            "\"dtype\":\"Float\",\"Process Group Name\":\"0\""));
    events.push_back(complete("gpu_memcpy", "Memcpy DtoH", "7", t + 80, 4,
                              "\"device\":0,\"stream\":7,\"bytes\":64"));
  }
  std::string text =
      "{\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":" + std::to_string(rank) +
      ",\"world_size\":" + std::to_string(world_size) +
      ",\"pg_config\":[{\"pg_name\":\"0\",\"pg_desc\":\"default_pg\",\"ranks\":[0,1]}]},"
      "\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA Test\"}],\"traceEvents\":[";
  for (const auto& event : events) text += (text.back() == '[' ? "" : ",") + event;
  return text + "],\"baseTimeNanoseconds\":" + std::to_string(kBase) + "}";
}

TEST_F(KinetoImport, MakesARunOfAJobsRanks) {
  const std::vector files{write("b.json", job(1, 2)), write("a.json", job(0, 2))};
  const auto imported = import_kineto(files, runs(), named("two"));
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->events, 36);
  EXPECT_THAT(imported->ranks, testing::ElementsAre(0, 1));
  const Run run = open(imported->folder);
  const model::RunInfo& info = run.figures.info;
  EXPECT_EQ(info.name, "two");
  EXPECT_EQ(info.status, model::RunStatus::kDone);
  EXPECT_EQ(info.imported_from, "PyTorch profiler");
  EXPECT_EQ(info.device, "cuda");
  EXPECT_EQ(info.world_size, 2);
  EXPECT_EQ(info.start_ns, kBase + 1'000'000);
  EXPECT_EQ(info.end_ns, kBase + 1'195'000);
  ASSERT_EQ(run.figures.steps.size(), 2u);
  EXPECT_EQ(run.figures.steps[0].index, 5);
  EXPECT_EQ(run.figures.steps[0].ranks[0].step_ns, 100'000) << "until the next one begins";
  EXPECT_EQ(run.figures.steps[1].ranks[0].step_ns, 95'000);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const auto& step = run.figures.steps[0].ranks[rank];
    const auto reduction = 20'000 + static_cast<std::int64_t>(rank) * 1000;
    EXPECT_EQ(step.compute_ns, 20'000);
    EXPECT_EQ(step.comm_ns, reduction);
    EXPECT_EQ(step.exposed_ns, reduction - 10'000);
    EXPECT_EQ(run.figures.ranks[rank].info.device_name, "NVIDIA Test");
    EXPECT_EQ(run.figures.ranks[rank].totals.memory_events, 2);
  }
  EXPECT_EQ(run.figures.summary.effective_batch, std::nullopt) << "settings are not known";
}

// With torchrun each rank sees all of its machine and uses its own.
TEST_F(KinetoImport, TellsTheDeviceThatARankUsed) {
  std::string text = job(0, 2);
  const std::string one = R"({"id":0,"name":"NVIDIA Test"})", used = "\"device\":0,\"stream\":7";
  text.replace(text.find(one), one.size(), one + R"(,{"id":1,"name":"NVIDIA Other"})");
  for (auto at = text.find(used); at != text.npos; at = text.find(used, at)) text[at + 9] = '1';
  const Run run = open(import_kineto(std::vector{write("a.json", text)}, runs())->folder);
  EXPECT_EQ(run.figures.ranks[0].info.device_name, "NVIDIA Other");
}

TEST_F(KinetoImport, KeepsWhatIsKnownOfACollective) {
  const std::vector files{write("a.json", job(0, 2))};
  const Run run = open(import_kineto(files, runs())->folder);
  EXPECT_EQ(run.figures.summary.steps_measured, 2) << "of the ranks that there are";
  EXPECT_DOUBLE_EQ(run.figures.summary.step_ns.mean, 97'500);
  EXPECT_DOUBLE_EQ(run.figures.summary.compute_ns, 20'000);
  EXPECT_DOUBLE_EQ(run.figures.ranks[0].step_ns, 97'500);
  EXPECT_EQ(run.figures.ranks[1].info.rank, 1);
  EXPECT_DOUBLE_EQ(run.figures.ranks[1].step_ns, 0) << "its file was not given";
  std::vector<model::Collective> rows;
  std::map<model::EventKind, std::size_t> events;
  for (const model::Batch& batch : run.batches) {
    rows.insert(rows.end(), batch.collectives.begin(), batch.collectives.end());
    for (const auto& of_lane : batch.events) events[of_lane.kind] += of_lane.events.size();
  }
  ASSERT_EQ(rows.size(), 2u);
  const model::Collective& row = rows[1];
  EXPECT_EQ(row.function, model::CollectiveFunction::kAllReduce);
  EXPECT_EQ(row.bytes, 4000);
  EXPECT_EQ(run.strings.get(0, row.data_type), "float32");
  EXPECT_EQ(row.sequence, 1);
  EXPECT_EQ(row.step, 6);
  EXPECT_EQ(row.phase, base::Phase::kBackward) << "in which the host asked for it";
  EXPECT_EQ(row.enqueued_ns, kBase + 1'135'000);
  EXPECT_EQ(row.start_ns, kBase + 1'150'000);
  EXPECT_EQ(events[model::EventKind::kKernel], 4u) << "a collective's kernel is one, too";
  EXPECT_EQ(events[model::EventKind::kOperator], 4u);
  EXPECT_EQ(events[model::EventKind::kLaunch], 2u);
  EXPECT_EQ(events[model::EventKind::kCopy], 2u);
}

TEST_F(KinetoImport, NestsOperatorsAndCountsAtenAsComputeWithoutAGpu) {
  const std::string text = "[" + complete("cpu_op", "outer", "77", 0, 100) + "," +
                           complete("cpu_op", "aten::linear", "77", 10, 30) + "," +
                           complete("cpu_op", "aten::addmm", "77", 15, 20) + "]";
  const std::vector files{write("cpu.json", text)};
  const Run run = open(import_kineto(files, runs())->folder);
  std::map<std::string, model::Event> by_name;
  for (const model::Batch& batch : run.batches) {
    for (const auto& of_lane : batch.events) {
      for (const model::Event& e : of_lane.events)
        by_name[std::string(run.strings.get(0, e.name))] = e;
    }
  }
  EXPECT_EQ(by_name["outer"].depth(), 0);
  EXPECT_EQ(by_name["aten::linear"].depth(), 1);
  EXPECT_EQ(by_name["aten::addmm"].depth(), 2);
  EXPECT_EQ(run.figures.info.device, "cpu");
  ASSERT_EQ(run.figures.steps.size(), 1u) << "all of it, without the profiler's schedule";
  EXPECT_EQ(run.figures.steps[0].ranks[0].compute_ns, 30'000);
}

TEST_F(KinetoImport, ReplaysByTheTimesOfTheTrace) {
  const std::vector files{write("a.json", job(0, 2))};
  auto reader = store::RunReader::open(import_kineto(files, runs())->folder);
  const auto range = (*reader)->commit_range();
  EXPECT_EQ(range->first_ns, kBase + 1'000'000);
  EXPECT_EQ(range->last_ns, kBase + 1'195'000);
}

TEST_F(KinetoImport, TellsWhatIsReservedOnlyWhereTheTraceDoes) {
  const auto reserved = [&](const std::string& name, const std::string& more) {
    const std::string text =
        R"({"traceEvents":[{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":1,"dur":9,)"
        R"("args":{"device":0,"stream":7}},{"ph":"i","cat":"cpu_instant_event","name":"[memory]",)"
        R"("pid":1,"tid":1,"ts":2,"args":{"Device Type":1,"Bytes":64,"Total Allocated":64)" +
        more + "}}]}";
    const std::vector files{write(name + ".json", text)};
    const auto imported = import_kineto(files, runs(), named(name));
    EXPECT_TRUE(imported);
    std::vector<std::int64_t> found;
    for (const model::Batch& batch : open(imported->folder).batches) {
      for (const model::MemorySample& sample : batch.memory) found.push_back(sample.reserved_bytes);
    }
    return found;
  };
  EXPECT_THAT(reserved("told", R"(,"Total Reserved":2048)"), testing::ElementsAre(2048));
  EXPECT_THAT(reserved("not told", ""), testing::ElementsAre(model::kNotKnown));
}

// Its allocator counts each by itself.
TEST_F(KinetoImport, OfAProcessWithTwoGpusMemoryIsThatOfTheOneThatItUsesMost) {
  std::vector<std::string> events{kernel_at("1"), kernel_at("7")};
  for (int i = 0; i < 6; ++i) {
    const bool is_other = i % 2 == 1;
    events.push_back(
        R"({"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":)" +
        std::to_string(i) + R"(,"args":{"Device Type":1,"Bytes":64,"Device Id":)" +
        (is_other ? R"(1,"Total Allocated":64}})" : R"(0,"Total Allocated":4096}})"));
  }
  std::vector<std::int64_t> held;
  for (const model::Batch& batch : open(import_of({trace_of(events, "")}).folder).batches) {
    for (const model::MemorySample& sample : batch.memory)
      held.push_back(sample.bytes[static_cast<std::size_t>(model::MemoryCategory::kOther)]);
  }
  EXPECT_EQ(held, (std::vector<std::int64_t>(3, 4096)));
}

TEST_F(KinetoImport, SaysWhatIsWrongAndLeavesNothingBehind) {
  const auto error = [&](std::vector<std::filesystem::path> files, ImportOptions options = {}) {
    const auto imported = import_kineto(files, runs(), options);
    EXPECT_FALSE(imported);
    std::error_code ignored;
    EXPECT_TRUE(!std::filesystem::exists(runs()) || std::filesystem::is_empty(runs(), ignored));
    return imported ? base::Error{} : imported.error();
  };
  EXPECT_EQ(error({}).kind, base::ErrorKind::kUsage);
  const auto first = write("a.json", job(0, 2)), second = write("b.json", job(0, 2));
  const auto twice = error({first, second});
  EXPECT_EQ(twice.kind, base::ErrorKind::kUsage);
  EXPECT_THAT(twice.message, HasSubstr("rank 0"));
  EXPECT_EQ(error({write("c.json", "{\"traceEvents\":[]}")}).kind, base::ErrorKind::kForeign);
  EXPECT_THAT(error({write("notes.txt", "dear diary")}).message, HasSubstr("not JSON"));
  EXPECT_EQ(error({first, folder_->path() / "none.json"}).kind, base::ErrorKind::kMissing);
  ImportOptions stops;
  stops.progress = [](double) { return false; };
  EXPECT_THAT(error({first}, stops).message, HasSubstr("stopped"));
}

TEST_F(KinetoImport, TakesWhatIsThereOfACutOffFileAndSaysSo) {
  std::string text = job(0, 2);
  text.resize(text.size() * 2 / 3);
  const auto imported = import_kineto(std::vector{write("a.json", text)}, runs());
  ASSERT_TRUE(imported);
  EXPECT_THAT(imported->warnings, testing::ElementsAre(HasSubstr("was cut off after"),
                                                       HasSubstr("A trace was cut off")));
  EXPECT_GT(imported->events, 5);
  EXPECT_LT(imported->events, 18);
}

// Kineto writes what the host did first, and then what the GPU did.
TEST_F(KinetoImport, StepsThatTheGpusRecordsOfACutOffFileDoNotReachHaveNoDetails) {
  std::vector<std::string> events, kernels;
  for (int step = 0; step < 4; ++step) {
    const double t = 1000 + step * 100;
    const std::string n = std::to_string(step);
    events.push_back(
        complete("user_annotation", "ProfilerStep#" + std::to_string(5 + step), "77", t, 95));
    events.push_back(complete("cpu_op", "aten::addmm", "77", t + 1, 20));
    events.push_back(complete("cuda_runtime", "cudaLaunchKernel", "77", t + 5, 2));
    kernels.push_back(complete("kernel", "gemm" + n, "7", t + 60, 50, "\"device\":0,\"stream\":7"));
  }
  events.insert(events.end(), kernels.begin(), kernels.end());
  const std::string whole = trace_of(events, "");
  const auto import_until = [&](const std::string& kernel) {
    const std::string text = whole.substr(0, whole.find("\"" + kernel + "\""));
    return open(import_of({text}).folder).figures;
  };
  EXPECT_EQ(open(import_of({whole}).folder).figures.summary.steps_detailed, 4);
  EXPECT_EQ(import_until("gemm2").summary.steps_detailed, 2);
  const auto without = import_until("gemm0");
  EXPECT_EQ(without.summary.steps_detailed, 0);
  EXPECT_EQ(without.info.device, "cuda") << "operators of the host are not what it computes";
  EXPECT_NE(model::cut_off_trace(without.ranks.at(0).info.sources), "");
}

TEST_F(KinetoImport, TracesOfDifferentJobsAreNotOneRun) {
  const auto refusal = [&](const std::string& a, const std::string& b, const char* ts = "5") {
    const auto imported = import_kineto(std::vector{write("a.json", trace_of({kernel_at("5")}, a)),
                                                    write("b.json", trace_of({kernel_at(ts)}, b))},
                                        runs(), named("both", true));
    if (imported) return std::string();
    EXPECT_EQ(imported.error().kind, base::ErrorKind::kUsage);
    return imported.error().message;
  };
  const std::string first = "\"rank\":0,\"world_size\":2,\"backend\":\"nccl\"";
  const std::string second = "\"rank\":1,\"world_size\":2,\"backend\":\"nccl\"";
  EXPECT_EQ(refusal(first, second), "");
  EXPECT_EQ(refusal("", ""), "") << "older traces say nothing of their job";
  EXPECT_THAT(refusal(first, "\"rank\":1,\"world_size\":8"),
              HasSubstr("the one is of 2 ranks, the other of 8"));
  EXPECT_THAT(refusal("\"rank\":0,\"world_size\":1", second),
              HasSubstr("the one is of 1 rank, the other of 2"));
  EXPECT_THAT(refusal(first, ""), HasSubstr("only one of them says of which rank it is"));
  EXPECT_THAT(refusal(first, "\"rank\":1,\"world_size\":2,\"backend\":\"gloo\""),
              HasSubstr("communicates with nccl, the other with gloo"));
  EXPECT_THAT(refusal(first, first), HasSubstr("are both of rank 0"));
  EXPECT_THAT(refusal(first, second, "400000000"), HasSubstr("399 s before the other begins"));
  const std::string group =
      ",\"pg_config\":[{\"pg_name\":\"0\",\"pg_desc\":\"default_pg\",\"ranks\":";
  EXPECT_THAT(refusal(first + group + "[0,1]}]", second + group + "[1,5]}]"),
              HasSubstr("default process groups"));
}

// One file of a job of four, whose world nothing else tells.
TEST_F(KinetoImport, WithoutDistributedInfoTheGroupsTellHowManyRanksThereAre) {
  const auto trace = [](const std::string& ranks) {
    return trace_of({complete("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "20", 50, 20,
                              "\"device\":0,\"stream\":20,\"Collective name\":\"allreduce\","
                              "\"In msg nelems\":1000,\"dtype\":\"Float\",\"Process Group Name\":"
                              "\"0\",\"Process Group Ranks\":\"" +
                                  ranks + "\"")},
                    "");
  };
  const auto world_of = [&](const std::string& ranks) {
    const auto imported =
        import_kineto(std::vector{write("one.json", trace(ranks))}, runs(), named("run", true));
    EXPECT_TRUE(imported) << imported.error().message;
    return open(imported->folder).figures.info.world_size;
  };
  EXPECT_EQ(world_of("[0, 1, 2, 3]"), 4);
  EXPECT_EQ(world_of("[0, 1, ..., 7]"), 8);
  EXPECT_EQ(world_of("[0, 2000000000]"), 1) << "no job has that many";
  // The only file is taken to be of rank 0.
  for (const auto& [ranks, is_known] : {std::pair{"[0, 1]", true}, std::pair{"[4, 5]", false}}) {
    const ImportedRun run = import_of({trace(ranks)});
    const auto warned = std::ranges::find(run.warnings, std::string(model::kUnknownGroups));
    EXPECT_EQ(warned == run.warnings.end(), is_known) << ranks;
    for (const model::Batch& batch : open(run.folder).batches) {
      for (const model::Collective& call : batch.collectives)
        EXPECT_EQ(call.process_group >= 0, is_known) << ranks;
    }
  }
}

TEST_F(KinetoImport, GloosCallsAreCommunication) {
  const auto text = trace_of(
      {complete("user_annotation", "ProfilerStep#1", "77", 1000, 100),
       complete("cpu_op", "aten::mm", "77", 1000, 40),
       complete("cpu_op", "autograd::engine::evaluate_function: MmBackward0", "77", 50000, 1),
       complete("user_annotation", "gloo:all_reduce", "88", 1020, 50),
       complete("cpu_op", "aten::copy_", "88", 1045, 20),  // a part of it
       complete("user_annotation", "gloo:all_reduce", "89", 1060, 30)},
      "\"backend\":\"gloo\",\"rank\":0,\"world_size\":2");
  const auto imported = import_kineto(std::vector{write("gloo.json", text)}, runs());
  ASSERT_TRUE(imported) << imported.error().message;
  const Run run = open(imported->folder);
  const auto& step = run.figures.steps.at(0).ranks.at(0);
  EXPECT_EQ(step.compute_ns, 40'000);
  EXPECT_EQ(step.comm_ns, 70'000);
  EXPECT_EQ(step.exposed_ns, 50'000);
  std::vector<model::Collective> rows;
  for (const model::Batch& batch : run.batches) {
    rows.insert(rows.end(), batch.collectives.begin(), batch.collectives.end());
    for (const model::Lane& lane : batch.lanes) {
      const std::string_view name = run.strings.get(0, lane.name);
      const bool is_gloos = name.ends_with("8") || name.ends_with("9");
      const bool has_operators = lane.kind == model::LaneKind::kOperators;
      EXPECT_TRUE(has_operators || is_gloos == (lane.kind == model::LaneKind::kCommunication))
          << name;
    }
  }
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].function, model::CollectiveFunction::kAllReduce);
  EXPECT_EQ(rows[1].sequence, 1);
}

TEST_F(KinetoImport, RanksThatCommunicateOtherThingsSeemToBeOfOtherJobs) {
  const auto trace_of_rank = [&](int rank, const std::string& call, int elements) {
    const std::string number = std::to_string(rank);
    const auto text = trace_of({complete("user_annotation", "ProfilerStep#1", "77", 1000, 100),
                                complete("user_annotation", call, "88", 1020, 50,
                                         "\"Input Dims\":[[" + std::to_string(elements) +
                                             "]],\"Input type\":[\"float\"]")},
                               "\"backend\":\"gloo\",\"rank\":" + number + ",\"world_size\":2");
    return write("rank" + number + ".json", text);
  };
  const auto warnings = [&](const std::string& call, int elements) {
    const auto imported = import_kineto(
        std::vector{trace_of_rank(0, "gloo:all_reduce", 500), trace_of_rank(1, call, elements)},
        runs(), named("both", true));
    EXPECT_TRUE(imported) << imported.error().message;
    std::string all;
    for (const std::string& warning : imported->warnings) all += warning;
    return all;
  };
  EXPECT_THAT(warnings("gloo:all_reduce", 500), Not(HasSubstr("different jobs")));
  EXPECT_THAT(warnings("gloo:all_reduce", 501), HasSubstr("different jobs"));
  EXPECT_THAT(warnings("gloo:all_gather", 500), HasSubstr("different jobs"));
}

// Gloo's calls name no group, but what is gathered or scattered tells how many ranks take part.
TEST_F(KinetoImport, GloosGroupsAreThoseOfTheirSizes) {
  const auto call = [](const std::string& op, const std::string& sizes, const std::string& gloo,
                       int elements, double t) {
    return std::vector{
        complete("cpu_op", op, "77", t, 5, "\"Input Dims\":" + sizes),
        complete("user_annotation", gloo, "88", t + 1, 3,
                 "\"Input Dims\":[[" + std::to_string(elements) + "]],\"Input type\":[\"float\"]")};
  };
  std::vector<std::string> events{complete("user_annotation", "ProfilerStep#1", "77", 1000, 100)};
  for (const auto& each :
       {call("c10d::_allgather_base_", "[[1000],[500],[]]", "gloo:all_gather", 500, 1010),
        call("c10d::_reduce_scatter_base_", "[[500],[1000],[]]", "gloo:all_reduce", 1000, 1020),
        call("c10d::allreduce_", "[[[500]],[]]", "gloo:all_reduce", 500, 1030),
        call("c10d::allreduce_", "[[[500]],[]]", "gloo:all_reduce", 500, 1040),
        call("c10d::_allgather_base_", "[[2000],[500],[]]", "gloo:all_gather", 500, 1050),
        call("c10d::allgather_", "[[],[[500]],[]]", "gloo:all_gather", 500, 1060),
        call("c10d::allgather_", "[[],[[700]],[]]", "gloo:all_gather", 700, 1070)}) {
    events.insert(events.end(), each.begin(), each.end());
  }
  const std::string info =
      "\"backend\":\"gloo\",\"rank\":0,\"world_size\":4,\"pg_config\":["
      "{\"pg_name\":\"0\",\"pg_desc\":\"default_pg\",\"ranks\":[0,1,2,3]},"
      "{\"pg_name\":\"1\",\"pg_desc\":\"mesh_replicate\",\"ranks\":[0,2]},"
      "{\"pg_name\":\"3\",\"pg_desc\":\"mesh_shard\",\"ranks\":[0,1]}]";
  const auto imported =
      import_kineto(std::vector{write("gloo.json", trace_of(events, info))}, runs());
  ASSERT_TRUE(imported) << imported.error().message;
  const Run run = open(imported->folder);
  std::map<int, std::string> groups{{-1, "not known"}};
  std::vector<std::pair<std::string, std::int64_t>> calls;
  for (const model::Batch& batch : run.batches) {
    for (const auto& group : batch.process_groups) {
      groups[group.id] = run.strings.get(0, group.name);
    }
    for (const auto& row : batch.collectives) {
      calls.emplace_back(groups.at(row.process_group), row.bytes);
    }
  }
  const std::vector<std::pair<std::string, std::int64_t>> expected{
      {"mesh_shard", 4000}, {"mesh_shard", 4000}, {"mesh_replicate", 2000}, {"not known", 2000},
      {"default_pg", 8000}, {"mesh_shard", 4000}, {"not known", -1}};
  EXPECT_EQ(calls, expected) << "a list to gather into has no sizes: as what was scattered has";
}

TEST_F(KinetoImport, EventsSayWhetherTheyComputeAndCallOthers) {
  const std::vector files{write("a.json", job(0, 2))};
  const Run run = open(import_kineto(files, runs())->folder);
  std::map<std::string, std::uint32_t> flags;
  for (const model::Batch& batch : run.batches) {
    for (const model::EventRun& events : batch.events) {
      for (const model::Event& event : events.events)
        flags[std::string(run.strings.get(0, event.name))] = event.flags;
    }
  }
  EXPECT_NE(flags.at("gemm") & model::kEventCompute, 0u);
  EXPECT_EQ(flags.at("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)") & model::kEventCompute, 0u);
  EXPECT_EQ(flags.at("aten::linear") & model::kEventLeaf, 0u);
  EXPECT_NE(flags.at("aten::addmm") & model::kEventLeaf, 0u);
}

TEST(KinetoRank, MoreNamesThanARunHoldsShareOne) {
  KinetoRank rank;
  KinetoEvent event;
  event.category = KinetoCategory::kOperator;
  event.thread = "7";
  for (model::StringId i = 0; i < model::kMostStringId + 10; ++i) {
    event.name = std::to_string(i);
    event.start_ns = i;
    rank.add(event);
  }
  GroupNumbers numbers;
  const model::Batch rows = rank.finish(0, 1, {}, "", numbers);
  ASSERT_EQ(rows.events.size(), 1u);
  EXPECT_EQ(rows.events[0].events.size(), model::kMostStringId + 10);
  EXPECT_LT(std::ranges::max(rows.strings, {}, &model::InternedString::id).id,
            model::kMostStringId);
  EXPECT_EQ(rows.strings.back().text, "(one of further names)");
}

// Quadratic work would take minutes.
TEST(KinetoRank, OperatorsThatAllOverlapTakeNoLongerThanNestedOnes) {
  KinetoRank rank;
  KinetoEvent event;
  event.category = KinetoCategory::kOperator;
  event.thread = "7";
  constexpr int kMany = 400'000;
  for (int i = 0; i <= kMany; ++i) {
    event.name = i == kMany ? "c10d::wait" : "aten::mm";
    event.start_ns = 1'000'000 + i;
    event.duration_ns = i == kMany ? 1 : 2 * kMany;
    rank.add(event);
  }
  const auto begin = std::chrono::steady_clock::now();
  GroupNumbers numbers;
  const model::Batch rows = rank.finish(0, 1, {}, "", numbers);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
  ASSERT_EQ(rows.events.size(), 1u);
  EXPECT_EQ(rows.events[0].events.size(), static_cast<std::size_t>(kMany) + 1);
}

}  // namespace
}  // namespace shardlens::trace::interop
