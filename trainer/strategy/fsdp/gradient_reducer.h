// Reduces the gradients of units while backward goes on: scattered over the shard group, then
// summed over its replicas. One unit is under way at a time, as in PyTorch: a second one would cost
// its memory and hide nothing more, since collectives run one after another. The training thread
// and autograd's, one at a time.
#pragma once

#include <torch/types.h>

#include <optional>

#include "trainer/comm/communicator.h"
#include "trainer/strategy/fsdp/flat_buffer.h"
#include "trainer/strategy/fsdp/shard_streams.h"

namespace shardlens::trainer::strategy {

class GradientReducer {
 public:
  // Null: a group of one rank.
  GradientReducer(comm::Communicator* shard_group, comm::Communicator* replicas,
                  const ShardStreams& streams)
      : shard_group_(shard_group), replicas_(replicas), streams_(streams) {}

  // Takes the gradients of `buffer`'s parameters; their averages over all ranks are added to the
  // buffer once they are there.
  void launch(FlatBuffer& buffer, const comm::CollectiveTag& tag);
  // All that was launched has been added. Throws if a collective failed.
  void finish();

 private:
  // How a reduction becomes an average.
  struct Averaging {
    double before = 1, after = 1;  // factors of what is reduced, and of the result
    c10d::ReduceOp::RedOpType operation = c10d::ReduceOp::SUM;
  };
  struct UnderWay {
    FlatBuffer* buffer = nullptr;
    torch::Tensor input, output;
    double factor = 1;  // that the output still has to be multiplied by
    Completion completion;
  };

  Averaging averaging(torch::ScalarType type) const;
  Completion reduce(const torch::Tensor& input, const torch::Tensor& output,
                    const comm::CollectiveTag& tag, c10d::ReduceOp::RedOpType operation);
  Completion reduce_on_host(const torch::Tensor& input, const torch::Tensor& output,
                            const comm::CollectiveTag& tag);

  comm::Communicator* shard_group_;
  comm::Communicator* replicas_;
  const ShardStreams& streams_;
  std::optional<UnderWay> under_way_;
};

}  // namespace shardlens::trainer::strategy
