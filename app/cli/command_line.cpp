#include "app/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/commands.h"
#include "app/cli/job/run_job.h"
#include "app/cli/terminal/options.h"
#include "app/cli/terminal/output.h"
#include "app/launch/program_files.h"
#include "app/session/runs/listed_runs.h"
#include "app/window/window_main.h"
#include "trace/base/printable.h"
#include "trace/interop/kineto_import.h"

namespace shardlens::app::cli {
namespace {

struct WindowChoice {
  std::vector<std::string> runs;
  std::filesystem::path runs_dir = "runs";
  std::filesystem::path trainer_status;
  std::string view;
  std::vector<std::string> commands;  // one of which may have been meant
};

tl::unexpected<trace::base::Error> need_display(const std::string& instead) {
  return trace::base::fail(trace::base::ErrorKind::kFailed,
                           "There is no display (DISPLAY and WAYLAND_DISPLAY are not set), so no "
                           "window. Use `shardlens " +
                               instead + "`, or a virtual display: xvfb-run -a shardlens …");
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

// CLI11 says which option it does not know, not which one was meant.
void suggest_options(const CLI::App& app, int argc, const char* const* argv) {
  const CLI::App* command = &app;
  if (const auto chosen = app.get_subcommands(); !chosen.empty()) command = chosen.front();
  std::vector<std::string> known;
  for (const auto* option : command->get_options()) {
    for (const auto& name : option->get_lnames()) known.push_back(name);
  }
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument(argv[i]);
    if (argument == "--") return;
    if (!argument.starts_with("--")) continue;
    const auto written = argument.substr(2, argument.find('=') - 2);
    if (std::ranges::find(known, written) != known.end()) continue;
    const auto meant = meant_word(written, known);
    if (!meant.empty()) print_message("Did you mean --" + meant + "?");
  }
}

// What is no trace: JSON is looked into when it is opened.
bool names_settings(const std::filesystem::path& file) {
  std::error_code error;
  return (file.extension() == ".yaml" || file.extension() == ".yml") &&
         std::filesystem::is_regular_file(file, error);
}

trace::base::Result<int> open_window(WindowChoice choice, const Surroundings& surroundings) {
  window::WindowOptions options;
  if (!choice.view.empty()) {
    TRY_ASSIGN(auto view, ui::state::parse_address(choice.view));
    TRY_ASSIGN(const auto shown, session::find_listed_run(view.run, choice.runs_dir));
    options.runs.push_back(without_last_slash(shown));
    view.run = options.runs.front().filename().string();
    for (const std::string& other : view.others) {
      TRY_ASSIGN(auto run, session::find_listed_run(other, choice.runs_dir));
      options.compared.push_back(std::move(run));
    }
    options.view = std::move(view);
  }
  options.runs_dir = choice.runs_dir;
  options.trainer_status = choice.trainer_status;
  options.preferences = surroundings.preferences;
  options.home = surroundings.home;
  for (const auto& name : choice.runs) {
    if (trace::interop::may_be_kineto(name) || names_settings(name)) {
      options.traces.emplace_back(name);
      continue;
    }
    auto run = session::find_listed_run(name, choice.runs_dir);
    if (run) {
      options.runs.push_back(std::move(*run));
      continue;
    }
    // Also where a command was misspelt.
    const bool missing = run.error().kind == trace::base::ErrorKind::kMissing;
    if (!missing) return tl::make_unexpected(run.error());
    const auto command = meant_word(name, choice.commands);
    const std::string hint = command.empty()
                                 ? " For commands see shardlens --help."
                                 : " Did you mean the command `shardlens " + command + "`?";
    return trace::base::fail(trace::base::ErrorKind::kUsage, run.error().message + hint);
  }
  if (surroundings.has_display) return window::run_window(options).map([] { return kDone; });
  if (!options.traces.empty()) return need_display("import FILE…");
  if (!options.runs.empty()) return need_display("report RUN");
  print_message("No display: training the default job instead of opening a window");
  launch::JobRequest request = launch::default_job(launch::probe_cuda());
  request.runs_dir = choice.runs_dir;
  return run_job(request, false);
}

void add_commands(CommandLine& line) {
  auto choice = std::make_shared<WindowChoice>();
  choice->trainer_status = line.surroundings.trainer_status;
  line.app.add_option(
      "RUN", choice->runs,
      "What to open: names, folders or packed files of runs; traces of PyTorch's "
      "profiler (.json, .json.gz, one per rank) are imported, settings (.yaml, ds_config.json) "
      "become the next run's");
  line.app
      .add_option("--view", choice->view,
                  "A part of a run, settings to predict for it, or runs beside each other,\n"
                  "as \"Copy this view\" in the window writes it")
      ->type_name("VIEW");
  line.app
      .add_option("--trainer-status", choice->trainer_status,
                  "The file in which the set-up script says how far the trainer is")
      ->group("");
  add_runs_dir(line.app, choice->runs_dir);
  line.chosen = [choice, &line] { return open_window(*choice, line.surroundings); };
  for (auto* const add_to :
       {add_run_command,      add_sweep_command,  add_tune_command,       add_calibrate_command,
        add_record_command,   add_runs_command,   add_report_command,     add_compare_command,
        add_replay_command,   add_learn_command,  add_screenshot_command, add_query_command,
        add_pack_command,     add_verify_command, add_import_command,     add_export_command,
        add_generate_command, add_plan_command,   add_predict_command,    add_settings_command,
        add_bench_command,    add_doctor_command}) {
    add_to(line);
  }
  choice->commands = command_names(line.app);
}

// Where "--" begins another program's words: CLI11 would take one like [0.9,0.999] apart. Of our
// own ones, those behind it are no options.
int end_of_own_words(const CLI::App& app, int argc, const char* const* argv) {
  const auto names = command_names(app);
  std::string_view command;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    if (word == "--") return command == "record" || command == "bench" ? i : argc;
    if (command.empty() && std::ranges::find(names, word) != names.end()) command = word;
  }
  return argc;
}

// A result that did not arrive, say since the disk is full, is not done. Who reads no further has
// what it wanted.
int code_after_writing(int code) {
  if ((std::fflush(stdout) == 0 && std::ferror(stdout) == 0) || reader_has_left()) return code;
  print_message("error: the result could not be written to standard output. Is the disk full?");
  return code == kDone ? kFailed : code;
}

}  // namespace

