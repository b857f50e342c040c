// Whatever a run's files do not tell, no panel tells either. The test knows neither columns nor
// texts: it takes each column that may be NULL away and looks for zeros among what is new.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "app/session/inspect/inspect_session.h"
#include "app/session/watch/still_snapshot.h"
#include "tests/app/report/unknown_runs.h"
#include "tests/files.h"
#include "tests/ui/testing/headless_window.h"
#include "tests/ui/testing/probe_texts.h"

namespace shardlens::app::session {
namespace {

namespace fs = std::filesystem;
using Texts = std::set<std::string>;

constexpr int kWidth = 1920, kHeight = 1200;

// Numbers that are none, and those by which programs mean that there is none.
bool is_no_number(const std::string& text) {
  static const std::regex kPattern(R"((^|[^\w.])(-?nan|-?inf|[-−]1(\.0+)?)($|[^\w.,%]))",
                                   std::regex::icase);
  return std::regex_search(text, kPattern);
}

bool has_zero(const std::string& text) {
  static const std::regex kIdentity("(rank|bucket|unit|step) 0", std::regex::icase);
  static const std::regex kPattern(R"((^|[^\w.,:#])0(\.0+)?($|[^\w.,]|[.,]($|\s)))");
  return std::regex_search(std::regex_replace(text, kIdentity, "it"), kPattern);
}

class Window {
 public:
  Window(const fs::path& run, const fs::path& runs_dir, ui::state::ViewPreferences preferences)
      : window_(kWidth, kHeight, std::move(preferences)) {
    StillOptions options;
    options.run = run;
    options.runs_dir = runs_dir;
    auto snapshot = still_snapshot(options);
    EXPECT_TRUE(snapshot) << snapshot.error().message;
    if (snapshot) snapshot_ = std::move(*snapshot);
  }

  void inspect(const fs::path& run) {
    session_.emplace(notice_, [] {});
    session_->show(run, false);
    session_->wait_until_idle();
    for (int frame = 0; frame < 6; ++frame) {
      snapshot_.inspect = session_->view();
      window_.frame(snapshot_);
      for (const ui::state::Command& command : window_.take_commands()) {
        std::visit(
            [&](const auto& asked) {
              if constexpr (requires { session_->carry_out(asked); }) session_->carry_out(asked);
            },
            command);
      }
      session_->wait_until_idle();
    }
  }

  void add_texts(Texts& texts) {
    window_.frames(snapshot_, 2);
    for (const auto& text : window_.probe().texts) texts.insert(text.text);
  }
  // And what it says of everything under the mouse.
  void add_all_texts(Texts& texts) {
    add_texts(texts);
    const auto targets = window_.probe().targets;
    for (const auto& target : targets) {
      window_.move_to(snapshot_, target.rect.center_x(), target.rect.center_y());
      for (int frame = 0; frame < 2; ++frame) window_.frame(snapshot_);
      for (const auto& text : window_.probe().texts) texts.insert(text.text);
    }
  }
  // In the bar at the top, and among the runs at the foot.
  std::vector<std::string> texts_about_runs() {
    Texts texts;
    add_texts(texts);
    const auto* dock = window_.probe().find("dock/Runs");
    const float x = dock == nullptr ? 0 : dock->rect.x - 30;
    const float y = dock == nullptr ? 0 : dock->rect.bottom();
    auto told = ui::texts_in(window_.probe(), {0, 0, kWidth, 90});
    const auto runs = ui::texts_in(window_.probe(), {x, y, kWidth - x, kHeight - y});
    told.insert(told.end(), runs.begin(), runs.end());
    return told;
  }
  void click(const std::string& target) { window_.click(snapshot_, target); }

 private:
  ui::HeadlessWindow window_;
  ui::state::Snapshot snapshot_;
  Notice notice_;
  std::optional<InspectSession> session_;
};

class UnknownTexts : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { base_ = report::write_known_run(GetParam(), folder_ / "base"); }

