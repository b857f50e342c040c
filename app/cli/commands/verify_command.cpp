// `shardlens verify`: whether all of a run can be read, and if not, what is damaged and where.
#include <CLI/CLI.hpp>

#include "app/cli/commands.h"
#include "app/cli/terminal/options.h"
#include "app/cli/terminal/output.h"
#include "app/cli/terminal/stop_request.h"
#include "app/report/report_json.h"
#include "app/report/run_report.h"
#include "app/session/runs/listed_runs.h"
#include "trace/base/number_text.h"
#include "trace/base/printable.h"
#include "trace/base/saturated.h"
#include "trace/base/text.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/sqlite/stop_reading.h"
#include "trace/store/upkeep/verify.h"
#include "ui/present/format.h"

namespace shardlens::app::cli {
namespace {

using trace::base::grouped;
using trace::store::Damage;
using trace::store::VerifyReport;

struct VerifyArguments : CommonArguments {
  std::string run;
};

std::int64_t sum_of(const VerifyReport& report, std::int64_t trace::store::VerifiedRank::*figure) {
  std::int64_t sum = 0;
  for (const auto& [rank, figures] : report.ranks) sum += figures.*figure;
  return sum;
}

report::Json damage_json(const Damage& part) {
  const bool has_times = part.lane >= 0;
  return {{"file", part.file},
          {"rank", report::known(part.rank >= 0, part.rank)},
          {"lane", report::known(part.lane >= 0, part.lane)},
          {"kind", report::text_or_null(part.kind)},
          {"first_ns", report::known(has_times, part.first_ns)},
          {"last_ns", report::known(has_times, part.last_ns)},
          {"events", part.events},
          {"what", part.what}};
}

report::Json verified_json(const std::filesystem::path& run, const VerifyReport& report) {
  report::Json ranks = report::Json::array();
  for (const auto& [rank, figures] : report.ranks) {
    ranks.push_back({{"rank", rank},
                     {"chunks", figures.chunks},
                     {"events", figures.events},
                     {"readable_events", figures.readable_events}});
  }
  const auto lost_json = [](const trace::model::Lost& lost) -> report::Json {
    return {{"rank", lost.rank}, {"reason", lost.reason}, {"count", lost.count}};
  };
  return {{"run", run.string()},
          {"intact", report.damage.empty()},
          {"files", report.files},
          {"bytes", report.bytes},
          {"ranks", std::move(ranks)},
          {"damage", report::array_of(report.damage, damage_json)},
          {"further_damage", report.further_damage},
          {"lost", report::array_of(report.lost, lost_json)},
          {"notes", report.notes}};
}

std::string seconds_text(std::int64_t time_ns, const VerifyReport& report) {
  return trace::base::formatted(
      "%.3f s",
      static_cast<double>(trace::base::saturated_difference(time_ns, report.start_ns)) / 1e9);
}

std::string damage_text(const Damage& part, const VerifyReport& report) {
  std::string text = "  " + part.file;
  if (part.rank >= 0) text += ", rank " + std::to_string(part.rank);
  if (part.lane >= 0) {
    text += ", lane " + std::to_string(part.lane) + ", " + grouped(part.events) + " " + part.kind +
            " events from " + seconds_text(part.first_ns, report) + " to " +
            seconds_text(part.last_ns, report);
  }
  return text + ": " + part.what + "\n";
}

std::string verified_text(const std::filesystem::path& run, const VerifyReport& report) {
  const std::int64_t events = sum_of(report, &trace::store::VerifiedRank::events);
  const std::int64_t readable = sum_of(report, &trace::store::VerifiedRank::readable_events);
  std::string text = trace::base::printable_line(run.string()) + ": " +
                     std::to_string(report.ranks.size()) +
                     (report.ranks.size() == 1 ? " rank, " : " ranks, ") + grouped(events) +
                     " events, " + grouped(sum_of(report, &trace::store::VerifiedRank::chunks)) +
                     " chunks, " + ui::present::bytes_text(report.bytes) + "\n";
  for (const trace::model::Lost& one : report.lost) {
    text += "Lost while recording, rank " + std::to_string(one.rank) + ": " + grouped(one.count) +
            ", " + one.reason + "\n";
  }
  for (const std::string& note : report.notes) text += "Note: " + note + "\n";
  if (report.damage.empty()) return text + "Intact: pages, rows, checksums and counts are right\n";
  text += "Damaged, times from the start of the run:\n";
  for (const Damage& part : report.damage) text += damage_text(part, report);
  if (report.further_damage > 0) text += "  and " + grouped(report.further_damage) + " more\n";
  text += "Can still be read: " + grouped(readable) + " of " + grouped(events) + " events";
  std::string ranks;
  for (const auto& [rank, figures] : report.ranks) {
    const bool is_whole = figures.readable_events == figures.events;
    if (is_whole) ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
  }
  return text + (ranks.empty() ? "" : "; all of rank " + ranks) + "\n";
}

trace::base::Result<int> verify(const VerifyArguments& arguments) {
  TRY_ASSIGN(const auto run, session::find_listed_run(arguments.run, arguments.runs_dir));
  StopRequest stop("checking");
  trace::store::VerifyOptions options;
  options.progress = stop.progress();
  const trace::store::StopReading stop_reading([&] { return stop.is_made(); });
  TRY_ASSIGN(const auto report, stop.ended(report::check_run(run, options)));
  print_result(arguments.as_json() ? report::dump_json(verified_json(run, report))
                                   : verified_text(run, report));
  return report.damage.empty() ? kDone : kFailed;
}

}  // namespace

void add_verify_command(CommandLine& line) {
  const auto [command, arguments] =
      add_command(line, "verify", "Checks that all of a run can be read", verify);
  add_run(*command, arguments->run);
  add_common(*command, *arguments);
  command->footer(
      "Looks at every page of every file, the checksums of all rows and blocks of events, whether\n"
      "there are as many as were committed, less those counted as lost, and makes the report. The\n"
      "exit code is 1 if anything is damaged; records lost while recording are told, and no\n"
      "damage.\n\n"
      "Example:\n"
      "  shardlens verify baseline.shardlens --json");
}

}  // namespace shardlens::app::cli
