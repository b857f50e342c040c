// Which samples a rank draws in an epoch: torch.utils.data.DistributedSampler, index for index.
// One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace shardlens::trainer::data {

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

  void set_epoch(std::int64_t epoch) { epoch_ = epoch; }
  // Per rank and epoch; the same on every rank, of which one may have one fewer without padding.
  std::int64_t size() const;
  // All samples in the epoch's order, each once, for sample_at().
  std::vector<std::int64_t> order() const;
  // Sample `index` < size() of a rank in that order; absent: it has one fewer.
  std::optional<std::int64_t> sample_at(const std::vector<std::int64_t>& order, int rank,
                                        std::int64_t index) const;

 private:
  SamplerOptions options_;
  std::int64_t epoch_ = 0;
};

}  // namespace shardlens::trainer::data
