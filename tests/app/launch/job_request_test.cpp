#include "app/launch/job_request.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "app/launch/rank_environment.h"
#include "tests/files.h"
#include "trace/base/this_machine.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::launch {
namespace {

namespace fs = std::filesystem;
using trace::base::ErrorKind;

CudaProbe gpus(std::size_t count) {
  CudaProbe probe;
  probe.driver_found = count > 0;
  probe.devices.resize(count);
  return probe;
}

trace::job::Settings settings(trace::job::DeviceChoice device, std::int64_t ranks) {
  trace::job::Settings settings;
  settings.device = device;
  settings.ranks = ranks;
  return settings;
}

TEST(CheckJob, RefusesASequenceLongerThanTheContextBeforeAnythingStarts) {
  JobRequest job{.settings = settings(trace::job::DeviceChoice::kCpu, 2), .name = "long"};
  job.settings.model = "gpt2";
  job.settings.sequence_length = 1024;
  EXPECT_TRUE(check_job(job, gpus(0)));
  job.settings.sequence_length = 1025;
  const auto refused = check_job(job, gpus(0));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_NE(refused.error().message.find("at most 1024"), std::string::npos);
}

TEST(ResolveDevice, TakesTheCpuWhereThereIsNoGpu) {
  EXPECT_EQ(resolve_device(settings(trace::job::DeviceChoice::kAuto, 2), gpus(0)).value(), "cpu");
  EXPECT_EQ(resolve_device(settings(trace::job::DeviceChoice::kCpu, 8), gpus(1)).value(), "cpu");
}

TEST(ResolveDevice, TakesGpusWhereThereAreEnough) {
  EXPECT_EQ(resolve_device(settings(trace::job::DeviceChoice::kAuto, 2), gpus(2)).value(), "cuda");
  EXPECT_EQ(resolve_device(settings(trace::job::DeviceChoice::kCuda, 1), gpus(2)).value(), "cuda");
}

TEST(ResolveDevice, KeepsASimulatedLinkOnTheCpu) {
  auto linked = settings(trace::job::DeviceChoice::kAuto, 2);
  linked.simulate_link = "latency_us=50,gbit_per_s=1";
  EXPECT_EQ(resolve_device(linked, gpus(8)).value(), "cpu");
}

TEST(ResolveDevice, RefusesCudaWithoutAGpu) {
  const auto device = resolve_device(settings(trace::job::DeviceChoice::kCuda, 1), gpus(0));
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().kind, ErrorKind::kUsage);
  EXPECT_NE(device.error().message.find("doctor"), std::string::npos);
}

TEST(ResolveDevice, RefusesMoreRanksThanGpusUnlessTheyMayShare) {
  auto crowded = settings(trace::job::DeviceChoice::kAuto, 4);
  const auto refused = resolve_device(crowded, gpus(2));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_NE(refused.error().message.find("with oversubscribe"), std::string::npos);
  crowded.oversubscribe = true;
  EXPECT_EQ(resolve_device(crowded, gpus(2)).value(), "cuda");
}

TEST(CheckJob, RefusesMoreRanksThanTheMemoryHolds) {
  JobRequest job;
  EXPECT_TRUE(check_job(job, gpus(0)));
  job.settings.ranks = 1024;
  if (trace::base::memory_bytes() > 60'000'000'000) GTEST_SKIP() << "this machine may hold them";
  const auto refused = check_job(job, gpus(0));
  ASSERT_FALSE(refused);
  const std::string& said = refused.error().message;
  const auto advice = said.find("Use ranks ");
  ASSERT_NE(advice, std::string::npos) << said;
  job.settings.ranks = std::stoll(said.substr(advice + std::string("Use ranks ").size()));
  EXPECT_TRUE(check_job(job, gpus(0))) << "as many as it says";
  ++job.settings.ranks;
  EXPECT_FALSE(check_job(job, gpus(0))) << "and no more";
}

TEST(CheckJob, MarksSharedGpusAndSimulations) {
  JobRequest request;
  request.settings = settings(trace::job::DeviceChoice::kCuda, 4);
  request.settings.oversubscribe = true;
  const auto shared = check_job(request, gpus(2));
  ASSERT_TRUE(shared) << shared.error().message;
  EXPECT_TRUE(shared->shared_gpu);
  request.settings = settings(trace::job::DeviceChoice::kCpu, 2);
  request.settings.simulate_link = "latency_us=50,gbit_per_s=1";
  const auto simulated = check_job(request, gpus(0));
  ASSERT_TRUE(simulated) << simulated.error().message;
  EXPECT_TRUE(simulated->simulated_link);
  EXPECT_FALSE(simulated->shared_gpu);
}

TEST(CheckJob, RefusesDataThatIsNotThereOrEmpty) {
  const trace::test::Folder folder;
  JobRequest request;
  request.settings.device = trace::job::DeviceChoice::kCpu;
  request.settings.data = folder / "no text \"here\" 😀";
  const auto missing = check_job(request, gpus(0));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kUsage);
  EXPECT_NE(missing.error().message.find("no text \"here\" 😀"), std::string::npos);

  request.settings.data = folder / "empty.txt";
  std::ofstream(request.settings.data).close();
  const auto empty = check_job(request, gpus(0));
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.error().message.find("empty.txt is empty"), std::string::npos);
}

