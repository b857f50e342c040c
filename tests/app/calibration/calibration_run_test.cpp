#include "app/calibration/calibration_run.h"

#include <gtest/gtest.h>

#include "trace/base/file_system.h"
#include "trace/predict/costs/costs_file.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/write/trace_writer.h"

namespace shardlens::app::calibration {
namespace {

namespace fs = std::filesystem;
using trace::model::Batch;
using trace::model::CollectiveFunction;

TEST(CalibrationRequest, KeepsWhatDecidesHowRanksCommunicate) {
  trace::job::Settings settings;
  settings.ranks = 4;
  settings.simulate_link = "latency_us=50,gbit_per_s=1";
  settings.sharding_strategy = trace::job::Strategy::kHybridShard;
  settings.seed = 3;
  settings.record = "none";
  settings.record_limit_mb = 1;
  settings.inject = "rank=1,step=0,delay_ms=100";
  settings.resume = "somewhere";
  const launch::JobRequest request = calibration_request(settings, "here");
  EXPECT_EQ(request.runs_dir, "here");
  EXPECT_EQ(request.settings.record, "every step") << "or nothing would be measured";
  EXPECT_EQ(request.settings.inject, "off");
  EXPECT_EQ(request.settings.resume, "none");
  EXPECT_EQ(request.settings.record_limit_mb, trace::job::Settings{}.record_limit_mb);
  settings.record = request.settings.record;
  settings.record_limit_mb = request.settings.record_limit_mb;
  settings.record_allocations = request.settings.record_allocations;
  settings.inject = request.settings.inject;
  settings.resume = request.settings.resume;
  EXPECT_EQ(request.settings, settings) << "all else as it was";
}

TEST(CalibrationRequest, TellsRanksForHowLong) {
  const auto arguments = calibration_options(2.5).rank_arguments;
  ASSERT_EQ(arguments.size(), 2u);
  EXPECT_EQ(arguments[0], "--calibrate");
  EXPECT_DOUBLE_EQ(std::stod(arguments[1]), 2.5);
}

// What two ranks recorded: step 0 finds out what fits, step 1 measures.
class ReadCalibration : public testing::Test {
 protected:
  ReadCalibration() {
    info_.name = "calibration";
    info_.device = "cpu";
    info_.world_size = 2;
    info_.start_ns = 1'700'000'000'000'000'000;
    info_.program = "shardlens 0.1.0";
    info_.settings.seed = 11;
    EXPECT_TRUE(trace::store::create_run_at(run_, info_));
  }

  void write(int rank, std::int64_t late_ns) {
    Batch batch;
    batch.process_groups.push_back({rank, 0, 0, 0, group_});
    batch.rank_info = rank_info(rank);
    batch.rank_info->host = host_;
    for (std::int64_t step = 0; step < 2; ++step) {
      trace::model::Collective call;
      call.rank = rank;
      call.step = step;
      call.sequence = step;
      call.function = call.executed = CollectiveFunction::kAllReduce;
      call.bytes = 4096;
      call.start_ns = info_.start_ns + 1'000'000 * step + late_ns;
      call.end_ns = info_.start_ns + 1'000'000 * step + 50'000 * (2 - step);
      batch.collectives.push_back(call);
    }
    for (trace::model::Collective call : more_) {
      call.rank = rank;
      call.sequence = std::ssize(batch.collectives);
      batch.collectives.push_back(call);
    }
    auto writer = trace::store::TraceWriter::create(trace::store::rank_file(run_, rank), rank);
    ASSERT_TRUE(writer) << writer.error().message;
    (*writer)->submit(std::move(batch));
    ASSERT_TRUE((*writer)->close());
  }
  static trace::model::RankInfo rank_info(int rank) {
    trace::model::RankInfo info;
    info.rank = rank;
    info.host = "here";
    info.device = "cpu";
    info.device_name = "AMD EPYC, 2 cores";
    info.versions = "LibTorch 2.11.0";
    info.parameters = 1000;
    return info;
  }

