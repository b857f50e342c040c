#include "trace/job/shape/lora.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <set>

#include "trace/base/text.h"
#include "trace/job/shape/parameter_shapes.h"
#include "trace/job/shape/strategy.h"

namespace shardlens::trace::job {

namespace {

constexpr std::string_view kPooler = ".pooler.dense.weight";

// peft 0.21, utils/constants.py: TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING of GPT-2; of
// Llama, Mistral, Qwen2 and Qwen3; of BERT and RoBERTa. No family has layers of another's names.
constexpr std::array<std::array<std::string_view, 2>, 3> kFamilyTargets{{
    {"c_attn", "c_attn"},
    {"q_proj", "v_proj"},
    {"query", "value"},
}};

std::string_view last_name(std::string_view name) { return name.substr(name.rfind('.') + 1); }

bool matches(std::string_view layer, std::string_view target) {
  if (!layer.ends_with(target)) return false;
  return layer.size() == target.size() || layer[layer.size() - target.size() - 1] == '.';
}

std::vector<std::string_view> target_list(std::string_view setting) {
  std::vector<std::string_view> targets = base::split(setting, ',');
  std::ranges::transform(targets, targets.begin(), base::trimmed);
  return targets;
}

std::vector<std::string_view> family_targets(std::span<const std::string> layers) {
  for (const auto& names : kFamilyTargets) {
    const bool here = std::ranges::any_of(
        layers, [&](const std::string& layer) { return matches(layer, names.front()); });
    if (here) return {names.begin(), names.end()};
  }
  return {};
}

// The names as one would write them in the setting: without what differs from block to block.
std::string kinds_of(std::span<const std::string> layers) {
  std::vector<std::string_view> kinds;
  std::string text;
  for (const std::string& layer : layers) {
    const std::string_view kind = last_name(layer);
    if (std::ranges::find(kinds, kind) != kinds.end()) continue;
    kinds.push_back(kind);
    text += (text.empty() ? "" : ", ") + std::string(kind);
  }
  return text;
}

std::int64_t trained_blocks_values(const ModelShape& shape, std::int64_t frozen_blocks) {
  std::int64_t frozen = 0;
  for (const ParameterShape& each : parameter_shapes(shape)) {
    if (each.block >= 0 && each.block < frozen_blocks) frozen += each.numel();
  }
  return parameter_count(shape) - frozen;
}

// A model with adapters. Backward comes no further than to the first of them.
class AdaptedModel {
 public:
  AdaptedModel(const ModelShape& shape, const Settings& s)
      : shape_(shape),
        rank_(s.lora_rank),
        parameters_(parameter_shapes(shape)),
        adapted_(
            adapted_layers(shape, s.lora_target_modules).value_or(std::vector<LinearShape>{})) {
    for (const LinearShape& layer : adapted_) trained_.insert(layer.name);
    for (const ParameterShape& each : parameters_) {
      if (is_trained_head(each.name)) trained_.insert(layer_of(each.name));
    }
  }

  std::int64_t flops_per_token(std::int64_t sequence_length) const {
    const std::int64_t attention = 4 * shape_.attention_width() * sequence_length;
    std::int64_t flops = 0;
    for (const ParameterShape& each : parameters_) {
      if (is_lookup_table(shape_, each)) continue;
      const std::string_view layer = layer_of(each.name);
      // A tied embedding multiplies what the last norm gives.
      const bool is_output = shape_.tied_head && &each == &parameters_.front();
      const bool hands_on = is_output ? !trained_.empty() : input_needs_gradient(layer, each.block);
      const int passes = 1 + (hands_on ? 1 : 0) + (is_trained_head(each.name) ? 1 : 0);
      flops += 2 * passes * each.numel();
      const bool is_matrix = each.sizes.size() == 2;
      if (is_matrix && is_behind_attention(layer)) flops += (hands_on ? 3 : 1) * attention;
    }
    for (const LinearShape& layer : adapted_) {
      flops += 6 * adapter_values(layer, rank_);
      if (!input_needs_gradient(layer.name, layer.block)) flops -= 2 * rank_ * layer.in;
    }
    return flops;
  }

