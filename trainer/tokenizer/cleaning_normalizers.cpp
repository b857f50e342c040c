// Normalizers that clean text of control characters and odd spaces.
#include "trainer/tokenizer/text_change.h"
#include "trainer/tokenizer/text_normalizer.h"
#include "trainer/tokenizer/unicode.h"
#include "trainer/tokenizer/utf8.h"

namespace shardlens::trainer {

namespace {

// Of Google's neural machine translation: control characters go, rarer spaces become plain ones.
class Nmt final : public TextNormalizer {
 public:
  void normalize(NormalizedText& text) const override {
    change_all(text, [](std::string_view part) {
      std::string cleaned;
      for (std::size_t at = 0; at < part.size();) {
        const char32_t c = next_code_point(part, at);
        if (!is_removed(c)) append_utf8(is_space(c) ? U' ' : c, cleaned);
      }
      return cleaned;
    });
  }

 private:
  static bool is_removed(char32_t c) {
    return (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F ||
           c == 0x8F || c == 0x9F;
  }
  static bool is_space(char32_t c) {
    return c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
           (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
           c == 0xFEFF || c == 0xFFFD;
  }
};

class Bert final : public TextNormalizer {
 public:
  Bert(bool clean, bool separate_chinese, bool strip_accents, bool lower)
      : clean_(clean),
        separate_chinese_(separate_chinese),
        strip_accents_(strip_accents),
        lower_(lower) {}

  void normalize(NormalizedText& text) const override {
    change_all(text, [&](std::string_view part) {
      std::string bert = cleaned(part);
      if (strip_accents_ && !is_ascii(bert)) {
        bert = filtered(trainer::normalize(NormalizationForm::kNfd, bert),
                        [](char32_t c) { return !is_nonspacing_mark(c); });
      }
      return lower_ ? lowercase(bert) : bert;
    });
  }

 private:
  std::string cleaned(std::string_view text) const {
    std::string result;
    result.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
      const char32_t c = next_code_point(text, at);
      if (clean_ && (c == 0 || c == kReplacementCharacter || is_bert_control(c))) continue;
      const bool separate = separate_chinese_ && is_chinese(c);
      if (separate) result.push_back(' ');
      append_utf8(clean_ && is_white_space(c) ? U' ' : c, result);
      if (separate) result.push_back(' ');
    }
    return result;
  }

  // The blocks of BERT's own tokenizer, with its misprint of one (2B920 for 2B820).
  static bool is_chinese(char32_t c) {
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
           (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
           (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
  }

  bool clean_, separate_chinese_, strip_accents_, lower_;
};

}  // namespace

std::unique_ptr<TextNormalizer> nmt_normalizer() { return std::make_unique<Nmt>(); }

std::unique_ptr<TextNormalizer> bert_normalizer(bool clean, bool separate_chinese,
                                                bool strip_accents, bool lower) {
  return std::make_unique<Bert>(clean, separate_chinese, strip_accents, lower);
}

}  // namespace shardlens::trainer
