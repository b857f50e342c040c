// The plan card in a headless window: what it says, and what clicks on it ask for.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ui/testing/headless_window.h"
#include "tests/ui/testing/probe_texts.h"
#include "tests/ui/testing/sample_snapshot.h"

namespace shardlens::ui::plan {

namespace {

constexpr int kCardLayer = 10;

class PlanCardTest : public ::testing::Test {
 protected:
  PlanCardTest() { window_.frames(snapshot_, 3); }

  template <typename T>
  const T* command() {
    commands_ = window_.take_commands();
    return HeadlessWindow::find<T>(commands_);
  }

  HeadlessWindow window_{1280, 800};
  state::Snapshot snapshot_ = plan_snapshot("llama-8b");
  state::Commands commands_;
};

TEST_F(PlanCardTest, ShowsTheFiguresOfItsTable) {
  const present::PlanTable table = present::plan_table(*snapshot_.plan->plan);
  for (const present::PlanRow& row : table.rows) {
    std::vector<std::string> wanted{row.strategy};
    for (const present::PlanCell& cell : row.cells) wanted.push_back(cell.text);
    const auto* target = window_.probe().find("plan/" + row.strategy);
    ASSERT_NE(target, nullptr);
    EXPECT_EQ(texts_in(window_.probe(), target->rect, kCardLayer), wanted);
  }
}

TEST_F(PlanCardTest, ShowsTheFormulaOfEveryCellUnderTheMouse) {
  const present::PlanTable table = present::plan_table(*snapshot_.plan->plan);
  const present::PlanRow& row = table.rows[4];
  const state::Rect area = window_.probe().find("plan/" + row.strategy)->rect;
  std::vector<state::Rect> cells;
  for (const auto& text : window_.probe().texts) {
    if (text.layer == kCardLayer && area.contains(text.rect.center_x(), text.rect.center_y()))
      cells.push_back(text.rect);
  }
  ASSERT_EQ(cells.size(), row.cells.size() + 1) << "the name stands first";
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    window_.move_to(snapshot_, cells[i + 1].center_x(), cells[i + 1].center_y());
    EXPECT_TRUE(window_.probe().shows(row.strategy + ": " + table.columns[i].title)) << i;
    for (const present::FormulaLine& line : row.cells[i].lines) {
      EXPECT_TRUE(window_.probe().shows(line.formula)) << line.formula;
    }
  }
}

TEST_F(PlanCardTest, ChoosesAStrategyForTheNextRunByAClick) {
  ASSERT_TRUE(window_.click(snapshot_, "plan/full_shard"));
  const auto* set = command<state::SetKnob>();
  ASSERT_NE(set, nullptr);
  EXPECT_EQ(set->name, "sharding_strategy");
  EXPECT_EQ(set->text, "full_shard");
}

TEST_F(PlanCardTest, OffersTheChangesThatWouldMakeTheChosenStrategyFit) {
  EXPECT_TRUE(window_.probe().shows("ddp does not fit"));
  const trace::predict::Remedy& first = snapshot_.plan->remedies.front();
  ASSERT_TRUE(window_.click(snapshot_, "plan/remedy/" + first.text()));
  const auto* set = command<state::SetKnob>();
  ASSERT_NE(set, nullptr);
  EXPECT_EQ(set->name + "=" + set->text, first.text());
}

TEST_F(PlanCardTest, ChangesWhereTheJobWouldRun) {
  ASSERT_TRUE(window_.click(snapshot_, "plan/gpu"));
  ASSERT_TRUE(window_.click(snapshot_, "plan/gpu/a100-40"));
  const auto* gpu = command<state::SetPlanTarget>();
  ASSERT_NE(gpu, nullptr);
  EXPECT_EQ(gpu->name, "gpu");
  EXPECT_EQ(gpu->text, "a100-40");
  ASSERT_TRUE(window_.click(snapshot_, "plan/nodes"));
  ASSERT_TRUE(window_.click(snapshot_, "plan/nodes/8"));
  EXPECT_EQ(command<state::SetPlanTarget>()->text, "8");
}

TEST_F(PlanCardTest, OffersModelsThatCanOnlyBePlannedFor) {
  window_.resize(1280, 1400);  // the list scrolls where it is longer than 400
  ASSERT_TRUE(window_.click(snapshot_, "plan/model"));
  ASSERT_NE(window_.probe().find("plan/model/llama-70b"), nullptr);
  EXPECT_NE(window_.probe().find("plan/model/gpt2"), nullptr);
}

TEST_F(PlanCardTest, ClosesByItsCrossEscAndP) {
  const auto closes = [&] {
    const auto* asked = command<state::ShowPlan>();
    return asked != nullptr && !asked->is_shown;
  };
  ASSERT_TRUE(window_.click(snapshot_, "plan/close"));
  EXPECT_TRUE(closes());
  window_.press(snapshot_, kit::Key::kEscape);
  EXPECT_TRUE(closes());
  window_.press(snapshot_, kit::Key::kP);
  EXPECT_TRUE(closes());
}

TEST_F(PlanCardTest, EscLeavesAnOpenListFirst) {
  ASSERT_TRUE(window_.click(snapshot_, "plan/gpu"));
  ASSERT_NE(window_.probe().find("plan/gpu/t4-16"), nullptr);
  window_.press(snapshot_, kit::Key::kEscape);
  EXPECT_EQ(command<state::ShowPlan>(), nullptr);
  EXPECT_EQ(window_.probe().find("plan/gpu/t4-16"), nullptr);
}

TEST_F(PlanCardTest, SaysWhatIsWrongInsteadOfATable) {
  auto card = std::make_shared<state::PlanCard>();
  card->problem = "sequence_length is 4096, but model tiny has a context of 512 tokens.";
  snapshot_.plan = card;
  window_.frames(snapshot_, 3);
  EXPECT_TRUE(window_.probe().shows("has a context of 512 tokens"));
  EXPECT_EQ(window_.probe().find("plan/ddp"), nullptr);
}

TEST_F(PlanCardTest, ShowsAFieldsErrorBesideIt) {
  snapshot_.notice = "\"many\" is not a number of machines.";
  snapshot_.notice_is_error = true;
  window_.frames(snapshot_, 3);
  int shown = 0;
  for (const auto& text : window_.probe().texts) {
    shown += text.layer >= 10 && text.text == snapshot_.notice ? 1 : 0;
  }
  EXPECT_EQ(shown, 1);
}

}  // namespace

}  // namespace shardlens::ui::plan
