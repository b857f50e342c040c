#include "trainer/loop/step_exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/trainer/comm/rank_threads.h"

namespace shardlens::trainer::loop {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

StepReport step_report(double loss, double norm) {
  return {.loss = torch::tensor(loss, torch::kFloat32),
          .gradient_norm = torch::tensor(norm, torch::kFloat32),
          .overflowed = {},
          .skipped_steps = {}};
}

TEST(StepExchange, GivesTheMeanLossTheOwnNormAndWhetherAnybodyWasAskedToStop) {
  comm::on_ranks(3, [](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    const int rank = communicator.rank();
    StepReport report = step_report(1.0 + rank, 10.0 * rank);
    report.stop = rank == 1;
    const StepAgreement agreement = exchange_step(communicator, report);
    EXPECT_EQ(agreement.loss, 2.0);
    EXPECT_EQ(agreement.gradient_norm, 10.0 * rank);
    EXPECT_TRUE(agreement.stop);
    EXPECT_FALSE(agreement.skipped);
    EXPECT_THAT(agreement.bad_ranks, IsEmpty());
    EXPECT_THAT(agreement.bad_norms, IsEmpty());
    report.stop = false;
    EXPECT_FALSE(exchange_step(communicator, report).stop);
  });
}

TEST(StepExchange, TellsEveryRankWhoseLossAndWhoseNormAreNotFinite) {
  comm::on_ranks(3, [](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    const int rank = communicator.rank();
    const double infinite = -std::numeric_limits<double>::infinity();
    const auto agreement = exchange_step(
        communicator, step_report(rank == 2 ? kNotANumber : 1.0, rank == 0   ? infinite
                                                                 : rank == 1 ? kNotANumber
                                                                             : 1.0));
    EXPECT_THAT(agreement.bad_ranks, ElementsAre(2));
    EXPECT_THAT(agreement.bad_norms, ElementsAre(0, 1));
    EXPECT_TRUE(std::isnan(agreement.loss));
  });
}

TEST(StepExchange, ANormThatOverflowedInASkippedStepIsNoFailure) {
  comm::on_ranks(2, [](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    StepReport report = step_report(1.5, std::numeric_limits<double>::infinity());
    report.overflowed = torch::ones({}, torch::kFloat32);
    report.skipped_steps = torch::full({}, 4.0, torch::kFloat64);
    const StepAgreement agreement = exchange_step(communicator, report);
    EXPECT_TRUE(agreement.skipped);
    EXPECT_EQ(agreement.skipped_steps, 4);
    EXPECT_EQ(agreement.loss, 1.5);
    EXPECT_TRUE(std::isnan(agreement.gradient_norm)) << "not known";
    EXPECT_THAT(agreement.bad_norms, IsEmpty());
    report.overflowed.zero_();
    EXPECT_THAT(exchange_step(communicator, report).bad_norms, ElementsAre(0, 1));
  });
}

}  // namespace
}  // namespace shardlens::trainer::loop
