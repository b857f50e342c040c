// What a tokenizer does to text before it is divided: the "normalizer" of a tokenizer.json. Any
// thread, once made.
#pragma once

#include <memory>
#include <string>

#include "trainer/tokenizer/definition.h"
#include "trainer/tokenizer/text_split.h"
#include "trainer/tokenizer/unicode.h"

namespace shardlens::trainer {

// A part of a document on its way through the tokenizer.
struct NormalizedText {
  std::string text;
  // Bytes at its beginning that stem from the very first character of the document: 0 for a part
  // further in. "prepend_scheme": "first" asks for it.
  std::size_t from_start = 0;
  // A file must not make gigabytes of a line; see grow_limit().
  std::size_t limit = 0;
};

// The most bytes that normalization may make of a text.
std::size_t grow_limit(std::size_t text_bytes);

class TextNormalizer {
 public:
  virtual ~TextNormalizer() = default;
  // Throws std::runtime_error where a regular expression gives up or the text outgrows its limit.
  virtual void normalize(NormalizedText& text) const = 0;
};

// Errors: kUsage for a type that is not supported, kDamaged otherwise.
trace::Result<std::unique_ptr<TextNormalizer>> parse_normalizer(const Definition& definition);

std::unique_ptr<TextNormalizer> form_normalizer(NormalizationForm form);
// Of Google's neural machine translation.
std::unique_ptr<TextNormalizer> nmt_normalizer();
// BERT's: clean text of control characters and odd spaces, put spaces around Chinese characters.
std::unique_ptr<TextNormalizer> bert_normalizer(bool clean, bool separate_chinese,
                                                bool strip_accents, bool lower);

// What several parts share: text to look for, as {"String": …} or {"Regex": …} under "pattern".
trace::Result<TextPattern> parse_pattern(const Definition& definition);

// Puts `content` in the place of every match.
void replace_matches(const std::vector<TextRange>& matches, std::string_view content,
                     NormalizedText& text);
void prepend(std::string_view content, NormalizedText& text);

}  // namespace shardlens::trainer
