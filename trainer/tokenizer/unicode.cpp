#include "trainer/tokenizer/unicode.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/uniset.h>

#include <array>
#include <memory>

#include "trainer/tokenizer/utf8.h"

namespace shardlens::trainer {

using trace::ErrorKind;
using trace::fail;
using trace::Result;

namespace {

UChar32 code(char32_t c) { return static_cast<UChar32>(c); }

bool is_of(char32_t c, std::uint32_t categories) {
  return (U_GET_GC_MASK(code(c)) & categories) != 0;
}

bool is_as_old_as(char32_t c, std::uint8_t version) {
  if (c < 0x80) return true;
  UVersionInfo age{};
  u_charAge(code(c), age);
  return age[0] != 0 && (age[0] < version || (age[0] == version && age[1] == 0));
}

// ICU's four forms, each confined to the characters of Unicode 9.
class Normalizers {
 public:
  Normalizers() {
    known_.applyPattern(u"[:age=9.0:]", status_);
    known_.freeze();
    const std::array base{
        icu::Normalizer2::getNFCInstance(status_), icu::Normalizer2::getNFDInstance(status_),
        icu::Normalizer2::getNFKCInstance(status_), icu::Normalizer2::getNFKDInstance(status_)};
    if (U_FAILURE(status_)) return;
    for (std::size_t i = 0; i < base.size(); ++i) {
      forms_[i] = std::make_unique<icu::FilteredNormalizer2>(*base[i], known_);
    }
  }

  UErrorCode status() const { return status_; }
  const icu::Normalizer2& form(NormalizationForm form) const {
    return *forms_[static_cast<std::size_t>(form)];
  }

 private:
  UErrorCode status_ = U_ZERO_ERROR;
  icu::UnicodeSet known_;
  std::array<std::unique_ptr<icu::FilteredNormalizer2>, 4> forms_;  // by NormalizationForm
};

const Normalizers& normalizers() {
  static const Normalizers kNormalizers;
  return kNormalizers;
}

// ICU counts in 32 bits. Nothing combines with or across an ASCII control character or space, so a
// longer text is cut before one of them.
std::size_t part_for_icu(std::string_view text) {
  constexpr std::size_t kMost = std::size_t{1} << 28;
  if (text.size() <= kMost) return text.size();
  const std::size_t space = text.find_last_of(" \n", kMost);
  if (space != std::string_view::npos && space > 0) return space;
  std::size_t at = kMost;
  while ((static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

}  // namespace

bool is_white_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  return u_isUWhiteSpace(code(c)) != 0;
}

bool is_word(char32_t c) {
  if (c < 0x80)
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
  return u_isUAlphabetic(code(c)) != 0 || is_of(c, U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK) ||
         u_hasBinaryProperty(code(c), UCHAR_JOIN_CONTROL) != 0;
}

bool is_numeric(char32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9';
  return is_of(c, U_GC_N_MASK);
}

bool is_mark(char32_t c) {
  if (c < 0x300) return false;
  if (c == 0x1CF2 || c == 0x1CF3) return true;  // became letters in Unicode 12
  if (c == 0x111C9) return false;               // became a mark in Unicode 11
  return is_of(c, U_GC_M_MASK) && is_as_old_as(c, 9);
}

bool is_bert_control(char32_t c) {
  if (c < 0x80) return (c < ' ' || c == 0x7F) && c != '\t' && c != '\n' && c != '\r';
  return is_of(c, U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK) && is_as_old_as(c, 8);
}

bool is_nonspacing_mark(char32_t c) {
  if (c < 0x300) return false;
  if (c == 0x1734) return true;  // became a spacing mark in Unicode 14
  // These became nonspacing marks in Unicode 9, 11 and 13.
  if (c == 0x1885 || c == 0x1886 || c == 0x111C9 || c == 0xA9BD) return false;
  return is_of(c, U_GC_MN_MASK) && is_as_old_as(c, 8);
}

bool is_punctuation(char32_t c) {
  if (c < 0x80) return c > ' ' && c < 0x7F && !is_numeric(c) && (c == '_' || !is_word(c));
  if (c == 0x166D || c == 0x111C9) return true;  // became a symbol in Unicode 12, a mark in 11
  return is_of(c, U_GC_P_MASK) && is_as_old_as(c, 8);
}

std::string lowercase(std::string_view text) {
  std::string lower;
  lower.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (c < 0x80) {
      lower.push_back(static_cast<char>(c >= 'A' && c <= 'Z' ? c + 0x20 : c));
    } else if (c == 0x130) {
      lower += "i\u0307";  // the only one that becomes two, by Unicode's SpecialCasing.txt
    } else {
      append_utf8(static_cast<char32_t>(u_tolower(code(c))), lower);
    }
  }
  return lower;
}

std::string normalize(NormalizationForm form, std::string_view text) {
  UErrorCode status = normalizers().status();
  if (is_ascii(text) || U_FAILURE(status)) return std::string(text);
  std::string normalized;
  normalized.reserve(text.size() + text.size() / 8);
  icu::StringByteSink<std::string> sink(&normalized);
  while (!text.empty()) {
    const std::size_t part = part_for_icu(text);
    const icu::StringPiece piece(text.data(), static_cast<std::int32_t>(part));
    normalizers().form(form).normalizeUTF8(0, piece, sink, nullptr, status);
    text.remove_prefix(part);
  }
  return normalized;
}

Result<void> check_unicode_data() {
  const UErrorCode status = normalizers().status();
  if (U_SUCCESS(status)) return {};
  return fail(ErrorKind::kMissing, std::string("ICU's Unicode data cannot be used (") +
                                       u_errorName(status) + "). Install libicu again.");
}

std::string unicode_version() {
  UVersionInfo version{};
  u_getUnicodeVersion(version);
  return std::to_string(version[0]) + "." + std::to_string(version[1]);
}

}  // namespace shardlens::trainer
