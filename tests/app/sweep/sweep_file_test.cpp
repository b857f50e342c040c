#include "app/sweep/sweep_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <string_view>
#include <utility>

#include "made_up_sweep.h"
#include "trace/base/file_system.h"

namespace shardlens::app::sweep {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using trace::base::ErrorKind;

struct SweepFile : testing::Test {
  trace::base::TemporaryFolder folder = trace::base::TemporaryFolder::create().value();
  SweepRecord record;

  SweepFile() {
    record.plan = made_up_plan({0.25, 25}, 3);
    record.plan.seed = ~std::uint64_t{0};
    record.plan.stops_early = false;
    record.plan.points.settings[1].data = "/a \"text\"/größer\n.txt";
    record.plan.points.settings[1].steps = 7;
    record.created_ns = 1'700'000'000'123'456'789;
    record.runs[{1, 0}].file_name = "2026-01-01T00-00-00_caps";
    SlotResult& failed = record.runs[{0, 2}];
    failed.failure = "out of memory";
    failed.failed_before = "killed";
    failed.predicted = PredictedCost{1e8, 2.5e6};
    fs::create_directories(sweep_folder(folder.path(), "caps"));
  }
  std::string text() const {
    return trace::base::whole_text(sweep_folder(folder.path(), "caps") / "sweep.json").value();
  }
};

TEST_F(SweepFile, GivesBackWhatWasWritten) {
  ASSERT_TRUE(write_sweep(folder.path(), record));
  const auto read = read_sweep(folder.path(), "caps");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->plan.name, "caps");
  EXPECT_EQ(read->plan.repeats, 3);
  EXPECT_EQ(read->plan.seed, record.plan.seed);
  EXPECT_FALSE(read->plan.stops_early);
  EXPECT_EQ(read->plan.points.varied, record.plan.points.varied);
  EXPECT_EQ(read->plan.points.settings, record.plan.points.settings);
  EXPECT_EQ(read->created_ns, record.created_ns);
  ASSERT_EQ(read->runs.size(), 2u);
  const SlotResult &done = read->runs.at({1, 0}), &failed = read->runs.at({0, 2});
  EXPECT_EQ(done.file_name, "2026-01-01T00-00-00_caps");
  EXPECT_EQ(done.failure, "");
  EXPECT_EQ(failed.failure, "out of memory");
  EXPECT_EQ(failed.failed_before, "killed");
  EXPECT_FALSE(done.predicted);
  EXPECT_EQ(failed.predicted, (PredictedCost{1e8, 2.5e6}));
}

TEST_F(SweepFile, ASearchComesBackAsOne) {
  record.plan.search = SearchPlan{Goal::kTokenRate, 90.5, "Ended because of the \"budget\"."};
  ASSERT_TRUE(write_sweep(folder.path(), record));
  EXPECT_EQ(read_sweep(folder.path(), "caps")->plan.search, record.plan.search);
  record.plan.search.reset();
  ASSERT_TRUE(write_sweep(folder.path(), record));
  EXPECT_FALSE(read_sweep(folder.path(), "caps")->plan.search);
}

// As sweeps were written before there were searches.
TEST_F(SweepFile, WithoutAWordOfASearchItIsNone) {
  ASSERT_TRUE(write_sweep(folder.path(), record));
  std::string old = text();
  const auto found = old.find("\"search\": null,");
  ASSERT_NE(found, std::string::npos);
  old.erase(found, std::string_view("\"search\": null,").size());
  const auto read = parse_sweep(old, "old");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_FALSE(read->plan.search);
}

