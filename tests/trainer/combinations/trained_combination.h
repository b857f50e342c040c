// Trains a small model with any settings by the real training loop, with threads as ranks, and the
// same in one process without sharding. For tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/model/settings.h"

namespace shardlens::trainer {

struct Curve {
  std::vector<double> losses, norms;  // of each step
  std::vector<double> evaluations;    // losses on held-out text
  std::string error;                  // why a rank ended early; "": none did
};

// A few steps over kSequences sequences each, however many ranks and micro-batches share them, by a
// small model of the layout of the preset `model`.
trace::Settings combination_base();
Curve train_combination(const trace::Settings& settings);

// What it must equal: one process, everything at once, with the same arithmetic.
trace::Settings in_one_process(const trace::Settings& settings);

// Numbers of parameters of which the first makes every layer a unit, and the second makes units
// within units.
std::vector<std::int64_t> smallest_units();

// How far the curves may be apart, relative, and why: by the narrowest type that sums go through.
double tolerance(const trace::Settings& settings);

// The largest relative difference of losses and evaluations; nothing if the lengths differ.
std::optional<double> difference(const Curve& a, const Curve& b);

}  // namespace shardlens::trainer
