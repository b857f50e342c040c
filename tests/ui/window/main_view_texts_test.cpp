// The window without a display: it draws every state, and texts keep apart and whole.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/ui/testing/headless_window.h"
#include "tests/ui/testing/own_copy.h"
#include "tests/ui/testing/probe_texts.h"
#include "tests/ui/testing/sample_snapshot.h"
#include "ui/state/view_preferences.h"
#include "ui/tune/layout.h"

namespace shardlens::ui::window {
namespace {

state::Snapshot snapshot_of(int state) {
  SampleOptions gpu;
  gpu.ranks = 4;
  gpu.gpu = true;
  switch (state) {
    case 0:
      return sample_snapshot();
    case 1:
      return sample_snapshot(gpu);
    case 2:
      return empty_snapshot();
    case 3:
      return failed_snapshot();
    case 4:
      return installing_snapshot();
    case 5:
      return replay_snapshot();
    case 6:
      return plan_snapshot();
    case 7:
      return plan_snapshot("llama-8b");
    default:
      return plan_snapshot("llama-70b", trace::job::Strategy::kFullShard, true);
  }
}

TEST(OverlappingTexts, AreFound) {
  kit::DrawProbe probe;
  const state::Rect window{0, 0, 100, 100};
  probe.texts.push_back({"one", {10, 10, 30, 9}, window, 0});
  probe.texts.push_back({"two", {35, 12, 30, 9}, window, 0});
  EXPECT_EQ(overlapping_texts_of(probe).size(), 1u);
  probe.texts[1].layer = 1;
  EXPECT_TRUE(overlapping_texts_of(probe).empty());
}

using WindowCase = std::tuple<std::pair<int, int>, float, int>;
class WindowTest : public ::testing::TestWithParam<WindowCase> {};

// Of what is the window's own, not named by a run: names of runs, operators and notes of buckets
// may be longer than any window. What ends with the sign by itself is not cut.
bool must_be_whole(const kit::DrawProbe::Text& text, bool has_plan, float scale) {
  if (text.rect.y < tune::kTopBarHeight * scale) return true;
  const bool own = has_plan ? text.layer >= 10 : text.rect.right() < 320 * scale;
  return own && text.text != "Plan…" && text.text != "Sweep…" && text.text != "Search…";
}

// In one theme: it gives nothing but colours.
TEST_P(WindowTest, DrawsEveryStateWithTextsApartAndWhole) {
  const auto& [size, scale, state] = GetParam();
  state::ViewPreferences preferences;
  preferences.scale = scale;
  HeadlessWindow window(size.first, size.second, preferences);
  const state::Snapshot snapshot = snapshot_of(state);
  window.frames(snapshot, 3);
  const bool has_plan = snapshot.plan != nullptr;
  EXPECT_EQ(overlapping_texts_of(window.probe()), std::vector<std::string>{});
  EXPECT_GT(window.probe().texts.size(), 20u);
  for (const auto& text : window.probe().texts) {
    if (must_be_whole(text, has_plan, scale)) {
      EXPECT_FALSE(text.text.ends_with("…")) << text.text;
    }
    if (has_plan && text.layer >= 10) {
      EXPECT_LE(text.rect.right(), static_cast<float>(size.first)) << text.text;
      EXPECT_LE(text.rect.bottom(), static_cast<float>(size.second)) << text.text;
    }
  }
  const bool has_run = state == 0 || state == 1 || state == 3 || state >= 5;
  for (const char* text : {"Shardlens", "Settings for the next run"})
    EXPECT_TRUE(window.probe().shows(text)) << text;
  if (!has_run) return;
  for (const char* text : {"Step", "Exposed", "Step time"}) {
    EXPECT_TRUE(window.probe().shows(text)) << text;
  }
  EXPECT_TRUE(window.probe().shows(state == 3 ? "The run failed" : "Timeline · step"));
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, WindowTest,
    ::testing::Combine(::testing::Values(std::pair{1280, 720}, std::pair{1280, 800},
                                         std::pair{1600, 1000}, std::pair{1920, 1200}),
                       ::testing::Values(1.0f, 1.5f), ::testing::Range(0, 9)));

TEST(MainView, SurvivesTinyAndChangingWindows) {
  HeadlessWindow window(1280, 720);
  const state::Snapshot snapshot = replay_snapshot();
  for (const auto& [width, height] : {std::pair{200, 120}, {1, 1}, {3840, 2160}, {400, 2000}}) {
    window.resize(width, height);
    window.frames(snapshot, 2);
  }
  EXPECT_GT(window.probe().texts.size(), 10u);
}

TEST(TopBar, KeepsStartAndStopInOnePlaceWhateverIsToldBesideThem) {
  for (const int width : {1000, 1280, 1920}) {
    HeadlessWindow window(width, 800);
    const auto place_of = [&](const state::Snapshot& snapshot, const char* button) {
      window.frames(snapshot, 3);
      const state::Rect& rect = window.probe().find(button)->rect;
      return std::pair(rect.x, rect.right());
    };
    state::Snapshot snapshot = sample_snapshot();
    const auto stop = place_of(snapshot, "top/stop");
    snapshot.job.phase = state::JobPhase::kStopping;
    EXPECT_EQ(place_of(snapshot, "top/stop"), stop);
    EXPECT_TRUE(window.probe().shows("Stop now"));
    snapshot.job.phase = state::JobPhase::kStarting;
    snapshot.run = nullptr;  // no name, no figures
    EXPECT_EQ(place_of(snapshot, "top/stop"), stop);
    EXPECT_EQ(place_of(empty_snapshot(), "top/start"), stop);
  }
}

// A recorded run whose exposed time is partly waiting needs the most words.
TEST(TopBar, TellsThePeakMemoryOfALiveAndOfARecordedRunInEveryWindow) {
  for (const int width : {1280, 1600, 1920}) {
    for (const bool live : {true, false}) {
      state::Snapshot snapshot = sample_snapshot({.live = live});
      auto run = std::make_shared<state::RunView>(*snapshot.run);
      run->figures.summary.exposed_wait_ns = 3.27e6;
      snapshot.run = run;
      HeadlessWindow window(width, 800);
      window.frames(snapshot, 3);
      EXPECT_TRUE(window.probe().shows("Peak memory")) << width << (live ? ", live" : "");
      EXPECT_TRUE(window.probe().shows("3.27 ms waiting")) << width << (live ? ", live" : "");
      run = std::make_shared<state::RunView>(*snapshot.run);
      run->figures.summary.step_ns.mean = 1460.3e6;  // as wide as figures get
      run->figures.summary.exposed_ns = 1142.9e6;
      run->figures.summary.exposed_wait_ns = 1103.6e6;
      snapshot.run = run;
      window.frames(snapshot, 3);
      EXPECT_TRUE(window.probe().shows("Peak memory")) << width << (live ? ", live" : "");
    }
  }
}

TEST(Messages, AreNeverCut) {
  const std::vector<std::string> notes{
      "Incomplete: the file of rank 3 cannot be read. Figures are those of the ranks that are left",
      "CPU run: shows how it works, not how fast a GPU is",
      "Simulated link of 50 µs and 1 Gbit/s: communication takes as long as it would there",
      "Simulated without overlap: communication waits for the backward pass"};
  for (const int width : {800, 1280, 1920}) {
    HeadlessWindow window(width, 800);
    state::Snapshot snapshot = sample_snapshot();
    auto& run = own_copy(snapshot.run);
    run.banners = notes;
    snapshot.notice = notes[0] + ". " + notes[1] + ". " + notes[2] + ". " + notes[3];
    snapshot.notice_is_error = true;
    window.frames(snapshot, 3);
    const state::Rect panels = window.probe().find("knob/model")->rect;
    std::string shown;
    for (const auto& text : window.probe().texts) {
      if (text.rect.y < tune::kTopBarHeight || text.rect.bottom() > panels.y) continue;
      EXPECT_FALSE(text.text.ends_with("…")) << text.text;
      EXPECT_LE(text.rect.right(), static_cast<float>(width)) << text.text;
      shown += text.text + " ";
    }
    for (const std::string& note : notes) {
      EXPECT_NE(shown.find(note), std::string::npos) << width << ": " << note << " in " << shown;
    }
    EXPECT_EQ(overlapping_texts_of(window.probe()), std::vector<std::string>{});
  }
}

TEST(Help, IsNeverCut) {
  for (const char* workspace : {state::kTuneWorkspace, state::kInspectWorkspace,
                                state::kCompareWorkspace, state::kLearnWorkspace}) {
    for (const bool presents : {false, true}) {
      for (const auto& [width, height] : {std::pair{1000, 720}, {1280, 800}, {1600, 1000}}) {
        state::ViewPreferences preferences;
        preferences.workspace = workspace;
        preferences.present_mode = presents;
        HeadlessWindow window(width, height, preferences);
        const state::Snapshot snapshot = sample_snapshot();
        window.frames(snapshot, 3);
        window.type(snapshot, "?");
        window.frames(snapshot, 3);
        EXPECT_TRUE(window.probe().shows("These keys"));
        for (const auto& text : window.probe().texts) {
          if (text.layer < 10) continue;
          EXPECT_FALSE(text.text.ends_with("…")) << width << ": " << text.text;
        }
      }
    }
  }
}

TEST(MainView, ShowsARunsWholeNameRatherThanThatItIsSimulated) {
  state::Snapshot snapshot = sample_snapshot();
  auto& ledger = own_copy(snapshot.ledger);
  for (state::LedgerRow& row : ledger.rows) {
    row.name = "slow link, cap 1";
    row.simulated = true;
    row.settings.inject = "rank=1,step=4,phase=forward,every=1,delay_ms=" + row.ordinal;
  }
  HeadlessWindow window(1280, 800);
  window.frames(snapshot, 3);
  EXPECT_TRUE(window.probe().shows("1 · slow link, cap 1"));
}

TEST(MainView, ShowsADifferencePerTokenUncut) {
  state::Snapshot snapshot = sample_snapshot({.live = false});
  auto& ledger = own_copy(snapshot.ledger);
  for (state::LedgerRow& row : ledger.rows) {
    row.is_baseline = false;
    row.not_compared.clear();
    row.relative_to_baseline = 1.276;
    row.per_token = true;
    row.beyond_noise.reset();
  }
  for (const int width : {1280, 1920}) {
    HeadlessWindow window(width, 1200);
    window.frames(snapshot, 3);
    EXPECT_TRUE(window.probe().shows("+127.6 % per token")) << width;
  }
}

TEST(MainView, SaysHowARunEndedInFullAtAnyScale) {
  const state::Snapshot snapshot = sample_snapshot({.live = false, .gpu = true});
  for (float scale = 1; scale <= 1.5f; scale += 0.125f) {
    state::ViewPreferences preferences;
    preferences.scale = scale;
    HeadlessWindow window(1280, 720, preferences);
    window.frames(snapshot, 3);
    EXPECT_TRUE(window.probe().shows("done")) << scale;
  }
}

TEST(MainView, WritesTheSizesOfBucketsAsTheirRowHasRoom) {
  SampleOptions gpu;
  gpu.gpu = true;
  const state::Snapshot snapshot = sample_snapshot(gpu);  // eleven buckets of 27 MiB
  HeadlessWindow window(1600, 1000);
  window.frames(snapshot, 3);
  EXPECT_TRUE(window.probe().shows("Buckets, MiB"));
  EXPECT_TRUE(window.probe().shows("27.0"));
  EXPECT_FALSE(window.probe().shows("27.0 MiB"));
  window.resize(6000, 1000);
  window.frames(snapshot, 3);
  EXPECT_TRUE(window.probe().shows("27.0 MiB"));
  EXPECT_FALSE(window.probe().shows("Buckets, MiB"));
}

}  // namespace
}  // namespace shardlens::ui::window
