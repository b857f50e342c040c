// Blocks of bytes of which only so many stay in memory; the others go to a file without a name,
// which vanishes with its owner. One owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "trace/base/result.h"

namespace shardlens::trace {

class SpillStore {
 public:
  struct Block {
    std::vector<std::byte> bytes;  // or in the file
    std::int64_t spilled_at = 0;
    std::size_t size = 0;
  };

  explicit SpillStore(std::size_t most_in_memory) : most_in_memory_(most_in_memory) {}

  // In memory, too, where there is no room for a file.
  Block put(std::span<const std::byte> bytes);
  // Its place in the file is not used again.
  void forget(const Block& block) { in_memory_ -= block.bytes.size(); }
  void forget_all();
  // Valid until the next call, as long as the block is.
  Result<std::span<const std::byte>> bytes_of(const Block& block);
  std::size_t in_memory() const { return in_memory_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::optional<std::int64_t> spill(std::span<const std::byte> bytes);

  std::size_t most_in_memory_;
  std::size_t in_memory_ = 0;
  std::unique_ptr<std::FILE, Close> file_;  // once needed
  std::int64_t file_size_ = 0;
  std::vector<std::byte> read_;
};

}  // namespace shardlens::trace
