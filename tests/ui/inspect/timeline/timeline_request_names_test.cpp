#include <gtest/gtest.h>

#include "ui/inspect/timeline/timeline_request.h"

namespace shardlens::ui::inspect {
namespace {

const std::vector<std::string> kNames{"", "gemm", "softmax"};

std::shared_ptr<const trace::timeline::NameHits> hits_of(const std::string& name) {
  auto hits = std::make_shared<trace::timeline::NameHits>();
  hits->names.emplace_back().name = name;
  return hits;
}

TEST(LitNames, AreAllUnlessSomeAreSearchedOrOneIsPicked) {
  LitNames names;
  names.follow(kNames, nullptr, "");
  EXPECT_EQ(names.lit(), nullptr);
  names.follow(kNames, nullptr, "gemm");
  ASSERT_NE(names.lit(), nullptr);
  EXPECT_EQ(*names.lit(), (std::vector<bool>{false, true, false}));
  EXPECT_FALSE(names.are_searched());
  names.follow(kNames, hits_of("softmax"), "");
  EXPECT_EQ(*names.lit(), (std::vector<bool>{false, false, true}));
  EXPECT_TRUE(names.are_searched());
  names.follow(kNames, nullptr, "");
  EXPECT_EQ(names.lit(), nullptr);
}

TEST(LitNames, AreFoundAgainInAnotherPicture) {
  LitNames names;
  names.follow(kNames, nullptr, "gemm");
  names.forget_names();
  EXPECT_EQ(names.lit(), nullptr) << "until its names are known";
  names.follow({"gemm"}, nullptr, "gemm");
  ASSERT_NE(names.lit(), nullptr);
  EXPECT_EQ(*names.lit(), std::vector<bool>{true});
}

}  // namespace
}  // namespace shardlens::ui::inspect
