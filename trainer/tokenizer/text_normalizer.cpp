#include "trainer/tokenizer/text_normalizer.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "trainer/tokenizer/byte_alphabet.h"
#include "trainer/tokenizer/text_change.h"
#include "trainer/tokenizer/unicode.h"
#include "trainer/tokenizer/utf8.h"

namespace shardlens::trainer {

using trace::Result;

namespace {

void check_limit(const NormalizedText& text, std::size_t bytes) {
  if (bytes <= text.limit) return;
  throw std::runtime_error(
      "The tokenizer's normalizer makes more than " + std::to_string(text.limit) +
      " bytes of a text a fraction of that size. Use the tokenizer of the model's publisher.");
}

class Forms final : public TextNormalizer {
 public:
  explicit Forms(NormalizationForm form) : form_(form) {}
  void normalize(NormalizedText& text) const override {
    if (is_ascii(text.text)) return;
    change_all(text, [&](std::string_view part) { return trainer::normalize(form_, part); });
  }

 private:
  NormalizationForm form_;
};

class Lowercase final : public TextNormalizer {
 public:
  void normalize(NormalizedText& text) const override { change_all(text, lowercase); }
};

class StripAccents final : public TextNormalizer {
 public:
  void normalize(NormalizedText& text) const override {
    if (is_ascii(text.text)) return;
    change_all(text, [](std::string_view part) {
      return filtered(part, [](char32_t c) { return !is_mark(c); });
    });
  }
};

class Strip final : public TextNormalizer {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}
  void normalize(NormalizedText& text) const override {
    const std::string& all = text.text;
    std::size_t begin = 0, end = all.size();
    for (std::size_t at = 0; left_ && at < all.size(); begin = at) {
      if (!is_white_space(next_code_point(all, at))) break;
    }
    while (right_ && end > begin) {
      std::size_t at = character_before(all, end);
      const std::size_t last = at;
      if (!is_white_space(next_code_point(all, at))) break;
      end = last;
    }
    text.from_start = std::min(std::max(text.from_start, begin), end) - begin;
    text.text = all.substr(begin, end - begin);
  }

 private:
  bool left_, right_;
};

class Prepend final : public TextNormalizer {
 public:
  explicit Prepend(std::string content) : content_(std::move(content)) {}
  void normalize(NormalizedText& text) const override { prepend(content_, text); }

 private:
  std::string content_;
};

class Replace final : public TextNormalizer {
 public:
  Replace(TextPattern pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void normalize(NormalizedText& text) const override {
    std::vector<TextRange> matches;
    if (!text.text.empty()) pattern_.find_all(text.text, matches);
    replace_matches(matches, content_, text);
  }

 private:
  TextPattern pattern_;
  std::string content_;
};

class Bytes final : public TextNormalizer {
 public:
  void normalize(NormalizedText& text) const override { change_all(text, spelled_bytes); }
};

class Sequence final : public TextNormalizer {
 public:
  explicit Sequence(std::vector<std::unique_ptr<TextNormalizer>> steps)
      : steps_(std::move(steps)) {}
  void normalize(NormalizedText& text) const override {
    for (const auto& step : steps_) {
      step->normalize(text);
      check_limit(text, text.text.size());
    }
  }

