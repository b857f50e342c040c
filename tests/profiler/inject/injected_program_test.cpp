// Real programs with the real library in them, on a machine with no GPU: NVTX, CUDA and NCCL load
// it.
#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <map>

#include "tests/files.h"
#include "trace/model/batch.h"
#include "trace/model/strings.h"
#include "trace/model/untold.h"
#include "trace/store/read/run_reader.h"
#include "trace/store/run/run_files.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/sql/query.h"

namespace shardlens::profiler::inject {
namespace {

namespace fs = std::filesystem;

class InjectedProgram : public testing::Test {
 protected:
  InjectedProgram() {
    trace::model::RunInfo info;
    info.name = "injected";
    info.imported_from = "another program";
    EXPECT_TRUE(trace::store::create_run_at(root_ / "run", info));
  }

  // Returns what waitpid told; standard error is in `said_`.
  int run(const char* how, std::map<std::string, std::string> variables = {},
          const char* program = "nvtx_program") {
    variables.try_emplace("SHARDLENS_RECORD_FOLDER", (root_ / "run").string());
    for (const char* loader :
         {"NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH", "NCCL_PROFILER_PLUGIN"})
      variables.try_emplace(loader, (bin_ / "libshardlens-record.so").string());
    const fs::path errors = root_ / "stderr";
    std::string command;
    for (const auto& [name, value] : variables) command += name + "='" + value + "' ";
    command += (bin_ / program).string() + " " + how + " 2>" + errors.string();
    const int status = std::system(command.c_str());
    said_ = trace::test::bytes_of(errors);
    return status;
  }
  int run_on_gpus(const char* how, std::map<std::string, std::string> variables = {}) {
    const fs::path gpu = bin_ / "fake_gpu";
    variables.merge(
        std::map<std::string, std::string>{{"LD_PRELOAD", (gpu / "libcupti.so.13").string()},
                                           {"LD_LIBRARY_PATH", gpu.string()},
                                           {"FAKE_GPU_COUNT", "2"}});
    return run(how, std::move(variables), "cuda_program");
  }
  std::vector<std::vector<std::string>> ask(const std::string& sql) const {
    const auto answer = trace::store::query_run(root_ / "run", sql, {});
    EXPECT_TRUE(answer) << answer.error().message;
    std::vector<std::vector<std::string>> rows;
    if (!answer) return rows;
    for (const auto& row : answer->rows) {
      auto& texts = rows.emplace_back();
      for (const auto& value : row) texts.push_back(trace::store::to_text(value));
    }
    return rows;
  }

  bool has_closed_in_order() const {
    auto reader = trace::store::RunReader::open(root_ / "run");
    EXPECT_TRUE(reader) << reader.error().message;
    bool says_so = false;
    const auto all = trace::store::read_everything(**reader, [&](const trace::model::Batch& batch) {
      for (const auto& string : batch.strings)
        says_so = says_so || string.text == trace::model::kClosedInOrder;
    });
    EXPECT_TRUE(all) << all.error().message;
    return says_so;
  }

  // Of its steps, as opposed to what comes before them.
  std::vector<std::vector<std::string>> count_kernels() const {
    return ask("select count(*) from kernel where name <> 'set_up'");
  }

