// PyTorch's DistributedDataParallel for C++: keeps replicas equal by averaging gradients bucket by
// bucket while backward runs (c10d::Reducer). The training thread.
#pragma once

#include <torch/types.h>

#include <memory>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <unordered_map>
#include <vector>

#include "profiler/recorder/recorder.h"
#include "trace/job/settings/settings.h"
#include "trainer/comm/communicator.h"
#include "trainer/strategy/ddp/bucket_hook.h"
#include "trainer/strategy/strategy.h"
#include "trainer/tensor/named_tensor.h"

namespace shardlens::trainer::strategy {

// Throws c10::Error when ranks differ in parameters.
class DataParallel final : public Strategy {
 public:
  // Checks that all ranks have parameters of the same shapes, then takes over rank 0's values.
  // `parameters` may hold duplicates and frozen ones; the order is the module's. Of `settings`
  // those of DDP are looked at.
  DataParallel(const std::vector<tensor::NamedTensor>& parameters,
               const std::vector<tensor::NamedTensor>& buffers, comm::Communicator& communicator,
               profiler::recorder::Recorder& recorder, const trace::job::Settings& settings);
  ~DataParallel() override;
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  // The first backward of a static graph reduces even if it is not required to, which changes no
  // result.
  void set_require_sync(bool require_sync) override { require_sync_ = require_sync; }
  void before_forward() override;
  void before_backward(const torch::Tensor& loss) override;
  // Throws if a backward that should have been reduced was not.
  void after_backward() override;

  std::span<const LocalParameter> local_parameters() const override { return local_parameters_; }
  void update(const Optimize& optimize) override {
    optimize(optimized_parameters(local_parameters_));
  }
  // Also right when gradients are views of buckets.
  void zero_gradients() override;

  // Without duplicates and frozen ones.
  const std::vector<tensor::NamedTensor>& parameters() const { return parameters_; }
  // In launch order; parameters are indices into parameters(), in the bucket's order.
  std::vector<std::vector<std::size_t>> bucket_plan() const;

 private:
  using Views = std::vector<torch::Tensor>;  // of gradients, by parameter

  void take_over_values(const std::vector<tensor::NamedTensor>& all_parameters,
                        const std::vector<tensor::NamedTensor>& buffers);
  void build_reducer();
  void report_plan(int plan);
  std::unordered_map<const c10::TensorImpl*, std::size_t> indices() const;
  trace::model::MemoryCategory category_of_buckets() const;
  void find_views();
  void rebuild_buckets();
  // The first backward of a static graph always reduces: the Reducer counts in it how often each
  // gradient comes, up to its first reduction. With two backwards counted it would wait for two
  // ever after, and never reduce again (PyTorch's no_sync() has this fault).
  bool reduces() const { return require_sync_ || (settings_.static_graph && !static_graph_seen_); }
  void reduce_at_the_end_of_backward(const torch::Tensor& loss);

  comm::Communicator& communicator_;
  profiler::recorder::Recorder& recorder_;
  const trace::job::Settings settings_;
  std::vector<tensor::NamedTensor> parameters_;
  std::vector<LocalParameter> local_parameters_;  // frozen ones, too
  std::shared_ptr<std::size_t> launched_ = std::make_shared<std::size_t>(0);
  std::shared_ptr<c10d::Reducer> reducer_;
  std::shared_ptr<Views> views_ = std::make_shared<Views>();  // none while buckets are rebuilt
  std::size_t bucket_count_ = 0;
  bool require_sync_ = true;
  bool awaits_reduction_ = false;
  bool static_graph_seen_ = false;
};

}  // namespace shardlens::trainer::strategy
