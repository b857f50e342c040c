#include "trace/base/this_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>

#include "tests/files.h"
#include "trace/base/file_system.h"

namespace shardlens::trace::base {
namespace {

using testing::UnorderedElementsAre;

TEST(ThisMachine, KnowsWhichProcessesItHas) {
  EXPECT_TRUE(has_process(getpid()));
  EXPECT_TRUE(has_process(1)) << "one that is not ours";
  EXPECT_FALSE(has_process(0));
  EXPECT_FALSE(has_process((std::int64_t{1} << 32) + getpid())) << "files may hold any number";
  const pid_t ended = fork();
  if (ended == 0) _exit(0);
  waitpid(ended, nullptr, 0);
  EXPECT_FALSE(has_process(ended));
}

TEST(ThisMachine, TellsWhatAProcessIsDoing) {
  EXPECT_TRUE(process_stat(getpid()).starts_with("R "));
  EXPECT_EQ(process_stat(-1), "");
}

TEST(FileSystem, ListsWhatLiesInAFolder) {
  const test::Folder folder;
  std::ofstream(folder / "a") << "x";
  std::filesystem::create_directories(folder / "b" / "c");
  EXPECT_THAT(entries_of(folder.path()), UnorderedElementsAre(folder / "a", folder / "b"));
  EXPECT_TRUE(entries_of(folder / "a").empty()) << "it is none";
  EXPECT_TRUE(entries_of("/nowhere/at/all").empty());
}

}  // namespace
}  // namespace shardlens::trace::base
