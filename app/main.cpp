// The program: looks at its surroundings once and hands over to the command line.
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include "app/cli/command_line.h"
#include "app/cli/terminal/output.h"
#include "trace/base/spawn.h"

int main(int argc, char** argv) {
  using namespace shardlens::app;
  // A file size limit is then an error of writing, as a full disk is, and not a sudden end.
  std::signal(SIGXFSZ, SIG_IGN);
  // Where a parent ignores it, the system keeps no child's exit for who waits for it.
  std::signal(SIGCHLD, SIG_DFL);
  shardlens::trace::base::allow_most_open_files();
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  // The XDG base directories: ~/.config unless set otherwise.
  const auto preferences = [&]() -> std::filesystem::path {
    const char* file = "shardlens/preferences.yaml";
    if (set("XDG_CONFIG_HOME")) return std::filesystem::path(std::getenv("XDG_CONFIG_HOME")) / file;
    if (set("HOME")) return std::filesystem::path(std::getenv("HOME")) / ".config" / file;
    return {};
  };
  cli::Surroundings surroundings;
  surroundings.preferences = preferences();
  if (set("HOME")) surroundings.home = std::getenv("HOME");
  surroundings.has_display = set("DISPLAY") || set("WAYLAND_DISPLAY");
  try {
    return cli::run_command_line(argc, argv, surroundings);
  } catch (const std::exception& error) {
    // Only what nothing foresaw: out of memory, a fault in a library.
    cli::print_message(std::string("error: ") + error.what());
    return cli::kFailed;
  }
}
