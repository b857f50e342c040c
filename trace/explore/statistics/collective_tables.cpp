#include "trace/explore/statistics/collective_tables.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_set>

#include "trace/analysis/figures/labels.h"
#include "trace/base/saturated.h"
#include "trace/base/words/quantity.h"
#include "trace/explore/find/row_finder.h"
#include "trace/explore/run/exposure_scan.h"
#include "trace/explore/tally/duration_bins.h"
#include "trace/explore/tally/name_tally.h"
#include "trace/model/traffic.h"
#include "trace/timeline/values/drawn_event.h"

namespace shardlens::trace::explore {

namespace {

// One collective of the range.
struct RangeCall {
  const model::Collective* row = nullptr;
  const RankRows* of = nullptr;
  std::size_t index = 0;  // among its rank's
  std::int64_t duration_ns = 0;
  base::TimeClass piece_class = base::TimeClass::kExposed;
  bool is_timed = true;
  analysis::CallWait wait;
  int ranks = 0;  // that are known to have taken part
};

std::int64_t call_duration(const model::Collective& row) {
  return std::max<std::int64_t>(0, base::saturated_difference(row.end_ns, row.start_ns));
}

RangeCall call_at(const RunSnapshot& run, const RankRows& rows, std::uint32_t index) {
  const model::Collective& row = rows.collectives.rows[index];
  const analysis::CollectivePart part = part_of(rows, index);
  RangeCall call;
  call.row = &row;
  call.of = &rows;
  call.index = index;
  call.duration_ns = call_duration(row);
  call.is_timed = part.is_timed();
  if (run.calls == nullptr) return call;
  call.wait = run.calls->wait_of(part, run.rank_count());
  call.ranks = static_cast<int>(run.calls->same_call(part).size());
  return call;
}

std::vector<RangeCall> calls_in(const RunSnapshot& run, const timeline::TimeRange& range) {
  std::vector<RangeCall> calls;
  for (const RankSnapshot& rank : run.ranks) {
    if (!range.has_rank(rank.rank)) continue;
    const base::Interval own = range.of_rank(rank.rank);
    // Not known yet from the scan in the background, so they are worked out here.
    std::vector<base::TimeClass> found;
    if (!rank.exposure) found = collective_classes(run, rank, range);
    const std::vector<base::TimeClass>& classes = rank.exposure ? *rank.exposure : found;
    const auto& rows = rank.rows->collectives.rows;
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
      if (rows[i].start_ns < own.start_ns || rows[i].start_ns >= own.end_ns) continue;
      calls.push_back(call_at(run, *rank.rows, i));
      calls.back().piece_class = classes[i];
    }
  }
  return calls;
}

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

// Calls of one number have the same label in every table.
std::vector<std::size_t> kinds_of(std::span<const RangeCall> calls) {
  using Kind = std::tuple<const RankRows*, model::CollectiveFunction, model::TagKind, int,
                          model::StringId, std::int64_t, model::StringId>;
  std::map<Kind, std::size_t> numbers;
  std::vector<std::size_t> kinds;
  kinds.reserve(calls.size());
  for (const RangeCall& call : calls) {
    const model::Collective& row = *call.row;
    const Kind kind(call.of, row.function, row.tag_kind, row.tag_index, row.tag_name, row.bytes,
                    row.data_type);
    kinds.push_back(numbers.try_emplace(kind, numbers.size()).first->second);
  }
  return kinds;
}

// A unit's gathers and its reduction together.
std::string unit_label(const RangeCall& call, const std::string& tag) {
  const model::Collective& row = *call.row;
  if (row.tag_kind != model::TagKind::kUnit) return tag.empty() ? "no tag" : tag;
  const model::Unit* const unit = call.of->unit(row.tag_index);
  const auto name = unit == nullptr ? std::string_view() : call.of->text(unit->name);
  return analysis::tag_text(model::TagKind::kUnit, row.tag_index, name);
}

std::string label_of(const RangeCall& call, timeline::GroupBy group_by) {
  const model::Collective& row = *call.row;
  const std::string function(model::to_string(row.function));
  const auto tag = [&] {
    return analysis::tag_text(row.tag_kind, row.tag_index, call.of->text(row.tag_name));
  };
  switch (group_by) {
    case timeline::GroupBy::kName: {
      const std::string text = tag();
      return text.empty() ? function : function + " · " + text;
    }
    case timeline::GroupBy::kClass:
      return function;
    case timeline::GroupBy::kShape: {
      const std::string_view type = call.of->text(row.data_type);
      const std::string size =
          model::has_bytes(row) ? base::bytes_text(row.bytes) : "size not known";
      return function + " · " + size + (type.empty() ? "" : " " + std::string(type));
    }
    case timeline::GroupBy::kUnit:
      return unit_label(call, tag());
  }
  return function;
}

void find_longest(std::span<const RangeCall* const> calls, timeline::NameFigures& figures) {
  const RangeCall* longest = *std::ranges::min_element(calls, {}, [](const RangeCall* call) {
    return std::tuple(-call->duration_ns, call->row->start_ns, call->of->rank, call->index);
  });
  figures.longest_start_ns = longest->row->start_ns;
  figures.longest = {timeline::EventTableKind::kCollective, longest->of->rank,
                     longest->of->collectives.ids[longest->index], 0};
}

void add_durations(std::vector<std::int64_t>& durations, timeline::NameFigures& figures) {
  if (durations.empty()) {
    figures.mean_ns = static_cast<double>(timeline::kUnknownNs);
    figures.median_ns = figures.p99_ns = figures.least_ns = figures.most_ns = timeline::kUnknownNs;
    return;
  }
  const auto count = std::ssize(durations);
  const auto at_rank = [&](std::int64_t hundredths) {
    const auto nth = durations.begin() + (nearest_rank(count, hundredths) - 1);
    std::ranges::nth_element(durations, nth);
    return *nth;
  };
  figures.mean_ns = static_cast<double>(figures.total_ns) / static_cast<double>(count);
  figures.median_ns = at_rank(50);
  figures.p99_ns = at_rank(99);
  const auto [least, most] = std::ranges::minmax(durations);
  figures.least_ns = least;
  figures.most_ns = most;
  const DurationBins bins(figures.least_ns, figures.most_ns);
  figures.histogram.first_ns = bins.first_ns();
  figures.histogram.last_ns = bins.last_ns();
  for (const std::int64_t duration : durations) {
    ++figures.histogram.counts[static_cast<std::size_t>(bins.bin_of(duration))];
  }
}

timeline::NameFigures figures_of(const std::string& name, std::span<const RangeCall* const> calls) {
  timeline::NameFigures figures;
  figures.name = name;
  figures.count = static_cast<std::int64_t>(calls.size());
  std::vector<std::int64_t> durations;
  std::int64_t overlapped_ns = 0;
  analysis::DistinctTexts algorithms, protocols;
  analysis::TransferSums transfers;
  for (const RangeCall* call : calls) {
    figures.bytes = model::known_sum(figures.bytes, call->row->bytes);
    algorithms.add(call->of->text(call->row->algorithm));
    protocols.add(call->of->text(call->row->protocol));
    if (!call->is_timed) continue;
    durations.push_back(call->duration_ns);
    figures.total_ns = base::saturated_add(figures.total_ns, call->duration_ns);
    transfers.add(call->wait, call->row->bytes,
                  model::bus_factor(call->row->function, call->ranks));
    if (call->piece_class == base::TimeClass::kOverlapped) {
      overlapped_ns = base::saturated_add(overlapped_ns, call->duration_ns);
    }
  }
  figures.matched = transfers.matched();
  figures.wait_ns = transfers.wait_ns();
  figures.transfer_ns = transfers.transfer_ns();
  figures.algbw_bytes_per_s = transfers.algbw_bytes_per_s();
  figures.busbw_bytes_per_s = transfers.busbw_bytes_per_s();
  figures.algorithm = algorithms.joined();
  figures.protocol = protocols.joined();
  figures.piece_class = overlapped_ns > figures.total_ns / 2 ? base::TimeClass::kOverlapped
                                                             : base::TimeClass::kExposed;
  add_durations(durations, figures);
  find_longest(calls, figures);
  return figures;
}

}  // namespace

