// Adapters as files in peft's layout, and as part of a model without adapters. The training thread;
// all ranks call the same functions in the same order. Throws c10::Error when a collective fails.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trainer/comm/communicator.h"
#include "trainer/lora/adapters.h"
#include "trainer/model/model.h"
#include "trainer/strategy/strategy.h"
#include "trainer/tensor/named_tensor.h"

namespace shardlens::trainer::lora {

// What an adapter's folder holds, whole, by the parameters' names, in fp32 on the CPU: all that is
// trained and, after add_whole(), frozen parameters.
using AdapterValues = std::map<std::string, torch::Tensor>;
// Only what is trained crosses the wire, tensor by tensor.
AdapterValues gather_trained(const model::Model& model,
                             std::span<const strategy::LocalParameter> parameters,
                             comm::Communicator& communicator);

struct AdapterDescription {
  LoraOptions lora;
  std::string base_model;   // where peft finds the model that the adapters belong to; "": nowhere
  bool classifies = false;  // sequences, else it is a causal language model
};
// Rank 0 writes adapter_config.json and adapter_model.safetensors, which peft loads; a folder of
// that name is replaced, and appears as a whole. The same result on all ranks.
trace::base::Result<void> save_adapter(const std::filesystem::path& folder,
                                       const AdapterDescription& description,
                                       const model::Model& model, const AdapterValues& trained,
                                       comm::Communicator& communicator);

// W + alpha/rank · B·A, computed in fp32. A matrix that is kept in fewer bits is expanded first, as
// peft does: what was rounded when the model was loaded stays rounded. No collective.
class MergedWeights {
 public:
  MergedWeights(const model::Model& model, const LoraOptions& lora, const AdapterValues& trained);
  // The part of the model without adapters that a part as a rank keeps it stands for, flat and in
  // fp32 on its device; none: it is an adapter's.
  std::optional<strategy::LocalParameter> merged(const strategy::LocalParameter& part) const;
  // Of a whole parameter that merged() has parts of.
  torch::IntArrayRef sizes_of(const tensor::NamedTensor& parameter) const;

 private:
  struct Matrix {
    std::vector<std::int64_t> sizes;
    bool transposed = false;
    torch::Tensor a, b;  // undefined: no adapter
  };
  std::map<std::string, Matrix> matrices_;  // by their parameters' names
  double scaling_;
};

// Adds frozen parameters of these names, with their adapters in them instead of beside them. Peft's
// name for what is kept besides adapters is modules_to_save: a layer is in that or in
// target_modules, never in both.
void add_whole(const std::vector<std::string>& names, const model::Model& model,
               const LoraOptions& lora, std::span<const strategy::LocalParameter> parameters,
               comm::Communicator& communicator, AdapterValues& trained);

}  // namespace shardlens::trainer::lora
