#include "trace/explore/kept_exploration.h"

#include <zstd.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "trace/store/run/kept_values.h"
#include "trace/timeline/values/straggler_figures.h"

namespace shardlens::trace::explore {

namespace {

// Takes the structs apart, here and below, so that a new member does not compile until it is kept.
template <typename Cache, typename Figures>
void each_value_of_name(Cache& cache, Figures& figures) {
  auto& [name, piece_class, kernel_class, count, total_ns, share, mean_ns, median_ns, p99_ns,
         least_ns, most_ns, bytes, matched, wait_ns, transfer_ns, algbw, busbw, algorithm, protocol,
         longest, longest_start_ns, histogram] = figures;
  each_value(cache, name, piece_class, kernel_class, count, total_ns, share, mean_ns, median_ns,
             p99_ns, least_ns, most_ns, bytes, matched, wait_ns, transfer_ns, algbw, busbw,
             algorithm, protocol, longest, longest_start_ns, histogram);
}

template <typename Cache, typename Stragglers>
void each_value_of_stragglers(Cache& cache, Stragglers& figures) {
  auto& [calls, ranks, matched, unmatched, clock_error_ns] = figures;
  cache.list(calls, [&](auto& call) {
    auto& [function, tag, process_group, sequence, step, bytes, first_start_ns, latest_start_ns,
           end_ns, last_rank, wait_ns, parts] = call;
    each_value(cache, function, tag, process_group, sequence, step, bytes, first_start_ns,
               latest_start_ns, end_ns, last_rank, wait_ns, parts);
  });
  each_value(cache, ranks, matched, unmatched, clock_error_ns);
}

// All but the stragglers, which are kept once for all figures that share them.
template <typename Cache, typename Figures>
void each_value_of_figures(Cache& cache, Figures& figures) {
  auto& [range, tables, is_whole_run, is_so_far, fraction, seconds, incomplete, stragglers] =
      figures;
  each_value(cache, range.start_ns, range.end_ns, range.ranks, is_whole_run, is_so_far, fraction,
             seconds, incomplete);
  cache.list(tables, [&](auto& table) {
    auto& [kind, group_by, rows, count, total_ns] = table;
    each_value(cache, kind, group_by, count, total_ns);
    cache.list(rows, [&](auto& row) { each_value_of_name(cache, row); });
  });
}

template <typename Cache, typename Kept>
void each_value_of_exploration(Cache& cache, Kept& kept) {
  auto& [chunks, names, lanes, exposure, chunk_names, overviews, figures] = kept;
  each_value(cache, chunks, names, lanes);
  cache.list(chunk_names,
             [&](auto& chunk) { each_value(cache, chunk.file, chunk.row_id, chunk.counts); });
  each_value_of_figures(cache, figures);
}

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

std::optional<KeptExploration> read_kept_exploration(const std::filesystem::path& run,
                                                     const store::RunStamp& stamp) {
  const auto bytes = store::read_kept(run, kFiguresFile, stamp);
  if (!bytes) return std::nullopt;
  KeptExploration kept;
  timeline::StragglerFigures stragglers;
  std::vector<std::pair<int, std::vector<base::TimeClass>>> exposure;
  std::vector<std::pair<int, std::string>> overviews;
  store::KeptReader reader(*bytes);
  each_value_of_exploration(reader, kept);
  each_value_of_stragglers(reader, stragglers);
  const auto each_of_rank = [&](auto& rank) {
    reader.value(rank.first);
    reader.plain(rank.second);
  };
  reader.list(exposure, each_of_rank);
  reader.list(overviews, each_of_rank);
  if (!reader.has_all()) return std::nullopt;
  kept.exposure = {exposure.begin(), exposure.end()};
  kept.overviews = {overviews.begin(), overviews.end()};
  kept.figures.stragglers =
      std::make_shared<const timeline::StragglerFigures>(std::move(stragglers));
  return kept;
}

void keep_exploration(const std::filesystem::path& run, const store::RunStamp& stamp,
                      const KeptExploration& kept) {
  if (!kept.figures.stragglers) return;
  store::KeptWriter writer;
  each_value_of_exploration(writer, kept);
  each_value_of_stragglers(writer, *kept.figures.stragglers);
  const auto each_of_rank = [&](const auto& rank) {
    writer.value(rank.first);
    writer.plain(rank.second);
  };
  writer.list(kept.exposure, each_of_rank);
  writer.list(kept.overviews, each_of_rank);
  store::keep(run, kFiguresFile, stamp, writer.bytes());
}

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
