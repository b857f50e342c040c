#include "trace/explore/statistics/collectives_in_range.h"

#include <algorithm>
#include <unordered_set>

#include "trace/analysis/figures/labels.h"
#include "trace/explore/find/row_finder.h"
#include "trace/explore/run/exposure_scan.h"
#include "trace/explore/statistics/collective_tables.h"
#include "trace/timeline/values/drawn_event.h"

namespace shardlens::trace::explore {

namespace {

// A call's rows as far as they are in the snapshot.
void add_call(const RunSnapshot& run, std::span<const analysis::CollectivePart> parts,
              timeline::StragglerSums& sums) {
  std::vector<timeline::StragglerRow> rows;
  std::string tag;
  for (const analysis::CollectivePart& part : parts) {
    const RankSnapshot* const rank = run.rank(part.rank);
    const auto index = rank == nullptr ? std::nullopt : index_of(*rank->rows, part);
    if (!index) continue;
    const model::Collective& row = rank->rows->collectives.rows[*index];
    if (rows.empty()) {
      tag = analysis::tag_text(row.tag_kind, row.tag_index, rank->rows->text(row.tag_name));
    }
    rows.push_back({&row,
                    {timeline::EventTableKind::kCollective, part.rank, part.row, 0},
                    run.calls->wait_of(part, run.rank_count())});
  }
  const bool is_whole =
      rows.size() == parts.size() && run.calls->has_all_ranks(parts.front(), run.rank_count());
  if (!is_whole) return sums.add_unmatched(std::ssize(rows));
  sums.add(rows, std::move(tag), run.calls->clock_error_ns(parts.front()));
}

}  // namespace

std::shared_ptr<const timeline::StragglerFigures> stragglers_in(const RunSnapshot& run,
                                                                const timeline::TimeRange& range) {
  if (run.calls == nullptr || run.clocks == nullptr) return nullptr;
  timeline::StragglerSums sums;
  std::unordered_set<const analysis::CollectivePart*> seen;  // the first of each call
  for (const RankSnapshot& rank : run.ranks) {
    if (!has_rank(range, rank.rank)) continue;
    const base::Interval own = range.of_rank(rank.rank);
    const auto& rows = rank.rows->collectives.rows;
    for (auto i = static_cast<std::uint32_t>(
             std::ranges::lower_bound(rows, own.start_ns, {}, &model::Collective::start_ns) -
             rows.begin());
         i < rows.size() && rows[i].start_ns < own.end_ns; ++i) {
      const auto parts = run.calls->same_call(part_of(*rank.rows, i));
      if (parts.empty()) {
        sums.add_unmatched();
      } else if (seen.insert(parts.data()).second) {
        add_call(run, parts, sums);
      }
    }
  }
  return std::make_shared<const timeline::StragglerFigures>(sums.take());
}

std::vector<base::TimeClass> collective_classes(const RunSnapshot& run, const RankSnapshot& rank,
                                                const timeline::TimeRange& range) {
  const auto& rows = rank.rows->collectives.rows;
  const auto first_from = [&](std::int64_t time_ns) {
    return static_cast<std::size_t>(
        std::ranges::partition_point(
            rows,
            [&](const model::Collective& row) {
              return timeline::drawn_time(row.start_ns, row.end_ns).start_ns < time_ns;
            }) -
        rows.begin());
  };
  const base::Interval own = range.of_rank(rank.rank);
  std::vector<base::TimeClass> classes(first_from(own.start_ns), base::TimeClass::kExposed);
  const std::size_t end = first_from(own.end_ns);
  while (classes.size() < end) classify_some(*run.store, rank, end, classes);
  classes.resize(rows.size(), base::TimeClass::kExposed);
  return classes;
}

}  // namespace shardlens::trace::explore
