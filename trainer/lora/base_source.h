// Initial values of frozen weights in the type they are kept in, from a source of the whole
// model's, range by range: no rank ever holds more of them in fp32 than a few MiB. The training
// thread.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "trainer/model/layers/parameter_source.h"
#include "trainer/model/model.h"

namespace shardlens::trainer::lora {

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

}  // namespace shardlens::trainer::lora
