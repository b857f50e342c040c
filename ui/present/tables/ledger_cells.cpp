#include "ui/present/tables/ledger_cells.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "trace/base/text.h"
#include "trace/job/settings/grammars.h"
#include "trace/job/settings/settings.h"
#include "trace/job/shape/strategy.h"
#include "ui/present/format.h"

namespace shardlens::ui::present {

namespace {

// How many of the rows that are counted have another value than most of them.
std::size_t exceptions(const std::vector<state::LedgerRow>& rows, const CellOf& cell_of,
                       bool is_counted(const state::LedgerRow&)) {
  std::map<std::string, std::size_t> counts;
  std::size_t all = 0, most = 0;
  for (const state::LedgerRow& row : rows) {
    const std::string text = is_counted(row) ? cell_of(row).text : "";
    if (text.empty()) continue;
    ++all;
    most = std::max(most, ++counts[text]);
  }
  return all - most;
}

}  // namespace

// An example's number stands behind, so that nobody takes it for that of an own run.
TableCell name_cell(const state::LedgerRow& row) {
  if (row.is_bundled) {
    return {.text = row.name, .unit = row.ordinal + (row.simulated ? ", simulated" : "")};
  }
  std::string text = row.name;
  const auto digit = row.ordinal.find_first_of("0123456789");
  if (digit != std::string::npos) text = row.ordinal.substr(digit) + " · " + row.name;
  return {.text = text, .unit = row.simulated ? "simulated" : ""};
}

TableCell when_cell(const state::LedgerRow& row) {
  if (row.status == trace::model::RunStatus::kRunning)
    return TableCell::words("now", state::Tone::kSecondary);
  if (row.is_bundled) return TableCell::words("bundled", state::Tone::kMuted);
  if (!is_date(row.start_ns)) return {};
  return TableCell::words(format_when(row.start_ns), state::Tone::kSecondary);
}

TableCell steps_cell(const state::LedgerRow& row, const state::JobState& job) {
  if (row.is_being_read) return TableCell::words("reading…", state::Tone::kMuted);
  TableCell cell =
      TableCell::words(format_integer(row.summary.steps_executed), state::Tone::kSecondary);
  // Counted as while it ran: with the steps before a checkpoint that it went on from. Those of
  // another program have whatever numbers it gives them.
  const std::string reached =
      format_integer(row.is_imported ? row.summary.steps_executed : row.summary.last_step + 1);
  if (row.status == trace::model::RunStatus::kFailed) {
    cell = TableCell::words("failed at " + reached, state::Tone::kDanger);
  } else if (row.status == trace::model::RunStatus::kStopped) {
    cell.text = "stopped at " + reached;
  } else if (row.status == trace::model::RunStatus::kIncomplete) {
    cell = TableCell::words("incomplete, " + cell.text, state::Tone::kDanger);
  } else if (row.status == trace::model::RunStatus::kRunning && row.folder == job.folder &&
             job.steps > 0) {
    cell = TableCell::words(format_integer(job.step) + " of " + format_integer(job.steps));
  }
  return cell;
}

TableCell relative_cell(const state::LedgerRow& row) {
  if (row.is_baseline) return TableCell::words("baseline", state::Tone::kMuted);
  if (!row.not_compared.empty()) return TableCell::words(row.not_compared, state::Tone::kMuted);
  if (!row.relative_to_baseline) return {};
  const double relative = *row.relative_to_baseline;
  const bool is_beyond = row.beyond_noise.value_or(false);
  TableCell cell{.text = format_signed_percent(relative),
                 .tone = is_beyond ? state::Tone::kText : state::Tone::kMuted,
                 .trend = relative > 0 ? Trend::kUp : Trend::kDown};
  if (cell.text == format_signed_percent(0)) cell.trend = Trend::kNone;
  if (row.per_token) cell.text += " per token";
  if (!row.beyond_noise) cell.unit = "?";
  return cell;
}

std::optional<double> prediction_error(const state::LedgerRow& row) {
  const bool is_over = row.status == trace::model::RunStatus::kDone;
  if (!row.predicted || !is_over || !(row.summary.step_ns.mean > 0)) return std::nullopt;
  return row.summary.step_ns.mean / row.predicted->step_ns - 1;
}

TableCell predicted_cell(const state::LedgerRow& row) {
  if (!row.predicted) return {};
  const auto error = prediction_error(row);
  if (!error) {
    return TableCell::words(format_duration(row.predicted->step_ns).text(), state::Tone::kMuted);
  }
  const double measured_ns = row.summary.step_ns.mean;
  const auto unit = duration_unit(std::max(measured_ns, row.predicted->step_ns));
  const bool is_within = row.predicted->low_ns.value_or(0) <= measured_ns &&
                         measured_ns <= row.predicted->high_ns.value_or(INFINITY);
  TableCell cell{.text = format_duration_in(row.predicted->step_ns, unit).value + " → " +
                         format_duration_in(measured_ns, unit).text(),
                 .unit = format_signed_percent(*error)};
  cell.is_marked = !is_within;
  return cell;
}

TableCell setting_cell(const state::LedgerRow& row, const trace::job::Knob& knob) {
  if (row.is_imported || !trace::job::applies(knob, row.settings.sharding_strategy)) return {};
  const std::string value = trace::job::short_value_text(row.settings, knob);
  return TableCell::words(knob.name == "simulate_link" ? trace::job::link_text(value) : value,
                          state::Tone::kSecondary);
}

TableCell tags_cell(const state::LedgerRow& row) {
  return TableCell::words(tags_text(row.tags), state::Tone::kSecondary);
}

TableCell note_cell(const state::LedgerRow& row) {
  return TableCell::words(row.note, state::Tone::kSecondary);
}

TableCell waiting_cell(const state::LedgerRow& row) {
  if (row.summary.exposed_wait_ns)
    return TableCell::words(format_duration(*row.summary.exposed_wait_ns).text());
  const bool are_clocks_why = row.summary.wait_doubt == trace::analysis::WaitDoubt::kClockError ||
                              row.summary.wait_doubt == trace::analysis::WaitDoubt::kClocksUnknown;
  TableCell cell;
  if (are_clocks_why) cell.unit = "clocks";
  return cell;
}

TableCell loss_cell(const state::LedgerRow& row, std::int64_t step) {
  if (!row.loss_at_common_step || !std::isfinite(*row.loss_at_common_step)) return {};
  TableCell cell;
  cell.text = format_plain(*row.loss_at_common_step);
  if (row.common_step != step) cell.unit = "@ " + format_integer(row.common_step);
  return cell;
}

bool is_any_run(const state::LedgerRow&) { return true; }
bool is_own_run(const state::LedgerRow& row) { return !row.is_bundled && !row.is_imported; }

bool rows_differ(const std::vector<state::LedgerRow>& rows, const CellOf& cell_of,
                 bool is_counted(const state::LedgerRow&)) {
  std::string first;
  return std::any_of(rows.begin(), rows.end(), [&](const state::LedgerRow& row) {
    const std::string text = is_counted(row) ? cell_of(row).text : "";
    if (first.empty()) first = text;
    return !text.empty() && text != first;
  });
}

std::vector<ShownSetting> shown_settings(const std::vector<state::LedgerRow>& rows,
                                         std::size_t most) {
  const bool has_own = std::ranges::any_of(rows, is_own_run);
  std::vector<ShownSetting> shown;
  for (const trace::job::Knob& knob : trace::job::knobs()) {
    if (knob.name == "steps" || knob.name == "ranks" || knob.name == "seed") continue;
    const auto cell_of = [&knob](const state::LedgerRow& row) { return setting_cell(row, knob); };
    if (!rows_differ(rows, cell_of)) continue;
    shown.push_back({&knob, cell_of, exceptions(rows, cell_of, has_own ? is_own_run : is_any_run)});
  }
  std::vector<ShownSetting*> order;
  for (ShownSetting& setting : shown) order.push_back(&setting);
  std::ranges::stable_sort(order, std::ranges::greater{}, &ShownSetting::exceptions);
  for (std::size_t i = 0; i < order.size(); ++i) order[i]->place = static_cast<int>(i);
  std::erase_if(shown, [most](const ShownSetting& setting) {
    return static_cast<std::size_t>(setting.place) >= most;
  });
  return shown;
}

std::string simulation_text(const trace::job::Settings& settings) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (trace::job::has_simulated_link(settings))
    add("link of " + trace::job::link_text(settings.simulate_link));
  if (trace::job::injects_faults(settings)) add("injected fault " + settings.inject);
  if (trace::job::reduces_after_backward(settings)) add("communication kept from overlapping");
  if (settings.communication == trace::job::Communication::kNone)
    add("communication left out, so the loss is invalid");
  return text;
}

