// What of a model is trained, and its frozen weights: kept in fewer bits than fp32, read, and known
// again. The training thread.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trace/job/shape/lora.h"
#include "trainer/comm/communicator.h"
#include "trainer/model/layers/parameter_source.h"
#include "trainer/model/model.h"
#include "trainer/strategy/strategy.h"

namespace shardlens::trainer::lora {

// Freezes the first blocks, or gives the model adapters and freezes the rest, and keeps what is
// frozen as `base_dtype` says. Before a strategy takes the model over. Error kUsage: adapters are
// wanted for layers that the model does not have.
trace::base::Result<void> choose_trained_part(model::Model& model,
                                              const trace::job::Settings& settings);

// Changes how frozen matrices are kept, tensor by tensor; norms and biases stay as they are. A
// parameter without memory stays so: only its type changes. `embeds_in`: the type that embeddings
// give, whatever theirs is.
void keep_frozen_as(model::Model& model, const trace::job::KeptTypes& types,
                    torch::ScalarType embeds_in);

// Initial values of frozen weights in the type they are kept in, from a source of the whole
// model's, range by range: no rank ever holds more of them in fp32 than a few MiB.
// Also gives bytes of 4-bit matrices: `begin` and the size of `into` count bytes then, of whole
// blocks. The model and `values`, which must know its linear layers' weights, outlive it.
class BaseSource final : public model::ParameterSource {
 public:
  BaseSource(const model::Model& model, model::ParameterSource& values);
  trace::base::Result<void> read(const std::string& name, std::int64_t begin,
                                 const torch::Tensor& into) override;

 private:
  model::ParameterSource& values_;
  std::map<std::string, std::int64_t> numels_;  // of linear layers' matrices
};

// Tells whether a checkpoint of adapters goes on with the base model it was made with. Of the bits
// of all frozen values, as they are kept: the same for every strategy and number of ranks, another
// for another model, seed or `base_dtype`. 16 hexadecimal digits. All ranks call it. Throws
// c10::Error when the collective fails.
std::string base_fingerprint(std::span<const strategy::LocalParameter> parameters,
                             comm::Communicator& communicator);

}  // namespace shardlens::trainer::lora
