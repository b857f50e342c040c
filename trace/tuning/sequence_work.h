// What longer or shorter sequences take to compute, by how much of a step is attention. Any thread.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace shardlens::trace::tuning {

// Of what forward and backward computed, by the names of operators or kernels (nanoseconds each).
// None: none of them is named as attention, so that it is made of others.
std::optional<double> attention_share(const std::map<std::string, double>& computed_ns);

struct SequenceWork {
  double factor = 1;  // of what was computed
  double unsure = 0;  // so much more or less, in that
};

// Of sequences `ratio` times as long. All is in proportion to the tokens but attention, which lies
// between that (what it reads and writes) and the ratio's square (every token looks at every other;
// Vaswani et al. 2017, table 1): the middle, and as far to either side.
SequenceWork sequence_work(double attention_share, double ratio);

}  // namespace shardlens::trace::tuning
