#include "trace/base/text.h"

#include <gtest/gtest.h>

namespace shardlens::trace::base {
namespace {

TEST(Shortened, IsTheTextUnlessItIsLong) {
  EXPECT_EQ(shortened(""), "");
  EXPECT_EQ(shortened(std::string(200, 'x')), std::string(200, 'x'));
  EXPECT_EQ(shortened(std::string(201, 'x')), std::string(200, 'x') + "…");
}

TEST(Shortened, CutsNoCharacter) {
  std::string text(199, 'x');
  EXPECT_EQ(shortened(text + "éé"), text + "…");
  EXPECT_EQ(shortened(text.substr(1) + "éé"), text.substr(1) + "é…");
  EXPECT_LE(shortened(std::string(500, '\x80')).size(), 203u) << "what is no character at all";
}

}  // namespace
}  // namespace shardlens::trace::base
