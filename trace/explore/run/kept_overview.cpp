#include "trace/explore/run/kept_overview.h"

#include <zstd.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "trace/store/run/kept_values.h"

namespace shardlens::trace::explore {

namespace {

constexpr int kZstdLevel = 1;
constexpr unsigned long long kMostBytes = 1ULL << 30;

// Times of cells, and of those beyond the last, must fit into a number.
template <typename Cell>
bool is_sensible(const CellRow<Cell>& row, int cell_bits) {
  const std::int64_t most = (std::int64_t{1} << 62) >> cell_bits;
  return row.first >= -most && row.first <= most &&
         row.cells.size() <= static_cast<std::size_t>(most - row.first);
}

using KeptLanes = std::vector<std::pair<OverviewLane, CellRow<OverviewCell>>>;

template <typename Cache, typename Lanes, typename Classes>
void each_value_of_overview(Cache& cache, int& cell_bits, Lanes& lanes, Classes& classes) {
  cache.value(cell_bits);
  cache.list(lanes, [&](auto& lane) {
    cache.value(lane.first);
    cache.value(lane.second.first);
    cache.plain(lane.second.cells);
  });
  cache.value(classes.first);
  cache.plain(classes.cells);
}

}  // namespace

std::string packed_overview(const OverviewRows& rows) {
  store::KeptWriter writer;
  int cell_bits = rows.cell_bits;
  each_value_of_overview(writer, cell_bits, rows.lanes, rows.classes);
  const std::string& bytes = writer.bytes();
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), kZstdLevel);
  packed.resize(ZSTD_isError(size) ? 0 : size);
  packed.shrink_to_fit();  // all ranks' are in memory until they are written
  return packed;
}

std::optional<OverviewRows> unpacked_overview(std::string_view bytes) {
  const auto size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size > kMostBytes) return std::nullopt;  // an error, too
  std::string plain(static_cast<std::size_t>(size), '\0');
  if (ZSTD_decompress(plain.data(), plain.size(), bytes.data(), bytes.size()) != size) {
    return std::nullopt;
  }
  store::KeptReader reader(plain);
  OverviewRows rows;
  KeptLanes lanes;
  each_value_of_overview(reader, rows.cell_bits, lanes, rows.classes);
  if (!reader.has_all()) return std::nullopt;
  if (rows.cell_bits < kFinestCellBits || rows.cell_bits > kLongestCellBits) return std::nullopt;
  if (!is_sensible(rows.classes, rows.cell_bits)) return std::nullopt;
  for (const auto& [lane, row] : lanes) {
    if (!is_sensible(row, rows.cell_bits)) return std::nullopt;
  }
  for (auto& [lane, row] : lanes) rows.lanes.emplace(lane, std::move(row));
  return rows;
}

}  // namespace shardlens::trace::explore
