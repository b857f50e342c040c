// What doctor says of drivers and GPUs that are not here: a made-up management library and made-up
// files under /proc.
#include "app/cli/doctor/gpu_health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/profiler/nvml/fake_nvml_library.h"
#include "trace/base/file_system.h"

namespace shardlens::app::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class GpuHealth : public testing::Test {
 protected:
  void write(const fs::path& file, const std::string& text) {
    const fs::path path = context_.places.proc / file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  // As this machine has no CUDA driver, what libcuda would say is made up beside what NVML says.
  GpuScene scene() {
    GpuScene scene = look_at_gpus(context_, read_system_facts(context_.places));
    if (!scene.census) return scene;
    scene.cuda = {
        .driver_found = true, .driver_cuda_version = 13000, .error_code = 0, .devices = {}};
    for (const auto& gpu : scene.census->gpus) {
      scene.cuda.devices.push_back({gpu.name, gpu.memory ? gpu.memory->total : 0});
    }
    return scene;
  }
  HealthCheck check(const std::string& name) {
    const auto checks = check_gpu_health(scene());
    for (const HealthCheck& each : checks) {
      EXPECT_EQ(each.advice.empty(), each.health == Health::kGood) << each.name;
      EXPECT_FALSE(each.finding.empty()) << each.name;
      if (each.name == name) return each;
    }
    ADD_FAILURE() << "no check is called " << name;
    return {};
  }
  void gpus(std::size_t count) { fake_.state().gpus.assign(count, test::FakeGpu{}); }

  test::FakeNvmlLibrary fake_;
  const trace::base::TemporaryFolder folder_ = std::move(*trace::base::TemporaryFolder::create());
  HealthContext context_{.runs_dir = folder_.path(),
                         .has_display = true,
                         .nvml_library = fake_.path(),
                         .places = {.proc = folder_.path() / "proc",
                                    .sys = folder_.path() / "sys",
                                    .shared_memory = folder_.path()}};
};

TEST_F(GpuHealth, WithoutADriverItSaysWhatWorksAllTheSame) {
  context_.nvml_library = "libno-such-driver.so.1";
  GpuScene bare = scene();
  bare.cuda = {};
  const auto checks = check_gpu_health(bare);
  ASSERT_EQ(checks.size(), 2u) << "nothing more is asked of a machine without a driver";
  EXPECT_EQ(checks[0].health, Health::kLimited);
  EXPECT_THAT(checks[0].finding, AllOf(HasSubstr("none: jobs run on the CPU"),
                                       HasSubstr("can be viewed, compared and replayed")));
  EXPECT_THAT(checks[0].advice, HasSubstr("580"));
  EXPECT_EQ(checks[1].finding, "none");
}

TEST_F(GpuHealth, ADriverThatIsTooOldForTheTrainerIsNamedWithWhatToDo) {
  fake_.state().cuda = 12080;
  fake_.state().driver = "570.86.10";
  const auto found = check("NVIDIA driver");
  EXPECT_EQ(found.health, Health::kLimited);
  EXPECT_THAT(found.finding, HasSubstr("570.86.10, for CUDA up to 12.8: the trainer is built for "
                                       "CUDA 13.0"));
  EXPECT_THAT(found.advice, HasSubstr("Update the driver to 580"));
  fake_.state().cuda = 13010;
  fake_.state().driver = "590.1";
  EXPECT_EQ(check("NVIDIA driver").health, Health::kGood);
  EXPECT_EQ(check("NVIDIA driver").finding, "590.1, for CUDA up to 13.1");
}

TEST_F(GpuHealth, ALibraryThatDoesNotFitTheLoadedDriverIsSaid) {
  fake_.state().init_status = profiler::nvml::kNvmlVersionMismatch;
  GpuScene broken = scene();
  broken.cuda = {
      .driver_found = true, .driver_cuda_version = 13000, .error_code = 803, .devices = {}};
  const auto found = check_driver(broken);
  EXPECT_THAT(found.finding, AllOf(HasSubstr("does not start (CUDA error 803)"),
                                   HasSubstr("Driver/library version mismatch")));
}

TEST_F(GpuHealth, HiddenGpusAreCounted) {
  gpus(4);
  GpuScene some = scene();
  some.cuda.devices.resize(1);
  EXPECT_THAT(check_gpus(some).finding, HasSubstr("4 in the machine, the others are hidden"));
  some.cuda.devices.clear();
  EXPECT_EQ(check_gpus(some).health, Health::kLimited);
  EXPECT_THAT(check_gpus(some).advice, HasSubstr("CUDA_VISIBLE_DEVICES"));
}

TEST_F(GpuHealth, TellsWhetherThisProcessMayProfile) {
  EXPECT_THAT(check("CUPTI rights").finding, HasSubstr("not known"));
  write("driver/nvidia/params", "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 0\n");
  EXPECT_EQ(check("CUPTI rights").finding, "every user may profile");
  write("driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
  write("self/status", "Name:\tx\nCapEff:\t00000000a80425fb\n");  // a container's
  EXPECT_EQ(check("CUPTI rights").health, Health::kLimited);
  EXPECT_THAT(check("CUPTI rights").advice, HasSubstr("SYS_ADMIN"));
  write("self/status", "CapEff:\t0000004000000000\n");  // CAP_PERFMON alone
  EXPECT_EQ(check("CUPTI rights").health, Health::kGood);
  write("self/status", "CapEff:\t0000000000200000\n");  // CAP_SYS_ADMIN alone
  EXPECT_EQ(check("CUPTI rights").health, Health::kGood);
}

TEST_F(GpuHealth, SaysHowGpusReachEachOther) {
  EXPECT_THAT(check("Between GPUs").finding, HasSubstr("one GPU"));
  gpus(8);
  for (auto& gpu : fake_.state().gpus) gpu.nvlink_versions.assign(18, 6);
  EXPECT_EQ(check("Between GPUs").finding,
            "NVLink between all, 18 links each, 450.0 GB/s in one direction");
  gpus(3);
  fake_.state().p2p = {{profiler::nvml::kNvmlP2pRead, 0}, {profiler::nvml::kNvmlP2pNvlink, 5}};
  EXPECT_EQ(check("Between GPUs").health, Health::kGood);
  EXPECT_THAT(check("Between GPUs").finding, HasSubstr("PCIe 5 x16, 63"));
  fake_.state().p2p[profiler::nvml::kNvmlP2pRead] = 1;
  EXPECT_EQ(check("Between GPUs").health, Health::kLimited);
  EXPECT_THAT(check("Between GPUs").finding, HasSubstr("between 0–1, 0–2, 1–2: data goes through"));
  fake_.gpu().refusals["GetP2PStatus"] = profiler::nvml::kNvmlNotSupported;
  EXPECT_THAT(check("Between GPUs").finding, HasSubstr("not known"));
}

TEST_F(GpuHealth, NamesTheGpusThatAreSplitOrForgetTheDriver) {
  gpus(3);
  fake_.gpu(1).mig = true;
  fake_.gpu(0).persistence = false;
  fake_.gpu(2).persistence = false;
  EXPECT_THAT(check("MIG").finding, HasSubstr("on for GPU 1:"));
  EXPECT_THAT(check("MIG").advice, HasSubstr("-i 1 -mig 0"));
  EXPECT_THAT(check("Persistence mode").finding, HasSubstr("off for GPUs 0, 2"));
  gpus(1);
  fake_.gpu().mig.reset();
  EXPECT_EQ(check("MIG").finding, "off");
  EXPECT_EQ(check("Persistence mode").finding, "on");
}

TEST_F(GpuHealth, NamesWhoElseComputesOnTheGpus) {
  gpus(2);
  EXPECT_EQ(check("Other jobs").health, Health::kGood);
  fake_.gpu(1).processes = {{4711, 12ull << 30, 0, 0}, {4712, ~0ull, 0, 0}};
  write("4711/comm", "python3\n");
  EXPECT_EQ(check("Other jobs").finding,
            "process 4711 (python3, 12.0 GiB) on GPU 1; process 4712 on GPU 1: timings of jobs "
            "beside it are not representative");
  gpus(1);
  fake_.gpu().refusals["GetComputeRunningProcesses"] = profiler::nvml::kNvmlNoPermission;
  EXPECT_THAT(check("Other jobs").finding, HasSubstr("not known"));
}

}  // namespace
}  // namespace shardlens::app::cli
