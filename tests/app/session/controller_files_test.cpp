// What is opened, dropped on the window and copied from it.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/app/session/controller_fixture.h"
#include "tests/trace/interop/ddp_traces.h"
#include "trace/interop/kineto_import.h"

namespace shardlens::app::session {
namespace {

TEST_F(ControllerTest, DroppedSettingsBecomeTheNextRuns) {
  open();
  controller->execute(ui::state::SetKnob{"model", "small"});
  controller->execute(ui::state::SetKnob{"batch_per_rank", "3"});
  const auto file = folder.path() / "ds_config.json";
  std::ofstream(file) << R"({"train_micro_batch_size_per_gpu": "auto",
                              "zero_optimization": {"stage": 3}, "steps_per_print": 10})";
  controller->execute(ui::state::OpenFiles{{file.string()}});
  const auto now = controller->snapshot();
  EXPECT_EQ(now->knobs.next.sharding_strategy, trace::job::Strategy::kFullShard);
  EXPECT_EQ(now->knobs.next.model, "small") << "of which the file says nothing";
  EXPECT_EQ(now->knobs.next.batch_per_rank, 3) << "which the file leaves to its program";
  EXPECT_NE(now->notice.find("taken over, but not steps_per_print"), std::string::npos);
  const auto ours = folder.path() / "job.yaml";
  std::ofstream(ours) << "bucket_cap_mb: 7\n";
  controller->execute(ui::state::OpenFiles{{ours.string()}});
  EXPECT_EQ(controller->snapshot()->knobs.next.bucket_cap_mb, 7);
  std::ofstream(file) << R"({"zero_optimization": {"stage": 9}})";
  controller->execute(ui::state::OpenFiles{{file.string()}});
  EXPECT_TRUE(controller->snapshot()->notice_is_error);
  EXPECT_NE(controller->snapshot()->notice.find("zero_optimization.stage"), std::string::npos);
}

// As those of `./run ds_config.json` are, before the library has been read.
TEST_F(ControllerTest, WhatEarlySettingsLeaveOpenIsAsInTheLastRun) {
  SyntheticOptions options;
  options.ranks = 3;
  options.settings.model = "small";
  options.settings.batch_per_rank = 3;
  options.settings.sharding_strategy = trace::job::Strategy::kFullShard;
  SyntheticRun last(runs, options);
  last.add_steps(6);
  last.finish();
  const auto file = folder.path() / "ds_config.json";
  std::ofstream(file) << R"({"train_micro_batch_size_per_gpu": "auto", "train_batch_size": 32,
                              "zero_optimization": {"stage": 0}})";
  open();
  controller->execute(ui::state::OpenFiles{{file.string()}});
  controller->execute(ui::state::SetKnob{"steps", "50"});
  ASSERT_TRUE(becomes([](const auto& now) { return now.knobs.baseline_name == "run 1"; }));
  const auto next = controller->snapshot()->knobs.next;
  EXPECT_EQ(next.model, "small");
  EXPECT_EQ(next.batch_per_rank, 3);
  EXPECT_EQ(next.sharding_strategy, trace::job::Strategy::kDdp) << "which the file says";
  EXPECT_EQ(next.steps, 50);
  EXPECT_TRUE(becomes([](const auto& now) {
    return now.notice.find("but not train_batch_size") != std::string::npos;
  })) << "which 3 ranks cannot share";
}

TEST_F(ControllerTest, EarlySettingsWhoseFileIsGoneByThenAreToldOf) {
  write_run("last", 25);
  const auto file = folder.path() / "job.yaml";
  std::ofstream(file) << "bucket_cap_mb: 7\n";
  open();
  controller->execute(ui::state::OpenFiles{{file.string()}});
  std::filesystem::remove(file);
  ASSERT_TRUE(becomes([](const auto& now) { return now.knobs.baseline_name == "run 1"; }));
  EXPECT_TRUE(becomes([](const auto& now) {
    return now.notice_is_error && now.notice.find("job.yaml is gone") != std::string::npos;
  }));
}

TEST_F(ControllerTest, SettingsDroppedWithARunAreToldOf) {
  const auto run = write_run("a", 25);
  open();
  const auto file = folder.path() / "ds_config.json";
  std::ofstream(file) << R"({"zero_optimization": {"stage": 3}, "steps_per_print": 10})";
  controller->execute(ui::state::OpenFiles{{file.string(), run.string()}});
  EXPECT_NE(controller->snapshot()->notice.find("taken over"), std::string::npos);
  EXPECT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.run != nullptr; }));
}

TEST_F(ControllerTest, SettingsAreCopiedOfTheRunOnScreenThatIsNotOfTheLibrary) {
  const auto run = write_run("own", 60);
  const auto elsewhere = folder.path() / "elsewhere";
  std::filesystem::rename(run, elsewhere);
  open([&](ControllerOptions& options) { options.run = elsewhere; });
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.run != nullptr; }));
  ASSERT_EQ(controller->snapshot()->knobs.next.bucket_cap_mb, 25);
  controller->execute(ui::state::CopySettings{controller->snapshot()->run->figures.info.folder});
  EXPECT_EQ(controller->snapshot()->knobs.next.bucket_cap_mb, 60);
  EXPECT_FALSE(controller->snapshot()->notice_is_error);
}

