// Sizes of a model's parameters as predictions need them: one block stands for all. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/job/settings/settings.h"
#include "trace/job/shape/lora.h"
#include "trace/job/shape/model_shape.h"

namespace shardlens::trace::predict {

// Bytes of frozen weights.
struct FrozenBytes {
  std::int64_t kept = 0;      // at rest
  std::int64_t gathered = 0;  // as they are computed with
  std::int64_t cast = 0;      // of `gathered`, what is kept in another type

  FrozenBytes& operator+=(const FrozenBytes& other) {
    kept += other.kept;
    gathered += other.gathered;
    cast += other.cast;
    return *this;
  }
};

struct SizedParameter {
  std::string name;          // Hugging Face's
  std::int64_t values = 0;   // of the weight itself
  std::int64_t counted = 0;  // as the trainer chooses units by: adapters beside it, 4 bits as bytes
  std::int64_t trained = 0;  // itself, or adapters beside it
  FrozenBytes frozen = {};
  job::KeptType kept = job::KeptType::kFp32;  // as what is frozen is kept
  bool is_shared = false;                     // the output matrix, too
};

// From `first` to before `end`.
struct ParameterRange {
  int first = 0, end = 0;
  bool contains(int parameter) const { return parameter >= first && parameter < end; }
  bool contains(const ParameterRange& other) const {
    return other.first >= first && other.end <= end;
  }
  bool operator==(const ParameterRange&) const = default;
};

struct ModelSizes {
  std::int64_t layers = 0;
  std::int64_t frozen_layers = 0;  // the first ones, of which nothing is trained
  // Of a model with one block, in registration order. `trained` and `frozen` of a block's: where it
  // is trained, and where it is not.
  std::vector<SizedParameter> parameters;
  ParameterRange one_block;         // of them
  std::vector<std::int64_t> block;  // values per parameter of one block, in registration order
  std::vector<std::int64_t> root;   // those outside of blocks
  std::int64_t embedding = 0;       // values of the token embedding
  std::int64_t positions = 0;       // of learned positions, token types and their norm
  std::int64_t head = 0;  // of the output matrix, also if it is the embedding; of a classifier
  std::int64_t final_norm = 0;
  // Of a job that trains adapters: values per trained tensor, of one block and outside of blocks;
  // all that is above is frozen.
  bool is_adapted = false;
  std::vector<std::int64_t> block_adapters, trained_root;
  // Outside of blocks, and of one block that has frozen weights.
  FrozenBytes frozen_root, frozen_block;

  // In registration order over the whole model, all blocks included.
  ParameterRange before_blocks() const { return {0, one_block.first}; }
  ParameterRange block_parameters(std::int64_t index) const;
  ParameterRange final_norm_parameters() const;
  ParameterRange head_parameters() const;  // none where the embedding is the output matrix
  int parameter_count() const;

  // Of one parameter of these: the block that it lies in, −1 in none; what it is in a model with
  // one block; and how many values of it, or of adapters beside it, are trained.
  std::int64_t block_of(int parameter) const;
  const SizedParameter& sized(int parameter) const;
  std::int64_t trained(int parameter) const;

  std::int64_t block_values() const;
  std::int64_t root_values() const;
  std::int64_t all_values() const { return root_values() + layers * block_values(); }
  std::int64_t trained_block_values() const;
  std::int64_t trained_root_values() const;
  std::int64_t trained_values() const {
    return trained_root_values() + (layers - frozen_layers) * trained_block_values();
  }
  std::int64_t blocks_with_frozen_weights() const { return is_adapted ? layers : frozen_layers; }
  std::int64_t frozen_bytes() const {
    return frozen_root.kept + blocks_with_frozen_weights() * frozen_block.kept;
  }
  // Of all parameters at rest, on a rank that holds all of them.
  std::int64_t kept_bytes() const;
  // No adapters, and all weights are kept in fp32.
  bool is_uniform() const { return !is_adapted && kept_bytes() == 4 * all_values(); }
  std::int64_t trained_tensors() const;
  // Values per trained parameter, in registration order.
  std::vector<std::int64_t> trained() const;
};

ModelSizes model_sizes(const job::ModelShape& shape, const job::Settings& settings);

// The largest share of `values` that a rank gets when whole parameters are given, largest first, to
// the rank that has least so far (PyTorch's ZeroRedundancyOptimizer._partition_parameters).
struct LargestShare {
  std::int64_t values = 0;
  std::int64_t tensors = 0;
};
LargestShare largest_share(const std::vector<std::int64_t>& values, std::int64_t ranks);

// Through which layers of a model gradients flow. With adapters backward does not come to what lies
// in front of the first of them, nor to what stands beside it.
// Parameters are those of the whole model, in registration order.
class GradientFlow {
 public:
  // `sizes` outlives it.
  explicit GradientFlow(const ModelSizes& sizes);

  // Whether backward goes on from the layer that owns the parameter: its input needs a gradient.
  // Tokens have none.
  bool goes_on_from(int parameter) const;
  // Whether backward comes to a module that has these parameters and no others: some are trained,
  // or it goes on from there.
  bool comes_to(ParameterRange parameters) const;

 private:
  bool trains(ParameterRange parameters) const;
  bool is_fed_in_block(int parameter, std::int64_t block) const;

  const ModelSizes& sizes_;
  bool trains_tables_;
  std::int64_t first_block_ = 0;  // that trains something; as many as there are: none does
};

}  // namespace shardlens::trace::predict
