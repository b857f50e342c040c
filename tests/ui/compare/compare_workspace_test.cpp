// The Compare workspace in a window without a display.
#include "ui/compare/compare_workspace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/ui/testing/headless_window.h"
#include "tests/ui/testing/own_copy.h"
#include "tests/ui/testing/probe_texts.h"
#include "tests/ui/testing/sample_snapshot.h"
#include "ui/compare/runs_tab.h"
#include "ui/present/compare/comparison_text.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::compare {
namespace {

constexpr float kHalfWord = 6;  // above and below its middle

// The sample's run and others of other seeds and, so that there is a difference, other settings.
state::Snapshot compared_snapshot(std::size_t runs, int ranks = 2) {
  state::Snapshot snapshot = sample_snapshot({.live = false});
  auto view = std::make_shared<state::ComparisonView>();
  for (std::size_t i = 0; i < runs; ++i) {
    const auto sample = sample_snapshot({.ranks = ranks, .live = false, .seed = i + 1});
    auto run = std::make_shared<state::RunView>(*sample.run);
    run->figures.info.name = "run number " + std::to_string(i);
    run->figures.info.folder = "runs/compared " + std::to_string(i);
    run->figures.info.settings.bucket_cap_mb = 1 + static_cast<double>(i);
    // A third of the step each, but for what is left over.
    auto& summary = run->figures.summary;
    for (const auto phase : {trace::base::Phase::kForward, trace::base::Phase::kBackward}) {
      summary.phase_ns[static_cast<std::size_t>(phase)] = summary.step_ns.mean / 3;
    }
    summary.phase_ns[static_cast<std::size_t>(trace::base::Phase::kOther)] =
        summary.step_ns.mean / 3;
    view->runs.push_back({.folder = run->figures.info.folder,
                          .name = run->figures.info.name,
                          .ordinal = "run " + std::to_string(i),
                          .run = run});
    if (i == 0) continue;
    view->differences.push_back(std::make_shared<const trace::analysis::RunDifference>(
        trace::analysis::difference_between({view->runs[0].run->figures}, {run->figures})));
  }
  snapshot.comparison = std::move(view);
  return snapshot;
}

// Of a run's step on screen.
void take_detail(state::ComparisonView& view, std::size_t index) {
  auto& bare = own_copy(own_copy(view.runs[index].run).timeline);
  bare.has_detail = bare.awaits_detail = false;
}

state::ViewPreferences in_compare(state::ThemeKind theme = state::ThemeKind::kDark) {
  state::ViewPreferences preferences;
  preferences.workspace = state::kCompareWorkspace;
  preferences.theme = theme;
  return preferences;
}

TEST(CompareWorkspace, IsReachedByItsKeyAndSaysWhatToDo) {
  HeadlessWindow window{1600, 1000};
  const state::Snapshot snapshot = sample_snapshot();
  window.frames(snapshot, 2);
  window.press(snapshot, kit::Key::kThree, true);
  window.frames(snapshot, 2);
  EXPECT_TRUE(window.view().compares());
  EXPECT_TRUE(window.probe().shows("Choose two to six runs"));
  EXPECT_TRUE(window.probe().shows("Compare the run on screen with the baseline")) << "uncut";
  ASSERT_TRUE(window.click(snapshot, "compare/suggested"));
  const auto asked = window.take<state::CompareRuns>();
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->folders, (std::vector<std::string>{"runs/baseline", "runs/cap-1"}));
}

// Rows are low then, lower than their names.
TEST(CompareWorkspace, NamesTheFirstRankOfEachRunInASmallWindow) {
  HeadlessWindow window{1280, 800, in_compare()};
  const state::Snapshot snapshot = compared_snapshot(3, 4);
  window.frames(snapshot, 3);
  const auto shown = texts_in(window.probe(), {0, 0, 1280, 800});
  EXPECT_EQ(std::ranges::count(shown, "Rank 0"), 3);
  for (const auto& text : window.probe().texts) {
    if (!text.text.starts_with("exposed ")) continue;
    EXPECT_LE(text.rect.center_y() + kHalfWord, text.clip.bottom()) << text.text << " is cut";
  }
}

