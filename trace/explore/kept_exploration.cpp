#include "trace/explore/kept_exploration.h"

#include <utility>

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
  for (auto* text : {&name, &kernel_class, &algorithm, &protocol}) cache.plain(*text);
  for (auto* number : {&count, &total_ns, &median_ns, &p99_ns, &least_ns, &most_ns, &bytes,
                       &matched, &wait_ns, &transfer_ns, &longest_start_ns}) {
    cache.value(*number);
  }
  for (auto* number : {&share, &mean_ns, &algbw, &busbw}) cache.value(*number);
  cache.value(piece_class);
  cache.value(longest);
  cache.value(histogram);
}

template <typename Cache, typename Stragglers>
void each_value_of_stragglers(Cache& cache, Stragglers& figures) {
  auto& [calls, ranks, matched, unmatched, clock_error_ns] = figures;
  cache.list(calls, [&](auto& call) {
    auto& [function, tag, process_group, sequence, step, bytes, first_start_ns, latest_start_ns,
           end_ns, last_rank, wait_ns, parts] = call;
    cache.plain(tag);
    for (auto* number :
         {&sequence, &step, &bytes, &first_start_ns, &latest_start_ns, &end_ns, &wait_ns}) {
      cache.value(*number);
    }
    cache.value(function);
    cache.value(process_group);
    cache.value(last_rank);
    cache.plain(parts);
  });
  cache.plain(ranks);
  for (auto* number : {&matched, &unmatched, &clock_error_ns}) cache.value(*number);
}

// All but the stragglers, which are kept once for all figures that share them.
template <typename Cache, typename Figures>
void each_value_of_figures(Cache& cache, Figures& figures) {
  auto& [range, tables, is_whole_run, is_so_far, fraction, seconds, incomplete, stragglers] =
      figures;
  cache.value(range.start_ns);
  cache.value(range.end_ns);
  cache.plain(range.ranks);
  cache.list(tables, [&](auto& table) {
    auto& [kind, group_by, rows, count, total_ns] = table;
    cache.value(kind);
    cache.value(group_by);
    cache.list(rows, [&](auto& row) { each_value_of_name(cache, row); });
    cache.value(count);
    cache.value(total_ns);
  });
  cache.value(is_whole_run);
  cache.value(is_so_far);
  cache.value(fraction);
  cache.value(seconds);
  cache.plain(incomplete);
}

template <typename Cache, typename Kept>
void each_value(Cache& cache, Kept& kept) {
  auto& [chunks, names, lanes, exposure, chunk_names, overviews, figures] = kept;
  cache.value(chunks);
  cache.value(names);
  cache.plain(lanes);
  cache.list(chunk_names, [&](auto& chunk) {
    cache.value(chunk.file);
    cache.value(chunk.row_id);
    cache.plain(chunk.counts);
  });
  each_value_of_figures(cache, figures);
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
  each_value(reader, kept);
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
  each_value(writer, kept);
  each_value_of_stragglers(writer, *kept.figures.stragglers);
  const auto each_of_rank = [&](const auto& rank) {
    writer.value(rank.first);
    writer.plain(rank.second);
  };
  writer.list(kept.exposure, each_of_rank);
  writer.list(kept.overviews, each_of_rank);
  store::keep(run, kFiguresFile, stamp, writer.bytes());
}

}  // namespace shardlens::trace::explore
