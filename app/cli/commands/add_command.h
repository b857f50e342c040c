// A command with its arguments, which live until it is carried out. Main thread.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>

#include "app/cli/commands.h"

namespace shardlens::app::cli {

// `run` gets the arguments as they were parsed, and returns the exit code or the error to report.
template <typename Arguments>
std::pair<CLI::App*, std::shared_ptr<Arguments>> add_command(
    CLI::App& app, Action& chosen, const std::string& name, const std::string& purpose,
    trace::base::Result<int> (*run)(const Arguments&)) {
  auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand(name, purpose);
  command->callback(
      [&chosen, arguments, run] { chosen = [arguments, run] { return run(*arguments); }; });
  return {command, std::move(arguments)};
}

}  // namespace shardlens::app::cli
