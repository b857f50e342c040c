#include "trainer/checkpoint/whole_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>

#include "tests/files.h"
#include "trace/base/file_system.h"

namespace shardlens::trainer::checkpoint {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using trace::test::names_in;

class WholeFolder : public testing::Test {
 protected:
  fs::path place() const { return folder_.path() / "run" / "model"; }

  fs::path begun(const std::string& content) const {
    const auto unfinished = begin_folder(place());
    EXPECT_TRUE(unfinished) << unfinished.error().message;
    std::ofstream(*unfinished / content) << content;
    return *unfinished;
  }

 private:
  trace::base::TemporaryFolder folder_ = std::move(*trace::base::TemporaryFolder::create());
};

TEST_F(WholeFolder, HasItsNameOnceItIsPublished) {
  const fs::path unfinished = begun("a");
  EXPECT_FALSE(fs::exists(place()));
  EXPECT_EQ(unfinished.parent_path(), place().parent_path());
  ASSERT_TRUE(publish_folder(unfinished, place()));
  EXPECT_THAT(names_in(place().parent_path()), ElementsAre("model"));
  EXPECT_THAT(names_in(place()), ElementsAre("a"));
}

TEST_F(WholeFolder, TakesThePlaceOfAnOlderOneWithAllItHeld) {
  ASSERT_TRUE(publish_folder(begun("old"), place()));
  const fs::path unfinished = begun("new");
  EXPECT_THAT(names_in(place()), ElementsAre("old"));
  ASSERT_TRUE(publish_folder(unfinished, place()));
  EXPECT_THAT(names_in(place()), ElementsAre("new"));
  EXPECT_THAT(names_in(place().parent_path()), ElementsAre("model"));
}

// As NFS: the system finds by itself that a name is taken, and the file system knows no flags.
bool refuse_flags_of_renames(unsigned refused) {
  const sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[4])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, refused, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(program), const_cast<sock_filter*>(program)};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST_F(WholeFolder, TakesThePlaceOfAnOlderOneWhereNamesCannotBeExchanged) {
  for (const unsigned refused : {RENAME_EXCHANGE, RENAME_EXCHANGE | RENAME_NOREPLACE}) {
    ASSERT_TRUE(publish_folder(begun("old"), place()));
    const fs::path unfinished = begun("new");
    const pid_t child = fork();  // which the filter stays with
    if (child == 0) {
      if (!refuse_flags_of_renames(refused)) _exit(77);
      _exit(publish_folder(unfinished, place()) ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no filters of system calls here";
    ASSERT_EQ(status, 0);
    EXPECT_THAT(names_in(place()), ElementsAre("new"));
    EXPECT_THAT(names_in(place().parent_path()), ElementsAre("model"));
  }
}

// Names cannot be exchanged, and the process dies before it gives `doomed` its name.
bool die_before_renaming(const fs::path& doomed) {
  const auto address = reinterpret_cast<std::uintptr_t>(doomed.c_str());
  const sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EEXIST),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rename, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(address), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(program), const_cast<sock_filter*>(program)};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST_F(WholeFolder, IsTheOlderOneAgainIfTheNewerNeverGotItsName) {
  ASSERT_TRUE(publish_folder(begun("old"), place()));
  const fs::path unfinished = begun("new");
  const pid_t child = fork();
  if (child == 0) {
    if (!die_before_renaming(unfinished)) _exit(77);
    static_cast<void>(publish_folder(unfinished, place()));
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
    GTEST_SKIP() << "no filters of system calls here";
  }
  ASSERT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_FALSE(fs::exists(place()));
  abandon_folder(unfinished);  // as the next save does
  abandon_folder(begun("another"));
  EXPECT_THAT(names_in(place()), ElementsAre("old"));
  EXPECT_THAT(names_in(place().parent_path()), ElementsAre("model"));
}

TEST_F(WholeFolder, GoesWithoutTheOlderOneOnceTheNewerHasItsName) {
  ASSERT_TRUE(publish_folder(begun("new"), place()));
  for (const char* name : {"model.replaced-12-34", "model.replaced-by hand"}) {
    fs::create_directory(place().parent_path() / name);
  }
  abandon_folder(begun("another"));
  EXPECT_THAT(names_in(place()), ElementsAre("new"));
  EXPECT_THAT(names_in(place().parent_path()),
              testing::UnorderedElementsAre("model", "model.replaced-by hand"));
}

TEST_F(WholeFolder, LeavesNothingWhenItIsAbandonedOrDeleted) {
  abandon_folder(begun("a"));
  EXPECT_THAT(names_in(place().parent_path()), IsEmpty());
  ASSERT_TRUE(publish_folder(begun("a"), place()));
  ASSERT_TRUE(delete_folder(place()));
  EXPECT_THAT(names_in(place().parent_path()), IsEmpty());
  const auto again = delete_folder(place());
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, testing::HasSubstr(place().string()));
}

TEST_F(WholeFolder, IsRefusedWhereAFileIsInTheWay) {
  fs::create_directories(place().parent_path().parent_path());
  std::ofstream(place().parent_path()) << "a file";
  EXPECT_FALSE(begin_folder(place()));
}

}  // namespace
}  // namespace shardlens::trainer::checkpoint
