#include "app/launch/job_session.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <new>
#include <set>
#include <string>
#include <thread>

#include "tests/files.h"
#include "trace/base/file_system.h"
#include "trace/job/checkpoint/checkpoint_info.h"
#include "trace/job/huggingface/find_model.h"
#include "trace/job/settings/settings.h"
#include "trace/job/shape/lora.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::launch {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using std::chrono::steady_clock;
using trace::model::RunStatus;

class JobSessionTest : public testing::Test {
 protected:
  JobRequest request(std::int64_t ranks, const std::string& name = "job") const {
    JobRequest request;
    request.settings.ranks = ranks;
    request.settings.device = trace::job::DeviceChoice::kCpu;
    request.runs_dir = folder_ / "runs";
    request.name = name;
    return request;
  }

  static JobOptions behaving(const std::string& behaviour) {
    JobOptions options;
    options.rank_program = fs::path(SHARDLENS_FAKE_RANK);
    options.rank_arguments = {"--behaviour=" + behaviour};
    options.failure_grace = 300ms;
    return options;
  }

  JobStatus run_to_end(std::int64_t ranks, const std::string& behaviour) {
    auto job = JobSession::start(request(ranks), behaving(behaviour));
    EXPECT_TRUE(job) << (job ? "" : job.error().message);
    run_folder_ = (*job)->folder();
    return (*job)->wait();
  }

  // Of a run with these settings, its tensors aside, which only ranks read.
  std::string checkpoint_after(std::int64_t step, const trace::job::Settings& settings) const {
    trace::job::CheckpointInfo info;
    info.step = step;
    info.optimizer = trace::job::chosen<&trace::job::Settings::optimizer>(settings);
    info.parameters = trace::job::saved_parameters(*trace::job::find_model(settings), settings);
    const fs::path folder = folder_ / "before" / trace::job::checkpoint_folder_name(step);
    fs::create_directories(folder);
    std::ofstream(folder / trace::job::kCheckpointFile)
        << trace::job::checkpoint_info_to_yaml(info);
    return folder;
  }

  const trace::test::Folder folder_;
  fs::path run_folder_;
};

std::size_t open_descriptors() {
  const fs::directory_iterator entries("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(fs::begin(entries), fs::end(entries)));
}

// Processes whose command line holds `text`, this one aside.
std::set<pid_t> processes_with(const std::string& text) {
  std::set<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    // One that ends meanwhile has none.
    const std::string line = trace::base::whole_text(entry.path() / "cmdline").value_or("");
    const pid_t process = std::stoi(name);
    if (process != getpid() && line.find(text) != std::string::npos) found.insert(process);
  }
  return found;
}

