#include "trace/store/upkeep/pack.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "tests/trace/store/testing/store_fixture.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace::store {
namespace {

namespace fs = std::filesystem;
using test::Folder;

TEST(PackRun, HoldsAllRanksInOnePlainFile) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "all", 4, 3);
  std::vector<double> progress;
  PackOptions options;
  options.progress = [&](double fraction) {
    progress.push_back(fraction);
    return true;
  };
  ASSERT_TRUE(pack_run(run, folder / "all.shardlens", options));
  EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
  EXPECT_LT(progress.front(), 0.5);
  EXPECT_EQ(progress.back(), 1);
  auto database = Database::open(folder / "all.shardlens", SQLITE_OPEN_READONLY, "all");
  ASSERT_TRUE(database);
  EXPECT_EQ(*database->integer("select count(*) from step"), 12);
  EXPECT_EQ(*database->integer("select count(distinct rank) from heartbeat"), 4);
  EXPECT_EQ(*database->integer("select count(*) from setting"),
            static_cast<std::int64_t>(job::knobs().size()));
  auto mode = database->prepare("pragma journal_mode");
  ASSERT_TRUE(*mode->step());
  EXPECT_EQ(mode->text(0), "delete");
  auto check = database->prepare("pragma integrity_check");
  ASSERT_TRUE(*check->step());
  EXPECT_EQ(check->text(0), "ok");
}

TEST(PackRun, RefusesToOverwriteUnlessTold) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "twice", 1, 1);
  const auto packed = folder / "twice.shardlens";
  test::write_text(packed, "precious");
  const auto refused = pack_run(run, packed);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, base::ErrorKind::kUsage);
  EXPECT_NE(refused.error().message.find("--overwrite"), std::string::npos);
  EXPECT_EQ(fs::file_size(packed), 8u);
  PackOptions options;
  options.overwrite = true;
  ASSERT_TRUE(pack_run(run, packed, options));
  EXPECT_EQ(read_run_info(packed)->name, "twice");
}

TEST(PackRun, NamesWhatIsWrong) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "wrong", 1, 1);
  EXPECT_EQ(pack_run(folder / "absent", folder / "x").error().kind, base::ErrorKind::kMissing);
  EXPECT_EQ(pack_run(run, folder.path()).error().kind, base::ErrorKind::kUsage);
  const auto nowhere = pack_run(run, folder / "no" / "such" / "x.shardlens");
  ASSERT_FALSE(nowhere);
  EXPECT_NE(nowhere.error().message.find("such"), std::string::npos);
  ASSERT_TRUE(pack_run(run, folder / "x.shardlens"));
  const auto twice = pack_run(folder / "x.shardlens", folder / "y.shardlens");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().kind, base::ErrorKind::kUsage);
}

// As large a rank as makes several questions, each of which may end the work.
TEST(PackRun, LeavesNothingBehindWhenItIsStopped) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "stopped", 3, 200);
  const auto written = [&] {
    std::map<std::string, base::FileStamp> stamps;
    for (const auto& entry : fs::directory_iterator(run)) {
      stamps[entry.path().filename().string()] = base::stamp_of(entry.path());
    }
    return stamps;
  };
  const auto before = written();
  fs::create_directory(folder / "out");
  std::size_t all = 0;
  PackOptions options;
  options.progress = [&](double) { return ++all > 0; };
  ASSERT_TRUE(pack_run(run, folder / "whole.shardlens", options));
  ASSERT_GT(all, 5u);
  for (const std::size_t last : {std::size_t{1}, all / 2, all}) {
    std::size_t asked = 0;
    options.progress = [&](double) { return ++asked < last; };
    const auto stopped = pack_run(run, folder / "out" / "x.shardlens", options);
    ASSERT_FALSE(stopped) << last;
    EXPECT_EQ(stopped.error().kind, base::ErrorKind::kFailed);
    EXPECT_EQ(asked, last);
    EXPECT_TRUE(fs::is_empty(folder / "out"));
  }
  EXPECT_EQ(before, written());
}

TEST(PackRun, LeavesNothingBehindWhenASourceIsDamaged) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "damaged", 2, 20);
  const auto file = rank_file(run, 1);
  const auto size = static_cast<std::streamoff>(fs::file_size(file));
  {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(4096);
    const std::string junk(static_cast<std::size_t>(size - 4096), '\x55');
    stream << junk;
  }
  fs::create_directory(folder / "out");
  const auto packed = pack_run(run, folder / "out" / "x.shardlens");
  ASSERT_FALSE(packed);
  EXPECT_EQ(packed.error().kind, base::ErrorKind::kDamaged);
  EXPECT_NE(packed.error().message.find("rank_1.sqlite"), std::string::npos)
      << packed.error().message;
  EXPECT_TRUE(fs::is_empty(folder / "out"));
}

}  // namespace
}  // namespace shardlens::trace::store
