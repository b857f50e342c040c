#include "app/session/jobs/trainer_status.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <stdexcept>

#include "tests/app/session/eventually.h"
#include "tests/app/session/synthetic_run.h"

namespace shardlens::app::session {
namespace {

using State = ui::state::TrainerSetup::State;

void write(const std::filesystem::path& file, const std::string& text) {
  const auto fresh = file.string() + ".new";
  std::ofstream(fresh) << text;
  std::filesystem::rename(fresh, file);
}

TEST(TrainerStatusText, ReadsStateMessageAndFraction) {
  const auto setup = parse_trainer_status(
      "state=installing\nmessage=Fetching LibTorch (1.2 of 4.6 GB)\nfraction=0.26\n");
  EXPECT_EQ(setup.state, State::kInstalling);
  EXPECT_EQ(setup.message, "Fetching LibTorch (1.2 of 4.6 GB)");
  EXPECT_DOUBLE_EQ(setup.fraction, 0.26);
  EXPECT_EQ(parse_trainer_status("state=ready").state, State::kReady);
  EXPECT_EQ(parse_trainer_status("message=No space = no trainer\nstate=failed\n").message,
            "No space = no trainer");
}

TEST(TrainerStatusText, TakesNonsenseAsNotKnownYet) {
  const auto setup = parse_trainer_status("fraction=7\nstate=\n\n=x\nfraction=abc");
  EXPECT_EQ(setup.state, State::kInstalling);
  EXPECT_EQ(setup.fraction, -1);
}

TEST(TrainerStatus, WithoutAScriptDependsOnTheProgramBeingThere) {
  const TrainerStatus there(
      "", [] { return true; }, [] {});
  EXPECT_EQ(there.state().state, State::kReady);
  const TrainerStatus absent(
      "", [] { return false; }, [] {});
  EXPECT_EQ(absent.state().state, State::kNotWanted);
  EXPECT_NE(absent.state().message, "");
}

TEST(TrainerStatus, FollowsTheFileUntilTheTrainerIsReady) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "status";
  write(file, "state=installing\nmessage=Fetching\n");
  std::atomic<int> changes = 0;
  std::atomic<bool> built = false;
  TrainerStatus status(
      file, [&] { return built.load(); }, [&] { ++changes; });
  EXPECT_EQ(status.state().message, "Fetching");
  built = true;
  write(file, "state=ready\n");
  EXPECT_TRUE(eventually([&] { return status.state().state == State::kReady; }));
  EXPECT_GE(changes.load(), 1);
}

TEST(TrainerStatus, WhatIsThrownWhileItLooksIsShownUntilItWorksAgain) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "status";
  write(file, "state=installing\nmessage=Building\n");
  std::atomic<bool> broken = true;
  std::atomic<int> changes = 0;
  TrainerStatus status(
      file,
      [&] {
        if (broken) throw std::runtime_error("too many open files");
        return true;
      },
      [&] { ++changes; });
  EXPECT_EQ(status.state().message, "Building");
  const auto becomes = [&](State state) {
    return eventually([&] { return status.state().state == state; });
  };
  write(file, "state=ready\n");
  ASSERT_TRUE(becomes(State::kFailed));
  EXPECT_NE(status.state().message.find("too many open files"), std::string::npos);
  broken = false;
  EXPECT_TRUE(becomes(State::kReady));
  EXPECT_GE(changes.load(), 1);
}

TEST(TrainerStatus, RetryLeavesAFileForTheScript) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "status";
  write(file, "state=failed\nmessage=No network\n");
  TrainerStatus status(
      file, [] { return false; }, [] {});
  EXPECT_EQ(status.state().state, State::kFailed);
  status.retry();
  EXPECT_TRUE(std::filesystem::exists(file.string() + ".retry"));
}

}  // namespace
}  // namespace shardlens::app::session
