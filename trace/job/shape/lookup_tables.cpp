#include "trace/job/shape/lookup_tables.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace shardlens::trace::job {

namespace {

constexpr std::array<std::string_view, 3> kInputEmbeddings{"wte", "embed_tokens",
                                                           "word_embeddings"};
constexpr std::array<std::string_view, 3> kOtherTables{"wpe", "position_embeddings",
                                                       "token_type_embeddings"};

}  // namespace

bool is_lookup_table(const ModelShape& shape, const ParameterShape& parameter) {
  const std::string_view layer =
      std::string_view(parameter.name).substr(0, parameter.name.rfind('.'));
  const std::string_view name = layer.substr(layer.rfind('.') + 1);
  const auto is_in = [&](const auto& names) {
    return std::ranges::find(names, name) != names.end();
  };
  return is_in(kOtherTables) || (!shape.tied_head && is_in(kInputEmbeddings));
}

std::int64_t lookup_values(const ModelShape& shape) {
  ModelShape no_block = shape;
  no_block.layers = 0;
  std::int64_t values = 0;
  for (const ParameterShape& each : parameter_shapes(no_block)) {
    if (is_lookup_table(shape, each)) values += each.numel();
  }
  return values;
}

}  // namespace shardlens::trace::job
