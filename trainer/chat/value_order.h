// Truth, equality, order and membership of values, as Python has them. One thread for a budget.
#pragma once

#include <vector>

#include "trainer/chat/render_budget.h"

namespace shardlens::trainer::chat {

bool truth(const Value& value);
Result<bool> equal(RenderBudget& budget, const Value& left, const Value& right);

// Negative, 0, positive as left is less than, equal to or greater than right; 2: neither (a NaN).
// `sign` is the operator of the error for types that have no order.
Result<int> compare(RenderBudget& budget, const Value& left, const Value& right, const char* sign);
inline constexpr int kUnordered = 2;

// The stable order of `keys`, each a list to be compared; `reverse` keeps equals in their order.
Result<std::vector<std::size_t>> sorted_order(RenderBudget& budget, const std::vector<Items>& keys,
                                              bool reverse);

// Whether it can be a key of a dict: an error names the type if not.
Result<void> check_hashable(const Value& value);
// The entry with this key; null: none.
Result<const Value*> find_entry(RenderBudget& budget, const Value& dict, const Value& key);
// Puts the value where the key is, or at the end.
Result<void> set_entry(RenderBudget& budget, Entries& entries, Value key, Value value);

}  // namespace shardlens::trainer::chat
