// Which parameters of a model form one unit of sharding. The training thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/job/settings/choices.h"
#include "trainer/model/model.h"
#include "trainer/tensor/named_tensor.h"

namespace shardlens::trainer::strategy {

struct UnitPlan {
  std::string name;               // "root", "blocks.3", "blocks.3.attn", …
  model::Layer* layer = nullptr;  // whose forward the unit is gathered for; null: the root's
  std::vector<tensor::NamedTensor>
      parameters;  // in registration order, names as in the whole model
};

// The root unit first, with all parameters that are in no other unit and those that several modules
// share; then the others in registration order. Every parameter is in exactly one unit. Units
// without parameters are left out, save the root.
// WrapPolicy::kSize: as PyTorch's size_based_auto_wrap_policy.
std::vector<UnitPlan> plan_units(model::Model& model, trace::job::WrapPolicy policy,
                                 std::int64_t min_num_params);

}  // namespace shardlens::trainer::strategy
