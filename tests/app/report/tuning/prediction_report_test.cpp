// What `predict` prints of a run's other settings, and of all predictions so far.
#include "app/report/tuning/prediction_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "app/report/report_json.h"

namespace shardlens::app::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const launch::CudaProbe kNoGpu{};

std::filesystem::path bundled_run(const std::string& name) {
  return std::filesystem::path(SHARDLENS_SOURCE_DIR) / "assets/runs" / (name + ".shardlens");
}

std::filesystem::path recorded_example() { return bundled_run("slow_link_cap_1"); }

trace::base::Result<PredictedRun> predict_with(const std::vector<std::string>& assignments) {
  return predict_run(recorded_example(), {.from_file = {}, .assignments = assignments});
}

TEST(PredictionReport, NamesWhatItLeavesOut) {
  const auto run =
      predict_with({"bucket_cap_mb=4", "gradient_as_bucket_view=true", "learning_rate=0.5"});
  ASSERT_TRUE(run) << run.error().message;
  const std::string text = prediction_text(*run);
  EXPECT_THAT(text, HasSubstr("Without gradient_as_bucket_view, whose effect is not known."));
  EXPECT_THAT(text, HasSubstr("No effect on the step: learning_rate."));
  const Json json = prediction_json(*run);
  EXPECT_EQ(json["left_out"], Json({"gradient_as_bucket_view"}));
  EXPECT_EQ(json["without_effect"], Json({"learning_rate"}));
  EXPECT_FALSE(json["changed"].contains("learning_rate"));
  const auto alone = predict_with({"bucket_cap_mb=4"});
  ASSERT_TRUE(alone);
  EXPECT_EQ(json["step_ms"], prediction_json(*alone)["step_ms"]) << "of the other changes";
}

// Every bucket closes at the same gradient.
TEST(PredictionReport, IsSureOfAScheduleThatStaysAsItIs) {
  const auto run = predict_with({"first_bucket_mb=0.9"});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_THAT(prediction_text(*run), HasSubstr("unchanged"));
  const Json difference = prediction_json(*run)["difference_ms"];
  for (const char* end : {"mean", "low", "high"}) EXPECT_EQ(difference[end], Json(0.0)) << end;
}

TEST(PredictionReport, TellsByHowMuchTwoRunsDifferByChance) {
  auto run = predict_with({"bucket_cap_mb=4"});
  ASSERT_TRUE(run) << run.error().message;
  run->apart = std::nullopt;
  EXPECT_TRUE(prediction_json(*run)["runs_apart_ms"].is_null());
  EXPECT_THAT(prediction_text(*run), Not(HasSubstr("By chance")));
  run->apart = 0.1;
  run->prediction.recorded_step_ns = 250e6;
  EXPECT_DOUBLE_EQ(prediction_json(*run)["runs_apart_ms"], 25.0);
  EXPECT_THAT(prediction_text(*run), HasSubstr("± 25.0 ms"));
}

TEST(PredictionReport, TellsWhetherStepsAreTooFewOrDrift) {
  auto run = predict_with({"bucket_cap_mb=4"});
  ASSERT_TRUE(run) << run.error().message;
  run->prediction.difference.reset();
  run->prediction.steps = 30;
  EXPECT_THAT(prediction_text(*run), HasSubstr("steps drift: how sure is not known"));
  run->prediction.interval.reset();
  EXPECT_THAT(prediction_text(*run), HasSubstr("steps drift: how sure is not known"));
  run->prediction.steps = 10;
  EXPECT_THAT(prediction_text(*run), HasSubstr("10 steps are too few: how sure is not known"));
  EXPECT_THAT(prediction_text(*run), Not(HasSubstr("drift")));
  auto same = predict_with({});
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_GE(same->prediction.recorded_steps, same->prediction.steps);
  same->prediction.interval.reset();
  same->prediction.recorded_steps = 30;
  same->prediction.steps = 5;
  EXPECT_THAT(prediction_text(*same), HasSubstr("steps drift"))
      << "those without detail count, too";
}

TEST(PredictionReport, TellsWhyHowSureIsKnownOfTheDifferenceAlone) {
  auto run = predict_with({"bucket_cap_mb=4"});
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_TRUE(run->prediction.difference);
  run->prediction.interval.reset();
  EXPECT_THAT(prediction_text(*run), HasSubstr("steps drift: how sure is known of the difference"));
  run->prediction.recorded_steps = 13;
  EXPECT_THAT(prediction_text(*run), HasSubstr("13 steps are too few: how sure is known of the"));
}

TEST(PredictionReport, NamesWhatIsChangedInAnotherProgram) {
  auto run = predict_with({"bucket_cap_mb=4"});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_TRUE(prediction_json(*run)["in_program"].empty()) << "it is none";
  EXPECT_THAT(prediction_text(*run), Not(HasSubstr("In the program")));
  run->in_program = {{trace::job::find_knob("bucket_cap_mb"), "DistributedDataParallel(…)"}};
  EXPECT_EQ(prediction_json(*run)["in_program"]["bucket_cap_mb"], "DistributedDataParallel(…)");
  EXPECT_THAT(prediction_text(*run),
              testing::EndsWith("\n\nIn the program:\n  DistributedDataParallel(…)\n"));
}

