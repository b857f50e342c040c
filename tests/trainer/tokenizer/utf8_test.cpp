#include "trainer/tokenizer/utf8.h"

#include <gtest/gtest.h>

namespace shardlens::trainer {
namespace {

constexpr const char* kMark = "\xEF\xBF\xBD";  // U+FFFD

std::string marks(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += kMark;
  return text;
}

TEST(Utf8, EveryCodePointGoesThereAndBack) {
  std::string text;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    text.clear();
    append_utf8(c, text);
    ASSERT_TRUE(is_utf8(text)) << std::hex << static_cast<unsigned>(c);
    ASSERT_EQ(utf8_length(text.front()), text.size());
    std::size_t at = 0;
    ASSERT_EQ(next_code_point(text, at), c);
    ASSERT_EQ(at, text.size());
    ASSERT_EQ(character_before(text, text.size()), 0u);
  }
}

// Unicode 15, table 3-8 to 3-11, and what Python gives for bytes.decode("utf-8", "replace").
TEST(Utf8, InvalidBytesAreReplacedByMaximalParts) {
  EXPECT_EQ(replace_invalid_utf8("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), marks(8) + "A");
  EXPECT_EQ(replace_invalid_utf8("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"), marks(8) + "A");
  EXPECT_EQ(replace_invalid_utf8("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"),
            marks(5) + "A" + marks(2) + "B");
  EXPECT_EQ(replace_invalid_utf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), marks(4) + "A");
  EXPECT_EQ(replace_invalid_utf8("a\xC3"), "a" + marks(1));
  EXPECT_EQ(replace_invalid_utf8("ok é 的 🙂"), "ok é 的 🙂");
}

TEST(Utf8, SurrogatesAndOverlongFormsAreInvalid) {
  EXPECT_FALSE(is_utf8("\xED\xA0\x80"));
  EXPECT_FALSE(is_utf8("\xC1\xBF"));
  EXPECT_FALSE(is_utf8("0123456789\xF4\x90\x80\x80"));
  EXPECT_TRUE(is_utf8("0123456789\xF4\x8F\xBF\xBF"));
}

TEST(Utf8, CountsCharacters) { EXPECT_EQ(count_characters("aé的🙂"), 4u); }

}  // namespace
}  // namespace shardlens::trainer
