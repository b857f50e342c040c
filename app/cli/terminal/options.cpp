#include "app/cli/terminal/options.h"

#include <cmath>
#include <utility>

#include "trace/base/text.h"
#include "trace/base/words/suggestion.h"

namespace shardlens::app::cli {

void add_common(CLI::App& command, CommonArguments& arguments,
                const std::vector<std::string>& choices) {
  arguments.format = choices.front();
  command.add_option("--format", arguments.format, "How the result is written")
      ->check(one_of(choices))
      ->capture_default_str();
  add_json(command, arguments,
           "The same as --format json: one JSON document on standard output and nothing else");
}

void add_json(CLI::App& command, CommonArguments& arguments, const std::string& what) {
  command.add_flag_callback(
      "--json", [&arguments] { arguments.format = "json"; }, what);
  add_runs_dir(command, arguments.runs_dir);
}

void add_runs_dir(CLI::App& command, std::filesystem::path& runs_dir) {
  command.add_option("--runs-dir", runs_dir, "The library: the folder that holds the runs")
      ->type_name("DIR")
      ->capture_default_str();
  // Also where it was given before the command.
  CLI::App* parent = command.get_parent();
  if (parent == nullptr) return;
  command.preparse_callback([parent, &runs_dir](std::size_t) {
    const auto given = parent->get_option("--runs-dir")->results();
    if (!given.empty()) runs_dir = given.back();
  });
}

void add_run(CLI::App& command, std::string& run) {
  command.add_option("RUN", run, "A run's name or number, its folder or a packed file")->required();
}

CLI::Option* add_repeated(CLI::App& command, const std::string& name,
                          std::vector<std::string>& values, const std::string& what,
                          const std::string& type) {
  return command.add_option(name, values, what)->type_name(type)->allow_extra_args(false);
}

std::filesystem::path without_last_slash(const std::filesystem::path& path) {
  const auto normal = path.lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

std::string meant_word(std::string_view written, const std::vector<std::string>& words) {
  const std::vector<std::string_view> names(words.begin(), words.end());
  const auto nearest = trace::base::nearest_names(written, names);
  const bool is_meant = !nearest.empty() && trace::base::is_near(written, nearest.front());
  return is_meant ? std::string(nearest.front()) : "";
}

std::string not_one_of(std::string_view written, const std::vector<std::string>& words) {
  const std::string meant = meant_word(written, words);
  return "there is no '" + std::string(written) + "'; " +
         (meant.empty() ? "there are " : "did you mean '" + meant + "'? There are ") +
         trace::base::joined(words);
}

CLI::Validator one_of(std::vector<std::string> words, bool ignores_case) {
  const CLI::Validator member =
      ignores_case ? CLI::IsMember(words, CLI::ignore_case) : CLI::IsMember(words);
  CLI::Validator check = member;  // its help names the words
  return check.operation([member, words = std::move(words)](std::string& written) {
    std::string word = written;
    if (!member(word).empty()) return not_one_of(written, words);
    written = std::move(word);
    return std::string();
  });
}

CLI::Validator between(double least, double most) {
  const CLI::Validator is_number(
      [](std::string& text) {
        double value = 0;
        const bool is_any = CLI::detail::lexical_cast(text, value) && std::isnan(value);
        return is_any ? text + " is no number" : std::string();
      },
      "");
  return is_number & CLI::Range(least, most);
}

}  // namespace shardlens::app::cli