TEST(PredictionReport, SaysWhatBoundsTheStepBeforeAndAfter) {
  const auto same = predict_with({});
  ASSERT_TRUE(same) << same.error().message;
  const Json as_recorded = prediction_json(*same);
  EXPECT_EQ(as_recorded["recorded"]["bound_by"], as_recorded["bound_by"]);
  EXPECT_THAT(prediction_text(*same), Not(HasSubstr("As recorded: ")));
  const auto other = predict_with({"bucket_cap_mb=4"});
  ASSERT_TRUE(other) << other.error().message;
  const Json json = prediction_json(*other);
  EXPECT_EQ(json["recorded"]["bound_by"], as_recorded["bound_by"]);
  EXPECT_NE(json["bound_by"], as_recorded["bound_by"]);
  EXPECT_THAT(prediction_text(*other),
              HasSubstr("As recorded: " + json["recorded"]["bound_by"].get<std::string>() +
                        "\nPredicted: " + json["bound_by"].get<std::string>()));
}

TEST(PredictionReport, SaysWhereItsPeakDoesNotFit) {
  auto run = predict_with({"batch_per_rank=16"});
  ASSERT_TRUE(run) << run.error().message;
  run->usable_bytes = *run->prediction.peak_bytes();
  EXPECT_EQ(prediction_json(*run)["fits"], true);
  EXPECT_THAT(prediction_text(*run), Not(HasSubstr("more than the")));
  --run->usable_bytes;
  EXPECT_EQ(prediction_json(*run)["fits"], false);
  EXPECT_EQ(prediction_json(*run)["usable_memory_bytes"], run->usable_bytes);
  EXPECT_THAT(prediction_text(*run), HasSubstr(" a rank has there\n"));
  run->usable_bytes = 1;  // as where so many ranks would share the device
  EXPECT_THAT(prediction_text(*run), HasSubstr("nothing is left of the memory there\n"));
  run->usable_bytes = 0;
  EXPECT_TRUE(prediction_json(*run)["fits"].is_null()) << "not known";
  EXPECT_TRUE(prediction_json(*run)["usable_memory_bytes"].is_null());
  EXPECT_THAT(prediction_text(*run), Not(HasSubstr("more than the")));
}

TEST(PredictionReport, RefusesWhereNothingElseChanges) {
  const auto run = predict_with({"gradient_as_bucket_view=true", "learning_rate=0.5"});
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("gradient_as_bucket_view"));
  EXPECT_TRUE(predict_with({"learning_rate=0.5"})) << "which takes as long";
}

TEST(PredictionReport, IsKeptWithARunOnlyWhereItIsOfAllThatChanges) {
  const auto recorded = predict_with({});
  ASSERT_TRUE(recorded);
  auto next = recorded->info.settings;
  next.bucket_cap_mb = 4;
  const auto kept = predict_job(recorded_example(), next, kNoGpu);
  ASSERT_TRUE(kept) << kept.error().message;
  ASSERT_TRUE(*kept);
  EXPECT_DOUBLE_EQ((*kept)->step_ns, predict_with({"bucket_cap_mb=4"})->prediction.step_ns);
  EXPECT_EQ((*kept)->from, recorded->info.name);
  next.gradient_as_bucket_view = !next.gradient_as_bucket_view;
  EXPECT_FALSE(predict_job(recorded_example(), next, kNoGpu));
}

TEST(PredictionReport, IsNotKeptWhereNothingChanges) {
  auto same = predict_with({})->info.settings;
  same.learning_rate *= 2;
  const auto kept = predict_job(recorded_example(), same, kNoGpu);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_FALSE(*kept);
}

// The settings leave the device open, so that the job runs on what there is.
TEST(PredictionReport, IsNotKeptFromARunOfAnotherKindOfDevice) {
  const auto of_gpus = bundled_run("h200_ddp_cap_1");
  const auto recorded = predict_run(of_gpus, {.from_file = {}, .assignments = {}});
  ASSERT_TRUE(recorded) << recorded.error().message;
  auto next = recorded->info.settings;
  next.device = trace::job::DeviceChoice::kAuto;
  next.bucket_cap_mb = 8;
  const auto refused = predict_job(of_gpus, next, kNoGpu);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("another device"));
  launch::CudaProbe gpus;
  gpus.devices.resize(static_cast<std::size_t>(next.ranks));
  const auto kept = predict_job(of_gpus, next, gpus);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_TRUE(*kept);
}

TEST(PredictionHistoryReport, HoldsPredictionsAgainstMeasurements) {
  ui::present::PredictionHistory history;
  history.tested = {{.folder = "/runs/a",
                     .run = "run 7",
                     .name = "cap 4",
                     .from = "base",
                     .predicted_ns = 100e6,
                     .measured_ns = 110e6,
                     .interval = trace::tuning::Interval{95e6, 105e6}}};
  history.with_interval = 1;
  history.took_longer = 1;
  history.median_error = 0.1;
  history.worst = 0;
  const std::string text = history_text(history);
  EXPECT_THAT(text, HasSubstr("run 7"));
  EXPECT_THAT(text, HasSubstr("95.0 to 105.0 ms"));
  EXPECT_THAT(text, HasSubstr("+10.0 %"));
  EXPECT_THAT(text, HasSubstr("outside"));
  const Json json = history_json(history);
  EXPECT_EQ(json["predictions"][0]["within"], Json(false));
  EXPECT_EQ(json["predictions"][0]["predicted_ms"]["low"], Json(95.0));
  EXPECT_DOUBLE_EQ(json["median_error"].get<double>(), 0.1);
}

TEST(PredictionHistoryReport, WithNoneSaysWhatToDo) {
  const ui::present::PredictionHistory none;
  EXPECT_THAT(history_text(none), HasSubstr("`shardlens run --predict-from RUN`"));
  EXPECT_THAT(history_text(none), testing::Not(HasSubstr("press Start")));
  EXPECT_TRUE(history_json(none)["median_error"].is_null());
  EXPECT_TRUE(history_json(none)["predictions"].empty());
}

}  // namespace
}  // namespace shardlens::app::report
