#include "ui/runs/ledger_cells.h"

#include <cmath>
#include <ctime>

#include "trace/job/schedule.h"
#include "trace/job/settings/knob_text.h"
#include "ui/present/format.h"

namespace shardlens::ui {

LedgerCell name_cell(const LedgerRow& row) {
  std::string text = row.name;
  const auto digit = row.ordinal.find_first_of("0123456789");
  if (digit != std::string::npos) text = row.ordinal.substr(digit) + " · " + row.name;
  return {text, Tone::kText, Trend::kNone, {}, row.simulated ? "simulated" : ""};
}

LedgerCell when_cell(const LedgerRow& row) {
  if (row.status == trace::RunStatus::kRunning) return {"now", Tone::kSecondary};
  if (row.is_bundled) return {"bundled", Tone::kMuted};
  if (!is_date(row.start_ns)) return {};
  const bool today =
      format_date(row.start_ns).substr(0, 10) ==
      format_date(static_cast<std::int64_t>(std::time(nullptr)) * 1'000'000'000).substr(0, 10);
  const std::string date = format_date(row.start_ns);
  return {today ? date.substr(11, 5) : date.substr(5, 5) + " " + date.substr(11, 5),
          Tone::kSecondary};
}

LedgerCell steps_cell(const LedgerRow& row, const JobState& job) {
  if (row.is_being_read) return {"reading…", Tone::kMuted};
  LedgerCell cell{format_integer(row.summary.steps_executed), Tone::kSecondary};
  if (row.status == trace::RunStatus::kFailed) {
    cell = {"failed at " + cell.text, Tone::kDanger};
  } else if (row.status == trace::RunStatus::kStopped) {
    cell.text = "stopped at " + cell.text;
  } else if (row.status == trace::RunStatus::kIncomplete) {
    cell = {"incomplete, " + cell.text, Tone::kDanger};
  } else if (row.status == trace::RunStatus::kRunning && row.name == job.run_name &&
             job.steps > 0) {
    cell = {format_integer(job.step) + " of " + format_integer(job.steps), Tone::kText};
  }
  return cell;
}

LedgerCell relative_cell(const LedgerRow& row) {
  if (row.is_baseline) return {"baseline", Tone::kMuted};
  if (!row.not_compared.empty()) return {row.not_compared, Tone::kMuted};
  if (!row.relative_to_baseline) return {};
  const double relative = *row.relative_to_baseline;
  // More tokens per second is faster, more time per step is slower.
  const bool slower = row.by_throughput ? relative < 0 : relative > 0;
  const bool is_beyond = row.beyond_noise.value_or(false);
  LedgerCell cell{format_signed_percent(relative), is_beyond ? Tone::kText : Tone::kMuted,
                  slower ? Trend::kSlower : Trend::kFaster};
  if (cell.text == format_signed_percent(0)) cell.trend = Trend::kNone;
  if (row.by_throughput) cell.text += " tokens/s";
  if (!row.beyond_noise) cell.mark = "?";
  return cell;
}

LedgerCell duration_cell(double ns) {
  if (!(ns > 0)) return {};
  return {format_duration(ns).text(), Tone::kText};
}

LedgerCell setting_cell(const LedgerRow& row, const trace::Knob& knob) {
  if (row.is_imported || !trace::applies(knob, row.settings.sharding_strategy)) return {};
  const std::string value = trace::short_value_text(row.settings, knob);
  return {knob.name == "simulate_link" ? trace::link_text(value) : value, Tone::kSecondary};
}

LedgerCell tags_cell(const LedgerRow& row) {
  LedgerCell cell{"", Tone::kSecondary};
  for (const auto& tag : row.tags) cell.text += (cell.text.empty() ? "" : " ") + tag;
  return cell;
}

LedgerCell note_cell(const LedgerRow& row) { return {row.note, Tone::kSecondary}; }

LedgerCell exposed_cell(const LedgerRow& row) {
  return row.summary.has_detail ? duration_cell(row.summary.exposed_ns) : LedgerCell{};
}

LedgerCell waiting_cell(const LedgerRow& row) {
  if (row.summary.exposed_wait_ns) return duration_cell(*row.summary.exposed_wait_ns);
  const bool are_clocks_why = row.summary.wait_doubt == trace::WaitDoubt::kClockError ||
                              row.summary.wait_doubt == trace::WaitDoubt::kClocksUnknown;
  LedgerCell cell;
  if (are_clocks_why) cell.mark = "clocks";
  return cell;
}

LedgerCell overlap_cell(const LedgerRow& row) {
  if (!row.summary.overlap_fraction) return {};
  return {format_percent(*row.summary.overlap_fraction).text(), Tone::kText};
}

LedgerCell peak_memory_cell(const LedgerRow& row) {
  if (!(row.peak_memory_bytes > 0)) return {};
  return {format_bytes(row.peak_memory_bytes).text(), Tone::kText};
}

LedgerCell batch_cell(const LedgerRow& row) {
  if (!row.summary.effective_batch) return {};
  return {format_integer(*row.summary.effective_batch), Tone::kSecondary};
}

LedgerCell samples_cell(const LedgerRow& row) {
  if (!(row.summary.samples_per_s > 0)) return {};
  return {format_rate(*row.summary.samples_per_s, "/s").text(), Tone::kText};
}

LedgerCell sent_cell(const LedgerRow& row) {
  if (!row.summary.bytes_sent_per_step) return {};
  return {format_bytes(*row.summary.bytes_sent_per_step).text(), Tone::kText};
}

LedgerCell loss_cell(const LedgerRow& row, std::int64_t step) {
  if (!row.loss_at_common_step || !std::isfinite(*row.loss_at_common_step)) return {};
  LedgerCell cell;
  cell.text = format_plain(*row.loss_at_common_step);
  if (row.common_step != step) cell.mark = "@ " + format_integer(row.common_step);
  return cell;
}

}  // namespace shardlens::ui
