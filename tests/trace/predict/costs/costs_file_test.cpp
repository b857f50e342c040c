#include "trace/predict/costs/costs_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "trace/base/file_system.h"

namespace shardlens::trace::predict {
namespace {

namespace fs = std::filesystem;
using base::ErrorKind;
using model::CollectiveFunction;

CostsFile example() {
  CostsFile file;
  file.setup.device = "cpu";
  file.setup.device_name = "AMD EPYC, 2 cores";
  file.setup.backend = "gloo";
  file.setup.ranks = 2;
  file.setup.simulated_link = job::SimulatedLink{200, 1};
  file.setup.environment = "";
  file.host = "here";
  file.program = "shardlens 0.1.0";
  file.versions = "LibTorch 2.11.0";
  file.data_type = "float32";
  file.measured_ns = 1'700'000'000'000'000'000;
  file.seconds = 2.5;
  file.seed = 7;
  file.rows = {{{CollectiveFunction::kAllReduce, 2}, 1024, 9, 1500.5, 1400, 1700.25},
               {{CollectiveFunction::kBroadcast, 2}, 4096, std::nullopt, 10, {}, {}}};
  return file;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

class CostsFileTest : public testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& text) {
    const fs::path path = folder_.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path;
  }
  void keep(const CostsFile& file) { ASSERT_TRUE(keep_costs(folder_.path(), file)); }
  std::size_t kept() const {
    const fs::directory_iterator files(folder_.path() / kCostsFolder);
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
  }
  std::optional<CollectiveCosts> found(const CommunicationSetup& setup) const {
    const auto costs = costs_for(setup, folder_.path());
    EXPECT_TRUE(costs) << costs.error().message;
    return costs ? *costs : std::nullopt;
  }

  base::TemporaryFolder folder_ = *base::TemporaryFolder::create();
};

TEST_F(CostsFileTest, ComesBackAsItWasWritten) {
  const CostsFile file = example();
  const fs::path path = folder_.path() / "costs.json";
  ASSERT_TRUE(write_costs(path, file));
  ASSERT_TRUE(write_costs(path, file)) << "over what is there";
  const auto read = read_costs(path);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(costs_json(*read), costs_json(file));
  EXPECT_EQ(read->rows, file.rows);
  EXPECT_TRUE(holds_for(read->setup, file.setup));
  EXPECT_EQ(read->setup.environment, "") << "known to be none";
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1) << "nothing beside it";
}

TEST_F(CostsFileTest, WhatIsNotKnownIsNull) {
  CostsFile file = example();
  file.setup.environment.reset();
  file.setup.device_name = file.versions = "";
  file.measured_ns = 0;
  file.seconds.reset();
  const std::string json = costs_json(file);
  for (const char* key : {"environment", "device_name", "versions", "measured_ns", "seconds",
                          "link", "count", "lower_quartile_ns"}) {
    EXPECT_NE(json.find("\"" + std::string(key) + "\": null"), std::string::npos) << key;
  }
  const auto read = parse_costs(json, "it");
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->setup.environment);
  EXPECT_FALSE(read->rows[1].count);
}

