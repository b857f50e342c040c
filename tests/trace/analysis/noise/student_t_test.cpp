#include "trace/analysis/noise/student_t.h"

#include <gtest/gtest.h>

#include <cmath>

namespace shardlens::trace::analysis {
namespace {

TEST(StudentT, QuantilesAreThoseOfTheTables) {
  EXPECT_NEAR(student_t_quantile(0.05, 1), 12.706, 1e-3);
  EXPECT_NEAR(student_t_quantile(0.05, 2), 4.303, 1e-3);
  EXPECT_NEAR(student_t_quantile(0.05, 9), 2.262, 1e-3);
  EXPECT_NEAR(student_t_quantile(0.05, 10), 2.228, 1e-3);
  EXPECT_NEAR(student_t_quantile(0.05, 40), 2.021, 1e-3);
  EXPECT_NEAR(student_t_quantile(0.05, 120), 1.980, 1e-3);
  EXPECT_NEAR(student_t_quantile(0.05, 1e6), 1.960, 2e-3);
  EXPECT_NEAR(student_t_quantile(0.01, 5), 4.032, 1e-3);
  EXPECT_NEAR(student_t_quantile(0.001, 8), 5.041, 1e-3);
}

TEST(StudentT, ProbabilitiesAreTheDensitysIntegral) {
  for (const int freedom : {1, 2, 3, 4, 7, 30}) {
    const auto density = [&](double t) {
      return std::exp(std::lgamma((freedom + 1) / 2.0) - std::lgamma(freedom / 2.0)) /
             std::sqrt(freedom * M_PI) * std::pow(1 + t * t / freedom, -(freedom + 1) / 2.0);
    };
    double within = 0;
    constexpr double kWidth = 1e-3;
    for (int i = 0; i < 2500; ++i) within += 2 * kWidth * density((i + 0.5) * kWidth);
    EXPECT_NEAR(student_t_p(2.5, freedom), 1 - within, 1e-6) << freedom;
    EXPECT_DOUBLE_EQ(student_t_p(-2.5, freedom), student_t_p(2.5, freedom));
  }
}

TEST(StudentT, FreedomIsRoundedDownAndAtLeastOne) {
  EXPECT_DOUBLE_EQ(student_t_p(2, 3.9), student_t_p(2, 3));
  EXPECT_DOUBLE_EQ(student_t_p(2, 0.3), student_t_p(2, 1));
}

}  // namespace
}  // namespace shardlens::trace::analysis
