#include "trainer/text/image/content_hash.h"

#include <gtest/gtest.h>

#include "trace/base/checksum.h"

namespace shardlens::trainer::text {
namespace {

using trace::base::checksum_of;

// The values that the xxHash project itself gives.
TEST(ContentHash, EqualsXxh64) {
  EXPECT_EQ(checksum_of(""), 0xEF46DB3751D8E999u);
  EXPECT_EQ(checksum_of("a"), 0xD24EC4F1A98C6E5Bu);
  EXPECT_EQ(checksum_of("abc"), 0x44BC2CF5AD770999u);
  EXPECT_EQ(checksum_of("Nobody inspects the spammish repetition"), 0xFBCEA83C8A378BF1u);
}

TEST(ContentHash, DoesNotCareHowBytesAreCut) {
  std::string text;
  for (int i = 0; i < 301; ++i) text += static_cast<char>(i * 7);
  for (const std::size_t size : {1, 3, 31, 32, 33, 300}) {
    ContentHash hash;
    for (std::size_t i = 0; i < text.size(); i += size) {
      hash.update(std::string_view(text).substr(i, size));
    }
    EXPECT_EQ(hash.digest(), checksum_of(text)) << size;
  }
}

TEST(ContentHash, FieldsKnowWhereTheyEnd) {
  ContentHash one, other;
  one.update_field("ab");
  one.update_field("c");
  other.update_field("a");
  other.update_field("bc");
  EXPECT_NE(one.digest(), other.digest());
}

}  // namespace
}  // namespace shardlens::trainer::text