TEST_F(CostsFileTest, DamageIsNamedByItsKey) {
  const std::string whole = costs_json(example());
  const std::pair<std::string, std::string> damages[] = {
      {"\"bytes\": 1024", "\"bytes\": -1024"},
      {"\"bytes\": 1024", "\"bytes\": 1e300"},
      {"\"bytes\": 1024", "\"bytes\": 18446744073709551615"},
      {"\"median_ns\": 1500.5", "\"median_ns\": \"long\""},
      {"\"median_ns\": 1500.5", "\"median_ns\": 99999"},
      {"\"median_ns\": 1500.5", "\"median_ns\": null"},
      {"\"function\": \"all_reduce\"", "\"function\": \"all_reduced\""},
      {"\"function\": \"all_reduce\"", "\"function\": \"barrier\""},
      {"\"count\": 9", "\"count\": 0"},
      {"\"gbit_per_s\": 1.0", "\"gbit_per_s\": 0"},
      {"\"hosts\": 1", "\"hosts\": \"one\""},
      {"\"backend\": \"gloo\"", "\"backend\": \"\""},
      {"\"backend\": \"gloo\"", "\"backend\": \"/tmp/../gloo\""},
      {"\"shared_gpu\": false", "\"shared_gpu\": 0"},
      {"\"source\": \"shardlens calibrate\"", "\"source\": \"a guess\""},
      {"\"version\": 1", "\"version\": \"1\""},
      {"\"seed\": 7", "\"seed\": 7.5"}};
  for (const auto& [from, to] : damages) {
    const auto read = parse_costs(replaced(whole, from, to), "'kept.json'");
    ASSERT_FALSE(read) << to;
    EXPECT_EQ(read.error().kind, ErrorKind::kDamaged) << to;
    const std::string key = from.substr(1, from.find('"', 1) - 1);
    EXPECT_NE(read.error().message.find("'kept.json' is damaged: "), std::string::npos) << to;
    EXPECT_NE(read.error().message.find(key), std::string::npos) << read.error().message;
  }
  EXPECT_EQ(parse_costs(whole.substr(0, whole.size() / 2), "it").error().kind, ErrorKind::kDamaged);
  // So deep that whoever copies a value, or destroys it level by level, has no stack left.
  for (const std::string& level : {std::string("["), std::string("{\"a\":")}) {
    std::string deep;
    for (int i = 0; i < 300'000; ++i) deep += level;
    deep += "1";
    for (int i = 0; i < 300'000; ++i) deep += level == "[" ? "]" : "}";
    const auto read = parse_costs(
        replaced(whole, "\"source\": \"shardlens calibrate\"", "\"source\": " + deep), "it");
    EXPECT_EQ(read.error().kind, ErrorKind::kDamaged);
  }
  auto none = example();
  none.rows.clear();
  EXPECT_EQ(parse_costs(costs_json(none), "it").error().kind, ErrorKind::kDamaged);
}

TEST_F(CostsFileTest, OtherFilesAreForeignAndOtherVersionsSaySo) {
  for (const std::string& text :
       {std::string(), std::string("# nccl-tests"), std::string("[1]"),
        std::string("{\"version\": 1}"), std::string(1 << 16, '['), std::string("\0\xff\x80", 3)}) {
    const auto read = read_costs(write("other.json", text));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().kind, ErrorKind::kForeign) << read.error().message;
    EXPECT_NE(read.error().message.find("other.json"), std::string::npos);
  }
  EXPECT_EQ(read_costs(folder_.path()).error().kind, ErrorKind::kForeign);
  EXPECT_EQ(read_costs(folder_.path() / "none.json").error().kind, ErrorKind::kMissing);
  const auto newer =
      parse_costs(replaced(costs_json(example()), "\"version\": 1", "\"version\": 2"), "it");
  EXPECT_EQ(newer.error().kind, ErrorKind::kOtherVersion);
}

TEST_F(CostsFileTest, WhatCannotBeWrittenIsAnErrorAndLeavesNothing) {
  const auto written = write_costs(folder_.path() / "none" / "costs.json", example());
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("costs.json"), std::string::npos);
  write(std::string(kCostsFolder), "no folder");
  const auto kept = keep_costs(folder_.path(), example());
  ASSERT_FALSE(kept);
  EXPECT_NE(kept.error().message.find("--runs-dir"), std::string::npos);
  EXPECT_FALSE(found(example().setup));
}

TEST_F(CostsFileTest, ALibraryFindsWhatHoldsForASetup) {
  const CostsFile file = example();
  EXPECT_FALSE(found(file.setup)) << "no folder yet";
  keep(file);
  const auto costs = found(file.setup);
  ASSERT_TRUE(costs);
  EXPECT_DOUBLE_EQ(costs->of({CollectiveFunction::kAllReduce, 2}, 1024)->ns, 1540.2)
      << "with what holds up a quarter of the calls";
  std::vector<CommunicationSetup> others(7, file.setup);
  others[0].device_name = "another";
  others[1].ranks = 4;
  others[2].simulated_link->gbit_per_s = 2;
  others[3].simulated_link.reset();
  others[4].hosts = 2;
  others[5].device = "cuda";
  others[6].environment = "NCCL_ALGO=Ring\n";
  for (std::size_t i = 0; i < others.size(); ++i) EXPECT_FALSE(found(others[i])) << i;
}

