#include "trainer/strategy/fsdp/unit_plan.h"

#include <map>
#include <set>

#include "trace/job/units/partition.h"

namespace shardlens::trainer::strategy {

namespace {

using Impl = const c10::TensorImpl*;

// Parameters that more than one module owns (tied weights) belong to none of them.
std::set<Impl> shared_parameters(const torch::nn::Module& model) {
  std::map<Impl, int> owners;
  for (const auto& module : model.modules()) {
    for (const auto& parameter : module->parameters(/*recurse=*/false)) {
      ++owners[parameter.unsafeGetTensorImpl()];
    }
  }
  std::set<Impl> shared;
  for (const auto& [impl, count] : owners) {
    if (count > 1) shared.insert(impl);
  }
  return shared;
}

class Planner {
 public:
  explicit Planner(model::Model& model) : model_(model), shared_(shared_parameters(model)) {
    const auto blocks = model.blocks();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      block_names_[blocks[i].get()] = "blocks." + std::to_string(i);
    }
  }

  std::vector<UnitPlan> plan(trace::job::WrapPolicy policy, std::int64_t min_num_params) {
    if (policy == trace::job::WrapPolicy::kTransformerBlock) {
      for (const auto& block : model_.blocks()) chosen_.insert(block.get());
    } else if (policy == trace::job::WrapPolicy::kSize) {
      std::vector<model::Layer*> layers;  // by id
      const trace::job::ModuleNode all = node_of(model_, layers);
      for (const int id : trace::job::units_by_size(all, min_num_params)) {
        chosen_.insert(layers[static_cast<std::size_t>(id)]);
      }
    }
    units_.push_back({"root", nullptr, {}});
    collect(model_, "", "", 0);
    std::erase_if(units_, [](const UnitPlan& unit) {
      return unit.layer != nullptr && unit.parameters.empty();
    });
    return std::move(units_);
  }

 private:
  trace::job::ModuleNode node_of(torch::nn::Module& module,
                                 std::vector<model::Layer*>& layers) const {
    trace::job::ModuleNode node;
    node.id = static_cast<int>(layers.size());
    layers.push_back(dynamic_cast<model::Layer*>(&module));
    node.can_be_unit = layers.back() != nullptr;
    for (const auto& parameter : module.parameters(/*recurse=*/false)) {
      if (!shared_.contains(parameter.unsafeGetTensorImpl())) node.values += parameter.numel();
    }
    for (const auto& child : module.children()) node.children.push_back(node_of(*child, layers));
    return node;
  }

  void collect(const torch::nn::Module& module, const std::string& prefix, std::string unit_path,
               std::size_t unit) {
    for (const auto& item : module.named_parameters(/*recurse=*/false)) {
      add(prefix + item.key(), item.value(), unit);
    }
    for (const auto& item : module.named_children()) {
      auto* layer = dynamic_cast<model::Layer*>(item.value().get());
      const auto block = block_names_.find(layer);
      const std::string path = block != block_names_.end()
                                   ? block->second
                                   : (unit_path.empty() ? "" : unit_path + ".") + item.key();
      std::size_t inner = unit;
      if (layer != nullptr && chosen_.contains(layer)) {
        inner = units_.size();
        units_.push_back({path, layer, {}});
      }
      collect(*item.value(), prefix + item.key() + ".", path, inner);
    }
  }

  void add(const std::string& name, const torch::Tensor& parameter, std::size_t unit) {
    Impl impl = parameter.unsafeGetTensorImpl();
    if (!seen_.insert(impl).second) return;
    units_[shared_.contains(impl) ? 0 : unit].parameters.push_back({name, parameter});
  }

  model::Model& model_;
  std::set<Impl> shared_, seen_;
  std::map<const model::Layer*, std::string> block_names_;
  std::set<const model::Layer*> chosen_;
  std::vector<UnitPlan> units_;
};

}  // namespace

std::vector<UnitPlan> plan_units(model::Model& model, trace::job::WrapPolicy policy,
                                 std::int64_t min_num_params) {
  return Planner(model).plan(policy, min_num_params);
}

}  // namespace shardlens::trainer::strategy
