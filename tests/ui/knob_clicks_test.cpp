// Knobs by mouse and keyboard: what is set becomes commands, and their names and choices are seen.
#include <gtest/gtest.h>

#include <string>

#include "tests/ui/testing/click_test.h"
#include "tests/ui/testing/sample_snapshot.h"
#include "trace/job/settings/settings.h"
#include "trace/job/shape/strategy.h"

namespace shardlens::ui {
namespace {

TEST_F(ClickTest, ChangesAKnobByItsSliderCheckboxAndList) {
  window_.resize(1600, 1400);
  ASSERT_TRUE(window_.drag(snapshot_, "slider/bucket_cap_mb", 0.5f, 0.9f));
  const auto* dragged = command<state::SetKnob>();
  ASSERT_NE(dragged, nullptr);
  EXPECT_EQ(dragged->name, "bucket_cap_mb");
  ASSERT_TRUE(window_.click(snapshot_, "knob/static_graph"));
  const auto* checked = command<state::SetKnob>();
  ASSERT_NE(checked, nullptr);
  EXPECT_EQ(checked->text, "true");
  ASSERT_TRUE(window_.click(snapshot_, "knob/model"));
  ASSERT_TRUE(window_.click(snapshot_, "knob/model/gpt2"));
  const auto* chosen = command<state::SetKnob>();
  ASSERT_NE(chosen, nullptr);
  EXPECT_EQ(chosen->text, "gpt2");
}

TEST_F(ClickTest, ChangesAKnobByTyping) {
  ASSERT_TRUE(window_.click(snapshot_, "knob/ranks"));
  window_.type(snapshot_, "4");
  window_.press(snapshot_, kit::Key::kEnter);
  const auto* typed = command<state::SetKnob>();
  ASSERT_NE(typed, nullptr);
  EXPECT_EQ(typed->name, "ranks");
  EXPECT_EQ(typed->text, "4");
}

TEST_F(ClickTest, SetsAKnobFromTheCommandPalette) {
  window_.frame(snapshot_);
  window_.press(snapshot_, kit::Key::kK, true);
  window_.type(snapshot_, "bucket_cap_mb 4");
  window_.press(snapshot_, kit::Key::kEnter);
  const auto* set = command<state::SetKnob>();
  ASSERT_NE(set, nullptr);
  EXPECT_EQ(set->text, "4");
}

TEST_F(ClickTest, UndoesAChangedKnob) {
  window_.resize(1600, 1400);  // the knob is in view
  window_.frame(snapshot_);
  ASSERT_TRUE(window_.click(snapshot_, "undo/bucket_cap_mb"));
  const auto* reset = command<state::ResetKnob>();
  ASSERT_NE(reset, nullptr);
  EXPECT_EQ(reset->name, "bucket_cap_mb");
  ASSERT_TRUE(window_.click(snapshot_, "knobs/reset"));
  EXPECT_NE(command<state::ResetKnobs>(), nullptr);
}

TEST_F(ClickTest, ShowsEveryKnobsNameAndChoiceUncut) {
  window_.resize(1600, 2600);
  snapshot_.knobs.next.communication_hook = trace::job::CommunicationHook::kBf16Compress;
  for (const trace::job::StrategyTraits& strategy : trace::job::strategies()) {
    snapshot_.knobs.next.sharding_strategy = strategy.strategy;
    window_.frames(snapshot_, 2);
    for (const trace::job::Knob& knob : trace::job::knobs()) {
      if (!knob.essential || !trace::job::applies(knob, strategy.strategy)) continue;
      EXPECT_TRUE(window_.probe().shows(knob.name)) << knob.name << " with " << strategy.name;
      EXPECT_TRUE(window_.probe().shows(knob.label)) << knob.label << " with " << strategy.name;
    }
  }
  for (const auto& text : window_.probe().texts) {
    if (text.rect.x >= 312) continue;
    EXPECT_EQ(text.text.find("bf16_compr…"), std::string::npos);
  }
}

TEST_F(ClickTest, ShowsTheEndOfALongPathBesideTheKnobsName) {
  snapshot_.knobs.next.model = "/home/somebody/models of mine/hub/Llama-3.2-1B-Instruct";
  window_.frames(snapshot_, 2);
  EXPECT_TRUE(window_.probe().shows("Llama-3.2-1B-Instruct"));
  const kit::DrawProbe::Target* field = window_.probe().find("knob/model");
  ASSERT_NE(field, nullptr);
  for (const auto& text : window_.probe().texts) {
    if (text.text != "Model" || text.rect.x >= 312) continue;
    EXPECT_LT(text.rect.right(), field->rect.x);
  }
}

// Near the lower edge a list lies above its field; where it has room on neither side, it scrolls.
TEST_F(ClickTest, ListsOfChoicesStayInTheWindow) {
  snapshot_ = empty_snapshot();
  for (const int height : {1000, 800, 720, 640}) {
    window_.resize(1280, height);
    window_.frames(snapshot_, 3);
    const auto* field = window_.probe().find("knob/sharding_strategy");
    ASSERT_NE(field, nullptr);
    if (field->rect.bottom() > static_cast<float>(height)) continue;
    ASSERT_TRUE(window_.click(snapshot_, "knob/sharding_strategy"));
    window_.frames(snapshot_, 4);
    for (const char* choice : {"ddp", "hybrid_shard_zero2"}) {
      const auto* entry = window_.probe().find("knob/sharding_strategy/" + std::string(choice));
      ASSERT_NE(entry, nullptr) << height;
      EXPECT_GE(entry->rect.y, 0) << choice << " at " << height;
      EXPECT_LE(entry->rect.bottom(), static_cast<float>(height)) << choice << " at " << height;
    }
    window_.press(snapshot_, kit::Key::kEscape);
    window_.frames(snapshot_, 2);
  }
}

}  // namespace
}  // namespace shardlens::ui
