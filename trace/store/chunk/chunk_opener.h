// Checks and decompresses chunks, one after the other in the same memory. One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "trace/base/result.h"
#include "trace/store/chunk/chunk_codec.h"
#include "trace/store/chunk/varint.h"

struct ZSTD_DCtx_s;

namespace shardlens::trace::store {

// In the order in which they are stored.
enum class ChunkColumn : std::uint8_t { kStart, kDuration, kName, kFlags, kCorrelation, kValue };
inline constexpr int kChunkColumns = 6;
inline constexpr int kFirstPartColumns = 4;  // up to the flags

class ChunkOpener {
 public:
  // Valid until the next open().
  struct Columns {
    std::array<VarintReader, kChunkColumns> columns{};
    VarintReader& operator[](ChunkColumn column) {
      return columns[static_cast<std::size_t>(column)];
    }
    // Whether what was read of a column was all of it.
    bool ends(ChunkColumn column) const {
      const VarintReader& one = columns[static_cast<std::size_t>(column)];
      return one.ok && one.position == one.end;
    }
  };

  // Errors: kDamaged for everything that does not add up. Of the first
  // part's columns alone the others may be empty.
  enum class Part : std::uint8_t { kFirst, kAll };
  base::Result<Columns> open(const ChunkHeader& header, std::span<const std::byte> data, Part part);

 private:
  using Readers = std::span<VarintReader>;
  base::Result<void> open_parts(std::span<const std::byte> data, std::size_t count, Part part,
                                Readers columns);
  base::Result<void> open_frame(std::span<const std::byte> data, std::size_t count,
                                std::vector<std::byte>& plain, Readers columns);

  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;  // with the first chunk: many readers never see one
  std::vector<std::byte> plain_, second_plain_;
};

tl::unexpected<base::Error> damaged_chunk(const char* why);

}  // namespace shardlens::trace::store