  const fs::path bin_ = fs::path(SHARDLENS_BINARY_DIR) / "bin";
  const trace::test::Folder root_;
  std::string said_;
};

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(InjectedProgram, TellsItsStepsPhasesAndRanges) {
  EXPECT_EQ(run("exit"), 0) << said_;
  EXPECT_EQ(said_, "");
  EXPECT_TRUE(has_closed_in_order());
  EXPECT_THAT(ask("select step, end_ns - start_ns > 2000000 from step order by step"),
              ElementsAre(ElementsAre("0", "1"), ElementsAre("1", "1"), ElementsAre("2", "1")));
  EXPECT_THAT(ask("select phase, count(*) from span group by phase order by 1"),
              ElementsAre(ElementsAre("backward", "3"), ElementsAre("forward", "3")));
  EXPECT_THAT(
      ask("select name, depth, count(*) from op group by name, depth order by name"),
      ElementsAre(ElementsAre("a library's range", "0", "3"), ElementsAre("forward", "1", "3"),
                  ElementsAre("on another thread", "0", "3"),
                  ElementsAre("rückwärts: backward", "1", "3"), ElementsAre("step 0", "0", "1"),
                  ElementsAre("step 1", "0", "1"), ElementsAre("step 2", "0", "1"),
                  ElementsAre("whole program", "0", "1")));
  EXPECT_THAT(ask("select sources from rank"),
              ElementsAre(ElementsAre(AllOf(HasSubstr("steps and phases: NVTX ranges"),
                                            HasSubstr("kernels: none were recorded")))));
  EXPECT_THAT(ask("select count(*) from lane where name like 'NVTX NCCL of thread %'"),
              ElementsAre(ElementsAre("1")));
}

TEST_F(InjectedProgram, StepsAreToldByWhoNamesThemWhoeverNamesPhasesBefore) {
  EXPECT_EQ(run("ahead"), 0) << said_;
  EXPECT_THAT(ask("select step from step order by step"),
              ElementsAre(ElementsAre("0"), ElementsAre("1"), ElementsAre("2")));
  EXPECT_THAT(
      ask("select phase, depth, count(*) from span where step >= 0 group by 1, 2 order by 1"),
      ElementsAre(ElementsAre("backward", "0", "3"), ElementsAre("forward", "0", "3")));
  EXPECT_THAT(ask("select phase from span where step < 0"), ElementsAre(ElementsAre("forward")))
      << "that of the warm-up, and not what was loaded";
}

TEST_F(InjectedProgram, AnotherThreadsIterationsAreNotTheStepsOfOneThatTrains) {
  EXPECT_EQ(run("phases"), 0) << said_;
  EXPECT_THAT(ask("select step from step order by step"),
              ElementsAre(ElementsAre("0"), ElementsAre("1")))
      << "from the second forward on, and not 7";
}

TEST_F(InjectedProgram, HasTheRankOfItsLauncher) {
  EXPECT_EQ(run("exit", {{"RANK", "3"}, {"LOCAL_RANK", "1"}, {"WORLD_SIZE", "4"}}), 0);
  EXPECT_THAT(ask("select rank, local_rank, device from rank"),
              ElementsAre(ElementsAre("3", "1", "cpu")));
  EXPECT_THAT(ask("select name, ranks from process_group"),
              ElementsAre(ElementsAre("world", testing::_)));
}

TEST_F(InjectedProgram, ASecondOneOfTheSameRankIsLeftOutAndRuns) {
  for (const char* world_size : {"1", "2"}) {
    const std::map<std::string, std::string> variables{{"RANK", "0"}, {"WORLD_SIZE", world_size}};
    EXPECT_EQ(run("exit", variables), 0);
    EXPECT_EQ(run("exit", variables), 0);
    EXPECT_THAT(said_, HasSubstr("this process is not recorded: Rank 0 was recorded from process"));
    EXPECT_THAT(ask("select count(*) from step"), ElementsAre(ElementsAre("3")));
    EXPECT_TRUE(fs::exists(root_ / "run" / "rank_0.restarted"));
  }
}

TEST_F(InjectedProgram, TakesNoRanksPlaceWhereItOnlyStartsRanks) {
  const fs::path launcher = root_ / "torchrun";
  fs::create_symlink(fs::path(SHARDLENS_BINARY_DIR) / "bin" / "nvtx_program", launcher);
  EXPECT_EQ(run("exit", {{"SLURM_PROCID", "0"}}, launcher.c_str()), 0);
  EXPECT_EQ(said_, "");
  EXPECT_EQ(run("exit", {{"RANK", "0"}}), 0);
  EXPECT_EQ(said_, "");
  EXPECT_EQ(trace::store::rank_files(root_ / "run").size(), 1u);
}

TEST_F(InjectedProgram, ItsChildrenAreNotItself) {
  EXPECT_EQ(run("fork"), 0) << said_;
  EXPECT_EQ(trace::store::rank_files(root_ / "run").size(), 1u);
  EXPECT_THAT(ask("select count(*) from op where name = 'in the child'"),
              ElementsAre(ElementsAre("0")));
  EXPECT_THAT(ask("select count(*) from step"), ElementsAre(ElementsAre("3")));
}

TEST_F(InjectedProgram, WhatItRecordedOutlivesItsDeath) {
  const int status = run("abort");
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGABRT);  // as the shell tells it
  EXPECT_FALSE(has_closed_in_order()) << "what its GPU did last may be lost";
  EXPECT_THAT(ask("select count(*) from step"), ElementsAre(ElementsAre("3")));
  EXPECT_THAT(ask("select sources from rank"),
              ElementsAre(ElementsAre(AllOf(HasSubstr("steps and phases: NVTX ranges"),
                                            testing::EndsWith(trace::model::kEndNotTold)))));
}

TEST_F(InjectedProgram, AFaultThatItMendsEndsNeitherItNorItsRecording) {
  EXPECT_EQ(run("fault"), 0) << said_;
  EXPECT_THAT(ask("select count(*) from step"), ElementsAre(ElementsAre("4")));
}

TEST_F(InjectedProgram, RecordsOnlyTheStepsThatAreAskedFor) {
  EXPECT_EQ(run("exit", {{"SHARDLENS_RECORD_STEPS", "2..2"}}), 0);
  EXPECT_THAT(ask("select count(*) from step"), ElementsAre(ElementsAre("3")));
  // And what leads into it.
  EXPECT_THAT(ask("select name from op where name like 'step%' order by 1"),
              ElementsAre(ElementsAre("step 1"), ElementsAre("step 2")));
}

TEST_F(InjectedProgram, RunsOnWhereNothingCanBeRecorded) {
  EXPECT_EQ(run("exit", {{"SHARDLENS_RECORD_FOLDER", "/nowhere/at/all"}}), 0);
  EXPECT_THAT(said_, HasSubstr("this process is not recorded"));
  EXPECT_EQ(run("exit", {{"SHARDLENS_RECORD_STEPS", "seven"}}), 0);
  EXPECT_THAT(said_, HasSubstr("seven"));
  EXPECT_EQ(run("exit", {{"SHARDLENS_RECORD_LIMIT_MB", "5 GB"}}), 0);
  EXPECT_THAT(said_, HasSubstr("is \"5 GB\", which is no size in MiB"));
  EXPECT_EQ(run("exit", {{"SHARDLENS_RECORD_FOLDER", ""}}), 0);
  EXPECT_EQ(said_, "");
}

TEST_F(InjectedProgram, ItsNcclWarningsAreInTheLog) {
  const fs::path log = root_ / "run" / "nccl.log";
  std::ofstream(log) << "host:1:1 [0] NCCL WARN something is odd\n";
  EXPECT_EQ(run("exit", {{"NCCL_DEBUG_FILE", log.string()}}), 0);
  EXPECT_THAT(ask("select level, text from log"),
              ElementsAre(ElementsAre("warning", "NCCL: something is odd")));
}

// ---- on GPUs that compute nothing

TEST_F(InjectedProgram, StepsEndWithTheOptimizersKernelsWhereNobodyTellsThem) {
  EXPECT_EQ(run_on_gpus("optimizer"), 0) << said_;
  // 12 steps of half a millisecond and 25 kernels of 100 µs; where the first began is not known.
  EXPECT_THAT(ask("select count(*), min(end_ns - start_ns), max(end_ns - start_ns) from step"),
              ElementsAre(ElementsAre("11", "3000000", "3000000")));
  EXPECT_THAT(
      ask("select phase, count(*), min(end_ns - start_ns) from span group by phase order by 1"),
      ElementsAre(ElementsAre("backward", "11", "1400000"), ElementsAre("forward", "11", "1500000"),
                  ElementsAre("optimizer", "11", "100000")));
  EXPECT_THAT(count_kernels(), ElementsAre(ElementsAre("300")));
  EXPECT_THAT(ask("select min(full_detail) from step"), ElementsAre(ElementsAre("1")));
  EXPECT_THAT(ask("select sources from rank"),
              ElementsAre(ElementsAre(AllOf(HasSubstr("a step ends with its optimizer's"),
                                            HasSubstr("launches: CUPTI"),
                                            HasSubstr("collectives: NCCL's profiler plugin")))));
}

// A helper of the trainer, say: it inherits the rank.
TEST_F(InjectedProgram, WhoOnlyAsksForGpusTakesNoRanksPlace) {
  EXPECT_EQ(run_on_gpus("asks"), 0) << said_;
  EXPECT_EQ(said_, "");
  EXPECT_EQ(run_on_gpus("asks", {{"RANK", "0"}}), 0) << said_;
  EXPECT_EQ(said_, "");
  EXPECT_TRUE(trace::store::rank_files(root_ / "run").empty());
  EXPECT_EQ(run_on_gpus("optimizer", {{"RANK", "0"}}), 0) << said_;
  EXPECT_EQ(said_, "");
  EXPECT_THAT(ask("select count(*) from step"), ElementsAre(ElementsAre("11")));
}

TEST_F(InjectedProgram, RecordsWorkThatIsOverAtOnce) {
  EXPECT_EQ(run_on_gpus("'one kernel'"), 0) << said_;
  EXPECT_THAT(ask("select name from kernel"), ElementsAre(ElementsAre("my_update")));
  EXPECT_THAT(ask("select sources from rank"),
              ElementsAre(ElementsAre(HasSubstr("rank: in the order of starting"))));
}

TEST_F(InjectedProgram, WithoutALauncherItsRankIsThatOfNcclsCommunicator) {
  // Rank 0 is somebody else's: it is not the order of starting that counts.
  EXPECT_EQ(run_on_gpus("'rank 1'"), 0) << said_;
  EXPECT_THAT(ask("select rank, local_rank from rank"), ElementsAre(ElementsAre("1", "1")));
  EXPECT_THAT(ask("select sources from rank"),
              ElementsAre(ElementsAre(HasSubstr("rank: that of NCCL's communicator"))));
}

// As in a batch script of Slurm, whose variables all that it starts inherits.
TEST_F(InjectedProgram, ItsRankIsThatOfNcclsCommunicatorWhereTheLauncherKnewOfOneProcess) {
  EXPECT_EQ(run_on_gpus("'rank 1'", {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}}), 0) << said_;
  EXPECT_THAT(ask("select rank, local_rank from rank"), ElementsAre(ElementsAre("1", "1")));
}