  fs::path run_after(const std::string& sql) {
    const fs::path run = folder_ / std::to_string(++runs_) / "run";
    fs::create_directories(run.parent_path());
    fs::copy(base_, run, fs::copy_options::recursive);
    if (!sql.empty()) report::change(run, sql);
    return run;
  }

  static Texts tuned(const fs::path& run, bool everything) {
    Texts texts;
    Window window(run, run.parent_path(), {});
    for (const char* tab : {"dock/Runs", "dock/Learning", "dock/Memory", "dock/Log"}) {
      window.click(tab);
      everything ? window.add_all_texts(texts) : window.add_texts(texts);
    }
    return texts;
  }
  static Texts inspected(const fs::path& run, const std::vector<std::string>& tabs) {
    Texts texts;
    for (const std::string& tab : tabs) {
      ui::state::ViewPreferences preferences;
      preferences.workspace = ui::state::kInspectWorkspace;
      preferences.inspect_tab = tab;
      Window window(run, run.parent_path(), preferences);
      window.inspect(run);
      window.add_texts(texts);
    }
    return texts;
  }

  static void expect_no_new_zero(const Texts& base, const Texts& found, const std::string& what) {
    for (const std::string& text : found) {
      if (base.contains(text)) continue;
      EXPECT_FALSE(has_zero(text) || is_no_number(text)) << '"' << text << "\" without " << what;
    }
  }

  const trace::test::Folder folder_;
  fs::path base_;
  int runs_ = 0;
};

TEST_P(UnknownTexts, SayNoZeroForWhatIsNotKnown) {
  const Texts base = tuned(run_after(""), false);
  const Texts base_recording = inspected(run_after(""), {"Recording"});
  for (const report::NullableColumn& column : report::nullable_columns()) {
    const std::string name = column.table + "." + column.name;
    const fs::path run = run_after("update " + column.table + " set " + column.name + "=null");
    expect_no_new_zero(base, tuned(run, false), name);
    expect_no_new_zero(base_recording, inspected(run, {"Recording"}), name);
  }
}

TEST_P(UnknownTexts, SayNoZeroWhereNothingIsKnown) {
  const std::vector<std::string> tabs{"Kernels",   "Operators", "Collectives", "Copies",
                                      "Launches",  "Memory",    "Steps",       "Stragglers",
                                      "Recording", "Log"};
  std::string sql;
  for (const report::NullableColumn& column : report::nullable_columns()) {
    sql += "update " + column.table + " set " + column.name + "=null;";
  }
  const fs::path before = run_after(""), after = run_after(sql);
  expect_no_new_zero(tuned(before, true), tuned(after, true), "anything");
  expect_no_new_zero(inspected(before, tabs), inspected(after, tabs), "anything");
}

TEST_P(UnknownTexts, SayNoNumberThatIsNone) {
  for (const std::string& text : tuned(run_after(""), true)) {
    EXPECT_FALSE(is_no_number(text)) << text;
  }
}

// The settings' own panel shows those of the next run.
TEST_P(UnknownTexts, SayNothingOfSettingsThatNobodyTold) {
  const fs::path run = run_after("");
  Window window(run, run.parent_path(), {});
  const auto told = window.texts_about_runs();
  ASSERT_GT(told.size(), 10u);
  std::string found;
  for (const std::string& text : told) {
    for (const char* each : {"ddp", "tiny", "fp32", "adamw", "builtin", "25 MiB"}) {
      if (text.find(each) != std::string::npos) found += text + "; ";
    }
  }
  EXPECT_EQ(found.empty(), std::string(GetParam()) != "own") << found;
}

INSTANTIATE_TEST_SUITE_P(Runs, UnknownTexts, testing::Values("own", "foreign", "imported"),
                         [](const auto& run) { return std::string(run.param); });

}  // namespace
}  // namespace shardlens::app::session
