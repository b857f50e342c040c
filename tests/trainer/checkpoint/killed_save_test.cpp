// A process that saves all the time is killed at any moment.
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <random>
#include <string>
#include <thread>

#include "tests/files.h"
#include "tests/trainer/checkpoint/sample_state.h"
#include "trainer/checkpoint/whole_folder.h"

extern char** environ;

namespace shardlens::trainer::checkpoint {
namespace {

namespace fs = std::filesystem;

// Starts the probe; once it has saved `steps` times, kills it `after` later.
void save_until_killed(const fs::path& folder, std::string format, int steps,
                       std::chrono::microseconds after) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  std::string program = SHARDLENS_BINARY_DIR "/bin/checkpoint_probe";
  std::string mode = "forever", path = folder.string();
  std::array<char*, 5> arguments = {program.data(), mode.data(), path.data(), format.data(),
                                    nullptr};
  pid_t process = 0;
  const int code =
      posix_spawn(&process, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  ASSERT_EQ(code, 0) << program;
  char byte = 0;
  while (steps > 0 && read(ends[0], &byte, 1) == 1) steps -= byte == '\n' ? 1 : 0;
  std::this_thread::sleep_for(after);
  kill(process, SIGKILL);
  int status = 0;
  waitpid(process, &status, 0);
  close(ends[0]);
  EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself";
  EXPECT_EQ(steps, 0);
}

void expect_whole(const fs::path& checkpoint) {
  const auto info = trace::job::read_checkpoint_info(checkpoint);
  ASSERT_TRUE(info) << info.error().message;
  const auto expected = test::sample_pieces(0, 1, static_cast<int>(info->step));
  auto wanted = test::sample_pieces(0, 1, -1);
  const auto loaded = load_checkpoint(*info, wanted);
  ASSERT_TRUE(loaded) << loaded.error().message;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_TRUE(torch::equal(wanted[i].value, expected[i].value)) << wanted[i].name;
  }
}

TEST(KilledSave, LeavesOnlyWholeCheckpoints) {
  std::mt19937 random(7);
  for (int round = 0; round < 6; ++round) {
    const trace::test::Folder folder;
    const fs::path checkpoints = folder / "checkpoints";
    save_until_killed(checkpoints, round % 2 == 0 ? "full" : "sharded", 3,
                      std::chrono::microseconds(random() % 20'000));
    const auto found = trace::job::list_checkpoints(checkpoints);
    ASSERT_GE(found.size(), 2u);
    EXPECT_GE(found.back().step, 3);
    for (const trace::job::CheckpointFolder& one : found) expect_whole(one.path);
    // The next save removes what was left behind.
    const auto unfinished = begin_checkpoint(checkpoints, 999);
    ASSERT_TRUE(unfinished);
    abandon_folder(*unfinished);
    for (const auto& entry : fs::directory_iterator(checkpoints)) {
      EXPECT_EQ(entry.path().string().find(trace::job::kUnfinishedMark), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace shardlens::trainer::checkpoint
