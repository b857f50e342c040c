// Student's t distribution. Any thread.
#pragma once

namespace shardlens::trace::analysis {

// The probability that |T| exceeds |t|. Degrees of freedom are rounded down, to the cautious side;
// at least 1.
double student_t_p(double t, double degrees_of_freedom);

// The t that |T| exceeds with this probability, 0 < p < 1.
double student_t_quantile(double p, double degrees_of_freedom);

}  // namespace shardlens::trace::analysis
