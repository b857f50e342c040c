#include "ui/inspect/tabs/straggler_table.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>

#include "trace/base/number_text.h"
#include "ui/inspect/tabs/statistics_table.h"
#include "ui/present/format.h"
#include "ui/present/table_model.h"

namespace shardlens::ui::inspect {

namespace {

using present::column_head;
using trace::timeline::StragglerCall;
using trace::timeline::StragglerFigures;
using trace::timeline::StragglerPart;
using trace::timeline::StragglerRank;

constexpr std::size_t kColumnsBeforeRanks = 6;
constexpr float kBeforeRanks = 674, kRankColumn = 72;  // widths at scale 1

using CallColumns = present::RowColumns<StragglerCall>;

present::Quantity duration_or_none(double ns) {
  return ns == 0 ? present::Quantity{"0", ""} : present::format_duration(ns);
}

// Which collective it is, and where in the run it was called.
void add_call_columns(CallColumns& columns) {
  columns.add_words({.title = "Collective",
                     .csv_title = "collective",
                     .definition = "What was asked for and what it was for. A click shows it",
                     .width = 210,
                     .wish = 300},
                    call_name);
  columns.add_figure(column_head("Step", "step", "In which the ranks called it", 74),
                     &StragglerCall::step, [](double step) {
                       return step < 0 ? present::Quantity{std::string(present::kUnknown), ""}
                                       : present::whole_number(step);
                     });
  columns.add_figure(
      column_head("No.", "sequence",
                  "Sequence number within the process group: the same on all ranks", 84),
      &StragglerCall::sequence, present::whole_number);
}

void add_time_columns(CallColumns& columns) {
  columns.add_figure(
      column_head("Longest wait", "longest_wait_ns",
                  "Of the rank that came first: latest start over the ranks − own start, at "
                  "most to its own end",
                  116),
      &StragglerCall::longest_wait_ns, duration_or_none);
  columns.add_figure(
      column_head("Transfer", "transfer_ns",
                  "From the latest start over the ranks to the end: what the link took", 100),
      &StragglerCall::transfer_ns, duration_or_none);
}

void add_last_rank_column(CallColumns& columns) {
  columns.add(
      column_head("Last", "last_rank",
                  "The rank that started last, if by more than the error of the ranks' clocks", 90),
      [](const StragglerCall& call) {
        if (call.last_rank < 0) {
          return present::TableCell::words(std::string(present::kUnknown), state::Tone::kMuted);
        }
        return present::TableCell::words("rank " + std::to_string(call.last_rank));
      },
      [](const StragglerCall& call) {
        return call.last_rank < 0 ? std::nullopt : std::optional(call.last_rank);
      });
}

present::TableCell heat_cell(const StragglerCall& call, int rank, double longest) {
  present::TableCell cell;
  const StragglerPart* part = call.part_of(rank);
  if (part == nullptr) return cell;
  cell.mark = trace::base::TimeClass::kExposed;
  const auto wait_ns = static_cast<double>(part->wait_ns.value_or(0));
  cell.bar = longest > 0 ? wait_ns / longest : 0;
  cell.is_marked = call.last_rank == rank;
  if (cell.is_marked) {
    cell.text = "last";
  } else if (part->has_left) {
    cell.text = "left";
  } else if (!part->wait_ns) {
    return present::TableCell::words(std::string(present::kUnknown), state::Tone::kMuted);
  } else if (wait_ns > 0) {
    const present::Quantity wait = present::format_duration(wait_ns);
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

std::optional<std::int64_t> wait_of(const StragglerPart* part) {
  return part == nullptr || part->has_left ? std::nullopt : part->wait_ns;
}

void add_rank_column(CallColumns& columns, int rank, double longest) {
  const std::string number = std::to_string(rank);
  columns.add(
      {.title = "rank " + number,
       .csv_title = "rank_" + number + "_wait_ns",
       .definition = "How long rank " + number +
                     " waited in the collective for the last rank; \"last\" where it was that "
                     "itself, \"left\" where it had ended before that one began, — where the "
                     "hosts' clocks may have made it up",
       .kind = present::TableColumn::Kind::kHeat,
       .width = kRankColumn,
       .wish = 120},
      [rank, longest](const StragglerCall& call) { return heat_cell(call, rank, longest); },
      [rank](const StragglerCall& call) { return wait_of(call.part_of(rank)); });
}

void add_rest_column(CallColumns& columns, const std::vector<int>& rest, double longest) {
  columns.add(
      {.title = "and " + std::to_string(rest.size()) + " more",
       .csv_title = "longest_wait_of_the_rest_ns",
       .definition = "The other ranks: the longest that any of them waited. Those that cost the "
                     "others most stand before it, the worst first",
       .kind = present::TableColumn::Kind::kHeat,
       .width = kRankColumn + 30,
       .wish = 140},
      [rest, longest](const StragglerCall& call) {
        const StragglerPart* part = longest_of(call, rest);
        if (part == nullptr) return present::TableCell{};
        present::TableCell cell = heat_cell(call, part->rank, longest);
        if (!cell.text.empty() && !cell.is_marked && part->wait_ns) cell.text = "≤ " + cell.text;
        return cell;
      },
      [rest](const StragglerCall& call) { return wait_of(longest_of(call, rest)); });
}

void add_rank_columns(CallColumns& columns, const StragglerColumns& shown) {
  double longest = 0;
  for (const StragglerCall& call : columns.rows()) {
    longest = std::max(longest, static_cast<double>(call.longest_wait_ns().value_or(0)));
  }
  for (const int rank : shown.ranks) add_rank_column(columns, rank, longest);
  if (!shown.rest.empty()) add_rest_column(columns, shown.rest, longest);
}

// One line above the calls: a figure per rank, shaded by its share of the greatest; of the rest the
// greatest. No value: it is not known.
void add_pinned(present::Table& table, const StragglerFigures& figures,
                const StragglerColumns& columns, std::string title,
                const std::function<std::optional<double>(const StragglerRank&)>& value,
                const std::function<present::Quantity(double)>& show) {
  const auto of = [&](int number) {
    const auto found = std::ranges::lower_bound(figures.ranks, number, {}, &StragglerRank::rank);
    return found == figures.ranks.end() ? std::optional(0.0) : value(*found);
  };
  double highest = 0;
  for (const StragglerRank& rank : figures.ranks) {
    highest = std::max(highest, value(rank).value_or(0));
  }
  std::vector<present::TableCell> cells(kColumnsBeforeRanks);
  cells[0] = present::TableCell::words(std::move(title), state::Tone::kSecondary);
  const auto add = [&](std::optional<double> known, bool is_most) {
    if (!known) {
      cells.push_back(
          present::TableCell::words(std::string(present::kUnknown), state::Tone::kMuted));
      return;
    }
    const double given = *known;
    present::TableCell cell =
        present::TableCell::figure(given > 0 ? show(given) : present::Quantity{});
    if (is_most && !cell.text.empty()) cell.text = "≤ " + cell.text;
    cell.bar = highest > 0 ? given / highest : 0;
    cell.mark = trace::base::TimeClass::kHost;
    cells.push_back(std::move(cell));
  };
  for (const int rank : columns.ranks) add(of(rank), false);
  std::optional<double> rest;
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
  const std::string calls = trace::base::counted(figures.matched, "collective");
  if (worst.caused_ns == 0) return "No rank kept the others waiting in " + calls;
  return "Rank " + std::to_string(worst.rank) + " came last in " +
         present::format_integer(worst.times_last) + " of " + calls + "; the others waited " +
         present::duration_text(worst.caused_ns) + " for it, added up";
}

std::shared_ptr<const present::Table> straggler_table(
    const std::shared_ptr<const StragglerFigures>& figures, const StragglerColumns& columns) {
  auto out = std::make_shared<present::Table>();
  out->id = "stragglers";
  out->data = figures;
  CallColumns made(*out, figures->calls);
  add_call_columns(made);
  add_time_columns(made);
  add_last_rank_column(made);
  add_rank_columns(made, columns);
  add_pinned(
      *out, *figures, columns, "Came last",
      [](const StragglerRank& rank) { return static_cast<double>(rank.times_last); },
      [](double count) {
        return present::Quantity{present::whole_number(count).value + " ×", ""};
      });
  add_pinned(*out, *figures, columns, "Late, mean", &StragglerRank::mean_late_ns,
             present::format_duration);
  add_pinned(
      *out, *figures, columns, "Wait it caused",
      [](const StragglerRank& rank) { return static_cast<double>(rank.caused_ns); },
      present::format_duration);
  add_pinned(
      *out, *figures, columns, "Of that alone",
      [](const StragglerRank& rank) { return static_cast<double>(rank.alone_ns); },
      present::format_duration);
  return out;
}

}  // namespace shardlens::ui::inspect
