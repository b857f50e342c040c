#include "trace/predict/sizes/gradient_flow.h"

#include <string_view>

#include "trace/job/shape/parameter_shapes.h"

namespace shardlens::trace::predict {

namespace {

using job::layer_of;

constexpr std::string_view kNormOfTables = ".embeddings.LayerNorm";

}  // namespace

GradientFlow::GradientFlow(const ModelSizes& sizes)
    : sizes_(sizes), trains_tables_(trains(sizes.before_blocks())) {
  while (first_block_ < sizes.layers && !trains(sizes.block_parameters(first_block_))) {
    ++first_block_;
  }
}

bool GradientFlow::trains(ParameterRange parameters) const {
  for (int i = parameters.first; i < parameters.end; ++i) {
    if (sizes_.trained(i) > 0) return true;
  }
  return false;
}

bool GradientFlow::is_fed_in_block(int parameter, std::int64_t block) const {
  const std::string_view layer = layer_of(sizes_.sized(parameter).name);
  const ParameterRange all = sizes_.block_parameters(block);
  for (int i = all.first; i < all.end; ++i) {
    if (sizes_.trained(i) == 0) continue;
    if (job::feeds(layer_of(sizes_.sized(i).name), layer)) return true;
  }
  return false;
}

bool GradientFlow::goes_on_from(int parameter) const {
  const std::string_view layer = layer_of(sizes_.sized(parameter).name);
  // Tables look up what has no gradient, and modules around blocks get tokens.
  if (sizes_.before_blocks().contains(parameter)) {
    return trains_tables_ && layer.ends_with(kNormOfTables);
  }
  if (trains_tables_) return true;
  const std::int64_t block = sizes_.block_of(parameter);
  if (block >= 0) {
    return block == first_block_ ? is_fed_in_block(parameter, block) : block > first_block_;
  }
  if (first_block_ < sizes_.layers) return true;
  // Behind the blocks layers are registered as forward goes through them.
  const int behind_blocks = sizes_.block_parameters(sizes_.layers).first;
  int first = parameter;
  while (first > behind_blocks && layer_of(sizes_.sized(first - 1).name) == layer) --first;
  return trains({behind_blocks, first});
}

bool GradientFlow::comes_to(ParameterRange parameters) const {
  return goes_on_from(parameters.first) || trains(parameters);
}

}  // namespace shardlens::trace::predict