TEST(CompareWorkspace, SaysInWordsWhatTheComparisonSays) {
  HeadlessWindow window{1600, 1000, in_compare()};
  const state::Snapshot snapshot = compared_snapshot(3);
  window.frames(snapshot, 3);
  const state::ComparisonView& view = *snapshot.comparison;
  for (std::size_t i = 1; i < 3; ++i) {
    const auto& difference = *view.differences[i - 1];
    const auto sentence =
        present::comparison_sentence(difference.comparison, difference.explanation);
    EXPECT_TRUE(window.probe().shows(view.runs[i].name + ": " + sentence.text)) << sentence.text;
  }
  for (const auto& part : view.differences[0]->explanation.parts) {
    EXPECT_TRUE(window.probe().shows(present::share_title(part))) << part.name;
    EXPECT_TRUE(window.probe().shows(present::share_text(part))) << part.name;
  }
  for (const char* text : {"Loss", "All", "Parts", "A → B"}) {
    EXPECT_TRUE(window.probe().shows(text)) << text;
  }
  ASSERT_TRUE(window.click(snapshot, "compare/choose/runs/compared 2"));
  window.frames(snapshot, 2);
  EXPECT_TRUE(window.probe().shows("A → C"));
}

TEST(CompareWorkspace, SaysWhatEachRunWasToldOtherwise) {
  HeadlessWindow window{1280, 800, in_compare()};
  const state::Snapshot snapshot = compared_snapshot(3);
  window.frames(snapshot, 3);
  EXPECT_TRUE(window.probe().shows("bucket_cap_mb 1 → 2"));
  EXPECT_TRUE(window.probe().shows("bucket_cap_mb 1 → 3"));
}

TEST(CompareWorkspace, AddsRemovesAndChangesTheBase) {
  HeadlessWindow window{1600, 1000, in_compare()};
  const state::Snapshot snapshot = compared_snapshot(3);
  const auto asked_after = [&](const char* target) {
    window.frames(snapshot, 2);
    window.take_commands();
    EXPECT_TRUE(window.click(snapshot, target)) << target;
    const auto asked = window.take<state::CompareRuns>();
    return asked ? asked->folders : std::vector<std::string>{};
  };
  using Folders = std::vector<std::string>;
  EXPECT_EQ(asked_after("compare/remove/runs/compared 1"),
            (Folders{"runs/compared 0", "runs/compared 2"}));
  EXPECT_EQ(asked_after("compare/base/runs/compared 2"),
            (Folders{"runs/compared 2", "runs/compared 0", "runs/compared 1"}));
  EXPECT_EQ(asked_after("compare/base/runs/compared 0"), Folders{}) << "it is the base";
  ASSERT_TRUE(window.click(snapshot, "compare/add"));
  EXPECT_EQ(asked_after("compare/add/runs/baseline"),
            (Folders{"runs/compared 0", "runs/compared 1", "runs/compared 2", "runs/baseline"}));
}

TEST(CompareWorkspace, OffersAllRunsOfTheLibraryByNamesThatTellThemApart) {
  HeadlessWindow window{1280, 800, in_compare()};
  state::Snapshot snapshot = compared_snapshot(2);
  auto& ledger = own_copy(snapshot.ledger);
  const state::LedgerRow row = ledger.rows.front();
  ledger.rows.clear();
  for (int i = 40; i > 0; --i) {
    ledger.rows.push_back(row);
    ledger.rows.back().name =
        "sweep of batch_per_rank and of bucket_cap_mb, cap 25, run " + std::to_string(i);
    ledger.rows.back().folder = "runs/" + std::to_string(i);
  }
  window.frames(snapshot, 3);
  ASSERT_TRUE(window.click(snapshot, "compare/add"));
  window.frames(snapshot, 3);
  EXPECT_TRUE(window.probe().shows(", run 40"));
  EXPECT_NE(window.probe().find("compare/add/runs/1"), nullptr) << "the oldest is scrolled to";
}

