// ZeRO stage 1, as PyTorch's ZeroRedundancyOptimizer beside DDP: gradients are averaged bucket by
// bucket, each rank updates its own share of the parameters and sends them to the others. The
// training thread.
#pragma once

#include <memory>
#include <vector>

#include "profiler/recorder/recorder.h"
#include "trainer/comm/communicator.h"
#include "trainer/strategy/ddp/data_parallel.h"
#include "trainer/strategy/strategy.h"

namespace shardlens::trainer::strategy {

class ZeroRedundancy final : public Strategy {
 public:
  // As DataParallel's; `bucket_cap_mb` also cuts what is sent after an update.
  ZeroRedundancy(const std::vector<tensor::NamedTensor>& parameters,
                 const std::vector<tensor::NamedTensor>& buffers, comm::Communicator& communicator,
                 profiler::recorder::Recorder& recorder, const trace::job::Settings& settings);

  void set_require_sync(bool require_sync) override { gradients_->set_require_sync(require_sync); }
  void before_forward() override { gradients_->before_forward(); }
  void before_backward(const torch::Tensor& loss) override { gradients_->before_backward(loss); }
  void after_backward() override { gradients_->after_backward(); }
  void zero_gradients() override { gradients_->zero_gradients(); }

  std::span<const LocalParameter> local_parameters() const override { return local_; }
  torch::Tensor sum_over_shards(torch::Tensor local) override;
  // Part by part: a part is on its way to the others while the next one is updated.
  void update(const Optimize& optimize) override;

 private:
  struct Part {
    std::vector<std::size_t> parameters;  // indices into local_
    torch::Tensor values;                 // theirs, one after another
  };

  void partition(const std::vector<tensor::NamedTensor>& trained, double cap_mb);

  comm::Communicator& communicator_;
  std::vector<std::vector<Part>> parts_;  // by owner
  std::vector<LocalParameter> local_;
  std::unique_ptr<DataParallel> gradients_;
};

}  // namespace shardlens::trainer::strategy