void complete_table(timeline::RangeTable& table) {
  for (const timeline::NameFigures& row : table.rows) {
    table.count += row.count;
    table.total_ns = base::saturated_add(table.total_ns, row.total_ns);
  }
  for (timeline::NameFigures& row : table.rows) {
    if (table.total_ns == 0) break;
    row.share = static_cast<double>(row.total_ns) / static_cast<double>(table.total_ns);
  }
  std::ranges::sort(table.rows, {}, [](const timeline::NameFigures& row) {
    return std::tuple(-row.total_ns, -row.count, std::string_view(row.name));
  });
}

std::vector<timeline::RangeTable> collective_tables(const RunSnapshot& run,
                                                    const timeline::TimeRange& range) {
  const auto calls = calls_in(run, range);
  const auto kinds = kinds_of(calls);
  std::vector<timeline::RangeTable> tables;
  for (const auto group_by : {timeline::GroupBy::kName, timeline::GroupBy::kClass,
                              timeline::GroupBy::kShape, timeline::GroupBy::kUnit}) {
    std::map<std::string, std::vector<const RangeCall*>> groups;
    std::vector<std::vector<const RangeCall*>*> group_of(calls.size());  // by kind
    for (std::size_t i = 0; i < calls.size(); ++i) {
      auto*& group = group_of[kinds[i]];
      if (group == nullptr) group = &groups[label_of(calls[i], group_by)];
      group->push_back(&calls[i]);
    }
    timeline::RangeTable table{timeline::StatisticsTable::kCollectives, group_by, {}, 0, 0};
    for (const auto& [name, members] : groups) table.rows.push_back(figures_of(name, members));
    complete_table(table);
    tables.push_back(std::move(table));
  }
  return tables;
}

std::shared_ptr<const timeline::StragglerFigures> stragglers_in(const RunSnapshot& run,
                                                                const timeline::TimeRange& range) {
  if (run.calls == nullptr || run.clocks == nullptr) return nullptr;
  timeline::StragglerSums sums;
  std::unordered_set<const analysis::CollectivePart*> seen;  // the first of each call
  for (const RankSnapshot& rank : run.ranks) {
    if (!range.has_rank(rank.rank)) continue;
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
