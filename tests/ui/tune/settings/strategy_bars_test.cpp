// The rows under the strategy knob: figures derived by hand, clicks, refusals, what does not fit.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ui/testing/headless_window.h"
#include "tests/ui/testing/own_copy.h"
#include "tests/ui/testing/probe_texts.h"
#include "tests/ui/testing/sample_snapshot.h"
#include "trace/job/shape/strategy.h"
#include "ui/present/format.h"

namespace shardlens::ui::tune {

namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

// GPT-2's shape as in its paper: embeddings, blocks of 12·d² + 13·d, the last norm, a tied head.
constexpr double kWidth = 192, kBlocks = 5, kVocabulary = 320, kContext = 512;
constexpr double kParameters = kVocabulary * kWidth + kContext * kWidth +
                               kBlocks * (12 * kWidth * kWidth + 13 * kWidth) + 2 * kWidth;

class StrategyBarsTest : public ::testing::Test {
 protected:
  StrategyBarsTest() { snapshot_.knobs.next.bucket_cap_mb = 25; }

  void estimate(std::int64_t usable_bytes = 0) {
    snapshot_.knobs.problems = trace::job::problems_of(snapshot_.knobs.next);
    snapshot_.knobs.estimates = sample_estimates(snapshot_.knobs.next, usable_bytes);
    window_.frames(snapshot_, 3);
  }
  state::Rect row(std::string_view strategy) const {
    const auto* target = window_.probe().find("strategy/" + std::string(strategy));
    return target == nullptr ? state::Rect{} : target->rect;
  }
  std::vector<std::string> texts(std::string_view strategy) const {
    return texts_in(window_.probe(), row(strategy));
  }

