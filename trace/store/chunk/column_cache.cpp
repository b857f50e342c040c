#include "trace/store/chunk/column_cache.h"

namespace shardlens::trace::store {

ColumnCache::Value ColumnCache::get(const ChunkKey& key, const std::function<Value()>& decode) {
  std::unique_lock lock(mutex_);
  if (const auto* kept = kept_.use(key)) return *kept;
  auto& slot = entries_[key];
  if (slot) {
    const std::shared_ptr<Entry> entry = slot;
    decoded_.wait(lock, [&] { return entry->has_value(); });
    return **entry;
  }
  const auto entry = slot = std::make_shared<Entry>();
  lock.unlock();
  Value value = decode();
  lock.lock();
  *entry = value;
  keep(key, value);
  decoded_.notify_all();
  return value;
}

void ColumnCache::keep(const ChunkKey& key, const Value& value) {
  if (value) {
    kept_.keep(key, *value, (*value)->bytes() + sizeof(Value) + sizeof(ChunkKey));
  } else if (value.error().kind == base::ErrorKind::kDamaged) {
    return;
  }
  entries_.erase(key);
}

std::vector<std::shared_ptr<const EventColumns>> ColumnCache::find(std::span<const ChunkKey> keys) {
  std::vector<std::shared_ptr<const EventColumns>> found(keys.size());
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (const auto* kept = kept_.use(keys[i])) found[i] = *kept;
  }
  return found;
}

void ColumnCache::forget_failures(int file) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const auto& one) {
    const Entry& value = *one.second;
    return one.first.file == file && value && !*value;
  });
}

std::size_t ColumnCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return kept_.weight();
}

}  // namespace shardlens::trace::store