TEST(CheckJob, KeepsWhereItsFilesAre) {
  const trace::test::Folder folder;
  std::ofstream(folder / "text.txt") << "some text";
  JobRequest request;
  request.settings.device = trace::job::DeviceChoice::kCpu;
  request.settings.data = fs::relative(folder / "text.txt");
  const auto run = check_job(request, gpus(0));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->settings.data, fs::path(folder / "text.txt"));
}

TEST(CheckJob, RefusesTextToEvaluateOnThatIsNotThereOrEmpty) {
  const trace::test::Folder folder;
  JobRequest request;
  request.settings.device = trace::job::DeviceChoice::kCpu;
  for (const char* none : {"split", "builtin"}) {
    request.settings.evaluation_data = none;
    EXPECT_TRUE(check_job(request, gpus(0))) << none;
  }
  request.settings.evaluation_data = folder / "held_out.txt";
  const auto missing = check_job(request, gpus(0));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(missing.error().message, "evaluation_data: " + request.settings.evaluation_data +
                                         " does not exist. Name a text file or a folder of text "
                                         "files, or use split.");
  std::ofstream(request.settings.evaluation_data).close();
  const auto empty = check_job(request, gpus(0));
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.error().message.find("held_out.txt is empty"), std::string::npos);
}

TEST(CheckJob, NamesARunByItsDifferences) {
  JobRequest request;
  request.settings.device = trace::job::DeviceChoice::kCpu;
  request.name_base.device = trace::job::DeviceChoice::kCpu;
  request.settings.bucket_cap_mb = 60;
  const auto run = check_job(request, gpus(0));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->name, "cap 60");
}

TEST(CheckJob, RefusesToReplaceARunThatTheNewOneReads) {
  const trace::test::Folder folder;
  JobRequest request;
  request.runs_dir = folder / "runs";
  request.settings.device = trace::job::DeviceChoice::kCpu;
  request.name = "ft";
  request.overwrite = true;
  trace::model::RunInfo old;
  old.name = "ft";
  const auto run = trace::store::create_run(request.runs_dir, old, false);
  ASSERT_TRUE(run) << run.error().message;
  request.settings.data = *run / "texts" / "mine.txt";
  std::filesystem::create_directory(*run / "texts");
  std::ofstream(request.settings.data) << std::string(4096, 'x');
  const auto refused = check_job(request, gpus(0));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(refused.error().message, "data: " + request.settings.data +
                                         " lies in the run 'ft', which would be deleted: choose "
                                         "another name for the new one.");
  request.name = "ft 2";
  EXPECT_TRUE(check_job(request, gpus(0)));
}

TEST(RankEnvironment, HoldsTheContractAndNothingOfAnotherLauncher) {
  trace::model::RunInfo run;
  run.world_size = 4;
  run.device = "cpu";
  const auto environment = rank_environment(
      {"PATH=/bin", "RANK=9", "TORCHELASTIC_RUN_ID=7", "OMP_NUM_THREADS=64",
       "SHARDLENS_STORE_FILE=/old", "SHARDLENS_LAUNCHER_PID=1", "SHARDLENS_OUTCOME_DESCRIPTOR=9",
       "SHARDLENS_RECORD_FOLDER=/old", "SHARDLENS_PYTHON=/opt/python3"},
      run, {.rank = 2, .store_file = "/tmp/s", .launcher_process = 17, .cores = 8});
  const auto has = [&](const std::string& entry) {
    return std::ranges::count(environment, entry) == 1;
  };
  for (const auto* entry :
       {"PATH=/bin", "RANK=2", "LOCAL_RANK=2", "WORLD_SIZE=4", "LOCAL_WORLD_SIZE=4",
        "MASTER_ADDR=127.0.0.1", "SHARDLENS_STORE_FILE=/tmp/s", "SHARDLENS_LAUNCHER_PID=17",
        "OMP_NUM_THREADS=2", "SHARDLENS_PYTHON=/opt/python3"}) {
    EXPECT_TRUE(has(entry)) << entry;
  }
  for (const auto& entry : environment) {
    EXPECT_FALSE(entry.starts_with("TORCHELASTIC") || entry == "RANK=9") << entry;
    EXPECT_FALSE(entry.ends_with("=/old") || entry.starts_with("SHARDLENS_OUTCOME")) << entry;
    EXPECT_FALSE(entry.starts_with("NCCL_")) << entry;
  }
}

