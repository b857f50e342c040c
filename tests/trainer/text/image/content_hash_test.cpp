#include "trainer/text/image/content_hash.h"

#include <gtest/gtest.h>

#include "trace/base/checksum.h"

namespace shardlens::trainer::text {
namespace {

using trace::base::checksum_of;

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
