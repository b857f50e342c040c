// Values by key up to a total weight; those not used for longest go first. One owner.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <unordered_map>
#include <utility>

namespace shardlens::trace::store {

template <typename Key, typename Value, typename Hash = std::hash<Key>>
class RecentlyUsed {
 public:
  explicit RecentlyUsed(std::size_t most) : most_(most) {}

  // Null: it is not there.
  const Value* use(const Key& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    values_.splice(values_.begin(), values_, found->second);
    return &found->second->value;
  }
  void keep(const Key& key, Value value, std::size_t weight = 1) {
    forget(key);
    values_.push_front({key, std::move(value), weight});
    places_[key] = values_.begin();
    weight_ += weight;
    while (weight_ > most_) forget(Key(values_.back().key));
  }
  void forget(const Key& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return;
    weight_ -= found->second->weight;
    values_.erase(found->second);
    places_.erase(found);
  }
  std::size_t weight() const { return weight_; }

 private:
  struct Kept {
    Key key;
    Value value;
    std::size_t weight;
  };

  std::size_t most_;
  std::size_t weight_ = 0;
  std::list<Kept> values_;  // the last used first
  std::unordered_map<Key, typename std::list<Kept>::iterator, Hash> places_;
};

}  // namespace shardlens::trace::store