// As those of a sweep, which begin alike.
TEST(CompareWorkspace, ChipsShowWhereLongNamesDiffer) {
  state::Snapshot snapshot = compared_snapshot(3);
  auto& view = own_copy(snapshot.comparison);
  const std::string begins = "a sweep of lengths and of caps of buckets – länger als nötig, ";
  for (auto& run : view.runs) run.name = begins + "ends in " + run.ordinal;
  const auto chips_in = [&](int width) {
    HeadlessWindow window{width, 800, in_compare()};
    window.frames(snapshot, 3);
    const state::Rect chip = window.probe().find("compare/base/runs/compared 0")->rect;
    return texts_in(window.probe(), {0, chip.y, static_cast<float>(width), chip.h});
  };
  for (const auto& run : view.runs) {
    const auto wide = chips_in(2400), narrow = chips_in(1280);
    EXPECT_EQ(std::ranges::count(wide, run.ordinal + " · " + run.name), 1) << "there is room";
    EXPECT_EQ(std::ranges::count_if(narrow,
                                    [&](const std::string& text) {
                                      return text.starts_with(run.ordinal + " · …") &&
                                             text.ends_with("ends in " + run.ordinal);
                                    }),
              1);
  }
}

TEST(CompareWorkspace, OfSixChipsEachHasItsWholeName) {
  state::Snapshot snapshot = compared_snapshot(6);
  auto& view = own_copy(snapshot.comparison);
  for (auto& run : view.runs) run.name = "caps, " + std::exchange(run.ordinal, "example 10");
  HeadlessWindow window{1280, 800, in_compare()};
  window.frames(snapshot, 3);
  for (const auto& run : view.runs) {
    const state::Rect chip = window.probe().find("compare/base/" + run.folder)->rect;
    EXPECT_EQ(std::ranges::count(texts_in(window.probe(), chip), run.name), 1)
        << "its number has no room beside it";
  }
}

TEST(CompareWorkspace, SettingsAreCutBeforeASentenceIsSmall) {
  state::Snapshot snapshot = compared_snapshot(2);
  auto& view = own_copy(snapshot.comparison);
  auto changed = std::make_shared<trace::analysis::RunDifference>(*view.differences[0]);
  changed->comparison.settings.push_back({"activation_checkpointing", "0", std::string(60, '1')});
  view.differences[0] = changed;
  view.runs[1].name = "a name that leaves the settings less than a third of all of the row";
  HeadlessWindow window{1280, 800, in_compare()};
  window.frames(snapshot, 3);
  const auto& texts = window.probe().texts;
  const auto sentence = std::ranges::find_if(
      texts, [&](const auto& text) { return text.text.starts_with(view.runs[1].name + ": "); });
  ASSERT_NE(sentence, texts.end());
  EXPECT_TRUE(sentence->text.find("…") == std::string::npos) << "all of it on one line";
  const auto settings = std::ranges::find_if(
      texts, [](const auto& text) { return text.text.starts_with("bucket_cap_mb "); });
  ASSERT_NE(settings, texts.end());
  EXPECT_GE(sentence->rect.h, settings->rect.h) << "in letters as large as theirs";
  EXPECT_TRUE(settings->text.ends_with("…"));
}

TEST(CompareWorkspace, SettingsThatAreCutAreExplained) {
  for (const std::size_t runs : {2u, 3u}) {
    HeadlessWindow window{1280, 800, in_compare()};
    state::Snapshot snapshot = compared_snapshot(runs);
    auto& view = own_copy(snapshot.comparison);
    auto changed = std::make_shared<trace::analysis::RunDifference>(*view.differences[0]);
    for (int i = 0; i < 12; ++i) {
      changed->comparison.settings.push_back({"setting_" + std::to_string(i), "before", "after"});
    }
    view.differences[0] = changed;
    window.frames(snapshot, 3);
    const auto& texts = window.probe().texts;
    const auto cut = std::ranges::find_if(texts, [](const auto& text) {
      return text.text.starts_with("bucket_cap_mb ") && text.text.ends_with("…");
    });
    ASSERT_NE(cut, texts.end());
    window.move_to(snapshot, cut->rect.center_x(), cut->rect.center_y());
    window.frames(snapshot, 3);
    EXPECT_TRUE(window.probe().shows("What it was told otherwise")) << runs;
    EXPECT_TRUE(window.probe().shows("setting_11 before")) << runs;
  }
}

