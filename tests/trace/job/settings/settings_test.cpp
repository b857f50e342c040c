#include "trace/job/settings/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "trace/base/text.h"
#include "trace/job/shape/strategy.h"

namespace shardlens::trace::job {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view name, std::string_view text) {
  Settings settings;
  const auto result = set_value(settings, name, text);
  EXPECT_EQ(settings, Settings{}) << "a refused value must change nothing";
  return result ? "" : result.error().message;
}

TEST(SettingsTable, DescribesEveryKnobCompletely) {
  std::set<std::string_view> names;
  for (const Knob& knob : knobs()) {
    EXPECT_TRUE(names.insert(knob.name).second) << knob.name;
    EXPECT_FALSE(knob.label.empty()) << knob.name;
    EXPECT_FALSE(knob.explanation.empty()) << knob.name;
    EXPECT_NE(knob.explanation.back(), '.') << knob.name;
    EXPECT_EQ(find_knob(knob.name), &knob);
  }
}

TEST(SettingsTable, BindsEachKnobToAMemberOfItsOwn) {
  for (const Knob& knob : knobs()) {
    Settings settings;
    const std::string other = type_name(knob) == "bool"
                                  ? (default_text(knob) == "true" ? "false" : "true")
                              : type_name(knob) == "choice"       ? std::string(knob.choices.back())
                              : knob.name == "data"               ? "/tmp"
                              : knob.name == "record"             ? "every 2nd"
                              : knob.name == "record_allocations" ? "off"
                              : knob.name == "simulate_link"      ? "gbit_per_s=1"
                              : knob.name == "inject"             ? "nan"
                                                                  : "0.5";
    auto changed = set_value(settings, knob.name, other);
    if (!changed) changed = set_value(settings, knob.name, "7");
    ASSERT_TRUE(changed) << knob.name;
    const auto differing = differing_knobs(Settings{}, settings);
    if (knob.choices.size() == 1 && type_name(knob) == "choice")
      continue;  // nothing else to choose
    ASSERT_EQ(differing.size(), 1u) << knob.name;
    EXPECT_EQ(differing.front(), &knob);
  }
}

TEST(SettingsTable, NamesNcclsChoicesInWhatItAccepts) {
  for (const char* name : {"nccl_algo", "nccl_proto"}) {
    for (const std::string_view choice : find_knob(name)->choices) {
      EXPECT_THAT(range_text(*find_knob(name)), HasSubstr(std::string(choice)));
    }
  }
}

TEST(SettingsTable, DefaultsAreValidAndReadBackFromTheirText) {
  EXPECT_TRUE(validate(Settings{}));
  Settings settings;
  for (const Knob& knob : knobs()) {
    EXPECT_TRUE(set_value(settings, knob.name, default_text(knob))) << knob.name;
  }
  EXPECT_EQ(settings, Settings{});
}

TEST(SetValue, NamesTheNearestKeyForAMisspeltOne) {
  EXPECT_THAT(error_of("bucket_cap", "4"), HasSubstr("Did you mean 'bucket_cap_mb'?"));
  EXPECT_THAT(error_of("batch_per_ranks", "4"), HasSubstr("'batch_per_rank'"));
  EXPECT_THAT(error_of("learning-rate", "4"), HasSubstr("'learning_rate'"));
}

TEST(SetValue, RefusesWrongTypesAndValuesOutOfRange) {
  EXPECT_THAT(error_of("bucket_cap_mb", "big"), HasSubstr("0.01 to 4096 MiB"));
  EXPECT_THAT(error_of("bucket_cap_mb", "-1"), HasSubstr("bucket_cap_mb: '-1' is not valid"));
  EXPECT_THAT(error_of("bucket_cap_mb", "nan"), HasSubstr("not valid"));
  EXPECT_THAT(error_of("ranks", "1.5"), HasSubstr("whole number"));
  EXPECT_THAT(error_of("ranks", "1\n2"), HasSubstr("'1�2'")) << "an error is a line";
  EXPECT_THAT(error_of("ranks", "0"), HasSubstr("from 1 to 1024"));
  EXPECT_THAT(error_of("ranks", "auto"), HasSubstr("not valid"));
  EXPECT_THAT(error_of("static_graph", "maybe"), HasSubstr("true or false"));
  EXPECT_THAT(error_of("precision", "fp8"), HasSubstr("fp32, bf16 or fp16"));
  EXPECT_THAT(error_of("data", ""), HasSubstr("not valid"));
  EXPECT_THAT(error_of("data", "caf\xe9.txt"), HasSubstr("not UTF-8"));
  EXPECT_THAT(error_of("steps", "99999999999999999999"), HasSubstr("not valid"));
}