  HeadlessWindow window_{1600, 1400};
  state::Snapshot snapshot_ = sample_snapshot();  // tiny, 2 ranks on the CPU, fp32
};

TEST_F(StrategyBarsTest, ShowWhatAStepSendsAsWorkedOutByHand) {
  estimate();
  // An all-reduce of n ranks sends 2(n−1)/n of the size, a gather or a broadcast (n−1)/n. Gloo runs
  // a reduce-scatter as an all-reduce.
  const double size = 4 * kParameters;
  EXPECT_EQ(texts("ddp").back(), present::format_bytes(size).text());
  EXPECT_EQ(texts("zero1").back(), present::format_bytes(size + size / 2).text());
  EXPECT_EQ(texts("no_shard").back(), present::format_bytes(size).text());
  EXPECT_EQ(texts("shard_grad_op").back(), present::format_bytes(size / 2 + size).text());
}

TEST_F(StrategyBarsTest, ShowTheMemoryThatThePredictionSumsUpTo) {
  estimate();
  for (const auto& traits : trace::job::strategies()) {
    auto job = trace::predict::job_on_this_machine(snapshot_.knobs.next,
                                                   *trace::job::find_model_preset("tiny"));
    job.settings.sharding_strategy = traits.strategy;
    std::int64_t sum = 0;
    for (const auto& term : trace::predict::predict_memory(job).terms) sum += term.bytes;
    EXPECT_THAT(texts(traits.name),
                ElementsAre(std::string(traits.name),
                            present::format_bytes(static_cast<double>(sum)).text(), ::testing::_));
  }
}

TEST_F(StrategyBarsTest, TellHowManyParametersThereAreAndWhatShareIsTrained) {
  estimate();
  EXPECT_TRUE(window_.probe().shows(present::format_count(kParameters).text() +
                                    " parameters, all trained"));
  // Adapters of rank 4 beside c_attn, which makes 3·d of d values: 4·(d + 3·d) values a block.
  snapshot_.knobs.next.lora_rank = 4;
  const double adapters = kBlocks * 4 * (kWidth + 3 * kWidth);
  estimate();
  EXPECT_TRUE(window_.probe().shows(
      present::format_count(kParameters + adapters).text() + " parameters, " +
      present::format_percent(adapters / (kParameters + adapters)).text() + " trained"));
}

TEST_F(StrategyBarsTest, ChooseAStrategyByAClick) {
  estimate();
  ASSERT_TRUE(window_.click(snapshot_, "strategy/full_shard"));
  const auto set = window_.take<state::SetKnob>();
  ASSERT_TRUE(set);
  EXPECT_EQ(set->name, "sharding_strategy");
  EXPECT_EQ(set->text, "full_shard");
}

TEST_F(StrategyBarsTest, SayWhyAStrategyIsRefusedInsteadOfFigures) {
  snapshot_.knobs.next.sharding_strategy = trace::job::Strategy::kFullShard;
  snapshot_.knobs.next.cpu_offload = true;  // which ddp has nothing for
  estimate();
  EXPECT_THAT(texts("ddp"), ElementsAre("ddp", "refused"));
  EXPECT_EQ(texts("full_shard").size(), 3u);
  window_.move_to(snapshot_, row("ddp").center_x(), row("ddp").center_y());
  EXPECT_TRUE(window_.probe().shows("ddp is refused"));
  EXPECT_TRUE(window_.probe().shows("cpu_offload"));
}

TEST_F(StrategyBarsTest, ShowTheFormulaOfEachFigure) {
  estimate();
  const state::Rect ddp = row("ddp");
  window_.move_to(snapshot_, ddp.x + ddp.w * 0.5f, ddp.center_y());
  EXPECT_TRUE(window_.probe().shows("ddp: memory of a rank"));
  EXPECT_TRUE(window_.probe().shows("4 B × 2,384,448")) << "parameters";
  window_.move_to(snapshot_, ddp.right() - 8, ddp.center_y());
  EXPECT_TRUE(window_.probe().shows("ddp: sent by a rank in a step"));
  EXPECT_TRUE(window_.probe().shows("(2 - 1) / 2"));
}

TEST_F(StrategyBarsTest, MarkWhatDoesNotFitTheDevice) {
  constexpr std::int64_t kMiB = 1 << 20;
  estimate(90 * kMiB);  // between full_shard and ddp
  state::Rect ddp = row("ddp");
  window_.move_to(snapshot_, ddp.x + ddp.w * 0.5f, ddp.center_y());
  EXPECT_TRUE(window_.probe().shows("Short by"));
  EXPECT_TRUE(window_.probe().shows("of 90.0 MiB"));
  const state::Rect full = row("full_shard");
  window_.move_to(snapshot_, full.x + full.w * 0.5f, full.center_y());
  EXPECT_FALSE(window_.probe().shows("Short by"));
}

TEST_F(StrategyBarsTest, OpenThePlanByButtonKeyAndPalette) {
  estimate();
  const auto opens = [&] {
    const auto commands = window_.take_commands();
    const auto* asked = HeadlessWindow::find<state::ShowPlan>(commands);
    return asked != nullptr && asked->is_shown;
  };
  ASSERT_TRUE(window_.click(snapshot_, "knobs/plan"));
  EXPECT_TRUE(opens());
  window_.press(snapshot_, kit::Key::kP);
  EXPECT_TRUE(opens());
  window_.press(snapshot_, kit::Key::kK, true);
  window_.type(snapshot_, "plan what");
  window_.press(snapshot_, kit::Key::kEnter);
  EXPECT_TRUE(opens());
}

TEST_F(StrategyBarsTest, ShowStepsOfAnotherProgramsRunWithoutTheMemoryOfTheNextOne) {
  auto& run = own_copy(snapshot_.run);
  run.figures.info.imported_from = "PyTorch profiler";
  const auto view = std::make_shared<state::PredictionView>();
  trace::tuning::KnobCurve& curve = view->choices.emplace_back();
  curve.knob = trace::job::find_knob("sharding_strategy");
  curve.points = {{"full_shard", 0, 40e6, std::nullopt, true}};
  snapshot_.prediction = view;
  estimate();
  EXPECT_THAT(texts("full_shard"), ElementsAre("full_shard", "unknown", "40.0 ms"));
  EXPECT_THAT(texts("ddp"), ElementsAre("ddp", "unknown", "unknown"));
  window_.move_to(snapshot_, row("full_shard").right() - 8, row("full_shard").center_y());
  EXPECT_FALSE(window_.probe().shows("sent by a rank in a step"));
  EXPECT_FALSE(window_.probe().shows("parameters, all trained")) << "that is the next run's model";
  EXPECT_TRUE(window_.probe().shows("Steps of the run on screen"));
}

TEST_F(StrategyBarsTest, SayWhyAStepIsNotPredicted) {
  const auto view = std::make_shared<state::PredictionView>();
  trace::tuning::KnobCurve& curve = view->choices.emplace_back();
  curve.knob = trace::job::find_knob("sharding_strategy");
  curve.points = {{"ddp", 0, 40e6, std::nullopt, true}};
  curve.unpredicted = {{"full_shard", 0, "Uncalibrated."}};
  snapshot_.prediction = view;
  estimate();
  EXPECT_EQ(texts("full_shard").back(), "unknown");
  window_.move_to(snapshot_, row("full_shard").right() - 8, row("full_shard").center_y());
  EXPECT_TRUE(window_.probe().shows("Uncalibrated"));
}

TEST_F(StrategyBarsTest, AreLeftOutWhereTheModelIsNotKnown) {
  snapshot_.knobs.estimates = nullptr;
  window_.frames(snapshot_, 3);
  EXPECT_EQ(window_.probe().find("strategy/ddp"), nullptr);
  EXPECT_NE(window_.probe().find("knob/sharding_strategy"), nullptr);
}

}  // namespace

}  // namespace shardlens::ui::tune
