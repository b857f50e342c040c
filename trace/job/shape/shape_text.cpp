#include "trace/job/shape/shape_text.h"

#include <concepts>
#include <map>
#include <string>
#include <type_traits>

#include "trace/base/number_text.h"
#include "trace/base/text.h"

namespace shardlens::trace::job {

namespace {

constexpr std::string_view kNameKey = "name=";

// Calls visit(key, member) for all but the name.
template <typename Shape, typename Visit>
void for_each_field(Shape& s, Visit&& visit) {
  visit("layout", s.layout);
  visit("layers", s.layers);
  visit("width", s.width);
  visit("heads", s.heads);
  visit("kv_heads", s.kv_heads);
  visit("mlp_width", s.mlp_width);
  visit("vocabulary", s.vocabulary);
  visit("context", s.context);
  visit("tied_head", s.tied_head);
  visit("norm_epsilon", s.norm_epsilon);
  visit("qkv_bias", s.qkv_bias);
  visit("output_bias", s.output_bias);
  visit("mlp_bias", s.mlp_bias);
  visit("qk_norm", s.qk_norm);
  visit("head_size", s.head_size);
  visit("rotary_base", s.rotary_base);
  visit("rotary.kind", s.rotary.kind);
  visit("rotary.factor", s.rotary.factor);
  visit("rotary.low_frequency_factor", s.rotary.low_frequency_factor);
  visit("rotary.high_frequency_factor", s.rotary.high_frequency_factor);
  visit("rotary.original_context", s.rotary.original_context);
  visit("rotary.beta_fast", s.rotary.beta_fast);
  visit("rotary.beta_slow", s.rotary.beta_slow);
  visit("rotary.attention_factor", s.rotary.attention_factor);
  visit("rotary.truncates", s.rotary.truncates);
  visit("window", s.window);
  visit("full_layers", s.full_layers);
  visit("activation", s.activation);
  visit("scales_attention", s.scales_attention);
  visit("scales_attention_by_layer", s.scales_attention_by_layer);
  visit("token_types", s.token_types);
  visit("padding_token", s.padding_token);
  visit("labels", s.labels);
}

template <typename T>
std::string value_text(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(to_string(value));
  } else if constexpr (std::same_as<T, bool>) {
    return value ? "1" : "0";
  } else {
    return base::shortest_text(value);
  }
}

constexpr ModelLayout last_of(ModelLayout) { return ModelLayout::kRoberta; }
constexpr Activation last_of(Activation) { return Activation::kRelu; }
constexpr RotaryKind last_of(RotaryKind) { return RotaryKind::kYarn; }

template <typename T>
std::optional<T> value_from(std::string_view text) {
  if constexpr (std::is_enum_v<T>) {
    return base::enum_from_text(text, last_of(T{}));
  } else if constexpr (std::same_as<T, bool>) {
    return text == "0" || text == "1" ? std::optional(text == "1") : std::nullopt;
  } else {
    return base::number_from<T>(text);
  }
}

}  // namespace

std::string shape_text(const ModelShape& shape) {
  const ModelShape kUnsaid;
  std::map<std::string_view, std::string> unsaid;
  for_each_field(kUnsaid,
                 [&](std::string_view key, const auto& value) { unsaid[key] = value_text(value); });
  std::string text;
  for_each_field(shape, [&](std::string_view key, const auto& value) {
    const std::string written = value_text(value);
    if (written != unsaid[key]) text += std::string(key) + "=" + written + " ";
  });
  return text + std::string(kNameKey) + shape.name;
}

std::optional<ModelShape> parse_shape_text(std::string_view text) {
  ModelShape shape;
  while (!text.starts_with(kNameKey)) {
    const std::size_t end = text.find(' '), equals = text.find('=');
    if (end == std::string_view::npos || equals >= end) return std::nullopt;
    const std::string_view key = text.substr(0, equals);
    const std::string_view value = text.substr(equals + 1, end - equals - 1);
    bool is_good = true;
    for_each_field(shape, [&](std::string_view name, auto& member) {
      if (name != key) return;
      const auto read = value_from<std::remove_cvref_t<decltype(member)>>(value);
      is_good = read.has_value();
      if (read) member = *read;
    });
    if (!is_good) return std::nullopt;
    text.remove_prefix(end + 1);
  }
  shape.name = text.substr(kNameKey.size());
  const bool is_whole = shape.layers > 0 && shape.heads > 0 && shape.width > 0;
  return is_whole ? std::optional(shape) : std::nullopt;
}

}  // namespace shardlens::trace::job
