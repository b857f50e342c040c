#include "trace/explore/statistics/collectives_in_range.h"

#include <algorithm>

#include "trace/analysis/collectives/process_groups.h"
#include "trace/base/saturated.h"
#include "trace/explore/find/row_finder.h"
#include "trace/explore/run/window_activity.h"
#include "trace/timeline/pieces/collective_parts.h"

namespace shardlens::trace::explore {

namespace {

// Collectives with what names them, each once.
class CallCollector {
 public:
  explicit CallCollector(const RunSnapshot& run) : run_(run) {
    for (const RankSnapshot& rank : run.ranks) {
      taken_.emplace_back(rank.rows->collectives.size());
    }
  }

  // Row `index` of a rank, with what belongs to its call on all others.
  void add(const RankSnapshot& rank, std::uint32_t index) {
    // Added already, with the row of another rank that belongs to the same call.
    if (taken_[position_of(rank)][index]) return;
    const analysis::CollectivePart like = part_of(*rank.rows, index);
    const auto parts = run_.calls->same_call(like);
    for (const analysis::CollectivePart& part : parts) add_row(part);
    if (parts.empty()) add_row(like);
  }

  timeline::StragglerFigures figures() const {
    analysis::ProcessGroups groups;
    model::StringTable names;
    for (const RankSnapshot& rank : run_.ranks) {
      for (const model::ProcessGroup& group : rank.rows->groups) groups.add(group, names);
    }
    const auto announced = groups.figures();
    return timeline::straggler_figures(collectives_, refs_, announced, strings_,
                                       {.clocks = run_.clocks.get()});
  }

 private:
  void add_row(const analysis::CollectivePart& part) {
    const auto rank = std::ranges::lower_bound(run_.ranks, part.rank, {}, &RankSnapshot::rank);
    if (rank == run_.ranks.end() || rank->rank != part.rank) return;
    const auto index = index_of(*rank->rows, part);
    auto& taken = taken_[position_of(*rank)];
    if (!index || taken[*index]) return;
    taken[*index] = true;
    const model::Collective& row = rank->rows->collectives.rows[*index];
    collectives_.push_back(row);
    refs_.push_back({timeline::EventTableKind::kCollective, part.rank, part.row, 0});
    if (row.tag_name != 0 && strings_.get(part.rank, row.tag_name).empty()) {
      strings_.add({part.rank, row.tag_name, std::string(rank->rows->text(row.tag_name))});
    }
  }

  std::size_t position_of(const RankSnapshot& rank) const {
    return static_cast<std::size_t>(&rank - run_.ranks.data());
  }

  const RunSnapshot& run_;
  std::vector<std::vector<bool>> taken_;  // by rank, as they stand in the snapshot
  std::vector<model::Collective> collectives_;
  std::vector<timeline::EventRef> refs_;
  model::StringTable strings_;
};

// Send and receive wait for one another alone; of a group that was announced all ranks must be
// there.
CallStart call_start(const RunSnapshot& run, const RankRows& own, std::uint32_t index) {
  const model::Collective& row = own.collectives.rows[index];
  if (run.calls == nullptr || row.function == model::CollectiveFunction::kSend ||
      row.function == model::CollectiveFunction::kReceive) {
    return {};
  }
  const auto parts = run.calls->same_call(part_of(own, index));
  const auto group = std::ranges::find(own.groups, row.process_group, &model::ProcessGroup::id);
  if (parts.size() < 2 || (group != own.groups.end() && parts.size() < group->ranks.size())) {
    return {};
  }
  // Whoever had ended by then neither waited nor transferred with the others.
  const auto last = std::ranges::max(parts, {}, &analysis::CollectivePart::start_ns);
  if (row.start_ns < last.start_ns && row.end_ns <= last.start_ns) return {};
  const std::int64_t latest = run.calls->latest_start_ns(part_of(own, index));
  if (latest == 0) return {};
  return {latest, static_cast<int>(parts.size())};
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
    rows.call_start = [&run, own](std::size_t index) {
      return call_start(run, *own, static_cast<std::uint32_t>(index));
    };
  }
  return result;
}

std::shared_ptr<const timeline::StragglerFigures> stragglers_in(const RunSnapshot& run,
                                                                const timeline::TimeRange& range) {
  if (run.calls == nullptr) return nullptr;
  CallCollector calls(run);
  for (const RankSnapshot& rank : run.ranks) {
    if (!range.ranks.empty() && std::ranges::find(range.ranks, rank.rank) == range.ranks.end()) {
      continue;
    }
    const auto& rows = rank.rows->collectives.rows;
    for (auto i = static_cast<std::uint32_t>(
             std::ranges::lower_bound(rows, range.start_ns, {}, &model::Collective::start_ns) -
             rows.begin());
         i < rows.size() && rows[i].start_ns < range.end_ns; ++i) {
      calls.add(rank, i);
    }
  }
  return std::make_shared<const timeline::StragglerFigures>(calls.figures());
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
  const std::size_t end = first_from(range.end_ns);
  for (std::size_t at = first_from(range.start_ns); at < end;) {
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
