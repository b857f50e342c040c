// How a rank understands its environment, its arguments and what LibTorch throws.
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "trace/base/file_system.h"
#include "trace/store/run/run_folder.h"
#include "trainer/comm/rendezvous.h"
#include "trainer/loop/step_failure.h"
#include "trainer/rank/made_run.h"
#include "trainer/rank/rank_options.h"
#include "trainer/rank/rank_place.h"
#include "trainer/rank/run_agreement.h"

namespace shardlens::trainer {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Variables = std::map<std::string, std::string>;

trace::base::Result<rank::RankPlace> parse(const Variables& variables) {
  return rank::parse_rank_place([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

const Variables kTorchrun{{"RANK", "3"},
                          {"LOCAL_RANK", "1"},
                          {"WORLD_SIZE", "4"},
                          {"LOCAL_WORLD_SIZE", "2"},
                          {"MASTER_ADDR", "node0"},
                          {"MASTER_PORT", "29500"},
                          {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                          {"TORCHELASTIC_RESTART_COUNT", "2"}};

TEST(RankPlace, IsReadAsTorchrunSetsIt) {
  const auto environment = parse(kTorchrun);
  ASSERT_TRUE(environment) << environment.error().message;
  EXPECT_EQ(environment->rank, 3);
  EXPECT_EQ(environment->local_world_size, 2);
  EXPECT_EQ(environment->master_address, "node0");
  EXPECT_EQ(environment->master_port, 29500);
  EXPECT_TRUE(environment->agent_store);
  EXPECT_EQ(environment->store_prefix, "2");
  EXPECT_FALSE(environment->launcher_process);
}

TEST(RankPlace, NeedsNoPortWhereRanksMeetInAFile) {
  auto variables = kTorchrun;
  variables.erase("MASTER_PORT");
  EXPECT_FALSE(parse(variables));
  variables["SHARDLENS_STORE_FILE"] = "/tmp/a file";
  variables["SHARDLENS_LAUNCHER_PID"] = "17";
  const auto environment = parse(variables);
  ASSERT_TRUE(environment) << environment.error().message;
  EXPECT_EQ(environment->store_file, "/tmp/a file");
  EXPECT_EQ(environment->launcher_process, 17);
}

TEST(RankPlace, RefusesAPortThatThereCannotBe) {
  auto variables = kTorchrun;
  for (const char* port : {"0", "65536", "95036"}) {
    variables["MASTER_PORT"] = port;
    EXPECT_THAT(parse(variables).error().message,
                HasSubstr("MASTER_PORT is \"" + std::string(port) +
                          "\"; it must be a whole number from 1 to 65535."));
  }
  variables["MASTER_PORT"] = "65535";
  EXPECT_TRUE(parse(variables));
}

TEST(RankPlace, RefusesWhatContradictsItself) {
  auto variables = kTorchrun;
  variables["RANK"] = "4";
  EXPECT_THAT(parse(variables).error().message, HasSubstr("contradicts itself"));
  variables["RANK"] = "-1";
  EXPECT_THAT(parse(variables).error().message, HasSubstr("at least 0"));
  variables["RANK"] = "1x";
  EXPECT_THAT(parse(variables).error().message, HasSubstr("\"1x\""));
}

TEST(RankOptions, NameWhatIsWrong) {
  EXPECT_THAT(rank::parse_rank_options({"--rum", "x"}).error().message, HasSubstr("--rum"));
  EXPECT_THAT(rank::parse_rank_options({"--run"}).error().message, HasSubstr("needs a value"));
  EXPECT_THAT(rank::parse_rank_options({}).error().message, HasSubstr("--run DIR is missing"));
  EXPECT_FALSE(rank::parse_rank_options({"--run", "x", "--set", "steps=3"}));
  EXPECT_TRUE(rank::parse_rank_options({"--run", "x", "--settings", "f", "--set", "steps=3"}));
}

TEST(RankOptions, SaveUnlessTheyAreToldNotTo) {
  EXPECT_FALSE(rank::parse_rank_options({"--run", "x"})->saves_nothing);
  EXPECT_TRUE(rank::parse_rank_options({"--save-nothing", "--run", "x"})->saves_nothing);
}

TEST(RankOptions, MeasureForAPositiveTimeInsteadOfTraining) {
  const auto options = rank::parse_rank_options({"--calibrate", "2.500000", "--run", "x"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->calibration_seconds, 2.5);
  EXPECT_EQ(options->action, rank::RankOptions::Action::kTrain) << "connected as for a training";
  EXPECT_FALSE(rank::parse_rank_options({"--run", "x"})->calibration_seconds);
  for (const char* seconds : {"0", "-1", "nan", "inf", "1e9", "2s", ""}) {
    const auto refused = rank::parse_rank_options({"--calibrate", seconds, "--run", "x"});
    ASSERT_FALSE(refused) << seconds;
    EXPECT_THAT(refused.error().message, HasSubstr("--calibrate"));
  }
  EXPECT_THAT(rank::rank_help(), HasSubstr("--calibrate"));
}

std::string describe(const std::exception& failure) {
  return loop::describe_failure(failure, loop::place_name(5, trace::base::Phase::kBackward))
      .message;
}

TEST(StepFailure, NamesRunningOutOfMemory) {
  EXPECT_THAT(describe(std::bad_alloc()), HasSubstr("step 5, backward: out of memory"));
  EXPECT_THAT(describe(std::runtime_error("DefaultCPUAllocator: can't allocate memory: you tried "
                                          "to allocate 1 bytes")),
              HasSubstr("out of memory"));
  try {
    TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA");
  } catch (const std::exception& failure) {
    EXPECT_THAT(describe(failure), HasSubstr("out of memory"));
  }
}

TEST(SettingsFingerprint, DiffersWithEverySettingButThePlaceOfTheText) {
  const trace::job::Settings settings;
  const auto usual = rank::fingerprint_of(settings);
  EXPECT_GT(usual, 0);
  auto other = settings;
  other.learning_rate *= 1.01;
  EXPECT_NE(rank::fingerprint_of(other), usual);
  other = settings;
  other.shuffle = false;
  EXPECT_NE(rank::fingerprint_of(other), usual);
  other = settings;
  other.data = "/elsewhere/text.txt";
  EXPECT_EQ(rank::fingerprint_of(other), usual);
}

// Two machines with two ranks each and one disk.
class RunAgreement : public testing::Test {
 protected:
  rank::RankOptions with(const std::string& device) const {
    rank::RankOptions options;
    options.run = folder_.path() / "run";
    options.settings = folder_.path() / "settings.yaml";
    std::ofstream(options.settings) << "model: tiny\ndevice: " << device << "\n";
    return options;
  }
  rank::RankPlace first_of_machine(int machine) const {
    rank::RankPlace place;
    place.rank = 2 * machine;
    place.world_size = 4;
    place.local_world_size = 2;
    place.store_file = folder_.path() / "store";
    place.lookup = [](const char*) -> const char* { return nullptr; };
    return place;
  }
  // What rank 0 does where it has made the run. Keeps the place to meet.
  void tell(const trace::model::RunInfo& made) {
    if (!store_) store_ = comm::meet(first_of_machine(0));
    rank::tell_made_run(*store_, made.start_ns);
  }
  // Of rank 0, somewhere else.
  trace::model::RunInfo run_made_in(const std::string& name) const {
    rank::RankOptions options = with("cpu");
    options.run = folder_.path() / name;
    const auto made = rank::agree_on_run(options, first_of_machine(0));
    EXPECT_TRUE(made) << made.error().message;
    return made->info;
  }
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

 private:
  trace::base::TemporaryFolder folder_ = std::move(*trace::base::TemporaryFolder::create());
  c10::intrusive_ptr<c10d::Store> store_;
};

TEST_F(RunAgreement, MakesTheFolderBeforeItAsksForGpus) {
  const rank::RankOptions options = with("cuda");
  static_cast<void>(rank::agree_on_run(options, first_of_machine(0)));
  EXPECT_TRUE(std::filesystem::is_directory(options.run));
}

TEST_F(RunAgreement, WaitsForRank0HoweverLateItMakesTheRun) {
  const rank::RankOptions options = with("cpu");
  trace::base::Result<rank::AgreedRun> made;
  std::jthread late([&] {
    std::this_thread::sleep_for(std::chrono::seconds(7));
    made = rank::agree_on_run(options, first_of_machine(0));
  });
  testing::internal::CaptureStderr();
  const auto joined = rank::agree_on_run(options, first_of_machine(1));
  late.join();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("waiting for rank 0"));
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_TRUE(joined) << joined.error().message;
  EXPECT_TRUE(made->owns_status);
  EXPECT_FALSE(joined->owns_status);
  EXPECT_EQ(joined->info.start_ns, made->info.start_ns);
}

// As NFS hides for a while what is in a folder that is there.
TEST_F(RunAgreement, WaitsUntilItsDiskShowsTheRunThatRank0HasMade) {
  const rank::RankOptions options = with("cpu");
  const auto made = run_made_in("hidden");
  std::filesystem::create_directory(options.run);
  tell(made);
  std::jthread late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1000));
    std::filesystem::rename(path("hidden"), options.run);
  });
  testing::internal::CaptureStderr();
  const auto joined = rank::agree_on_run(options, first_of_machine(1));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("is there: waiting until"));
  ASSERT_TRUE(joined) << joined.error().message;
  EXPECT_FALSE(joined->owns_status);
  EXPECT_EQ(joined->info.start_ns, made.start_ns);
}

