#include "trace/interop/kineto_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>

#include "trace/analysis/run/run_analysis.h"
#include "trace/base/file_system.h"
#include "trace/interop/imported_rows.h"
#include "trace/interop/kineto_rank.h"
#include "trace/model/strings.h"
#include "trace/store/read/run_reader.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::trace {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kBase = 1'700'000'000'000'000'000;

std::string complete(const std::string& category, const std::string& name,
                     const std::string& thread, double start_us, double duration_us,
                     const std::string& arguments = "") {
  return "{\"ph\":\"X\",\"cat\":\"" + category + "\",\"name\":\"" + name +
         "\",\"pid\":" + (category == "kernel" || category == "gpu_memcpy" ? "0" : "77") +
         ",\"tid\":" + thread + ",\"ts\":" + std::to_string(start_us) +
         ",\"dur\":" + std::to_string(duration_us) + ",\"args\":{" + arguments + "}}";
}

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

ImportOptions named(const std::string& name, bool overwrite = false) {
  ImportOptions options;
  options.name = name;
  options.overwrite = overwrite;
  return options;
}

class KinetoImport : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) {
    const auto file = folder_->path() / name;
    std::ofstream(file) << text;
    return file;
  }
  std::filesystem::path runs() const { return folder_->path() / "runs"; }

  struct Run {
    RunFigures figures;
    StringTable strings;
    std::vector<Batch> batches;
  };
  static Run open(const std::filesystem::path& run) {
    auto reader = RunReader::open(run);
    EXPECT_TRUE(reader) << reader.error().message;
    Run result;
    RunAnalysis analysis(*(*reader)->info());
    for (;;) {
      auto batches = (*reader)->poll();
      EXPECT_TRUE(batches);
      if (!batches || batches->empty()) break;
      for (Batch& batch : *batches) {
        analysis.add(batch);
        for (const auto& string : batch.strings) result.strings.add(string);
        result.batches.push_back(std::move(batch));
      }
    }
    result.figures = analysis.figures();
    return result;
  }

  Result<TemporaryFolder> folder_ = TemporaryFolder::create();
};

TEST_F(KinetoImport, MakesARunOfAJobsRanks) {
  const std::vector files{write("b.json", job(1, 2)), write("a.json", job(0, 2))};
  const auto imported = import_kineto(files, runs(), named("two"));
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->events, 36);
  EXPECT_THAT(imported->ranks, testing::ElementsAre(0, 1));
  const Run run = open(imported->folder);
  const RunInfo& info = run.figures.info;
  EXPECT_EQ(info.name, "two");
  EXPECT_EQ(info.status, RunStatus::kDone);
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

