// Which layers get low-rank adapters (Hu et al. 2022, LoRA), by peft's names and rules, and what of
// a model is trained then. Plain values, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trace/job/shape/model_shape.h"
#include "trace/job/shape/parameter_shapes.h"

namespace shardlens::trace::job {

// How frozen weights are kept. Norms and biases are always fp32.
enum class KeptType : std::uint8_t { kFp32, kBf16, kNf4 };
inline constexpr std::size_t kKeptTypes = 3;
struct KeptTypes {
  KeptType linear = KeptType::kFp32;  // matrices of linear layers but the output
  KeptType other = KeptType::kFp32;   // embeddings and the output matrix: fp32 or bf16
};
// Whether matrices are multiplied in bf16.
bool computes_in_bf16(const Settings& settings);
// What `base_dtype` stands for; fp32 where everything is trained.
KeptTypes kept_types(const Settings& settings);

// QLoRA's 4-bit NormalFloat (Dettmers et al. 2023): 64 values share a scale in fp32 and take half a
// byte each. A block is kept as its scale followed by its values, so that any range of blocks
// stands alone.
inline constexpr std::int64_t kNf4BlockValues = 64;
inline constexpr std::int64_t kNf4BlockBytes = 4 + kNf4BlockValues / 2;
std::int64_t nf4_bytes(std::int64_t values);

// A layer that multiplies by a matrix and that is not the model's output.
struct LinearShape {
  std::string name;  // Hugging Face's: "model.layers.0.self_attn.q_proj"
  std::int64_t in = 0, out = 0;
  int block = 0;
};
// In registration order.
std::vector<LinearShape> linear_layers(const ModelShape& shape);
// What a linear layer's matrix, one of parameter_shapes(shape), is multiplied with:
// LinearShape::in.
std::int64_t input_width(const ModelShape& shape, const ParameterShape& matrix);

// The output of a model, which peft neither adapts nor keeps in 4 bits: "lm_head", "classifier", …
bool is_output_layer(std::string_view name);
// Whether a parameter is of an output that is trained beside adapters: a classifier's, not that of
// a language model.
bool is_trained_head(std::string_view parameter);

// Those of `layers` that `lora_target_modules` names: a layer whose name is a target's, or ends
// with it after a dot; "auto" is peft's choice for the family, which the names tell. Error kUsage:
// a target matches no layer; all names are listed.
base::Result<std::vector<std::string>> lora_targets(std::string_view setting,
                                                    std::span<const std::string> layers);
base::Result<std::vector<LinearShape>> adapted_layers(const ModelShape& shape,
                                                      std::string_view setting);

// Whether the same layers of all blocks get adapters: not where `lora_target_modules` names those
// of single blocks ("h.3.mlp.c_fc"). True without adapters.
bool are_blocks_adapted_alike(const ModelShape& shape, const Settings& settings);

// Values of the adapters of a layer: r·(in + out).
std::int64_t adapter_values(const LinearShape& layer, std::int64_t rank);

struct TrainedShare {
  std::int64_t all = 0;      // adapters included, shared ones counted once
  std::int64_t trained = 0;  // of them
};
// 0 adapters where the targets match none.
TrainedShare trained_share(const ModelShape& shape, const Settings& settings);

// What a checkpoint of such a job holds, in registration order: all parameters, or adapters and a
// classifier's head. No adapters where the targets match no layer.
std::vector<ParameterShape> saved_parameters(const ModelShape& shape, const Settings& settings);

// Operations of forward and backward per token, as flops_per_token(): of adapters 6 for each value,
// of frozen weights 4. Where a layer's input needs no gradient, in front of the first adapter or
// beside it, 2 less, of adapters for the values of their first factor; of a block's attention a
// third where its result needs none.
std::int64_t flops_per_token(const ModelShape& shape, const Settings& settings,
                             std::int64_t sequence_length);

}  // namespace shardlens::trace::job
