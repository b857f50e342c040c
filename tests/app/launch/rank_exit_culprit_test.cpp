#include <gtest/gtest.h>

#include "app/launch/rank_exit.h"
#include "tests/files.h"

namespace shardlens::app::launch {
namespace {

using trace::analysis::HangCause;
using trace::analysis::HangDiagnosis;

HangDiagnosis found(HangCause cause, int rank) {
  HangDiagnosis diagnosis;
  diagnosis.cause = cause;
  diagnosis.rank = rank;
  return diagnosis;
}

TEST(Culprit, EndsTheReasonOfTheRankThatWaited) {
  const std::string reason = "rank 0 failed: collective 57 timed out.";
  EXPECT_EQ(with_culprit(reason, found(HangCause::kNotArrived, 1)),
            "rank 0 failed: collective 57 timed out; rank 1 never arrived");
  EXPECT_EQ(with_culprit(reason, found(HangCause::kSkipped, 12)),
            "rank 0 failed: collective 57 timed out; rank 12 left out a collective");
  EXPECT_EQ(with_culprit(reason, found(HangCause::kMismatch, 1)),
            "rank 0 failed: collective 57 timed out; rank 1 entered a different one");
  EXPECT_EQ(with_culprit("rank 10 hangs", found(HangCause::kStopped, 1)),
            "rank 10 hangs; rank 1 showed no sign of life");
}

TEST(Culprit, ThatLostItsPatienceFirstIsToldWhatItDid) {
  EXPECT_EQ(with_culprit("rank 1 failed: collective 45 timed out.", found(HangCause::kSkipped, 1)),
            "rank 1 failed: collective 45 timed out; rank 1 left out a collective");
}

TEST(Culprit, IsNotRepeatedAndNotGuessed) {
  const std::string reason = "rank 1 hangs: no progress for 12 s.";
  EXPECT_EQ(with_culprit(reason, found(HangCause::kNotArrived, 1)), reason);
  EXPECT_EQ(with_culprit(reason, found(HangCause::kSlow, -1)), reason);
  EXPECT_EQ(with_culprit(reason, {}), reason);
}

TEST(Culprit, IsUnknownWhereNothingWasRecorded) {
  const trace::test::Folder folder;
  trace::model::RunInfo ended;
  ended.status = trace::model::RunStatus::kFailed;
  EXPECT_EQ(diagnose_files(folder.path(), ended).cause, HangCause::kNone);
}

}  // namespace
}  // namespace shardlens::app::launch
