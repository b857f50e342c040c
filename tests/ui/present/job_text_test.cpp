#include "ui/present/job_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardlens::ui::present {
namespace {

using ::testing::ElementsAre;

state::JobState job_of(std::string running, const std::vector<std::string>& waiting) {
  state::JobState job;
  job.run_name = std::move(running);
  for (const std::string& name : waiting) job.queued.push_back({job.queued.size(), name});
  return job;
}

TEST(QueuedNames, SayOnlyWhatTellsTheRunsApart) {
  EXPECT_THAT(queued_names(job_of(
                  "batch 2, device cpu, steps 400",
                  {"batch 2, device cpu, cap 1, steps 400", "batch 2, device cpu, cap 2, steps 400",
                   "batch 2, device cpu, cap 2, steps 40"})),
              ElementsAre("cap 1, steps 400", "cap 2, steps 400", "cap 2, steps 40"));
  EXPECT_THAT(queued_names(job_of("cap 1", {"cap 1, zero1"})), ElementsAre("zero1"));
  EXPECT_THAT(queued_names(job_of("batch 1, steps 300",
                                  {"batch 1, steps 300 again", "batch 1, steps 300 again 2"})),
              ElementsAre("the same again", "the same again 2"));
  EXPECT_THAT(queued_names(job_of("batch 1, cap 1", {"batch 1, cap 2 again"})),
              ElementsAre("cap 2 again"));
  EXPECT_THAT(queued_names(job_of("mine", {"mine, against all", "mine, against yours again"})),
              ElementsAre("against all", "against yours again"));
}

TEST(RepeatedName, EndsBeforeWhatNumberOfARepetitionItIs) {
  for (const char* name : {"cap 4", "cap 4 again", "cap 4 again 2"}) {
    EXPECT_EQ(repeated_name(name), "cap 4");
  }
  for (const char* name : {"mine against yours", "cap 4 again and again slower", "again"}) {
    EXPECT_EQ(repeated_name(name), name);
  }
}

TEST(QueuedNames, StayWholeWhereNothingIsLeft) {
  EXPECT_THAT(queued_names(job_of("device cpu, cap 1", {"device cpu"})), ElementsAre("device cpu"));
  EXPECT_THAT(queued_names(job_of("mine", {"yours", "mine again"})),
              ElementsAre("yours", "mine again"));
}

}  // namespace
}  // namespace shardlens::ui::present
