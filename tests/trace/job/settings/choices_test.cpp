#include "trace/job/settings/choices.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>
#include <utility>
#include <variant>

#include "trace/job/settings/settings.h"

namespace shardlens::trace::job {
namespace {

// The table knows the names, choices.h the order: here both are written down once more.
template <typename Choice>
void expect_names(std::string_view knob, Choice Settings::*member,
                  std::initializer_list<std::pair<std::string_view, Choice>> names) {
  EXPECT_EQ(names.size(), find_knob(knob)->choices.size()) << knob;
  for (const auto& [name, choice] : names) {
    Settings settings;
    ASSERT_TRUE(set_value(settings, knob, name)) << knob << ": " << name;
    EXPECT_EQ(settings.*member, choice) << knob << ": " << name;
  }
}

TEST(ChoiceNames, OfDataAndDevices) {
  expect_names<AutoBool>(
      "packing", &Settings::packing,
      {{"auto", AutoBool::kAuto}, {"true", AutoBool::kTrue}, {"false", AutoBool::kFalse}});
  expect_names<OnBadLines>("on_bad_lines", &Settings::on_bad_lines,
                           {{"stop", OnBadLines::kStop}, {"skip", OnBadLines::kSkip}});
  expect_names<UnevenInputs>("uneven_inputs", &Settings::uneven_inputs,
                             {{"even", UnevenInputs::kEven}, {"join", UnevenInputs::kJoin}});
  expect_names<DeviceChoice>(
      "device", &Settings::device,
      {{"auto", DeviceChoice::kAuto}, {"cpu", DeviceChoice::kCpu}, {"cuda", DeviceChoice::kCuda}});
}

TEST(ChoiceNames, OfParallelism) {
  expect_names<CommunicationHook>("communication_hook", &Settings::communication_hook,
                                  {{"none", CommunicationHook::kNone},
                                   {"fp16_compress", CommunicationHook::kFp16Compress},
                                   {"bf16_compress", CommunicationHook::kBf16Compress}});
  expect_names<Communication>("communication", &Settings::communication,
                              {{"on", Communication::kOn}, {"none", Communication::kNone}});
  expect_names<WrapPolicy>("wrap_policy", &Settings::wrap_policy,
                           {{"transformer_block", WrapPolicy::kTransformerBlock},
                            {"size", WrapPolicy::kSize},
                            {"whole_model", WrapPolicy::kWholeModel}});
  expect_names<BackwardPrefetch>("backward_prefetch", &Settings::backward_prefetch,
                                 {{"pre", BackwardPrefetch::kPre},
                                  {"post", BackwardPrefetch::kPost},
                                  {"none", BackwardPrefetch::kNone}});
  expect_names<AutoBool>(
      "reshard_after_forward", &Settings::reshard_after_forward,
      {{"auto", AutoBool::kAuto}, {"true", AutoBool::kTrue}, {"false", AutoBool::kFalse}});
  expect_names<StreamPriority>("comm_stream_priority", &Settings::comm_stream_priority,
                               {{"auto", StreamPriority::kAuto},
                                {"high", StreamPriority::kHigh},
                                {"normal", StreamPriority::kNormal}});
}

TEST(ChoiceNames, OfPrecision) {
  expect_names<Precision>(
      "precision", &Settings::precision,
      {{"fp32", Precision::kFp32}, {"bf16", Precision::kBf16}, {"fp16", Precision::kFp16}});
  const std::initializer_list<std::pair<std::string_view, DataType>> types{
      {"auto", DataType::kAuto},
      {"fp32", DataType::kFp32},
      {"bf16", DataType::kBf16},
      {"fp16", DataType::kFp16}};
  expect_names("param_dtype", &Settings::param_dtype, types);
  expect_names("reduce_dtype", &Settings::reduce_dtype, types);
  expect_names("buffer_dtype", &Settings::buffer_dtype, types);
  expect_names<BaseType>("base_dtype", &Settings::base_dtype,
                         {{"auto", BaseType::kAuto},
                          {"fp32", BaseType::kFp32},
                          {"bf16", BaseType::kBf16},
                          {"nf4", BaseType::kNf4}});
}

TEST(ChoiceNames, OfOptimizationAndCheckpoints) {
  expect_names<OptimizerChoice>(
      "optimizer", &Settings::optimizer,
      {{"adamw", OptimizerChoice::kAdamW}, {"sgd", OptimizerChoice::kSgd}});
  expect_names<LrSchedule>("lr_schedule", &Settings::lr_schedule,
                           {{"cosine", LrSchedule::kCosine},
                            {"linear", LrSchedule::kLinear},
                            {"constant", LrSchedule::kConstant},
                            {"constant_with_warmup", LrSchedule::kConstantWithWarmup},
                            {"cosine_with_restarts", LrSchedule::kCosineWithRestarts},
                            {"cosine_with_min_lr", LrSchedule::kCosineWithMinLr},
                            {"polynomial", LrSchedule::kPolynomial},
                            {"inverse_sqrt", LrSchedule::kInverseSqrt},
                            {"warmup_stable_decay", LrSchedule::kWarmupStableDecay}});
  expect_names<OnNonfinite>("on_nonfinite", &Settings::on_nonfinite,
                            {{"stop", OnNonfinite::kStop}, {"continue", OnNonfinite::kContinue}});
  expect_names<CheckpointFormat>(
      "checkpoint_format", &Settings::checkpoint_format,
      {{"full", CheckpointFormat::kFull}, {"sharded", CheckpointFormat::kSharded}});
  expect_names<SaveModel>("save_model", &Settings::save_model,
                          {{"auto", SaveModel::kAuto},
                           {"none", SaveModel::kNone},
                           {"end", SaveModel::kEnd},
                           {"best", SaveModel::kBest}});
}

TEST(Choices, AreAllNamedAndReadBack) {
  for (const Knob& knob : knobs()) {
    const auto* member = std::get_if<ChoiceMember>(&knob.member);
    if (member == nullptr) continue;
    EXPECT_FALSE(knob.choices_are_open) << knob.name;
    for (std::size_t place = 0; place < knob.choices.size(); ++place) {
      Settings settings;
      ASSERT_TRUE(set_value(settings, knob.name, knob.choices[place])) << knob.name;
      EXPECT_EQ(member->get(settings), static_cast<int>(place)) << knob.name;
      EXPECT_EQ(value_text(settings, knob), knob.choices[place]);
    }
  }
}

}  // namespace
}  // namespace shardlens::trace::job
