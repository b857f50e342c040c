#include "ui/present/compare/differences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace shardlens::ui::present {
namespace {

using trace::analysis::DetailKind;
using trace::analysis::FigureUnit;
using trace::analysis::RunDifference;
using trace::analysis::StepShare;

std::shared_ptr<const RunDifference> listed_difference() {
  auto difference = std::make_shared<RunDifference>();
  difference->explanation.parts = {{.share = StepShare::kTransfer,
                                    .name = "exposed, transfer",
                                    .first = 20e6,
                                    .second = 8e6,
                                    .half_width = 1e6,
                                    .beyond_noise = true},
                                   {.share = StepShare::kCompute,
                                    .name = "compute",
                                    .first = 100e6,
                                    .second = 101e6,
                                    .half_width = 2e6,
                                    .beyond_noise = false}};
  difference->details = {{.kind = DetailKind::kWork,
                          .name = "aten::mm",
                          .first = 40e6,
                          .second = 45e6,
                          .half_width = {},
                          .beyond_noise = {}},
                         {.kind = DetailKind::kMemory,
                          .name = "gradients",
                          .unit = FigureUnit::kBytes,
                          .first = 4.0 * 1024 * 1024,
                          .second = 2.0 * 1024 * 1024,
                          .half_width = {},
                          .beyond_noise = true},
                         {.kind = DetailKind::kMemory,
                          .name = "activations",
                          .unit = FigureUnit::kBytes,
                          .first = 4.0 * 1024 * 1024,
                          .second = 4.0 * 1024 * 1024 - 8,
                          .half_width = {},
                          .beyond_noise = false},
                         {.kind = DetailKind::kCollective,
                          .name = "all_reduce 4.00 MiB",
                          .first = 0.5e6,
                          .second = 0,
                          .half_width = {},
                          .beyond_noise = true,
                          .is_only_in_one = true}};
  return difference;
}

TEST(DifferenceTable, ListsTheGreatestFirstAndSizesBehindTimes) {
  const auto table = difference_table(listed_difference(), "All", "A", "B");
  ASSERT_EQ(table->rows, 6u);
  const auto cell = [&](std::size_t row, std::size_t column) {
    const TableCell made = table->columns[column].cell(row);
    return made.text + (made.unit.empty() ? "" : " " + made.unit);
  };
  EXPECT_EQ(cell(0, 0), "exposed transfer");
  EXPECT_EQ(cell(0, 3), "−12.0 ms");
  EXPECT_EQ(cell(0, 5), "beyond noise");
  EXPECT_EQ(cell(1, 0), "aten::mm");
  EXPECT_EQ(cell(1, 3), "+5.00 ms");
  EXPECT_EQ(cell(1, 4), "");
  EXPECT_EQ(cell(1, 5), "not known");
  EXPECT_EQ(cell(2, 0), "compute");
  EXPECT_EQ(cell(2, 5), "within noise");
  EXPECT_EQ(cell(3, 0), "all_reduce 4.00 MiB");
  EXPECT_EQ(cell(3, 5), "only in A");
  EXPECT_EQ(cell(4, 0), "gradients");
  EXPECT_EQ(cell(4, 3), "−2.00 MiB");
  EXPECT_EQ(cell(4, 1), "4.00 MiB");
  EXPECT_EQ(cell(4, 5), "different");
  EXPECT_EQ(cell(5, 3), "−8 B");
  EXPECT_EQ(cell(5, 5), "equal");
}

TEST(DifferenceTable, HasNoColumnOfIntervalsWhereNoneIsKnown) {
  const auto columns_of = [](std::string_view kind) {
    std::vector<std::string> titles;
    const auto table = difference_table(listed_difference(), kind, "A", "B");
    for (const auto& column : table->columns) titles.push_back(column.title);
    return titles;
  };
  EXPECT_THAT(columns_of("All"), testing::Contains("±"));
  EXPECT_THAT(columns_of("Memory"), testing::Not(testing::Contains("±")));
}

TEST(DifferenceTable, OffersTheKindsThatThereAre) {
  const auto difference = listed_difference();
  EXPECT_EQ(difference_kinds(*difference),
            (std::vector<std::string_view>{"All", "Parts", "Kernels", "Collectives", "Memory"}));
  EXPECT_EQ(difference_table(difference, "Memory", "A", "B")->rows, 2u);
  EXPECT_EQ(difference_table(difference, "Phases", "A", "B")->rows, 0u);
}

}  // namespace
}  // namespace shardlens::ui::present
