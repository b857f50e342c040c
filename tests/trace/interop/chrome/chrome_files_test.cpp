#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/files.h"
#include "trace/interop/chrome/chrome_export.h"

namespace shardlens::trace::interop {
namespace {

namespace fs = std::filesystem;

const fs::path kRun = fs::path(SHARDLENS_SOURCE_DIR) / "assets/runs/two_ranks.shardlens";

// Stopped while the last rank's file is written.
ChromeExportOptions stopped_at_rank_1() {
  ChromeExportOptions options;
  const auto begun = std::make_shared<int>(0);
  options.begun = [begun](const fs::path&) { ++*begun; };
  options.progress = [begun](double) { return *begun < 2; };
  return options;
}

TEST(ChromeFiles, WritesAFileForEachRank) {
  const test::Folder folder;
  std::set<fs::path> begun;
  ChromeExportOptions options;
  options.begun = [&](const fs::path& file) { begun.insert(file); };
  const auto written = export_chrome_trace(kRun, folder / "out", options);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(test::names_in(folder / "out"),
            (std::vector<std::string>{"two_ranks_rank0.json.gz", "two_ranks_rank1.json.gz"}));
  EXPECT_EQ(written->files.size(), 2u);
  EXPECT_EQ(begun.size(), 2u);
  for (const fs::path& file : begun) EXPECT_FALSE(fs::exists(file)) << file;
}

TEST(ChromeFiles, LeavesNothingBehindWhenItIsStopped) {
  const test::Folder folder;
  ASSERT_FALSE(export_chrome_trace(kRun, folder / "out", stopped_at_rank_1()));
  EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST(ChromeFiles, LeavesWhatWasThereWhenItIsStopped) {
  const test::Folder folder;
  fs::create_directory(folder / "out");
  const fs::path before = folder / "out" / "two_ranks_rank0.json.gz";
  test::write_text(before, "of before");
  auto options = stopped_at_rank_1();
  options.overwrite = true;
  ASSERT_FALSE(export_chrome_trace(kRun, folder / "out", options));
  EXPECT_EQ(test::names_in(folder / "out"), std::vector<std::string>{"two_ranks_rank0.json.gz"});
  EXPECT_EQ(test::bytes_of(before), "of before");
}

}  // namespace
}  // namespace shardlens::trace::interop
