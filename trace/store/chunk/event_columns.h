// The events of one chunk, decoded, in some 10 bytes each: what many chunks are kept as. Any thread
// once made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/base/result.h"
#include "trace/model/events.h"
#include "trace/store/chunk/chunk_codec.h"
#include "trace/store/chunk/packed_column.h"

namespace shardlens::trace::store {

// The memory that decoding needs, for many chunks one after the other. One thread at a time.
struct DecodeScratch {
  ChunkOpener opener;
  std::vector<std::int64_t> starts, durations, values;
  std::vector<std::uint32_t> names, flags;
};

class EventColumns {
 public:
  // Correlations are left out, and values unless they are wanted: decode_chunk() has them.
  enum class Values : std::uint8_t { kLeftOut, kKept };
  static base::Result<EventColumns> decode(const ChunkHeader& header,
                                           std::span<const std::byte> data, DecodeScratch& scratch,
                                           Values values = Values::kLeftOut);

  std::size_t size() const { return size_; }
  std::int64_t start_ns(std::size_t i) const { return starts_.at(i); }
  std::int64_t duration_ns(std::size_t i) const { return durations_.at(i); }
  std::int64_t end_ns(std::size_t i) const {
    return base::saturated_add(start_ns(i), duration_ns(i));
  }
  model::StringId name(std::size_t i) const { return static_cast<model::StringId>(names_.at(i)); }
  std::uint32_t flags(std::size_t i) const { return static_cast<std::uint32_t>(flags_.at(i)); }
  int depth(std::size_t i) const {
    return static_cast<int>((flags(i) >> model::kEventDepthShift) & 0xff);
  }
  std::int64_t value(std::size_t i) const { return values_.at(i); }  // 0 where they are left out
  bool is_ordered() const { return is_ordered_; }                    // by start
  // The first event that begins at `time_ns` or later, where they are ordered; size(): none does.
  std::size_t first_from(std::int64_t time_ns) const;
  std::size_t bytes() const;

  // For loops over many events: whole columns, whose copy_to() costs less than single values.
  const PackedColumn& starts() const { return starts_; }
  const PackedColumn& durations() const { return durations_; }
  const PackedColumn& names() const { return names_; }
  const PackedColumn& values() const { return values_; }

 private:
  std::size_t size_ = 0;
  bool is_ordered_ = true;
  PackedColumn starts_, durations_, names_, flags_, values_;
};

}  // namespace shardlens::trace::store
