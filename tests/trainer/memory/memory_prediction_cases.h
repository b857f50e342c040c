// What the predictions of memory are held against: small models under settings that change what
// layers keep for backward.
#pragma once

#include <cstdint>
#include <ostream>
#include <vector>

#include "trace/predict/sizes/planned_job.h"
#include "trainer/model/layers/model_shape.h"

namespace shardlens::trainer {

struct MemoryCase {
  const char* name;
  model::ModelLayout layout;
  bool tied = true;
  const char* precision = "fp32";
  double dropout = 0;
  std::int64_t recompute = 0;
  bool is_gathered_in_16_bits = false;
  std::int64_t loss_chunk = 0;  // tokens, of 512
  void (*change)(model::ModelShape&) = nullptr;
  const char* adapters = "";  // of which layers, beside frozen weights
  const char* base = "auto";
  std::int64_t frozen_blocks = 0;
};

inline void PrintTo(const MemoryCase& tried, std::ostream* out) { *out << tried.name; }

// One step of 4 sequences of 128 tokens.
trace::predict::PlannedJob job_of(const MemoryCase& tried);

// Every layout, precision and setting that changes what layers keep.
std::vector<MemoryCase> model_cases();
// Gradients and gathered copies are then the strategy's, not the model's.
std::vector<MemoryCase> model_in_16_bits_cases();
// Beside frozen weights of each type.
std::vector<MemoryCase> adapter_cases();
// Where the frozen output matrix decides.
std::vector<MemoryCase> wide_adapter_cases();
// Blocks are computed again one at a time: what one keeps and makes counts where it is highest.
std::vector<MemoryCase> recomputed_adapter_cases();
// The first blocks, or all.
std::vector<MemoryCase> frozen_cases();

}  // namespace shardlens::trainer