template <typename Condition>
bool within(std::chrono::milliseconds limit, Condition condition) {
  const auto end = steady_clock::now() + limit;
  while (steady_clock::now() < end) {
    if (condition()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

bool says(const JobSession& job, int rank, const std::string& word) {
  return within(30s, [&] {
    std::ifstream log(trace::store::rank_log(job.folder(), rank));
    return std::string(std::istreambuf_iterator<char>(log), {}).find(word) != std::string::npos;
  });
}

TEST_F(JobSessionTest, AJobWhoseRanksAllLeaveIsDoneAndItsFileSaysSo) {
  const JobStatus status = run_to_end(2, "0:leave,1:leave");
  EXPECT_EQ(status.phase, JobStatus::Phase::kEnded);
  EXPECT_EQ(status.run.status, RunStatus::kDone) << status.run.reason;
  EXPECT_EQ(status.exits.size(), 2u);
  const auto stored = trace::store::read_run_info(run_folder_);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->status, RunStatus::kDone);
  EXPECT_GE(stored->end_ns, stored->start_ns);
  EXPECT_EQ(stored->world_size, 2);
}

TEST_F(JobSessionTest, AnEndThatCannotBeSavedIsToldAndDoesNotChangeHowTheJobEnded) {
  auto job = JobSession::start(request(1), behaving("0:leave:gone"));
  ASSERT_TRUE(job) << job.error().message;
  fs::remove((*job)->folder() / "run.sqlite");
  const JobStatus status = (*job)->wait();
  EXPECT_EQ(status.run.status, RunStatus::kDone) << status.run.reason;
  EXPECT_EQ(status.run.reason, "");
  ASSERT_FALSE(status.save_errors.empty());
  EXPECT_NE(status.save_errors.back().find("run.sqlite"), std::string::npos)
      << status.save_errors.back();
}

TEST_F(JobSessionTest, RanksWriteTheirOutputIntoTheirLog) {
  run_to_end(2, "0:leave,1:fail");
  std::ifstream log(trace::store::rank_log(run_folder_, 1));
  std::string first, second;
  std::getline(log, first);
  std::getline(log, second);
  EXPECT_EQ(first, "rank 1 of 2");
  EXPECT_EQ(second, "error: the cause");
}

TEST_F(JobSessionTest, RanksOfARunThatIsMeasuredAreToldToSaveNothing) {
  JobOptions options = behaving("");
  options.rank_program = "/bin/echo";
  for (const bool is_measured : {false, true}) {
    JobRequest asked = request(1, is_measured ? "measured" : "trained");
    asked.is_measured = is_measured;
    auto job = JobSession::start(asked, options);
    ASSERT_TRUE(job) << job.error().message;
    (*job)->wait();
    const auto said = trace::base::whole_text(trace::store::rank_log((*job)->folder(), 0));
    EXPECT_EQ(said.value_or("").find("--save-nothing") != std::string::npos, is_measured) << *said;
  }
}

TEST_F(JobSessionTest, TheRankThatFailsByItselfIsTheReasonAlthoughAPeerLeftAMomentEarlier) {
  const JobStatus status = run_to_end(3, "0:lose_peer:50,1:fail:100,2:lose_peer:60");
  EXPECT_EQ(status.run.status, RunStatus::kFailed);
  EXPECT_EQ(status.failed_rank, 1);
  EXPECT_EQ(status.run.reason, "rank 1 failed: the cause");
  ASSERT_FALSE(status.log_tail.empty());
  EXPECT_EQ(status.log_tail.back(), "error: the cause");
}

TEST_F(JobSessionTest, ARankThatIsKilledIsTheReasonBeforeThoseThatLostIt) {
  const JobStatus status = run_to_end(3, "0:lose_peer:20,1:lose_peer:20,2:kill:60");
  EXPECT_EQ(status.failed_rank, 2);
  EXPECT_NE(status.run.reason.find("rank 2 was killed (SIGKILL)"), std::string::npos);
}

TEST_F(JobSessionTest, AnExitWithoutAWordIsNamedWithItsCode) {
  const JobStatus status = run_to_end(2, "0:lose_peer:20,1:exit");
  EXPECT_EQ(status.failed_rank, 1);
  EXPECT_NE(status.run.reason.find("exit code 7"), std::string::npos) << status.run.reason;
}

TEST_F(JobSessionTest, ARankThatLeftWithoutAnErrorIsTheReasonWhereAllOthersMissIt) {
  const JobStatus status = run_to_end(2, "0:leave,1:lose_peer:500");
  EXPECT_EQ(status.failed_rank, 0) << status.run.reason;
}

TEST_F(JobSessionTest, AFailureEndsRanksThatIgnoreSigtermWithinTheGracePeriod) {
  const auto start = steady_clock::now();
  const JobStatus status = run_to_end(2, "0:stay_deaf,1:fail");
  EXPECT_LT(steady_clock::now() - start, 5s);
  EXPECT_EQ(status.failed_rank, 1);
  EXPECT_EQ(status.run.status, RunStatus::kFailed);
}

TEST_F(JobSessionTest, StoppingLetsRanksLeaveByThemselves) {
  auto job = JobSession::start(request(2), behaving("0:stay,1:stay"));
  ASSERT_TRUE(job);
  for (const int rank : {0, 1}) {
    const auto log = trace::store::rank_log((*job)->folder(), rank);
    ASSERT_TRUE(within(30s, [&] { return fs::exists(log) && fs::file_size(log) > 0; }));
  }
  (*job)->request_stop();
  const JobStatus status = (*job)->wait();
  EXPECT_EQ(status.run.status, RunStatus::kStopped);
  EXPECT_EQ(status.run.reason, "stopped by the user");
  for (const auto& exit : status.exits) EXPECT_FALSE(exit.failed()) << describe(exit);
}

TEST_F(JobSessionTest, ARankThatIgnoresTheStopIsKilledAfterTheGracePeriod) {
  auto options = behaving("0:stay,1:stay_deaf");
  options.stop_grace = 400ms;
  auto job = JobSession::start(request(2), options);
  ASSERT_TRUE(job);
  ASSERT_TRUE(says(**job, 1, "deaf"));
  const auto start = steady_clock::now();
  (*job)->request_stop();
  const JobStatus status = (*job)->wait();
  EXPECT_GE(steady_clock::now() - start, 350ms);
  EXPECT_EQ(status.run.status, RunStatus::kStopped);
  EXPECT_NE(status.run.reason.find("rank 1 did not leave in time"), std::string::npos);
}

TEST_F(JobSessionTest, RanksThatTrainAreWaitedForHoweverLongTheirStepAndTheirSaveTake) {
  auto options = behaving("0:train,1:train");
  options.stop_grace = 50ms;
  auto job = JobSession::start(request(2), options);
  ASSERT_TRUE(job);
  for (const int rank : {0, 1}) ASSERT_TRUE(says(**job, rank, "trains"));
  (*job)->request_stop();
  const JobStatus status = (*job)->wait();
  EXPECT_EQ(status.run.status, RunStatus::kStopped);
  EXPECT_EQ(status.run.reason, "stopped by the user after 3 of 10 steps");
}

TEST_F(JobSessionTest, ARankIsWaitedForAsLongAsWhatItSavesGetsOn) {
  auto options = behaving("0:save_long");  // for two seconds
  options.stop_grace = 50ms;
  options.stop_patience = 100ms;
  JobRequest impatient = request(1);
  impatient.settings.collective_timeout_s = 1;
  auto job = JobSession::start(impatient, options);
  ASSERT_TRUE(job);
  ASSERT_TRUE(says(**job, 0, "trains"));
  (*job)->request_stop();
  EXPECT_EQ((*job)->wait().run.reason, "stopped by the user after 3 of 10 steps");
}

TEST_F(JobSessionTest, ARankThatIsFoundToHangAfterTheStopIsKilled) {
  auto job = JobSession::start(request(2), behaving("0:stay,1:train_deaf"));
  ASSERT_TRUE(job);
  ASSERT_TRUE(says(**job, 1, "trains"));
  (*job)->request_stop();
  ASSERT_TRUE(within(30s, [&] { return (*job)->poll().phase != JobStatus::Phase::kRunning; }));
  (*job)->request_abort("rank 1 hangs");
  const JobStatus status = (*job)->wait();
  EXPECT_EQ(status.run.status, RunStatus::kStopped);
  EXPECT_EQ(status.run.reason,
            "stopped by the user after 3 of 10 steps; rank 1 did not leave in time and was killed");
}

// Where ranks do not notice by themselves that one is gone.
TEST_F(JobSessionTest, ARankThatFailsAfterTheStopEndsTheOthersWithinTheGracePeriod) {
  auto job = JobSession::start(request(2), behaving("0:train_deaf,1:fail:gone"));
  ASSERT_TRUE(job);
  ASSERT_TRUE(says(**job, 0, "trains"));
  const auto start = steady_clock::now();
  (*job)->request_stop();
  const JobStatus status = (*job)->wait();
  EXPECT_LT(steady_clock::now() - start, 10s);
  EXPECT_EQ(status.run.status, RunStatus::kStopped);
  EXPECT_TRUE(status.went_as_asked()) << "nothing was to be saved";
  EXPECT_NE(status.run.reason.find("rank 1 failed: the cause"), std::string::npos)
      << status.run.reason;
}

TEST_F(JobSessionTest, ARankThatTheStopEndsBeforeItHasBegunDoesNotHurryTheOthers) {
  auto job = JobSession::start(request(2), behaving("0:train,1:begin"));  // saves for 500 ms
  ASSERT_TRUE(job);
  ASSERT_TRUE(says(**job, 0, "trains"));
  ASSERT_TRUE(says(**job, 1, "begins"));
  (*job)->request_stop();
  const JobStatus status = (*job)->wait();
  EXPECT_EQ(status.run.status, RunStatus::kStopped);
  EXPECT_EQ(status.run.reason, "stopped by the user after 3 of 10 steps");
  ASSERT_EQ(status.exits.size(), 2u);
  EXPECT_EQ(status.exits[0].signal, SIGTERM);
  EXPECT_FALSE(status.exits[1].failed()) << describe(status.exits[1]);
}

TEST_F(JobSessionTest, AStopWhoseCheckpointIsNotSavedDoesNotGoAsAsked) {
  JobRequest saving = request(2);
  saving.settings.checkpoint_on_stop = true;
  saving.overwrite = true;
  const auto stop = [&](const std::string& behaviour, const std::string& saved) {
    auto options = behaving(behaviour);
    options.failure_grace = 10s;
    auto job = JobSession::start(saving, options);
    EXPECT_TRUE(job) << (job ? "" : job.error().message);
    EXPECT_TRUE(says(**job, 0, "trains"));
    if (!saved.empty()) {
      const fs::path folder = (*job)->folder() / "checkpoints" / saved;
      fs::create_directories(folder);
      std::ofstream(folder / "checkpoint.yaml") << "step: 3\n";
    }
    (*job)->request_stop();
    return (*job)->wait();
  };
  const JobStatus lost = stop("0:train,1:fail:gone", "step_000002");
  EXPECT_EQ(lost.run.status, RunStatus::kStopped);
  EXPECT_TRUE(lost.stopped_by_user);
  EXPECT_FALSE(lost.went_as_asked());
  EXPECT_EQ(lost.run.reason,
            "stopped by the user after 3 of 10 steps, but the checkpoint was not saved; rank 1 "
            "failed: the cause");
  EXPECT_TRUE(stop("0:train,1:train", "step_000003").went_as_asked());
}

TEST_F(JobSessionTest, AStopOfARunThatIsMeasuredLosesNoCheckpoint) {
  JobRequest saving = request(1);
  saving.settings.checkpoint_on_stop = true;
  saving.is_measured = true;
  auto job = JobSession::start(saving, behaving("0:train"));
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_FALSE((*job)->poll().saves_checkpoints());
  ASSERT_TRUE(says(**job, 0, "trains"));
  (*job)->request_stop();
  const JobStatus status = (*job)->wait();
  EXPECT_TRUE(status.went_as_asked()) << status.run.reason;
  EXPECT_TRUE(status.run.settings.checkpoint_on_stop) << "a job that is begun with them saves";
}

TEST_F(JobSessionTest, WhoKillsTheRanksHasAskedForNoCheckpoint) {
  JobRequest saving = request(1);
  saving.settings.checkpoint_on_stop = true;
  auto job = JobSession::start(saving, behaving("0:train_deaf"));
  ASSERT_TRUE(job);
  ASSERT_TRUE(says(**job, 0, "trains"));
  (*job)->request_stop();
  (*job)->kill_now();
  EXPECT_TRUE((*job)->wait().went_as_asked());
}

TEST_F(JobSessionTest, AResumedRunThatIsStoppedBeforeItTrainedIsKilledAfterTheGracePeriod) {
  JobRequest resumed = request(1);
  resumed.settings.resume = checkpoint_after(3, resumed.settings);
  auto options = behaving("0:train_deaf");  // tells three steps
  options.stop_grace = 300ms;
  auto job = JobSession::start(resumed, options);
  ASSERT_TRUE(job) << job.error().message;
  ASSERT_TRUE(says(**job, 0, "trains"));
  const auto start = steady_clock::now();
  (*job)->request_stop();
  EXPECT_NE((*job)->wait().run.reason.find("did not leave in time"), std::string::npos);
  EXPECT_LT(steady_clock::now() - start, 10s);
}

TEST_F(JobSessionTest, ARunThatIsMeasuredIsNotResumedToSaveItsModelAlone) {
  JobRequest resumed = request(1);
  resumed.settings.lora_rank = 4;
  resumed.settings.resume = checkpoint_after(resumed.settings.steps, resumed.settings);
  EXPECT_TRUE(check_job(resumed, CudaProbe{}));
  resumed.is_measured = true;
  EXPECT_FALSE(check_job(resumed, CudaProbe{}));
  resumed.settings.save_model = trace::job::SaveModel::kEnd;
  EXPECT_FALSE(check_job(resumed, CudaProbe{}));
}

TEST_F(JobSessionTest, ARankOfWhichNobodyHearsMoreAfterTheStopIsKilledInTheEnd) {
  auto options = behaving("0:train_deaf");
  options.stop_patience = 100ms;
  JobRequest impatient = request(1);
  impatient.settings.collective_timeout_s = 1;
  auto job = JobSession::start(impatient, options);
  ASSERT_TRUE(job);
  ASSERT_TRUE(says(**job, 0, "trains"));
  (*job)->request_stop();
  EXPECT_NE((*job)->wait().run.reason.find("did not leave in time"), std::string::npos);
}

TEST_F(JobSessionTest, NothingHalfSavedIsLeft) {
  auto job = JobSession::start(request(1), behaving("0:stay"));
  ASSERT_TRUE(job);
  const fs::path run = (*job)->folder();
  const fs::path half[] = {run / "model.tmp-1-2", run / "checkpoints" / "step_000003.tmp-1-2",
                           run / "best_checkpoint" / "step_000003.tmp-1-2"};
  for (const fs::path& folder : half) fs::create_directories(folder / "a part");
  fs::create_directories(run / "checkpoints" / "step_000002");
  (*job)->kill_now();
  (*job)->wait();
  for (const fs::path& folder : half) EXPECT_FALSE(fs::exists(folder)) << folder;
  EXPECT_TRUE(fs::exists(run / "checkpoints" / "step_000002"));
}

TEST_F(JobSessionTest, WhoIsKilledNowHasNoGracePeriod) {
  auto job = JobSession::start(request(2), behaving("0:stay,1:stay_deaf"));
  ASSERT_TRUE(job);
  ASSERT_TRUE(says(**job, 1, "deaf"));
  const auto start = steady_clock::now();
  (*job)->kill_now();
  EXPECT_EQ((*job)->wait().run.status, RunStatus::kStopped);
  EXPECT_LT(steady_clock::now() - start, 10s);  // a user's stop would take 20
}

// Whoever asks for it again with every piece of news would hear of no end of them.
TEST_F(JobSessionTest, ARankThatIsKilledSlowlyIsNoNews) {
  auto options = behaving("0:stay");
  std::atomic<int> news = 0;
  std::atomic<JobSession*> asked = nullptr;
  options.on_news = [&] {
    ++news;
    if (JobSession* job = asked) job->kill_now();
  };
  auto job = JobSession::start(request(1), options);
  ASSERT_TRUE(job);
  ASSERT_TRUE(says(**job, 0, "rank 0"));
  asked = job->get();
  (*job)->kill_now();
  (*job)->wait();
  EXPECT_LE(news, 3);  // it is being stopped, the rank has left, the job has ended
}

TEST_F(JobSessionTest, ARankThatSomebodyElseStoppedIsNamed) {
  const JobStatus status = run_to_end(2, "0:stop,1:signalled");
  EXPECT_EQ(status.run.status, RunStatus::kStopped);
  EXPECT_FALSE(status.stopped_by_user);
  EXPECT_EQ(status.run.reason, "stopped after 3 of 10 steps: rank 1 was sent SIGTERM");
}

TEST_F(JobSessionTest, ARunOfWhichRecordsAreMissingIsNotDoneAndItsFileSaysSo) {
  const JobStatus status = run_to_end(2, "0:leave,1:lose_records");
  EXPECT_EQ(status.run.status, RunStatus::kIncomplete);
  EXPECT_EQ(status.run.reason, "2 steps and 4,000 events were not recorded: the disk is full");
  const auto stored = trace::store::read_run_info(run_folder_);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->status, RunStatus::kIncomplete);
  EXPECT_EQ(stored->reason, status.run.reason);
}

TEST_F(JobSessionTest, ARankThatLeavesInTheMiddleFailsTheRunAlthoughItGivesNoError) {
  const JobStatus status = run_to_end(2, "0:stop:200,1:break_off");
  EXPECT_EQ(status.run.status, RunStatus::kFailed);
  EXPECT_EQ(status.failed_rank, 1);
  EXPECT_TRUE(status.run.reason.starts_with(
      "rank 1 left without an error before it had finished, after 3 of 10 steps"))
      << status.run.reason;
}

TEST_F(JobSessionTest, AnEndThatRunSqliteCannotTakeIsInTheFirstRanksLog) {
  auto job = JobSession::start(request(1), behaving("0:lose_records:gone"));
  ASSERT_TRUE(job) << job.error().message;
  fs::remove((*job)->folder() / "run.sqlite");
  EXPECT_EQ((*job)->wait().run.status, RunStatus::kIncomplete);
  std::ifstream log(trace::store::rank_log((*job)->folder(), 0));
  const std::string text((std::istreambuf_iterator<char>(log)), {});
  EXPECT_NE(text.find("launcher: the run is incomplete: 2 steps"), std::string::npos) << text;
}

TEST_F(JobSessionTest, AnAbortFailsTheRunForTheGivenReason) {
  auto job = JobSession::start(request(2), behaving("0:stay,1:stay_deaf"));
  ASSERT_TRUE(job);
  (*job)->request_abort("rank 1 hangs");
  const JobStatus status = (*job)->wait();
  EXPECT_EQ(status.run.status, RunStatus::kFailed);
  EXPECT_EQ(status.run.reason, "rank 1 hangs");
}

TEST_F(JobSessionTest, AProgramThatCannotBeStartedFailsTheRunAndNamesIt) {
  auto options = behaving("");
  options.rank_program = folder_ / "no such program";
  auto job = JobSession::start(request(2), options);
  ASSERT_TRUE(job);
  const JobStatus status = (*job)->wait();
  EXPECT_EQ(status.run.status, RunStatus::kFailed);
  EXPECT_NE(status.run.reason.find("no such program"), std::string::npos) << status.run.reason;
}

TEST_F(JobSessionTest, AnExceptionInTheLauncherEndsTheJobAsFailedAndLeavesNoRank) {
  auto options = behaving("0:leave,1:stay_deaf");
  options.last_message = [](const fs::path&) -> LastWords { throw std::bad_alloc(); };
  auto job = JobSession::start(request(2), options);
  ASSERT_TRUE(job) << job.error().message;
  const JobStatus status = (*job)->wait();
  EXPECT_EQ(status.phase, JobStatus::Phase::kEnded);
  EXPECT_EQ(status.run.status, RunStatus::kFailed);
  EXPECT_NE(status.run.reason.find("the launcher failed: "), std::string::npos)
      << status.run.reason;
  EXPECT_TRUE(processes_with((*job)->folder().string()).empty());
  const auto stored = trace::store::read_run_info((*job)->folder());
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->reason, status.run.reason);
}