// No trace of another program tells them.
TEST_F(CostsFileTest, ALibraryFindsItsCostsForWhatDoesNotTellLinkHostsAndVariables) {
  CostsFile file = example();
  file.setup.device = "cuda";
  file.setup.backend = "nccl";
  file.setup.device_name = "NVIDIA H100";
  file.setup.simulated_link.reset();
  file.setup.link = "NVLink, 18 links";
  file.setup.hosts = 2;
  file.setup.environment = "NCCL_ALGO=Ring\n";
  keep(file);
  model::RunInfo info;
  info.device = "cuda";
  info.world_size = 2;
  info.imported_from = "traces of torch.profiler";
  model::RankInfo rank;
  rank.device_name = "NVIDIA H100";
  EXPECT_TRUE(found(setup_of(info, {rank, rank})));
  rank.link = "PCIe";
  EXPECT_FALSE(found(setup_of(info, {rank, rank}))) << "which is another one";
  CommunicationSetup ours = file.setup;
  ours.link.clear();
  EXPECT_FALSE(found(ours)) << "a run that was recorded here where no link was seen";
  rank.link.clear();
  rank.device_name = "NVIDIA A100";
  EXPECT_FALSE(found(setup_of(info, {rank, rank})));
}

TEST_F(CostsFileTest, ANewCalibrationReplacesTheOldAndTablesFillItsGaps) {
  CostsFile file = example();
  file.setup.link = "NVLink, 18 links";
  keep(file);
  file.rows[0].median_ns = 1600;
  file.measured_ns += 1;
  file.host = "renamed";
  keep(file);
  EXPECT_EQ(kept(), 1u);
  CostsFile table = file;
  table.source = CostsSource::kNcclTests;
  table.setup.link = "";  // not told
  table.setup.environment.reset();
  table.measured_ns += 1'000'000;
  table.rows = {{{CollectiveFunction::kAllReduce, 2}, 1024, {}, 1, {}, {}},
                {{CollectiveFunction::kAllReduce, 2}, 65536, {}, 90000, {}, {}}};
  keep(table);
  table.rows = {{{CollectiveFunction::kAllGather, 2}, 1024, {}, 5, {}, {}}};
  keep(table);
  EXPECT_EQ(kept(), 3u) << "tables of two functions beside each other";
  const auto costs = found(file.setup);
  ASSERT_TRUE(costs);
  EXPECT_DOUBLE_EQ(costs->of({CollectiveFunction::kAllReduce, 2}, 1024)->ns, 1560.1);
  EXPECT_DOUBLE_EQ(costs->of({CollectiveFunction::kAllReduce, 2}, 65536)->ns, 90000);
  EXPECT_DOUBLE_EQ(costs->of({CollectiveFunction::kAllGather, 2}, 1024)->ns, 5);
}

TEST_F(CostsFileTest, WhatIsDamagedInALibraryIsNamedAndNewerFilesArePassedOver) {
  keep(example());
  const std::string folder = std::string(kCostsFolder) + "/";
  write(folder + "newer.json", replaced(costs_json(example()), "\"version\": 1", "\"version\": 9"));
  write(folder + "notes.txt", "not ours");
  EXPECT_TRUE(found(example().setup));
  write(folder + "broken.json", "{\"format\": \"shardlens costs\"");
  const auto costs = costs_for(example().setup, folder_.path());
  ASSERT_FALSE(costs);
  EXPECT_NE(costs.error().message.find("broken.json"), std::string::npos);
  EXPECT_NE(costs.error().message.find("Delete it"), std::string::npos);
}

TEST(CommunicationSetup, IsWhatARunAndItsRanksTell) {
  model::RunInfo info;
  info.device = "cuda";
  info.world_size = 4;
  info.shared_gpu = true;
  model::RankInfo rank;
  rank.device_name = "NVIDIA H100";
  rank.link = "NVLink, 18 links";
  rank.environment = "NCCL_ALGO=Ring\nOMP_NUM_THREADS=3\n";
  rank.host = "a";
  model::RankInfo other = rank;
  other.host = "b";
  const CommunicationSetup setup = setup_of(info, {rank, rank, other, other});
  EXPECT_EQ(setup.backend, "nccl");
  EXPECT_EQ(setup.device_name, "NVIDIA H100");
  EXPECT_EQ(setup.ranks, 4);
  EXPECT_EQ(setup.hosts, 2);
  EXPECT_TRUE(setup.shared_gpu);
  EXPECT_EQ(setup.link, "NVLink, 18 links");
  EXPECT_EQ(setup.environment, "NCCL_ALGO=Ring\n") << "threads do not move data";
  EXPECT_FALSE(setup.simulated_link);
  info.device = "cpu";
  info.settings.simulate_link = "latency_us=50,gbit_per_s=2";
  const CommunicationSetup slow = setup_of(info, {rank});
  EXPECT_EQ(slow.backend, "gloo");
  ASSERT_TRUE(slow.simulated_link);
  EXPECT_DOUBLE_EQ(slow.simulated_link->gbit_per_s, 2);
}

}  // namespace
}  // namespace shardlens::trace::predict
