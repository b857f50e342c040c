#include "trace/analysis/hang/hang_diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trace/analysis/synthetic_run.h"
#include "tests/trace/units.h"
#include "trace/analysis/run/run_analysis.h"

namespace shardlens::trace::analysis {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kNow = 1000 * kSecond;

// Ranks in step 5's backward, each beating, all done with collectives 0 to 9.
class HangDiagnosisTest : public testing::Test {
 protected:
  void start(int ranks) {
    model::RunInfo info;
    info.world_size = ranks;
    analysis = RunAnalysis(info);
    for (int rank = 0; rank < ranks; ++rank) {
      model::Batch batch;
      batch.strings = {{rank, 1, "world"}, {rank, 2, "loss"}};
      model::ProcessGroup group{rank, 0, 1, 0, {}};
      for (int i = 0; i < ranks; ++i) group.ranks.push_back(i);
      batch.process_groups = {group};
      for (std::int64_t sequence = 0; sequence < 10; ++sequence) {
        const int bucket = static_cast<int>(sequence % 3);
        batch.collectives.push_back(all_reduce(rank, sequence, 100 + sequence, 101 + sequence,
                                               (bucket + 1) * kMiB, bucket, sequence / 3));
      }
      analysis.add(batch);
      beat(rank, kNow, kNow, base::Phase::kBackward);
    }
  }

  void beat(int rank, std::int64_t alive_ns, std::int64_t progress_ns, base::Phase phase) {
    model::Batch batch;
    batch.heartbeat = model::Heartbeat{rank, alive_ns, progress_ns, 5, phase};
    analysis.add(batch);
  }

  static model::PendingCollective pending(int rank, std::int64_t sequence, std::int64_t bytes,
                                          int bucket) {
    model::PendingCollective call;
    call.rank = rank;
    call.sequence = sequence;
    call.function = model::CollectiveFunction::kAllReduce;
    call.tag_kind = model::TagKind::kBucket;
    call.tag_index = bucket;
    call.phase = base::Phase::kBackward;
    call.step = 5;
    call.bytes = bytes;
    return call;
  }

  static model::PendingCollective pending_loss(int rank, std::int64_t sequence) {
    auto call = pending(rank, sequence, 16, -1);
    call.tag_kind = model::TagKind::kNamed;
    call.tag_name = 2;
    return call;
  }

  void wait_in(std::vector<model::PendingCollective> calls) {
    model::Batch batch;
    batch.pending = std::move(calls);
    analysis.add(batch);
  }

  HangDiagnosis diagnose(std::int64_t now_ns = kNow) {
    return diagnose_hang(analysis.figures(), analysis.strings(), now_ns);
  }