std::string scaling_title(const trace::analysis::Scaling& scaling) {
  return scaling.kind == trace::analysis::ScalingKind::kWeak ? "Weak scaling" : "Strong scaling";
}

std::string scaling_text(const trace::analysis::Scaling& scaling) {
  const bool weak = scaling.kind == trace::analysis::ScalingKind::kWeak;
  return std::to_string(scaling.from_ranks) + " → " + std::to_string(scaling.to_ranks) +
         " ranks: " + format_number(scaling.speedup) + " × the samples/s, efficiency " +
         format_percent(scaling.efficiency).text() +
         (weak ? " (same batch per rank" : " (same effective batch") +
         (scaling.on_same_cores ? ", all on the same CPU cores)" : ")");
}

std::vector<std::string> tags_from_text(std::string_view text) {
  std::vector<std::string> tags;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(", \t\n"), text.size());
    std::string tag(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!tag.empty() && std::ranges::find(tags, tag) == tags.end()) tags.push_back(std::move(tag));
  }
  return tags;
}

std::string tags_text(const std::vector<std::string>& tags) {
  return trace::base::joined(tags, " ");
}

std::string undo_text(std::size_t deleted) {
  return "Undo: " + std::to_string(deleted) + (deleted == 1 ? " run deleted" : " runs deleted");
}

}  // namespace shardlens::ui::present
