// PyTorch's DistributedDataParallel for C++: keeps replicas equal by averaging gradients bucket by
// bucket while backward runs (c10d::Reducer). The training thread.
#pragma once

#include <torch/types.h>

#include <memory>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <vector>

#include "profiler/recorder/recorder.h"
#include "trace/job/settings/choices.h"
#include "trace/job/settings/settings.h"
#include "trainer/comm/communicator.h"
#include "trainer/strategy/ddp/bucket_hook.h"
#include "trainer/strategy/strategy.h"
#include "trainer/tensor/named_tensor.h"

namespace shardlens::trainer::strategy {

struct DataParallelOptions {
  double bucket_cap_mb = 25;                   // MiB
  double first_bucket_mb = trace::job::kAuto;  // MiB; see trace::first_bucket_mb()
  bool gradient_as_bucket_view = false;
  bool static_graph = false;
  bool find_unused_parameters = false;
  trace::job::CommunicationHook hook = trace::job::CommunicationHook::kNone;
  bool overlap_comm = true;   // false: reduce only once all gradients are there
  bool communication = true;  // false: every rank keeps its own gradients
};

// Throws c10::Error when ranks differ in parameters.
class DataParallel final : public Strategy {
 public:
  // Checks that all ranks have parameters of the same shapes, then takes over rank 0's values.
  // `parameters` may hold duplicates and frozen ones; the order is the module's.
  DataParallel(std::vector<tensor::NamedTensor> parameters,
               std::vector<tensor::NamedTensor> buffers, comm::Communicator& communicator,
               profiler::recorder::Recorder& recorder, const DataParallelOptions& options);
  ~DataParallel() override;
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  // The first backward of a static graph reduces even if it is not required to, which changes no
  // result.
  void set_require_sync(bool require_sync) override;
  void before_forward() override;
  void before_backward(const torch::Tensor& loss) override;
  // Throws if a backward that should have been reduced was not.
  void after_backward() override;

  std::span<const LocalParameter> local_parameters() const override;
  void update(const Optimize& optimize) override;
  // Also right when gradients are views of buckets.
  void zero_gradients() override;

  // Without duplicates and frozen ones.
  const std::vector<tensor::NamedTensor>& parameters() const;
  // In launch order; parameters are indices into parameters(), in the bucket's order.
  std::vector<std::vector<std::size_t>> bucket_plan() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shardlens::trainer::strategy
