#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <algorithm>
#include <cfloat>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "app/launch/program_files.h"
#include "app/session/compare/comparison_reader.h"
#include "app/session/inspect/inspect_session.h"
#include "app/session/lessons/lesson_session.h"
#include "app/session/sweep/sweep_reader.h"
#include "app/session/watch/still_snapshot.h"
#include "app/window/canvas.h"
#include "app/window/graphics.h"
#include "app/window/window_main.h"
#include "ui/lesson/lesson_reader.h"
#include "ui/tune/layout.h"
#include "ui/window/main_view.h"

namespace shardlens::app::window {

using trace::base::ErrorKind;
using trace::base::fail;
using trace::base::Result;

namespace {

// Layouts settle within a few; the limit is for a view that never does.
constexpr int kFewestFrames = 3;
constexpr int kMostFrames = 60;
constexpr const char* kPredictions = "predictions";  // of `show`: the dock's tab

Result<void> check(const ScreenshotOptions& options) {
  if (options.workspace != ui::state::kCompareWorkspace && !options.others.empty()) {
    return fail(ErrorKind::kUsage,
                "Several runs are shown by --workspace compare; the others show one.");
  }
  if (options.others.size() >= trace::analysis::kMostCompared) {
    return fail(ErrorKind::kUsage, "The Compare workspace takes up to " +
                                       std::to_string(trace::analysis::kMostCompared) + " runs.");
  }
  return {};
}

// A page of a lesson, and the view beside it, which is drawn as if it had been asked for by itself.
struct ShownPage {
  std::shared_ptr<const ui::state::LessonShelf> shelf;
  std::optional<ui::state::ViewAddress> view;  // none: no page so far names one
  ScreenshotOptions beside;
};

Result<ShownPage> find_page(const ScreenshotOptions& options) {
  ShownPage shown{
      std::make_shared<const ui::state::LessonShelf>(session::read_shelf(options.lessons)),
      std::nullopt, options};
  TRY(session::check_page(*shown.shelf, options.lesson, options.page));
  ui::lesson::LessonReader reader;
  reader.open(static_cast<std::size_t>(options.lesson), static_cast<std::size_t>(options.page));
  reader.take(shown.shelf);
  shown.beside.workspace = ui::state::kTuneWorkspace;
  const auto wanted = reader.take_wanted();
  if (!wanted) return shown;
  const auto found = session::find_view(
      *wanted, {.lessons = {}, .runs_dir = options.runs_dir, .examples = launch::bundled_runs()});
  if (!found.problem.empty()) return fail(ErrorKind::kMissing, found.problem);
  shown.view = found.address;
  ScreenshotOptions& beside = shown.beside;
  beside.workspace = found.address.workspace;
  beside.run = found.runs.front();
  beside.others.assign(found.runs.begin() + 1, found.runs.end());
  // Where Inspect stands its address says.
  const bool inspects = beside.workspace == ui::state::kInspectWorkspace;
  beside.step = inspects ? -1 : static_cast<long>(found.address.step);
  if (!found.address.tab.empty()) beside.tab = found.address.tab;
  if (beside.workspace == ui::state::kCompareWorkspace) beside.tab = "Runs";
  for (const auto& [knob, value] : found.address.settings) {
    beside.changes.push_back(knob + "=" + value);
  }
  return shown;
}

ui::state::ViewPreferences preferences_of(const ScreenshotOptions& options) {
  ui::state::ViewPreferences preferences;
  preferences.theme =
      options.theme == "light" ? ui::state::ThemeKind::kLight : ui::state::ThemeKind::kDark;
  preferences.scale = static_cast<float>(options.scale);
  preferences.present_mode = options.present;
  preferences.workspace = options.workspace;
  preferences.inspect_tab = options.tab;
  return preferences;
}

ui::state::Commands draw_frame(ui::window::MainView& view, const ui::state::Snapshot& snapshot,
                               const Canvas& canvas) {
  const auto back = ui::state::palette(view.preferences().theme).window;
  canvas.begin(static_cast<float>(back.r) / 255, static_cast<float>(back.g) / 255,
               static_cast<float>(back.b) / 255);
  ImGui::NewFrame();
  ui::state::Commands commands;
  view.draw(snapshot, commands);
  ImGui::Render();
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  return commands;
}

// Answers what the panels of the Inspect workspace ask for, before the next frame. True: there is
// something new to draw.
bool look_around(session::InspectSession& session, const ui::state::Commands& commands,
                 ui::state::Snapshot& snapshot) {
  for (const ui::state::Command& command : commands) {
    std::visit(
        [&](const auto& asked) {
          if constexpr (requires { session.carry_out(asked); }) session.carry_out(asked);
        },
        command);
  }
  session.wait_until_idle();
  auto view = session.view();
  if (view == snapshot.inspect) return false;
  snapshot.inspect = std::move(view);
  ++snapshot.version;
  return true;
}

// Draws until nothing moves any more and everything asked for has come.
void settle(ui::window::MainView& view, session::InspectSession& session,
            ui::state::Snapshot& snapshot, const Canvas& canvas) {
  for (int frame = 0, calm = 0; frame < kMostFrames && calm < kFewestFrames; ++frame) {
    ImGui_ImplOpenGL3_NewFrame();
    const auto commands = draw_frame(view, snapshot, canvas);
    const bool news = look_around(session, commands, snapshot);
    calm = news || view.wants_redraw() ? 0 : calm + 1;
  }
}

// The step between its neighbours.
void zoom_to_step(ui::window::MainView& view, const trace::timeline::TimelineRows& rows,
                  std::int64_t step) {
  std::int64_t start = INT64_MAX, end = INT64_MIN;
  for (const auto& border : rows.steps) {
    if (border.step < step - 1 || border.step > step + 1) continue;
    start = std::min(start, border.start_ns);
    end = std::max(end, border.end_ns);
  }
  if (start < end) view.inspect().timeline().state().window.show(start, end);
}

// Of what the timeline shows of the step; none: an event that does not exist.
trace::timeline::EventRef longest_collective(const ui::state::InspectView& inspect,
                                             std::int64_t step) {
  const auto& borders = inspect.rows->steps;
  const auto border = std::ranges::find(borders, step, &trace::timeline::StepBorder::step);
  const trace::timeline::Piece* longest = nullptr;
  if (border == borders.end() || !inspect.picture) return {};
  for (const auto& row : inspect.picture->rows) {
    for (const auto& piece : row.pieces) {
      const bool within = piece.start_ns >= border->start_ns && piece.start_ns < border->end_ns;
      if (!within || piece.ref.table != trace::timeline::EventTableKind::kCollective) continue;
      if (longest == nullptr || piece.duration_ns() > longest->duration_ns()) longest = &piece;
    }
  }
  return longest == nullptr ? trace::timeline::EventRef{} : longest->ref;
}

// As the window would read it.
std::shared_ptr<const ui::state::SweepView> sweep_of(const ScreenshotOptions& options) {
  auto view = std::make_shared<ui::state::SweepView>();
  view->names = session::newest_sweeps(options.runs_dir);
  view->shown = std::make_shared<const ui::state::ShownSweep>(
      session::SweepSource(options.runs_dir).read(options.sweep));
  return view;
}

// `learns`: of a page, `options` being those of the view beside it.
Result<Picture> draw_picture(const ScreenshotOptions& options, bool learns,
                             ui::state::Snapshot snapshot) {
  TRY_ASSIGN(const auto graphics, Graphics::create({.width = 64, .height = 64, .visible = false}));
  TRY_ASSIGN(const auto canvas, Canvas::create(options.width, options.height));
  auto& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(options.width), static_cast<float>(options.height)};
  io.DeltaTime = 1.0f / 60;
  io.MousePos = {-FLT_MAX, -FLT_MAX};
  ui::window::MainView view(preferences_of(options));
  if (options.workspace == ui::state::kCompareWorkspace) view.compare().show(options.tab);
  if (learns) view.open_lesson(options.lesson, options.page);
  if (options.show == kPredictions) view.show_in_dock(ui::tune::DockPanel::Tab::kPredictions);
  view.prepare_fonts(*io.Fonts);
  ImGui_ImplOpenGL3_Init("#version 330");
  session::Notice notice;
  session::InspectSession session(notice, [] {});
  if (options.workspace == ui::state::kInspectWorkspace) session.show(options.run, false);
  if (options.step >= 0) view.inspect().show_memory_of(options.step);
  look_around(session, {}, snapshot);
  settle(view, session, snapshot, canvas);
  if (snapshot.inspect && snapshot.inspect->rows && options.step >= 0) {
    zoom_to_step(view, *snapshot.inspect->rows, options.step);
    settle(view, session, snapshot, canvas);
    const auto event = longest_collective(*snapshot.inspect, options.step);
    if (event.exists()) look_around(session, {ui::state::PickEvent{event}}, snapshot);
    settle(view, session, snapshot, canvas);
  }
  auto picture = canvas.read();
  ImGui_ImplOpenGL3_Shutdown();
  return picture;
}

std::shared_ptr<const ui::state::ComparisonView> comparison_of(const ScreenshotOptions& options,
                                                               const ui::state::Ledger& ledger) {
  std::vector<std::string> runs{options.run.string()};
  for (const auto& other : options.others) runs.push_back(other.string());
  const session::ComparisonQuestion question{.runs = session::compared_runs(runs, ledger.rows),
                                             .step = options.step,
                                             .runs_dir = options.runs_dir};
  auto answer = session::unread_comparison(question);
  session::ComparisonReader reader;
  reader.answer(
      question, [] { return true; },
      [&answer](ui::state::ComparisonView view) { answer = std::move(view); });
  return std::make_shared<const ui::state::ComparisonView>(std::move(answer));
}

// Of the ledger, which only the Tune workspace has.
std::size_t rows_on_screen(const ScreenshotOptions& options) {
  if (options.workspace != ui::state::kTuneWorkspace) return 0;
  const auto preferences = preferences_of(options);
  const float scale = preferences.scale * (options.present ? ui::state::kPresentScale : 1);
  return static_cast<std::size_t>(
      ui::tune::rows_with_room({.width = static_cast<float>(options.width),
                                .height = static_cast<float>(options.height),
                                .scale = scale,
                                .fold_dock = options.present}));
}

Result<ui::state::Snapshot> snapshot_of(const ScreenshotOptions& options, std::size_t other_runs) {
  session::StillOptions still{.run = options.run,
                              .runs_dir = options.runs_dir,
                              .step = std::nullopt,
                              .plan = options.show == "plan"};
  if (options.step >= 0) still.step = options.step;
  still.changes = options.changes;
  still.other_runs = other_runs;
  still.compared.assign(options.others.begin(), options.others.end());
  TRY_ASSIGN(auto snapshot, session::still_snapshot(still));
  if (!options.sweep.empty()) snapshot.sweep = sweep_of(options);
  if (options.workspace == ui::state::kCompareWorkspace && options.sweep.empty()) {
    snapshot.comparison = comparison_of(options, *snapshot.ledger);
  }
  return snapshot;
}

Result<Picture> picture_of_page(const ScreenshotOptions& options) {
  TRY_ASSIGN(const auto page, find_page(options));
  ui::state::Snapshot snapshot;
  if (page.view) {
    TRY_ASSIGN(snapshot, snapshot_of(page.beside, 0));
    snapshot.gone_to = std::make_shared<const ui::state::ViewAddress>(*page.view);
  }
  snapshot.lessons = page.shelf;
  return draw_picture(page.beside, true, std::move(snapshot));
}

}  // namespace

Result<void> take_screenshot(const ScreenshotOptions& options) {
  TRY(check(options));
  if (options.workspace == ui::state::kLearnWorkspace) {
    TRY_ASSIGN(const auto picture, picture_of_page(options));
    return write_png(options.output, picture);
  }
  TRY_ASSIGN(auto snapshot, snapshot_of(options, rows_on_screen(options)));
  TRY_ASSIGN(const auto picture, draw_picture(options, false, std::move(snapshot)));
  return write_png(options.output, picture);
}

}  // namespace shardlens::app::window