TEST(CompareWorkspace, SettingsHaveTheRoomThatTheSentenceLeaves) {
  state::Snapshot snapshot = compared_snapshot(2);
  auto& view = own_copy(snapshot.comparison);
  auto changed = std::make_shared<trace::analysis::RunDifference>(*view.differences[0]);
  changed->comparison.settings.push_back({"activation_checkpointing", "0", std::string(24, '1')});
  view.differences[0] = changed;
  view.runs[1].name = "B";
  HeadlessWindow window{1280, 800, in_compare()};
  window.frames(snapshot, 3);
  EXPECT_TRUE(window.probe().shows(", activation_checkpointing 0 → 111111111111111111111111"));
}

TEST(CompareWorkspace, BucketsHaveFiguresWhereTheirRowNamesTheUnit) {
  for (const int height : {720, 800, 1000}) {
    HeadlessWindow window{1280, height, in_compare()};
    window.frames(compared_snapshot(2), 3);
    const auto& texts = window.probe().texts;
    const auto label = std::ranges::find(texts, "Buckets, MiB", &kit::DrawProbe::Text::text);
    if (label == texts.end()) continue;
    const auto row = texts_in(window.probe(), {label->rect.right(), label->rect.y - 6,
                                               static_cast<float>(window.width()), 26});
    EXPECT_TRUE(std::ranges::any_of(row, [](const std::string& text) {
      return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0;
    })) << height;
  }
}

TEST(CompareWorkspace, TimelinesZoomTogether) {
  HeadlessWindow window{1600, 1000, in_compare()};
  const state::Snapshot snapshot = compared_snapshot(3);
  window.frames(snapshot, 3);
  const double whole = window.view().compare().runs().timelines().window().span_ns();
  double longest = 0;
  for (const auto& run : snapshot.comparison->runs) {
    const auto& rows = *run.run->timeline->rows;
    longest = std::max(longest, static_cast<double>(rows.end_ns - rows.start_ns));
  }
  EXPECT_GE(whole, longest) << "the longest step is on screen";
  EXPECT_LT(whole, 1.2 * longest);
  std::vector<state::Rect> plots;
  for (const auto& target : window.probe().targets) {
    if (target.name.ends_with("/plot")) plots.push_back(target.rect);
  }
  ASSERT_EQ(plots.size(), 3u);
  for (const auto& plot : plots) {
    EXPECT_EQ(plot.x, plots[0].x) << "on one scale";
    EXPECT_EQ(plot.w, plots[0].w);
  }
  window.move_to(snapshot, plots[1].center_x(), plots[1].center_y());
  window.wheel(snapshot, 3);
  window.frames(snapshot, 2);
  EXPECT_LT(window.view().compare().runs().timelines().window().span_ns(), 0.8 * whole);
  window.press(snapshot, kit::Key::kF);
  window.frames(snapshot, 2);
  EXPECT_EQ(window.view().compare().runs().timelines().window().span_ns(), whole);
}

// In the second run's.
void expect_measures(const state::Snapshot& snapshot) {
  HeadlessWindow window{1600, 1000, in_compare()};
  window.frames(snapshot, 3);
  const state::Rect plot = window.probe().find("compare/timeline/1/plot")->rect;
  const auto labels_above_plot = [&] { return texts_in(window.probe(), plot, 1).size(); };
  for (int i = 0; i < 4; ++i) {
    window.move_to(snapshot, plot.center_x(), plot.center_y());
    window.wheel(snapshot, 1);
  }
  window.move_to(snapshot, 1, 1);
  window.frames(snapshot, 2);
  const auto before = labels_above_plot();
  const auto shown = window.view().compare().runs().timelines().window();
  window.press(snapshot, kit::Key::kM);
  ASSERT_TRUE(window.drag(snapshot, "compare/timeline/1/plot", 0.2f, 0.8f));
  window.move_to(snapshot, 1, 1);
  window.frames(snapshot, 2);
  EXPECT_EQ(window.view().compare().runs().timelines().window(), shown) << "nothing is panned";
  EXPECT_GT(labels_above_plot(), before);
  window.press(snapshot, kit::Key::kEscape);
  window.frames(snapshot, 2);
  EXPECT_EQ(labels_above_plot(), before);
}

