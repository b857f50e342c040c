// Tiles, and the few lists beside them, as bytes: columns of varints over the cells that hold
// something, zstd where that is shorter, a checksum outside. One codec per thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "trace/base/result.h"
#include "trace/store/lod/lod_tile.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace shardlens::trace {

// Where a row of table `lod` belongs; part of its checksum.
struct LodPlace {
  int rank = 0;
  int level = 0;
  int stream = 0;  // number within the rank
  std::int64_t tile = 0;

  bool operator==(const LodPlace&) const = default;
};
std::int64_t lod_checksum(const LodPlace& place, std::span<const std::byte> data);

class LodCodec {
 public:
  LodCodec();

  // Valid until the next call.
  std::span<const std::byte> encode(const LodTile& tile);
  // The tile at `place`. Error: kDamaged for all that does not add up.
  // Allocates no more than a tile.
  Result<LodTile> decode(const LodPlace& place, bool is_ribbon, std::int64_t checksum,
                         std::span<const std::byte> data);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
    void operator()(ZSTD_DCtx_s* context) const;
  };
  Result<std::span<const std::byte>> unpacked(std::span<const std::byte> data);

  std::unique_ptr<ZSTD_CCtx_s, Free> compressor_;
  std::unique_ptr<ZSTD_DCtx_s, Free> decompressor_;
  std::vector<std::byte> plain_, packed_;
};

}  // namespace shardlens::trace
