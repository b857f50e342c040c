#include "trace/job/shape/loss_chunks.h"

#include <algorithm>
#include <bit>

namespace shardlens::trace::job {

namespace {

constexpr std::int64_t kSmallLogitsBytes = std::int64_t{32} << 20;
constexpr std::int64_t kSmallestAutoChunk = 1024;

}  // namespace

std::int64_t loss_chunk_tokens(const Settings& settings, const ModelShape& shape,
                               std::int64_t tokens) {
  std::int64_t chunk = settings.loss_chunk_tokens;
  if (chunk == kAuto) {
    if (4 * tokens * shape.vocabulary < kSmallLogitsBytes) return 0;
    const auto wide = static_cast<std::uint64_t>(std::max(kSmallestAutoChunk, 2 * shape.width));
    chunk = static_cast<std::int64_t>(std::bit_ceil(wide));
  }
  return std::min(chunk, tokens);
}

}  // namespace shardlens::trace::job
