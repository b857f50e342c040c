// The tabs and the details panel without a display: nothing cut or overlapping, clicks give
// commands, rows cost only while they are seen.
#include "ui/inspect/inspect_tabs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <tuple>

#include "tests/ui/inspect/headless_panel.h"
#include "tests/ui/inspect/sample_tables.h"
#include "ui/inspect/details_panel.h"

namespace shardlens::ui {

namespace {

struct TabsWindow {
  explicit TabsWindow(Snapshot given, InspectTab tab = InspectTab::kKernels, int width = 1600,
                      int height = 360, float scale = 1, ThemeKind theme = ThemeKind::kDark)
      : snapshot(std::move(given)),
        panel(width, height, scale, theme, [this](const Look& look, const Rect& rect, Commands& c) {
          tabs.draw(look, rect, snapshot, c);
          if (const auto wanted = tabs.take_wanted_view()) view = wanted;
        }) {
    tabs.show(tab);
    panel.frames(3);
  }
  Snapshot snapshot;
  InspectTabs tabs;
  std::optional<trace::TimeRange> view;
  HeadlessPanel panel;
};

const std::vector<InspectTab>& all_tabs() {
  static const std::vector<InspectTab> tabs = [] {
    std::vector<InspectTab> out;
    for (int i = 0; i < kInspectTabCount; ++i) out.push_back(static_cast<InspectTab>(i));
    return out;
  }();
  return tabs;
}

using TabCase = std::tuple<std::pair<int, int>, float, ThemeKind>;
class InspectTabsSizes : public ::testing::TestWithParam<TabCase> {};

TEST_P(InspectTabsSizes, DrawEveryTabWithoutOverlappingText) {
  const auto& [size, scale, theme] = GetParam();
  for (const int ranks : {2, 8, 64}) {
    TablesOptions options;
    options.ranks = ranks;
    TabsWindow window(tables_snapshot(options), InspectTab::kKernels, size.first, size.second,
                      scale, theme);
    for (const InspectTab tab : all_tabs()) {
      window.tabs.show(tab);
      window.panel.frames(3);
      EXPECT_EQ(overlapping_texts_of(window.panel.probe()), std::vector<std::string>{})
          << tab_title(tab);
      EXPECT_GT(window.panel.probe().texts.size(), 3u) << tab_title(tab);
    }
  }
}

// Names of kernels and queries may be longer than any window; heads, figures and buttons not.
TEST_P(InspectTabsSizes, CutNoHeadNoFigureAndNoButton) {
  const auto& [size, scale, theme] = GetParam();
  TabsWindow window(tables_snapshot(), InspectTab::kKernels, size.first, size.second, scale, theme);
  for (const InspectTab tab : all_tabs()) {
    window.tabs.show(tab);
    window.panel.frames(3);
    for (const auto& text : window.panel.probe().texts) {
      const bool own = text.text == "counting…" || text.text == "running…";
      if (own || !text.text.ends_with("…")) continue;
      const char first = text.text.front();
      EXPECT_FALSE(first >= '0' && first <= '9') << text.text;
      for (const auto& target : window.panel.probe().targets) {
        const bool of_target = target.rect.contains(text.rect.center_x(), text.rect.center_y()) &&
                               !target.name.starts_with("sql/") &&
                               target.name.find("/row/") == std::string::npos;
        EXPECT_FALSE(of_target) << tab_title(tab) << ": " << target.name << ": " << text.text;
      }
    }
    for (const auto& target : window.panel.probe().targets) {
      // Columns that are scrolled sideways end where they end.
      if (target.name.starts_with("sql/head") || target.name.starts_with("stragglers/head"))
        continue;
      EXPECT_LE(target.rect.right(), static_cast<float>(size.first) + 1) << target.name;
    }
  }
}

TEST_P(InspectTabsSizes, DrawTheDetailsWithoutOverlappingText) {
  const auto& [size, scale, theme] = GetParam();
  const Snapshot full = tables_snapshot();
  const Snapshot none = with_view(full, [](InspectView& view) { view.details = nullptr; });
  for (const Snapshot& snapshot : {full, none}) {
    HeadlessPanel panel(static_cast<int>(380 * scale), static_cast<int>(size.second * 1.5f), scale,
                        theme, [&](const Look& look, const Rect& rect, Commands& commands) {
                          draw_details_panel(look, rect, snapshot, commands);
                        });
    panel.frames(3);
    EXPECT_EQ(overlapping_texts_of(panel.probe()), std::vector<std::string>{});
    EXPECT_GT(panel.probe().texts.size(), 5u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Windows, InspectTabsSizes,
    ::testing::Combine(::testing::Values(std::pair{1264, 240}, std::pair{1264, 420},
                                         std::pair{1904, 360}),
                       ::testing::Values(1.0f, 1.5f, 2.0f),
                       ::testing::Values(ThemeKind::kDark, ThemeKind::kLight)));

TEST(InspectTabs, SurviveTinyWindowsAndMissingParts) {
  for (const auto& [width, height] : {std::pair{1, 1}, {60, 30}, {200, 120}, {400, 1500}}) {
    for (const InspectTab tab : all_tabs()) {
      TabsWindow window(tables_snapshot(), tab, width, height, 1.5f);
      window.snapshot = with_view(window.snapshot, [](InspectView& view) {
        view.range = nullptr;
        view.rows = nullptr;
        view.sql = {};
      });
      window.panel.frames(2);
      window.snapshot.inspect = nullptr;
      window.snapshot.run = nullptr;
      window.panel.frames(2);
    }
  }
}

TEST(InspectTabs, ShowOnlyKindsThatTheRunHas) {
  TabsWindow window(tables_snapshot());
  EXPECT_NE(window.panel.probe().find("inspect/Launches"), nullptr);
  window.snapshot = with_view(window.snapshot, [](InspectView& view) {
    auto rows = std::make_shared<trace::TimelineRows>(*view.rows);
    std::erase_if(rows->rows, [](const trace::TimelineRow& row) {
      return row.kind == trace::RowKind::kKernels || row.kind == trace::RowKind::kLaunches;
    });
    view.rows = rows;
  });
  window.panel.frames(2);
  EXPECT_EQ(window.panel.probe().find("inspect/Launches"), nullptr);
  EXPECT_EQ(window.panel.probe().find("inspect/Kernels"), nullptr);
  EXPECT_TRUE(window.panel.probe().shows("aten::linear")) << "the first that there is";
}

TEST(InspectTabs, CycleByKeyUnlessTextIsEdited) {
  TabsWindow window(tables_snapshot());
  window.panel.press(Key::kTab, true);
  EXPECT_EQ(window.tabs.tab(), InspectTab::kOperators);
  window.panel.press(Key::kTab, true, true);
  window.panel.press(Key::kTab, true, true);
  EXPECT_EQ(window.tabs.tab(), InspectTab::kLog);
  window.tabs.show(InspectTab::kKernels);
  ASSERT_TRUE(window.panel.click("statistics/filter"));
  window.panel.press(Key::kTab, true);
  EXPECT_EQ(window.tabs.tab(), InspectTab::kKernels);
}

TEST(InspectTabs, RememberTheTab) {
  InspectTabs tabs;
  std::string title = "Stragglers";
  tabs.remember(title);
  EXPECT_EQ(tabs.tab(), InspectTab::kStragglers);
  tabs.show(InspectTab::kSql);
  tabs.remember(title);
  EXPECT_EQ(title, "SQL");
  InspectTabs others;
  title = "no such tab";
  others.remember(title);
  EXPECT_EQ(others.tab(), InspectTab::kKernels);
}

TEST(StatisticsTab, ShowsANamesEventsWhenItIsClicked) {
  TabsWindow window(tables_snapshot());
  ASSERT_TRUE(window.panel.click("statistics/row/0"));
  const Commands commands = window.panel.take_commands();
  const auto& row = window.snapshot.inspect->range->tables.front().rows.front();
  const auto* find = HeadlessPanel::find<FindNames>(commands);
  ASSERT_NE(find, nullptr);
  EXPECT_EQ(find->pattern.text, row.name);
  EXPECT_TRUE(find->pattern.is_plain);
  const auto* go = HeadlessPanel::find<GoToEvent>(commands);
  ASSERT_NE(go, nullptr);
  EXPECT_EQ(go->place.ref, row.longest);
  EXPECT_EQ(go->place.end_ns - go->place.start_ns, row.most_ns);
  ASSERT_TRUE(window.panel.click("statistics/next")) << "the distribution opens";
  const Commands next = window.panel.take_commands();
  ASSERT_NE(HeadlessPanel::find<GoToHit>(next), nullptr);
  EXPECT_EQ(HeadlessPanel::find<GoToHit>(next)->direction, 1);
  ASSERT_TRUE(window.panel.click("statistics/png"));
  const Commands saved = window.panel.take_commands();
  const auto* picture = HeadlessPanel::find<SavePicture>(saved);
  ASSERT_NE(picture, nullptr);
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

TEST(StatisticsTab, FiltersWithEveryLetterAndCopiesWhatItShows) {
  TabsWindow window(tables_snapshot());
  ASSERT_TRUE(window.panel.click("statistics/filter"));
  window.panel.type("nccl");
  window.panel.frames(2);
  EXPECT_FALSE(window.panel.probe().shows("flash_fwd_kernel"));
  EXPECT_TRUE(window.panel.probe().shows("ncclDevKernel_AllGather"));
  ASSERT_TRUE(window.panel.click("statistics/copy"));
  const Commands commands = window.panel.take_commands();
  const auto* copied = HeadlessPanel::find<CopyText>(commands);
  ASSERT_NE(copied, nullptr);
  EXPECT_EQ(std::ranges::count(copied->text, '\n'), 3) << "a head and two rows";
  EXPECT_THAT(copied->text, testing::StartsWith("name,class,count,total_ns,share,mean_ns"));
  ASSERT_TRUE(window.panel.click("statistics/save"));
  const Commands saved = window.panel.take_commands();
  EXPECT_EQ(HeadlessPanel::find<SaveText>(saved)->file_name,
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
  const Commands commands = window.panel.take_commands();
  EXPECT_EQ(HeadlessPanel::find<FindNames>(commands), nullptr) << "a class is no name of an event";
  EXPECT_NE(HeadlessPanel::find<GoToEvent>(commands), nullptr);
}

TEST(StatisticsTab, OffersAMenuOfARow) {
  TabsWindow window(tables_snapshot());
  ASSERT_TRUE(window.panel.click("statistics/row/1", 1));
  window.panel.frames(3);
  ASSERT_TRUE(window.panel.click("statistics/menu/Copy the name"));
  const Commands commands = window.panel.take_commands();
  EXPECT_EQ(HeadlessPanel::find<CopyText>(commands)->text, "ncclDevKernel_AllGather_RING_LL");
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
  const auto& step = window.snapshot.run->figures.steps[37];
  const Commands commands = window.panel.take_commands();
  const auto* select = HeadlessPanel::find<SelectRange>(commands);
  ASSERT_NE(select, nullptr);
  EXPECT_EQ(select->range, (trace::TimeRange{step.start_ns, step.end_ns, {}}));
  ASSERT_TRUE(window.view);
  EXPECT_EQ(window.view->start_ns, step.start_ns);
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
  const Commands commands = window.panel.take_commands();
  const auto* pick = HeadlessPanel::find<PickEvent>(commands);
  ASSERT_NE(pick, nullptr);
  EXPECT_EQ(pick->event.rank, calls[row].last_rank);
  ASSERT_TRUE(window.view);
  EXPECT_LT(window.view->start_ns, calls[row].first_start_ns);
  EXPECT_GT(window.view->end_ns, calls[row].end_ns);
}

TEST(StragglerTab, ScrollsManyRanksSidewaysAndKeepsTheNames) {
  TablesOptions many;
  many.ranks = 64;
  TabsWindow window(tables_snapshot(many), InspectTab::kStragglers);
  EXPECT_EQ(window.panel.probe().find("stragglers/head/63"), nullptr) << "not in sight";
  window.panel.move_to(900, 250);
  ImGui::GetIO().KeyShift = true;
  for (int i = 0; i < 30; ++i) window.panel.wheel(-5);
  ImGui::GetIO().KeyShift = false;
  window.panel.frames(2);
  EXPECT_NE(window.panel.probe().find("stragglers/head/63"), nullptr);
  EXPECT_TRUE(window.panel.probe().shows("Reduce-scatter · blocks."));
  EXPECT_EQ(overlapping_texts_of(window.panel.probe()), std::vector<std::string>{});
}

TEST(SqlTab, AsksWhatIsWrittenByKeyAndByButton) {
  Snapshot snapshot = tables_snapshot();
  snapshot = with_view(snapshot, [](InspectView& view) { view.sql.answer = nullptr; });
  TabsWindow window(snapshot, InspectTab::kSql);
  ASSERT_TRUE(window.panel.click("sql/editor"));
  EXPECT_TRUE(window.tabs.edits_sql());
  window.panel.type("select 1");
  window.panel.press(Key::kEnter, true);
  Commands commands = window.panel.take_commands();
  ASSERT_NE(HeadlessPanel::find<RunSql>(commands), nullptr);
  EXPECT_EQ(HeadlessPanel::find<RunSql>(commands)->query, "select 1");
  EXPECT_TRUE(window.tabs.edits_sql()) << "the keyboard stays";
  window.panel.type("2");
  ASSERT_TRUE(window.panel.click("sql/run"));
  commands = window.panel.take_commands();
  EXPECT_EQ(HeadlessPanel::find<RunSql>(commands)->query, "select 12")
      << "the cursor stays where it was";
  window.tabs.show(InspectTab::kLog);
  window.panel.frames(2);
  EXPECT_FALSE(window.tabs.edits_sql());
}

TEST(SqlTab, PutsTablesAndColumnsAtTheCursor) {
  TabsWindow window(with_view(tables_snapshot(), [](InspectView& v) { v.sql.answer = nullptr; }),
                    InspectTab::kSql);
  window.panel.click("sql/editor");
  window.panel.type("select  from");
  ASSERT_TRUE(window.panel.click("sql/side/Tables"));
  ASSERT_TRUE(window.panel.click("sql/fold kernel"));
  ASSERT_TRUE(window.panel.click("sql/column kernel.name"));
  ASSERT_TRUE(window.panel.click("sql/table kernel"));
  window.panel.take_commands();
  window.panel.click("sql/run");
  const Commands commands = window.panel.take_commands();
  EXPECT_EQ(HeadlessPanel::find<RunSql>(commands)->query, "select  from name kernel");
}

TEST(SqlTab, StopsWhatRunsAndOffersExamplesAndHistory) {
  TabsWindow window(with_view(tables_snapshot(), [](InspectView& v) { v.sql.running = true; }),
                    InspectTab::kSql);
  EXPECT_TRUE(window.panel.probe().shows("running…"));
  ASSERT_TRUE(window.panel.click("sql/stop"));
  EXPECT_NE(HeadlessPanel::find<StopSql>(window.panel.take_commands()), nullptr);
  window.snapshot = tables_snapshot();
  ASSERT_TRUE(window.panel.click("sql/side/History"));
  ASSERT_TRUE(window.panel.click("sql/query 1"));
  ASSERT_TRUE(window.panel.click("sql/run"));
  const Commands commands = window.panel.take_commands();
  EXPECT_EQ(HeadlessPanel::find<RunSql>(commands)->query, "select count(*)\nfrom kernel");
}

TEST(SqlTab, TellsWhereAQueryIsWrong) {
  TabsWindow window(
      with_view(tables_snapshot(), [](InspectView& v) { v.sql.answer = failed_answer(); }),
      InspectTab::kSql);
  EXPECT_TRUE(window.panel.probe().shows("Line 1, column 14"));
  EXPECT_TRUE(window.panel.probe().shows("no such column: durations_ns"));
}

TEST(SqlTab, DrawsOnlyTheRowsThatCanBeSeenAndSaysWhenThereAreMore) {
  TablesOptions many;
  many.sql_rows = 10'000;
  TabsWindow window(tables_snapshot(many), InspectTab::kSql);
  EXPECT_LT(window.panel.probe().texts.size(), 200u);
  EXPECT_TRUE(window.panel.probe().shows("the first 10,000 rows in 12 ms"));
}

TEST(SqlTab, ShowsARowInTheTimeline) {
  TabsWindow window(tables_snapshot(), InspectTab::kSql);
  ASSERT_TRUE(window.panel.click("sql/row/2", 1));
  window.panel.frames(3);
  ASSERT_TRUE(window.panel.click("sql/menu/Show in the timeline"));
  ASSERT_TRUE(window.view);
  EXPECT_GT(window.view->end_ns, window.view->start_ns);
  EXPECT_THAT(window.view->ranks, testing::ElementsAre(2));
}

TEST(LogTab, FiltersByLevel) {
  TabsWindow window(tables_snapshot(), InspectTab::kLog);
  EXPECT_TRUE(window.panel.probe().shows("buckets rebuilt"));
  ASSERT_TRUE(window.panel.click("log/level/errors"));
  window.panel.frames(2);
  EXPECT_FALSE(window.panel.probe().shows("buckets rebuilt"));
  EXPECT_FALSE(window.panel.probe().shows("watchdog"));
  EXPECT_TRUE(window.panel.probe().shows("out of memory"));
}

TEST(DetailsPanel, LinksToOtherEventsAndRanks) {
  const Snapshot snapshot = tables_snapshot();
  HeadlessPanel panel(420, 760, 1, ThemeKind::kDark,
                      [&](const Look& look, const Rect& rect, Commands& commands) {
                        draw_details_panel(look, rect, snapshot, commands);
                      });
  panel.frames(3);
  for (const auto& field : snapshot.inspect->details->fields) {
    EXPECT_TRUE(panel.probe().shows(field.label)) << field.label;
  }
  ASSERT_TRUE(panel.click("details/Next step"));
  EXPECT_NE(HeadlessPanel::find<GoToEvent>(panel.take_commands()), nullptr);
  ASSERT_TRUE(panel.click("details/rank 5"));
  const Commands commands = panel.take_commands();
  EXPECT_EQ(HeadlessPanel::find<GoToEvent>(commands)->place.ref.rank, 5);
  ASSERT_TRUE(panel.click("details/close"));
  EXPECT_NE(HeadlessPanel::find<DropEvent>(panel.take_commands()), nullptr);
}

}  // namespace

}  // namespace shardlens::ui
