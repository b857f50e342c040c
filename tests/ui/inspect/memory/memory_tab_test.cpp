// The memory tab in a window without a display, and its words.
#include "ui/inspect/memory/memory_tab.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/ui/inspect/testing/sample_memory.h"
#include "tests/ui/inspect/testing/tabs_window.h"
#include "tests/ui/testing/own_copy.h"
#include "ui/inspect/memory/memory_text.h"
#include "ui/present/format.h"

namespace shardlens::ui::inspect {
namespace {

using testing::HasSubstr;

state::Snapshot snapshot_with(std::shared_ptr<const trace::timeline::StepMemory> memory) {
  return with_view(tables_snapshot(),
                   [&](state::InspectView& view) { view.memory = std::move(memory); });
}

bool has_text(const HeadlessPanel& panel, std::string_view text) {
  return std::ranges::any_of(panel.probe().texts, [&](const auto& each) {
    return each.text.find(text) != std::string::npos;
  });
}

TEST(MemoryTab, AsksOnceForTheFirstRecordedStep) {
  TabsWindow window(tables_snapshot(), InspectTab::kMemory);
  const auto show = window.panel.take<state::ShowMemory>();
  ASSERT_TRUE(show);
  EXPECT_EQ(show->request, trace::timeline::StepMemoryRequest{});
  window.panel.frames(3);
  EXPECT_EQ(HeadlessPanel::find<state::ShowMemory>(window.panel.take_commands()), nullptr);
}

TEST(MemoryTab, ShowsThePeakItsCompositionAndTheLargest) {
  const auto memory = sample_memory();
  TabsWindow window(snapshot_with(memory), InspectTab::kMemory, 1600, 420);
  EXPECT_TRUE(has_text(window.panel,
                       "Step's peak of tensors " +
                           present::format_bytes(static_cast<double>(memory->peak.bytes)).text()));
  EXPECT_TRUE(has_text(window.panel, "Optimizer state"));
  EXPECT_TRUE(has_text(window.panel, "backward")) << "the strip of phases";
  EXPECT_NE(window.panel.probe().find("memory/row/0"), nullptr);
  EXPECT_THAT(overlapping_texts_of(window.panel.probe()), testing::IsEmpty());
}

TEST(MemoryTab, OffersNoRankWhereNoneHasARecord) {
  trace::timeline::StepMemory memory;
  memory.rank = memory.step = -1;
  for (int rank = 0; rank < 8; ++rank) memory.recorded.push_back({rank, {}});
  TabsWindow window(snapshot_with(std::make_shared<trace::timeline::StepMemory>(memory)),
                    InspectTab::kMemory);
  EXPECT_TRUE(has_text(window.panel, "No step's single allocations were recorded"));
  EXPECT_EQ(window.panel.probe().find("memory/rank"), nullptr);
  EXPECT_FALSE(has_text(window.panel, "-1"));
}

TEST(MemoryTab, SaysAllOfWhyThereIsNoRecordInASmallWindow) {
  trace::timeline::StepMemory memory;
  memory.rank = memory.step = -1;
  const std::string words = no_memory_record(memory, std::nullopt).body;
  state::Snapshot imported =
      snapshot_with(std::make_shared<trace::timeline::StepMemory>(std::move(memory)));
  auto& run = own_copy(imported.run);
  run.figures.info.imported_from = "PyTorch profiler";
  TabsWindow window(std::move(imported), InspectTab::kMemory, 900, 200);
  std::string said;
  for (const auto& text : window.panel.probe().texts) {
    if (text.text.size() < 10 || words.find(text.text) == std::string::npos) continue;
    said += (said.empty() ? "" : " ") + text.text;
    EXPECT_LE(text.rect.right(), 900);
  }
  EXPECT_EQ(said, words);
}

TEST(MemoryTab, AsksForWhatIsChosen) {
  TabsWindow window(snapshot_with(sample_memory()), InspectTab::kMemory, 1600, 420);
  window.panel.take_commands();
  ASSERT_TRUE(window.panel.click("memory/changes"));
  auto commands = window.panel.take_commands();
  ASSERT_NE(HeadlessPanel::find<state::ShowMemory>(commands), nullptr);
  EXPECT_TRUE(HeadlessPanel::find<state::ShowMemory>(commands)->request.hides_constant);
  ASSERT_TRUE(window.panel.click("memory/step"));
  window.panel.frames(2);
  ASSERT_TRUE(window.panel.click("memory/step/step 8"));
  commands = window.panel.take_commands();
  ASSERT_NE(HeadlessPanel::find<state::ShowMemory>(commands), nullptr);
  EXPECT_EQ(HeadlessPanel::find<state::ShowMemory>(commands)->request.step, 8);
}

TEST(MemoryTab, GoesToTheStepInTheTimelineAndSavesWhatItShows) {
  const auto memory = sample_memory();
  TabsWindow window(snapshot_with(memory), InspectTab::kMemory, 1600, 420);
  ASSERT_TRUE(window.panel.click("memory/step_in_timeline"));
  ASSERT_EQ(window.view.size(), 1u);
  EXPECT_EQ(window.view[0].start_ns, memory->allocations->start_ns);
  EXPECT_EQ(window.view[0].ranks, std::vector{memory->rank});
  window.panel.take_commands();
  ASSERT_TRUE(window.panel.click("memory/png"));
  EXPECT_NE(HeadlessPanel::find<state::SavePicture>(window.panel.take_commands()), nullptr);
  ASSERT_TRUE(window.panel.click("memory/save"));
  const auto csv = window.panel.take<state::SaveText>();
  ASSERT_TRUE(csv);
  EXPECT_THAT(csv->text, HasSubstr("operator,bytes,category,lived_ns"));
  EXPECT_THAT(csv->text, HasSubstr("aten::linear"));
}

TEST(MemoryTab, ExplainsTheBandUnderTheMouse) {
  const auto memory = sample_memory();
  TabsWindow window(snapshot_with(memory), InspectTab::kMemory, 1600, 420);
  const auto* target = window.panel.probe().find("memory/plot");
  ASSERT_NE(target, nullptr);
  const state::Rect plot = target->rect;
  // The parameters lie at the bottom of the whole step; above the axis and the phases.
  window.panel.move_to(plot.x + plot.w / 2, plot.bottom() - 44);
  window.panel.frames(2);
  EXPECT_TRUE(has_text(window.panel, "before the step began"));
  EXPECT_TRUE(has_text(window.panel, "not in this step"));
  EXPECT_TRUE(has_text(window.panel, "Share of the peak"));
}

TEST(MemoryTab, SaysWhichStepsHaveARecordAndGoesThere) {
  auto none = std::make_shared<trace::timeline::StepMemory>(*sample_memory());
  none->step = 6;
  none->allocations = nullptr;
  none->flame = nullptr;
  TabsWindow window(snapshot_with(none), InspectTab::kMemory);
  EXPECT_TRUE(has_text(window.panel, "The allocations of step 6 were not recorded"));
  window.panel.take_commands();
  ASSERT_TRUE(window.panel.click("memory/nearest"));
  const auto commands = window.panel.take_commands();
  ASSERT_NE(HeadlessPanel::find<state::ShowMemory>(commands), nullptr);
  EXPECT_EQ(HeadlessPanel::find<state::ShowMemory>(commands)->request.step, 4);
}

TEST(MemoryText, SaysWhereAndHowLongAnAllocationLived) {
  const auto memory = sample_memory();
  const auto& all = memory->allocations->all;
  const auto linear = std::ranges::find_if(all, [](const auto& one) { return one.name == 1; });
  ASSERT_NE(linear, all.end());
  EXPECT_EQ(allocation_title(*memory, *linear), "aten::linear");
  EXPECT_THAT(allocated_text(*memory, *linear), HasSubstr("into the step, in forward"));
  EXPECT_THAT(freed_text(*memory, *linear), HasSubstr(", after "));
  EXPECT_EQ(allocation_title(*memory, all.front()), "Parameters");
  EXPECT_EQ(allocated_text(*memory, all.front()), "before the step began");
  EXPECT_EQ(freed_text(*memory, all.front()), "not in this step");
  EXPECT_EQ(small_text(1, 1024), "1 smaller one, 1.00 KiB");
  EXPECT_EQ(small_text(1'234, 5 << 20), "1,234 smaller ones, 5.00 MiB");
}

TEST(MemoryText, ComparesThePeakWithTheCountedOne) {
  auto memory = std::make_shared<trace::timeline::StepMemory>(*sample_memory());
  EXPECT_THAT(peak_sources(*memory), HasSubstr("have the same peak"));
  EXPECT_THAT(peak_sources(*memory), HasSubstr("of it unused"));
  memory->counted_peak_bytes += 1 << 20;
  EXPECT_THAT(peak_sources(*memory), HasSubstr("allocations were lost"));
  memory->counted_peak_bytes = memory->reserved_bytes = -1;
  EXPECT_THAT(peak_sources(*memory), testing::StartsWith("An allocation counts"));
}

TEST(MemoryText, SaysHowToGetARecord) {
  trace::timeline::StepMemory memory;
  const auto why = [&](const RecordedRun& run) { return no_memory_record(memory, run).body; };
  EXPECT_THAT(why({"every step", "off"}), HasSubstr("was \"off\". Set it to \"step 4\""));
  EXPECT_THAT(why({"every step", "step 4", 100, 199}),
              HasSubstr("its steps 100 to 199. Set it to \"step 104\""));
  EXPECT_THAT(why({"every step", "step 4", 0, 2}), HasSubstr("Set it to \"step 2\""));
  EXPECT_THAT(why({"every step", "step 4", 0, 2, true}), testing::EndsWith("0 to 2 so far"));
  EXPECT_THAT(why({"every step", "step 4", 0, 99}), HasSubstr("log may tell why"));
  EXPECT_THAT(why({"none", "step 4", 0, 99}), HasSubstr("record was \"none\""));
  EXPECT_THAT(no_memory_record(memory, std::nullopt).body, HasSubstr("own trainer"));
  EXPECT_THAT(no_memory_record(memory, std::nullopt).body, HasSubstr("[memory] events"));
  memory.recorded = {{0, {4, 8, 40}}};
  memory.rank = 0;
  memory.step = 20;
  const auto none = no_memory_record(memory, RecordedRun{"every step", "every 4th"});
  EXPECT_EQ(none.nearest_step, 8);
  EXPECT_THAT(none.body, HasSubstr("steps 4, 8, 40"));
  EXPECT_THAT(none.body, HasSubstr("\"step 20\""));
}

TEST(MemoryText, SaysThatAReplayHasNotComeToTheStep) {
  trace::timeline::StepMemory memory;
  memory.is_to_come = true;
  EXPECT_EQ(no_memory_record(memory, RecordedRun{"every step", "step 4", 0, 99}).title,
            "No step's single allocations so far");
  memory.step = 4;
  const NoMemoryRecord none = no_memory_record(memory, RecordedRun{"every step", "step 4", 0, 99});
  EXPECT_EQ(none.title, "No single allocations of step 4 so far");
  EXPECT_THAT(none.body, HasSubstr("once the replay has come to the end"));
}

TEST(MemoryTable, HasWhatWasAliveAtThePeakTheLargestFirst) {
  const auto memory = sample_memory();
  const auto table = memory_table(memory);
  ASSERT_EQ(table->rows, memory->peak.alive.size());
  double sum = 0;
  for (std::size_t row = 0; row < table->rows; ++row) sum += table->columns[1].number(row);
  EXPECT_EQ(sum, static_cast<double>(memory->peak.bytes));
  EXPECT_GE(table->columns[1].number(0), table->columns[1].number(1));
}

}  // namespace
}  // namespace shardlens::ui::inspect
