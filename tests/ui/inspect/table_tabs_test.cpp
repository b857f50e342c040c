// Clicks on the tabs of statistics, steps and stragglers, and rows that cost only while they are
// seen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "tests/ui/inspect/testing/tabs_window.h"
#include "ui/kit/focus_ring.h"
#include "ui/table/table_view.h"

namespace shardlens::ui::inspect {

namespace {

TEST(StatisticsTab, ShowsANamesEventsWhenItIsClicked) {
  TabsWindow window(tables_snapshot());
  ASSERT_TRUE(window.panel.click("statistics/row/0"));
  const state::Commands commands = window.panel.take_commands();
  const auto& row = window.snapshot.inspect->range->tables.front().rows.front();
  const auto* find = HeadlessPanel::find<state::FindNames>(commands);
  ASSERT_NE(find, nullptr);
  EXPECT_EQ(find->pattern.text, row.name);
  EXPECT_TRUE(find->pattern.is_plain);
  const auto* go = HeadlessPanel::find<state::GoToEvent>(commands);
  ASSERT_NE(go, nullptr);
  EXPECT_EQ(go->place.ref, row.longest);
  EXPECT_EQ(go->place.end_ns - go->place.start_ns, row.most_ns);
  ASSERT_TRUE(window.panel.click("statistics/next")) << "the distribution opens";
  const state::Commands next = window.panel.take_commands();
  ASSERT_EQ(next.size(), 2u);
  const auto* named = HeadlessPanel::find<state::FindNames>(next);
  ASSERT_NE(named, nullptr) << "something else may have been searched since";
  EXPECT_EQ(named->pattern, find->pattern);
  ASSERT_TRUE(std::holds_alternative<state::GoToHit>(next.back()));
  EXPECT_EQ(std::get<state::GoToHit>(next.back()).direction, 1);
  ASSERT_TRUE(window.panel.click("statistics/png"));
  const auto picture = window.panel.take<state::SavePicture>();
  ASSERT_TRUE(picture);
  EXPECT_TRUE(picture->file_name.ends_with(".png"));
  EXPECT_GT(picture->area.w, 200);
  ASSERT_TRUE(window.panel.click("statistics/close"));
  window.panel.frames(2);
  EXPECT_EQ(window.panel.probe().find("statistics/next"), nullptr);
}

TEST(StatisticsTab, SortsByAHeadAndBackAgain) {
  TabsWindow window(tables_snapshot());
  const auto first_name = [&] {
    for (const auto& text : window.panel.probe().texts) {
      if (text.rect.y > 100 && text.rect.x < 40) return text.text;
    }
    return std::string();
  };
  EXPECT_EQ(first_name(), "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL");
  ASSERT_TRUE(window.panel.click("statistics/head/Count"));
  EXPECT_EQ(first_name(), "Memset (Device)");
  ASSERT_TRUE(window.panel.click("statistics/head/Count"));
  EXPECT_THAT(first_name(), testing::HasSubstr("indexSelect"));
  ASSERT_TRUE(window.panel.click("statistics/head/Name"));
  EXPECT_EQ(first_name(), "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel");
}

// As a table of many ranks, or a wide answer, is read without a mouse.
TEST(TableView, TheKeyboardReachesColumnsThatAreOutOfSight) {
  auto table = std::make_shared<present::Table>();
  table->id = "wide";
  table->rows = 3;
  for (int i = 0; i < 20; ++i) {
    table->columns.push_back({.title = "column " + std::to_string(i),
                              .kind = present::TableColumn::Kind::kText,
                              .width = 120,
                              .cell = [](std::size_t) { return present::TableCell::words("x"); }});
  }
  table::TableView view;
  kit::FocusRing ring;
  HeadlessPanel panel(600, 300, 1, state::ThemeKind::kDark,
                      [&](const kit::Theme& theme, const state::Rect& rect, state::Commands&) {
                        kit::Theme own = theme;
                        own.focus = &ring;
                        ring.begin_frame(true);
                        table::TableOptions options;
                        options.scrolls_sideways = true;
                        view.draw(own, rect, table, options);
                        ring.end_frame(own);
                      });
  panel.frames(3);
  const auto head_of = [](int column) { return "wide/head/column " + std::to_string(column); };
  EXPECT_EQ(panel.probe().find(head_of(19)), nullptr);
  for (int i = 0; i < 40 && !ring.is_on(head_of(19)); ++i) panel.press(kit::Key::kTab);
  panel.frames(2);
  ASSERT_TRUE(ring.is_on(head_of(19)));
  const auto* last = panel.probe().find(head_of(19));
  ASSERT_NE(last, nullptr) << "it was scrolled to";
  EXPECT_LT(last->rect.center_x(), 600);
  panel.press(kit::Key::kEnter);
  EXPECT_EQ(view.sort().column, "column 19");
  for (int i = 0; i < 40 && !ring.is_on(head_of(1)); ++i) panel.press(kit::Key::kTab, false, true);
  panel.frames(2);
  const auto* second = panel.probe().find(head_of(1));
  ASSERT_NE(second, nullptr);
  EXPECT_GE(second->rect.x, panel.probe().find(head_of(0))->rect.right()) << "not behind the first";
}

TEST(TableView, ComesBackToTheOrderThatItBeganWith) {
  auto table = std::make_shared<present::Table>();
  table->id = "small";
  table->rows = 2;
  for (const char* title : {"first", "second"}) {
    table->columns.push_back({.title = title,
                              .kind = present::TableColumn::Kind::kText,
                              .width = 120,
                              .cell = [](std::size_t) { return present::TableCell::words("x"); }});
  }
  const present::TableSort begun{"second", true};
  table::TableView view(begun);
  HeadlessPanel panel(600, 300, 1, state::ThemeKind::kDark,
                      [&](const kit::Theme& theme, const state::Rect& rect, state::Commands&) {
                        view.draw(theme, rect, table, {});
                      });
  panel.frames();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(panel.click("small/head/first"));
  EXPECT_EQ(view.sort(), (present::TableSort{"first", true}));
  ASSERT_TRUE(panel.click("small/head/first"));
  EXPECT_EQ(view.sort(), begun);
}

TEST(StatisticsTab, FiltersWithEveryLetterAndCopiesWhatItShows) {
  TabsWindow window(tables_snapshot());
  ASSERT_TRUE(window.panel.click("statistics/filter"));
  window.panel.type("nccl");
  window.panel.frames(2);
  EXPECT_FALSE(window.panel.probe().shows("flash_fwd_kernel"));
  EXPECT_TRUE(window.panel.probe().shows("ncclDevKernel_AllGather"));
  ASSERT_TRUE(window.panel.click("statistics/copy"));
  const auto copied = window.panel.take<state::CopyText>();
  ASSERT_TRUE(copied);
  EXPECT_EQ(std::ranges::count(copied->text, '\n'), 3) << "a head and two rows";
  EXPECT_THAT(copied->text, testing::StartsWith("name,class,count,total_ns,share,mean_ns"));
  ASSERT_TRUE(window.panel.click("statistics/save"));
  const state::Commands saved = window.panel.take_commands();
  EXPECT_EQ(HeadlessPanel::find<state::SaveText>(saved)->file_name,
            "2026-11-18T10-11-12_llama-1b_Kernels_selection.csv");
  window.panel.click("statistics/filter");
  window.panel.type("zzz");
  window.panel.frames(2);
  EXPECT_TRUE(window.panel.probe().shows("No row matches the filter"));
}

TEST(StatisticsTab, GroupsCollectives) {
  TabsWindow window(tables_snapshot(), InspectTab::kCollectives);
  EXPECT_TRUE(window.panel.probe().shows("Reduce-scatter · blocks.6"));
  EXPECT_TRUE(window.panel.probe().shows("Bus bandwidth"));
  ASSERT_TRUE(window.panel.click("statistics/group/by class"));
  window.panel.frames(2);
  EXPECT_FALSE(window.panel.probe().shows("Reduce-scatter · blocks.6"));
  EXPECT_TRUE(window.panel.probe().shows("Reduce-scatter"));
  ASSERT_TRUE(window.panel.click("statistics/row/0"));
  const state::Commands commands = window.panel.take_commands();
  EXPECT_EQ(HeadlessPanel::find<state::FindNames>(commands), nullptr)
      << "a class is no name of an event";
  EXPECT_NE(HeadlessPanel::find<state::GoToEvent>(commands), nullptr);
  ASSERT_TRUE(window.panel.click("statistics/row/0", 1));
  window.panel.frames(3);
  EXPECT_EQ(window.panel.probe().find("statistics/menu/Show the next in the timeline"), nullptr);
  ASSERT_TRUE(window.panel.click("statistics/menu/Show the longest in the timeline"));
  EXPECT_NE(HeadlessPanel::find<state::GoToEvent>(window.panel.take_commands()), nullptr);
}

TEST(StatisticsTab, OffersAMenuOfARow) {
  TabsWindow window(tables_snapshot());
  ASSERT_TRUE(window.panel.click("statistics/row/1", 1));
  window.panel.frames(3);
  ASSERT_TRUE(window.panel.click("statistics/menu/Show the previous in the timeline"));
  const state::Commands previous = window.panel.take_commands();
  ASSERT_NE(HeadlessPanel::find<state::FindNames>(previous), nullptr);
  ASSERT_NE(HeadlessPanel::find<state::GoToHit>(previous), nullptr);
  EXPECT_EQ(HeadlessPanel::find<state::GoToHit>(previous)->direction, -1);
  ASSERT_TRUE(window.panel.click("statistics/row/1", 1));
  window.panel.frames(3);
  ASSERT_TRUE(window.panel.click("statistics/menu/Copy the name"));
  const state::Commands commands = window.panel.take_commands();
  EXPECT_EQ(HeadlessPanel::find<state::CopyText>(commands)->text,
            "ncclDevKernel_AllGather_RING_LL");
}

// As those of a run that goes on are, each second.
TEST(StatisticsTab, ItsMenuStaysWhileEventsAreCountedAnew) {
  TabsWindow window(tables_snapshot());
  ASSERT_TRUE(window.panel.click("statistics/row/1", 1));
  window.panel.frames(3);
  auto range = std::make_shared<trace::timeline::RangeFigures>(*window.snapshot.inspect->range);
  auto& rows = range->tables.front().rows;
  auto first = rows.front();
  first.name = "a kernel that was not there before";
  rows.insert(rows.begin(), std::move(first));
  auto inspect = std::make_shared<state::InspectView>(*window.snapshot.inspect);
  inspect->range = std::move(range);
  window.snapshot.inspect = std::move(inspect);
  window.panel.frames(3);
  EXPECT_TRUE(window.panel.probe().shows("ncclDevKernel_AllGather_RING_LL"));
  ASSERT_TRUE(window.panel.click("statistics/menu/Copy the name"));
  const state::Commands commands = window.panel.take_commands();
  const auto* copied = HeadlessPanel::find<state::CopyText>(commands);
  ASSERT_NE(copied, nullptr);
  EXPECT_EQ(copied->text, "ncclDevKernel_AllGather_RING_LL");
}

TEST(StatisticsTab, DrawsOnlyTheRowsThatCanBeSeen) {
  TablesOptions many;
  many.extra_names = 10'000;
  TabsWindow window(tables_snapshot(many));
  const std::size_t drawn = window.panel.probe().texts.size();
  EXPECT_LT(drawn, 250u);
  EXPECT_GT(drawn, 60u);
  window.panel.move_to(400, 250);
  for (int i = 0; i < 20; ++i) window.panel.wheel(-20);
  EXPECT_FALSE(window.panel.probe().shows("ncclDevKernel_ReduceScatter"));
  EXPECT_LT(window.panel.probe().texts.size(), 260u);
  // A frame without a change sorts nothing again: a thousand of them take no time.
  const std::clock_t start = std::clock();
  window.panel.frames(100);
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 2.0);
}

TEST(StepTab, GoesToTheStepThatIsClicked) {
  TabsWindow window(tables_snapshot(), InspectTab::kSteps);
  ASSERT_TRUE(window.panel.click("steps/head/Time"));
  ASSERT_TRUE(window.panel.click("steps/row/37"));
  EXPECT_EQ(window.step, window.snapshot.run->figures.steps[37].index);
}

TEST(StepTab, SaysOfHowManyStepsItsMedianIs) {
  state::Snapshot snapshot = tables_snapshot();
  auto run = std::make_shared<state::RunView>(*snapshot.run);
  auto& summary = run->figures.summary;
  run->figures.steps.resize(20);
  summary.steps_measured = 17;
  summary.step_ns.median = 109'800'000;
  summary.step_ns.p99 = 116'000'000;
  snapshot.run = run;
  EXPECT_TRUE(TabsWindow(snapshot, InspectTab::kSteps)
                  .panel.probe()
                  .shows("20 steps · 17 measured: median 109.8 ms · p99 116.0 ms"));
  run = std::make_shared<state::RunView>(*run);
  run->figures.summary.steps_measured = 20;
  snapshot.run = run;
  EXPECT_TRUE(
      TabsWindow(snapshot, InspectTab::kSteps).panel.probe().shows("20 steps · median 109.8 ms"));
}

TEST(StepTab, DrawsOnlyTheStepsThatCanBeSeen) {
  TablesOptions many;
  many.steps = 3000;
  TabsWindow window(tables_snapshot(many), InspectTab::kSteps);
  EXPECT_LT(window.panel.probe().texts.size(), 260u);
}

TEST(StragglerTab, GoesToTheCallAndPicksTheRankThatCameLast) {
  TabsWindow window(tables_snapshot(), InspectTab::kStragglers);
  const auto& calls = window.snapshot.inspect->range->stragglers->calls;
  std::size_t row = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].longest_wait_ns() > calls[row].longest_wait_ns()) row = i;
  }
  ASSERT_TRUE(window.panel.click("stragglers/row/" + std::to_string(row)));
  const auto pick = window.panel.take<state::PickEvent>();
  ASSERT_TRUE(pick);
  EXPECT_EQ(pick->event.rank, calls[row].last_rank);
  ASSERT_EQ(window.view.size(), calls[row].parts.size());
  for (const trace::timeline::StragglerPart& part : calls[row].parts) {
    const auto& range = window.view[static_cast<std::size_t>(part.rank)];
    EXPECT_EQ(range.ranks, std::vector{part.rank});
    EXPECT_LT(range.start_ns, part.start_ns);
    EXPECT_GT(range.end_ns, part.end_ns);
  }
}

