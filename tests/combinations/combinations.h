// Settings drawn by a seed so that every pair of values that can stand together does, in as few
// combinations as that needs: what a single value breaks, or two of them together, is found without
// trying all. Which values go together is asked of the program's own validation. For tests; any
// thread.
//
//   for (const Combination& each : pairwise_combinations(base, training_factors(), seed, 60)) …
//
// `setting_combinations --seed 1 --count 60 --base ranks=2` prints them, one a line, for tests that
// start the program: each word of a line goes behind a --set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/settings/settings.h"

namespace shardlens::combinations {

// A knob and the values to try, or several knobs that only mean something together. Each value is
// assignments with spaces between: "wrap_policy=size min_num_params=1700".
struct Factor {
  std::vector<std::string> values;
};

struct Combination {
  trace::job::Settings settings;
  std::string
      line;  // what differs from the base: "sharding_strategy=full_shard forward_prefetch=…"
};

// `count` combinations; 0: as many as cover all pairs. More than those cover them again, otherwise.
// A factor that the strategy does not obey stays as it is in `base`, and covers nothing. `base` is
// valid. The same for the same arguments.
std::vector<Combination> pairwise_combinations(const trace::job::Settings& base,
                                               std::span<const Factor> factors, std::uint64_t seed,
                                               std::size_t count);

// A line of assignments on top of `base`.
trace::base::Result<trace::job::Settings> settings_of_line(const trace::job::Settings& base,
                                                           std::string_view line);

// Every knob that changes how ranks train together, but not what they learn from. What needs a
// wish for the model's size has it for `smallest_units`: numbers of parameters of which one makes
// units within units.
std::vector<Factor> training_factors(std::span<const std::int64_t> smallest_units);

}  // namespace shardlens::combinations
