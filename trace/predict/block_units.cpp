#include "trace/predict/block_units.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "trace/model/lora.h"
#include "trace/model/parameter_shapes.h"

namespace shardlens::trace {

namespace {

struct Parameter {
  std::string path;  // within the block
  std::int64_t values = 0, adapters = 0;
  std::int64_t counted = 0;  // as the trainer counts: packed values by their bytes
};

std::vector<Parameter> parameters_of_block(const ModelShape& shape, const Settings& settings) {
  ModelShape one_block = shape;
  one_block.layers = 1;
  std::map<std::string, std::int64_t> adapters;
  if (settings.lora_rank > 0) {
    if (const auto layers = adapted_layers(one_block, settings.lora_target_modules)) {
      for (const LinearShape& layer : *layers) {
        adapters[layer.name + ".weight"] = adapter_values(layer, settings.lora_rank);
      }
    }
  }
  const bool is_packed = settings.lora_rank > 0 && kept_types(settings).linear == KeptType::kNf4;
  std::vector<Parameter> parameters;
  for (const ParameterShape& each : parameter_shapes(one_block)) {
    if (each.block == ParameterShape::kRoot) continue;
    Parameter parameter;
    // Behind "transformer.h.0." or "model.layers.0."
    parameter.path = each.name.substr(each.name.find("0.") + 2);
    parameter.values = each.numel();
    parameter.adapters = adapters[each.name];
    parameter.counted =
        parameter.adapters +
        (is_packed && each.sizes.size() >= 2 ? nf4_bytes(parameter.values) : parameter.values);
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

// Chooses by size from the inside, modules told by the names of their parameters.
class UnitChooser {
 public:
  UnitChooser(const std::vector<Parameter>& parameters, std::int64_t minimum)
      : parameters_(parameters), minimum_(minimum) {}

  std::vector<BlockUnit> choose() {
    choose(0, static_cast<int>(parameters_.size()), 0);
    return std::move(units_);
  }

 private:
  // The module of the parameters [first, end), whose paths within it begin at `from`. Returns how
  // many values below it are in units.
  std::int64_t choose(int first, int end, std::size_t from) {
    std::int64_t all = 0, wrapped = 0;
    for (int i = first; i < end; ++i) all += at(i).counted;
    if (all < minimum_) return 0;
    for (int i = first; i < end;) {
      const std::size_t dot = at(i).path.find('.', from);
      int next = i + 1;
      if (dot != std::string::npos) {
        const std::string_view child = std::string_view(at(i).path).substr(0, dot + 1);
        while (next < end && at(next).path.starts_with(child)) ++next;
        wrapped += choose(i, next, dot + 1);
      }
      i = next;
    }
    if (all - wrapped < minimum_) return wrapped;
    units_.push_back({first, end});
    return all;
  }

  const Parameter& at(int i) const { return parameters_[static_cast<std::size_t>(i)]; }

  const std::vector<Parameter>& parameters_;
  std::int64_t minimum_;
  std::vector<BlockUnit> units_;
};

}  // namespace

std::vector<BlockUnit> block_units(const ModelShape& shape, const Settings& settings) {
  if (settings.wrap_policy == "whole_model") return {};
  const std::vector<Parameter> parameters = parameters_of_block(shape, settings);
  std::vector<BlockUnit> units{{0, static_cast<int>(parameters.size())}};
  if (settings.wrap_policy == "size") {
    units = UnitChooser(parameters, settings.min_num_params).choose();
  }
  std::ranges::stable_sort(units, [](const BlockUnit& a, const BlockUnit& b) {
    return std::pair(a.first, -a.end) < std::pair(b.first, -b.end);
  });
  for (int i = 0; i < static_cast<int>(parameters.size()); ++i) {
    // The innermost is the last that has it.
    const auto unit = std::find_if(units.rbegin(), units.rend(),
                                   [i](const BlockUnit& each) { return each.contains(i); });
    if (unit == units.rend()) continue;
    unit->values += parameters[static_cast<std::size_t>(i)].values;
    unit->adapters += parameters[static_cast<std::size_t>(i)].adapters;
  }
  return units;
}

}  // namespace shardlens::trace
