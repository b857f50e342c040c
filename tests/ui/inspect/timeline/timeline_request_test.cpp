#include "ui/inspect/timeline/timeline_request.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace shardlens::ui::inspect {

namespace {

constexpr std::int64_t kRunStart = 1'795'183'331'000'000'000,
                       kRunEnd = kRunStart + 36'000'000'000'000;

trace::timeline::PictureRequest request_for(std::int64_t start, double span, float width = 1'000,
                                            std::vector<int> rows = {3}) {
  std::vector<SeenPart> parts;
  for (const int row : rows) {
    parts.push_back({row, start, start + static_cast<std::int64_t>(span), kRunStart, kRunEnd});
  }
  return picture_request(parts, span, width);
}

TEST(PictureRequest, CoversWhatIsSeenWithHalfAScreenAtBothSides) {
  for (double span = 20; span < 3e13; span *= 1.7) {
    const std::int64_t start = kRunStart + 18'000'000'000'000;
    const auto request = request_for(start, span);
    ASSERT_EQ(request.windows.size(), 1u);
    const auto& window = request.windows[0];
    EXPECT_LE(window.start_ns,
              std::max(start - static_cast<std::int64_t>(span / 2) + 1, kRunStart));
    EXPECT_GE(window.end_ns, std::min(start + static_cast<std::int64_t>(span * 1.5) - 1, kRunEnd));
    const auto asked = static_cast<double>(window.end_ns - window.start_ns);
    EXPECT_LE(asked, span * 2.5 + 16);
    EXPECT_LE(request.ns_per_pixel, span / 1'000);
    EXPECT_GT(request.ns_per_pixel, span / 1'000 / 1.5);
  }
}

TEST(PictureRequest, IsTheSameForViewsThatDifferLittle) {
  const std::int64_t start = (kRunStart + 7'000'000'000'000) & ~((std::int64_t{1} << 40) - 1);
  const auto first = request_for(start + 1'000, 1e9);
  EXPECT_EQ(first, request_for(start + 20'000'000, 1e9));
  EXPECT_EQ(first, request_for(start + 1'000, 1e9, 1'003));
  EXPECT_NE(first, request_for(start + 400'000'000, 1e9));
  EXPECT_NE(first, request_for(start + 1'000, 2e9));
  // Panning by a pixel at a time asks eight to sixteen times per screen.
  int changes = 0;
  auto before = request_for(start, 1e9);
  for (int pixel = 1; pixel <= 1'000; ++pixel) {
    const auto next = request_for(start + pixel * 1'000'000, 1e9);
    changes += next == before ? 0 : 1;
    before = next;
  }
  EXPECT_GE(changes, 4);
  EXPECT_LE(changes, 40);
}

TEST(PictureRequest, OrdersRowsSoThatScrollingBackAsksForTheSame) {
  EXPECT_EQ(request_for(kRunStart, 1e9, 800, {7, 2, 5}),
            request_for(kRunStart, 1e9, 800, {2, 5, 7}));
}

TEST(PictureRequest, AsksForNothingBesideTheRun) {
  const auto request = request_for(kRunStart, 3.6e13);
  const std::int64_t step = std::int64_t{1} << 42;
  EXPECT_GT(request.windows[0].start_ns, kRunStart - step);
  EXPECT_LE(request.windows[0].end_ns, kRunEnd + step);
  EXPECT_TRUE(request_for(kRunEnd + 72'000'000'000'000, 1e9).windows.empty());
}

TEST(PictureIndex, TakesThePartThatCoversMost) {
  const auto picture = std::make_shared<trace::timeline::TimelinePicture>();
  for (const auto& [start, end] : {std::pair{0, 100}, {80, 200}, {190, 300}}) {
    trace::timeline::RowPicture row;
    row.window = {4, start, end};
    picture->rows.push_back(row);
  }
  const PictureIndex index(picture);
  EXPECT_EQ(index.find(4, 70, 150)->window.start_ns, 80);
  EXPECT_EQ(index.find(4, 10, 90)->window.start_ns, 0);
  EXPECT_EQ(index.find(4, 250)->window.start_ns, 190);
  EXPECT_NE(index.find(4, 900, 950), nullptr);  // rather a part than nothing
  EXPECT_EQ(index.find(5, 10, 20), nullptr);
}

TEST(PictureIndex, KeepsThePictureItPointsInto) {
  auto picture = std::make_shared<trace::timeline::TimelinePicture>();
  picture->rows.emplace_back().window = {4, 0, 100};
  picture->names = {"a name"};
  const std::weak_ptr<const trace::timeline::TimelinePicture> seen = picture;
  PictureIndex index(std::move(picture));
  EXPECT_FALSE(seen.expired());
  EXPECT_EQ(index.names().front(), "a name");
  index = {};
  EXPECT_TRUE(seen.expired());
  EXPECT_EQ(index.find(4, 50), nullptr);
  EXPECT_TRUE(index.names().empty());
}

}  // namespace

}  // namespace shardlens::ui::inspect
