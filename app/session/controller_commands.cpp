#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "app/session/controller.h"
#include "app/session/files/text_file.h"
#include "app/session/runs/run_words.h"

namespace shardlens::app {

namespace {

constexpr const char* kRunIsGone = "This run is no longer in the library. Was its folder deleted?";

std::string why_not_ready(const ui::TrainerSetup& trainer) {
  using State = ui::TrainerSetup::State;
  if (trainer.state == State::kReady) return "";
  if (trainer.state == State::kInstalling) {
    return "The trainer is still being set up. Start once that is done.";
  }
  return trainer.message;
}

}  // namespace

void Controller::execute(const ui::Command& command) {
  std::visit([this](const auto& asked) { perform(asked); }, command);
  touch();
}

template <typename Command>
void Controller::perform(const Command& command) {
  if constexpr (std::is_same_v<Command, ui::SetKnob>) {
    baseline_.begin_change(rows());
    notice_.take(knobs_.set(command.name, command.text));
  } else if constexpr (std::is_same_v<Command, ui::ResetKnob>) {
    notice_.take(knobs_.reset(command.name));
  } else if constexpr (std::is_same_v<Command, ui::ResetKnobs>) {
    knobs_.reset_all();
    notice_.clear();
  } else if constexpr (std::is_same_v<Command, ui::StopRun>) {
    queue_.stop();
  } else if constexpr (std::is_same_v<Command, ui::CancelQueued>) {
    queue_.cancel_queued(command.id);
  } else if constexpr (std::is_same_v<Command, ui::MoveQueued>) {
    queue_.move_queued(command.id, command.places);
  } else if constexpr (std::is_same_v<Command, ui::SelectStep>) {
    watcher_.select_step(command.step);
  } else if constexpr (std::is_same_v<Command, ui::StopReplay>) {
    watcher_.stop_replay();
  } else if constexpr (std::is_same_v<Command, ui::SetReplayPlaying>) {
    watcher_.set_replay_playing(command.playing);
  } else if constexpr (std::is_same_v<Command, ui::SetReplaySpeed>) {
    replay_speed_ = command.speed;
    watcher_.set_replay_speed(replay_speed_);
  } else if constexpr (std::is_same_v<Command, ui::SeekReplay>) {
    watcher_.seek_replay(command.time_ns);
  } else if constexpr (std::is_same_v<Command, ui::RetryTrainerSetup>) {
    trainer_.retry();
  } else if constexpr (std::is_same_v<Command, ui::OpenPlan>) {
    planner_.open_card();
  } else if constexpr (std::is_same_v<Command, ui::ClosePlan>) {
    planner_.close_card();
  } else if constexpr (std::is_same_v<Command, ui::SetPlanTarget>) {
    notice_.take(planner_.set_target(command));
  } else if constexpr (std::is_same_v<Command, ui::CopyText>) {
    copied_text_ = command.text;
  } else if constexpr (requires { perform_on_run(command); }) {
    perform_on_run(command);
  } else if constexpr (requires { inspect_.carry_out(command); }) {
    inspect_.carry_out(command);
  } else if constexpr (std::is_same_v<Command, ui::Quit>) {
    quit_requested_ = true;
  } else {
    perform_on_files(command);
  }
}

void Controller::perform_on_run(const ui::StartRun& command) {
  if (const auto reason = why_not_ready(trainer_.state()); !reason.empty())
    return notice_.say_why_not(reason);
  const auto draft = knobs_.draft(taken_names());
  if (!draft.problems.empty()) return notice_.say_why_not(draft.problems.front().message);
  notice_.clear();
  baseline_.keep_settings();
  queue_.start({.settings = draft.next,
                .runs_dir = runs_dir_,
                .name = draft.next_name,
                .name_base = draft.baseline},
               command.stop_current);
}

void Controller::perform_on_files(const ui::SaveText& command) {
  note_saved(save_text(options_.save_dir, command.file_name, command.text));
}

void Controller::perform_on_files(const ui::SavePicture& command) { wanted_picture_ = command; }

void Controller::perform_on_files(const ui::PackRun& command) { packing_.pack(command.folder); }

void Controller::perform_on_run(const ui::ShowRun& command) {
  notice_.clear();
  watcher_.show(command.folder);
}

void Controller::perform_on_run(const ui::StartReplay& command) {
  notice_.clear();
  const auto folder =
      command.folder.empty() ? watch_state_->run : std::filesystem::path(command.folder);
  if (!folder.empty()) watcher_.start_replay(folder, replay_speed_);
}

void Controller::perform_on_run(const ui::SetBaseline& command) {
  const auto* row = row_of(rows(), command.folder);
  if (row == nullptr) return notice_.say_why_not(kRunIsGone);
  notice_.clear();
  baseline_.pin(*row);
}

void Controller::perform_on_run(const ui::CopySettings& command) {
  const auto* row = row_of(rows(), command.folder);
  if (row == nullptr) return notice_.say_why_not(kRunIsGone);
  notice_.clear();
  baseline_.begin_change(rows());
  knobs_.replace(row->settings);
}

void Controller::perform_on_run(const ui::UnpinBaseline&) {
  notice_.clear();
  baseline_.unpin(rows());
}

void Controller::perform_on_run(const ui::EditRuns& command) {
  notice_.clear();
  library_.change_words(command);
}

// What is on screen makes way first: nothing may read a run that goes.
void Controller::perform_on_run(const ui::DeleteRuns& command) {
  notice_.clear();
  const auto stays = [&](const ui::LedgerRow& row) {
    return std::ranges::find(command.folders, row.folder) == command.folders.end();
  };
  const auto next = std::ranges::find_if(rows(), stays);
  const auto* shown = row_of(rows(), watch_state_->run.string());
  if (shown != nullptr && !stays(*shown)) {
    watcher_.show(next == rows().end() ? std::string() : next->folder);
  }
  baseline_.leave(rows(), command.folders);
  library_.remove(command.folders);
}

void Controller::perform_on_run(const ui::ChangeBookmark& command) {
  const auto view = inspect_.view();
  const auto* row = view ? row_of(rows(), view->run_folder) : nullptr;
  if (row != nullptr && row->is_bundled) return notice_.say_why_not(kStaysAsItIs);
  const auto is_at_its_time = [&](const trace::Bookmark& bookmark) {
    return bookmark.time_ns == command.change.time_ns;
  };
  if (view && command.change.name && view->bookmarks.size() >= trace::kMostBookmarks &&
      std::ranges::none_of(view->bookmarks, is_at_its_time)) {
    return notice_.say_why_not("A run has at most " + std::to_string(trace::kMostBookmarks) +
                               " bookmarks. Remove one first.");
  }
  notice_.clear();
  inspect_.carry_out(command);
}

void Controller::perform_on_run(const ui::UndoDelete&) {
  notice_.clear();
  library_.undo_remove();
}

}  // namespace shardlens::app
