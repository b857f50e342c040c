#include "app/launch/rank_environment.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "tests/files.h"

namespace shardlens::app::launch {
namespace {

namespace fs = std::filesystem;

pid_t ended_process() {
  const pid_t process = fork();
  if (process == 0) _exit(0);
  waitpid(process, nullptr, 0);
  return process;
}

TEST(StoreFile, OfAKilledLauncherIsRemovedAndNoOther) {
  const trace::test::Folder folder;
  const auto file_of = [&](const std::string& run, const std::string& name, bool is_old) {
    fs::create_directories(folder / run);
    const fs::path file = folder / run / name;
    std::ofstream(file) << "x";
    if (is_old) fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
    return file;
  };
  const std::string dead = "store_" + std::to_string(ended_process()) + "_1";
  const fs::path abandoned = file_of("a", dead, true);
  const fs::path others = file_of("a", "store_keeper.txt", true);
  const fs::path alive = file_of("b", "store_" + std::to_string(getpid()) + "_1", true);
  // Another machine's launcher: its job still writes.
  const fs::path elsewhere = file_of("c", dead, true);
  file_of("c", "rank_0.sqlite-wal", false);
  remove_abandoned_store_files(folder.path());
  EXPECT_FALSE(fs::exists(abandoned));
  for (const fs::path& kept : {others, alive, elsewhere}) EXPECT_TRUE(fs::exists(kept)) << kept;
  EXPECT_NE(fresh_store_file(folder.path()), fresh_store_file(folder.path()));
}

TEST(StoreFile, ThereMayBeNoLibraryYet) { remove_abandoned_store_files("/nowhere/at/all"); }

}  // namespace
}  // namespace shardlens::app::launch