// The settings' file may lie on another disk.
TEST_F(RunAgreement, JoinsTheRunThatRank0HasMadeBeforeWithoutSettingsOfItsOwn) {
  const auto made = run_made_in("run");
  tell(made);
  rank::RankOptions options = with("cpu");
  options.settings = path("elsewhere.yaml");
  const auto joined = rank::agree_on_run(options, first_of_machine(1));
  ASSERT_TRUE(joined) << joined.error().message;
  EXPECT_FALSE(joined->owns_status);
  EXPECT_EQ(joined->info.start_ns, made.start_ns);
}

TEST_F(RunAgreement, MakesARunOfItsOwnWhereItDoesNotSeeThatOfRank0) {
  tell(run_made_in("on the disk of rank 0"));
  const auto own = rank::agree_on_run(with("cpu"), first_of_machine(1));
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_TRUE(own->owns_status);
}

// As where each rank of a machine is the first of a launcher of its own.
TEST_F(RunAgreement, JoinsTheRunThatAnotherRankOnItsDiskHasMade) {
  tell(run_made_in("on the disk of rank 0"));
  const rank::RankOptions options = with("cpu");
  const auto made = rank::agree_on_run(options, first_of_machine(1));
  ASSERT_TRUE(made) << made.error().message;
  rank::RankPlace other = first_of_machine(1);
  other.rank = 3;
  const auto joined = rank::agree_on_run(options, other);
  ASSERT_TRUE(joined) << joined.error().message;
  EXPECT_FALSE(joined->owns_status);
  EXPECT_EQ(joined->info.start_ns, made->info.start_ns);
}

