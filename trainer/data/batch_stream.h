// The endless stream of a rank's training batches, epoch after epoch. The training thread.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "trainer/data/token_dataset.h"

namespace shardlens::trainer::data {

// Which samples a rank draws in an epoch: torch.utils.data.DistributedSampler, index for index.
struct SamplerOptions {
  std::int64_t samples = 0;  // of the whole data set
  int world_size = 1;
  int rank = 0;
  bool shuffle = true;
  bool drop_last = false;  // else the tail is padded by repeating the start
  std::uint64_t seed = 0;
  bool pad = true;  // false, without drop_last: every sample once, and some ranks have one fewer
};

class DistributedSampler {
 public:
  explicit DistributedSampler(const SamplerOptions& options) : options_(options) {}

  // Per rank and epoch; the same on every rank, of which one may have one fewer without padding.
  std::int64_t size() const;
  // All samples in the epoch's order, each once, for sample_at().
  std::vector<std::int64_t> order(std::int64_t epoch) const;
  // Sample `index` < size() of a rank in that order; absent: it has one fewer.
  std::optional<std::int64_t> sample_at(const std::vector<std::int64_t>& order, int rank,
                                        std::int64_t index) const;

 private:
  SamplerOptions options_;
};

// All ranks' micro-batches of one step together. Every rank knows them without asking: all have the
// same data and the same sampler.
struct StepTotals {
  std::int64_t targets = 0;  // that count
  std::int64_t batches = 0, stand_ins = 0;
};

struct TrainingBatch : model::TokenBatch {
  StepTotals step;  // that the batch belongs to
};

class BatchStream {
 public:
  // With drop_last an epoch's last, shorter batch is left out, else it is used as it is. Every rank
  // gets the same number of batches per epoch; without padding the last may be a stand-in.
  BatchStream(const TokenDataset& dataset, const SamplerOptions& options,
              std::int64_t batch_per_rank, std::int64_t batches_per_step = 1);

  std::int64_t batches_per_epoch() const;
  std::int64_t epoch() const { return place_.epoch; }
  std::int64_t batches_drawn() const { return place_.batches; }  // of this epoch
  // Goes on as if so many batches of that epoch had been drawn, with the first batch of a step.
  void go_to(std::int64_t epoch, std::int64_t batches);
  TrainingBatch next();

 private:
  struct Place {
    std::int64_t epoch = 0, batches = 0;  // handed out
  };
  struct Epoch {
    std::int64_t number = 0;
    std::vector<std::int64_t> order;  // of all ranks
  };

  // Past a batch; an epoch without one more ends.
  Place after(Place place) const;
  const std::vector<std::int64_t>& order_of(std::int64_t epoch);
  // A rank's samples of the batch at a place.
  std::vector<std::int64_t> samples_at(Place place, int rank);
  StepTotals step_from(Place place);

  const TokenDataset& dataset_;
  SamplerOptions options_;
  DistributedSampler sampler_;
  std::int64_t batch_per_rank_;
  std::int64_t batches_per_step_;
  Place place_;
  std::int64_t left_of_step_ = 0;
  StepTotals step_;
  std::deque<Epoch> epochs_;  // this one, and as many as the step reaches into
};

}  // namespace shardlens::trainer::data
