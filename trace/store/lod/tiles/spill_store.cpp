#include "trace/store/lod/tiles/spill_store.h"

#include <unistd.h>

namespace shardlens::trace {

std::optional<std::int64_t> SpillStore::spill(std::span<const std::byte> bytes) {
  if (!file_) file_.reset(std::tmpfile());
  if (!file_) return std::nullopt;
  const auto written = pwrite(fileno(file_.get()), bytes.data(), bytes.size(), file_size_);
  if (written != static_cast<ssize_t>(bytes.size())) return std::nullopt;
  const std::int64_t at = file_size_;
  file_size_ += written;
  return at;
}

SpillStore::Block SpillStore::put(std::span<const std::byte> bytes) {
  Block block{{}, 0, bytes.size()};
  if (in_memory_ + bytes.size() > most_in_memory_) {
    if (const auto at = spill(bytes)) {
      block.spilled_at = *at;
      return block;
    }
  }
  block.bytes.assign(bytes.begin(), bytes.end());
  in_memory_ += bytes.size();
  return block;
}

void SpillStore::forget_all() {
  in_memory_ = 0;
  file_.reset();
  file_size_ = 0;
}

Result<std::span<const std::byte>> SpillStore::bytes_of(const Block& block) {
  if (block.bytes.size() == block.size) return std::span<const std::byte>(block.bytes);
  read_.resize(block.size);
  const auto got = pread(fileno(file_.get()), read_.data(), read_.size(), block.spilled_at);
  if (got == static_cast<ssize_t>(read_.size())) return std::span<const std::byte>(read_);
  return fail(ErrorKind::kIo, "a temporary file cannot be read: open the run again");
}

}  // namespace shardlens::trace
