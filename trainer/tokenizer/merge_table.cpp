#include "trainer/tokenizer/merge_table.h"

#include <bit>

namespace shardlens::trainer {

MergeTable::MergeTable(std::size_t merges)
    : slots_(std::bit_ceil(2 * merges + 2)), mask_(slots_.size() - 1) {}

void MergeTable::set(TokenId left, TokenId right, MergeRule rule) {
  std::size_t slot = first_slot(left, right);
  while (slots_[slot].pair != kFree && slots_[slot].pair != key(left, right)) {
    slot = (slot + 1) & mask_;
  }
  slots_[slot] = {.pair = key(left, right), .rule = rule};
}

}  // namespace shardlens::trainer
