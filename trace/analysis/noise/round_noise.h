// What can be said of points (settings) that were measured in rounds, each once per round and in a
// random order: a randomised complete block design, whose rounds take up what drifts slowly. Values
// scatter alike in per cent, whatever the point. Or of points that ran one by one, in no rounds.
// Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace shardlens::trace::analysis {

struct RoundValue {  // at most one of a point and round
  std::size_t point = 0, round = 0;
  double value = 0;  // > 0
};

struct RelativeSpread {  // of one value
  double deviation = 0;
  double degrees_of_freedom = 0;  // 0: not known
};

struct RoundDifference {  // of one point to another, relative to the latter
  double mean = 0;
  double low = 0, high = 0;  // the other's truth lies beyond either with the probability asked for
};

enum class Rounds : std::uint8_t {
  kOfAllPoints,  // what drifts meets all points of a round alike, and is taken out
  kNone,         // a round only numbers a point's values: nothing is taken out
};

class RoundNoise {
 public:
  explicit RoundNoise(std::vector<RoundValue> values, Rounds kind = Rounds::kOfAllPoints);

  // Between runs of one point, drift from round to round included: one-way analysis of variance.
  const RelativeSpread& between_runs() const { return between_runs_; }
  // What the rounds do not explain, nor the points: two-way analysis of variance without
  // interaction (Searle, Linear Models, 1971, chapter 7), by least squares, as rounds may lack
  // points. Without rounds: as between runs.
  const RelativeSpread& within_rounds() const { return within_rounds_; }

  // The geometric mean of its values, as of a round that is like all that were measured: where
  // every point is in every round, that of its own values. None: it was not measured.
  std::optional<double> level(std::size_t point) const;
  // Of its mean, 95 %, as a share of it. None: not known.
  std::optional<double> half_width(std::size_t point) const;
  // point ÷ other − 1, of their levels. Its truth lies below `low`, or above `high`, with a
  // probability of `claims` each. None: no round has both, or the spread is not known.
  std::optional<RoundDifference> difference(std::size_t point, std::size_t other,
                                            double claims) const;
  // Half of that interval's width for two points that have one round in common, of the logarithm:
  // what is_beyond() goes by. None: the spread is not known.
  std::optional<double> width_of_one_round(double claims) const;
  // Whether the difference lies above 0 with its bounds, for many pairs.
  bool is_beyond(std::size_t point, std::size_t other, double width_of_one_round) const;
  // The same without bounds, from however few rounds.
  std::optional<double> mean_difference(std::size_t point, std::size_t other) const;

 private:
  void find_between_runs();
  void fit();
  // Rounds that have both; without rounds as many as would tell their difference as exactly.
  double common_rounds(std::size_t point, std::size_t other) const;

  Rounds kind_;
  std::vector<RoundValue> values_;  // logarithms
  std::size_t points_ = 0, rounds_ = 0;
  std::vector<std::vector<std::size_t>> rounds_of_;  // by point, sorted
  std::vector<double> levels_;                       // by point
  RelativeSpread between_runs_, within_rounds_;
};

}  // namespace shardlens::trace::analysis