// A launcher that was itself started as the only rank, and numbers its own by arguments.
TEST_F(InjectedProgram, AChildOfTheOnlyRankIsRecordedOnceItJoinsACommunicator) {
  const std::map<std::string, std::string> variables{{"RANK", "0"}, {"WORLD_SIZE", "1"}};
  EXPECT_EQ(run_on_gpus("'rank 1' work", variables), 0) << said_;
  EXPECT_THAT(ask("select rank from rank"), ElementsAre(ElementsAre("1")))
      << "not at its first work";
  EXPECT_EQ(run("exit", variables), 0);
  EXPECT_EQ(run_on_gpus("optimizer ranges", variables), 0) << said_;
  EXPECT_EQ(said_, "");
  EXPECT_THAT(ask("select rank from rank order by rank"),
              ElementsAre(ElementsAre("0"), ElementsAre("1"), ElementsAre("2")))
      << "the first that is free, for its own is taken";
  EXPECT_FALSE(fs::exists(root_ / "run" / "rank_0.restarted"));
}

// What was loaded last ends first: the end of the recording must come before CUPTI's own.
TEST_F(InjectedProgram, TakesInCuptisLastRecordsThoughCuptiCameLaterThanItself) {
  EXPECT_EQ(run_on_gpus("optimizer ranges"), 0) << said_;
  EXPECT_EQ(said_, "");
  EXPECT_THAT(count_kernels(), ElementsAre(ElementsAre("300")));
}

