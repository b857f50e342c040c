#include "profiler/nvml/gpu_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/nvml/gpu_census.h"
#include "tests/profiler/nvml/fake_nvml_library.h"

namespace shardlens::profiler::nvml {
namespace {

constexpr unsigned kNvlink4Code = 6, kNvlink3Code = 4;

class GpuLinkTest : public testing::Test {
 protected:
  // Between the first and the other GPUs.
  GpuLink link() {
    const auto library = NvmlLibrary::open(fake_.path());
    std::vector<NvmlDevice> peers;
    for (int i = 1; i < (*library)->device_count(); ++i) peers.push_back(*(*library)->device(i));
    return link_to_peers(**library, *(*library)->device(0), peers);
  }
  void two_gpus(unsigned links, unsigned code) {
    fake_.state().gpus.assign(2, test::FakeGpu{});
    for (test::FakeGpu& gpu : fake_.state().gpus) gpu.nvlink_versions.assign(links, code);
  }

  test::FakeNvmlLibrary fake_;
};

// NVIDIA's data sheets: H100 900 GB/s and A100 600 GB/s, both directions.
TEST_F(GpuLinkTest, CountsActiveNvlinksAndTakesTheirVersionsSpeed) {
  two_gpus(18, kNvlink4Code);
  EXPECT_EQ(link().text, "NVLink 4, 18 links");
  EXPECT_DOUBLE_EQ(link().bytes_per_second, 900e9 / 2);
  two_gpus(12, kNvlink3Code);
  EXPECT_EQ(link().text, "NVLink 3, 12 links");
  EXPECT_DOUBLE_EQ(link().bytes_per_second, 600e9 / 2);
}

TEST_F(GpuLinkTest, AnNvlinkOfAnUnknownVersionHasNoPeak) {
  two_gpus(4, 99);
  EXPECT_EQ(link().text, "NVLink, 4 links");
  EXPECT_EQ(link().bytes_per_second, 0);
}

// PCI-SIG's tables for x16: 4.0, 8.0, 15.75, 31.5, 63.0 and about 118 GB/s.
TEST_F(GpuLinkTest, PcieIsWhatIsLeftOfTheTransfersAfterCoding) {
  EXPECT_NEAR(pcie_bytes_per_second(1, 16), 4e9, 1);
  EXPECT_NEAR(pcie_bytes_per_second(2, 16), 8e9, 1);
  EXPECT_NEAR(pcie_bytes_per_second(3, 16), 15.754e9, 1e6);
  EXPECT_NEAR(pcie_bytes_per_second(4, 16), 31.508e9, 1e6);
  EXPECT_NEAR(pcie_bytes_per_second(5, 16), 63.015e9, 1e6);
  EXPECT_NEAR(pcie_bytes_per_second(6, 16), 118e9, 1e6);
  EXPECT_NEAR(pcie_bytes_per_second(4, 8), pcie_bytes_per_second(4, 16) / 2, 1);
  EXPECT_EQ(pcie_bytes_per_second(0, 16), 0);
  EXPECT_EQ(pcie_bytes_per_second(9, 16), 0);
}

TEST_F(GpuLinkTest, GpusWithoutNvlinkBetweenThemTalkOverPcie) {
  two_gpus(0, 0);
  fake_.state().p2p[kNvmlP2pNvlink] = 5;
  EXPECT_EQ(link().text, "PCIe 5 x16");
  EXPECT_NEAR(link().bytes_per_second, 63.015e9, 1e6);
}

TEST_F(GpuLinkTest, WhatMayNotReadItsPeerGoesThroughHostMemory) {
  two_gpus(0, 0);
  fake_.state().p2p = {{kNvmlP2pNvlink, 5}, {kNvmlP2pRead, 1}};
  EXPECT_EQ(link().text, "PCIe 5 x16 through host memory");
}

TEST_F(GpuLinkTest, NothingIsClaimedWhereNothingTells) {
  EXPECT_EQ(link().text, "") << "a single GPU";
  two_gpus(18, kNvlink4Code);
  fake_.gpu().refusals["GetP2PStatus"] = kNvmlNotSupported;
  EXPECT_EQ(link().text, "");
  EXPECT_EQ(link().bytes_per_second, 0);
}

TEST_F(GpuLinkTest, SaysWhatRanksReallyUse) {
  two_gpus(18, kNvlink4Code);
  fake_.gpu(1).bus = "00000000:43:00.0";
  const auto library = NvmlLibrary::open(fake_.path());
  const RankPlaces apart{.own = fake_.gpu(0).bus, .peers = {fake_.gpu(1).bus}};
  EXPECT_EQ(link_between_ranks(library->get(), apart).text, "NVLink 4, 18 links");
  RankPlaces shared = apart;
  shared.is_shared = true;
  EXPECT_EQ(link_between_ranks(library->get(), shared).text, "sockets, since ranks share a GPU");
  EXPECT_EQ(link_between_ranks(library->get(), shared).bytes_per_second, 0);
  RankPlaces far = apart;
  far.is_single_machine = false;
  EXPECT_EQ(link_between_ranks(library->get(), far).text, "network between machines");
  EXPECT_EQ(link_between_ranks(nullptr, apart).text, "");
  RankPlaces unknown = apart;
  unknown.peers = {"00000000:99:00.0"};
  EXPECT_EQ(link_between_ranks(library->get(), unknown).text, "");
  EXPECT_EQ(link_between_ranks(library->get(), {.own = fake_.gpu(0).bus}).text, "") << "one rank";
}

TEST_F(GpuLinkTest, ACensusHasEveryGpuAndEveryPairOnce) {
  fake_.state().gpus.assign(3, test::FakeGpu{});
  fake_.gpu(1).mig = true;
  fake_.gpu(2).persistence.reset();
  fake_.gpu(2).processes.assign(100, {4'711, 1ull << 30, 0, 0});
  fake_.gpu(0).refusals["GetComputeRunningProcesses"] = kNvmlNoPermission;
  const auto library = NvmlLibrary::open(fake_.path());
  const GpuCensus census = take_gpu_census(**library);
  EXPECT_EQ(census.driver, "580.95.05");
  ASSERT_EQ(census.gpus.size(), 3u);
  EXPECT_FALSE(census.gpus[0].processes);
  EXPECT_EQ(census.gpus[1].mig, true);
  EXPECT_EQ(census.gpus[1].persistence, true);
  EXPECT_FALSE(census.gpus[2].persistence);
  ASSERT_TRUE(census.gpus[2].processes);
  EXPECT_EQ(census.gpus[2].processes->size(), 100u) << "more than the first room for them";
  EXPECT_EQ(census.gpus[2].processes->back().process_id, 4'711u);
  ASSERT_EQ(census.pairs.size(), 3u);
  EXPECT_EQ(census.pairs[2].from, 1);
  EXPECT_EQ(census.pairs[2].to, 2);
  EXPECT_EQ(census.pairs[0].access, PeerAccess::kNvlink);
}

}  // namespace
}  // namespace shardlens::profiler::nvml
