// What would help a recorded run: one finding of one rule, with what shows it. Plain values; any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/tuning/prediction.h"

namespace shardlens::trace::advice {

// Where in the run a click leads.
struct Evidence {
  std::string what;                       // "bucket 3 on rank 1, 9.1 ms exposed"
  std::int64_t step = -1;                 // −1: of the whole run
  int rank = -1;                          // −1: all
  std::int64_t start_ns = 0, end_ns = 0;  // absolute; not longer than 0: the whole step

  bool has_range() const { return end_ns > start_ns; }
  bool operator==(const Evidence&) const = default;
};

struct KnobValue {
  std::string knob, value;  // as in YAML

  bool operator==(const KnobValue&) const = default;
};

// Of step time, as tuning::Predictor says of the run's settings with the changes: > 0. Where they
// change the batch, of the time for as many samples as a recorded step has.
struct Gain {
  double ns = 0;
  tuning::Interval interval;  // above 0
};

// At most one finding of a topic is given: two of them would be about the same thing, or opposites.
enum class Topic : std::uint8_t {
  kOverlap,
  kBucketSizes,
  kBucketMemory,
  kCompression,
  kUnusedParameters,
  kAccumulation,
  kPrefetch,
  kForwardPrefetch,
  kUnitSizes,
  kStrategy,
  kBatch,
  kRecomputation,
  kStraggler,
  kData,
  kHost,
  kLoss,
  kLink,
  kHeat,
  kPower,
};

// What it would be good for. A change for time, or for time per sample, is not proposed where the
// prediction does not say that it is faster.
enum class Aim : std::uint8_t { kTime, kMemory, kThroughput };

struct Advice {
  std::string_view rule;  // its id, as in JSON: "bucket_cap"
  Topic topic = Topic::kBucketSizes;
  Aim aim = Aim::kTime;
  std::string title;               // one imperative sentence without a full stop
  std::string measured;            // the figure that it rests on: "34.0 of 42.1 ms exposed"
  std::string why;                 // one or two sentences
  std::vector<Evidence> evidence;  // never empty
  std::optional<Gain> gain;
  std::string gain_unknown;        // why there is none, a sentence; "": nobody can tell
  std::string costs;               // what is given up, a sentence; "": nothing
  std::vector<KnobValue> changes;  // to be made together; empty: no knob does it
  double at_stake_ns = 0;          // of a step, as measured: what comes first without a gain
  std::int64_t saved_bytes = 0;    // of one rank's peak, estimated; negative: it needs more
};

}  // namespace shardlens::trace::advice