TEST_F(InjectedProgram, StepsAreWhatRepeatsWhereTheOptimizerIsUnknown) {
  EXPECT_EQ(run_on_gpus("pattern"), 0) << said_;
  // The last one is known by its length alone, without the pause after it.
  EXPECT_THAT(ask("select count(*), min(end_ns - start_ns), max(end_ns - start_ns) from step"),
              ElementsAre(ElementsAre("12", "2500000", "3000000")));
  EXPECT_THAT(ask("select sources from rank"),
              ElementsAre(ElementsAre(HasSubstr("how kernels repeat"))));
}

TEST_F(InjectedProgram, CollectivesHaveTheirKernelsTimesAndNcclsChoices) {
  EXPECT_EQ(run_on_gpus("optimizer"), 0) << said_;
  // Bytes and type are the caller's, also where NCCL works on plain bytes, as it gathers.
  EXPECT_THAT(
      ask("select function, bytes, data_type, algorithm, protocol, channels, "
          "min(end_ns - start_ns), count(*) from collective group by 1, 2, 3, 4, 5, 6 order by 1"),
      ElementsAre(
          ElementsAre("all_gather", "59100000", "float32", "RING", "SIMPLE", "16", "100000", "12"),
          ElementsAre("all_reduce", "29550000", "float32", "RING", "SIMPLE", "16", "100000",
                      "12")));
  // Each in the step of its kernel, although it was asked for before steps were known.
  EXPECT_THAT(ask("select count(*) from collective c join step s on s.step = c.step "
                  "where c.start_ns between s.start_ns and s.end_ns"),
              ElementsAre(ElementsAre("22")));
  EXPECT_THAT(ask("select name from process_group where name <> 'world'"),
              ElementsAre(ElementsAre(HasSubstr("(test)"))));
  EXPECT_THAT(ask("select count(*) from lost"), ElementsAre(ElementsAre("0")));
}

