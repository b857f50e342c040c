#include "trace/predict/model_sizes.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>

#include "trace/model/parameter_shapes.h"

namespace shardlens::trace {

namespace {

std::int64_t sum_of(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

}  // namespace

std::int64_t ModelSizes::block_values() const { return sum_of(block); }
std::int64_t ModelSizes::root_values() const { return sum_of(root); }

std::int64_t ModelSizes::trained_tensors() const {
  return static_cast<std::int64_t>(root.size()) +
         (layers - frozen_layers) * static_cast<std::int64_t>(block.size());
}

std::vector<std::int64_t> ModelSizes::trained() const {
  std::vector<std::int64_t> values = root;
  for (std::int64_t i = frozen_layers; i < layers; ++i) {
    values.insert(values.end(), block.begin(), block.end());
  }
  return values;
}

ModelSizes model_sizes(const ModelShape& shape, std::int64_t frozen_blocks) {
  ModelShape one_block = shape;
  one_block.layers = 1;
  ModelSizes sizes;
  sizes.layers = shape.layers;
  sizes.frozen_layers = std::min(frozen_blocks, shape.layers);
  for (const ParameterShape& parameter : parameter_shapes(one_block)) {
    const std::int64_t values = parameter.numel();
    if (parameter.block == ParameterShape::kRoot) {
      sizes.root.push_back(values);
    } else {
      sizes.block.push_back(values);
    }
  }
  sizes.embedding = shape.vocabulary * shape.width;
  sizes.head = sizes.embedding;
  if (is_encoder(shape.layout)) {
    // The pooler, or the head's inner layer, and the classes.
    sizes.head = shape.width * (shape.width + 1) + shape.labels * (shape.width + 1);
    // With the tables of types, and the norm of the embeddings, which is as small.
    sizes.positions = (shape.context + shape.token_types + 2) * shape.width;
    return sizes;
  }
  const bool is_gpt2 = shape.layout == ModelLayout::kGpt2;
  sizes.positions = is_gpt2 ? shape.context * shape.width : 0;
  sizes.final_norm = (is_gpt2 ? 2 : 1) * shape.width;
  return sizes;
}

LargestShare largest_share(std::vector<std::int64_t> values, std::int64_t ranks) {
  std::ranges::sort(values, std::greater{});
  ranks = std::min(ranks, static_cast<std::int64_t>(values.size()));  // the others get nothing
  // Values, rank, tensors: of equal ranks the first.
  using Share = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  std::priority_queue<Share, std::vector<Share>, std::greater<>> least;
  for (std::int64_t rank = 0; rank < ranks; ++rank) least.push({0, rank, 0});
  LargestShare largest;
  for (const std::int64_t value : values) {
    auto [sum, rank, tensors] = least.top();
    least.pop();
    least.push({sum + value, rank, tensors + 1});
    if (sum + value > largest.values) largest = {sum + value, tensors + 1};
  }
  return largest;
}

}  // namespace shardlens::trace
