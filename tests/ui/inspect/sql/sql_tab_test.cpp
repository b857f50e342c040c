// The SQL console and the log by key and mouse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ui/inspect/testing/tabs_window.h"

namespace shardlens::ui::inspect {

namespace {

TEST(SqlTab, AsksWhatIsWrittenByKeyAndByButton) {
  state::Snapshot snapshot = tables_snapshot();
  snapshot = with_view(snapshot, [](state::InspectView& view) { view.sql.answer = nullptr; });
  TabsWindow window(snapshot, InspectTab::kSql);
  ASSERT_TRUE(window.panel.click("sql/editor"));
  EXPECT_TRUE(window.tabs.edits_sql());
  window.panel.type("select 1");
  window.panel.press(kit::Key::kEnter, true);
  state::Commands commands = window.panel.take_commands();
  ASSERT_NE(HeadlessPanel::find<state::RunSql>(commands), nullptr);
  EXPECT_EQ(HeadlessPanel::find<state::RunSql>(commands)->query, "select 1");
  EXPECT_TRUE(window.tabs.edits_sql()) << "the keyboard stays";
  window.panel.type("2");
  ASSERT_TRUE(window.panel.click("sql/run"));
  commands = window.panel.take_commands();
  EXPECT_EQ(HeadlessPanel::find<state::RunSql>(commands)->query, "select 12")
      << "the cursor stays where it was";
  window.tabs.show(InspectTab::kLog);
  window.panel.frames(2);
  EXPECT_FALSE(window.tabs.edits_sql());
}

TEST(SqlTab, PutsTablesAndColumnsAtTheCursor) {
  TabsWindow window(
      with_view(tables_snapshot(), [](state::InspectView& v) { v.sql.answer = nullptr; }),
      InspectTab::kSql);
  window.panel.click("sql/editor");
  window.panel.type("select  from");
  ASSERT_TRUE(window.panel.click("sql/side/Tables"));
  ASSERT_TRUE(window.panel.click("sql/fold kernel"));
  ASSERT_TRUE(window.panel.click("sql/column kernel.name"));
  ASSERT_TRUE(window.panel.click("sql/table kernel"));
  window.panel.take_commands();
  window.panel.click("sql/run");
  const state::Commands commands = window.panel.take_commands();
  EXPECT_EQ(HeadlessPanel::find<state::RunSql>(commands)->query, "select  from name kernel");
}

TEST(SqlTab, StopsWhatRunsAndOffersExamplesAndHistory) {
  TabsWindow window(
      with_view(tables_snapshot(), [](state::InspectView& v) { v.sql.running = true; }),
      InspectTab::kSql);
  EXPECT_TRUE(window.panel.probe().shows("running…"));
  ASSERT_TRUE(window.panel.click("sql/stop"));
  EXPECT_NE(HeadlessPanel::find<state::StopSql>(window.panel.take_commands()), nullptr);
  window.snapshot = tables_snapshot();
  ASSERT_TRUE(window.panel.click("sql/side/History"));
  ASSERT_TRUE(window.panel.click("sql/query 1"));
  ASSERT_TRUE(window.panel.click("sql/run"));
  const state::Commands commands = window.panel.take_commands();
  EXPECT_EQ(HeadlessPanel::find<state::RunSql>(commands)->query, "select count(*)\nfrom kernel");
}

TEST(SqlTab, TellsWhereAQueryIsWrong) {
  TabsWindow window(
      with_view(tables_snapshot(), [](state::InspectView& v) { v.sql.answer = failed_answer(); }),
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
  ASSERT_EQ(window.view.size(), 1u);
  EXPECT_GT(window.view[0].end_ns, window.view[0].start_ns);
  EXPECT_THAT(window.view[0].ranks, testing::ElementsAre(2));
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

}  // namespace

}  // namespace shardlens::ui::inspect
