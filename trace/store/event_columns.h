// The events of one chunk, decoded, in some 10 bytes each: what many chunks are kept as. Any thread
// once made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/model/events.h"
#include "trace/model/result.h"
#include "trace/store/chunk_codec.h"
#include "trace/store/packed_column.h"

namespace shardlens::trace {

class EventColumns {
 public:
  // Correlation and value are left out: decode_chunk() has them.
  static Result<EventColumns> decode(const ChunkHeader& header, std::span<const std::byte> data);

  std::size_t size() const { return size_; }
  std::int64_t start_ns(std::size_t i) const { return starts_.at(i); }
  std::int64_t duration_ns(std::size_t i) const { return durations_.at(i); }
  StringId name(std::size_t i) const { return static_cast<StringId>(names_.at(i)); }
  std::uint32_t flags(std::size_t i) const { return static_cast<std::uint32_t>(flags_.at(i)); }
  int depth(std::size_t i) const { return static_cast<int>((flags(i) >> kEventDepthShift) & 0xff); }
  bool is_ordered() const { return is_ordered_; }  // by start
  std::size_t bytes() const;

 private:
  std::size_t size_ = 0;
  bool is_ordered_ = true;
  PackedColumn starts_, durations_, names_, flags_;
};

}  // namespace shardlens::trace
