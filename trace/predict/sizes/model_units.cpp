#include "trace/predict/sizes/model_units.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "trace/base/median.h"
#include "trace/job/shape/lora.h"
#include "trace/job/shape/strategy.h"
#include "trace/job/units/partition.h"
#include "trace/predict/sizes/model_sizes.h"
#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::predict {

namespace {

// The lists of blocks, what holds but such a list, and what takes two tensors are no layers.
bool is_layer(const job::ModelShape& shape, std::string_view path) {
  if (path.empty() || path.ends_with(".h") || path.ends_with(".layers")) return false;
  if (!job::is_encoder(shape.layout)) return true;
  return !path.ends_with(".encoder") && !path.ends_with(".layer") && !path.ends_with(".output");
}

// Chooses units among the modules of a model with one block.
class UnitChooser {
 public:
  UnitChooser(const job::ModelShape& shape, const ModelSizes& sizes)
      : shape_(shape), sizes_(sizes) {}

  std::vector<ParameterRange> choose(std::int64_t smallest) {
    const job::ModuleNode model = node_of({0, static_cast<int>(sizes_.parameters.size())}, 0);
    std::vector<ParameterRange> units;
    for (const int id : job::units_by_size(model, smallest)) {
      units.push_back(modules_[static_cast<std::size_t>(id)]);
    }
    return units;
  }

 private:
  // The module of these parameters, whose paths within it begin at `from`.
  job::ModuleNode node_of(ParameterRange parameters, std::size_t from) {
    job::ModuleNode node;
    node.id = static_cast<int>(modules_.size());
    modules_.push_back(parameters);
    const std::string& first = at(parameters.first).name;
    const std::string_view path = std::string_view(first).substr(0, from == 0 ? 0 : from - 1);
    node.can_be_unit = is_layer(shape_, path);
    if (path.ends_with(".0")) node.times = sizes_.layers;
    for (int i = parameters.first; i < parameters.end;) {
      const std::size_t dot = at(i).name.find('.', from);
      if (dot == std::string::npos) {
        node.values += at(i).is_shared ? 0 : at(i).counted;
        ++i;
        continue;
      }
      const std::string_view child = std::string_view(at(i).name).substr(0, dot + 1);
      int end = i + 1;
      while (end < parameters.end && at(end).name.starts_with(child)) ++end;
      node.children.push_back(node_of({i, end}, dot + 1));
      i = end;
    }
    return node;
  }

  const SizedParameter& at(int i) const { return sizes_.parameters[static_cast<std::size_t>(i)]; }

  const job::ModelShape& shape_;
  const ModelSizes& sizes_;
  std::vector<ParameterRange> modules_;  // by id
};

// Of a model with one block, the root apart.
std::vector<ParameterRange> chosen_units(const job::ModelShape& shape,
                                         const job::Settings& settings, const ModelSizes& sizes) {
  if (settings.wrap_policy == job::WrapPolicy::kWholeModel) return {};
  if (settings.wrap_policy == job::WrapPolicy::kTransformerBlock) return {sizes.one_block};
  auto units = UnitChooser(shape, sizes).choose(settings.min_num_params);
  std::ranges::sort(units, {},
                    [](const ParameterRange& each) { return std::pair(each.first, -each.end); });
  return units;
}

// Lays the units of a model with one block out over all blocks, and shares out its parameters.
class UnitList {
 public:
  // Every n-th block is recomputed; 0: none.
  UnitList(const ModelSizes& sizes, std::int64_t recomputed)
      : sizes_(sizes), recomputed_(recomputed) {
    units_.push_back({.parameters = {0, sizes.parameter_count()}});
  }

