// The units of a model, as trainer/strategy/fsdp/unit_plan forms them of its modules; here these
// are told by the names of their parameters. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/job/settings/settings.h"
#include "trace/job/shape/model_shape.h"
#include "trace/job/shape/parameter_shapes.h"
#include "trace/predict/sizes/model_sizes.h"

namespace shardlens::trace::predict {

struct ModelUnit {
  ParameterRange parameters;  // of the whole model, in registration order, those of inner units too
  std::int64_t block = -1;    // in which it lies; -1: in none
  // Of its own parameters, which no inner unit has.
  std::int64_t trained = 0;  // values
  FrozenBytes frozen = {};
  std::array<std::int64_t, job::kKeptTypes> frozen_bytes = {};  // at rest, by the type they have
  // Whether backward comes to it, and whether it goes on from it: a token has no gradient, nor has
  // what lies before the first adapter.
  bool has_backward = true, passes_gradient = true;
  // Whether forward goes through it a second time in backward, as a part of its block.
  bool is_recomputed = false;
};

// The root first, with what is in no other and what several modules share; then in the order in
// which forward enters them, outer ones before inner ones. None without parameters of its own, but
// for the root.
std::vector<ModelUnit> model_units(const job::ModelShape& shape, const job::Settings& settings,
                                   const ModelSizes& sizes);

// "blocks.3.mlp.c_fc", "transformer": as the trainer calls a unit that is not the root.
std::string unit_name(const ModelUnit& unit, const std::vector<job::ParameterShape>& parameters);

}  // namespace shardlens::trace::predict