TEST(CompareWorkspace, MeasuresInEveryTimeline) { expect_measures(compared_snapshot(2)); }

TEST(CompareWorkspace, KeysAreTheSecondTimelinesWhereTheFirstHasNoDetail) {
  state::Snapshot snapshot = compared_snapshot(2);
  take_detail(own_copy(snapshot.comparison), 0);
  expect_measures(snapshot);
}

TEST(CompareWorkspace, KeysAreNotThoseOfTheRunInTune) {
  state::Snapshot snapshot = compared_snapshot(2);
  snapshot.run = sample_snapshot().run;
  HeadlessWindow window{1600, 1000, in_compare()};
  window.frames(snapshot, 3);
  window.take_commands();
  window.press(snapshot, kit::Key::kLeft);
  window.press(snapshot, kit::Key::kSpace);
  const auto commands = window.take_commands();
  EXPECT_EQ(HeadlessWindow::find<state::SelectStep>(commands), nullptr);
  const auto* compared = HeadlessWindow::find<state::CompareRuns>(commands);
  ASSERT_NE(compared, nullptr);
  EXPECT_EQ(compared->step, snapshot.comparison->runs[0].run->selected_step - 1);
  EXPECT_EQ(compared->folders.size(), 2u) << "of all of them";
  snapshot.replay.active = true;
  window.press(snapshot, kit::Key::kSpace);
  EXPECT_EQ(HeadlessWindow::find<state::SetReplayPlaying>(window.take_commands()), nullptr);
}

// Each run is asked for the same step, which the second lacks; where one shows another, it is read.
TEST(CompareWorkspace, TellsAStepWithoutDetailFromOneThatIsMissing) {
  state::Snapshot snapshot = compared_snapshot(2);
  auto& view = own_copy(snapshot.comparison);
  take_detail(view, 0);
  view.step = view.runs[0].run->selected_step;
  own_copy(view.runs[1].run).figures.steps.resize(100);
  const std::string number = std::to_string(view.step);
  HeadlessWindow window{1600, 1000, in_compare()};
  window.frames(snapshot, 3);
  EXPECT_TRUE(window.probe().shows("This step was recorded without detail"));
  EXPECT_TRUE(window.probe().shows("The run has no step " + number));
  for (const auto& target : window.probe().targets) {
    EXPECT_FALSE(target.name.ends_with("/plot")) << "of another step";
  }
}

TEST(CompareWorkspace, TabGoesThroughAllTimelines) {
  HeadlessWindow window{1600, 1000, in_compare()};
  const state::Snapshot snapshot = compared_snapshot(2);
  window.frames(snapshot, 3);
  std::set<std::string> wanted, reached;
  for (const auto& target : window.probe().targets) {
    const bool is_of_board = target.name.starts_with("compare/timeline/");
    if (is_of_board && !target.name.ends_with("/plot")) wanted.insert(target.name);
  }
  ASSERT_GT(wanted.size(), 4u);
  for (std::size_t i = 0; i < 2 * window.probe().targets.size(); ++i) {
    window.press(snapshot, kit::Key::kTab);
    reached.insert(window.view().focus().name());
  }
  for (const auto& name : wanted) EXPECT_TRUE(reached.contains(name)) << name;
}

TEST(CompareWorkspace, ShowsPhasesAndOneKindOfRowsWhenAskedTo) {
  HeadlessWindow window{1920, 1200, in_compare()};
  const state::Snapshot snapshot = compared_snapshot(2);
  window.frames(snapshot, 3);
  const auto& explanation = snapshot.comparison->differences[0]->explanation;
  ASSERT_FALSE(explanation.phases.empty());
  const std::string phase = present::share_text(explanation.phases.front());
  EXPECT_FALSE(window.probe().shows(phase));
  ASSERT_TRUE(window.click(snapshot, "compare/waterfall/Phases"));
  window.frames(snapshot, 2);
  EXPECT_TRUE(window.probe().shows(phase)) << phase;
  ASSERT_TRUE(window.click(snapshot, "compare/kinds/Memory"));
  window.frames(snapshot, 2);
  EXPECT_TRUE(window.probe().shows("activations"));
  EXPECT_FALSE(window.probe().shows("exposed transfer")) << "the waterfall shows phases";
}

