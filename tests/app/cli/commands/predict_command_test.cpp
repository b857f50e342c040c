// `shardlens predict` of many settings at once, from its command line to what it prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/terminal/output.h"
#include "app/report/report_json.h"
#include "tests/app/cli/called_command.h"
#include "trace/base/file_system.h"
#include "trace/predict/costs/costs_file.h"

namespace shardlens::app::cli {
namespace {

using report::Json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class PredictCommand : public testing::Test {
 protected:
  Called predict(std::vector<std::string> arguments,
                 const std::string& name = "slow_link_cap_1") const {
    const auto run =
        std::filesystem::path(SHARDLENS_SOURCE_DIR) / "assets/runs" / (name + ".shardlens");
    arguments.insert(arguments.begin(), {"predict", run.string()});
    arguments.insert(arguments.end(), {"--runs-dir", folder_.path().string()});
    return called(std::move(arguments));
  }
  Json json(std::vector<std::string> arguments, const std::string& name = "slow_link_cap_1") const {
    arguments.emplace_back("--json");
    const Called answer = predict(std::move(arguments), name);
    EXPECT_EQ(answer.code, kDone) << answer.err;
    EXPECT_THAT(answer.err, IsEmpty());
    return Json::parse(answer.out, nullptr, false);
  }

  const trace::base::TemporaryFolder folder_ = std::move(*trace::base::TemporaryFolder::create());
};

bool is_sorted_by_difference(const Json& points) {
  double last = -1e12;
  for (const Json& point : points) {
    if (point["predicted"].is_null()) continue;
    const double difference = point["predicted"]["difference_ms"]["mean"];
    if (difference < last) return false;
    last = difference;
  }
  return true;
}

// Null: none.
template <typename IsWanted>
Json find_point(const Json& points, IsWanted is_wanted) {
  for (const Json& point : points) {
    if (is_wanted(point)) return point;
  }
  return nullptr;
}

TEST_F(PredictCommand, SortsTheValuesOfAGrid) {
  const Json answer = json({"--over", "bucket_cap_mb=1,4", "--over", "overlap_comm=true,false"});
  EXPECT_EQ(answer["schema"], 1);
  EXPECT_TRUE(answer["refused"].is_null());
  const Json& points = answer["points"];
  ASSERT_EQ(points.size(), 4u);
  EXPECT_TRUE(is_sorted_by_difference(points));
  const Json wanted{{"bucket_cap_mb", 4.0}, {"overlap_comm", false}};
  const Json found =
      find_point(points, [&](const Json& point) { return point["settings"] == wanted; });
  ASSERT_FALSE(found.is_null());
  const Json& predicted = found["predicted"];
  const Json alone = json({"--set", "bucket_cap_mb=4", "--set", "overlap_comm=false"});
  for (const char* key : {"step_ms", "difference_ms", "exposed_ms", "peak_memory_bytes", "fits",
                          "changed", "bound_by", "assumptions"}) {
    EXPECT_EQ(predicted[key], alone[key]) << key;
  }
  EXPECT_FALSE(predicted.contains("schedule")) << "of a thousand points";
  EXPECT_EQ(answer["recorded"]["step_ms"], alone["recorded"]["step_ms"]);
}

TEST_F(PredictCommand, AsATableSaysWhichIsFirstAndHowToSeeItAlone) {
  const Called printed = predict({"--set", "bucket_cap_mb=4", "--over", "overlap_comm=false,true"});
  ASSERT_EQ(printed.code, kDone) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("2 points predicted from it"));
  EXPECT_LT(printed.out.find("overlap_comm=true"), printed.out.find("overlap_comm=false"));
  EXPECT_THAT(printed.out, HasSubstr("The first: "));
  EXPECT_THAT(printed.out, HasSubstr("slow_link_cap_1.shardlens --runs-dir " +
                                     folder_.path().string() + " --set bucket_cap_mb=4\n"))
      << "what it takes to have it, from the same run, which no library here holds";
}

TEST_F(PredictCommand, NamesWhatPointsLeaveOut) {
  const std::vector<std::string> over{"--over", "bucket_cap_mb=1,4", "--over", "loss_every=1,2"};
  EXPECT_THAT(predict(over).out, HasSubstr("Without loss_every, whose effect is not known."));
  EXPECT_THAT(predict({"--over", "bucket_cap_mb=1,4"}).out, Not(HasSubstr("Without")));
}

TEST_F(PredictCommand, SaysWhyAPointIsRefused) {
  const std::vector<std::string> over{"--over", "find_unused_parameters=true,false"};
  const Json points = json(over)["points"];
  ASSERT_EQ(points.size(), 2u);
  EXPECT_TRUE(points[0]["refused"].is_null());
  EXPECT_EQ(points[1]["settings"]["find_unused_parameters"], true);
  EXPECT_TRUE(points[1]["predicted"].is_null());
  const std::string why = points[1]["refused"];
  EXPECT_THAT(why, HasSubstr("another find_unused_parameters"));
  EXPECT_THAT(predict(over).out, HasSubstr("Not predicted: find_unused_parameters=true: " + why));
  EXPECT_THAT(predict(over).out, HasSubstr("1 point of 2 predicted from it"));
  const Called refused = predict({"--over", "find_unused_parameters=true"});
  EXPECT_EQ(refused.code, kWrongUse) << "there is nothing else";
  EXPECT_THAT(refused.err, HasSubstr(why));
  const Called all =
      predict({"--over", "loss_every=2", "--over", "gradient_as_bucket_view=true,false"});
  EXPECT_EQ(all.code, kWrongUse) << "each for a reason of its own";
  EXPECT_THAT(all.err, HasSubstr("What loss_every does to"));
  EXPECT_THAT(all.err, HasSubstr("gradient_as_bucket_view"));
}

TEST_F(PredictCommand, BestIsOfAllThatASearchTries) {
  const Json points = json({"--best"})["points"];
  EXPECT_GT(points.size(), 10u);
  EXPECT_TRUE(is_sorted_by_difference(points));
  for (const char* strategy : {"ddp", "full_shard"}) {
    const Json found = find_point(points, [&](const Json& point) {
      return point["settings"]["sharding_strategy"] == strategy;
    });
    EXPECT_FALSE(found.is_null()) << strategy;
  }
  const Json as_recorded = find_point(points, [](const Json& point) {
    return !point["predicted"].is_null() && point["predicted"]["changed"].empty();
  });
  ASSERT_FALSE(as_recorded.is_null()) << "what the others are held against";
  EXPECT_EQ(as_recorded["predicted"]["difference_ms"]["mean"], 0);
  EXPECT_THAT(predict({"--best"}).out, Not(HasSubstr("…"))) << "all of what tells them apart";
  const std::string few = predict({"--best"}, "h200_full_shard").out;
  const auto why = few.find("at least 14 steps to tell; this run has 13");
  ASSERT_NE(why, std::string::npos) << "of points without an interval";
  EXPECT_LT(why, few.find("The first: ")) << "of all of them, whichever is in front";
}

TEST_F(PredictCommand, TakesOtherCostsThanTheRunMeasured) {
  const auto path = (folder_.path() / "fast.json").string();
  trace::predict::CostsFile file;
  file.setup.device = "cuda";
  file.setup.backend = "nccl";
  file.setup.ranks = 2;
  for (std::int64_t bytes = 4; bytes <= std::int64_t{64} << 20; bytes *= 2) {
    file.rows.push_back(
        {{trace::model::CollectiveFunction::kAllReduce, 2}, bytes, {}, 1000, {}, {}});
  }
  ASSERT_TRUE(trace::predict::write_costs(path, file));
  const Json answer = json({"--costs-instead", path}, "two_ranks");
  EXPECT_TRUE(answer["changed"].empty());
  EXPECT_LT(answer["difference_ms"]["mean"].get<double>(), 0) << "nothing is waited for";
  EXPECT_LT(answer["exposed_ms"].get<double>(), answer["recorded"]["exposed_ms"].get<double>());
  EXPECT_NE(answer["bound_by"], answer["recorded"]["bound_by"]);
  EXPECT_THAT(answer["assumptions"].dump(), HasSubstr("the given file"));
  const Json beside =
      json({"--costs-instead", path, "--set", "gradient_as_bucket_view=true"}, "two_ranks");
  EXPECT_EQ(beside["left_out"], Json::array({"gradient_as_bucket_view"}));
  const Called refused = predict({"--costs-instead", path});
  EXPECT_EQ(refused.code, kWrongUse);
  EXPECT_THAT(refused.err, HasSubstr("simulated link"));
}

TEST_F(PredictCommand, FindsCostsThatWereMeasuredElsewhereOnceTheyAreKept) {
  const auto path = (folder_.path() / "costs.json").string();
  trace::predict::CostsFile file;
  file.setup.device = "cuda";
  file.setup.device_name = "NVIDIA H100";
  file.setup.backend = "nccl";
  file.setup.ranks = 8;
  file.setup.link = "NVLink, 18 links";
  file.rows = {{{trace::model::CollectiveFunction::kAllReduce, 8}, 1024, {}, 1000, {}, {}}};
  ASSERT_TRUE(trace::predict::write_costs(path, file));
  const auto keep = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"calibrate", "--from", path});
    more.insert(more.end(), {"--runs-dir", folder_.path().string()});
    return called(std::move(more));
  };
  EXPECT_EQ(keep({"--ranks", "4"}).code, kWrongUse) << "it tells them itself";
  const Called kept = keep({});
  ASSERT_EQ(kept.code, kDone) << kept.err;
  EXPECT_THAT(kept.out, HasSubstr("NVIDIA H100"));
  const auto costs = trace::predict::costs_for(file.setup, folder_.path());
  ASSERT_TRUE(costs);
  EXPECT_TRUE(*costs);
}

TEST_F(PredictCommand, RefusesPointsThatContradictThemselves) {
  const auto why_not = [&](const std::vector<std::string>& arguments) {
    const Called refused = predict(arguments);
    EXPECT_EQ(refused.code, kWrongUse);
    return refused.err;
  };
  EXPECT_THAT(why_not({"--set", "bucket_cap_mb=2", "--over", "bucket_cap_mb=1,4"}),
              HasSubstr("bucket_cap_mb is set and varied at once"));
  EXPECT_THAT(why_not({"--over", "bucket_cap_mb=1,1"}), HasSubstr("given twice"));
  EXPECT_THAT(why_not({"--over", "bucket_cap_mb=1,4", "--best"}), HasSubstr("--over"));
  std::string seeds = "seed=0";
  for (int seed = 1; seed <= 1000; ++seed) seeds += "," + std::to_string(seed);
  EXPECT_THAT(why_not({"--over", seeds}), HasSubstr("more than 1,000 points"));
}

}  // namespace
}  // namespace shardlens::app::cli