int run_command_line(int argc, const char* const* argv, const Surroundings& surroundings) {
  CLI::App app("Launches, records, shows and tunes data-parallel fine-tuning.", "shardlens");
  app.set_version_flag("--version", "shardlens " SHARDLENS_VERSION);
  app.require_subcommand(0, 1);
  app.footer(
      "Without a command the window opens; with no display the default job is trained.\n"
      "RUN is a run's name, its folder or a packed file.\n"
      "Exit code: 0 done, 1 the job or the check failed, 2 wrong use.\n\n"
      "Examples:\n"
      "  shardlens\n"
      "  shardlens run --set bucket_cap_mb=1 --ranks 2 --steps 30 --device cpu --name \"cap 1\"\n"
      "  shardlens report \"cap 1\"\n"
      "  shardlens compare \"cap 1\" baseline\n"
      "  shardlens replay \"cap 1\" --speed 4");
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return trace::base::printable_line(error.what()) + "\nRun with --help for more information.";
  });
  CommandLine line{app, surroundings};
  add_commands(line);
  const int own = end_of_own_words(app, argc, argv);
  line.handed_on.assign(argv + std::min(own + 1, argc), argv + argc);
  try {
    app.parse(own, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11's own codes tell only --help and --version from wrong use.
    std::ostringstream result, message;
    const bool is_answer = app.exit(error, result, message) == 0;
    print_result(result.str());
    print_lines(message.str());
    if (!is_answer) suggest_options(app, own, argv);
    return is_answer ? kDone : kWrongUse;
  }
  const auto code = line.chosen();
  return code_after_writing(code ? *code : report_error(code.error()));
}

}  // namespace shardlens::app::cli
