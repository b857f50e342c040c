// The endless stream of a rank's training batches, epoch after epoch. The training thread.
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/data/block_dataset.h"
#include "trainer/data/distributed_sampler.h"

namespace shardlens::trainer {

class BatchStream {
 public:
  // With drop_last an epoch's last, shorter batch is left out, else it is used as it is. Every rank
  // gets the same number of batches per epoch; without padding the last may be a stand-in.
  BatchStream(const BlockDataset& dataset, const SamplerOptions& options,
              std::int64_t batch_per_rank);

  std::int64_t batches_per_epoch() const;
  std::int64_t epoch() const { return epoch_; }
  std::int64_t batches_drawn() const { return batches_; }  // of this epoch
  // Goes on as if so many batches of that epoch had been drawn.
  void go_to(std::int64_t epoch, std::int64_t batches);
  TokenBatch next();

 private:
  void start_epoch(std::int64_t epoch);

  const BlockDataset& dataset_;
  DistributedSampler sampler_;
  std::int64_t batch_per_rank_;
  bool drop_last_;
  std::int64_t epoch_ = 0;
  std::vector<std::int64_t> order_;
  std::size_t position_ = 0;
  std::int64_t batches_ = 0;  // of this epoch, handed out
};

}  // namespace shardlens::trainer
