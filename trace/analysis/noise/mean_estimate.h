// How exactly the steps of one run tell their mean. Neighbouring steps resemble each other (caches,
// temperature, other programs), so that n steps say less than n independent ones would. Any thread.
//
// Method: the integrated autocorrelation time τ = 1 + 2 Σ ρ_k with Sokal's window (Sokal 1997,
// Monte Carlo methods in statistical mechanics, section 3) and the correction for short series of
// Wolff (2004, Monte Carlo errors with less errors, equation 49); then non-overlapping batch means
// (Law and Kelton, Simulation Modeling and Analysis, section 9.5.3; Flyvbjerg and Petersen 1989)
// with batches of 5 τ steps, so that batches are nearly independent, but four batches at least.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace shardlens::trace::analysis {

// Fewer do not tell it, unless all are the same: ten independent ones are wanted, n ≥ 10 τ, and of
// so short a series τ is taken to be 1 + 5 ÷ n at least.
inline constexpr std::int64_t kFewestWithError = 14;

struct MeanEstimate {
  double mean = 0;
  std::int64_t count = 0;         // of steps
  double standard_error = 0;      // of the mean; only with has_error()
  double degrees_of_freedom = 0;  // batches − 1
  // How far the correlation of neighbouring steps lies above that of independent ones, in standard
  // errors of the latter: N(0, 1) where nothing drifts.
  double drift = 0;

  // The steps are enough to tell, as many as ten independent ones: kFewestWithError where they do
  // not resemble their neighbours, else more.
  bool has_error() const { return degrees_of_freedom > 0; }
  // Of the interval around the mean, which misses the true one with this probability; only with
  // has_error().
  double half_width(double missed = 0.05) const;
};

// None of an empty series.
std::optional<MeanEstimate> estimate_mean(const std::vector<double>& series);

}  // namespace shardlens::trace::analysis
