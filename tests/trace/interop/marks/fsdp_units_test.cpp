#include "trace/interop/marks/fsdp_units.h"

#include <gtest/gtest.h>

#include <vector>

namespace shardlens::trace::interop {
namespace {

using Function = model::CollectiveFunction;
using Kind = UnitMarks::Kind;

// The root and a module, gathered at 100 and 200, reduced from 500 and 600 on.
UnitMarks marks_of_two() {
  UnitMarks marks;
  for (const int unit : {0, 1}) {
    const std::int64_t begin_ns = 100 * (unit + 1);
    marks.add(Kind::kGather, {{begin_ns, begin_ns + 10}, unit});
    marks.add(Kind::kReduce, {{begin_ns + 400, begin_ns + 450}, unit});
  }
  marks.finish({"root", "module 1"}, true);
  return marks;
}

// Of two ranks each, in groups whose sums two others add up.
std::vector<AskedCall> hybrid_calls() {
  return {{105, Function::kAllGather, 400, 100, 2, 1, 0},
          {205, Function::kAllGather, 800, 200, 2, 1, 1},
          {505, Function::kReduceScatter, 400, 100, 2, 1, 2},
          {515, Function::kAllReduce, 200, 50, 2, 1, 3},
          {605, Function::kReduceScatter, 800, 200, 2, 1, 4},
          {615, Function::kAllReduce, 400, 100, 2, 1, 5}};
}

TEST(FsdpUnits, OfGroupsOfRanksAreReducedAndAddedUp) {
  const FsdpUnits found = find_fsdp_units(marks_of_two(), {}, hybrid_calls());
  EXPECT_EQ(found.why_none, "");
  ASSERT_EQ(found.units.size(), 2u);
  EXPECT_EQ(found.units[1].bytes, 800);
  EXPECT_EQ(found.units[1].reduced_bytes, 800);
  EXPECT_EQ(found.units[1].ranks, 2);
  ASSERT_EQ(found.tags.size(), 6u);
  EXPECT_EQ(found.tags[5].text, "module 1 reduce");
  EXPECT_EQ(found.ready.size(), 2u) << "once for both";
}

TEST(FsdpUnits, ThatAreInferredHaveToBeAsLargeInAllCalls) {
  auto calls = hybrid_calls();
  calls[5].elements = 99;
  FsdpUnits found = find_fsdp_units(marks_of_two(), {}, calls);
  EXPECT_TRUE(found.units.empty());
  EXPECT_TRUE(found.tags.empty());
  EXPECT_EQ(found.why_none.substr(0, 60),
            "for module 1 200 elements are moved at one time and 198 at a");
  calls[5].elements = INT64_MAX;
  EXPECT_TRUE(find_fsdp_units(marks_of_two(), {}, calls).units.empty());
  calls[5].elements = -1;
  found = find_fsdp_units(marks_of_two(), {}, calls);
  EXPECT_NE(found.why_none.find("record_shapes=True"), std::string::npos);
  EXPECT_TRUE(found.units.empty());
}

}  // namespace
}  // namespace shardlens::trace::interop
