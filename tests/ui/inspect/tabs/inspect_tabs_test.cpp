// The tabs and the details panel without a display: nothing cut or overlapping at any size.
#include "ui/inspect/tabs/inspect_tabs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "tests/ui/inspect/testing/tabs_window.h"
#include "ui/inspect/details/details_panel.h"

namespace shardlens::ui::inspect {

namespace {

const std::vector<InspectTab>& all_tabs() {
  static const std::vector<InspectTab> tabs = [] {
    std::vector<InspectTab> out;
    for (const auto title : state::kInspectTabTitles) out.push_back(state::tab_of_title(title));
    return out;
  }();
  return tabs;
}

using TabCase = std::tuple<std::pair<int, int>, float>;
class InspectTabsSizes : public ::testing::TestWithParam<TabCase> {};

// Names of kernels and queries may be longer than any window; heads, figures and buttons not.
void expect_no_head_figure_or_button_is_cut(const kit::DrawProbe& probe, InspectTab tab,
                                            float width) {
  for (const auto& text : probe.texts) {
    const bool own = text.text == "counting…" || text.text == "running…";
    if (own || !text.text.ends_with("…")) continue;
    const char first = text.text.front();
    EXPECT_FALSE(first >= '0' && first <= '9') << text.text;
    for (const auto& target : probe.targets) {
      const bool of_target = target.rect.contains(text.rect.center_x(), text.rect.center_y()) &&
                             !target.name.starts_with("sql/") &&
                             target.name.find("/row/") == std::string::npos;
      EXPECT_FALSE(of_target) << tab_title(tab) << ": " << target.name << ": " << text.text;
    }
  }
  for (const auto& target : probe.targets) {
    // Columns that are scrolled sideways end where they end.
    if (target.name.starts_with("sql/head") || target.name.starts_with("stragglers/head")) continue;
    EXPECT_LE(target.rect.right(), width + 1) << target.name;
  }
}

// In one theme: it gives nothing but colours.
TEST_P(InspectTabsSizes, DrawEveryTabWithTextsApartAndWhole) {
  const auto& [size, scale] = GetParam();
  for (const int ranks : {2, 8, 64}) {
    TablesOptions options;
    options.ranks = ranks;
    TabsWindow window(tables_snapshot(options), InspectTab::kKernels, size.first, size.second,
                      scale);
    for (const InspectTab tab : all_tabs()) {
      window.tabs.show(tab);
      window.panel.frames(3);
      const kit::DrawProbe& probe = window.panel.probe();
      EXPECT_EQ(overlapping_texts_of(probe), std::vector<std::string>{}) << tab_title(tab);
      EXPECT_GT(probe.texts.size(), 3u) << tab_title(tab);
      if (ranks != TablesOptions{}.ranks) continue;
      expect_no_head_figure_or_button_is_cut(probe, tab, static_cast<float>(size.first));
    }
  }
}

TEST_P(InspectTabsSizes, DrawTheDetailsWithoutOverlappingText) {
  const auto& [size, scale] = GetParam();
  const state::Snapshot full = tables_snapshot();
  const state::Snapshot none =
      with_view(full, [](state::InspectView& view) { view.details = nullptr; });
  for (const state::Snapshot& snapshot : {full, none}) {
    HeadlessPanel panel(
        static_cast<int>(380 * scale), static_cast<int>(size.second * 1.5f), scale,
        state::ThemeKind::kDark,
        [&](const kit::Theme& theme, const state::Rect& rect, state::Commands& commands) {
          draw_details_panel(theme, rect, snapshot, commands);
        });
    panel.frames(3);
    EXPECT_EQ(overlapping_texts_of(panel.probe()), std::vector<std::string>{});
    EXPECT_GT(panel.probe().texts.size(), 5u);
  }
}

INSTANTIATE_TEST_SUITE_P(Windows, InspectTabsSizes,
                         ::testing::Combine(::testing::Values(std::pair{1264, 240},
                                                              std::pair{1264, 420},
                                                              std::pair{1904, 360}),
                                            ::testing::Values(1.0f, 1.5f, 2.0f)));

TEST(InspectTabs, SurviveTinyWindowsAndMissingParts) {
  for (const auto& [width, height] : {std::pair{1, 1}, {60, 30}, {200, 120}, {400, 1500}}) {
    for (const InspectTab tab : all_tabs()) {
      TabsWindow window(tables_snapshot(), tab, width, height, 1.5f);
      window.snapshot = with_view(window.snapshot, [](state::InspectView& view) {
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
  window.snapshot = with_view(window.snapshot, [](state::InspectView& view) {
    auto rows = std::make_shared<trace::timeline::TimelineRows>(*view.rows);
    std::erase_if(rows->rows, [](const trace::timeline::TimelineRow& row) {
      return row.kind == trace::timeline::RowKind::kKernels ||
             row.kind == trace::timeline::RowKind::kLaunches;
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
  window.panel.press(kit::Key::kTab, true);
  EXPECT_EQ(window.tabs.tab(), InspectTab::kOperators);
  window.panel.press(kit::Key::kTab, true, true);
  window.panel.press(kit::Key::kTab, true, true);
  EXPECT_EQ(window.tabs.tab(), InspectTab::kLog);
  window.tabs.show(InspectTab::kKernels);
  ASSERT_TRUE(window.panel.click("statistics/filter"));
  window.panel.press(kit::Key::kTab, true);
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

state::Snapshot with_details(const state::Snapshot& snapshot,
                             std::shared_ptr<trace::timeline::EventDetails> details) {
  return with_view(snapshot, [&](state::InspectView& view) { view.details = std::move(details); });
}

bool shows_just(const HeadlessPanel& panel, std::string_view text) {
  return std::ranges::find(panel.probe().texts, text, &kit::DrawProbe::Text::text) !=
         panel.probe().texts.end();
}

HeadlessPanel details_panel(const state::Snapshot& snapshot) {
  return HeadlessPanel(
      420, 1200, 1, state::ThemeKind::kDark,
      [&](const kit::Theme& theme, const state::Rect& rect, state::Commands& commands) {
        draw_details_panel(theme, rect, snapshot, commands);
      });
}

// Of those that are drawn, and of the rest, which are too many.
TEST(DetailsPanel, TellsTheWaitsOfACallWhereClocksAreKnown) {
  TablesOptions options;
  options.ranks = 64;
  const state::Snapshot snapshot = tables_snapshot(options);
  HeadlessPanel panel = details_panel(snapshot);
  panel.frames(3);
  EXPECT_TRUE(panel.probe().shows("and 48 more: waits of"));
  ASSERT_TRUE(panel.hover("details/rank 0"));
  EXPECT_TRUE(shows_just(panel, "Wait for the last rank"));
  EXPECT_FALSE(shows_just(panel, "not known"));
}

TEST(DetailsPanel, TellsNoWaitOfACallWhereClocksAreNotKnown) {
  TablesOptions options;
  options.ranks = 64;
  const state::Snapshot known = tables_snapshot(options);
  auto details = std::make_shared<trace::timeline::EventDetails>(*known.inspect->details);
  details->clock_error_ns = trace::analysis::kUnknownClockError;
  std::erase_if(details->fields, [](const auto& field) { return field.label == "Transfer"; });
  for (trace::timeline::RankCall& call : details->calls) call.wait = {};
  const state::Snapshot snapshot = with_details(known, details);
  HeadlessPanel panel = details_panel(snapshot);
  panel.frames(3);
  EXPECT_TRUE(panel.probe().shows("clock error not known"));
  EXPECT_TRUE(panel.probe().shows("and 48 more"));
  EXPECT_FALSE(panel.probe().shows("waits of"));
  ASSERT_TRUE(panel.hover("details/rank 0"));
  EXPECT_TRUE(shows_just(panel, "Wait for the last rank"));
  EXPECT_TRUE(shows_just(panel, "not known"));
  EXPECT_FALSE(shows_just(panel, "none"));
  EXPECT_FALSE(shows_just(panel, "Transfer"));
}

TEST(DetailsPanel, TellsNoneOfARankThatHadLeftAndNothingOfATransferThatIsNotKnown) {
  const state::Snapshot known = tables_snapshot();
  auto details = std::make_shared<trace::timeline::EventDetails>(*known.inspect->details);
  using enum trace::analysis::WaitDoubt;
  details->calls.at(0).wait = {0, {}, true, kNone};
  details->calls.at(1).wait = {40'000, {}, false, kNone};
  const state::Snapshot snapshot = with_details(known, details);
  HeadlessPanel panel = details_panel(snapshot);
  panel.frames(3);
  ASSERT_TRUE(panel.hover("details/rank 0"));
  EXPECT_TRUE(shows_just(panel, "Transfer"));
  EXPECT_TRUE(shows_just(panel, "none"));
  EXPECT_FALSE(shows_just(panel, "not known"));
  ASSERT_TRUE(panel.hover("details/rank 1"));
  EXPECT_TRUE(shows_just(panel, "40.0 µs"));
  EXPECT_TRUE(shows_just(panel, "not known"));
}

TEST(DetailsPanel, LinksToOtherEventsAndRanks) {
  const state::Snapshot snapshot = tables_snapshot();
  HeadlessPanel panel(
      420, 760, 1, state::ThemeKind::kDark,
      [&](const kit::Theme& theme, const state::Rect& rect, state::Commands& commands) {
        draw_details_panel(theme, rect, snapshot, commands);
      });
  panel.frames(3);
  for (const auto& field : snapshot.inspect->details->fields) {
    EXPECT_TRUE(panel.probe().shows(field.label)) << field.label;
  }
  ASSERT_TRUE(panel.click("details/Next step"));
  EXPECT_NE(HeadlessPanel::find<state::GoToEvent>(panel.take_commands()), nullptr);
  ASSERT_TRUE(panel.click("details/rank 5"));
  const state::Commands commands = panel.take_commands();
  EXPECT_EQ(HeadlessPanel::find<state::GoToEvent>(commands)->place.ref.rank, 5);
  ASSERT_TRUE(panel.click("details/close"));
  EXPECT_NE(HeadlessPanel::find<state::DropEvent>(panel.take_commands()), nullptr);
}

}  // namespace

}  // namespace shardlens::ui::inspect
