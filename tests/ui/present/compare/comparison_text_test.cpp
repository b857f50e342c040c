#include "ui/present/compare/comparison_text.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace shardlens::ui::present {
namespace {

using trace::analysis::Comparison;
using trace::analysis::FigureUnit;
using trace::analysis::OtherJob;
using trace::analysis::RunDifference;
using trace::analysis::ShareDifference;
using trace::analysis::StepShare;

constexpr double kSaidMs = 1e6;

struct SaidCase {
  double difference_ms = 0;
  std::optional<double> half_width_ms = 1.1;
  std::optional<bool> beyond_noise = true;
  std::vector<std::pair<StepShare, double>> parts{};  // differences in ms, the greatest first
  std::optional<bool> exposed_beyond_noise = true;
  std::string expected;
};

RunDifference said_difference(const SaidCase& said) {
  RunDifference result;
  Comparison& comparison = result.comparison;
  comparison.beyond_noise = said.beyond_noise;
  comparison.noise.between_runs = 0.01;
  comparison.relative = said.difference_ms / 200;
  const auto figure = [&](std::string_view name, double difference_ms, std::optional<bool> verdict,
                          std::optional<double> half_width) {
    comparison.figures.push_back({.name = name,
                                  .unit = FigureUnit::kNanoseconds,
                                  .first = 200 * kSaidMs,
                                  .second = (200 + difference_ms) * kSaidMs,
                                  .difference = difference_ms * kSaidMs,
                                  .relative = difference_ms / 200,
                                  .half_width = half_width,
                                  .beyond_noise = verdict});
  };
  const auto half_width =
      said.half_width_ms ? std::optional(*said.half_width_ms * kSaidMs) : std::nullopt;
  figure("step", said.difference_ms, said.beyond_noise, half_width);
  figure("exposed", 0, said.exposed_beyond_noise, std::nullopt);
  result.explanation.first_ns = 200 * kSaidMs;
  result.explanation.second_ns = (200 + said.difference_ms) * kSaidMs;
  for (const auto& [share, difference_ms] : said.parts) {
    result.explanation.parts.push_back({.share = share,
                                        .name = "a part",
                                        .first = 50 * kSaidMs,
                                        .second = (50 + difference_ms) * kSaidMs,
                                        .half_width = 1 * kSaidMs,
                                        .beyond_noise = true});
  }
  return result;
}

void expect_said(const std::vector<SaidCase>& cases) {
  for (const SaidCase& said : cases) {
    const auto difference = said_difference(said);
    EXPECT_EQ(comparison_sentence(difference.comparison, difference.explanation).text,
              said.expected);
  }
}

TEST(ComparisonSentence, SaysHowMuchAndWhatOfIt) {
  using enum StepShare;
  expect_said({
      {.difference_ms = -13.4,
       .parts = {{kTransfer, -8.0}, {kWaiting, -5.4}, {kCompute, 0.1}, {kIdle, -0.1}},
       .expected = "faster by 13.4 ± 1.1 ms, all of it exposed communication"},
      {.difference_ms = -13.4,
       .parts = {{kWaiting, -13.4}, {kCompute, 0.1}, {kIdle, -0.1}},
       .expected =
           "faster by 13.4 ± 1.1 ms, all of it exposed communication (waiting for the last rank)"},
      {.difference_ms = 13.4,
       .parts = {{kTransfer, 13.4}},
       .expected = "slower by 13.4 ± 1.1 ms, all of it exposed communication (transfer)"},
      {.difference_ms = -13.4,
       .parts = {{kExposed, -9.2}, {kCompute, -4.2}},
       .expected = "faster by 13.4 ± 1.1 ms, most of it exposed communication (9.2 of 13.4 ms)"},
      {.difference_ms = -2,
       .parts = {{kExposed, -2}},
       .exposed_beyond_noise = true,
       .expected = "faster by 2.0 ± 1.1 ms, all of it exposed communication"},
  });
}

TEST(ComparisonSentence, SaysWhichPartsMakeItUpWhereNoneIsMostOfIt) {
  using enum StepShare;
  expect_said({
      {.difference_ms = 10,
       .parts = {{kCompute, 4.5}, {kIdle, 4.0}, {kExposed, 1.5}},
       .expected = "slower by 10.0 ± 1.1 ms: computation takes 4.50 ms more, idle time takes "
                   "4.00 ms more"},
      {.difference_ms = -10,
       .parts = {{kExposed, -16}, {kCompute, 6}},
       .expected = "faster by 10.0 ± 1.1 ms: exposed communication takes 16.0 ms less, "
                   "computation takes 6.00 ms more"},
      {.difference_ms = -10,
       .parts = {{kCompute, 12}, {kExposed, -11}, {kIdle, -11}},
       .expected = "faster by 10.0 ± 1.1 ms: computation takes 12.0 ms more, exposed "
                   "communication takes 11.0 ms less"},
  });
}

TEST(ComparisonSentence, SaysWhatIsProbableWhereNoPartIsBeyondItsNoise) {
  using enum StepShare;
  expect_said({
      {.difference_ms = -2,
       .parts = {{kWaiting, -2}},
       .exposed_beyond_noise = false,
       .expected = "faster by 2.0 ± 1.1 ms, most probably all of it exposed communication (waiting "
                   "for the last rank), which by itself is within noise"},
      {.difference_ms = -517,
       .half_width_ms = 398,
       .parts = {{kTransfer, -476}, {kCompute, -30}, {kIdle, -11}},
       .exposed_beyond_noise = false,
       .expected = "faster by 517 ± 398 ms, most probably exposed communication (transfer, 476.0 "
                   "of 517.0 ms), which by itself is within noise"},
      {.difference_ms = -10,
       .parts = {{kWaiting, -16}, {kCompute, 6}},
       .exposed_beyond_noise = false,
       .expected = "faster by 10.0 ± 1.1 ms, most probably because exposed communication takes "
                   "16.0 ms less, which by itself is within noise"},
      {.difference_ms = -10,
       .parts = {{kWaiting, -4}, {kCompute, -3.5}, {kIdle, -2.5}},
       .exposed_beyond_noise = false,
       .expected = "faster by 10.0 ± 1.1 ms, no part of it beyond its own noise"},
  });
}

TEST(ComparisonSentence, SaysThatThereIsNoneBeyondNoise) {
  using enum StepShare;
  expect_said({
      {.difference_ms = 0.3,
       .beyond_noise = false,
       .parts = {{kExposed, 0.3}},
       .expected = "no difference beyond noise (+0.3 ± 1.1 ms)"},
      {.difference_ms = -0.3,
       .beyond_noise = false,
       .expected = "no difference beyond noise (−0.3 ± 1.1 ms)"},
      {.difference_ms = -0.2,
       .half_width_ms = 312,
       .beyond_noise = false,
       .expected = "no difference beyond noise (0 ± 312 ms)"},
      {.difference_ms = 0,
       .half_width_ms = std::nullopt,
       .beyond_noise = std::nullopt,
       .expected = "exactly as fast"},
  });
}

TEST(ComparisonSentence, SaysItWithoutAnIntervalOrParts) {
  using enum StepShare;
  expect_said({
      {.difference_ms = -2.1,
       .half_width_ms = std::nullopt,
       .beyond_noise = std::nullopt,
       .parts = {{kExposed, -2.1}},
       .expected = "faster by 2.10 ms (perhaps by chance), all of it exposed communication"},
      {.difference_ms = 12, .parts = {}, .expected = "slower by 12.0 ± 1.1 ms"},
  });
}

TEST(ComparisonSentence, WithoutPartsPhasesExplain) {
  auto difference = said_difference({.difference_ms = -10, .parts = {}, .expected = ""});
  difference.explanation.phases = {{.share = StepShare::kPhase,
                                    .name = "backward",
                                    .first = 20 * kSaidMs,
                                    .second = 10 * kSaidMs,
                                    .half_width = kSaidMs,
                                    .beyond_noise = true}};
  EXPECT_EQ(comparison_sentence(difference.comparison, difference.explanation).text,
            "faster by 10.0 ± 1.1 ms, all of it backward");
}

TEST(ComparisonSentence, SaysWhatItDoesNotKnow) {
  auto difference = said_difference({.difference_ms = -10, .parts = {}, .expected = ""});
  EXPECT_EQ(comparison_sentence(difference.comparison, difference.explanation).caveat, "");
  difference.comparison.noise.between_runs.reset();
  EXPECT_NE(comparison_sentence(difference.comparison, difference.explanation)
                .caveat.find("how far two starts of the same settings lie apart is not known"),
            std::string::npos);
  difference.comparison.beyond_noise.reset();
  difference.comparison.noise_note = "Step times drift on this machine";
  EXPECT_EQ(comparison_sentence(difference.comparison, difference.explanation).caveat,
            "Whether that is more than noise is not known. Step times drift on this machine");
}

TEST(ComparisonSentence, RefusesToCompareOtherJobs) {
  auto difference = said_difference({.difference_ms = -10, .parts = {}, .expected = ""});
  difference.comparison.beyond_noise.reset();
  difference.comparison.other_job = {OtherJob::kModel, OtherJob::kMachine};
  auto sentence = comparison_sentence(difference.comparison, difference.explanation);
  EXPECT_EQ(sentence.text, "not comparable: another model, another machine");
  EXPECT_EQ(sentence.caveat, "");
  difference.comparison.other_job = {OtherJob::kUntold, OtherJob::kMachine};
  sentence = comparison_sentence(difference.comparison, difference.explanation);
  EXPECT_EQ(sentence.text, "not comparable: what was run is not known, another machine");
}

// Two traces of one's own program: who reads it knows whether they are of one job.
TEST(ComparisonSentence, OfUntoldJobsSaysWhatWouldFollowIfTheyWereOne) {
  auto difference = said_difference({.difference_ms = -10,
                                     .half_width_ms = std::nullopt,
                                     .beyond_noise = std::nullopt,
                                     .parts = {{StepShare::kTransfer, -10}},
                                     .exposed_beyond_noise = std::nullopt,
                                     .expected = ""});
  difference.comparison.other_job = {OtherJob::kUntold};
  const auto sentence = comparison_sentence(difference.comparison, difference.explanation);
  EXPECT_EQ(sentence.text,
            "faster by 10.0 ms (if it is the same job, and perhaps by chance), all of it exposed "
            "communication (transfer)");
  EXPECT_EQ(sentence.caveat,
            "What was run is not known, so neither is whether that is more than noise");
}

TEST(ComparisonSentence, ComparesTokensWhereStepsDoOtherWork) {
  auto difference = said_difference({.difference_ms = 40, .parts = {}, .expected = ""});
  difference.comparison.by_throughput = true;
  difference.comparison.same_work = false;
  difference.comparison.relative = 0.334;
  EXPECT_EQ(comparison_sentence(difference.comparison, difference.explanation).text,
            "+33.4 % tokens per second; its steps do other work, so that their times are not "
            "compared");
  difference.comparison.beyond_noise = false;
  EXPECT_EQ(comparison_sentence(difference.comparison, difference.explanation).text,
            "no difference beyond noise (+33.4 % tokens per second)");
  difference.comparison.relative.reset();
  difference.comparison.beyond_noise.reset();
  const auto unknown = comparison_sentence(difference.comparison, difference.explanation);
  EXPECT_EQ(unknown.text,
            "not comparable: its steps do other work, and tokens per second are not known of both "
            "runs");
  EXPECT_EQ(unknown.caveat, "") << "nothing was said that could be chance";
}

TEST(ComparisonSettings, AreThoseThatDiffer) {
  Comparison comparison;
  EXPECT_EQ(settings_text(comparison), "same settings");
  comparison.settings = {{"bucket_cap_mb", "1", "4"}, {"ranks", "2", "4"}};
  EXPECT_EQ(settings_text(comparison), "bucket_cap_mb 1 → 4, ranks 2 → 4");
  comparison.knows_settings = false;
  EXPECT_EQ(settings_text(comparison), "settings are not known");
}

TEST(ComparisonSentence, OfRunsWithoutMeasuredStepsSaysSo) {
  EXPECT_EQ(comparison_sentence({}, {}).text,
            "not comparable: no step was measured of one of them");
}

}  // namespace
}  // namespace shardlens::ui::present
