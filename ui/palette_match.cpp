#include "ui/palette_match.h"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "trace/model/settings.h"

namespace shardlens::ui {

namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

bool starts_word(std::string_view text, std::size_t i) {
  return i == 0 || std::isalnum(static_cast<unsigned char>(text[i - 1])) == 0;
}

}  // namespace

int match_score(std::string_view query, std::string_view text) {
  int score = 0, run = 0;
  std::size_t at = 0;
  for (const char wanted : query) {
    if (wanted == ' ') continue;
    const std::size_t before = at;
    while (at < text.size() && lower(text[at]) != lower(wanted)) ++at;
    if (at == text.size()) return -1;
    run = at == before ? run + 1 : 0;
    score += 1 + 2 * run + (starts_word(text, at) ? 6 : 0);
    ++at;
  }
  return score;
}

std::vector<std::size_t> best_matches(std::string_view query,
                                      const std::vector<std::string>& texts) {
  std::vector<std::size_t> indices(texts.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  std::vector<int> scores;
  scores.reserve(texts.size());
  for (const std::string& text : texts) scores.push_back(match_score(query, text));
  std::erase_if(indices, [&](std::size_t i) { return scores[i] < 0; });
  std::stable_sort(indices.begin(), indices.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  return indices;
}

TypedAssignment typed_assignment(std::string_view query) {
  const std::size_t cut = query.find_first_of("= ");
  if (cut == std::string_view::npos) return {};
  const trace::Knob* knob = trace::find_knob(query.substr(0, cut));
  if (knob == nullptr) return {};
  std::string_view value = query.substr(cut + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '=')) value.remove_prefix(1);
  if (value.empty()) return {};
  return {std::string(knob->name), std::string(value)};
}

}  // namespace shardlens::ui