// As in a program that `shardlens record` runs.
TEST(RankEnvironment, HasNothingOfARecordingInWhichItWasStarted) {
  trace::model::RunInfo run;
  run.device = "cuda";
  const std::string folder = "SHARDLENS_RECORD_FOLDER=/runs/outer";
  const std::vector<std::string> of_recording{"CUDA_INJECTION64_PATH=/x/libshardlens-record.so",
                                              "NVTX_INJECTION64_PATH=/x/libshardlens-record.so",
                                              "NCCL_PROFILER_PLUGIN=/x/libshardlens-record.so",
                                              "NCCL_DEBUG_FILE=/runs/outer/nccl.%h.%p.log"};
  const std::vector<std::string> of_user{"NCCL_NET_PLUGIN=/x/other.so", "LOGS=/runs/outer2"};
  const auto count = [&](const std::vector<std::string>& those, bool in_recording) {
    std::vector<std::string> inherited = of_recording;
    inherited.insert(inherited.end(), of_user.begin(), of_user.end());
    if (in_recording) inherited.push_back(folder);
    const auto environment = rank_environment(inherited, run, {.store_file = "s"});
    return std::ranges::count_if(those, [&](const std::string& entry) {
      return std::ranges::find(environment, entry) != environment.end();
    });
  };
  EXPECT_EQ(count(of_recording, true), 0);
  EXPECT_EQ(count(of_user, true), 2);
  EXPECT_EQ(count(of_recording, false), 4) << "the user's own";
}

TEST(RankEnvironment, GivesRanksThatShareAGpuDifferentHosts) {
  trace::model::RunInfo run;
  run.world_size = 2;
  run.device = "cuda";
  run.shared_gpu = true;
  const auto first = rank_environment({}, run, {.rank = 0, .store_file = "s"});
  const auto second = rank_environment({}, run, {.rank = 1, .store_file = "s"});
  const auto host = [](const std::vector<std::string>& environment) {
    for (const auto& entry : environment) {
      if (entry.starts_with("NCCL_HOSTID=")) return entry;
    }
    return std::string();
  };
  EXPECT_FALSE(host(first).empty());
  EXPECT_NE(host(first), host(second));
}

TEST(RankEnvironment, FollowsTheKnobsOfLibrariesOnGpusAlone) {
  trace::model::RunInfo run;
  run.world_size = 1;
  run.settings.nccl_algo = "Tree";
  run.settings.allocator_conf = "max_split_size_mb:64";
  const std::vector<std::string> inherited{"NCCL_ALGO=Ring", "NCCL_PROTO=LL",
                                           "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:False"};
  const auto entries_of = [&](const std::string& device) {
    run.device = device;
    std::vector<std::string> entries;
    for (const auto& entry : rank_environment(inherited, run, {.store_file = "s"})) {
      const bool is_library =
          entry.starts_with("NCCL_") || entry.starts_with("PYTORCH_") || entry.starts_with("CUDA_");
      if (is_library && !entry.starts_with("NCCL_SOCKET")) entries.push_back(entry);
    }
    std::ranges::sort(entries);
    return entries;
  };
  EXPECT_EQ(entries_of("cuda"),
            (std::vector<std::string>{"NCCL_ALGO=Tree", "NCCL_DEBUG=WARN", "NCCL_PROTO=LL",
                                      "PYTORCH_ALLOC_CONF=max_split_size_mb:64"}));
  EXPECT_EQ(entries_of("cpu"), inherited);
}

TEST(CheckJob, GivesTheRunTheTagsThatWereAskedFor) {
  JobRequest request;
  request.settings = settings(trace::job::DeviceChoice::kCpu, 1);
  request.name = "tagged";
  request.tags = {"caps"};
  const auto job = check_job(request, gpus(0));
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->tags, request.tags);
}

TEST(DefaultJob, HasNoMoreRanksThanGpus) {
  CudaProbe one;
  one.devices.resize(1);
  EXPECT_EQ(default_job(one).settings.ranks, 1);
  EXPECT_EQ(default_job({}).settings.ranks, trace::job::Settings{}.ranks);
}

}  // namespace
}  // namespace shardlens::app::launch
