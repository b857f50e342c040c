#include "tests/ui/inspect/testing/inspect_window.h"

#include <utility>

#include "tests/ui/testing/sample_snapshot.h"

namespace shardlens::ui::inspect {

namespace {

constexpr int kMostRounds = 12;

state::ViewPreferences inspecting(state::ViewPreferences preferences) {
  preferences.workspace = state::kInspectWorkspace;
  return preferences;
}

}  // namespace

InspectWindow::InspectWindow(int width, int height, state::ViewPreferences preferences,
                             const SampleRunOptions& options)
    : run_(options), window_(width, height, inspecting(std::move(preferences))) {
  SampleOptions sample;
  sample.gpu = true;
  sample.ranks = 4;
  sample.live = false;
  snapshot_ = sample_snapshot(sample);
  view_ = std::make_shared<state::InspectView>();
  view_->run_folder = snapshot_.run->figures.info.folder;
  view_->rows = std::make_shared<trace::timeline::TimelineRows>(run_.rows());
  trace::timeline::PictureRequest whole;
  whole.windows.push_back({0, run_.rows().start_ns, run_.rows().end_ns});
  whole.ns_per_pixel = static_cast<double>(run_.rows().end_ns - run_.rows().start_ns) / 1'200;
  view_->overview = std::make_shared<trace::timeline::TimelinePicture>(sample_picture(run_, whole));
  snapshot_.inspect = view_;
  settle();
}

state::InspectView& InspectWindow::change() {
  view_ = std::make_shared<state::InspectView>(*view_);
  snapshot_.inspect = view_;
  ++snapshot_.version;
  return *view_;
}

void InspectWindow::answer(const state::Command& command) {
  if (const auto* show = std::get_if<state::ShowTimeline>(&command)) {
    request_ = show->request;
    change().picture =
        std::make_shared<trace::timeline::TimelinePicture>(sample_picture(run_, show->request));
    return;
  }
  if (const auto* bookmark = std::get_if<state::ChangeBookmark>(&command)) {
    return trace::model::change_bookmarks(change().bookmarks, bookmark->change);
  }
  commands_.push_back(command);
}

void InspectWindow::frame() {
  window_.frame(snapshot_);
  for (const state::Command& command : window_.take_commands()) answer(command);
}

void InspectWindow::settle() {
  for (int i = 0; i < kMostRounds; ++i) {
    const auto shown = snapshot_.inspect;
    frame();
    if (i > 2 && shown == snapshot_.inspect) return;
  }
}

state::Commands InspectWindow::take_commands() {
  for (const state::Command& command : window_.take_commands()) answer(command);
  return std::exchange(commands_, {});
}

}  // namespace shardlens::ui::inspect
