#include "trace/explore/statistics/collectives_in_range.h"

#include <algorithm>
#include <unordered_set>

#include "trace/analysis/figures/labels.h"
#include "trace/base/saturated.h"
#include "trace/explore/find/row_finder.h"
#include "trace/explore/run/window_activity.h"
#include "trace/explore/statistics/collective_tables.h"
#include "trace/timeline/pieces/collective_parts.h"

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
  sums.add(rows, std::move(tag));
}

CallStart call_start(const RunSnapshot& run, const RankRows& own, std::uint32_t index) {
  if (run.calls == nullptr) return {};
  const analysis::CollectivePart self = part_of(own, index);
  const auto parts = run.calls->same_call(self);
  const analysis::CallWait wait = run.calls->wait_of(self, run.rank_count());
  if (parts.size() < 2 || !wait.wait_ns || !wait.transfer_ns) return {};
  return {self.start_ns + *wait.wait_ns, static_cast<int>(parts.size())};
}

}  // namespace

RunCollectives collective_rows(const RunSnapshot& run, const timeline::TimeRange& range) {
  RunCollectives result;
  result.classes.reserve(run.ranks.size());  // `rows` refer to them
  for (const RankSnapshot& rank : run.ranks) {
    CollectiveRows& rows = result.rows.emplace_back();
    // Not known yet from the scan in the background, so they are worked out here.
    if (!rank.exposure) result.classes.push_back(collective_classes(run, rank, range));
    rows.classes = rank.exposure ? *rank.exposure : result.classes.back();
    const RankRows* const own = rank.rows.get();
    rows.rank = rank.rank;
    rows.rows = own->collectives.rows;
    rows.row_ids = own->collectives.ids;
    rows.text = [own](model::StringId id) { return own->text(id); };
    rows.unit_name = [own](int index) {
      const model::Unit* const unit = own->unit(index);
      return unit == nullptr ? std::string_view() : own->text(unit->name);
    };
    rows.is_timed = [own](std::size_t index) {
      return part_of(*own, static_cast<std::uint32_t>(index)).is_timed();
    };
    rows.call_start = [&run, own](std::size_t index) {
      return call_start(run, *own, static_cast<std::uint32_t>(index));
    };
  }
  return result;
}

std::shared_ptr<const timeline::StragglerFigures> stragglers_in(const RunSnapshot& run,
                                                                const timeline::TimeRange& range) {
  if (run.calls == nullptr || run.clocks == nullptr) return nullptr;
  timeline::StragglerSums sums(*run.clocks);
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
                                                const timeline::TimeRange& range,
                                                std::int64_t stretch_ns) {
  const auto& rows = rank.rows->collectives.rows;
  std::vector<base::TimeClass> classes(rows.size(), base::TimeClass::kExposed);
  const auto time_of = [&](std::size_t i) {
    return timeline::drawn_time(rows[i].start_ns, rows[i].end_ns);
  };
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
  const std::size_t end = first_from(own.end_ns);
  for (std::size_t at = first_from(own.start_ns); at < end;) {
    const std::size_t first = at;
    base::Interval window = time_of(first);
    const std::int64_t last_start_ns = base::saturated_add(window.start_ns, stretch_ns);
    for (++at; at < end && time_of(at).start_ns < last_start_ns; ++at) {
      window.end_ns = std::max(window.end_ns, time_of(at).end_ns);
    }
    const base::Intervals compute = window_activity(*run.store, rank, window).compute;
    for (std::size_t i = first; i < at; ++i)
      classes[i] = timeline::communication_class(time_of(i), compute);
  }
  return classes;
}

}  // namespace shardlens::trace::explore