// A step's first kernels come before the product that tells of it, and the host is ahead of both.
TEST_F(InjectedProgram, StepsThatAreAskedForHaveAllThatRanInThem) {
  EXPECT_EQ(run_on_gpus("optimizer", {{"SHARDLENS_RECORD_STEPS", "every 4th"}}), 0) << said_;
  EXPECT_THAT(ask("select step from step where full_detail and step > 0 order by 1"),
              ElementsAre(ElementsAre("4"), ElementsAre("8")));
  for (const auto& [table, count] : {std::pair{"kernel", "25"}, std::pair{"collective", "2"}}) {
    EXPECT_THAT(ask("select s.step, count(*) from step s join " + std::string(table) +
                    " e on e.start_ns >= s.start_ns and e.start_ns < s.end_ns "
                    "where s.full_detail and s.step > 0 group by 1 order by 1"),
                ElementsAre(ElementsAre("4", count), ElementsAre("8", count)))
        << table;
    EXPECT_THAT(ask("select count(*) from step s join " + std::string(table) +
                    " e on e.start_ns >= s.start_ns and e.start_ns < s.end_ns "
                    "where s.step in (2, 6, 10)"),
                ElementsAre(ElementsAre("0")))
        << table;
  }
}

// As with an NCCL that is too old for the plugin.
TEST_F(InjectedProgram, SaysWhyThereAreNoCollectivesWhereNcclTellsNothing) {
  const auto of_plugin = "select text from log where text like '%profiler plugin%'";
  EXPECT_EQ(run_on_gpus("optimizer", {{"NCCL_PROFILER_PLUGIN", "none"}, {"RANK", "0"}}), 0)
      << said_;
  EXPECT_THAT(ask("select count(*) from collective"), ElementsAre(ElementsAre("0")));
  EXPECT_THAT(ask(of_plugin), ElementsAre(ElementsAre(HasSubstr("version 2.28 or newer"))));
  EXPECT_EQ(run_on_gpus("optimizer", {{"RANK", "1"}}), 0) << said_;
  EXPECT_THAT(ask(of_plugin), testing::SizeIs(1)) << "rank 1 has them";
}

// Of NVML's stand-in (tests/profiler/nvml/fake_nvml), found by what CUDA's driver calls the GPU.
TEST_F(InjectedProgram, TellsOfTheGpuThatItUsed) {
  EXPECT_EQ(run_on_gpus("optimizer"), 0) << said_;
  EXPECT_THAT(ask("select device, device_name, versions from rank"),
              ElementsAre(ElementsAre("cuda:0", "Fake GPU", "driver 580.95.05 for CUDA 13.0")));
  EXPECT_THAT(ask("select distinct other_bytes from memory"),
              ElementsAre(ElementsAre(std::to_string(20LL << 30))));
  EXPECT_THAT(ask("select distinct value from counter where name = 'GPU temperature'"),
              ElementsAre(ElementsAre("64")));
  EXPECT_THAT(
      ask("select sources from rank"),
      ElementsAre(ElementsAre(HasSubstr("memory: NVML, of the whole GPU, as it does not tell the "
                                        "process's; power, clocks"))))
      << "20 GiB are all that is used";
}

// More records than CUPTI has buffers for come while NVML starts.
TEST_F(InjectedProgram, LosesNothingWhileNvmlStarts) {
  EXPECT_EQ(
      run_on_gpus("'many kernels'", {{"FAKE_NVML_INIT_MS", "4000"}, {"FAKE_GPU_INSTANT", "1"}}), 0)
      << said_;
  EXPECT_THAT(ask("select reason, count from lost"), ElementsAre());
  EXPECT_THAT(count_kernels(), ElementsAre(ElementsAre("160000")));
  EXPECT_THAT(ask("select device_name from rank"), ElementsAre(ElementsAre("Fake GPU")));
}

}  // namespace
}  // namespace shardlens::profiler::inject