TEST(StragglerTab, KeepsTheChosenCallWhereARunThatGoesOnIsCountedAnew) {
  TabsWindow window(tables_snapshot(), InspectTab::kStragglers);
  const auto picture = [&] {
    window.panel.move_to(1, 1);
    window.panel.frames(2);
    return window.panel.pixels();
  };
  const auto& calls = window.snapshot.inspect->range->stragglers->calls;
  std::size_t row = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].longest_wait_ns() > calls[row].longest_wait_ns()) row = i;
  }
  const auto unmarked = picture();
  ASSERT_TRUE(window.panel.click("stragglers/row/" + std::to_string(row)));
  const auto marked = picture();
  EXPECT_NE(marked, unmarked);
  window.snapshot = with_view(window.snapshot, [](state::InspectView& view) {
    auto anew = std::make_shared<trace::timeline::StragglerFigures>(*view.range->stragglers);
    std::ranges::reverse(anew->calls);
    auto range = std::make_shared<trace::timeline::RangeFigures>(*view.range);
    range->stragglers = std::move(anew);
    view.range = std::move(range);
  });
  EXPECT_EQ(picture(), marked) << "by its event, not by its place among the calls";
}

TEST(StragglerTab, ShowsOfManyRanksWhatThereIsRoomForAndFoldsTheRest) {
  for (const int ranks : {64, 256, 1024}) {
    for (const int width : {900, 1280, 1920}) {
      TablesOptions many;
      many.ranks = ranks;
      TabsWindow window(tables_snapshot(many), InspectTab::kStragglers, width);
      const auto& targets = window.panel.probe().targets;
      const auto rest = std::ranges::find_if(targets, [](const auto& target) {
        return target.name.starts_with("stragglers/head/and ");
      });
      ASSERT_NE(rest, targets.end()) << ranks << " ranks, " << width;
      EXPECT_LE(rest->rect.right(), static_cast<float>(width)) << ranks << " ranks";
      EXPECT_EQ(overlapping_texts_of(window.panel.probe()), std::vector<std::string>{});
    }
  }
}

