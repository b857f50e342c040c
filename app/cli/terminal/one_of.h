// Words of which one is taken: a command's or an option's. Main thread.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shardlens::app::cli {

// "there is no 'trce'; did you mean 'trace'? There are recorder, trace"
std::string not_one_of(std::string_view written, const std::vector<std::string>& words);

// The check of an option that takes these. `ignores_case`: its value becomes the word as it stands
// here; for transform().
CLI::Validator one_of(std::vector<std::string> words, bool ignores_case = false);

}  // namespace shardlens::app::cli
