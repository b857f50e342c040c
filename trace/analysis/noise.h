// Is the difference of two means more than chance? For series of steps, which are autocorrelated.
// Any thread.
//
// Method: the standard error of each mean from non-overlapping batch means (Law and Kelton,
// Simulation Modeling and Analysis, section 9.5.3; Flegal and Jones 2010), with batches of
// ⌊n^(1/3)⌋ steps, the order of growth that is best for the variance (Künsch 1989). Steps that
// depend on their predecessors thereby widen the error instead of pretending to be independent.
// Then Welch's t-test (Welch 1947, degrees of freedom after Satterthwaite) at 5 %, two-sided.
#pragma once

#include <optional>
#include <vector>

namespace shardlens::trace {

struct MeanEstimate {
  double mean = 0;
  double standard_error = 0;
  double degrees_of_freedom = 0;  // number of batches − 1
};

// None below 4 values: too few to see their scatter.
std::optional<MeanEstimate> estimate_mean(const std::vector<double>& series);

// None when either estimate is missing.
std::optional<bool> differ(const std::optional<MeanEstimate>& a,
                           const std::optional<MeanEstimate>& b);

// Rates that are a constant ÷ such a mean, as tokens per second, are told apart by their
// reciprocals, the seconds of one token: proportional to what was measured, so that the verdict is
// that of the means where the constant is the same. None without an estimate or with a mean of 0.
std::optional<MeanEstimate> estimate_reciprocal(double rate,
                                                const std::optional<MeanEstimate>& of_step);

// The two-sided 5 % point of Student's t.
double student_t_95(double degrees_of_freedom);

}  // namespace shardlens::trace
