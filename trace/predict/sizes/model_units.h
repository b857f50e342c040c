// The units of a model, as trainer/strategy/fsdp/unit_plan forms them of its modules; here these
// are told by the names of their parameters; and what each rank has of them. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/job/settings/settings.h"
#include "trace/job/shape/model_shape.h"
#include "trace/job/shape/parameter_shapes.h"
#include "trace/predict/sizes/model_sizes.h"
#include "trace/predict/sizes/planned_job.h"

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

// How units are divided over the ranks of a shard group: flat, padded to equal parts.
struct UnitShard {
  ModelUnit unit;
  std::int64_t trained = 0;  // values of one shard
  FrozenBytes frozen;        // of one shard
  // Whole, with padding: what is gathered, one collective for all that is trained and one for each
  // type of what is frozen, in the order of the trainer; and what is reduced.
  std::vector<std::int64_t> gathered_bytes;
  std::int64_t reduced_bytes = 0;
};

struct ShardSizes {
  std::int64_t group = 1;        // ranks that share one set of shards
  std::vector<UnitShard> units;  // as model_units()

  const ModelUnit& root() const { return units.front().unit; }
  // Values of all units of the last block, the one that is frozen last.
  std::int64_t trained_in_block() const;
  // Whether all but the root lie in blocks.
  bool are_of_blocks() const;
  // Of all shards of one rank.
  std::int64_t trained_values() const;
  std::int64_t frozen_bytes() const;
};
ShardSizes shard_sizes(const PlannedJob& job, const ModelSizes& sizes);

// What the optimizer remembers on the rank that holds most of it.
struct OptimizerState {
  std::int64_t values = 0;   // trained values that this rank updates
  std::int64_t tensors = 0;  // each has a counter of its steps
  std::int64_t bytes = 0;
};
OptimizerState optimizer_state(const PlannedJob& job, const ModelSizes& sizes);

}  // namespace shardlens::trace::predict
