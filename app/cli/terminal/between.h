// The check of an option that is a number within limits. Main thread.
#pragma once

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>

namespace shardlens::app::cli {

// CLI::Range takes "nan" for a number between any two.
inline CLI::Validator between(double least, double most) {
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