  RunAnalysis analysis{model::RunInfo{}};
};

TEST_F(HangDiagnosisTest, SaysNothingWhenNobodyWaits) {
  start(2);
  const auto diagnosis = diagnose();
  EXPECT_EQ(diagnosis.cause, HangCause::kNone);
  EXPECT_EQ(diagnosis.sentence, "");
  ASSERT_EQ(diagnosis.states.size(), 2u);
  EXPECT_EQ(diagnosis.states[1].last_completed->sequence, 9);
}

TEST_F(HangDiagnosisTest, NamesAStoppedRank) {
  start(3);
  wait_in({pending(0, 10, 2 * kMiB, 1)});
  wait_in({pending(2, 10, 2 * kMiB, 1)});
  beat(1, kNow - 12 * kSecond, kNow - 12 * kSecond, base::Phase::kForward);
  const auto diagnosis = diagnose();
  EXPECT_EQ(diagnosis.cause, HangCause::kStopped);
  EXPECT_EQ(diagnosis.rank, 1);
  EXPECT_EQ(diagnosis.sentence,
            "rank 1 has stopped or ended: no sign of life for 12.0 s, last seen in forward of "
            "step 5; ranks 0 and 2 wait in all_reduce bucket 1 (2.00 MiB, collective 10 of world, "
            "backward of step 5)");
  // The same from the file of a run that has ended, without a clock.
  EXPECT_EQ(diagnose(0).rank, 1);
}

TEST_F(HangDiagnosisTest, ACallThatOnlyAStoppedRankStillHoldsIsNotWhatTheOthersWaitIn) {
  start(2);
  model::Batch batch;  // rank 0 went on after rank 1's last commit
  batch.collectives = {all_reduce(0, 10, 110, 111, 2 * kMiB, 1, 4)};
  analysis.add(batch);
  wait_in({pending(0, 11, 3 * kMiB, 2)});
  wait_in({pending(1, 10, 2 * kMiB, 1)});
  const auto diagnosis = diagnose();
  EXPECT_EQ(diagnosis.cause, HangCause::kNotArrived);
  EXPECT_EQ(diagnosis.rank, 1);
  EXPECT_THAT(diagnosis.sentence,
              testing::HasSubstr("rank 1 did not arrive in all_reduce bucket 2"));
}

TEST_F(HangDiagnosisTest, NamesAStoppedRankInsideTheCollectiveItself) {
  start(2);
  wait_in({pending(0, 10, 2 * kMiB, 1)});
  wait_in({pending(1, 10, 2 * kMiB, 1)});
  beat(1, kNow - 6 * kSecond, kNow - 6 * kSecond, base::Phase::kBackward);
  const auto diagnosis = diagnose();
  EXPECT_EQ(diagnosis.cause, HangCause::kStopped);
  EXPECT_EQ(diagnosis.rank, 1);
}

TEST_F(HangDiagnosisTest, NamesARankThatIsAliveButDoesNotArrive) {
  start(2);
  wait_in({pending(0, 10, 2 * kMiB, 1), pending(0, 11, 3 * kMiB, 2)});
  beat(1, kNow, kNow - 31 * kSecond, base::Phase::kForward);
  const auto diagnosis = diagnose();
  EXPECT_EQ(diagnosis.cause, HangCause::kNotArrived);
  EXPECT_EQ(diagnosis.rank, 1);
  EXPECT_EQ(diagnosis.sentence,
            "rank 1 did not arrive in all_reduce bucket 1 (2.00 MiB, collective 10 of world, "
            "backward of step 5), where rank 0 waits; rank 1 is in forward of step 5 and has not "
            "moved on for 31.0 s");
  // Of a run that has ended it is told where the rank was seen last: it may have gone on since.
  EXPECT_THAT(diagnose(0).sentence,
              HasSubstr("; rank 1 was last seen in forward of step 5 and had not moved on for"));
}

// As where the kernels of a GPU tell the steps.
TEST_F(HangDiagnosisTest, NamesNoPhaseWhereNoneIsKnown) {
  start(2);
  auto call = pending(0, 10, 2 * kMiB, 1);
  call.phase = base::Phase::kOther;
  wait_in({call});
  beat(1, kNow, kNow, base::Phase::kOther);
  EXPECT_EQ(diagnose().sentence,
            "rank 1 did not arrive in all_reduce bucket 1 (2.00 MiB, collective 10 of world, step "
            "5), where rank 0 waits; rank 1 is in step 5");
}

TEST_F(HangDiagnosisTest, FindsASkippedCollectiveByTheShiftOfWhatFollows) {
  start(2);
  wait_in({pending(0, 10, 2 * kMiB, 1), pending(0, 11, 3 * kMiB, 2), pending_loss(0, 12)});
  wait_in({pending(1, 10, 3 * kMiB, 2), pending_loss(1, 11)});
  const auto diagnosis = diagnose();
  EXPECT_EQ(diagnosis.cause, HangCause::kSkipped);
  EXPECT_EQ(diagnosis.rank, 1);
  EXPECT_THAT(diagnosis.sentence, HasSubstr("rank 1 left out all_reduce bucket 1 (2.00 MiB, "
                                            "collective 10 of world, backward of step 5)"));
}

TEST_F(HangDiagnosisTest, FindsTheSkippingRankAlsoWhenItIsTheLowest) {
  start(2);
  wait_in({pending(0, 10, 3 * kMiB, 2), pending_loss(0, 11)});
  wait_in({pending(1, 10, 2 * kMiB, 1), pending(1, 11, 3 * kMiB, 2), pending_loss(1, 12)});
  EXPECT_EQ(diagnose().cause, HangCause::kSkipped);
  EXPECT_EQ(diagnose().rank, 0);
}

TEST_F(HangDiagnosisTest, ASkipAtTheEndIsARankThatDoesNotArrive) {
  start(2);
  wait_in({pending_loss(0, 10)});
  const auto diagnosis = diagnose();
  EXPECT_EQ(diagnosis.cause, HangCause::kNotArrived);
  EXPECT_EQ(diagnosis.rank, 1);
  EXPECT_THAT(diagnosis.sentence, HasSubstr("loss"));
}

TEST_F(HangDiagnosisTest, NamesTheRankWithAnotherSizeAgainstTheMajority) {
  start(3);
  wait_in({pending(0, 10, kMiB, 1)});
  wait_in({pending(1, 10, 2 * kMiB, 1)});
  wait_in({pending(2, 10, 2 * kMiB, 1)});
  const auto diagnosis = diagnose();
  EXPECT_EQ(diagnosis.cause, HangCause::kMismatch);
  EXPECT_EQ(diagnosis.rank, 0);
  EXPECT_THAT(diagnosis.sentence,
              HasSubstr("with different sizes: 2.00 MiB (2097152 B) and 1.00 MiB (1048576 B)"));
}

TEST_F(HangDiagnosisTest, NamesTheFirstMismatchOfFunctions) {
  start(2);
  auto other = pending(1, 10, 2 * kMiB, 1);
  other.function = model::CollectiveFunction::kBroadcast;
  wait_in({pending(0, 10, 2 * kMiB, 1)});
  wait_in({other});
  const auto diagnosis = diagnose();
  EXPECT_EQ(diagnosis.cause, HangCause::kMismatch);
  EXPECT_THAT(diagnosis.sentence, HasSubstr("rank 0 entered all_reduce bucket 1"));
  EXPECT_THAT(diagnosis.sentence, HasSubstr("rank 1 broadcast bucket 1"));
}

TEST_F(HangDiagnosisTest, BlamesTheLinkWhenAllHaveEntered) {
  start(2);
  wait_in({pending(0, 10, 2 * kMiB, 1), pending(0, 11, 3 * kMiB, 2)});
  wait_in({pending(1, 10, 2 * kMiB, 1)});
  const auto diagnosis = diagnose();
  EXPECT_EQ(diagnosis.cause, HangCause::kSlow);
  EXPECT_EQ(diagnosis.rank, -1);
  EXPECT_THAT(diagnosis.sentence, HasSubstr("all ranks have entered all_reduce bucket 1"));
}

TEST_F(HangDiagnosisTest, StillNamesTheRankAfterTheFailureEndedAllCalls) {
  start(2);
  model::Batch batch;
  batch.collectives = {all_reduce(0, 10, 500, 900, 2 * kMiB, 1, 5)};
  analysis.add(batch);
  model::RunInfo info;
  info.world_size = 2;
  info.status = model::RunStatus::kFailed;
  analysis.set_info(info);
  const auto diagnosis = diagnose();
  EXPECT_EQ(diagnosis.cause, HangCause::kNotArrived);
  EXPECT_EQ(diagnosis.rank, 1);
}

TEST_F(HangDiagnosisTest, ListsTheLastEnteredAndCompletedCallOfEveryRank) {
  start(2);
  wait_in({pending(0, 10, 2 * kMiB, 1)});
  const auto states = diagnose().states;
  ASSERT_EQ(states.size(), 2u);
  EXPECT_EQ(state_text(states[0]),
            "rank 0, world: last entered #10 all_reduce bucket 1, 2.00 MiB, backward of step 5; "
            "last completed #9 all_reduce bucket 0, 1.00 MiB, backward of step 3");
  EXPECT_EQ(states[1].last_entered->sequence, 9);
}

// As of a program of others on a CPU, whose collectives nobody records.
TEST_F(HangDiagnosisTest, OfAGroupWithoutAnyCallNothingIsListed) {
  start(2);
  model::Batch batch;
  batch.strings = {{0, 3, "unheard"}};
  batch.process_groups = {model::ProcessGroup{0, 7, 3, 0, {0, 1}}};
  analysis.add(batch);
  EXPECT_EQ(diagnose().states.size(), 2u);
}

// Where steps have no detail, what ended last is all that is known: no collective to count.
TEST_F(HangDiagnosisTest, WhatEndedWithoutDetailIsKnownAndNotCounted) {
  start(2);
  auto ended = pending(0, 10, model::kNotKnown, 1);
  ended.end_ns = kNow;
  const auto counted = analysis.figures().collectives;
  wait_in({pending(0, 11, model::kNotKnown, 2), ended});
  const RunFigures figures = analysis.figures();
  EXPECT_EQ(figures.collectives.size(), counted.size());
  EXPECT_EQ(figures.collectives[0].count, counted[0].count);
  EXPECT_EQ(figures.ranks[0].pending.size(), 1u);
  EXPECT_EQ(figures.ranks[0].totals.comm_events, 10);
  EXPECT_EQ(state_text(diagnose().states[0]),
            "rank 0, world: last entered #11 all_reduce bucket 2, backward of step 5; "
            "last completed #10 all_reduce bucket 1, backward of step 5")
      << "and no size where it is not known";
}

TEST_F(HangDiagnosisTest, AnUnknownSizeIsNoOtherSize) {
  start(2);
  wait_in({pending(0, 10, 2 * kMiB, 1)});
  wait_in({pending(1, 10, model::kNotKnown, 1)});
  EXPECT_NE(diagnose().cause, HangCause::kMismatch);
}

TEST_F(HangDiagnosisTest, NoBytesAreAnotherSize) {
  start(2);
  wait_in({pending(0, 10, 2 * kMiB, 1)});
  wait_in({pending(1, 10, 0, 1)});
  EXPECT_EQ(diagnose().cause, HangCause::kMismatch);
}

TEST_F(HangDiagnosisTest, AnEmptyRunIsNotDiagnosed) {
  EXPECT_EQ(diagnose_hang(RunFigures{}, model::StringTable{}).cause, HangCause::kNone);
}

}  // namespace
}  // namespace shardlens::trace::analysis
