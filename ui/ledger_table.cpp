#include "ui/ledger_table.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "ui/format.h"
#include "ui/ledger_cells.h"

namespace shardlens::ui {

namespace {

constexpr float kWidestColumn = 320, kWidestName = 250;

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

void add_settings(Builder& builder) {
  const auto& rows = builder.ledger.rows;
  int added = 0;
  for (const trace::Knob& knob : trace::knobs()) {
    if (knob.name == "steps" || knob.name == "ranks" || knob.name == "seed") continue;
    const auto own = std::ranges::find(rows, false, &LedgerRow::is_imported);
    const bool differs = std::any_of(own, rows.end(), [&](const LedgerRow& row) {
      return !row.is_imported && !same_value(row.settings, own->settings, knob);
    });
    if (!differs || added >= 5) continue;
    ++added;
    std::size_t longest = 0;
    for (const LedgerRow& row : rows)
      longest = std::max(longest, setting_cell(row, knob).text.size());
    const float title = static_cast<float>(knob.label.size()) * 6.2f + 20;
    const float values = static_cast<float>(longest) * 7.3f + 14;
    const float least = std::clamp(values, 92.0f, 184.0f);
    builder.add({.title = std::string(knob.label),
                 .key = std::string(knob.name),
                 .definition = std::string(knob.explanation),
                 .figure = true,
                 .width = std::max(title, least),
                 .wish = values,
                 .priority = 30 - added,
                 .cell = {}},
                [&knob](const LedgerRow& row) { return setting_cell(row, knob); });
  }
}

void add_step_time(Builder& builder) {
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
}

void add_relative(Builder& builder) {
  const bool by_throughput = std::ranges::any_of(builder.ledger.rows, &LedgerRow::by_throughput);
  builder.add(
      {.title = "Against baseline",
       .key = {},
       .definition = "Step time against the baseline run, tokens/s once batch or ranks differ; "
                     "grey is within the noise, ? not known to be beyond it",
       .figure = true,
       .width = by_throughput ? 156.0f : 116.0f,
       .priority = 90,
       .cell = {}},
      relative_cell);
}

void add_communication(Builder& builder) {
  builder.add({.title = "Exposed",
               .key = {},
               .definition = "Communication that no computation hides, per step",
               .figure = true,
               .width = 80,
               .priority = 95,
               .cell = {}},
              exposed_cell);
  builder.add({.title = "Waiting",
               .key = {},
               .definition = "The part of exposed in which a rank waits until the last one has "
                             "come; the rest is transfer",
               .figure = true,
               .width = 80,
               .priority = 39,
               .cell = {}},
              waiting_cell);
  builder.add({.title = "Overlap",
               .key = {},
               .definition = "Share of communication under computation",
               .figure = true,
               .width = 68,
               .priority = 40,
               .cell = {}},
              overlap_cell);
}

void add_memory(Builder& builder) {
  builder.add(
      {.title = "Peak memory",
       .key = {},
       .definition = "The most that tensors took on any rank, without what is outside PyTorch",
       .figure = true,
       .width = 92,
       .priority = 50,
       .cell = {}},
      peak_memory_cell);
}

// Among the rows that have a value.
bool rows_differ(const std::vector<LedgerRow>& rows, const CellOf& cell_of) {
  std::string first;
  return std::any_of(rows.begin(), rows.end(), [&](const LedgerRow& row) {
    const std::string text = cell_of(row).text;
    if (first.empty()) first = text;
    return !text.empty() && text != first;
  });
}

// What tells runs of other ranks, batches or strategies apart; it yields to the settings
// themselves. With one batch for all, samples/s says what step time says.
void add_scale(Builder& builder) {
  const auto& rows = builder.ledger.rows;
  if (rows_differ(rows, batch_cell)) {
    builder.add({.title = "Effective batch",
                 .key = {},
                 .definition = "Batch per rank × accumulation steps × ranks",
                 .figure = true,
                 .width = 108,
                 .priority = 23,
                 .cell = {}},
                batch_cell);
    builder.add({.title = "Samples/s",
                 .key = {},
                 .definition = "Of all ranks together, over measured steps",
                 .figure = true,
                 .width = 92,
                 .priority = 24,
                 .cell = {}},
                samples_cell);
  }
  if (!rows_differ(rows, sent_cell)) return;
  builder.add({.title = "Sent per step",
               .key = {},
               .definition = "Bytes that a rank sends in a step: the mean over ranks, by what the "
                             "backend really ran",
               .figure = true,
               .width = 100,
               .priority = 22,
               .cell = {}},
              sent_cell);
}

// As wide as names and their marks are in the window's faces, or nearly so.
float longest_name(const Ledger& ledger) {
  std::size_t letters = 0;
  for (const LedgerRow& row : ledger.rows) {
    const LedgerCell cell = name_cell(row);
    letters = std::max(letters, cell.text.size() + cell.mark.size() + (cell.mark.empty() ? 0 : 1));
  }
  return static_cast<float>(letters) * 6.4f + 14;
}

// Narrow while all runs are done; how others ended stands before their number of steps.
float steps_width(const Ledger& ledger) {
  std::size_t letters = 5;
  for (const LedgerRow& row : ledger.rows) {
    letters = std::max(letters, steps_cell(row, {}).text.size());
    if (row.status == trace::RunStatus::kRunning) letters = std::max<std::size_t>(letters, 12);
  }
  return static_cast<float>(letters) * 7.3f + 20;
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

void add_loss(Builder& builder) {
  const std::int64_t step = loss_step(builder.ledger.rows);
  builder.add(
      {.title = step >= 0 ? "Loss at step " + format_integer(step) : "Loss",
       .key = {},
       .definition = "Mean over ranks at the last step that runs of the baseline's job have "
                     "in common; “@” names the step of another one",
       .figure = true,
       .width = 108,
       .priority = 45,
       .cell = {}},
      [step](const LedgerRow& row) { return loss_cell(row, step); });
}

void add_run(Builder& builder) {
  builder.add({.title = "Run",
               .key = {},
               .definition = "By age, named by what differs",
               .figure = false,
               .width = 156,
               .wish = longest_name(builder.ledger),
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
}

void add_extent(Builder& builder) {
  builder.add({.title = "Ranks",
               .key = "ranks",
               .definition = "Processes that trained together",
               .figure = true,
               .width = 52,
               .priority = 35,
               .cell = {}},
              [](const LedgerRow& row) {
                return LedgerCell{std::to_string(row.ranks), Tone::kSecondary};
              });
  builder.table.columns.push_back({.title = "Steps",
                                   .key = {},
                                   .definition = "Steps executed, and how the run ended",
                                   .figure = true,
                                   .width = steps_width(builder.ledger),
                                   .priority = 60,
                                   .cell = steps_cell});
}

}  // namespace

LedgerTable ledger_table(const Ledger& ledger) {
  Builder builder{ledger, {}};
  if (ledger.rows.empty()) return {};
  add_run(builder);
  add_settings(builder);
  add_extent(builder);
  add_step_time(builder);
  add_relative(builder);
  add_communication(builder);
  add_memory(builder);
  add_scale(builder);
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
  if (columns.empty()) return;
  // A run's name comes before what matters less than its settings.
  LedgerColumn& name = columns.front();
  name.width = std::max(name.width, std::min(name.wish, kWidestName));
  while (columns.size() > 1 && sum() > width) {
    columns.erase(std::min_element(
        columns.begin(), columns.end(),
        [](const LedgerColumn& a, const LedgerColumn& b) { return a.priority < b.priority; }));
  }
  for (LedgerColumn& column : columns) {
    const float wanted = std::min(column.wish, kWidestColumn) - column.width;
    column.width += std::clamp(width - sum(), 0.0f, std::max(0.0f, wanted));
  }
  const float spare = std::max(0.0f, width - sum());
  // The name gets a third, the others share the rest, so that wide windows are not half empty.
  const float each = std::min(32.0f, spare * 0.66f / static_cast<float>(columns.size()));
  for (LedgerColumn& column : columns) column.width += each;
  columns.front().width += std::min(140.0f, std::max(0.0f, width - sum()));
}

}  // namespace shardlens::ui
