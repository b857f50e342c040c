#include "ui/present/palette_match.h"

#include <algorithm>
#include <cctype>
#include <compare>
#include <numeric>
#include <utility>

#include "trace/base/text.h"
#include "trace/job/settings/settings.h"

namespace shardlens::ui::present {

namespace {

bool is_word_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || (static_cast<unsigned char>(c) & 0x80);
}

// In lower case, single spaces for all that is neither letter nor digit.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_word_letter(c)) {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

bool starts_word(std::string_view text, std::size_t i) { return i == 0 || text[i - 1] == ' '; }

bool has_word_beginning(std::string_view text, std::string_view wanted) {
  for (std::size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, at + 1)) {
    if (starts_word(text, at)) return true;
  }
  return false;
}

bool all_begin_words(std::string_view query, std::string_view text) {
  return std::ranges::all_of(trace::base::split(query, ' '), [text](std::string_view word) {
    return has_word_beginning(text, word);
  });
}

// Every letter begins a word or follows the one before it.
bool abbreviates(std::string_view query, std::string_view text) {
  std::vector<bool> ends(text.size() + 1);  // where what came so far may end
  ends[0] = true;
  bool follows = false;
  for (const char letter : query) {
    if (letter == ' ') {
      follows = false;
      continue;
    }
    std::vector<bool> next(text.size() + 1);
    bool has_ended = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
      has_ended = has_ended || ends[at];
      if (text[at] != letter) continue;
      next[at + 1] = (has_ended && starts_word(text, at)) || (follows && ends[at]);
    }
    ends = std::move(next);
    follows = true;
  }
  return std::ranges::find(ends, true) != ends.end();
}

Match best_of(const Findable& one, std::string_view query) {
  const Match by_title = match_of(query, one.title);
  // Another word for it is as good as a beginning of its title.
  Match by_words = one.words.empty() ? Match::kNone : match_of(query, one.words);
  if (by_words < Match::kPrefix) by_words = Match::kPrefix;
  const Match match = std::min(by_title, by_words);
  return one.is_weighty && match > Match::kWords ? Match::kNone : match;
}

// Up to the end of a word: "run 1" of "run 1 · cap 4", not of "run 10".
bool begins_with_words(const std::string& text, std::string_view query) {
  const std::string words = plain(text), wanted = plain(query);
  if (wanted.empty() || !words.starts_with(wanted)) return false;
  return words.size() == wanted.size() || words[wanted.size()] == ' ';
}

// Of what stands behind a name: without spaces and signs around it.
std::string value_in(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" ="), text.size()));
  return std::string(trace::base::trimmed(text));
}

}  // namespace

Match match_of(std::string_view typed, std::string_view title) {
  const std::string query = plain(typed), text = plain(title);
  if (query.empty())
    return typed.find_first_not_of(' ') == typed.npos ? Match::kWords : Match::kNone;
  if (query == text) return Match::kExact;
  if (text.starts_with(query)) return Match::kPrefix;
  if (all_begin_words(query, text)) return Match::kWords;
  if (text.find(query) != text.npos) return Match::kPart;
  return abbreviates(query, text) ? Match::kAbbreviation : Match::kNone;
}

std::vector<std::size_t> best_matches(std::string_view query, const std::vector<Findable>& all) {
  std::vector<std::size_t> indices(all.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  struct Rank {
    Match match;
    bool is_cut;  // within a word
    auto operator<=>(const Rank&) const = default;
  };
  std::vector<Rank> ranks;
  ranks.reserve(all.size());
  for (const Findable& one : all) {
    const bool is_whole =
        begins_with_words(one.title, query) || begins_with_words(one.words, query);
    ranks.push_back({best_of(one, query), !is_whole});
  }
  std::erase_if(indices, [&](std::size_t i) { return ranks[i].match == Match::kNone; });
  std::ranges::stable_sort(indices, {}, [&](std::size_t i) { return ranks[i]; });
  return indices;
}

namespace {

// The one that fits best of those that can have the value, essential ones first; nullptr: none.
const trace::job::Knob* knob_of_words(std::string_view words, const std::string& value) {
  const trace::job::Knob* best = nullptr;
  const auto rank = [&](const trace::job::Knob& knob) {
    return std::pair(std::min(match_of(words, knob.label), match_of(words, knob.name)),
                     !knob.essential);
  };
  for (const trace::job::Knob& knob : trace::job::knobs()) {
    trace::job::Settings settings;
    if (rank(knob).first > Match::kWords || value.empty()) continue;
    if (!trace::job::set_value(settings, knob.name, value)) continue;
    if (best == nullptr || rank(knob) < rank(*best)) best = &knob;
  }
  return best;
}

}  // namespace

TypedAssignment typed_assignment(std::string_view query) {
  const std::size_t cut = query.find_first_of("= ");
  if (cut == std::string_view::npos) return {};
  if (const trace::job::Knob* knob = trace::job::find_knob(query.substr(0, cut))) {
    const std::string value = value_in(query.substr(cut + 1));
    // "steps one above" begins the name of a command; why "steps=one" is none is told.
    const bool is_meant = query.find('=') != query.npos;
    trace::job::Settings settings;
    if (value.empty() || !(is_meant || trace::job::set_value(settings, knob->name, value))) {
      return {};
    }
    return {std::string(knob->name), value};
  }
  // Words that its label or name begins with: "cap 4", "bucket cap = 4".
  while (query.ends_with(' ')) query.remove_suffix(1);
  const std::size_t last = query.find_last_of("= ");
  if (last == std::string_view::npos) return {};
  const std::string value = value_in(query.substr(last));
  const trace::job::Knob* knob = knob_of_words(query.substr(0, last), value);
  if (knob == nullptr) return {};
  return {std::string(knob->name), value};
}

std::string typed_path(std::string_view query) {
  for (const std::string_view word : {"open ", "import "}) {
    if (query.size() <= word.size() || plain(query.substr(0, word.size())) + " " != word) continue;
    query = trace::base::trimmed(query.substr(word.size()));
    // What names a path, not the next word of a command.
    return query.find_first_of("/.~") == query.npos ? "" : std::string(query);
  }
  return "";
}

}  // namespace shardlens::ui::present