TEST_F(RunAgreement, RefusesAFolderOfAnotherRun) {
  const rank::RankOptions options = with("cpu");
  run_made_in("run");
  tell(run_made_in("on the disk of rank 0"));
  const auto refused = rank::agree_on_run(options, first_of_machine(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, trace::base::ErrorKind::kUsage);
  EXPECT_THAT(refused.error().message, HasSubstr("holds another run"));
}

// Rank 0, which refuses it as well, does not come.
TEST_F(RunAgreement, RefusesAtOnceAFolderThatItHasRecordedInto) {
  const rank::RankOptions options = with("cpu");
  run_made_in("run");
  std::ofstream(options.run / "rank_2.sqlite") << "recorded";
  const auto refused = rank::agree_on_run(options, first_of_machine(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, trace::base::ErrorKind::kUsage);
}

TEST_F(RunAgreement, SavesNothingWhereItIsMeasuredAndKeepsTheSettingsOfTheRun) {
  using trace::job::SaveModel;
  rank::RankOptions options = with("cpu");
  std::ofstream(options.settings, std::ios::app)
      << "save_every: 2\ncheckpoint_on_stop: true\nevaluate_every: 2\nkeep_best: true\n"
         "save_model: end\n";
  options.saves_nothing = true;
  const auto made = rank::agree_on_run(options, first_of_machine(0));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_FALSE(trace::job::saves_checkpoints(made->info.settings));
  EXPECT_EQ(made->info.settings.save_model, SaveModel::kNone);
  const auto kept = trace::store::read_run_info(options.run).value().settings;
  EXPECT_EQ(kept.save_every, 2);
  EXPECT_TRUE(kept.checkpoint_on_stop);
  EXPECT_TRUE(kept.keep_best);
  EXPECT_EQ(kept.save_model, SaveModel::kEnd);
}

TEST(StepFailure, NamesAnotherRanksDeathAndItsAbsence) {
  EXPECT_THAT(describe(std::runtime_error("[gloo] Connection closed by peer [127.0.0.1]:1")),
              HasSubstr("connection to another rank was lost"));
  EXPECT_THAT(describe(std::runtime_error("Timed out waiting 1000ms for recv operation")),
              HasSubstr("another rank did not arrive"));
}

TEST(StepFailure, IsOneLineWithoutABacktrace) {
  try {
    TORCH_CHECK(false, "first\nsecond");
  } catch (const std::exception& failure) {
    EXPECT_THAT(describe(failure), HasSubstr("first second"));
    EXPECT_THAT(describe(failure), Not(HasSubstr("Exception raised")));
    EXPECT_THAT(describe(failure), Not(HasSubstr("\n")));
  }
}

}  // namespace
}  // namespace shardlens::trainer