TEST_F(ControllerTest, OpensAPathInTheUsersFolder) {
  const auto old = write_run("old", 25);
  write_run("new", 4, 1'000'000'000);
  open([this](ControllerOptions& options) { options.home = folder.path(); });
  const auto shows = [this](const char* name) {
    return becomes([&](const auto& now) { return now.run && now.run->figures.info.name == name; });
  };
  ASSERT_TRUE(shows("new"));
  controller->execute(ui::state::OpenFiles{{"~/runs/" + old.filename().string()}});
  EXPECT_TRUE(shows("old"));
}

// So many that they are not done before the window is asked to close.
TEST_F(ControllerTest, ClosingAsksFirstWhileImportsGoOn) {
  open();
  const auto trace = folder.path() / "rank0.json";
  std::ofstream(trace) << R"({"schemaVersion": 1, "traceEvents": [
    {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1000.0, "dur": 5.0,
     "args": {"device": 0, "stream": 7, "correlation": 1}}]})";
  for (int i = 0; i < 20; ++i) controller->execute(ui::state::OpenFiles{{trace.string()}});
  controller->execute(ui::state::Quit{});
  EXPECT_FALSE(controller->quit_requested());
  const auto now = controller->snapshot();
  EXPECT_TRUE(now->asks_to_close);
  ASSERT_FALSE(now->file_work.empty());
  EXPECT_EQ(now->file_work.front(), "the import of rank0.json");
  EXPECT_TRUE(becomes([](const auto& later) { return !later.asks_to_close; })) << "they are done";
  EXPECT_TRUE(controller->snapshot()->file_work.empty());
}

// As they were predicted, say.
TEST_F(ControllerTest, TheNextRunsSettingsAreCopiedBeforeItWasRun) {
  open();
  controller->execute(ui::state::SetKnob{"bucket_cap_mb", "7"});
  controller->execute(ui::state::CopySettingsAs{"", "pytorch"});
  const auto code = controller->take_copied_text();
  ASSERT_TRUE(code);
  EXPECT_NE(code->find("as set for the next run"), std::string::npos);
  EXPECT_NE(code->find("bucket_cap_mb=7,"), std::string::npos);
  controller->execute(ui::state::SetKnob{"backward_prefetch", "none"});
  controller->execute(ui::state::SetKnob{"sharding_strategy", "shard_grad_op"});
  controller->execute(ui::state::SetKnob{"reshard_after_forward", "true"});
  const auto problems = controller->snapshot()->knobs.problems;
  ASSERT_FALSE(problems.empty());
  controller->execute(ui::state::CopySettingsAs{"", "pytorch"});
  EXPECT_FALSE(controller->take_copied_text());
  EXPECT_EQ(controller->snapshot()->notice, problems.front().message);
}

// This machine has no GPU, the program's had some.
TEST_F(ControllerTest, WhatIsPredictedForAnotherProgramIsCopiedForWhereItRan) {
  trace::interop::DdpJob job;
  for (int i = 0; i < 12; ++i) job.gradients.push_back(40'000 + 15'000 * (i % 4));
  job.buckets = {3, 3, 2, 3, 1};  // as with 0.5 MiB
  job.micro_batches = 2;
  job.on_gpu = true;
  std::vector<std::filesystem::path> files;
  for (int rank = 0; rank < 2; ++rank) {
    files.push_back(folder.path() / ("rank" + std::to_string(rank) + ".json"));
    std::ofstream(files.back()) << trace::interop::DdpTraceWriter(job, rank).text();
  }
  const auto imported = trace::interop::import_kineto(files, runs);
  ASSERT_TRUE(imported) << imported.error().message;
  open([&](ControllerOptions& options) { options.run = imported->folder; });
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return !now.knobs.told.empty(); }));
  EXPECT_EQ(controller->snapshot()->knobs.next.gradient_accumulation_steps, 2) << "as recorded";
  controller->execute(ui::state::CopySettingsAs{"", "pytorch"});
  const auto code = controller->take_copied_text();
  ASSERT_TRUE(code) << controller->snapshot()->notice;
  EXPECT_NE(code->find("init_process_group(\"nccl"), std::string::npos);
}

TEST_F(ControllerTest, ARunsSettingsAreCopiedForOtherFrameworks) {
  const auto run = write_run("tuned", 4);
  open();
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.ledger->rows.size() == 1; }));
  controller->execute(ui::state::CopySettingsAs{run.string(), "pytorch"});
  const auto code = controller->take_copied_text();
  ASSERT_TRUE(code);
  EXPECT_NE(code->find("as in the run 'tuned'"), std::string::npos);
  EXPECT_NE(code->find("bucket_cap_mb=4,"), std::string::npos);
  controller->execute(ui::state::CopySettingsAs{run.string(), "deepspeed"});
  EXPECT_NE(controller->take_copied_text()->find("\"stage\": 0"), std::string::npos);
  EXPECT_NE(controller->snapshot()->notice.find("Left out: bucket_cap_mb (stage 0"),
            std::string::npos);
  controller->execute(ui::state::CopySettingsAs{run.string(), "accelerate"});
  EXPECT_NE(controller->take_copied_text()->find("distributed_type: MULTI_"), std::string::npos);
  controller->execute(ui::state::CopySettingsAs{"/gone", "pytorch"});
  EXPECT_FALSE(controller->take_copied_text());
  EXPECT_TRUE(controller->snapshot()->notice_is_error);
}

}  // namespace
}  // namespace shardlens::app::session
