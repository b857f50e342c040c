// The tensors of a piece by their slot. Any thread.
#pragma once

#include "trainer/checkpoint/checkpoint_plan.h"
#include "trainer/checkpoint/sharded_state.h"

namespace shardlens::trainer::checkpoint {

inline const torch::Tensor& tensor_of(const StatePiece& piece, Slot slot) {
  if (slot == Slot::kFirstMoment) return piece.first_moment;
  return slot == Slot::kSecondMoment ? piece.second_moment : piece.value;
}

}  // namespace shardlens::trainer::checkpoint
