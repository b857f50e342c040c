#include "trace/predict/sizes/model_sizes.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "trace/base/median.h"
#include "trace/job/shape/parameter_shapes.h"
#include "trace/job/units/partition.h"
#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::predict {

namespace {

constexpr std::int64_t kTrainedBytes = 4;  // fp32, which the optimizer updates

// Which parameters are trained, which have adapters, and how the others are kept.
class ParameterSizes {
 public:
  ParameterSizes(const job::ModelShape& one_block, const job::Settings& settings)
      : shape_(one_block), types_(job::kept_types(settings)), settings_(settings) {
    for (const job::LinearShape& layer : job::linear_layers(one_block))
      linear_.insert(weight_of(layer));
    if (settings.lora_rank == 0) return;
    const auto adapted = job::adapted_layers(one_block, settings.lora_target_modules);
    if (!adapted) return;
    for (const job::LinearShape& layer : *adapted) {
      adapters_[weight_of(layer)] = job::adapter_values(layer, settings.lora_rank);
    }
  }

  SizedParameter of(const job::ParameterShape& parameter) const {
    const bool is_adapted = settings_.lora_rank > 0;
    const bool in_block = parameter.block != job::ParameterShape::kRoot;
    SizedParameter sized{.name = parameter.name, .values = parameter.numel()};
    const auto adapters = adapters_.find(parameter.name);
    const std::int64_t beside = adapters == adapters_.end() ? 0 : adapters->second;
    const bool is_trained = !is_adapted || job::is_trained_head(parameter.name);
    sized.trained = is_trained ? sized.values : beside;
    // Without adapters a block is frozen as a whole, or not at all.
    const bool may_be_frozen = is_adapted ? !is_trained : in_block && settings_.frozen_blocks > 0;
    const job::KeptType type = may_be_frozen ? kept_type(parameter) : job::KeptType::kFp32;
    if (may_be_frozen) sized.frozen = frozen_bytes(sized.values, type);
    sized.kept = type;
    sized.counted =
        (type == job::KeptType::kNf4 ? job::nf4_bytes(sized.values) : sized.values) + beside;
    return sized;
  }

 private:
  static std::string weight_of(const job::LinearShape& layer) { return layer.name + ".weight"; }

  job::KeptType kept_type(const job::ParameterShape& parameter) const {
    if (parameter.sizes.size() < 2) return job::KeptType::kFp32;
    return linear_.contains(parameter.name) ? types_.linear : types_.other;
  }

  FrozenBytes frozen_bytes(std::int64_t values, job::KeptType type) const {
    if (type == job::KeptType::kNf4) return {job::nf4_bytes(values), job::nf4_bytes(values), 0};
    if (type == job::KeptType::kBf16) return {2 * values, 2 * values, 0};
    const std::int64_t gathered = element_bytes(settings_).gathered * values;
    return {4 * values, gathered, gathered == 4 * values ? 0 : gathered};
  }

  const job::ModelShape& shape_;
  job::KeptTypes types_;
  const job::Settings& settings_;
  std::set<std::string> linear_;
  std::map<std::string, std::int64_t> adapters_;
};

// What adapters train, tensor by tensor.
void add_adapters(ModelSizes& sizes, const job::ModelShape& one_block,
                  const job::Settings& settings) {
  for (const job::ParameterShape& each : job::saved_parameters(one_block, settings)) {
    const bool is_root = each.block == job::ParameterShape::kRoot;
    (is_root ? sizes.trained_root : sizes.block_adapters).push_back(each.numel());
  }
}

using job::layer_of;

constexpr std::string_view kNormOfTables = ".embeddings.LayerNorm";

}  // namespace

int ModelSizes::parameter_count() const {
  return static_cast<int>(root.size() + static_cast<std::size_t>(layers) * block.size());
}

ParameterRange ModelSizes::block_parameters(std::int64_t index) const {
  const int count = static_cast<int>(block.size());
  const int first = one_block.first + static_cast<int>(index) * count;
  return {first, first + count};
}

ParameterRange ModelSizes::final_norm_parameters() const {
  const int first = block_parameters(layers).first;
  int end = first;
  for (std::int64_t values = 0; values < final_norm;) {
    values += root[static_cast<std::size_t>(end++ - first + one_block.first)];
  }
  return {first, end};
}

ParameterRange ModelSizes::head_parameters() const {
  return {final_norm_parameters().end, parameter_count()};
}

std::int64_t ModelSizes::block_of(int parameter) const {
  if (parameter < one_block.first) return -1;
  const std::int64_t index =
      (parameter - one_block.first) / static_cast<std::int64_t>(block.size());
  return index < layers ? index : -1;
}

