#include "app/session/files/run_export.h"

#include <gtest/gtest.h>

#include <latch>

#include "tests/app/session/eventually.h"
#include "tests/app/session/synthetic_run.h"

namespace shardlens::app::session {
namespace {

TEST(RunExport, IsUnderWayUntilWhatCameOfItIsSaid) {
  const TemporaryFolder folder;
  const auto run = finished_run(folder.path(), {}, 4);
  std::latch goes_on(1);
  Notice notice([&] { goes_on.wait(); });  // the first that is said holds it up
  RunExport exported(folder.path(), notice);
  EXPECT_EQ(exported.under_way(), "");
  exported.write({run});
  EXPECT_EQ(exported.under_way(), "the export of " + run.filename().string());
  goes_on.count_down();
  EXPECT_TRUE(eventually([&] { return notice.words().text.starts_with("Saved "); }));
  EXPECT_EQ(exported.under_way(), "");
}

TEST(RunExport, NamesTheFileAfterTheWholeRun) {
  const TemporaryFolder folder;
  SyntheticOptions options;
  options.name = "rate 0.0005";
  const auto run = finished_run(folder.path(), options, 4);
  Notice notice;
  RunExport exported(folder.path(), notice);
  exported.write({run});
  EXPECT_TRUE(eventually([&] { return exported.under_way().empty(); }));
  const std::string name = run.filename().string();
  ASSERT_TRUE(name.ends_with("0.0005")) << name;
  EXPECT_TRUE(std::filesystem::exists(folder.path() / (name + ".shardlens")));
}

TEST(RunExport, WritesATraceForPerfetto) {
  const TemporaryFolder folder;
  const auto run = finished_run(folder.path(), {}, 4);
  Notice notice;
  RunExport exported(folder.path(), notice);
  for (const char* ending : {".json.gz", " 2.json.gz"}) {
    exported.write({run, true});
    EXPECT_TRUE(eventually([&] { return exported.under_way().empty(); }));
    const auto file = folder.path() / (run.filename().string() + ending);
    EXPECT_TRUE(std::filesystem::is_regular_file(file)) << notice.words().text;
  }
}

TEST(RunExport, APackedRunsOwnEndingIsNoPartOfTheName) {
  const TemporaryFolder folder;
  const auto example =
      std::filesystem::path(SHARDLENS_SOURCE_DIR) / "assets/runs/two_ranks.shardlens";
  Notice notice;
  RunExport exported(folder.path(), notice);
  exported.write({example, true});
  EXPECT_TRUE(eventually([&] { return exported.under_way().empty(); }));
  EXPECT_TRUE(std::filesystem::is_regular_file(folder.path() / "two_ranks.json.gz"))
      << notice.words().text;
}

}  // namespace
}  // namespace shardlens::app::session
