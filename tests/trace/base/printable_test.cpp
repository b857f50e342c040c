#include "trace/base/printable.h"

#include <gtest/gtest.h>

namespace shardlens::trace::base {
namespace {

TEST(Printable, KeepsTextAndReplacesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("déjà 😀\n\tok"), "déjà 😀\n\tok");
  EXPECT_EQ(printable("\x1b[31mred\x7f"), "�[31mred�");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "�2J")
      << "a control sequence introducer of one character";
  EXPECT_EQ(printable("a\rb"), "a�b") << "would be written over";
  EXPECT_EQ(printable(std::string_view("\0", 1)), "�");
}

TEST(Printable, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(printable("a\xff"
                      "b\xc3"),
            "a�b�");
  EXPECT_EQ(printable("\xc0\xaf|\xed\xa0\x80"), "��|���") << "overlong, surrogate";
}

TEST(Printable, TellsWhatIsUtf8) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("déjà 😀 \x1b\u202e"));
  for (const char* text : {"a\xff", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
    EXPECT_FALSE(is_utf8(text));
  }
}

TEST(Printable, ReplacesWhatTurnsTextRound) {
  EXPECT_EQ(printable("gnp\u202egpj.exe"), "gnp�gpj.exe");
  EXPECT_EQ(printable("\u2066a\u2069 \u200fb \u061cc"), "�a� �b �c");
  EXPECT_EQ(printable("שלום, 世界"), "שלום, 世界") << "is written that way by itself";
}

TEST(Printable, KeepsALineOnItsLine) {
  EXPECT_EQ(printable_line("run\nfake: done\ttoo"), "run�fake: done�too");
  EXPECT_EQ(printable_message("run\nfake: \x1b done\ttoo"), "run fake: � done\ttoo");
  EXPECT_EQ(printable_line("one\u2028two"), "one�two");
}

TEST(Printable, EscapesInJsonWithoutChangingItsValues) {
  EXPECT_EQ(printable_json("{\n  \"name\": \"a\u202eb\u009b\x7f😀\"\n}\n"),
            "{\n  \"name\": \"a\\u202eb\\u009b\\u007f😀\"\n}\n");
}

}  // namespace
}  // namespace shardlens::trace::base
