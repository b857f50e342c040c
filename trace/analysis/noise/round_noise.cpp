#include "trace/analysis/noise/round_noise.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "trace/analysis/noise/noise_model.h"
#include "trace/analysis/noise/student_t.h"

namespace shardlens::trace::analysis {

namespace {

constexpr int kMostPasses = 1000;
constexpr double kSettled = 1e-13;  // of logarithms

// The mean of what is left of the values in each group once `other` is taken out of them.
std::vector<double> group_means(const std::vector<RoundValue>& values,
                                std::size_t RoundValue::*group, std::size_t groups,
                                std::size_t RoundValue::*other,
                                const std::vector<double>& of_other) {
  std::vector<double> sums(groups), counts(groups);
  for (const RoundValue& one : values) {
    sums[one.*group] += one.value - of_other[one.*other];
    ++counts[one.*group];
  }
  for (std::size_t i = 0; i < groups; ++i) {
    if (counts[i] > 0) sums[i] /= counts[i];
  }
  return sums;
}

double largest_change(const std::vector<double>& before, const std::vector<double>& after) {
  double largest = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    largest = std::max(largest, std::abs(after[i] - before[i]));
  }
  return largest;
}

RelativeSpread spread_of(double squares, double freedom) {
  if (freedom < 1) return {};
  return {.deviation = std::sqrt(squares / freedom), .degrees_of_freedom = freedom};
}

}  // namespace

RoundNoise::RoundNoise(std::vector<RoundValue> values, Rounds kind)
    : kind_(kind), values_(std::move(values)) {
  for (RoundValue& one : values_) {
    one.value = std::log(one.value);
    points_ = std::max(points_, one.point + 1);
    rounds_ = std::max(rounds_, one.round + 1);
  }
  rounds_of_.resize(points_);
  for (const RoundValue& one : values_) rounds_of_[one.point].push_back(one.round);
  for (auto& rounds : rounds_of_) std::ranges::sort(rounds);
  find_between_runs();
  if (kind_ == Rounds::kOfAllPoints) {
    fit();
    return;
  }
  levels_ = group_means(values_, &RoundValue::point, points_, &RoundValue::round,
                        std::vector<double>(rounds_));
  within_rounds_ = between_runs_;
}

void RoundNoise::find_between_runs() {
  const std::vector<double> none(rounds_);
  const auto means = group_means(values_, &RoundValue::point, points_, &RoundValue::round, none);
  double squares = 0, freedom = 0;
  for (const RoundValue& one : values_) {
    squares += (one.value - means[one.point]) * (one.value - means[one.point]);
  }
  for (const auto& rounds : rounds_of_) {
    freedom += std::max(0.0, static_cast<double>(rounds.size()) - 1);
  }
  between_runs_ = spread_of(squares, freedom);
}

// Points and rounds by turns, each fitted to what the other leaves: this comes to least squares.
void RoundNoise::fit() {
  levels_.assign(points_, 0);
  std::vector<double> of_rounds(rounds_);
  for (int pass = 0; pass < kMostPasses; ++pass) {
    auto levels = group_means(values_, &RoundValue::point, points_, &RoundValue::round, of_rounds);
    of_rounds = group_means(values_, &RoundValue::round, rounds_, &RoundValue::point, levels);
    const double change = largest_change(levels_, levels);
    levels_ = std::move(levels);
    if (change < kSettled) break;
  }
  double squares = 0, drift = 0;
  std::vector<bool> has_round(rounds_);
  for (const RoundValue& one : values_) {
    const double rest = one.value - levels_[one.point] - of_rounds[one.round];
    squares += rest * rest;
    drift += of_rounds[one.round];
    has_round[one.round] = true;
  }
  // As of a round that is like all that were measured.
  if (!values_.empty()) {
    for (double& level : levels_) level += drift / static_cast<double>(values_.size());
  }
  const auto measured = std::ranges::count_if(
      rounds_of_, [](const auto& rounds_of_one) { return !rounds_of_one.empty(); });
  const auto rounds = std::ranges::count(has_round, true);
  const auto count = static_cast<double>(values_.size());
  within_rounds_ =
      spread_of(squares, count - static_cast<double>(measured) - static_cast<double>(rounds) + 1);
}

std::optional<double> RoundNoise::level(std::size_t point) const {
  if (point >= points_ || rounds_of_[point].empty()) return std::nullopt;
  return std::exp(levels_[point]);
}

std::optional<double> RoundNoise::half_width(std::size_t point) const {
  if (!level(point) || between_runs_.degrees_of_freedom < 1) return std::nullopt;
  return student_t_quantile(kFalseClaims, between_runs_.degrees_of_freedom) *
         between_runs_.deviation / std::sqrt(rounds_of_[point].size());
}

double RoundNoise::common_rounds(std::size_t point, std::size_t other) const {
  if (point >= points_ || other >= points_) return 0;
  if (kind_ == Rounds::kNone) {
    const auto one = static_cast<double>(rounds_of_[point].size());
    const auto two = static_cast<double>(rounds_of_[other].size());
    return one * two == 0 ? 0 : 2 / (1 / one + 1 / two);
  }
  return static_cast<double>(std::ranges::count_if(rounds_of_[point], [&](std::size_t round) {
    return std::ranges::binary_search(rounds_of_[other], round);
  }));
}

std::optional<double> RoundNoise::mean_difference(std::size_t point, std::size_t other) const {
  if (common_rounds(point, other) == 0) return std::nullopt;
  return std::expm1(levels_[point] - levels_[other]);
}

std::optional<double> RoundNoise::width_of_one_round(double claims) const {
  if (within_rounds_.degrees_of_freedom < 1) return std::nullopt;
  // Two-sided at twice the probability of either side.
  return student_t_quantile(2 * claims, within_rounds_.degrees_of_freedom) *
         within_rounds_.deviation * std::sqrt(2.0);
}

// The error is that of the mean over the rounds that have both. The fit makes use of the others,
// too, and so misses by no more (Gauss and Markov).
bool RoundNoise::is_beyond(std::size_t point, std::size_t other, double width_of_one_round) const {
  const double rounds = common_rounds(point, other);
  return rounds > 0 && levels_[point] - levels_[other] > width_of_one_round / std::sqrt(rounds);
}

std::optional<RoundDifference> RoundNoise::difference(std::size_t point, std::size_t other,
                                                      double claims) const {
  const auto mean = mean_difference(point, other);
  const auto one_round = width_of_one_round(claims);
  if (!mean || !one_round) return std::nullopt;
  const double width = *one_round / std::sqrt(common_rounds(point, other));
  const double middle = std::log1p(*mean);
  return RoundDifference{
      .mean = *mean, .low = std::expm1(middle - width), .high = std::expm1(middle + width)};
}

}  // namespace shardlens::trace::analysis