TEST_F(JobSessionTest, ATakenNameIsWrongUseUnlessItIsOverwritten) {
  run_to_end(1, "0:leave");
  const fs::path first = run_folder_;
  const auto refused = JobSession::start(request(1), behaving("0:leave"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, trace::base::ErrorKind::kUsage);
  EXPECT_NE(refused.error().message.find("job"), std::string::npos);
  JobRequest invalid = request(1);
  invalid.overwrite = true;
  invalid.settings.inject = "nonsense";
  EXPECT_FALSE(JobSession::start(invalid, behaving("0:leave")));
  EXPECT_TRUE(fs::exists(first)) << "the old run goes only once the settings are valid";
  JobRequest replacing = request(1);
  replacing.overwrite = true;
  auto job = JobSession::start(replacing, behaving("0:leave"));
  ASSERT_TRUE(job) << job.error().message;
  (*job)->wait();
  EXPECT_EQ(trace::store::list_runs(folder_ / "runs").runs.size(), 1u);
}

TEST_F(JobSessionTest, ANameThatIsOnlyAWishGetsANumberWhereItIsTaken) {
  run_to_end(1, "0:leave");
  JobRequest wish = request(1);
  wish.numbers_name = true;
  auto job = JobSession::start(wish, behaving("0:leave"));
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ((*job)->wait().run.name, request(1).name + " 2");
}

TEST_F(JobSessionTest, JobsWithoutANameThatStartAtOnceGetDifferentOnes) {
  std::vector<std::string> names(4);
  {
    std::vector<std::jthread> starts;
    for (std::string& name : names) {
      starts.emplace_back([&name, this] {
        auto job = JobSession::start(request(1, ""), behaving("0:leave"));
        EXPECT_TRUE(job) << (job ? "" : job.error().message);
        if (job) name = (*job)->wait().run.name;
      });
    }
  }
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

TEST_F(JobSessionTest, TwentyStartsLeaveNoProcessNoDescriptorAndNoFileBehind) {
  run_to_end(1, "0:leave");  // whatever is opened once is open now
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 20; ++i) {
    JobRequest next = request(2, "job " + std::to_string(i));
    auto job = JobSession::start(next, behaving(i % 2 == 0 ? "0:leave,1:fail" : "0:stay,1:stay"));
    ASSERT_TRUE(job) << job.error().message;
    if (i % 4 == 1) (*job)->request_stop();
    if (i % 4 != 3) (*job)->wait();
    // Every fourth is destroyed while its ranks run.
    const fs::path folder = (*job)->folder();
    job->reset();
    EXPECT_TRUE(processes_with(folder.string()).empty());
    for (const auto& entry : fs::directory_iterator(folder)) {
      EXPECT_FALSE(entry.path().filename().string().starts_with("store")) << entry.path();
    }
  }
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

}  // namespace
}  // namespace shardlens::app::launch
