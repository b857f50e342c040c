#include "app/session/controller.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "app/session/files/text_file.h"
#include "app/session/jobs/job_progress.h"
#include "app/session/runs/run_words.h"
#include "trace/frameworks/write/framework_export.h"
#include "trace/interop/kineto_import.h"

namespace shardlens::app::session {

namespace fs = std::filesystem;
using trace::model::RunStatus;
using ui::state::JobPhase;

namespace {

// Runs are recognised by their folder, so all go by one spelling.
fs::path one_spelling(const fs::path& path) {
  if (path.empty()) return path;
  std::error_code error;
  const auto full = fs::absolute(path, error);
  auto normal = (error ? path : full).lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

bool same(const ui::state::TrainerSetup& a, const ui::state::TrainerSetup& b) {
  return a.state == b.state && a.message == b.message && a.fraction == b.fraction;
}

constexpr const char* kRunIsGone = "This run is no longer in the library. Was its folder deleted?";

std::string copied_notice(const trace::frameworks::FrameworkFile& file) {
  std::string text = "Copied; start with: " + file.start;
  const char* separator = ". Left out: ";
  for (const auto& each : file.left_out) {
    text += separator + std::string(each.knob) + " (" + each.reason + ")";
    separator = ", ";
  }
  return text;
}

std::string why_not_ready(const ui::state::TrainerSetup& trainer) {
  using State = ui::state::TrainerSetup::State;
  if (trainer.state == State::kReady) return "";
  if (trainer.state == State::kInstalling) {
    return "The trainer is still being set up. Start once that is done.";
  }
  return trainer.message;
}

}  // namespace

Controller::Controller(ControllerOptions options, std::function<void()> wake)
    : runs_dir_(one_spelling(options.runs_dir)),
      options_(std::move(options)),
      planner_(options_.machine, wake),
      notice_(wake),
      replay_speed_(options_.replay_speed),
      watch_state_(std::make_shared<const WatchState>()),
      trainer_(options_.trainer_status, options_.trainer_found, wake),
      library_({.runs_dir = runs_dir_,
                .bundled_dir = one_spelling(options_.bundled_dir),
                .awaited = one_spelling(options_.run).string()},
               wake),
      import_(runs_dir_, notice_),
      packing_(options_.save_dir, notice_),
      inspect_(notice_, wake),
      predictor_(wake),
      comparison_(wake),
      watcher_(wake),
      job_watcher_(wake),
      queue_(options_.start_job, notice_, wake),
      sweeps_(runs_dir_, queue_, notice_, wake) {
  knobs_.replace(options_.first_settings);
  knobs_.set_baseline(options_.first_settings, "", "");
  if (options_.run.empty()) return;
  first_run_opened_ = true;
  const auto run = one_spelling(options_.run);
  if (options_.replay) {
    watcher_.start_replay(run, replay_speed_);
  } else {
    watcher_.show(run);
  }
}

std::optional<std::string> Controller::take_copied_text() {
  return std::exchange(copied_text_, std::nullopt);
}

std::optional<ui::state::SavePicture> Controller::take_wanted_picture() {
  return std::exchange(wanted_picture_, std::nullopt);
}

void Controller::note_saved(const trace::base::Result<fs::path>& file) {
  if (!file) return notice_.say_why_not(file.error().message);
  notice_.say("Saved " + fs::absolute(*file).lexically_normal().string());
}

std::shared_ptr<const ui::state::Snapshot> Controller::snapshot() {
  follow_queue();
  follow_library();
  follow_watch();
  follow_import();
  follow_inspect();
  follow_comparison();
  if (auto trainer = trainer_.state(); !same(trainer, trainer_state_)) {
    trainer_state_ = std::move(trainer);
    touch();
  }
  if (auto job_watch = job_watcher_.state()->version; job_watch != seen_.job_watch) {
    seen_.job_watch = job_watch;
    touch();
  }
  if (planner_.has_news() || predictor_.has_news() || sweeps_.follow()) touch();
  if (notice_.take_change()) touch();
  if (!std::exchange(changed_, false) && snapshot_) return snapshot_;

  auto next = std::make_shared<ui::state::Snapshot>();
  next->run = watch_state_->view;
  next->is_loading = is_loading();
  next->inspect = inspect_.view();
  next->ledger = library_state_.ledger;
  next->knobs = knobs_.draft(taken_names());
  planner_.complete(next->knobs);
  next->prediction = predictor_.view(next->knobs, next->ledger);
  next->advice = predictor_.advice();
  next->plan = planner_.card(knobs_.next());
  next->sweep = sweeps_.view(knobs_.next(), rows());
  next->comparison = comparison_.view();
  next->job = job_state();
  next->trainer = trainer_state_;
  next->replay = watch_state_->replay;
  const auto [notice, notice_is_error] = notice_.words();
  next->notice = notice;
  next->notice_is_error = notice_is_error;
  next->version = snapshot_ ? snapshot_->version + 1 : 1;
  snapshot_ = std::move(next);
  return snapshot_;
}

// Nothing can be shown yet, which is not the same as that there is nothing.
bool Controller::is_loading() const {
  if (watch_state_->view) return false;
  const bool opens_run = !watcher_.asked_run().empty() && watch_state_->problem.empty();
  return opens_run || !library_state_.loaded;
}

// ---- what the workers have published ------------------------------------------------------------

void Controller::follow_queue() {
  auto now = queue_.state();
  if (now.version == seen_.queue) return;
  seen_.queue = now.version;
  const auto before = std::exchange(queue_state_, std::move(now));
  // The queue leaves these phases only once the run's file says how it ended.
  const bool runs =
      queue_state_.phase == JobPhase::kRunning || queue_state_.phase == JobPhase::kStopping;
  const auto own_job = runs ? queue_state_.folder : fs::path();
  watcher_.set_own_job(own_job);
  job_watcher_.set_own_job(own_job);
  library_.set_own_job(own_job.string());
  if (queue_state_.started != before.started) {
    watcher_.show(queue_state_.folder);
    job_watcher_.show({});
    first_run_opened_ = true;
  }
  if (queue_state_.started != before.started || queue_state_.ended != before.ended) {
    library_.refresh();
  }
  if (queue_state_.phase == JobPhase::kNone) job_watcher_.show({});
  touch();
}

void Controller::follow_library() {
  auto now = library_.state();
  if (now.version != seen_.library) {
    seen_.library = now.version;
    library_state_ = std::move(now);
    if (library_state_.loaded && !baseline_.is_chosen()) {
      baseline_.choose_first(rows(), library_state_.pinned_baseline);
    }
    baseline_.follow_words(rows());
    sweeps_.follow_library();
    if (std::exchange(answers_, library_state_.answers) != library_state_.answers &&
        !library_state_.answer.empty()) {
      notice_.say_why_not(library_state_.answer);
    }
    comparison_.follow_library(comparison_of(chosen_to_compare()).runs, rows().size());
    touch();
  }
  if (library_state_.loaded && !first_run_opened_) open_first_run();
}

void Controller::follow_watch() {
  auto now = watcher_.state();
  if (now->version != seen_.watch) {
    seen_.watch = now->version;
    const auto before = std::exchange(watch_state_, std::move(now));
    if (!watch_state_->problem.empty() && watch_state_->problem != before->problem) {
      notice_.say_why_not(watch_state_->problem);
    }
    if (watch_state_->run != before->run) asked_label_ = {};
    library_.set_shown(watch_state_->run.string());
    give_figures_to_library(*before);
    // A replay shows only what there was until then.
    predictor_.follow(watch_state_->replay.active ? nullptr : watch_state_->view);
    touch();
  }
  if (const auto* row = row_of(rows(), watch_state_->run.string());
      row != nullptr && watch_state_->view) {
    const RunLabel label{row->ordinal, row->name};
    if (std::exchange(asked_label_, label) != label) watcher_.set_label(watch_state_->run, label);
  }
  if (auto view = job_view(); view && view != live_view_) {
    live_view_ = view;
    library_.set_live(view);
    queue_.observe(std::move(view));
  }
}

void Controller::perform_on_files(const ui::state::OpenFiles& command) {
  std::vector<fs::path> traces, runs;
  for (const fs::path path : command.paths) {
    if (const auto settings = read_dropped_settings(path)) {
      take_over(*settings);
    } else {
      (trace::interop::may_be_kineto(path) ? traces : runs).push_back(path);
    }
  }
  if (!runs.empty()) perform_on_run(ui::state::ShowRun{one_spelling(runs.front())});
  import_.add(std::move(traces));
}

void Controller::take_over(const trace::base::Result<DroppedSettings>& dropped) {
  if (!dropped) return notice_.say_why_not(dropped.error().message);
  notice_.say(dropped->notice);
  baseline_.begin_change(rows());
  knobs_.replace(dropped->settings);
}

// What is read for the screen is not read for the ledger again.
void Controller::give_figures_to_library(const WatchState& before) {
  const auto& view = watch_state_->view;
  const bool waits = !view && watch_state_->problem.empty();
  library_.set_awaited(waits ? watch_state_->run.string() : "");
  const bool has_ended = view && !watch_state_->replay.active && !view->is_live &&
                         view->figures.info.status != RunStatus::kRunning;
  if (has_ended && view != before.view) library_.set_figures(view);
}

void Controller::follow_import() {
  const auto imported = import_.take_imported();
  if (!imported) return;
  library_.refresh();
  watcher_.show(one_spelling(*imported));
  first_run_opened_ = true;
  touch();
}

void Controller::follow_inspect() {
  if (!looks_around_) return;
  // Not after its figures, which take a while to be made of a large run.
  const auto run = watcher_.asked_run();
  const bool is_read = watch_state_->view && watch_state_->run == run;
  inspect_.show(run, is_read && watch_state_->view->is_live && !watch_state_->replay.active);
  const bool replays = is_read && watch_state_->replay.active;
  inspect_.show_until(replays ? watch_state_->replay.now_ns : INT64_MAX);
  if (!snapshot_ || inspect_.view() != snapshot_->inspect) touch();
}

void Controller::follow_comparison() {
  if (snapshot_ && comparison_.view() != snapshot_->comparison) touch();
}

std::vector<std::string> Controller::chosen_to_compare() const {
  std::vector<std::string> folders;
  for (const auto& run : comparison_.runs()) folders.push_back(run.folder);
  return folders;
}

ComparisonQuestion Controller::comparison_of(const std::vector<std::string>& folders) const {
  ComparisonQuestion question{.runs = {}, .runs_dir = runs_dir_};
  for (const std::string& folder : folders) {
    const auto* row = row_of(rows(), folder);
    question.runs.push_back(
        {folder, row != nullptr ? RunLabel{row->ordinal, row->name} : RunLabel{}});
  }
  return question;
}

void Controller::open_first_run() {
  first_run_opened_ = true;
  const auto* row = newest_own_run(rows(), false);
  if (row == nullptr && !rows().empty()) row = &rows().front();
  if (row != nullptr) watcher_.show(row->folder);
}

// The job's figures, whichever run is on screen; null until there are any.
std::shared_ptr<const ui::state::RunView> Controller::job_view() {
  if (queue_state_.folder.empty() || queue_state_.phase == JobPhase::kNone) return nullptr;
  const bool on_screen = watch_state_->run == queue_state_.folder && !watch_state_->replay.active;
  const auto beside = job_watcher_.state();
  if (on_screen) {
    if (!beside->run.empty()) job_watcher_.show({});
    return watch_state_->view;
  }
  if (beside->run != queue_state_.folder) {
    job_watcher_.show(queue_state_.folder);
    return nullptr;
  }
  return beside->view;
}

ui::state::JobState Controller::job_state() {
  ui::state::JobState job;
  job.phase = queue_state_.phase;
  job.run_name = queue_state_.run_name;
  job.queued = queue_state_.queued;
  if (job.phase == JobPhase::kNone || job.phase == JobPhase::kStarting) return job;
  if (const auto view = job_view()) {
    const auto progress = progress_of(view->figures);
    job.step = progress.step;
    job.steps = progress.steps;
    job.seconds_left = progress.seconds_left;
  }
  return job;
}

// ---- the library, as commands need it -----------------------------------------------------------

std::vector<std::string> Controller::taken_names() const {
  std::vector<std::string> names;
  for (const auto& row : rows()) {
    if (!row.is_bundled) names.push_back(row.name);
  }
  if (queue_state_.phase != JobPhase::kNone) names.push_back(queue_state_.run_name);
  for (const auto& job : queue_state_.queued) names.push_back(job.name);
  return names;
}

void Controller::execute(const ui::state::Command& command) {
  std::visit([this](const auto& asked) { perform(asked); }, command);
  touch();
}

template <typename Command>
void Controller::perform(const Command& command) {
  if constexpr (std::is_same_v<Command, ui::state::SetKnob>) {
    baseline_.begin_change(rows());
    notice_.take(knobs_.set(command.name, command.text));
  } else if constexpr (std::is_same_v<Command, ui::state::ResetKnob>) {
    notice_.take(knobs_.reset(command.name));
  } else if constexpr (std::is_same_v<Command, ui::state::ResetKnobs>) {
    knobs_.reset_all();
    notice_.clear();
  } else if constexpr (std::is_same_v<Command, ui::state::StopRun>) {
    queue_.stop();
  } else if constexpr (std::is_same_v<Command, ui::state::CancelQueued>) {
    queue_.cancel_queued(command.id);
  } else if constexpr (std::is_same_v<Command, ui::state::MoveQueued>) {
    queue_.move_queued(command.id, command.places);
  } else if constexpr (std::is_same_v<Command, ui::state::SelectStep>) {
    watcher_.select_step(command.step);
  } else if constexpr (std::is_same_v<Command, ui::state::StopReplay>) {
    watcher_.stop_replay();
  } else if constexpr (std::is_same_v<Command, ui::state::SetReplayPlaying>) {
    watcher_.set_replay_playing(command.playing);
  } else if constexpr (std::is_same_v<Command, ui::state::SetReplaySpeed>) {
    replay_speed_ = command.speed;
    watcher_.set_replay_speed(replay_speed_);
  } else if constexpr (std::is_same_v<Command, ui::state::SeekReplay>) {
    watcher_.seek_replay(command.time_ns);
  } else if constexpr (std::is_same_v<Command, ui::state::RetryTrainerSetup>) {
    trainer_.retry();
  } else if constexpr (std::is_same_v<Command, ui::state::OpenPlan>) {
    planner_.open_card();
  } else if constexpr (std::is_same_v<Command, ui::state::ClosePlan>) {
    planner_.close_card();
  } else if constexpr (std::is_same_v<Command, ui::state::SetPlanTarget>) {
    notice_.take(planner_.set_target(command));
  } else if constexpr (std::is_same_v<Command, ui::state::CopyText>) {
    copied_text_ = command.text;
  } else if constexpr (requires { perform_on_run(command); }) {
    perform_on_run(command);
  } else if constexpr (requires { inspect_.carry_out(command); }) {
    inspect_.carry_out(command);
  } else if constexpr (requires { sweeps_.carry_out(command); }) {
    sweeps_.carry_out(command);
  } else if constexpr (std::is_same_v<Command, ui::state::Quit>) {
    quit_requested_ = true;
  } else {
    perform_on_files(command);
  }
}

std::optional<trace::model::StepPrediction> Controller::predicted_step(
    const ui::state::KnobDraft& draft) {
  const auto view = predictor_.view(draft, library_state_.ledger);
  if (!view || !view->prediction || view->prediction->changes.empty()) return std::nullopt;
  // Of another job than the one that starts.
  if (!trace::model::has_settings(watch_state_->view->figures.info)) return std::nullopt;
  // Of a part of what changes: no prediction of this run.
  if (!view->prediction->left_out.empty()) return std::nullopt;
  return trace::tuning::kept_prediction(*view->prediction, watch_state_->view->figures.info.name);
}

void Controller::perform_on_run(const ui::state::StartRun& command) {
  if (const auto reason = why_not_ready(trainer_.state()); !reason.empty())
    return notice_.say_why_not(reason);
  const auto draft = knobs_.draft(taken_names());
  if (!draft.problems.empty()) return notice_.say_why_not(draft.problems.front().message);
  notice_.clear();
  baseline_.keep_settings();
  queue_.start({.settings = draft.next,
                .runs_dir = runs_dir_,
                .name = draft.next_name,
                .name_base = draft.baseline,
                .predicted = predicted_step(draft)},
               command.stop_current);
}

void Controller::perform_on_run(const ui::state::OpenSweepCard& command) {
  notice_.clear();
  if (command.searches) return sweeps_.open_search_card();
  sweeps_.open_card(knobs_.draft(taken_names()), command.knob);
}

void Controller::perform_on_run(const ui::state::StartSweep&) {
  if (const auto reason = why_not_ready(trainer_.state()); !reason.empty())
    return notice_.say_why_not(reason);
  notice_.take(sweeps_.start(knobs_.next(), rows()));
}

void Controller::perform_on_files(const ui::state::SaveText& command) {
  note_saved(save_text(options_.save_dir, command.file_name, command.text));
}

void Controller::perform_on_files(const ui::state::SavePicture& command) {
  wanted_picture_ = command;
}

void Controller::perform_on_files(const ui::state::PackRun& command) {
  packing_.pack(command.folder);
}

void Controller::perform_on_run(const ui::state::ShowRun& command) {
  notice_.clear();
  watcher_.show(command.folder);
}

void Controller::perform_on_run(const ui::state::CompareRuns& command) {
  notice_.clear();
  auto question = comparison_of(command.folders);
  question.step = command.step;
  if (question.runs.size() > trace::analysis::kMostCompared) {
    return notice_.say_why_not("Up to " + std::to_string(trace::analysis::kMostCompared) +
                               " runs can be compared. Take one away first.");
  }
  comparison_.choose(std::move(question));
}

void Controller::perform_on_run(const ui::state::StartReplay& command) {
  notice_.clear();
  const auto folder =
      command.folder.empty() ? watch_state_->run : std::filesystem::path(command.folder);
  if (!folder.empty()) watcher_.start_replay(folder, replay_speed_);
}

void Controller::perform_on_run(const ui::state::SetBaseline& command) {
  const auto* row = row_of(rows(), command.folder);
  if (row == nullptr) return notice_.say_why_not(kRunIsGone);
  notice_.clear();
  baseline_.pin(*row);
}

void Controller::perform_on_run(const ui::state::CopySettings& command) {
  const auto* row = row_of(rows(), command.folder);
  if (row == nullptr) return notice_.say_why_not(kRunIsGone);
  notice_.clear();
  baseline_.begin_change(rows());
  knobs_.replace(row->settings);
}

void Controller::perform_on_run(const ui::state::CopySettingsAs& command) {
  const auto* row = row_of(rows(), command.folder);
  const auto format = trace::frameworks::find_export_format(command.format);
  if (row == nullptr || !format) return notice_.say_why_not(kRunIsGone);
  notice_.clear();
  trace::frameworks::TunedJob job{row->settings, row->name, row->nodes, row->on_gpu};
  if (row->ranks > 0) job.settings.ranks = row->ranks;
  const auto file = trace::frameworks::framework_export(*format, job);
  copied_text_ = file.text;
  // The others say it in comments.
  if (format == trace::frameworks::ExportFormat::kDeepSpeed) notice_.say(copied_notice(file));
}

void Controller::perform_on_run(const ui::state::UnpinBaseline&) {
  notice_.clear();
  baseline_.unpin(rows());
}

void Controller::perform_on_run(const ui::state::EditRuns& command) {
  notice_.clear();
  library_.change_words(command);
}

// What is on screen makes way first: nothing may read a run that goes.
void Controller::perform_on_run(const ui::state::DeleteRuns& command) {
  notice_.clear();
  const auto stays = [&](const ui::state::LedgerRow& row) {
    return std::ranges::find(command.folders, row.folder) == command.folders.end();
  };
  const auto next = std::ranges::find_if(rows(), stays);
  const auto* shown = row_of(rows(), watch_state_->run.string());
  if (shown != nullptr && !stays(*shown)) {
    watcher_.show(next == rows().end() ? std::string() : next->folder);
  }
  auto compared = chosen_to_compare();
  const auto left = std::erase_if(compared, [&](const std::string& folder) {
    return std::ranges::find(command.folders, folder) != command.folders.end();
  });
  if (left > 0) comparison_.choose(comparison_of(compared));
  baseline_.leave(rows(), command.folders);
  library_.remove(command.folders);
}

void Controller::perform_on_run(const ui::state::ChangeBookmark& command) {
  const auto view = inspect_.view();
  const auto* row = view ? row_of(rows(), view->run_folder) : nullptr;
  if (row != nullptr && row->is_bundled) return notice_.say_why_not(kStaysAsItIs);
  const auto is_at_its_time = [&](const trace::model::Bookmark& bookmark) {
    return bookmark.time_ns == command.change.time_ns;
  };
  if (view && command.change.name && view->bookmarks.size() >= trace::model::kMostBookmarks &&
      std::ranges::none_of(view->bookmarks, is_at_its_time)) {
    return notice_.say_why_not("A run has at most " + std::to_string(trace::model::kMostBookmarks) +
                               " bookmarks. Remove one first.");
  }
  notice_.clear();
  inspect_.carry_out(command);
}

void Controller::perform_on_run(const ui::state::UndoDelete&) {
  notice_.clear();
  library_.undo_remove();
}

}  // namespace shardlens::app::session
