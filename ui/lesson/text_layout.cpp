#include "ui/lesson/text_layout.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace shardlens::ui::lesson {

namespace {

// What nothing breaks: runs of characters, each of one style.
struct Word {
  std::vector<state::StyledText> parts;
  state::TextStyle space = state::TextStyle::kPlain;  // before it
  bool breaks_before = false;
};

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Whether the space that `rest` begins with stands between a figure, which ends `word`, and its
// unit: "80 %", "251.3 ms".
bool is_unit_of(const Word& word, std::string_view rest) {
  constexpr std::array<std::string_view, 10> kUnits{"%",   "ms",  "µs",   "s",    "KiB",
                                                    "MiB", "GiB", "GB/s", "MB/s", "Gbit/s"};
  if (word.parts.empty() || !rest.starts_with(' ')) return false;
  const char last = word.parts.back().text.back();
  rest.remove_prefix(1);
  const std::string_view unit = rest.substr(0, rest.find_first_of(" \n.,:;)"));
  return last >= '0' && last <= '9' && std::ranges::find(kUnits, unit) != kUnits.end();
}

void add_character(Word& word, state::TextStyle style, char c) {
  if (word.parts.empty() || word.parts.back().style != style) word.parts.push_back({style, ""});
  word.parts.back().text += c;
}

std::vector<Word> words_of(const std::vector<state::StyledText>& runs) {
  std::vector<Word> words;
  Word word;
  const auto finish = [&] {
    if (word.parts.empty()) return;
    words.push_back(std::exchange(word, {}));
  };
  for (const state::StyledText& run : runs) {
    for (std::size_t i = 0; i < run.text.size(); ++i) {
      const char c = run.text[i];
      if (!is_space(c) || is_unit_of(word, std::string_view(run.text).substr(i))) {
        add_character(word, run.style, c);
        continue;
      }
      finish();
      word.space = run.style;
      word.breaks_before = word.breaks_before || c == '\n';
    }
  }
  finish();
  return words;
}

// Bytes of the first character, which UTF-8 may write with several.
std::size_t first_character(std::string_view text) {
  std::size_t end = 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  return end;
}

class Placer {
 public:
  Placer(float width, const MeasureText& measure) : width_(width), measure_(measure) {}

  void place(const Word& word) {
    if (out_.lines == 0) out_.lines = 1;
    float wide = 0;
    for (const auto& part : word.parts) wide += measure_(part.style, part.text);
    const float space = x_ > 0 ? measure_(word.space, " ") : 0;
    if (x_ > 0 && (word.breaks_before || x_ + space + wide > width_)) {
      next_line();
    } else if (x_ > 0) {
      add({word.space, " "});
    }
    for (const auto& part : word.parts) wide > width_ ? add_broken(part) : add(part);
  }
  PlacedLines take() { return std::move(out_); }

 private:
  void next_line() {
    ++out_.lines;
    x_ = 0;
  }
  // One text as long as the style stays: it is drawn, and read, as a whole.
  void add(const state::StyledText& part) {
    const int line = out_.lines - 1;
    const bool goes_on = !out_.texts.empty() && out_.texts.back().line == line &&
                         out_.texts.back().style == part.style;
    if (!goes_on) out_.texts.push_back({part.style, "", line, x_, 0});
    PlacedText& text = out_.texts.back();
    text.text += part.text;
    text.width = measure_(text.style, text.text);
    x_ = text.x + text.width;
  }
  void add_broken(const state::StyledText& part) {
    for (std::string_view rest = part.text; !rest.empty();) {
      const std::string_view character = rest.substr(0, first_character(rest));
      if (x_ > 0 && x_ + measure_(part.style, character) > width_) next_line();
      add({part.style, std::string(character)});
      rest.remove_prefix(character.size());
    }
  }

  const float width_;
  const MeasureText& measure_;
  PlacedLines out_;
  float x_ = 0;
};

}  // namespace

PlacedLines place_words(const std::vector<state::StyledText>& runs, float width,
                        const MeasureText& measure) {
  Placer placer(width, measure);
  for (const Word& word : words_of(runs)) placer.place(word);
  return placer.take();
}

}  // namespace shardlens::ui::lesson