TEST_F(KinetoImport, KeepsWhatIsKnownOfACollective) {
  const std::vector files{write("a.json", job(0, 2))};
  const Run run = open(import_kineto(files, runs())->folder);
  EXPECT_EQ(run.figures.summary.steps_measured, 2) << "of the ranks that there are";
  EXPECT_DOUBLE_EQ(run.figures.summary.step_ns.mean, 97'500);
  EXPECT_DOUBLE_EQ(run.figures.summary.compute_ns, 20'000);
  EXPECT_DOUBLE_EQ(run.figures.ranks[0].step_ns, 97'500);
  EXPECT_EQ(run.figures.ranks[1].info.rank, 1);
  EXPECT_DOUBLE_EQ(run.figures.ranks[1].step_ns, 0) << "its file was not given";
  std::vector<Collective> rows;
  std::map<EventKind, std::size_t> events;
  for (const Batch& batch : run.batches) {
    rows.insert(rows.end(), batch.collectives.begin(), batch.collectives.end());
    for (const auto& of_lane : batch.events) events[of_lane.kind] += of_lane.events.size();
  }
  ASSERT_EQ(rows.size(), 2u);
  const Collective& row = rows[1];
  EXPECT_EQ(row.function, CollectiveFunction::kAllReduce);
  EXPECT_EQ(row.bytes, 4000);
  EXPECT_EQ(run.strings.get(0, row.data_type), "float32");
  EXPECT_EQ(row.sequence, 1);
  EXPECT_EQ(row.step, 6);
  EXPECT_EQ(row.phase, Phase::kBackward) << "in which the host asked for it";
  EXPECT_EQ(row.enqueued_ns, kBase + 1'135'000);
  EXPECT_EQ(row.start_ns, kBase + 1'150'000);
  EXPECT_EQ(events[EventKind::kKernel], 4u) << "a collective's kernel is one, too";
  EXPECT_EQ(events[EventKind::kOperator], 4u);
  EXPECT_EQ(events[EventKind::kLaunch], 2u);
  EXPECT_EQ(events[EventKind::kCopy], 2u);
}

TEST_F(KinetoImport, NestsOperatorsAndCountsAtenAsComputeWithoutAGpu) {
  const std::string text = "[" + complete("cpu_op", "outer", "77", 0, 100) + "," +
                           complete("cpu_op", "aten::linear", "77", 10, 30) + "," +
                           complete("cpu_op", "aten::addmm", "77", 15, 20) + "]";
  const std::vector files{write("cpu.json", text)};
  const Run run = open(import_kineto(files, runs())->folder);
  std::map<std::string, Event> by_name;
  for (const Batch& batch : run.batches) {
    for (const auto& of_lane : batch.events) {
      for (const Event& e : of_lane.events) by_name[std::string(run.strings.get(0, e.name))] = e;
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
  auto reader = RunReader::open(import_kineto(files, runs())->folder);
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
    for (const Batch& batch : open(imported->folder).batches) {
      for (const MemorySample& sample : batch.memory) found.push_back(sample.reserved_bytes);
    }
    return found;
  };
  EXPECT_THAT(reserved("told", R"(,"Total Reserved":2048)"), testing::ElementsAre(2048));
  EXPECT_THAT(reserved("not told", ""), testing::ElementsAre(kNotKnown));
}

TEST_F(KinetoImport, SaysWhatIsWrongAndLeavesNothingBehind) {
  const auto error = [&](std::vector<std::filesystem::path> files, ImportOptions options = {}) {
    const auto imported = import_kineto(files, runs(), options);
    EXPECT_FALSE(imported);
    std::error_code ignored;
    EXPECT_TRUE(!std::filesystem::exists(runs()) || std::filesystem::is_empty(runs(), ignored));
    return imported ? Error{} : imported.error();
  };
  EXPECT_EQ(error({}).kind, ErrorKind::kUsage);
  const auto first = write("a.json", job(0, 2)), second = write("b.json", job(0, 2));
  const auto twice = error({first, second});
  EXPECT_EQ(twice.kind, ErrorKind::kUsage);
  EXPECT_THAT(twice.message, HasSubstr("rank 0"));
  EXPECT_EQ(error({write("c.json", "{\"traceEvents\":[]}")}).kind, ErrorKind::kForeign);
  EXPECT_EQ(error({first, folder_->path() / "none.json"}).kind, ErrorKind::kMissing);
  ImportOptions stops;
  stops.progress = [](double) { return false; };
  EXPECT_THAT(error({first}, stops).message, HasSubstr("stopped"));
}

TEST_F(KinetoImport, TakesWhatIsThereOfACutOffFileAndSaysSo) {
  std::string text = job(0, 2);
  text.resize(text.size() * 2 / 3);
  const auto imported = import_kineto(std::vector{write("a.json", text)}, runs());
  ASSERT_TRUE(imported);
  ASSERT_EQ(imported->warnings.size(), 1u);
  EXPECT_THAT(imported->warnings[0], HasSubstr("cut off"));
  EXPECT_GT(imported->events, 5);
  EXPECT_LT(imported->events, 18);
}

TEST_F(KinetoImport, RefusesATakenNameUnlessItMayBeReplaced) {
  const std::vector files{write("a.json", job(0, 2))};
  ASSERT_TRUE(import_kineto(files, runs(), named("x")));
  EXPECT_EQ(import_kineto(files, runs(), named("x")).error().kind, ErrorKind::kUsage);
  EXPECT_TRUE(import_kineto(files, runs(), named("x", true)));
  EXPECT_EQ(list_runs(runs()).runs.size(), 1u);
}

// `events`: of a trace with this distributedInfo, "" for none.
std::string trace_of(const std::vector<std::string>& events, const std::string& info) {
  std::string text = "{";
  if (!info.empty()) text += "\"distributedInfo\":{" + info + "},";
  text += "\"traceEvents\":[";
  for (const auto& event : events) text += (text.back() == '[' ? "" : ",") + event;
  return text + "]}";
}

std::string kernel_at(const std::string& ts, const std::string& duration = "5") {
  return "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":" + ts +
         ",\"dur\":" + duration + ",\"args\":{\"device\":0,\"stream\":7}}";
}

TEST_F(KinetoImport, AnEventDecadesFromAllOthersIsLeftOutAndCounted) {
  const std::vector files{
      write("far.json", trace_of({kernel_at("0"), kernel_at("1700000000000000")}, ""))};
  const auto imported = import_kineto(files, runs());
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(imported->warnings,
              testing::ElementsAre(HasSubstr("1 event was left out: their times lie days before")));
  const Run run = open(imported->folder);
  EXPECT_EQ(run.figures.ranks[0].totals.compute_events, 1);
  EXPECT_EQ(run.figures.info.start_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(run.figures.info.end_ns, 1'700'000'000'000'005'000);
  EXPECT_EQ(run.figures.recorder.lost, 1);
}

TEST_F(KinetoImport, ZerosOfCuptiAndEndlessDurationsAreLeftOutWhereverTheyStand) {
  std::vector<std::string> events;
  for (int i = 0; i < 10; ++i)
    events.push_back(kernel_at(std::to_string(1'700'000'000'000'000 + i * 10)));
  for (const char* ts : {"0", "0", "-5000000000000000000000", "99999999999999999999", "1e300"}) {
    events.push_back(kernel_at(ts));
  }
  events.push_back(kernel_at("1700000000000050", "1e18"));
  events.push_back(complete("user_annotation", "## forward ##", "77", 0, 5));
  const auto imported =
      import_kineto(std::vector{write("zeros.json", trace_of(events, ""))}, runs());
  ASSERT_TRUE(imported) << imported.error().message;
  const Run run = open(imported->folder);
  EXPECT_EQ(run.figures.ranks[0].totals.compute_events, 10);
  EXPECT_EQ(run.figures.recorder.lost, 7);
  EXPECT_EQ(run.figures.info.end_ns - run.figures.info.start_ns, 95'000);
}

TEST_F(KinetoImport, ATraceWithLongPausesIsWrittenByItsEventsAndNotByItsTime) {
  // 15 hours apart each: nothing is left out, and half a month has 13 million tenths of seconds.
  std::vector<std::string> events;
  for (std::int64_t i = 0; i < 24; ++i) {
    events.push_back(kernel_at(std::to_string(1'700'000'000'000'000 + i * 15 * 3'600'000'000)));
  }
  const auto imported =
      import_kineto(std::vector{write("slow.json", trace_of(events, ""))}, runs());
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_TRUE(imported->warnings.empty());
  const Run run = open(imported->folder);
  EXPECT_EQ(run.figures.ranks[0].totals.compute_events, 24);
  EXPECT_LT(run.batches.size(), 30u);
}

TEST_F(KinetoImport, RowsDecadesApartAreWrittenInAFewCommits) {
  Batch rows;
  rows.strings.push_back({0, 1, "gemm"});
  rows.lanes.push_back({0, 0, LaneKind::kCompute, 1});
  rows.events.push_back(
      {0, 0, EventKind::kKernel, {{0, 5, 1, 0, 0, 0}, {1'700'000'000'000'000'000, 5, 1, 0, 0, 0}}});
  int asked = 0;
  const auto file = folder_->path() / "rank_0.sqlite";
  ASSERT_TRUE(write_imported_rows(file, 0, rows, [&] { return ++asked < 10; }));
  EXPECT_LT(asked, 10);
  EXPECT_LT(std::filesystem::file_size(file), 1'000'000u);
}

TEST_F(KinetoImport, NumbersThatNoJobHasAreRefused) {
  for (const char* info :
       {"\"rank\":0,\"world_size\":300000000", "\"rank\":2000000,\"world_size\":2",
        "\"rank\":0,\"world_size\":99999999999999"}) {
    const auto imported =
        import_kineto(std::vector{write("big.json", trace_of({kernel_at("5")}, info))}, runs());
    ASSERT_FALSE(imported) << info;
    EXPECT_EQ(imported.error().kind, ErrorKind::kDamaged);
    EXPECT_THAT(imported.error().message, HasSubstr("at most 65,536 ranks"));
  }
}

TEST_F(KinetoImport, TracesOfDifferentJobsAreNotOneRun) {
  const auto refusal = [&](const std::string& a, const std::string& b, const char* ts = "5") {
    const auto imported = import_kineto(std::vector{write("a.json", trace_of({kernel_at("5")}, a)),
                                                    write("b.json", trace_of({kernel_at(ts)}, b))},
                                        runs(), named("both", true));
    if (imported) return std::string();
    EXPECT_EQ(imported.error().kind, ErrorKind::kUsage);
    return imported.error().message;
  };
  const std::string first = "\"rank\":0,\"world_size\":2,\"backend\":\"nccl\"";
  const std::string second = "\"rank\":1,\"world_size\":2,\"backend\":\"nccl\"";
  EXPECT_EQ(refusal(first, second), "");
  EXPECT_EQ(refusal("", ""), "") << "older traces say nothing of their job";
  EXPECT_THAT(refusal(first, "\"rank\":1,\"world_size\":8"),
              HasSubstr("the one is of 2 ranks, the other of 8"));
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

TEST_F(KinetoImport, AFolderMayBeNamedInsteadOfALibrary) {
  ImportOptions options;
  options.folder = folder_->path() / "elsewhere" / "mine";
  const std::vector files{write("a.json", job(0, 2))};
  const auto imported = import_kineto(files, runs(), options);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->folder, options.folder);
  EXPECT_EQ(open(options.folder).figures.info.name, "mine");
  EXPECT_FALSE(std::filesystem::exists(runs()));
  EXPECT_FALSE(import_kineto(files, runs(), options)) << "there already";
  options.overwrite = true;
  EXPECT_TRUE(import_kineto(files, runs(), options));
  options.folder = folder_->path();
  EXPECT_FALSE(import_kineto(files, runs(), options)) << "no run, which would be lost";
  EXPECT_TRUE(std::filesystem::exists(files.front()));
}

TEST_F(KinetoImport, GloosCallsAreCommunication) {
  const auto text = trace_of(
      {complete("user_annotation", "ProfilerStep#1", "77", 1000, 100),
       complete("cpu_op", "aten::mm", "77", 1000, 40),
       complete("cpu_op", "autograd::engine::evaluate_function: MmBackward0", "77", 50000, 1),
       complete("user_annotation", "gloo:all_reduce", "88", 1020, 50),
       complete("user_annotation", "gloo:all_reduce", "89", 1060, 30)},
      "\"backend\":\"gloo\",\"rank\":0,\"world_size\":2");
  const auto imported = import_kineto(std::vector{write("gloo.json", text)}, runs());
  ASSERT_TRUE(imported) << imported.error().message;
  const Run run = open(imported->folder);
  const auto& step = run.figures.steps.at(0).ranks.at(0);
  EXPECT_EQ(step.compute_ns, 40'000);
  EXPECT_EQ(step.comm_ns, 70'000);
  EXPECT_EQ(step.exposed_ns, 50'000);
  std::vector<Collective> rows;
  for (const Batch& batch : run.batches) {
    rows.insert(rows.end(), batch.collectives.begin(), batch.collectives.end());
    for (const Lane& lane : batch.lanes)
      EXPECT_EQ(lane.kind == LaneKind::kCommunication,
                run.strings.get(0, lane.name).ends_with("8") ||
                    run.strings.get(0, lane.name).ends_with("9"))
          << run.strings.get(0, lane.name);
  }
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].function, CollectiveFunction::kAllReduce);
  EXPECT_EQ(rows[1].sequence, 1);
}

TEST_F(KinetoImport, EventsSayWhetherTheyComputeAndCallOthers) {
  const std::vector files{write("a.json", job(0, 2))};
  const Run run = open(import_kineto(files, runs())->folder);
  std::map<std::string, std::uint32_t> flags;
  for (const Batch& batch : run.batches) {
    for (const EventRun& events : batch.events) {
      for (const Event& event : events.events)
        flags[std::string(run.strings.get(0, event.name))] = event.flags;
    }
  }
  EXPECT_NE(flags.at("gemm") & kEventCompute, 0u);
  EXPECT_EQ(flags.at("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)") & kEventCompute, 0u);
  EXPECT_EQ(flags.at("aten::linear") & kEventLeaf, 0u);
  EXPECT_NE(flags.at("aten::addmm") & kEventLeaf, 0u);
}

TEST(KinetoRank, MoreNamesThanARunHoldsShareOne) {
  KinetoRank rank;
  KinetoEvent event;
  event.category = KinetoCategory::kOperator;
  event.thread = "7";
  for (StringId i = 0; i < kMostStringId + 10; ++i) {
    event.name = std::to_string(i);
    event.start_ns = i;
    rank.add(event);
  }
  const Batch rows = rank.finish(0, 1, {}, "");
  ASSERT_EQ(rows.events.size(), 1u);
  EXPECT_EQ(rows.events[0].events.size(), kMostStringId + 10);
  EXPECT_LT(std::ranges::max(rows.strings, {}, &InternedString::id).id, kMostStringId);
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
  const Batch rows = rank.finish(0, 1, {}, "");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
  ASSERT_EQ(rows.events.size(), 1u);
  EXPECT_EQ(rows.events[0].events.size(), static_cast<std::size_t>(kMany) + 1);
}

}  // namespace
}  // namespace shardlens::trace
