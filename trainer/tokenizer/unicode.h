// What the `tokenizers` package takes characters for, from ICU's data. Any thread.
//
// The package's parts are of different ages: its categories for BERT are those of Unicode 8, its
// normalization forms and marks those of Unicode 9, the rest follows its compiler (17 in release
// 0.23.3). Characters that came after Unicode 8 or 9 are told by ICU's "age"; those that came after
// ICU's own version of Unicode (15 in Debian 12) count as unassigned here.
#pragma once

#include <string>
#include <string_view>

#include "trace/model/result.h"

namespace shardlens::trainer {

bool is_white_space(char32_t c);  // the property White_Space
bool is_word(char32_t c);         // \w of UTS 18: letters, marks, digits, connectors, joiners
bool is_numeric(char32_t c);      // Nd, Nl, No
bool is_mark(char32_t c);         // M*, of Unicode 9

// As BERT's normalizer and pre-tokenizer ask for it, of Unicode 8.
bool is_bert_control(char32_t c);  // Cc, Cf, Co without tab and line ends
bool is_nonspacing_mark(char32_t c);
bool is_punctuation(char32_t c);  // P* and all of ASCII's

// Without context: a capital sigma never becomes a final one.
std::string lowercase(std::string_view text);

enum class NormalizationForm { kNfc, kNfd, kNfkc, kNfkd };

// Of Unicode 9: characters that came later stay and hinder composition.
std::string normalize(NormalizationForm form, std::string_view text);

// Fails where ICU's data is missing.
trace::Result<void> check_unicode_data();

// Two programs whose answers above are the same have the same one.
std::string unicode_version();

}  // namespace shardlens::trainer
