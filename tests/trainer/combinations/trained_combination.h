// Trains a small model with any settings by the real training loop, with threads as ranks, and the
// same in one process without sharding. For tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/trainer/combinations/small_models.h"
#include "trace/job/settings/settings.h"

namespace shardlens::trainer {

struct Curve {
  std::vector<double> losses, norms;  // of each step
  std::vector<double> evaluations;    // losses on held-out text
  std::string error;                  // why a rank ended early; "": none did
};

// Values of `data` and of `resume`: the combination stops after `save_every` steps and goes on from
// its checkpoint; or one process trains until there, or from there on.
inline constexpr const char* kCompletions = "completions";
inline constexpr const char* kAfterItself = "after_itself";
inline constexpr const char* kAfterOneProcess = "after_one_process";
inline constexpr const char* kThenOneProcess = "then_one_process";

// A few steps over kSequences sequences each, however many ranks and micro-batches share them.
// Without dropout: ranks draw it from streams of their own, so that one process would drop other
// values.
trace::job::Settings combination_base();
Curve train_combination(const trace::job::Settings& settings, const SmallModels& models);

// What it must equal: one process, everything at once, with the same arithmetic.
trace::job::Settings in_one_process(const trace::job::Settings& settings);

// How far the curves may be apart, relative, and why: by the narrowest type that sums go through.
double tolerance(const trace::job::Settings& settings);

// The largest relative difference of losses and evaluations; nothing if the lengths differ.
std::optional<double> difference(const Curve& a, const Curve& b);

}  // namespace shardlens::trainer
