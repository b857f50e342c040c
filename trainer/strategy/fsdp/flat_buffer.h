// Parameters of one unit laid out one after another in a flat buffer that is divided evenly over
// the ranks of the shard group. Each rank keeps its part; the whole exists while it is gathered.
// The training thread and autograd's.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "trainer/comm/communicator.h"
#include "trainer/model/layers/parameter_source.h"
#include "trainer/strategy/strategy.h"
#include "trainer/tensor/named_tensor.h"

namespace shardlens::trainer::strategy {

struct FlatBufferOptions {
  torch::Device device = torch::kCPU;               // of the gathered parameters
  torch::Device shard_device = torch::kCPU;         // of the shard and its gradient
  torch::ScalarType param_dtype = torch::kFloat32;  // of what is kept in fp32
  torch::ScalarType reduce_dtype = torch::kFloat32;
  int shard_rank = 0;  // within the shard group
  int shard_count = 1;
  bool is_primary = true;  // of the replicas of a shard, the one that is saved
};

class FlatBuffer {
 public:
  // Takes over the values of `parameters`, which are all trained or all frozen, and of one type;
  // that is fp32 if they are trained, and otherwise the one they are kept and gathered in. This
  // rank's part of those without memory is read from `source`. From here on they are views of the
  // flat buffer, without memory until allocate(). Throws c10::Error if the source cannot be read.
  FlatBuffer(const std::vector<tensor::NamedTensor>& parameters, const FlatBufferOptions& options,
             model::ParameterSource* source = nullptr);

  bool is_trained() const { return trained_; }
  std::int64_t numel() const { return shard_numel_ * options_.shard_count; }  // with padding
  std::int64_t bytes() const;                                                 // as it is gathered
  std::int64_t shard_bytes() const;                                           // as it is kept
  torch::ScalarType gathered_type() const { return gathered_type_; }
  torch::ScalarType reduced_type() const { return options_.reduce_dtype; }
  std::int64_t reduced_bytes() const;
  const std::vector<tensor::NamedTensor>& parameters() const { return parameters_; }

  // Whether parameters are always there: a single shard that needs no other type.
  bool is_resident() const { return resident_; }
  // Gives the whole buffer memory, and returns this rank's part of what has to be gathered.
  torch::Tensor allocate();
  torch::Tensor whole() const { return whole_; }
  // The memory is freed with what is returned.
  c10::DataPtr release();

  // The shard has new values. Those that a tensor's own operation wrote are noticed without, but
  // PyTorch's fused optimizers tell nobody.
  void shard_was_updated();
  // Whether what was gathered last is what the shard holds now.
  bool is_current() const { return resident_ || gathered_version_ == shard_version(); }

  // The gradients of the parameters and what was accumulated of them, flat, times `scale`, in the
  // type of the reduction; zero where there is none. They are taken away from the parameters.
  torch::Tensor take_gradients(double scale);
  // The gradients of a backward that reduces nothing. Those of another type than the reduction's
  // are added up in that type, as in fully_shard; autograd adds up the others.
  void accumulate_gradients();
  // Adds this rank's part of reduced gradients. On another device than the shard's it may be there
  // only once the host has waited for the current stream.
  void add_reduced(const torch::Tensor& part);
  // Which parameters got a gradient since the last time, 1 or 0 each [parameters()].
  std::vector<float> take_used();
  void publish_gradients();
  void drop_gradients();
  // Whether parameter i got a gradient on some rank; without, its part has none.
  void drop_unused(const float* used_by);

  const std::vector<LocalParameter>& local_parameters() const { return local_; }

 private:
  struct Place {
    std::int64_t offset = 0;  // in the flat buffer
    std::size_t local = 0;    // index into local_, or kNowhere
  };
  static constexpr std::size_t kNowhere = SIZE_MAX;

  std::int64_t shard_version() const { return shard_._version(); }
  void lay_out();
  void take_values(model::ParameterSource* source);
  void fill_shard(model::ParameterSource* source);
  void list_local();
  torch::Tensor flat_gradients(double scale);

  FlatBufferOptions options_;
  std::vector<tensor::NamedTensor> parameters_;
  std::vector<Place> places_;
  std::vector<float> used_;
  std::vector<LocalParameter> local_;
  bool trained_ = true;
  torch::ScalarType kept_type_ = torch::kFloat32, gathered_type_ = torch::kFloat32;
  bool resident_ = false;
  std::int64_t shard_numel_ = 0;
  std::int64_t gathered_version_ = -1;  // of the shard, when it was gathered
  torch::Tensor whole_;                 // [numel()], gathered_type_
  torch::Tensor shard_;                 // [shard_numel_], kept_type_
  torch::Tensor sums_;                  // [numel()], reduce_dtype: of micro-batches, or undefined
  torch::Tensor shard_gradient_;        // as shard_, or undefined
};

}  // namespace shardlens::trainer::strategy
