#include "trainer/tokenizer/unicode.h"

#include <gtest/gtest.h>

namespace shardlens::trainer {
namespace {

TEST(Unicode, ClassesOfCharacters) {
  EXPECT_TRUE(is_white_space(0x85) && is_white_space(0x3000) && is_white_space('\v'));
  EXPECT_FALSE(is_white_space(0x200B) || is_white_space(0x1C));
  EXPECT_TRUE(is_word('_') && is_word(U'ß') && is_word(0x301) && is_word(0x200D) && is_word(0x660));
  EXPECT_FALSE(is_word('-') || is_word(0xB2) || is_word(' '));
  EXPECT_TRUE(is_numeric(U'½') && is_numeric(0x2163) && is_numeric(0x967));
  EXPECT_TRUE(is_punctuation('$') && is_punctuation('_') && is_punctuation(0x3002));
  EXPECT_FALSE(is_punctuation('a') || is_punctuation(0x20AC) || is_punctuation(' '));
}

TEST(Unicode, BertsCategoriesAreThoseOfUnicode8) {
  EXPECT_TRUE(is_bert_control(0xAD) && is_bert_control(0xE000) && is_bert_control(0x7F));
  EXPECT_FALSE(is_bert_control('\n') || is_bert_control(0x378));  // unassigned
  EXPECT_FALSE(is_bert_control(0x8E2));                           // a format character of Unicode 9
  EXPECT_TRUE(is_nonspacing_mark(0x301) && is_nonspacing_mark(0x1734));
  EXPECT_FALSE(is_nonspacing_mark(0x8D4));  // a mark of Unicode 9
  EXPECT_TRUE(is_mark(0x8D4) && is_mark(0x903));
  EXPECT_FALSE(is_mark(0x11D31));        // a mark of Unicode 10
  EXPECT_FALSE(is_punctuation(0x2E43));  // of Unicode 9
  EXPECT_TRUE(is_punctuation(0x166D));   // was one then
}

TEST(Unicode, LowercaseKnowsNoContext) {
  EXPECT_EQ(lowercase("ΣΑΣ ÀẞǅI"), "σασ àßǆi");
  EXPECT_EQ(lowercase("İ"), "i\u0307");
}

TEST(Unicode, FormsOfNormalization) {
  EXPECT_EQ(normalize(NormalizationForm::kNfc, "e\u0301\u0323 각"), "ẹ\u0301 각");
  EXPECT_EQ(normalize(NormalizationForm::kNfd, "ẹ\u0301"), "e\u0323\u0301");
  EXPECT_EQ(normalize(NormalizationForm::kNfkc, "ﬁ①Ａ㌔"), "fi1Aキロ");
  EXPECT_EQ(normalize(NormalizationForm::kNfkd, "½"), "1\u20442");
  // U+16D67 and what composes with it came in Unicode 16, U+11938 in 13: both stay.
  EXPECT_EQ(normalize(NormalizationForm::kNfd, "\U00011938"), "\U00011938");
}

}  // namespace
}  // namespace shardlens::trainer