const SizedParameter& ModelSizes::sized(int parameter) const {
  if (parameter < one_block.first) return parameters[static_cast<std::size_t>(parameter)];
  const std::int64_t index = block_of(parameter);
  const std::int64_t before = index < 0 ? layers - 1 : index;
  return parameters[static_cast<std::size_t>(parameter -
                                             before * static_cast<std::int64_t>(block.size()))];
}

std::int64_t ModelSizes::trained(int parameter) const {
  const std::int64_t index = block_of(parameter);
  const bool is_frozen = !is_adapted && index >= 0 && index < frozen_layers;
  return is_frozen ? 0 : sized(parameter).trained;
}

std::int64_t ModelSizes::block_values() const { return base::sum_of(block); }
std::int64_t ModelSizes::root_values() const { return base::sum_of(root); }

std::int64_t ModelSizes::trained_block_values() const {
  return is_adapted ? base::sum_of(block_adapters) : block_values();
}

std::int64_t ModelSizes::trained_root_values() const {
  return is_adapted ? base::sum_of(trained_root) : root_values();
}

std::int64_t ModelSizes::kept_bytes() const {
  return kTrainedBytes * trained_values() + frozen_bytes();
}

std::int64_t ModelSizes::trained_tensors() const {
  return static_cast<std::int64_t>(trained().size());
}

std::vector<std::int64_t> ModelSizes::trained() const {
  const std::vector<std::int64_t>& of_root = is_adapted ? trained_root : root;
  const std::vector<std::int64_t>& of_block = is_adapted ? block_adapters : block;
  // Adapters stand beside layers alone, which lie in blocks or behind them.
  const auto behind_blocks = of_root.begin() + (is_adapted ? 0 : one_block.first);
  std::vector<std::int64_t> values(of_root.begin(), behind_blocks);
  for (std::int64_t i = frozen_layers; i < layers; ++i) {
    values.insert(values.end(), of_block.begin(), of_block.end());
  }
  values.insert(values.end(), behind_blocks, of_root.end());
  return values;
}

ModelSizes model_sizes(const job::ModelShape& shape, const job::Settings& settings) {
  job::ModelShape one_block = shape;
  one_block.layers = 1;
  ModelSizes sizes;
  sizes.layers = shape.layers;
  sizes.frozen_layers = std::min(settings.frozen_blocks, shape.layers);
  sizes.is_adapted = settings.lora_rank > 0;
  const ParameterSizes parameter_sizes(one_block, settings);
  for (const job::ParameterShape& parameter : job::parameter_shapes(one_block)) {
    const bool is_root = parameter.block == job::ParameterShape::kRoot;
    const SizedParameter& sized = sizes.parameters.emplace_back(parameter_sizes.of(parameter));
    (is_root ? sizes.root : sizes.block).push_back(sized.values);
    (is_root ? sizes.frozen_root : sizes.frozen_block) += sized.frozen;
    if (is_root) continue;
    sizes.one_block.end = static_cast<int>(sizes.parameters.size());
    if (sizes.block.size() == 1) sizes.one_block.first = sizes.one_block.end - 1;
  }
  // The first is the table of tokens.
  sizes.parameters.front().is_shared = shape.tied_head;
  if (sizes.is_adapted) add_adapters(sizes, one_block, settings);
  sizes.embedding = shape.vocabulary * shape.width;
  sizes.head = sizes.embedding;
  if (job::is_encoder(shape.layout)) {
    // The pooler, or the head's inner layer, and the classes.
    sizes.head = shape.width * (shape.width + 1) + shape.labels * (shape.width + 1);
    // With the tables of types, and the norm of the embeddings, which is as small.
    sizes.positions = (shape.context + shape.token_types + 2) * shape.width;
    return sizes;
  }
  const bool is_gpt2 = shape.layout == job::ModelLayout::kGpt2;
  sizes.positions = is_gpt2 ? shape.context * shape.width : 0;
  sizes.final_norm = (is_gpt2 ? 2 : 1) * shape.width;
  return sizes;
}

LargestShare largest_share(const std::vector<std::int64_t>& values, std::int64_t ranks) {
  // Without a value each the others get nothing.
  const auto shares = std::min(ranks, static_cast<std::int64_t>(values.size()));
  if (shares < 1) return {};
  std::vector<LargestShare> of_ranks(static_cast<std::size_t>(shares));
  const auto owners = job::partition_parameters(values, static_cast<int>(shares));
  for (std::size_t i = 0; i < values.size(); ++i) {
    LargestShare& share = of_ranks[static_cast<std::size_t>(owners[i])];
    share.values += values[i];
    ++share.tensors;
  }
  return std::ranges::max(of_ranks, {}, &LargestShare::values);
}

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
