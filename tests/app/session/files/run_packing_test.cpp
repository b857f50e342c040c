#include "app/session/files/run_packing.h"

#include <gtest/gtest.h>

#include <latch>

#include "tests/app/session/eventually.h"
#include "tests/app/session/synthetic_run.h"

namespace shardlens::app::session {
namespace {

TEST(RunPacking, IsUnderWayUntilWhatCameOfItIsSaid) {
  const TemporaryFolder folder;
  SyntheticRun run(folder.path());
  run.add_steps(4);
  run.finish();
  std::latch goes_on(1);
  Notice notice([&] { goes_on.wait(); });  // the first that is said holds it up
  RunPacking packing(folder.path(), notice);
  EXPECT_EQ(packing.under_way(), "");
  packing.pack(run.folder());
  EXPECT_EQ(packing.under_way(), "the packing of " + run.folder().filename().string());
  goes_on.count_down();
  EXPECT_TRUE(eventually([&] { return notice.words().text.starts_with("Saved "); }));
  EXPECT_EQ(packing.under_way(), "");
}

TEST(RunPacking, NamesTheFileAfterTheWholeRun) {
  const TemporaryFolder folder;
  SyntheticOptions options;
  options.name = "rate 0.0005";
  SyntheticRun run(folder.path(), options);
  run.add_steps(4);
  run.finish();
  Notice notice;
  RunPacking packing(folder.path(), notice);
  packing.pack(run.folder());
  EXPECT_TRUE(eventually([&] { return packing.under_way().empty(); }));
  const std::string name = run.folder().filename().string();
  ASSERT_TRUE(name.ends_with("0.0005")) << name;
  EXPECT_TRUE(std::filesystem::exists(folder.path() / (name + ".shardlens")));
}

}  // namespace
}  // namespace shardlens::app::session
