// One unit of sharding: gathered for its forward and backward, freed between them. The training
// thread and autograd's, one at a time.
#pragma once

#include <string>
#include <vector>

#include "trainer/comm/communicator.h"
#include "trainer/strategy/fsdp/flat_buffer.h"
#include "trainer/strategy/fsdp/shard_streams.h"
#include "trainer/strategy/fsdp/unit_plan.h"

namespace shardlens::trainer::strategy {

class ShardedUnit {
 public:
  // Trained and frozen parameters lie in buffers of their own, since only the first are reduced;
  // frozen ones in one for each type they are kept in.
  ShardedUnit(int index, const UnitPlan& plan, const FlatBufferOptions& options,
              model::ParameterSource* source);

  int index() const { return index_; }
  const std::string& name() const { return name_; }
  std::vector<FlatBuffer>& buffers() { return buffers_; }
  const std::vector<FlatBuffer>& buffers() const { return buffers_; }
  // "blocks.3 forward gather" for `what` "forward gather".
  comm::CollectiveTag tag(const std::string& what) const;

  // Starts gathering over `group` (null: of one rank) what is free.
  void gather(comm::Communicator* group, const ShardStreams& streams, const std::string& what);
  // From here on the parameters can be used. Throws if they are not those of the shard: it was
  // updated since they were gathered.
  void wait();
  // The memory of what is gathered, which is freed with what is returned.
  std::vector<c10::DataPtr> release();

 private:
  void end_gathers();

  int index_;
  std::string name_;
  std::vector<FlatBuffer> buffers_;
  std::vector<Completion> gathers_;
};

}  // namespace shardlens::trainer::strategy
