#include "ui/ledger_table.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <utility>
#include <variant>

#include "ui/format.h"

namespace shardlens::ui {

namespace {

using CellOf = std::function<LedgerCell(const LedgerRow&)>;

struct Builder {
  const Ledger& ledger;
  LedgerTable table;

  void add(LedgerColumn column, CellOf cell_of) {
    const bool has_value =
        std::any_of(ledger.rows.begin(), ledger.rows.end(),
                    [&cell_of](const LedgerRow& row) { return !cell_of(row).text.empty(); });
    if (!has_value) return;
    column.cell = [cell_of = std::move(cell_of)](const LedgerRow& row, const JobState&) {
      return cell_of(row);
    };
    table.columns.push_back(std::move(column));
  }
};

bool same_value(const trace::Settings& a, const trace::Settings& b, const trace::Knob& knob) {
  return std::visit([&](auto member) { return a.*member == b.*member; }, knob.member);
}

LedgerCell name_cell(const LedgerRow& row) {
  std::string text = row.name;
  const auto digit = row.ordinal.find_first_of("0123456789");
  if (digit != std::string::npos) text = row.ordinal.substr(digit) + " · " + row.name;
  return {text, Tone::kText, Trend::kNone, {}, row.simulated ? "simulated" : ""};
}

LedgerCell when_cell(const LedgerRow& row) {
  if (row.status == trace::RunStatus::kRunning) return {"now", Tone::kSecondary};
  if (row.is_bundled) return {"bundled", Tone::kMuted};
  if (row.start_ns <= 0) return {};
  const bool today =
      format_date(row.start_ns).substr(0, 10) ==
      format_date(static_cast<std::int64_t>(std::time(nullptr)) * 1'000'000'000).substr(0, 10);
  const std::string date = format_date(row.start_ns);
  return {today ? date.substr(11, 5) : date.substr(5, 5) + " " + date.substr(11, 5),
          Tone::kSecondary};
}

LedgerCell steps_cell(const LedgerRow& row, const JobState& job) {
  LedgerCell cell{format_integer(row.summary.steps_executed), Tone::kSecondary};
  if (row.status == trace::RunStatus::kFailed) {
    cell = {"failed at " + cell.text, Tone::kDanger};
  } else if (row.status == trace::RunStatus::kStopped) {
    cell.text = "stopped at " + cell.text;
  } else if (row.status == trace::RunStatus::kRunning && row.name == job.run_name &&
             job.steps > 0) {
    cell = {format_integer(job.step) + " of " + format_integer(job.steps), Tone::kText};
  }
  return cell;
}

LedgerCell relative_cell(const LedgerRow& row) {
  if (row.is_baseline) return {"baseline", Tone::kMuted};
  if (!row.relative_to_baseline) return {};
  const double relative = *row.relative_to_baseline;
  // More tokens per second is faster, more time per step is slower.
  const bool slower = row.by_throughput ? relative < 0 : relative > 0;
  LedgerCell cell{format_signed_percent(relative), row.beyond_noise ? Tone::kText : Tone::kMuted,
                  slower ? Trend::kSlower : Trend::kFaster};
  if (row.by_throughput) cell.text += " tokens/s";
  return cell;
}

LedgerCell duration_cell(double ns) {
  if (!(ns > 0)) return {};
  return {format_duration(ns).text(), Tone::kText};
}

void add_settings(Builder& builder) {
  const auto& rows = builder.ledger.rows;
  int added = 0;
  for (const trace::Knob& knob : trace::knobs()) {
    if (knob.name == "steps" || knob.name == "ranks" || knob.name == "seed") continue;
    const bool differs = std::any_of(rows.begin(), rows.end(), [&](const LedgerRow& row) {
      return !same_value(row.settings, rows.front().settings, knob);
    });
    if (!differs || added >= 5) continue;
    ++added;
    std::size_t longest = 0;
    for (const LedgerRow& row : rows)
      longest = std::max(longest, trace::value_text(row.settings, knob).size());
    const float title = static_cast<float>(knob.label.size()) * 6.2f + 20;
    const float values = static_cast<float>(longest) * 7.3f + 14;
    const float least = std::clamp(values, 92.0f, 184.0f);
    builder.add({.title = std::string(knob.label),
                 .key = std::string(knob.name),
                 .definition = std::string(knob.explanation),
                 .figure = true,
                 .width = std::max(title, least),
                 .priority = 30 - added,
                 .cell = {}},
                [&knob](const LedgerRow& row) {
                  return LedgerCell{trace::value_text(row.settings, knob), Tone::kSecondary};
                });
  }
}

void add_figures(Builder& builder) {
  double slowest = 0;
  for (const LedgerRow& row : builder.ledger.rows)
    slowest = std::max(slowest, row.summary.step_ns.mean);
  builder.add({.title = "Step time",
               .key = {},
               .definition = "Mean of measured steps over ranks; the bar compares runs",
               .figure = true,
               .width = 136,
               .priority = 100,
               .cell = {}},
              [slowest](const LedgerRow& row) {
                LedgerCell cell = duration_cell(row.summary.step_ns.mean);
                if (!cell.text.empty() && slowest > 0)
                  cell.bar = row.summary.step_ns.mean / slowest;
                return cell;
              });
  builder.add(
      {.title = "Against baseline",
       .key = {},
       .definition = "Step time against the baseline run, tokens/s once batch or ranks differ; "
                     "grey is below the noise",
       .figure = true,
       .width = 116,
       .priority = 90,
       .cell = {}},
      relative_cell);
  builder.add({.title = "Exposed",
               .key = {},
               .definition = "Communication that no computation hides, per step",
               .figure = true,
               .width = 80,
               .priority = 95,
               .cell = {}},
              [](const LedgerRow& row) {
                return row.summary.has_detail ? duration_cell(row.summary.exposed_ns)
                                              : LedgerCell{};
              });
  builder.add(
      {.title = "Overlap",
       .key = {},
       .definition = "Share of communication under computation",
       .figure = true,
       .width = 68,
       .priority = 40,
       .cell = {}},
      [](const LedgerRow& row) {
        if (!row.summary.overlap_fraction) return LedgerCell{};
        return LedgerCell{format_percent(*row.summary.overlap_fraction).text(), Tone::kText};
      });
  builder.add({.title = "Peak memory",
               .key = {},
               .definition = "The largest memory of any rank",
               .figure = true,
               .width = 92,
               .priority = 50,
               .cell = {}},
              [](const LedgerRow& row) {
                if (!(row.peak_memory_bytes > 0)) return LedgerCell{};
                return LedgerCell{format_bytes(row.peak_memory_bytes).text(), Tone::kText};
              });
}

// The step that the column's head names: the baseline's, or the one that all rows share; else -1.
std::int64_t loss_step(const std::vector<LedgerRow>& rows) {
  std::optional<std::int64_t> common;
  bool shared = true;
  for (const LedgerRow& row : rows) {
    if (!row.loss_at_common_step) continue;
    if (row.is_baseline) return row.common_step;
    shared = shared && (!common || *common == row.common_step);
    common = row.common_step;
  }
  return common && shared ? *common : -1;
}

LedgerCell loss_cell(const LedgerRow& row, std::int64_t step) {
  if (!row.loss_at_common_step || !std::isfinite(*row.loss_at_common_step)) return {};
  LedgerCell cell;
  cell.text = format_plain(*row.loss_at_common_step);
  if (row.common_step != step) cell.mark = "@ " + format_integer(row.common_step);
  return cell;
}

void add_loss(Builder& builder) {
  const std::int64_t step = loss_step(builder.ledger.rows);
  builder.add(
      {.title = step >= 0 ? "Loss at step " + format_integer(step) : "Loss",
       .key = {},
       .definition = "Mean over ranks at the last step that runs of the baseline's job have "
                     "in common; “@” names the step of another one",
       .figure = true,
       .width = 124,
       .priority = 45,
       .cell = {}},
      [step](const LedgerRow& row) { return loss_cell(row, step); });
}

}  // namespace

std::string simulation_text(const trace::Settings& settings) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (settings.simulate_link != "off") add("link of " + settings.simulate_link);
  if (settings.inject != "off") add("injected fault " + settings.inject);
  if (!settings.overlap_comm) add("communication kept from overlapping");
  if (settings.communication == "none") add("communication left out, so the loss is invalid");
  return text;
}

LedgerTable ledger_table(const Ledger& ledger) {
  Builder builder{ledger, {}};
  if (ledger.rows.empty()) return {};
  builder.add({.title = "Run",
               .key = {},
               .definition = "By age, named by what differs",
               .figure = false,
               .width = 156,
               .priority = 1000,
               .cell = {}},
              name_cell);
  builder.add({.title = "When",
               .key = {},
               .definition = "Start of the run, local time",
               .figure = true,
               .width = 92,
               .priority = 25,
               .cell = {}},
              when_cell);
  add_settings(builder);
  builder.add({.title = "Ranks",
               .key = "ranks",
               .definition = "Processes that trained together",
               .figure = true,
               .width = 52,
               .priority = 35,
               .cell = {}},
              [](const LedgerRow& row) {
                return LedgerCell{std::to_string(row.settings.ranks), Tone::kSecondary};
              });
  builder.table.columns.push_back({.title = "Steps",
                                   .key = {},
                                   .definition = "Steps executed, and how the run ended",
                                   .figure = true,
                                   .width = 104,
                                   .priority = 60,
                                   .cell = steps_cell});
  add_figures(builder);
  add_loss(builder);
  return std::move(builder.table);
}

void fit_columns(LedgerTable& table, float width) {
  auto& columns = table.columns;
  const auto sum = [&columns] {
    float total = 0;
    for (const LedgerColumn& column : columns) total += column.width;
    return total;
  };
  while (columns.size() > 1 && sum() > width) {
    columns.erase(std::min_element(
        columns.begin(), columns.end(),
        [](const LedgerColumn& a, const LedgerColumn& b) { return a.priority < b.priority; }));
  }
  if (columns.empty()) return;
  const float spare = std::max(0.0f, width - sum());
  // The name gets a third, the others share the rest, so that wide windows are not half empty.
  const float each = std::min(32.0f, spare * 0.66f / static_cast<float>(columns.size()));
  for (LedgerColumn& column : columns) column.width += each;
  columns.front().width += std::min(140.0f, std::max(0.0f, width - sum()));
}

}  // namespace shardlens::ui