TEST_F(SweepFile, ASearchThatNobodyWroteIsDamage) {
  record.plan.search = SearchPlan{};
  ASSERT_TRUE(write_sweep(folder.path(), record));
  const std::string whole = text();
  for (const auto& [good, bad] : {std::pair{"\"step_time\"", "\"speed\""},
                                  {"\"budget_s\": 600.0", "\"budget_s\": -1"},
                                  {"\"budget_s\": 600.0", "\"budget_s\": \"long\""},
                                  {"\"ended\": \"\"", "\"ended\": 3"}}) {
    std::string text = whole;
    const auto found = text.find(good);
    ASSERT_NE(found, std::string::npos) << good;
    text.replace(found, std::string_view(good).size(), bad);
    const auto read = parse_sweep(text, "bad");
    ASSERT_FALSE(read) << bad;
    EXPECT_EQ(read.error().kind, ErrorKind::kDamaged);
  }
}

TEST_F(SweepFile, AnyOfItsBytesMayBeDamagedOrMissing) {
  ASSERT_TRUE(write_sweep(folder.path(), record));
  const std::string whole = text();
  for (std::size_t i = 0; i + 2 < whole.size(); i += 13) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x11);
    parse_sweep(damaged, "it").map([](const SweepRecord&) {});  // no crash; a digit may pass
    const auto cut = parse_sweep(whole.substr(0, i), "it");
    ASSERT_FALSE(cut) << i;
    EXPECT_EQ(cut.error().kind, ErrorKind::kDamaged);
    EXPECT_THAT(cut.error().message, HasSubstr("overwrite it"));
  }
}

TEST_F(SweepFile, RefusesWhatItWouldNotHaveWritten) {
  ASSERT_TRUE(write_sweep(folder.path(), record));
  const auto error_with = [&](const std::string& from, const std::string& to) {
    std::string changed = text();
    EXPECT_NE(changed.find(from), std::string::npos) << from;
    changed.replace(changed.find(from), from.size(), to);
    const auto read = parse_sweep(changed, "it");
    return read ? std::string() : read.error().message;
  };
  EXPECT_THAT(error_with("\"schema\": 1", "\"schema\": 2"), HasSubstr("another version"));
  EXPECT_THAT(error_with("2026-01-01T00-00-00_caps", "../../elsewhere"), HasSubstr("damaged"));
  EXPECT_THAT(error_with("\"point\": 1", "\"point\": 2"), HasSubstr("damaged"));
  EXPECT_THAT(error_with("\"repeat\": 3", "\"repeat\": 0"), HasSubstr("damaged"));
  EXPECT_THAT(error_with("\"repeat\": 3", "\"repeat\": -1e300"), HasSubstr("damaged"));
  EXPECT_THAT(error_with("\"name\": \"caps\"", "\"name\": \"../caps\""), HasSubstr("damaged"));
  EXPECT_THAT(error_with("\"bucket_cap_mb\"", "\"bucket_cap\""), HasSubstr("damaged"));
}

TEST_F(SweepFile, RefusesTooManyPointsBeforeAnyIsMade) {
  ASSERT_TRUE(write_sweep(folder.path(), record));
  std::string points;
  for (std::size_t i = 0; i < kMostPoints; ++i) points += "{},";
  std::string changed = text();
  const std::string_view begin = "\"points\": [";
  changed.insert(changed.find(begin) + begin.size(), points + "{\"no such setting\": \"1\"},");
  const auto read = parse_sweep(changed, "it");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("too many"));
}

TEST_F(SweepFile, AMissingOneIsNamedWithThoseThatAreThere) {
  ASSERT_TRUE(write_sweep(folder.path(), record));
  const auto read = read_sweep(folder.path(), "cap");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::kMissing);
  EXPECT_THAT(read.error().message, AllOf(HasSubstr("'cap'"), HasSubstr("'caps'")));
}

TEST_F(SweepFile, WhatCannotBeReplacedStays) {
  ASSERT_TRUE(write_sweep(folder.path(), record));
  const std::string before = text();
  // In the way of the file that is to replace it.
  fs::create_directories(sweep_folder(folder.path(), "caps") /
                         ("sweep.json.new-" + std::to_string(getpid())) / "x");
  record.plan.repeats = 9;
  const auto written = write_sweep(folder.path(), record);
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("cannot write"));
  EXPECT_EQ(text(), before);
}

}  // namespace
}  // namespace shardlens::app::sweep