  std::vector<ModelUnit> of(const std::vector<ParameterRange>& chosen) {
    const std::int64_t last = sizes_.layers - 1;
    for (const ParameterRange& each : chosen) {
      if (each.first < sizes_.one_block.first) add(each, last, kNoBlock);
    }
    for (std::int64_t block = 0; block <= last; ++block) {
      for (const ParameterRange& each : chosen) {
        if (sizes_.one_block.contains(each)) add(each, block, block);
      }
    }
    for (const ParameterRange& each : chosen) {
      if (each.first >= sizes_.one_block.end) add(each, last, kNoBlock);
    }
    share_out();
    const auto is_empty = [](const ModelUnit& unit) {
      return unit.trained == 0 && unit.frozen.kept == 0;
    };
    units_.erase(std::remove_if(units_.begin() + 1, units_.end(), is_empty), units_.end());
    tell_gradients();
    return std::move(units_);
  }

 private:
  static constexpr std::int64_t kNoBlock = -1;

  // Where a parameter of a model with one block is in the whole one, if that block is `block`.
  int whole(int parameter, std::int64_t block) const {
    if (parameter < sizes_.one_block.first) return parameter;
    const bool is_behind = parameter >= sizes_.one_block.end;
    return parameter + static_cast<int>((is_behind ? sizes_.layers - 1 : block) * block_size());
  }
  std::int64_t block_size() const { return static_cast<std::int64_t>(sizes_.block.size()); }

  void add(const ParameterRange& unit, std::int64_t in_block, std::int64_t block) {
    ModelUnit& added = units_.emplace_back();
    added.parameters = {whole(unit.first, in_block), whole(unit.end - 1, in_block) + 1};
    added.block = block;
    added.is_recomputed =
        recomputed_ > 0 && block >= 0 && block % recomputed_ == 0 && unit != sizes_.one_block;
  }

  void share_out() {
    std::size_t unit = 0;
    std::vector<std::size_t> open{0};
    for (int i = 0; i < sizes_.parameter_count(); ++i) {
      while (!units_[open.back()].parameters.contains(i)) open.pop_back();
      while (unit + 1 < units_.size() && units_[unit + 1].parameters.first == i) {
        open.push_back(++unit);
      }
      give(i, units_[open.back()]);
    }
  }

  void give(int parameter, ModelUnit& innermost) {
    const SizedParameter& sized = sizes_.sized(parameter);
    ModelUnit& unit = sized.is_shared ? units_.front() : innermost;
    unit.trained += sizes_.trained(parameter);
    if (sizes_.block_of(parameter) >= sizes_.blocks_with_frozen_weights()) return;
    unit.frozen += sized.frozen;
    unit.frozen_bytes[static_cast<std::size_t>(sized.kept)] += sized.frozen.kept;
  }

  void tell_gradients() {
    const GradientFlow flow(sizes_);
    for (ModelUnit& unit : units_) {
      unit.has_backward = flow.comes_to(unit.parameters);
      unit.passes_gradient = flow.goes_on_from(unit.parameters.first);
      // Of a block that needs no gradient the trainer computes nothing again.
      unit.is_recomputed = unit.is_recomputed && flow.comes_to(sizes_.block_parameters(unit.block));
    }
  }

  const ModelSizes& sizes_;
  std::int64_t recomputed_;
  std::vector<ModelUnit> units_;
};

// The module that holds both parameters.
std::string_view common_module(std::string_view one, std::string_view other) {
  const auto differs = std::ranges::mismatch(one, other).in1;
  const auto same = static_cast<std::size_t>(differs - one.begin());
  return one.substr(0, one.substr(0, same).rfind('.'));
}

std::int64_t part_of(std::int64_t values, std::int64_t ranks) {
  return (values + ranks - 1) / ranks;
}

// Parts end between values of 4 bytes.
FrozenBytes part_of(const FrozenBytes& bytes, std::int64_t ranks) {
  const auto part = [&](std::int64_t all) { return 4 * part_of(part_of(all, 4), ranks); };
  return {part(bytes.kept), part(bytes.gathered), part(bytes.cast)};
}

// As trainer/strategy/fsdp/sharded_unit orders its buffers: trained ones first, then by PyTorch's
// number of their type. 4-bit values are cut between their blocks.
std::vector<std::int64_t> gathers_of(const ModelUnit& unit, const ElementBytes& bytes,
                                     std::int64_t ranks) {
  struct Type {
    job::KeptType type;
    std::int64_t kept, gathered;  // bytes of what is not cut
  };
  const std::array<Type, job::kKeptTypes> types{
      Type{job::KeptType::kNf4, job::kNf4BlockBytes, job::kNf4BlockBytes},
      Type{job::KeptType::kFp32, 4, bytes.gathered}, Type{job::KeptType::kBf16, 2, 2}};
  std::vector<std::int64_t> gathers;
  const auto add = [&](std::int64_t pieces, std::int64_t piece_bytes) {
    if (pieces > 0) gathers.push_back(piece_bytes * ranks * part_of(pieces, ranks));
  };
  add(unit.trained, bytes.gathered);
  for (const Type& each : types) {
    add(unit.frozen_bytes[static_cast<std::size_t>(each.type)] / each.kept, each.gathered);
  }
  return gathers;
}

constexpr std::int64_t kMoments = 2 * 4;  // AdamW: two values in fp32 for each trained one
constexpr std::int64_t kStepCounter = 4;

}  // namespace

