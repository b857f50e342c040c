// The whole command line: parses it and carries out what it asks for. Main thread.
#pragma once

#include <filesystem>

namespace shardlens::app::cli {

// What the program finds around it; read from the environment by main() alone.
struct Surroundings {
  bool has_display = false;
  std::filesystem::path trainer_status;  // see WindowOptions
  std::filesystem::path preferences;     // see WindowOptions
  std::filesystem::path home;            // the user's folder; empty: not known
};

// Returns the exit code. Messages go to standard error, results to standard output.
int run_command_line(int argc, const char* const* argv, const Surroundings& surroundings);

}  // namespace shardlens::app::cli
