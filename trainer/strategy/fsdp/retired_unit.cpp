#include "trainer/strategy/fsdp/retired_unit.h"

#include <utility>

namespace shardlens::trainer::strategy {

void RetiredUnit::replace(std::vector<c10::DataPtr> memory) {
  drop();
  memory_ = std::move(memory);
  last_use_ = streams_.mark();
  if (!streams_.exist()) drop();
}

void RetiredUnit::drop() {
  if (memory_.empty()) return;
  streams_.on_gather_stream([this] {
    if (last_use_) last_use_->wait();
    memory_.clear();
  });
}

}  // namespace shardlens::trainer::strategy
