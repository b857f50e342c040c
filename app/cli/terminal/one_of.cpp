#include "app/cli/terminal/one_of.h"

#include <utility>

#include "trace/base/text.h"
#include "trace/base/words/suggestion.h"

namespace shardlens::app::cli {

std::string not_one_of(std::string_view written, const std::vector<std::string>& words) {
  const std::vector<std::string_view> names(words.begin(), words.end());
  const auto nearest = trace::base::nearest_names(written, names);
  const bool is_meant = !nearest.empty() && trace::base::is_near(written, nearest.front());
  return "there is no '" + std::string(written) + "'; " +
         (is_meant ? "did you mean '" + std::string(nearest.front()) + "'? There are "
                   : "there are ") +
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

}  // namespace shardlens::app::cli