TEST(CompareWorkspace, TheChosenRunStaysSoWhereverItStands) {
  HeadlessWindow window{1600, 1000, in_compare()};
  state::Snapshot snapshot = compared_snapshot(4);
  window.frames(snapshot, 3);
  ASSERT_TRUE(window.click(snapshot, "compare/choose/runs/compared 2"));
  window.frames(snapshot, 2);
  ASSERT_TRUE(window.probe().shows("A → C"));
  auto& three = own_copy(snapshot.comparison);
  three.runs.erase(three.runs.begin() + 1);
  three.differences.erase(three.differences.begin());
  window.frames(snapshot, 2);
  EXPECT_TRUE(window.probe().shows("A → B")) << "the third one's letter now";
  ASSERT_TRUE(window.click(snapshot, "compare/choose/runs/compared 3"));
  auto& two = own_copy(snapshot.comparison);
  two.runs.pop_back();
  two.differences.pop_back();
  window.frames(snapshot, 2);
  EXPECT_TRUE(window.probe().shows("A → B")) << "the chosen one is gone";
}

TEST(CompareWorkspace, ARunWithoutTheChosenKindOfRowsShowsAllOfThem) {
  HeadlessWindow window{1920, 1200, in_compare()};
  state::Snapshot snapshot = compared_snapshot(2);
  const auto lines = [&]() -> std::ptrdiff_t {
    window.frames(snapshot, 2);
    EXPECT_TRUE(window.click(snapshot, "compare/csv/copy"));
    const auto copied = window.take<state::CopyText>();
    return copied ? std::ranges::count(copied->text, '\n') : 0;
  };
  const std::ptrdiff_t all = lines();
  ASSERT_TRUE(window.click(snapshot, "compare/kinds/Phases"));
  const std::ptrdiff_t phases = lines();
  EXPECT_LT(phases, all);
  const auto with_phases = snapshot.comparison;
  auto without = std::make_shared<trace::analysis::RunDifference>(*with_phases->differences[0]);
  without->explanation.phases.clear();
  own_copy(snapshot.comparison).differences[0] = without;
  EXPECT_EQ(lines(), all - (phases - 1)) << "not the kind that stands in its place";
  snapshot.comparison = with_phases;
  EXPECT_EQ(lines(), phases) << "again";
}

TEST(CompareWorkspace, SaysWhyARunCannotBeCompared) {
  HeadlessWindow window{1600, 1000, in_compare()};
  state::Snapshot snapshot = compared_snapshot(2);
  auto view = std::make_shared<state::ComparisonView>(*snapshot.comparison);
  view->runs[1].run = nullptr;
  view->differences[0] = nullptr;
  snapshot.comparison = view;
  window.frames(snapshot, 2);
  EXPECT_TRUE(window.probe().shows("being read…"));
  EXPECT_TRUE(window.probe().shows("Reading the runs…")) << "where the difference is shown";
  view = std::make_shared<state::ComparisonView>(*view);
  view->runs[1].problem = "'" + view->runs[1].folder + "/rank_0.sqlite' is damaged";
  snapshot.comparison = view;
  window.frames(snapshot, 2);
  EXPECT_TRUE(window.probe().shows(": cannot be read: 'rank_0.sqlite' is damaged")) << "in short";
  EXPECT_TRUE(window.probe().shows("There is nothing to compare"));
  EXPECT_FALSE(window.probe().shows("being read…"));
  EXPECT_FALSE(window.probe().shows("Reading the run"));
}

