#include "trace/base/spawn.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace shardlens::trace::base
