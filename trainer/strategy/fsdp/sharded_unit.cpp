#include "trainer/strategy/fsdp/sharded_unit.h"

#include <algorithm>
#include <map>
#include <utility>

namespace shardlens::trainer::strategy {

ShardedUnit::ShardedUnit(int index, const UnitPlan& plan, const FlatBufferOptions& options,
                         model::ParameterSource* source)
    : index_(index), name_(plan.name) {
  // In the order in which a unit's gathers are launched.
  std::map<std::pair<bool, torch::ScalarType>, std::vector<tensor::NamedTensor>> groups;
  for (const tensor::NamedTensor& parameter : plan.parameters) {
    groups[{!parameter.tensor.requires_grad(), parameter.tensor.scalar_type()}].push_back(
        parameter);
  }
  for (const auto& [kind, parameters] : groups) {
    buffers_.emplace_back(parameters, options, source);
  }
}

comm::CollectiveTag ShardedUnit::tag(const std::string& what) const {
  return {trace::model::TagKind::kUnit, index_, name_ + " " + what};
}

void ShardedUnit::gather(comm::Communicator* group, const ShardStreams& streams,
                         const std::string& what) {
  streams.on_gather_stream([&] {
    for (FlatBuffer& buffer : buffers_) {
      if (buffer.is_resident()) continue;
      const torch::NoGradGuard no_grad;
      const torch::Tensor part = buffer.allocate();
      c10::intrusive_ptr<c10d::Work> work;
      if (group != nullptr) work = group->all_gather(buffer.whole(), part, tag(what));
      if (streams.exist()) {
        if (work) work->wait();
        gathers_.push_back(*streams.mark());
      } else if (work) {
        gathers_.push_back(Completion(work));
      }
    }
  });
}

void ShardedUnit::wait() {
  end_gathers();
  const bool is_current = std::ranges::all_of(buffers_, &FlatBuffer::is_current);
  TORCH_CHECK(is_current, "unit ", name_,
              " would be used with weights from before the last update: it was gathered before its "
              "shard changed, and nobody freed it. This is a fault in how units are gathered and "
              "freed; please report it with the run's settings.");
}

void ShardedUnit::end_gathers() {
  for (const Completion& gather : std::exchange(gathers_, {})) gather.wait();
}

std::vector<c10::DataPtr> ShardedUnit::release() {
  end_gathers();
  std::vector<c10::DataPtr> memory;
  for (FlatBuffer& buffer : buffers_) {
    if (!buffer.is_resident()) memory.push_back(buffer.release());
  }
  return memory;
}

}  // namespace shardlens::trainer::strategy
