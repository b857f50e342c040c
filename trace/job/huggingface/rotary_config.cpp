#include "trace/job/huggingface/rotary_config.h"

#include <array>
#include <cmath>
#include <string>
#include <string_view>

namespace shardlens::trace::job {

namespace {

constexpr double kDefaultBase = 10000, kLargestBase = 1e12, kLargestFactor = 1e6;
constexpr std::int64_t kLongestContext = std::int64_t{1} << 40;
constexpr std::string_view kUnscaled = "default";
constexpr std::array<std::string_view, 5> kTypes{kUnscaled, "linear", "dynamic", "llama3", "yarn"};

// YaRN's magnitude correction (Peng et al. 2023, section 3.4; `mscale` is DeepSeek's).
double magnitude(double factor, double scale = 1) {
  return factor <= 1 ? 1 : 0.1 * scale * std::log(factor) + 1;
}

void read_yarn(ConfigKeys& keys, RotaryScaling& rotary) {
  const auto or_if_zero = [](double value, double automatic) {
    return value == 0 ? automatic : value;
  };
  rotary.beta_fast = or_if_zero(keys.number("beta_fast", 0, kLargestFactor, 32), 32);
  rotary.beta_slow = or_if_zero(keys.number("beta_slow", 0, kLargestFactor, 1), 1);
  rotary.truncates = keys.flag("truncate", true);
  const double scale = keys.number("mscale", 0, kLargestFactor, 0);
  const double scale_all = keys.number("mscale_all_dim", 0, kLargestFactor, 0);
  const double automatic = scale > 0 && scale_all > 0 ? magnitude(rotary.factor, scale) /
                                                            magnitude(rotary.factor, scale_all)
                                                      : magnitude(rotary.factor);
  rotary.attention_factor = keys.number("attention_factor", 0, kLargestFactor, automatic);
}

void read_scaling(ConfigKeys& outer, ConfigKeys& keys, const std::string& type, ModelShape& shape) {
  RotaryScaling& rotary = shape.rotary;
  // Of YaRN alone the factor may follow from the contexts.
  const bool is_yarn = type == "yarn";
  const CountRange contexts{1, kLongestContext};
  rotary.original_context =
      outer.has("original_max_position_embeddings")
          ? outer.count("original_max_position_embeddings", contexts)
          : keys.count("original_max_position_embeddings", contexts, shape.context);
  const double ratio =
      static_cast<double>(shape.context) / static_cast<double>(rotary.original_context);
  rotary.factor =
      keys.number("factor", 1e-6, kLargestFactor, is_yarn ? std::optional(ratio) : std::nullopt);
  if (type == "llama3") {
    rotary.kind = RotaryKind::kLlama3;
    rotary.low_frequency_factor = keys.number("low_freq_factor", 1e-6, kLargestFactor);
    rotary.high_frequency_factor = keys.number("high_freq_factor", 1e-6, kLargestFactor);
  } else if (type == "linear") {
    rotary.kind = RotaryKind::kLinear;
  } else if (type == "dynamic") {
    rotary.kind = RotaryKind::kDynamic;
    rotary.original_context = shape.context;
  } else {
    rotary.kind = RotaryKind::kYarn;
    read_yarn(keys, rotary);
  }
}

}  // namespace

void read_rotary(ConfigKeys& keys, ModelShape& shape) {
  // As transformers: the old spelling wins where it says something.
  const nlohmann::json* old = keys.object("rope_scaling");
  const bool is_old = old != nullptr && !old->empty();
  ConfigKeys inner = keys.inside(is_old ? "rope_scaling" : "rope_parameters");
  shape.rotary = {};
  const double base = keys.number("rope_theta", 1, kLargestBase, kDefaultBase);
  shape.rotary_base = inner.number("rope_theta", 1, kLargestBase, base);
  for (ConfigKeys* each : {&keys, &inner}) {
    if (each->number("partial_rotary_factor", 0, 1, 1) != 1) {
      each->unsupported("partial_rotary_factor", "1 is");
    }
  }
  for (const char* layers : {"full_attention", "sliding_attention"}) inner.must_be_absent(layers);
  const char* type_key = inner.has("rope_type") || !inner.has("type") ? "rope_type" : "type";
  const std::string type = inner.choice(type_key, kUnscaled, kTypes);
  if (type != kUnscaled) read_scaling(keys, inner, type, shape);
}

}  // namespace shardlens::trace::job