TEST(SetValue, TakesAliasesAutoAndSpaces) {
  Settings settings;
  EXPECT_TRUE(set_assignment(settings, "lr = 0.001"));
  EXPECT_TRUE(set_assignment(settings, "first_bucket_mb=auto"));
  EXPECT_TRUE(set_assignment(settings, "data=/tmp/a=b"));
  EXPECT_DOUBLE_EQ(settings.learning_rate, 0.001);
  EXPECT_EQ(settings.first_bucket_mb, kAuto);
  EXPECT_EQ(settings.data, "/tmp/a=b");
  EXPECT_FALSE(set_assignment(settings, "steps"));
  EXPECT_FALSE(set_assignment(settings, "=3"));
}

TEST(SetValue, TakesDeepSpeedsStagesForStrategies) {
  Settings settings;
  EXPECT_TRUE(set_assignment(settings, "zero_stage=3"));
  EXPECT_EQ(settings.sharding_strategy, Strategy::kFullShard);
  EXPECT_TRUE(set_assignment(settings, "zero_stage=1"));
  EXPECT_EQ(settings.sharding_strategy, Strategy::kZero1);
  EXPECT_THAT(error_of("zero_stage", "4"), HasSubstr("3 (full_shard)"));
}

TEST(Knob, AppliesToTheStrategiesItNames) {
  EXPECT_TRUE(applies(*find_knob("bucket_cap_mb"), Strategy::kZero1));
  EXPECT_FALSE(applies(*find_knob("bucket_cap_mb"), Strategy::kFullShard));
  EXPECT_TRUE(applies(*find_knob("shard_group_size"), Strategy::kHybridShard));
  EXPECT_FALSE(applies(*find_knob("shard_group_size"), Strategy::kFullShard));
  EXPECT_TRUE(applies(*find_knob("model"), Strategy::kNoShard));
}

TEST(Knob, DependsOnValuesThatAnotherKnobHas) {
  for (const Knob& knob : knobs()) {
    if (knob.depends_on.empty()) continue;
    EXPECT_NE(knob.obeyed_with.empty(), knob.obeyed_unless.empty()) << knob.name;
    Settings nothing;
    if (knob.obeyed_with.empty()) {
      EXPECT_TRUE(set_value(nothing, knob.depends_on, knob.obeyed_unless)) << knob.name;
      EXPECT_NE(ignored_with(knob, nothing), "") << knob.name;
      continue;
    }
    for (std::string_view value : base::split(knob.obeyed_with, ',')) {
      Settings settings;
      EXPECT_TRUE(set_value(settings, knob.depends_on, base::trimmed(value))) << knob.name;
      settings.sharding_strategy = knob.applies_to.empty() ? Strategy::kDdp : Strategy::kFullShard;
      EXPECT_EQ(ignored_with(knob, settings), "") << knob.name;
    }
  }
}

TEST(Knob, IsIgnoredWithAStrategyOrAValueOfAnotherKnob) {
  Settings settings;
  const auto with = [&](const char* knob) { return ignored_with(*find_knob(knob), settings); };
  EXPECT_EQ(with("bucket_cap_mb"), "");
  EXPECT_EQ(with("steps"), "");
  settings.epochs = 3;
  EXPECT_EQ(with("steps"), "epochs: 3");
  settings.sharding_strategy = Strategy::kFullShard;
  EXPECT_EQ(with("bucket_cap_mb"), "full_shard");
  EXPECT_EQ(with("min_num_params"), "wrap_policy: transformer_block");
  EXPECT_EQ(with("lora_alpha"), "lora_rank: 0");
  settings.lora_rank = 4;
  EXPECT_EQ(with("lora_alpha"), "");
}

TEST(Knob, IsWithoutEffectWhereItIsIgnoredOrNothingIsLeftForIt) {
  Settings settings;
  const auto with = [&](const char* knob) {
    return without_effect_with(*find_knob(knob), settings);
  };
  settings.sharding_strategy = Strategy::kFullShard;
  EXPECT_EQ(with("backward_prefetch"), "");
  EXPECT_EQ(with("bucket_cap_mb"), "full_shard");
  EXPECT_EQ(with("min_num_params"), "wrap_policy: transformer_block");
  for (const Strategy keeps : {Strategy::kShardGradOp, Strategy::kHybridShardZero2}) {
    settings.sharding_strategy = keeps;
    EXPECT_EQ(with("backward_prefetch"), strategy_traits(keeps).name);
    EXPECT_EQ(ignored_with(*find_knob("backward_prefetch"), settings), "") << "exports tell it";
    EXPECT_EQ(with("forward_prefetch"), "");
  }
  settings.sharding_strategy = Strategy::kDdp;
  EXPECT_EQ(with("backward_prefetch"), "ddp");
}

