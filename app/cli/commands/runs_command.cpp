// `shardlens runs`: the library's runs, and the user's words about one of them.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "app/cli/commands.h"
#include "app/cli/terminal/options.h"
#include "app/cli/terminal/output.h"
#include "app/launch/program_files.h"
#include "app/report/report_json.h"
#include "app/report/text_table.h"
#include "app/session/runs/listed_runs.h"
#include "app/session/runs/run_words.h"
#include "trace/store/run/run_folder.h"
#include "ui/present/format.h"
#include "ui/present/tables/ledger_cells.h"

namespace shardlens::app::cli {
namespace {

struct RunsArguments : CommonArguments {
  std::string run;
  std::string name, note;
  std::vector<std::string> tags, untags;
  bool examples = false;
  const CLI::App* command = nullptr;  // which options were given
};

report::Json places(const trace::model::Bookmarks& bookmarks) {
  return report::array_of(bookmarks, [](const auto& bookmark) -> report::Json {
    return {{"time_ns", bookmark.time_ns}, {"name", bookmark.name}};
  });
}

report::Json run_description(const session::LibraryRun& record) {
  const auto& info = record.info;
  const auto& summary = record.summary;
  return {{"number", report::known(record.number > 0, record.number)},
          {"name", info.name},
          {"folder", info.folder},
          {"started_ns", report::known(ui::present::is_date(info.start_ns), info.start_ns)},
          {"status", trace::model::to_string(info.status)},
          {"ranks", report::known(info.world_size > 0, info.world_size)},
          {"steps", summary.steps_executed},
          {"step_ms", report::known(summary.step_ns.mean > 0, summary.step_ns.mean / 1e6)},
          {"note", info.note},
          {"tags", info.tags},
          {"bookmarks", places(info.bookmarks)}};
}

std::vector<std::string> run_cells(const session::LibraryRun& record) {
  const auto& info = record.info;
  const double step = record.summary.step_ns.mean;
  return {record.number > 0 ? std::to_string(record.number) : "",
          info.name,
          ui::present::is_date(info.start_ns) ? ui::present::format_date(info.start_ns) : "",
          std::string(trace::model::to_string(info.status)),
          info.world_size > 0 ? std::to_string(info.world_size) : "",
          std::to_string(record.summary.steps_executed),
          step > 0 ? ui::present::format_duration(step).text() : "",
          ui::present::tags_text(info.tags),
          info.note};
}

int list(const RunsArguments& options) {
  auto found = options.examples ? session::listed_examples(launch::bundled_runs())
                                : session::listed_runs(options.runs_dir);
  report::Json all = report::Json::array();
  report::TextTable table({{"run", report::Align::kRight},
                           {.heading = "name", .is_name = true},
                           {"started"},
                           {"status"},
                           {"ranks", report::Align::kRight},
                           {"steps", report::Align::kRight},
                           {"step", report::Align::kRight},
                           {"tags"},
                           {"note"}});
  for (auto& run : found.runs) {
    const auto record = session::with_figures(std::move(run));
    if (!record) {
      found.problems.push_back(record.error().message);
      continue;
    }
    all.push_back(run_description(*record));
    table.add_row(run_cells(*record));
  }
  if (options.as_json()) {
    print_result(report::dump_json(all));
  } else if (table.empty()) {
    print_result(options.examples ? "No runs came with this program.\n"
                                  : "No runs. `shardlens runs --examples` lists those that came "
                                    "with the program.\n");
  } else {
    print_result(table.text());
  }
  if (!found.warning.empty()) print_message("warning: " + found.warning);
  for (const auto& problem : found.problems) print_message("error: " + problem);
  return found.problems.empty() ? kDone : kFailed;
}

trace::base::Result<void> change(const RunsArguments& options) {
  const CLI::App& command = *options.command;
  TRY_ASSIGN(const auto run, session::find_listed_run(options.run, options.runs_dir, {}));
  trace::store::RunWords words;
  if (command.count("--rename") > 0) words.name = options.name;
  if (command.count("--note") > 0) words.note = options.note;
  if (!options.tags.empty() || !options.untags.empty()) {
    TRY_ASSIGN(const auto info, trace::store::read_run_info(run));
    auto tags = ui::present::tags_from_text(ui::present::tags_text(info.tags) + " " +
                                            ui::present::tags_text(options.tags));
    std::erase_if(tags, [&](const std::string& tag) {
      return std::ranges::find(options.untags, tag) != options.untags.end();
    });
    words.tags = std::move(tags);
  }
  return session::change_words(options.runs_dir, run, std::move(words));
}

trace::base::Result<int> list_or_change(const RunsArguments& options) {
  const CLI::App& command = *options.command;
  const bool changes = command.count("--rename") + command.count("--note") +
                           command.count("--tag") + command.count("--untag") >
                       0;
  if (options.run.empty() && !changes) return list(options);
  if (options.run.empty() || !changes) {
    return trace::base::fail(trace::base::ErrorKind::kUsage,
                             "Name a run together with --rename, --note, --tag or --untag; without "
                             "either, all runs are listed. Its figures: shardlens report RUN.");
  }
  return change(options).map([] { return kDone; });
}

}  // namespace

void add_runs_command(CommandLine& line) {
  const auto [command, options] =
      add_command(line, "runs", "Lists the library's runs; names, notes and tags of one of them",
                  list_or_change);
  options->command = command;
  command->add_option("RUN", options->run, "The run to rename, note or tag");
  command->add_flag("--examples", options->examples, "Those that came with the program instead");
  command->add_option("--rename", options->name, "What it is called from now on")
      ->type_name("NAME");
  command->add_option("--note", options->note, "A note about it; \"\" takes it away")
      ->type_name("TEXT");
  add_repeated(*command, "--tag", options->tags, "A word to find it by; may be given several times",
               "TAG");
  add_repeated(*command, "--untag", options->untags, "Takes a tag away", "TAG");
  add_common(*command, *options);
  command->footer(
      "A run's number is given once and kept; commands take it as they take a name. Examples are "
      "named as other runs:\n"
      "  shardlens runs\n"
      "  shardlens runs \"cap 1\" --tag slow --note \"the switch was broken\"\n"
      "  shardlens runs --examples\n"
      "  shardlens report \"one of them\"");
}

}  // namespace shardlens::app::cli