 private:
  std::vector<std::unique_ptr<TextNormalizer>> steps_;
};

using Made = Result<std::unique_ptr<TextNormalizer>>;

Made parse_bert(const Definition& definition) {
  TRY_ASSIGN(const bool clean, definition.flag("clean_text"));
  TRY_ASSIGN(const bool chinese, definition.flag("handle_chinese_chars"));
  TRY_ASSIGN(const bool lower, definition.flag("lowercase"));
  TRY_ASSIGN(const bool strip, definition.flag_or("strip_accents", lower));
  return bert_normalizer(clean, chinese, strip, lower);
}

Made parse_sequence(const Definition& definition) {
  TRY_ASSIGN(const Definition list, definition.at("normalizers"));
  TRY_ASSIGN(const std::vector<Definition> items, list.items());
  std::vector<std::unique_ptr<TextNormalizer>> steps;
  for (const Definition& item : items) {
    TRY_ASSIGN(auto step, parse_normalizer(item));
    steps.push_back(std::move(step));
  }
  return std::make_unique<Sequence>(std::move(steps));
}

Made parse_replace(const Definition& definition) {
  TRY_ASSIGN(TextPattern pattern, parse_pattern(definition));
  TRY_ASSIGN(const std::string_view content, definition.text("content"));
  return std::make_unique<Replace>(std::move(pattern), std::string(content));
}

}  // namespace

std::unique_ptr<TextNormalizer> form_normalizer(NormalizationForm form) {
  return std::make_unique<Forms>(form);
}

std::size_t grow_limit(std::size_t text_bytes) {
  // NFKD makes at most 11 times as many bytes; spelling bytes doubles them.
  return (std::size_t{1} << 20) + 64 * text_bytes;
}

void prepend(std::string_view content, NormalizedText& text) {
  if (text.text.empty()) return;
  text.text.insert(0, content);
  if (text.from_start > 0) text.from_start += content.size();
}

void replace_matches(const std::vector<TextRange>& matches, std::string_view content,
                     NormalizedText& text) {
  if (matches.empty()) return;
  std::string replaced;
  std::size_t at = 0, from_start = text.from_start;
  for (const TextRange& match : matches) {
    replaced.append(text.text, at, match.begin - at);
    replaced.append(content);
    check_limit(text, replaced.size());
    at = match.end;
    // What replaces a match counts as coming from the last character of it.
    if (match.begin >= text.from_start) continue;
    const std::size_t begin = replaced.size() - content.size();
    from_start = match.end <= text.from_start
                     ? begin + content.size() + (text.from_start - match.end)
                     : begin;
  }
  replaced.append(text.text, at);
  text.text = std::move(replaced);
  text.from_start = std::min(from_start, text.text.size());
}

Result<TextPattern> parse_pattern(const Definition& definition) {
  TRY_ASSIGN(const Definition pattern, definition.at("pattern"));
  if (const auto text = pattern.find("String")) {
    TRY_ASSIGN(const std::string_view literal, text->text());
    if (!literal.empty()) return TextPattern(std::string(literal));
    TRY_ASSIGN(RegularExpression nothing, RegularExpression::compile(""));
    return TextPattern(std::move(nothing));
  }
  TRY_ASSIGN(const std::string_view source, pattern.text("Regex"));
  auto expression = RegularExpression::compile(source);
  if (!expression) return pattern.error("is no use: " + expression.error().message);
  return TextPattern(*std::move(expression));
}

Result<std::unique_ptr<TextNormalizer>> parse_normalizer(const Definition& definition) {
  TRY_ASSIGN(const std::string_view type,
             type_of(definition, "normalizer",
                     {"Sequence", "NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Strip",
                      "StripAccents", "Replace", "Prepend", "BertNormalizer", "Nmt", "ByteLevel"}));
  if (type == "Sequence") return parse_sequence(definition);
  if (type == "NFC") return std::make_unique<Forms>(NormalizationForm::kNfc);
  if (type == "NFD") return std::make_unique<Forms>(NormalizationForm::kNfd);
  if (type == "NFKC") return std::make_unique<Forms>(NormalizationForm::kNfkc);
  if (type == "NFKD") return std::make_unique<Forms>(NormalizationForm::kNfkd);
  if (type == "Lowercase") return std::make_unique<Lowercase>();
  if (type == "StripAccents") return std::make_unique<StripAccents>();
  if (type == "BertNormalizer") return parse_bert(definition);
  if (type == "Replace") return parse_replace(definition);
  if (type == "Nmt") return nmt_normalizer();
  if (type == "ByteLevel") return std::make_unique<Bytes>();
  if (type == "Prepend") {
    TRY_ASSIGN(const std::string_view content, definition.text("prepend"));
    return std::make_unique<Prepend>(std::string(content));
  }
  TRY_ASSIGN(const bool left, definition.flag("strip_left"));
  TRY_ASSIGN(const bool right, definition.flag("strip_right"));
  return std::make_unique<Strip>(left, right);
}

}  // namespace shardlens::trainer
