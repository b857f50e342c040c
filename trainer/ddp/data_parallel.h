// PyTorch's DistributedDataParallel for C++: keeps replicas equal by averaging gradients bucket by
// bucket while backward runs (c10d::Reducer). The training thread.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <vector>

#include "profiler/recorder.h"
#include "trainer/comm/communicator.h"
#include "trainer/ddp/bucket_hook.h"

namespace shardlens::trainer {

struct NamedTensor {
  std::string name;
  torch::Tensor tensor;
};
// Each tensor once, under its first name: a shared one (tied weights) comes twice from a module.
std::vector<NamedTensor> without_duplicates(const std::vector<NamedTensor>& tensors);
std::vector<NamedTensor> named_parameters_of(const torch::nn::Module& module);
std::vector<NamedTensor> named_buffers_of(const torch::nn::Module& module);

struct DataParallelOptions {
  double bucket_cap_mb = 25;  // MiB
  // MiB; none: PyTorch's rule, 1 MiB if bucket_cap_mb is 25, its default, else bucket_cap_mb.
  std::optional<double> first_bucket_mb;
  bool gradient_as_bucket_view = false;
  bool static_graph = false;
  bool find_unused_parameters = false;
  GradientCompression compression = GradientCompression::kNone;
  bool overlap_comm = true;   // false: reduce only once all gradients are there
  bool communication = true;  // false: every rank keeps its own gradients
};

// Throws c10::Error when ranks differ in parameters or a collective fails. All ranks call the same
// functions in the same order. One step with k micro-batches:
//   zero_gradients()
//   k times: set_require_sync(last or every), before_forward(), forward, before_backward(loss),
//            loss.backward(), after_backward()
class DataParallel {
 public:
  // Checks that all ranks have parameters of the same shapes, then takes over rank 0's values.
  // `parameters` may hold duplicates and frozen ones; the order is the module's.
  DataParallel(std::vector<NamedTensor> parameters, std::vector<NamedTensor> buffers,
               Communicator& communicator, profiler::Recorder& recorder,
               const DataParallelOptions& options);
  ~DataParallel();
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  // False: the next backward only adds to the local gradients. Set it before before_forward(). The
  // first backward of a static graph reduces anyway, which changes no result.
  void set_require_sync(bool require_sync);
  void before_forward();
  // `loss` is the tensor that backward() starts from.
  void before_backward(const torch::Tensor& loss);
  // Throws if a backward that should have been reduced was not.
  void after_backward();

  // As zero_grad(set_to_none=True); also right when gradients are views of buckets.
  void zero_gradients();

  // Without duplicates and frozen ones.
  const std::vector<NamedTensor>& parameters() const;
  // In launch order; parameters are indices into parameters(), in the bucket's order.
  std::vector<std::vector<std::size_t>> bucket_plan() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shardlens::trainer
