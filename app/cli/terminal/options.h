// Options as several commands have them, and checks of their values. Main thread.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace shardlens::app::cli {

// The options that nearly every command has.
struct CommonArguments {
  std::string format;
  std::filesystem::path runs_dir = "runs";

  bool as_json() const { return format == "json"; }
};

// --format with these choices, the first being the default, --json for the choice "json", and
// --runs-dir.
void add_common(CLI::App& command, CommonArguments& arguments,
                const std::vector<std::string>& choices = {"text", "json"});
// Only --json and --runs-dir; `what`: what --json does, for the help.
void add_json(CLI::App& command, CommonArguments& arguments, const std::string& what);
void add_runs_dir(CLI::App& command, std::filesystem::path& runs_dir);
// RUN, as every command has it that needs one.
void add_run(CLI::App& command, std::string& run);
// An option that may be given several times, with one value each time: what follows may be another
// argument.
CLI::Option* add_repeated(CLI::App& command, const std::string& name,
                          std::vector<std::string>& values, const std::string& what,
                          const std::string& type);

// "runs/first" of "runs/./first/", as shells complete it.
std::filesystem::path without_last_slash(const std::filesystem::path& path);
// "" where none of them is near enough to be what was meant.
std::string meant_word(std::string_view written, const std::vector<std::string>& words);
// "there is no 'trce'; did you mean 'trace'? There are recorder, trace"
std::string not_one_of(std::string_view written, const std::vector<std::string>& words);
// The check of an option that takes these. `ignores_case`: its value becomes the word as it stands
// here; for transform().
CLI::Validator one_of(std::vector<std::string> words, bool ignores_case = false);
// The check of a number within limits: CLI::Range takes "nan" for one between any two.
CLI::Validator between(double least, double most);

}  // namespace shardlens::app::cli
