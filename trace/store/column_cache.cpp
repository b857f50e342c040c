#include "trace/store/column_cache.h"

namespace shardlens::trace {

ColumnCache::Value ColumnCache::get(const ChunkKey& key, const std::function<Value()>& decode) {
  std::unique_lock lock(mutex_);
  auto& slot = entries_[key];
  if (slot) {
    const std::shared_ptr<Entry> entry = slot;
    decoded_.wait(lock, [&] { return entry->value.has_value(); });
    // It may have been evicted while this thread waited.
    const auto found = entries_.find(key);
    if (entry->bytes > 0 && found != entries_.end() && found->second == entry) {
      uses_.splice(uses_.begin(), uses_, entry->use);
    }
    return *entry->value;
  }
  const auto entry = slot = std::make_shared<Entry>();
  lock.unlock();
  Value value = decode();
  lock.lock();
  entry->value = value;
  keep(key, *entry);
  decoded_.notify_all();
  return value;
}

void ColumnCache::keep(const ChunkKey& key, Entry& entry) {
  const Value& value = *entry.value;
  if (value) {
    entry.bytes = (*value)->bytes() + sizeof(Entry) + sizeof(ChunkKey);
    uses_.push_front(key);
    entry.use = uses_.begin();
    bytes_ += entry.bytes;
    evict();
    return;
  }
  const ErrorKind kind = value.error().kind;
  if (kind != ErrorKind::kDamaged && kind != ErrorKind::kNewer) entries_.erase(key);
}

void ColumnCache::evict() {
  while (bytes_ > limit_bytes_ && !uses_.empty()) {
    const auto last = entries_.find(uses_.back());
    bytes_ -= last->second->bytes;
    uses_.pop_back();
    entries_.erase(last);
  }
}

std::vector<std::shared_ptr<const EventColumns>> ColumnCache::find(std::span<const ChunkKey> keys) {
  std::vector<std::shared_ptr<const EventColumns>> found(keys.size());
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto entry = entries_.find(keys[i]);
    if (entry == entries_.end() || entry->second->bytes == 0) continue;
    found[i] = **entry->second->value;
    uses_.splice(uses_.begin(), uses_, entry->second->use);
  }
  return found;
}

void ColumnCache::forget_failures(int file) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const auto& one) {
    const auto& value = one.second->value;
    return one.first.file == file && value && !*value;
  });
}

std::size_t ColumnCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace shardlens::trace
