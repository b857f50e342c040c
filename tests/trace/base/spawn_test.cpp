#include "trace/base/spawn.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>

#include "trace/base/text.h"

namespace shardlens::trace::base {
namespace {

// What a shell makes of the words, one a line.
std::string told(const std::vector<std::string>& words) {
  const std::string command = "printf '%s\\n' " + joined(words, " ", in_shell);
  const std::unique_ptr<FILE, int (*)(FILE*)> shell(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 256> part;
  while (fgets(part.data(), part.size(), shell.get()) != nullptr) text += part.data();
  return text;
}

TEST(InShell, AWordStaysOneWord) {
  EXPECT_EQ(told({"don't", "a b", "", "$HOME", "~", "*", "'", "\\\"", "--lr=0.1", "é"}),
            "don't\na b\n\n$HOME\n~\n*\n'\n\\\"\n--lr=0.1\né\n");
}

TEST(InShell, OnlyWhatNeedsItIsQuoted) {
  EXPECT_EQ(in_shell("--nproc-per-node=2"), "--nproc-per-node=2");
  EXPECT_EQ(in_shell("it's"), "'it'\\''s'");
}

TEST(OpenFiles, AreAsManyAsTheSystemAllowsAndForAChildAsManyAsBefore) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few{.rlim_cur = 64, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  allow_most_open_files();
  rlimit now{};
  getrlimit(RLIMIT_NOFILE, &now);
  EXPECT_EQ(now.rlim_cur, before.rlim_max);
  std::array<int, 2> go{-1, -1};
  ASSERT_EQ(pipe(go.data()), 0);
  std::vector<std::string> words = {"/bin/sh", "-c", "read go; test $(ulimit -Sn) = 64"};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, go[0], STDIN_FILENO);
  const SpawnAttributes attributes(/*in_own_group=*/false);
  pid_t child = -1;
  const int error = posix_spawn(&child, "/bin/sh", &actions, attributes.get(),
                                pointers_to(words).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) limit_open_files_as_before(child);
  EXPECT_EQ(write(go[1], "\n", 1), 1);
  int status = -1;
  if (error == 0) waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  for (const int end : go) close(end);
  setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace shardlens::trace::base
