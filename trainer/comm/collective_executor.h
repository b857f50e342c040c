// How a collective gets from the rank that asks for it to the backend that runs it, with its start
// and end reported to the recorder. Any thread may submit; submissions run in order.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

#include "trainer/comm/collective_description.h"

namespace shardlens::trainer::comm {

struct CollectiveJob {
  CollectiveDescription description;
  std::uint64_t handle = 0;  // from Recorder::enter_collective
  std::function<c10::intrusive_ptr<c10d::Work>(c10d::Backend&)> launch;
  std::vector<torch::Tensor> outputs;  // the value of the work's future
};

class CollectiveExecutor {
 public:
  virtual ~CollectiveExecutor() = default;
  virtual c10::intrusive_ptr<c10d::Work> submit(CollectiveJob job) = 0;
  // No submission may follow. Returns within a few seconds.
  virtual void close() = 0;
};

}  // namespace shardlens::trainer::comm
