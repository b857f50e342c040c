#include "trace/interop/kineto_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "trace/analysis/run_analysis.h"
#include "trace/model/strings.h"
#include "trace/store/file_system.h"
#include "trace/store/run_folder.h"
#include "trace/store/run_reader.h"

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
  EXPECT_EQ(run.figures.summary.effective_batch, 0) << "settings are not known";
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

}  // namespace
}  // namespace shardlens::trace
