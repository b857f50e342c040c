#include "ui/inspect/tabs/straggler_table.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

#include "ui/inspect/tabs/statistics_text.h"
#include "ui/present/format.h"

namespace shardlens::ui::inspect {

namespace {

using trace::timeline::StragglerCall;
using trace::timeline::StragglerFigures;
using trace::timeline::StragglerPart;
using trace::timeline::StragglerRank;

constexpr std::size_t kColumnsBeforeRanks = 6;
constexpr float kBeforeRanks = 674, kRankColumn = 72;  // widths at scale 1

template <typename Value, typename Show>
void add_call_column(present::Table& table, const StragglerFigures& figures,
                     present::TableColumn column, Value value, Show show) {
  column.number = [calls = figures.calls.data(), value](std::size_t row) {
    return static_cast<double>(value(calls[row]));
  };
  column.cell = [calls = figures.calls.data(), value, show](std::size_t row) {
    return present::TableCell::figure(show(value(calls[row])));
  };
  table.columns.push_back(std::move(column));
}

present::Quantity duration_or_none(std::int64_t ns) {
  if (ns == 0) return {"0", ""};
  return present::format_duration(static_cast<double>(ns));
}

void add_name_column(present::Table& table, const StragglerFigures& figures) {
  present::TableColumn name{
      .title = "Collective",
      .csv_title = "collective",
      .definition = "What was asked for and what it was for. A click shows it",
      .width = 210};
  name.kind = present::TableColumn::Kind::kText;
  name.wish = 300;
  name.cell = [calls = figures.calls.data()](std::size_t row) {
    return present::TableCell::words(call_name(calls[row]));
  };
  table.columns.push_back(std::move(name));
}

// Where in the run it was called.
void add_place_columns(present::Table& table, const StragglerFigures& figures) {
  add_call_column(
      table, figures,
      {.title = "Step",
       .csv_title = "step",
       .definition = "In which the ranks called it",
       .width = 74},
      [](const StragglerCall& call) { return call.step; },
      [](std::int64_t step) {
        return present::Quantity{
            step < 0 ? std::string(present::kUnknown) : present::format_integer(step), ""};
      });
  add_call_column(
      table, figures,
      {.title = "No.",
       .csv_title = "sequence",
       .definition = "Sequence number within the process group: the same on all ranks",
       .width = 84},
      [](const StragglerCall& call) { return call.sequence; },
      [](std::int64_t number) {
        return present::Quantity{present::format_integer(number), ""};
      });
}

void add_time_columns(present::Table& table, const StragglerFigures& figures) {
  add_call_column(
      table, figures,
      {.title = "Longest wait",
       .csv_title = "longest_wait_ns",
       .definition = "Of the rank that came first: latest start over the ranks − own start",
       .width = 116},
      [](const StragglerCall& call) { return call.longest_wait_ns(); }, duration_or_none);
  add_call_column(
      table, figures,
      {.title = "Transfer",
       .csv_title = "transfer_ns",
       .definition = "From the latest start over the ranks to the end: what the link took",
       .width = 100},
      [](const StragglerCall& call) { return call.transfer_ns(); }, duration_or_none);
}

void add_last_rank_column(present::Table& table, const StragglerFigures& figures) {
  present::TableColumn last{
      .title = "Last",
      .csv_title = "last_rank",
      .definition = "The rank that started last, if by more than the error of the ranks' clocks",
      .width = 90};
  last.number = [calls = figures.calls.data()](std::size_t row) {
    return calls[row].last_rank < 0 ? present::kNotKnown
                                    : static_cast<double>(calls[row].last_rank);
  };
  last.cell = [calls = figures.calls.data()](std::size_t row) {
    if (calls[row].last_rank < 0)
      return present::TableCell::figure({std::string(present::kUnknown), ""}, state::Tone::kMuted);
    return present::TableCell::figure({"rank " + std::to_string(calls[row].last_rank), ""});
  };
  table.columns.push_back(std::move(last));
}

present::TableCell heat_cell(const StragglerCall& call, int rank, double longest) {
  present::TableCell cell;
  const StragglerPart* part = call.part_of(rank);
  if (part == nullptr) return cell;
  cell.mark = trace::base::TimeClass::kExposed;
  cell.bar = longest > 0 ? static_cast<double>(part->wait_ns) / longest : 0;
  cell.is_marked = call.last_rank == rank;
  if (cell.is_marked) {
    cell.text = "last";
  } else if (part->wait_ns > 0) {
    const present::Quantity wait = present::format_duration(static_cast<double>(part->wait_ns));
    cell.text = wait.value;
    cell.unit = wait.unit;
  }
  return cell;
}

// What stands for the ranks that have no column of their own: the longest of their waits.
const StragglerPart* longest_of(const StragglerCall& call, const std::vector<int>& ranks) {
  const StragglerPart* longest = nullptr;
  for (const int rank : ranks) {
    const StragglerPart* part = call.part_of(rank);
    if (part != nullptr && (longest == nullptr || part->wait_ns > longest->wait_ns)) longest = part;
  }
  return longest;
}

void add_rank_column(present::Table& table, const StragglerFigures& figures, int rank,
                     double longest) {
  const std::string number = std::to_string(rank);
  present::TableColumn column{
      .title = "rank " + number,
      .csv_title = "rank_" + number + "_wait_ns",
      .definition =
          "How long rank " + number +
          " waited in the collective for the last rank; \"last\" where it was that itself",
      .width = kRankColumn};
  column.kind = present::TableColumn::Kind::kHeat;
  column.wish = 120;
  column.number = [calls = figures.calls.data(), rank](std::size_t row) {
    const StragglerPart* part = calls[row].part_of(rank);
    return part == nullptr ? present::kNotKnown : static_cast<double>(part->wait_ns);
  };
  column.cell = [calls = figures.calls.data(), rank, longest](std::size_t row) {
    return heat_cell(calls[row], rank, longest);
  };
  table.columns.push_back(std::move(column));
}

void add_rest_column(present::Table& table, const StragglerFigures& figures,
                     const std::vector<int>& rest, double longest) {
  present::TableColumn column{
      .title = "and " + std::to_string(rest.size()) + " more",
      .csv_title = "longest_wait_of_the_rest_ns",
      .definition =
          "The other ranks: the longest that any of them waited. Those that "
          "cost the others most stand before it, the worst first",
      .width = kRankColumn + 30};
  column.kind = present::TableColumn::Kind::kHeat;
  column.wish = 140;
  column.number = [calls = figures.calls.data(), rest](std::size_t row) {
    const StragglerPart* part = longest_of(calls[row], rest);
    return part == nullptr ? present::kNotKnown : static_cast<double>(part->wait_ns);
  };
  column.cell = [calls = figures.calls.data(), rest, longest](std::size_t row) {
    const StragglerPart* part = longest_of(calls[row], rest);
    present::TableCell cell =
        part == nullptr ? present::TableCell{} : heat_cell(calls[row], part->rank, longest);
    if (!cell.text.empty() && !cell.is_marked) cell.text = "≤ " + cell.text;
    return cell;
  };
  table.columns.push_back(std::move(column));
}

void add_rank_columns(present::Table& table, const StragglerFigures& figures,
                      const StragglerColumns& columns) {
  double longest = 0;
  for (const StragglerCall& call : figures.calls) {
    longest = std::max(longest, static_cast<double>(call.longest_wait_ns()));
  }
  for (const int rank : columns.ranks) add_rank_column(table, figures, rank, longest);
  if (!columns.rest.empty()) add_rest_column(table, figures, columns.rest, longest);
}

// One line above the calls: a figure per rank, shaded by its share of the greatest; of the rest the
// greatest.
void add_pinned(present::Table& table, const StragglerFigures& figures,
                const StragglerColumns& columns, std::string title,
                const std::function<double(const StragglerRank&)>& value,
                const std::function<present::Quantity(double)>& show) {
  const auto of = [&](int number) {
    const auto found = std::ranges::lower_bound(figures.ranks, number, {}, &StragglerRank::rank);
    return found == figures.ranks.end() ? 0.0 : value(*found);
  };
  double highest = 0;
  for (const StragglerRank& rank : figures.ranks) highest = std::max(highest, value(rank));
  std::vector<present::TableCell> cells(kColumnsBeforeRanks);
  cells[0] = present::TableCell::words(std::move(title), state::Tone::kSecondary);
  const auto add = [&](double given, bool is_most) {
    present::TableCell cell =
        present::TableCell::figure(given > 0 ? show(given) : present::Quantity{});
    if (is_most && !cell.text.empty()) cell.text = "≤ " + cell.text;
    cell.bar = highest > 0 ? given / highest : 0;
    cell.mark = trace::base::TimeClass::kHost;
    cells.push_back(std::move(cell));
  };
  for (const int rank : columns.ranks) add(of(rank), false);
  double rest = 0;
  for (const int rank : columns.rest) rest = std::max(rest, of(rank));
  if (!columns.rest.empty()) add(rest, true);
  table.pinned.push_back(std::move(cells));
}

}  // namespace

std::string call_name(const StragglerCall& call) {
  const std::string name = collective_title(trace::model::to_string(call.function));
  return call.tag.empty() ? name : name + " · " + call.tag;
}

StragglerColumns straggler_columns(const StragglerFigures& figures, float width) {
  StragglerColumns columns;
  const auto room =
      static_cast<std::size_t>(std::max(2.0f, std::floor((width - kBeforeRanks) / kRankColumn)));
  std::vector<StragglerRank> ranks = figures.ranks;
  const bool all = ranks.size() <= room;
  if (!all) {
    std::ranges::stable_sort(ranks, std::greater<>(), [](const StragglerRank& rank) {
      return std::tuple(rank.caused_ns, rank.times_last, rank.mean_late_ns());
    });
  }
  for (const StragglerRank& rank : ranks) {
    // The last column, which is wider, is that of the rest.
    const bool own = all || columns.ranks.size() + 2 < room || columns.ranks.empty();
    (own ? columns.ranks : columns.rest).push_back(rank.rank);
  }
  return columns;
}

int rank_of_column(const StragglerColumns& columns, std::size_t column) {
  if (column < kColumnsBeforeRanks || column - kColumnsBeforeRanks >= columns.ranks.size()) {
    return -1;
  }
  return columns.ranks[column - kColumnsBeforeRanks];
}

std::string straggler_summary(const StragglerFigures& figures) {
  if (figures.ranks.empty()) return "";
  const auto& worst = *std::ranges::max_element(figures.ranks, {}, &StragglerRank::caused_ns);
  const std::string calls = present::format_integer(figures.matched) +
                            (figures.matched == 1 ? " collective" : " collectives");
  if (worst.caused_ns == 0) return "No rank kept the others waiting in " + calls;
  return "Rank " + std::to_string(worst.rank) + " came last in " +
         present::format_integer(worst.times_last) + " of " + calls + "; the others waited " +
         present::format_duration(static_cast<double>(worst.caused_ns)).text() +
         " for it, added up";
}

std::shared_ptr<const present::Table> straggler_table(
    const std::shared_ptr<const StragglerFigures>& figures, const StragglerColumns& columns) {
  auto out = std::make_shared<present::Table>();
  out->id = "stragglers";
  out->rows = figures->calls.size();
  out->data = figures;
  add_name_column(*out, *figures);
  add_place_columns(*out, *figures);
  add_time_columns(*out, *figures);
  add_last_rank_column(*out, *figures);
  add_rank_columns(*out, *figures, columns);
  const auto as_time = [](double ns) { return present::format_duration(ns); };
  add_pinned(
      *out, *figures, columns, "Came last",
      [](const StragglerRank& rank) { return static_cast<double>(rank.times_last); },
      [](double count) {
        return present::Quantity{present::format_integer(static_cast<std::int64_t>(count)) + " ×",
                                 ""};
      });
  add_pinned(
      *out, *figures, columns, "Late, mean",
      [](const StragglerRank& rank) { return rank.mean_late_ns(); }, as_time);
  add_pinned(
      *out, *figures, columns, "Wait it caused",
      [](const StragglerRank& rank) { return static_cast<double>(rank.caused_ns); }, as_time);
  add_pinned(
      *out, *figures, columns, "Of that alone",
      [](const StragglerRank& rank) { return static_cast<double>(rank.alone_ns); }, as_time);
  return out;
}

}  // namespace shardlens::ui::inspect
