// From a shape to a model of its layout, with initial values or without memory. The training
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "trainer/model/decoder_model.h"
#include "trainer/model/layers/model_shape.h"
#include "trainer/model/layers/parameter_source.h"
#include "trainer/model/model.h"

namespace shardlens::trainer::model {

struct ModelOptions {
  double dropout = 0;
  std::uint64_t seed = 0;
  torch::Device device = torch::kCPU;
  // False: parameters have no memory and no values.
  bool has_memory = true;

  ParameterPlace place() const { return {device, has_memory}; }
};

// Of a decoder's layout. Initialised as Hugging Face does; the same on every rank and device for
// the same seed.
std::shared_ptr<DecoderModel> build_model(const ModelShape& shape, const ModelOptions& options);
// The same for any layout.
std::shared_ptr<Model> build_any_model(const ModelShape& shape, const ModelOptions& options);

// Gives these parameters memory and initial values: of a new head on a model that has none.
void initialize_parameters(Model& model, const ModelShape& shape, std::uint64_t seed,
                           std::span<const std::string> names);

// Gives all parameters without memory some, and with `reads` their values; otherwise another rank's
// are expected to follow. Throws c10::Error if the source cannot be read.
void allocate_parameters(Model& model, ParameterSource& source, bool reads);

}  // namespace shardlens::trainer::model
