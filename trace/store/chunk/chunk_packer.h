// Compresses the columns of chunks, one after the other in the same memory. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "trace/model/events.h"

struct ZSTD_CCtx_s;

namespace shardlens::trace::store {

class ChunkPacker {
 public:
  ChunkPacker();

  // The data of a chunk; the first start is stored as its distance from `first_ns`. Valid until
  // the next call.
  std::span<const std::byte> pack(std::span<const model::Event> events, std::int64_t first_ns);

 private:
  using Columns = std::pair<int, int>;  // the first, and the one behind the last
  std::size_t pack_frame(std::span<const model::Event> events, std::int64_t first_ns,
                         Columns columns, std::size_t at);

  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  // A new one for each chunk would ask the processor what it can do, which a hypervisor answers:
  // an eighth of all time.
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
  std::vector<std::byte> plain_, packed_;
};

}  // namespace shardlens::trace::store
