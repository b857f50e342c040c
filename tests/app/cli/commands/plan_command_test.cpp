// `shardlens plan`, from its command line to what it prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/cli/terminal/output.h"
#include "app/report/report_json.h"
#include "tests/app/cli/called_command.h"
#include "tests/files.h"

namespace shardlens::app::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Called plan(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "plan");
  return called(std::move(arguments));
}

TEST(PlanCommand, PlansAModelThatCannotBeTrainedHere) {
  const Called printed = plan({"--set", "model=llama-70b", "--gpu", "h100-80", "--gpus-per-node",
                               "8", "--nodes", "2", "--json"});
  ASSERT_EQ(printed.code, kDone) << printed.err;
  EXPECT_THAT(printed.err, IsEmpty());
  const report::Json json = report::Json::parse(printed.out);
  EXPECT_EQ(json["model"]["parameters"], 70553706496);
  EXPECT_EQ(json["ranks"], 16);
  EXPECT_EQ(json["gpu"]["name"], "h100-80");
  EXPECT_EQ(json["strategies"].size(), 7u);
}

TEST(PlanCommand, PlansTheDefaultJobAsText) {
  const Called printed = plan({});
  EXPECT_EQ(printed.code, kDone) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("tiny: 2,384,448 parameters"));
  EXPECT_THAT(printed.out, HasSubstr("full_shard"));
}

TEST(PlanCommand, ReadsSettingsFilesThatNameAnyModel) {
  const trace::test::Folder folder;
  const std::string large = folder.write("large.yaml", "model: llama-8b\nprecision: bf16\n");
  report::Json json = report::Json::parse(plan({large, "--json"}).out);
  EXPECT_EQ(json["model"]["name"], "llama-8b");
  EXPECT_EQ(json["settings"]["precision"], "bf16");
  const std::string small = folder.write("small.yaml", "model: gpt2\nbatch_per_rank: 3\n");
  json = report::Json::parse(plan({small, "--set", "batch_per_rank=2", "--json"}).out);
  EXPECT_EQ(json["model"]["name"], "gpt2");
  EXPECT_EQ(json["settings"]["batch_per_rank"], 2);
  const Called wrong = plan({folder.write("wrong.yaml", "model: llama-8b\n\nprecisoin: bf16\n")});
  EXPECT_EQ(wrong.code, kWrongUse);
  EXPECT_THAT(wrong.err, HasSubstr("precision"));
  EXPECT_THAT(wrong.err, HasSubstr("3"));  // the line
  EXPECT_EQ(plan({(folder / "none.yaml").string()}).code, kWrongUse);
}

TEST(PlanCommand, TakesTheMemoryOfAnotherGpu) {
  const report::Json json = report::Json::parse(plan({"--memory-gb", "24", "--json"}).out);
  EXPECT_EQ(json["gpu"]["memory_bytes"], std::int64_t{24} << 30);
  EXPECT_TRUE(json["gpu"]["name"].is_null());
}

TEST(PlanCommand, RefusesWhatItDoesNotKnow) {
  const auto refused = [](std::vector<std::string> arguments) {
    const Called printed = plan(std::move(arguments));
    EXPECT_EQ(printed.code, kWrongUse);
    EXPECT_THAT(printed.out, IsEmpty());
    return printed.err;
  };
  EXPECT_THAT(refused({"--gpu", "h100"}), HasSubstr("h100-80"));
  EXPECT_THAT(refused({"--set", "model=gpt-9"}), HasSubstr("llama-70b"));
  EXPECT_THAT(refused({"--set", "optimiser=sgd"}), HasSubstr("optimizer"));
  EXPECT_THAT(refused({"--set", "sequence_length=4096"}), HasSubstr("512"));
  EXPECT_THAT(refused({"--memory-gb", "1"}), HasSubstr("2048 MiB"));
  refused({"--memory-gb", "-3"});
  refused({"--nodes", "0"});
  refused({"--gpus-per-node", "many"});
  refused({"--gpu", "h100-80", "--memory-gb", "80"});
}

}  // namespace
}  // namespace shardlens::app::cli
