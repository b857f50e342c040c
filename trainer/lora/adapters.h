// Low-rank adapters beside a model's linear layers (Hu et al. 2022, LoRA), computed, named and
// initialised as peft's. The training thread.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trainer/model/layers/linear_layer.h"
#include "trainer/model/model.h"

namespace shardlens::trainer::lora {

inline constexpr const char* kLoraA = "lora_A";  // [rank, in]
inline constexpr const char* kLoraB = "lora_B";  // [out, rank]

struct LoraOptions {
  std::int64_t rank = 8;
  double alpha = 8;
  double dropout = 0;
  std::string targets = "auto";  // as lora_target_modules
  std::uint64_t seed = 0;

  double scaling() const { return alpha / static_cast<double>(rank); }
};
LoraOptions lora_options(const trace::job::Settings& settings);

// A layer as the model knows it.
struct NamedLinear {
  std::string name;  // "model.layers.0.self_attn.q_proj"
  std::shared_ptr<model::LinearLayer> layer;
};
// Those that can be adapted: all but the output, in registration order.
std::vector<NamedLinear> linear_layers_of(const model::Model& model);

// Gives the layers that `targets` names an adapter, registered under the layer as
// lora_A.weight and lora_B.weight, in fp32, and freezes everything else save a classifier's head.
// A is uniform in ±1/√in, drawn from the seed and the layer's name, B zero: at first nothing
// changes. Returns the adapted layers. Error kUsage: a target matches no layer.
trace::base::Result<std::vector<NamedLinear>> add_adapters(model::Model& model,
                                                           const LoraOptions& options);

// Elements [begin, begin + into.numel()) of an adapter's initial values, by its parameter's name.
void fill_initial_adapter(const std::string& parameter, std::int64_t in_features,
                          std::int64_t begin, std::uint64_t seed, torch::Tensor into);

// FNV-1a, so that what is drawn for one parameter depends on no other.
std::uint64_t stable_hash(std::string_view text, std::uint64_t seed);

// "….lora_A.weight" or "….lora_B.weight"
bool is_adapter_parameter(std::string_view name);

}  // namespace shardlens::trainer::lora