TEST(Knob, OfGpusIsWithoutEffectOnACpu) {
  Settings settings;
  settings.sharding_strategy = Strategy::kFullShard;
  const auto of_gpus = [&] {
    std::vector<std::string_view> names;
    for (const Knob& knob : knobs()) {
      if (!knob.needs_gpu) continue;
      names.push_back(knob.name);
      const bool has_gpu = settings.device != DeviceChoice::kCpu;
      EXPECT_EQ(without_effect_with(knob, settings), has_gpu ? "" : "device: cpu") << knob.name;
      EXPECT_EQ(applies(knob, settings), has_gpu) << knob.name;
      EXPECT_EQ(ignored_with(knob, settings), "") << "exports tell it";
    }
    return names;
  };
  EXPECT_THAT(of_gpus(), testing::IsSupersetOf(
                             {"nccl_algo", "oversubscribe", "allocator_conf", "cpu_offload"}))
      << "auto may be a GPU";
  settings.device = DeviceChoice::kCpu;
  of_gpus();
  settings.sharding_strategy = Strategy::kDdp;
  EXPECT_EQ(without_effect_with(*find_knob("limit_all_gathers"), settings), "ddp");
}

TEST(Threads, OfARankAreItsPartOfTheCoresUnlessTheyAreSet) {
  Settings settings;
  EXPECT_EQ(threads_of_a_rank(settings, 2, 9), 4);
  EXPECT_EQ(threads_of_a_rank(settings, 8, 2), 1);
  EXPECT_EQ(threads_of_a_rank(settings, 0, 2), 2) << "a run that nobody has started";
  settings.threads_per_rank = 3;
  EXPECT_EQ(threads_of_a_rank(settings, 2, 1), 3);
}

TEST(Strategies, HaveARowForEveryChoice) {
  const Knob& knob = *find_knob("sharding_strategy");
  ASSERT_EQ(knob.choices.size(), strategies().size());
  for (std::size_t i = 0; i < knob.choices.size(); ++i) {
    EXPECT_EQ(strategies()[i].name, knob.choices[i]);
    EXPECT_EQ(strategies()[i].strategy, static_cast<Strategy>(i));
  }
}

TEST(Strategies, DivideUnitsOverTheRightNumberOfRanks) {
  Settings settings;
  settings.sharding_strategy = Strategy::kFullShard;
  EXPECT_EQ(shard_group_size(settings, 16, 8), 16);
  settings.sharding_strategy = Strategy::kNoShard;
  EXPECT_EQ(shard_group_size(settings, 16, 8), 1);
  settings.sharding_strategy = Strategy::kHybridShard;
  EXPECT_EQ(shard_group_size(settings, 16, 8), 8);
  settings.shard_group_size = 2;
  EXPECT_EQ(shard_group_size(settings, 16, 8), 2);
}

TEST(Validate, RefusesWhatAStrategyCannotDo) {
  auto problem_of = [](std::vector<std::string_view> assignments) {
    Settings settings;
    for (const auto each : assignments) EXPECT_TRUE(set_assignment(settings, each));
    const auto valid = validate(settings);
    return valid ? std::string() : valid.error().message;
  };
  EXPECT_THAT(problem_of({"cpu_offload=true"}), HasSubstr("ddp has none"));
  EXPECT_EQ(problem_of({"cpu_offload=true", "strategy=full_shard"}), "");
  EXPECT_THAT(problem_of({"strategy=hybrid_shard", "ranks=4", "shard_group_size=3"}),
              HasSubstr("does not divide ranks (4)"));
  EXPECT_THAT(problem_of({"strategy=full_shard", "reshard_after_forward=false"}),
              HasSubstr("shard_grad_op"));
  EXPECT_EQ(problem_of({"strategy=full_shard", "reshard_after_forward=true"}), "");
  EXPECT_THAT(problem_of({"strategy=full_shard", "param_dtype=bf16", "precision=bf16"}),
              HasSubstr("only one"));
  EXPECT_THAT(problem_of({"precision=fp16", "device=cpu"}), HasSubstr("use bf16 on the CPU"));
  EXPECT_THAT(problem_of({"strategy=full_shard", "communication=none"}), HasSubstr("ddp only"));
  EXPECT_THAT(problem_of({"strategy=full_shard", "use_orig_params=false"}),
              HasSubstr("always true"));
  EXPECT_THAT(problem_of({"uneven_inputs=join"}), HasSubstr("drop_last: false"));
}