 private:
  bool input_needs_gradient(std::string_view layer, int block) const {
    if (block == ParameterShape::kRoot) return is_fed_outside_of_blocks(layer);
    const int first = adapted_.empty() ? ParameterShape::kRoot : adapted_.front().block;
    if (first == ParameterShape::kRoot || block < first) return false;
    return block > first || std::ranges::any_of(adapted_, [&](const LinearShape& each) {
             return each.block == first && feeds(each.name, layer);
           });
  }

  // What lies outside of them is registered as forward goes through it.
  bool is_fed_outside_of_blocks(std::string_view layer) const {
    for (const ParameterShape& each : parameters_) {
      if (layer_of(each.name) == layer) return false;
      if (trained_.contains(layer_of(each.name))) return true;
    }
    return false;
  }

  const ModelShape& shape_;
  std::int64_t rank_;
  std::vector<ParameterShape> parameters_;
  std::vector<LinearShape> adapted_;
  std::set<std::string_view> trained_;  // layers, themselves or adapters beside them
};

}  // namespace

bool computes_in_bf16(const Settings& s) {
  return s.precision == Precision::kBf16 ||
         (strategy_traits(s.sharding_strategy).has_units && s.param_dtype == DataType::kBf16);
}

KeptTypes kept_types(const Settings& s) {
  if (s.lora_rank == 0 && s.frozen_blocks == 0) return {};
  const KeptType other = computes_in_bf16(s) ? KeptType::kBf16 : KeptType::kFp32;
  if (s.base_dtype == BaseType::kNf4) return {KeptType::kNf4, other};
  if (s.base_dtype == BaseType::kBf16) return {KeptType::kBf16, KeptType::kBf16};
  if (s.base_dtype == BaseType::kFp32 || s.lora_rank == 0) return {};
  return {other, other};
}

std::int64_t nf4_bytes(std::int64_t values) {
  return (values + kNf4BlockValues - 1) / kNf4BlockValues * kNf4BlockBytes;
}

bool is_output_layer(std::string_view name) {
  // peft's modules_to_save of a classifier, and the output embeddings.
  constexpr std::array<std::string_view, 3> kOutputs{"lm_head", "classifier", "score"};
  return std::ranges::any_of(kOutputs, [&](std::string_view output) {
    return name == output || (name.starts_with(output) && name[output.size()] == '.');
  });
}

bool is_trained_head(std::string_view parameter) {
  return is_output_layer(parameter) && !parameter.starts_with("lm_head");
}

std::vector<LinearShape> linear_layers(const ModelShape& shape) {
  std::vector<LinearShape> layers;
  for (const ParameterShape& each : parameter_shapes(shape)) {
    // Outside of blocks there are embeddings and outputs, and an encoder's pooler.
    const bool is_inside = each.block != ParameterShape::kRoot || each.name.ends_with(kPooler);
    if (!is_inside || each.sizes.size() != 2) continue;
    const std::int64_t in = input_width(shape, each);
    layers.push_back({std::string(layer_of(each.name)), in, each.numel() / in, each.block});
  }
  return layers;
}

std::int64_t input_width(const ModelShape& shape, const ParameterShape& matrix) {
  return matrix.sizes[shape.layout == ModelLayout::kGpt2 ? 0 : 1];
}

base::Result<std::vector<std::string>> lora_targets(std::string_view setting,
                                                    std::span<const std::string> layers) {
  std::vector<std::string> chosen;
  if (setting == "all-linear") return std::vector<std::string>(layers.begin(), layers.end());
  const auto targets = setting == "auto" ? family_targets(layers) : target_list(setting);
  for (const std::string_view target : targets) {
    const bool found = std::ranges::any_of(
        layers, [&](const std::string& layer) { return matches(layer, target); });
    if (!found) {
      return base::fail(base::ErrorKind::kUsage,
                        "lora_target_modules: no layer is called \"" + std::string(target) +
                            "\". The model's layers are " + kinds_of(layers) +
                            "; use some of them, or all-linear.");
    }
  }
  for (const std::string& layer : layers) {
    const bool wanted = std::ranges::any_of(
        targets, [&](std::string_view target) { return matches(layer, target); });
    if (wanted) chosen.push_back(layer);
  }
  if (chosen.empty()) {
    return base::fail(
        base::ErrorKind::kUsage,
        "lora_target_modules: there is no usual choice for this model. Its layers are " +
            kinds_of(layers) + "; use some of them, or all-linear.");
  }
  return chosen;
}

base::Result<std::vector<LinearShape>> adapted_layers(const ModelShape& shape,
                                                      std::string_view setting) {
  std::vector<LinearShape> layers = linear_layers(shape);
  std::vector<std::string> names;
  for (const LinearShape& layer : layers) names.push_back(layer.name);
  TRY_ASSIGN(const auto chosen, lora_targets(setting, names));
  const std::set<std::string> wanted(chosen.begin(), chosen.end());
  std::erase_if(layers, [&](const LinearShape& layer) { return !wanted.contains(layer.name); });
  return layers;
}

bool are_blocks_adapted_alike(const ModelShape& shape, const Settings& s) {
  if (s.lora_rank == 0) return true;
  const auto adapted = adapted_layers(shape, s.lora_target_modules);
  if (!adapted) return true;  // somebody else says that
  std::vector<std::set<std::string>> by_block(static_cast<std::size_t>(shape.layers));
  for (const LinearShape& layer : *adapted) {
    if (layer.block == ParameterShape::kRoot) continue;
    const std::string number = "." + std::to_string(layer.block) + ".";
    by_block[static_cast<std::size_t>(layer.block)].insert(
        layer.name.substr(layer.name.find(number) + number.size()));
  }
  return std::ranges::adjacent_find(by_block, std::ranges::not_equal_to{}) == by_block.end();
}

std::int64_t adapter_values(const LinearShape& layer, std::int64_t rank) {
  return rank * (layer.in + layer.out);
}

std::vector<ParameterShape> saved_parameters(const ModelShape& shape, const Settings& s) {
  std::vector<ParameterShape> all = parameter_shapes(shape);
  if (s.lora_rank == 0) return all;
  std::vector<ParameterShape> saved;
  const auto adapted = adapted_layers(shape, s.lora_target_modules);
  for (const LinearShape& layer : adapted.value_or(std::vector<LinearShape>{})) {
    saved.push_back({layer.name + ".lora_A.weight", {s.lora_rank, layer.in}, layer.block});
    saved.push_back({layer.name + ".lora_B.weight", {layer.out, s.lora_rank}, layer.block});
  }
  std::ranges::copy_if(all, std::back_inserter(saved),
                       [](const ParameterShape& each) { return is_trained_head(each.name); });
  return saved;
}

TrainedShare trained_share(const ModelShape& shape, const Settings& s) {
  const std::int64_t base = parameter_count(shape);
  if (s.lora_rank == 0) return {base, trained_blocks_values(shape, s.frozen_blocks)};
  TrainedShare share{base, 0};
  for (const ParameterShape& each : saved_parameters(shape, s)) {
    share.trained += each.numel();
    if (!is_trained_head(each.name)) share.all += each.numel();
  }
  return share;
}

std::int64_t flops_per_token(const ModelShape& shape, const Settings& s,
                             std::int64_t sequence_length) {
  if (s.lora_rank == 0) return flops_per_token(shape, sequence_length, s.frozen_blocks);
  return AdaptedModel(shape, s).flops_per_token(sequence_length);
}

}  // namespace shardlens::trace::job
