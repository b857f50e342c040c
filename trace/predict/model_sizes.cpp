#include "trace/predict/model_sizes.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <set>
#include <string>
#include <tuple>

#include "trace/model/parameter_shapes.h"
#include "trace/predict/element_bytes.h"

namespace shardlens::trace {

namespace {

std::int64_t sum_of(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

constexpr std::int64_t kTrainedBytes = 4;  // fp32, which the optimizer updates

void add_frozen(FrozenBytes& sum, const ParameterShape& parameter, const Settings& settings) {
  const bool is_matrix = parameter.sizes.size() >= 2;
  const bool is_linear = is_matrix && parameter.block != ParameterShape::kRoot;
  const KeptTypes types = kept_types(settings);
  const KeptType type = !is_matrix ? KeptType::kFp32 : (is_linear ? types.linear : types.other);
  if (type == KeptType::kFp32) {
    const std::int64_t gathered = element_bytes(settings).gathered * parameter.numel();
    sum.kept += 4 * parameter.numel();
    sum.gathered += gathered;
    if (gathered != 4 * parameter.numel()) sum.cast += gathered;
    return;
  }
  const std::int64_t bytes =
      type == KeptType::kNf4 ? nf4_bytes(parameter.numel()) : 2 * parameter.numel();
  sum.kept += bytes;
  sum.gathered += bytes;
}

// What adapters train, tensor by tensor; their names.
std::set<std::string> add_adapters(ModelSizes& sizes, const ModelShape& one_block,
                                   const Settings& settings) {
  sizes.is_adapted = true;
  std::set<std::string> trained;
  for (const ParameterShape& each : saved_parameters(one_block, settings)) {
    trained.insert(each.name);
    const bool is_root = each.block == ParameterShape::kRoot;
    (is_root ? sizes.trained_root : sizes.block_adapters).push_back(each.numel());
  }
  return trained;
}

void add_frozen_weights(ModelSizes& sizes, const ModelShape& one_block, const Settings& settings) {
  std::set<std::string> trained;
  if (settings.lora_rank > 0) trained = add_adapters(sizes, one_block, settings);
  for (const ParameterShape& each : parameter_shapes(one_block)) {
    const bool is_root = each.block == ParameterShape::kRoot;
    const bool is_frozen = sizes.is_adapted ? !trained.contains(each.name) : !is_root;
    if (is_frozen) add_frozen(is_root ? sizes.frozen_root : sizes.frozen_block, each, settings);
  }
}

}  // namespace

std::int64_t ModelSizes::block_values() const { return sum_of(block); }
std::int64_t ModelSizes::root_values() const { return sum_of(root); }

std::int64_t ModelSizes::trained_block_values() const {
  return is_adapted ? sum_of(block_adapters) : block_values();
}

std::int64_t ModelSizes::trained_root_values() const {
  return is_adapted ? sum_of(trained_root) : root_values();
}

std::int64_t ModelSizes::kept_bytes() const {
  return kTrainedBytes * trained_values() + frozen_bytes();
}

std::int64_t ModelSizes::trained_tensors() const {
  return static_cast<std::int64_t>(trained().size());
}

std::vector<std::int64_t> ModelSizes::trained() const {
  std::vector<std::int64_t> values = is_adapted ? trained_root : root;
  const std::vector<std::int64_t>& of_block = is_adapted ? block_adapters : block;
  for (std::int64_t i = frozen_layers; i < layers; ++i) {
    values.insert(values.end(), of_block.begin(), of_block.end());
  }
  return values;
}

ModelSizes model_sizes(const ModelShape& shape, const Settings& settings) {
  ModelShape one_block = shape;
  one_block.layers = 1;
  ModelSizes sizes;
  sizes.layers = shape.layers;
  sizes.frozen_layers = std::min(settings.frozen_blocks, shape.layers);
  for (const ParameterShape& parameter : parameter_shapes(one_block)) {
    const std::int64_t values = parameter.numel();
    if (parameter.block == ParameterShape::kRoot) {
      sizes.root.push_back(values);
    } else {
      sizes.block.push_back(values);
    }
  }
  if (settings.lora_rank > 0 || sizes.frozen_layers > 0) {
    add_frozen_weights(sizes, one_block, settings);
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