  trace::base::TemporaryFolder folder_ = *trace::base::TemporaryFolder::create();
  const fs::path run_ = folder_.path() / "run";
  trace::model::RunInfo info_;
  // What is written.
  std::vector<int> group_{0, 1};
  std::string host_ = "here";
  std::vector<trace::model::Collective> more_;  // beside what counts
};

TEST_F(ReadCalibration, GivesTransfersOfMeasuredSteps) {
  write(0, 0);
  write(1, 20'000);
  const auto measured = read_calibration(run_, 10);
  ASSERT_TRUE(measured) << measured.error().message;
  ASSERT_EQ(measured->file.rows.size(), 1u);
  EXPECT_EQ(measured->file.rows[0],
            (trace::predict::CostRow{{CollectiveFunction::kAllReduce, 2}, 4096, 1, 30'000, {}, {}}))
      << "from the last start, without step 0";
  EXPECT_EQ(measured->file.host, "here");
  EXPECT_EQ(measured->file.versions, "LibTorch 2.11.0");
  EXPECT_EQ(measured->file.seed, 11);
  EXPECT_EQ(measured->file.measured_ns, info_.start_ns);
  EXPECT_EQ(measured->largest_bytes, 4000);
}

TEST_F(ReadCalibration, GroupsOfTheSameNumberAreApart) {
  info_.world_size = 4;
  EXPECT_TRUE(trace::store::update_run(run_, info_));
  write(0, 0);
  write(1, 20'000);
  group_ = {2, 3};
  write(2, 10'000);
  write(3, 0);
  const auto measured = read_calibration(run_, 10);
  ASSERT_TRUE(measured) << measured.error().message;
  ASSERT_EQ(measured->file.rows.size(), 1u);
  EXPECT_EQ(measured->file.rows[0].kind,
            (trace::predict::CollectiveKind{CollectiveFunction::kAllReduce, 2}));
  EXPECT_EQ(measured->file.rows[0].count, 2);
}

TEST_F(ReadCalibration, WhatTellsNoTransferDoesNotCount) {
  trace::model::Collective outside;
  outside.function = outside.executed = CollectiveFunction::kAllReduce;
  outside.bytes = 8192;
  outside.start_ns = info_.start_ns;
  outside.end_ns = info_.start_ns + 100;
  trace::model::Collective unknown = outside, reversed = outside, sent = outside;
  outside.step = -1;
  unknown.step = reversed.step = sent.step = 1;
  unknown.bytes = trace::model::kNotKnown;
  std::swap(reversed.start_ns, reversed.end_ns);
  sent.function = sent.executed = CollectiveFunction::kSend;
  more_ = {outside, unknown, reversed, sent};
  write(0, 0);
  write(1, 0);
  const auto measured = read_calibration(run_, 10);
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(measured->file.rows.size(), 1u);
}

TEST_F(ReadCalibration, CallsBetweenHostsDoNotCount) {
  write(0, 0);
  host_ = "there";
  write(1, 0);
  EXPECT_FALSE(read_calibration(run_, 10)) << "two clocks";
}

TEST_F(ReadCalibration, IsFoundForATrainingOfTheSameRanks) {
  write(0, 0);
  write(1, 0);
  const auto measured = read_calibration(run_, 10);
  ASSERT_TRUE(measured) << measured.error().message;
  ASSERT_TRUE(trace::predict::keep_costs(folder_.path(), measured->file));
  trace::model::RunInfo training = info_;
  training.name = "a training";
  training.settings.bucket_cap_mb = 1;
  training.settings.seed = 0;
  auto setup = trace::predict::setup_of(training, {rank_info(0), rank_info(1)});
  const auto found = trace::predict::costs_for(setup, folder_.path());
  ASSERT_TRUE(found && *found);
  EXPECT_DOUBLE_EQ((*found)->of({CollectiveFunction::kAllReduce, 2}, 4096)->ns, 50'000);
  setup.ranks = 3;
  EXPECT_FALSE(*trace::predict::costs_for(setup, folder_.path()));
}

TEST_F(ReadCalibration, WithoutAllRanksIsAnError) {
  write(0, 0);
  const auto measured = read_calibration(run_, 10);
  ASSERT_FALSE(measured);
  EXPECT_NE(measured.error().message.find("all ranks"), std::string::npos);
  EXPECT_FALSE(read_calibration(folder_.path() / "none", 10));
}

}  // namespace
}  // namespace shardlens::app::calibration