// What does not fit into its cell is read in a tooltip, in any table.
TEST(RecordingTab, TellsTheWholeTextOfACutCell) {
  state::Snapshot snapshot = tables_snapshot();
  auto run = std::make_shared<state::RunView>(*snapshot.run);
  const std::string host = "a-node-with-a-name-that-is-" + std::string(80, 'x') + "-long";
  run->figures.ranks.front().info.host = host;
  snapshot.run = std::move(run);
  TabsWindow window(std::move(snapshot), InspectTab::kRecording);
  const auto shown = [&] {
    return std::ranges::count(window.panel.probe().texts, host, &kit::DrawProbe::Text::text);
  };
  EXPECT_EQ(shown(), 0);
  const state::Rect row = window.panel.probe().find("recording/row/0")->rect;
  for (float x = row.x; x < row.right() && shown() == 0; x += 20) {
    window.panel.move_to(x, row.center_y());
    window.panel.frames(2);
  }
  EXPECT_EQ(shown(), 1);
}

state::Snapshot of_a_hundred_ranks() {
  state::Snapshot snapshot = tables_snapshot();
  auto run = std::make_shared<state::RunView>(*snapshot.run);
  run->figures.ranks.assign(100, trace::analysis::RankFigures{});
  for (int rank = 0; rank < 100; ++rank) {
    run->figures.ranks[static_cast<std::size_t>(rank)].info.rank = rank;
  }
  snapshot.run = std::move(run);
  return snapshot;
}

TEST(RecordingTab, ShowsAllRanksAndFoldsThemAgain) {
  TabsWindow window(of_a_hundred_ranks(), InspectTab::kRecording, 1600, 3000);
  const auto shows = [&](std::string_view row) {
    window.panel.frames(1);
    return window.panel.probe().find(row) != nullptr;
  };
  EXPECT_FALSE(shows("recording/row/99"));
  ASSERT_TRUE(window.panel.click("recording/all ranks"));
  EXPECT_TRUE(shows("recording/row/99"));
  ASSERT_TRUE(window.panel.click("recording/all ranks"));
  EXPECT_FALSE(shows("recording/row/99"));
}

// What is folded is so for the screen alone.
TEST(RecordingTab, SavesAllRanks) {
  TabsWindow window(of_a_hundred_ranks(), InspectTab::kRecording);
  ASSERT_TRUE(window.panel.click("recording/save"));
  const auto csv = window.panel.take<state::SaveText>();
  ASSERT_TRUE(csv);
  EXPECT_EQ(std::ranges::count(csv->text, '\n'), 101) << "with a line of titles";
}

}  // namespace

}  // namespace shardlens::ui::inspect