TEST(Validate, RefusesCombinationsThatContradictEachOther) {
  Settings settings;
  settings.static_graph = true;
  settings.find_unused_parameters = true;
  EXPECT_THAT(validate(settings).error().message, HasSubstr("find_unused_parameters off"));
  settings = {};
  settings.communication = Communication::kNone;
  settings.communication_hook = CommunicationHook::kFp16Compress;
  EXPECT_THAT(validate(settings).error().message, HasSubstr("communication_hook: none"));
  settings = {};
  settings.find_unused_parameters = true;
  settings.activation_checkpointing = 2;
  EXPECT_THAT(validate(settings).error().message, HasSubstr("turn one of them off"));
  settings = {};
  settings.communication = Communication::kNone;
  settings.find_unused_parameters = true;
  EXPECT_THAT(validate(settings).error().message, HasSubstr("find_unused_parameters off"));
  settings = {};
  settings.inject = "rank=2,nan";
  EXPECT_THAT(validate(settings).error().message, HasSubstr("the job has 2 ranks"));
  settings = {};
  settings.simulate_link = "fast";
  settings.record = "sometimes";
  settings.record_allocations = "step";
  EXPECT_EQ(problems_of(settings).size(), 3u);
}

TEST(Validate, SaysWhatToDoAboutLengthsThatDoNotFit) {
  Settings settings;
  settings.steps = 10;
  settings.warmup_steps = 11;
  const auto validated = validate(settings);
  ASSERT_FALSE(validated);
  EXPECT_THAT(validated.error().message, HasSubstr("lower it, or raise steps"));
  settings.epochs = 1;
  EXPECT_TRUE(validate(settings)) << "how many steps they are is not known yet";
}

TEST(Validate, AsksForHeldOutTextOnlyWhereNoneIsGiven) {
  Settings settings;
  settings.evaluate_every = 5;
  EXPECT_TRUE(validate(settings));
  settings.evaluation_fraction = 0;
  EXPECT_THAT(validate(settings).error().message, HasSubstr("evaluation_data to a file"));
  settings.evaluation_data = "held_out.txt";
  EXPECT_TRUE(validate(settings));
}

TEST(Validate, AsksForEvaluationsWhereTheBestIsKept) {
  Settings keeps, saves;
  keeps.keep_best = true;
  saves.save_model = SaveModel::kBest;
  for (Settings& settings : {std::ref(keeps), std::ref(saves)}) {
    EXPECT_THAT(validate(settings).error().message, HasSubstr("set evaluate_every"));
    settings.evaluate_every = 5;
    EXPECT_TRUE(validate(settings));
    settings.steps = 4;
    EXPECT_THAT(validate(settings).error().message,
                HasSubstr("evaluate_every: 5, more than steps"));
    settings.epochs = 1;
    EXPECT_TRUE(validate(settings)) << "its number of steps is not known yet";
  }
}

TEST(RunName, LeavesOutWhatTheStrategyDoesNotObey) {
  Settings base, next;
  base.sharding_strategy = Strategy::kHybridShard;
  base.shard_group_size = 2;
  next.sharding_strategy = Strategy::kFullShard;
  EXPECT_EQ(name_from_difference(base, next), "full_shard");
}

TEST(RunName, SaysWhatDiffers) {
  Settings settings;
  EXPECT_EQ(name_from_difference(Settings{}, settings), "baseline");
  settings.bucket_cap_mb = 60;
  EXPECT_EQ(name_from_difference(Settings{}, settings), "cap 60");
  settings.communication_hook = CommunicationHook::kBf16Compress;
  settings.gradient_as_bucket_view = true;
  EXPECT_EQ(name_from_difference(Settings{}, settings), "cap 60, views, hook bf16_compress");
  settings = {};
  settings.data = "/home/a b/text\"s.txt";
  EXPECT_EQ(name_from_difference(Settings{}, settings), "data text-s.txt");
  settings = {};
  settings.model = "/models/Llama-3.2-1B/";
  EXPECT_EQ(name_from_difference(Settings{}, settings), "model Llama-3.2-1B");
}

TEST(RunName, SaysTheValuesOfChosenKnobsEvenWhereTheyAreTheDefaults) {
  Settings settings;
  settings.ranks = 4;
  const std::vector<const Knob*> knobs{find_knob("ranks"), find_knob("bucket_cap_mb")};
  EXPECT_EQ(name_from_values(settings, knobs), "ranks 4, cap 25");
  EXPECT_EQ(name_from_values(settings, {}), "");
}

}  // namespace
}  // namespace shardlens::trace::job