TEST(CompareWorkspace, SaysThatNothingIsComparedWithABaseThatCannotBeRead) {
  HeadlessWindow window{1600, 1000, in_compare()};
  state::Snapshot snapshot = compared_snapshot(3);
  auto& view = own_copy(snapshot.comparison);
  view.runs[0].run = nullptr;
  view.runs[0].problem = "run.sqlite is damaged";
  for (auto& difference : view.differences) difference = nullptr;
  window.frames(snapshot, 2);
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_TRUE(window.probe().shows(view.runs[i].name + ": not compared: A cannot be read"));
  }
  EXPECT_TRUE(window.probe().shows("run.sqlite is damaged")) << "where its timeline would be";
  EXPECT_FALSE(window.probe().shows("being read…"));
}

TEST(CompareWorkspace, ALongNameLeavesRoomForTheSentence) {
  HeadlessWindow window{1280, 720, in_compare()};
  state::Snapshot snapshot = compared_snapshot(3);
  auto& view = own_copy(snapshot.comparison);
  view.runs[1].name = std::string(300, 'n');
  window.frames(snapshot, 2);
  const auto& difference = *view.differences[0];
  const auto sentence = present::comparison_sentence(difference.comparison, difference.explanation);
  EXPECT_TRUE(window.probe().shows("n: " + sentence.text));
}

TEST(CompareWorkspace, RunsThatAreNotComparableHaveNoWaterfall) {
  HeadlessWindow window{1600, 1000, in_compare()};
  state::Snapshot snapshot = compared_snapshot(2);
  window.frames(snapshot, 2);
  ASSERT_NE(window.probe().find("compare/waterfall/Phases"), nullptr);
  auto& view = own_copy(snapshot.comparison);
  auto difference = std::make_shared<trace::analysis::RunDifference>(*view.differences[0]);
  difference->comparison.other_job = {trace::analysis::OtherJob::kModel};
  view.differences[0] = difference;
  window.frames(snapshot, 2);
  EXPECT_TRUE(window.probe().shows("The runs are not comparable"));
  EXPECT_EQ(window.probe().find("compare/waterfall/Phases"), nullptr);
}

// Each has its least height; what is not on screen is scrolled to, over a name by the wheel, which
// zooms over a timeline.
TEST(CompareWorkspace, SixTimelinesAreScrolledWhereTheyDoNotFit) {
  HeadlessWindow window{1280, 800, in_compare()};
  const state::Snapshot snapshot = compared_snapshot(6);
  window.frames(snapshot, 3);
  const auto plots = [&] {
    std::vector<state::Rect> found;
    for (const auto& target : window.probe().targets) {
      if (target.name.ends_with("/plot")) found.push_back(target.rect);
    }
    return found;
  };
  const auto before = plots();
  ASSERT_FALSE(before.empty());
  for (const auto& plot : before) EXPECT_GE(plot.h, 24) << "there are ranks to be seen";
  const auto first_y = [&] { return plots().front().y; };

  window.move_to(snapshot, before[0].center_x(), before[0].center_y());
  window.wheel(snapshot, -2);
  window.frames(snapshot, 2);
  EXPECT_EQ(first_y(), before[0].y) << "over a timeline the wheel zooms";

  ASSERT_TRUE(window.click(snapshot, "compare/choose/runs/compared 5"));
  window.frames(snapshot, 2);
  EXPECT_LT(first_y(), before[0].y - 100) << "the chosen run is brought into view";
  EXPECT_TRUE(window.probe().shows("run number 5"));

  const float scrolled = first_y();
  const float title_of_last = plots().back().y;
  for (float up = 0; up < 60; up += 4) {
    window.move_to(snapshot, 640, title_of_last - up);
    window.wheel(snapshot, 1);
    window.frames(snapshot, 2);
  }
  EXPECT_GT(first_y(), scrolled) << "over a name it scrolls";
}

TEST(CompareWorkspace, NoTextLiesOverAnother) {
  for (const auto& [width, height] : {std::pair{1280, 800}, {1600, 1000}, {1920, 1200}}) {
    for (const std::size_t runs : {2u, 3u, 6u}) {
      HeadlessWindow window{width, height, in_compare()};
      window.frames(compared_snapshot(runs), 3);
      EXPECT_EQ(overlapping_texts_of(window.probe()), std::vector<std::string>{})
          << width << " " << runs;
    }
  }
}

}  // namespace
}  // namespace shardlens::ui::compare
