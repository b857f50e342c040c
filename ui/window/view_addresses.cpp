#include "ui/window/view_addresses.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "ui/state/view_preferences.h"

namespace shardlens::ui::window {

namespace {

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

// What the step that is drawn under the measured one is predicted with.
std::vector<state::AddressSetting> predicted_settings(const state::Snapshot& snapshot) {
  std::vector<state::AddressSetting> settings;
  const state::PredictionView* view = snapshot.prediction.get();
  if (view == nullptr || !view->prediction) return settings;
  if (view->folder != snapshot.run->figures.info.folder) return settings;
  for (const trace::tuning::Change& change : view->prediction->changes) {
    if (change.is_implied) continue;
    settings.push_back({std::string(change.knob->name),
                        trace::job::value_text(snapshot.knobs.next, *change.knob)});
  }
  return settings;
}

// By the name of its file or its own, as commands take it.
bool is_called(const trace::model::RunInfo& run, const std::string& called) {
  const std::filesystem::path file(run.folder);
  const std::string name = file_name(called);
  return file.filename() == name || file.stem() == name || run.name == called;
}

// Another program's run tells its settings only once it was learnt: what is set before is of one's
// own, and makes way for what is told then. Of one that is refused nothing will be told.
bool tells_settings(const state::Snapshot& snapshot) {
  const trace::model::RunInfo& run = snapshot.run->figures.info;
  if (run.imported_from.empty() || !snapshot.knobs.told.empty()) return true;
  const state::PredictionView* view = snapshot.prediction.get();
  return view != nullptr && view->folder == run.folder && !view->prediction &&
         !view->refused.empty();
}

}  // namespace

state::ViewAddress tune_address(const state::Snapshot& snapshot) {
  state::ViewAddress address;
  address.workspace = state::kTuneWorkspace;
  const state::RunView& run = *snapshot.run;
  address.run = file_name(run.figures.info.folder);
  // Of a run that goes on the latest; of any other a typical one would be chosen.
  const bool goes_on = run.follows_live && run.is_live && !snapshot.replay.active;
  if (!goes_on) address.step = run.selected_step;
  address.settings = predicted_settings(snapshot);
  return address;
}

state::ViewAddress compared_address(const state::ComparisonView& view) {
  state::ViewAddress address;
  address.workspace = state::kCompareWorkspace;
  for (const state::ComparedRun& run : view.runs) address.others.push_back(file_name(run.folder));
  address.run = std::move(address.others.front());
  address.others.erase(address.others.begin());
  address.step = view.step;
  return address;
}

void TuneWish::ask(const state::ViewAddress& address, bool takes_settings) {
  address_ = address;
  takes_settings_ = takes_settings || !address.settings.empty();
}

void TuneWish::fulfil(const state::Snapshot& snapshot, state::Commands& commands) {
  if (!address_ || !snapshot.run) return;
  const trace::model::RunInfo& run = snapshot.run->figures.info;
  if (!is_called(run, address_->run)) return;
  if (address_->step >= 0) {
    commands.push_back(state::SelectStep{std::exchange(address_->step, -1)});
  }
  if (takes_settings_ && !tells_settings(snapshot)) return;
  // What another program was told is not known as settings, but stands where nothing was set.
  if (takes_settings_ && run.imported_from.empty()) {
    commands.push_back(state::CopySettings{run.folder});
  } else if (takes_settings_ && address_->settings.empty()) {
    commands.push_back(state::ResetKnobs{});
  }
  for (const auto& [knob, value] : address_->settings) {
    commands.push_back(state::SetKnob{knob, value});
  }
  address_.reset();
}

}  // namespace shardlens::ui::window
