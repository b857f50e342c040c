#include "app/cli/doctor/health_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "app/cli/job/progress_line.h"
#include "tests/files.h"

namespace shardlens::app::cli {
namespace {

using testing::HasSubstr;

TEST(HealthCheck, ARunsFolderMayStillHaveToBeMade) {
  const trace::test::Folder folder;
  EXPECT_EQ(check_runs_dir(folder / "a" / "b").health, Health::kGood);
  EXPECT_FALSE(std::filesystem::exists(folder / "a"));
}

TEST(HealthCheck, AFileWhereTheRunsFolderBelongsFailsAndIsNamed) {
  const trace::test::Folder folder;
  std::ofstream(folder / "runs") << "not a folder";
  const auto check = check_runs_dir(folder / "runs" / "deeper");
  EXPECT_EQ(check.health, Health::kBad);
  EXPECT_THAT(check.finding, HasSubstr("runs is not a folder"));
  EXPECT_THAT(check.advice, HasSubstr("--runs-dir"));
}

TEST(HealthCheck, NoDisplayIsALimitWithAdvice) {
  EXPECT_EQ(check_display(true).health, Health::kGood);
  const auto check = check_display(false);
  EXPECT_EQ(check.health, Health::kLimited);
  EXPECT_THAT(check.advice, HasSubstr("xvfb-run"));
}

TEST(HealthCheck, TellsWhatPreparesTexts) {
  const auto good = text_preparation_of("works: /usr/bin/python3 with tokenizers==1\n");
  EXPECT_EQ(good.health, Health::kGood);
  EXPECT_EQ(good.finding, "/usr/bin/python3 with tokenizers==1");
  const auto bad = text_preparation_of("fails: Python has no package. Install it: pip\n");
  EXPECT_EQ(bad.health, Health::kLimited);
  EXPECT_THAT(bad.finding, HasSubstr("plain text as bytes only"));
  EXPECT_EQ(bad.advice, "Python has no package. Install it: pip");
  EXPECT_FALSE(text_preparation_of("").advice.empty());
}

TEST(HealthCheck, AMissingFolderForTemporaryFilesIsToldAsACheck) {
  const char* before = getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TMPDIR", "/no/such", 1);
  const auto check = check_text_preparation(std::filesystem::path("/bin/true"));
  before == nullptr ? unsetenv("TMPDIR") : setenv("TMPDIR", kept.c_str(), 1);
  EXPECT_EQ(check.health, Health::kLimited);
  EXPECT_THAT(check.finding, HasSubstr("TMPDIR"));
  EXPECT_FALSE(check.advice.empty());
}

TEST(HealthCheck, EveryProblemComesWithAdvice) {
  for (const auto& check : check_health({.runs_dir = "/proc/no/such", .has_display = false})) {
    EXPECT_FALSE(check.finding.empty()) << check.name;
    EXPECT_EQ(check.advice.empty(), check.health == Health::kGood) << check.name;
  }
}

TEST(ProgressText, TellsStepsTimeAndWhatIsLeft) {
  RunProgress progress;
  progress.steps_done = 15;
  progress.steps_total = 30;
  progress.step_ns = 100e6;
  progress.loss = 3.25;
  const std::string text = progress_text("cap 1", progress, 4);
  EXPECT_THAT(text, HasSubstr("cap 1  ██░░  step 15 of 30"));
  EXPECT_THAT(text, HasSubstr("loss 3.2500"));
  EXPECT_THAT(text, HasSubstr("left"));
}

TEST(ProgressText, LeavesOutWhatIsNotKnown) {
  RunProgress progress;
  progress.loss = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(progress_text("job", progress, 10), "job  step 0");
}

}  // namespace
}  // namespace shardlens::app::cli