std::string unit_name(const ModelUnit& unit, const std::vector<job::ParameterShape>& parameters) {
  const auto name_at = [&](int i) -> std::string_view {
    return parameters[static_cast<std::size_t>(i)].name;
  };
  // All of a module's parameters lie between its first and its last.
  const std::string_view path =
      common_module(name_at(unit.parameters.first), name_at(unit.parameters.end - 1));
  if (unit.block < 0) return std::string(path);
  const std::string number = "." + std::to_string(unit.block);
  const auto behind = path.find(number) + number.size();
  return "blocks" + number + std::string(path.substr(behind));
}

std::vector<ModelUnit> model_units(const job::ModelShape& shape, const job::Settings& settings,
                                   const ModelSizes& sizes) {
  return UnitList(sizes, settings.activation_checkpointing)
      .of(chosen_units(shape, settings, sizes));
}

std::int64_t ShardSizes::trained_in_block() const {
  std::int64_t last = 0, values = 0;
  for (const UnitShard& each : units) last = std::max(last, each.unit.block);
  for (const UnitShard& each : units) values += each.unit.block == last ? each.unit.trained : 0;
  return values;
}

bool ShardSizes::are_of_blocks() const {
  return std::all_of(units.begin() + 1, units.end(),
                     [](const UnitShard& each) { return each.unit.block >= 0; });
}

std::int64_t ShardSizes::trained_values() const { return base::sum_of(units, &UnitShard::trained); }

std::int64_t ShardSizes::frozen_bytes() const {
  return base::sum_of(units, [](const UnitShard& each) { return each.frozen.kept; });
}

ShardSizes shard_sizes(const PlannedJob& job, const ModelSizes& sizes) {
  ShardSizes shards;
  shards.group = job::shard_group_size(job.settings, job.ranks, job.ranks_per_node);
  const ElementBytes bytes = element_bytes(job.settings);
  for (const ModelUnit& unit : model_units(job.shape, job.settings, sizes)) {
    const std::int64_t trained = part_of(unit.trained, shards.group);
    shards.units.push_back({unit, trained, part_of(unit.frozen, shards.group),
                            gathers_of(unit, bytes, shards.group),
                            bytes.reduced * shards.group * trained});
  }
  return shards;
}

OptimizerState optimizer_state(const PlannedJob& job, const ModelSizes& sizes) {
  OptimizerState state;
  const job::StrategyTraits& traits = job::strategy_traits(job.settings.sharding_strategy);
  if (!traits.shards_optimizer) {
    state.values = sizes.trained_values();
    state.tensors = sizes.trained_tensors();
  } else if (!traits.has_units) {
    const LargestShare share = largest_share(sizes.trained(), job.ranks);
    state.values = share.values;
    state.tensors = share.tensors;
  } else {
    const ShardSizes shards = shard_sizes(job, sizes);
    state.values = shards.trained_values();
    state.tensors = sizes.trained_tensors() / shards.group + 1;
  }
  if (job.settings.optimizer == job::OptimizerChoice::kAdamW) {
    state.bytes = kMoments * state.values + kStepCounter * state.tensors;
  }
  return state;
}

}  // namespace shardlens::trace::predict
