#include "app/session/controller.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <variant>

#include "app/launch/job_request.h"
#include "app/session/files/text_file.h"
#include "app/session/runs/run_words.h"
#include "trace/interop/kineto_import.h"

namespace shardlens::app::session {

namespace fs = std::filesystem;

namespace {

// Runs are recognised by their folder, so all go by one spelling.
fs::path one_spelling(const fs::path& path) {
  if (path.empty()) return path;
  std::error_code error;
  const auto full = fs::absolute(path, error);
  auto normal = (error ? path : full).lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

// The path with "~/" replaced, as a shell does.
fs::path full_path(std::string_view path, const fs::path& home) {
  if (home.empty() || !path.starts_with("~/")) return path;
  return home / path.substr(2);
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
      knobs_(options_.first_settings),
      planner_(options_.machine, wake),
      notice_(wake),
      trainer_(options_.trainer_status, options_.trainer_found, wake),
      library_({.runs_dir = runs_dir_,
                .bundled_dir = one_spelling(options_.bundled_dir),
                .awaited = one_spelling(options_.run).string()},
               notice_, wake),
      import_(runs_dir_, notice_),
      run_export_(options_.save_dir, notice_),
      inspect_(notice_, wake),
      predictor_(wake),
      comparison_(wake),
      shown_(options_.replay_speed, library_, notice_, wake),
      lessons_({options_.lessons, runs_dir_, one_spelling(options_.bundled_dir)}, wake),
      job_(options_.start_job, notice_, wake),
      sweeps_(runs_dir_, job_.queue(), notice_, wake) {
  if (!options_.run.empty()) shown_.open(one_spelling(options_.run), options_.replay);
}

void Controller::note_saved(const trace::base::Result<fs::path>& file) {
  if (!file) return notice_.say_why_not(file.error().message);
  notice_.say("Saved " + fs::absolute(*file).lexically_normal().string());
}

std::shared_ptr<const ui::state::Snapshot> Controller::snapshot() {
  follow_job();
  follow_library();
  follow_shown();
  follow_lessons();
  follow_import();
  follow_inspect();
  if (snapshot_ && comparison_.view() != snapshot_->comparison) touch();
  if (auto now = trainer_.state(); std::exchange(trainer_state_, now) != now) touch();
  if (planner_.has_news() || predictor_.has_news()) touch();
  if (sweeps_.follow()) touch();
  if (notice_.take_change()) touch();
  if (!std::exchange(changed_, false) && snapshot_) return snapshot_;

  auto next = std::make_shared<ui::state::Snapshot>();
  next->run = shown_.now().view;
  // Which is not the same as that there is nothing.
  next->is_loading = !next->run && (shown_.is_opening() || !library_state_.loaded);
  next->inspect = inspect_.view();
  next->ledger =
      ledger_.with_live(library_state_.ledger, shown_.now().replay.active ? nullptr : next->run);
  next->knobs = knobs_.draft(taken_names());
  planner_.complete(next->knobs);
  next->prediction = predictor_.view(next->knobs, library_state_.ledger);
  next->advice = predictor_.advice();
  next->plan = planner_.card(knobs_.next());
  next->sweep = sweeps_.view(knobs_.next(), rows());
  next->comparison = comparison_.view();
  next->lessons = lessons_.shelf();
  next->gone_to = gone_to_;
  next->job = job_.state(shown_.now());
  next->trainer = trainer_state_;
  next->replay = shown_.now().replay;
  const auto [notice, notice_is_error] = notice_.words();
  next->notice = notice;
  next->notice_is_error = notice_is_error;
  next->file_work = file_work();
  asks_to_close_ = asks_to_close_ && is_at_work();
  next->asks_to_close = asks_to_close_;
  next->version = snapshot_ ? snapshot_->version + 1 : 1;
  snapshot_ = std::move(next);
  return snapshot_;
}

bool Controller::is_at_work() const {
  const auto queue = job_.queue().state();
  return queue.phase != ui::state::JobPhase::kNone || !queue.queued.empty() ||
         sweeps_.is_running() || !file_work().empty();
}

std::vector<std::string> Controller::file_work() const {
  auto work = import_.under_way();
  if (auto writing = run_export_.under_way(); !writing.empty()) work.push_back(std::move(writing));
  return work;
}

std::vector<std::string> Controller::taken_names() const {
  std::vector<std::string> names;
  for (const auto& row : rows()) {
    if (!row.is_bundled) names.push_back(row.name);
  }
  std::ranges::move(job_.names(), std::back_inserter(names));
  return names;
}

// ---- what the workers have published ------------------------------------------------------------

void Controller::follow_job() {
  const fs::path before = job_.folder();
  const auto news = job_.follow();
  if (!news.is_any) return;
  shown_.watcher().set_own_job(job_.recorded_folder());
  library_.set_own_job(job_.recorded_folder().string());
  if (news.has_started) before_lessons_.follow_job(before, job_.folder());
  if (news.has_started && shown_.makes_way_for_job(before)) show_new_run(job_.folder());
  if (news.has_started || news.is_idle) shown_.stop_awaiting();
  if (news.has_started || news.has_ended) library_.refresh();
  touch();
}

void Controller::follow_library() {
  auto now = library_.state();
  if (now.version != library_state_.version) {
    library_state_ = std::move(now);
    next_.follow_library(library_state_);
    sweeps_.follow_library();
    comparison_.follow_library(rows());
    shown_.watcher().look_again();
    touch();
  }
  if (library_state_.loaded) shown_.open_first(rows());
}

void Controller::follow_shown() {
  if (shown_.follow(rows())) touch();
  const WatchState& now = shown_.now();
  // A replay shows only what there was until then.
  predictor_.follow(now.replay.active ? nullptr : now.view, now.replacements);
  if (auto view = job_.take_new_view(now)) library_.set_live(std::move(view));
  // Before anything is asked of the run on screen.
  const auto told = predictor_.told();
  const bool tells_others =
      told ? knobs_.show_told(told->info().folder, &*told->told()) : knobs_.show_told("", nullptr);
  if (tells_others) touch();
}

void Controller::follow_lessons() {
  if (snapshot_ && lessons_.shelf() != snapshot_->lessons) touch();
  // Before the library was read, what is to be had back is not on screen yet.
  if (!library_state_.loaded) return;
  if (const auto found = lessons_.take_found()) go_to(*found);
}

void Controller::go_to(const FoundView& found) {
  touch();
  page_problem_ = found.problem;
  if (!found.problem.empty()) return notice_.say_why_not(found.problem);
  notice_.clear();
  before_lessons_.keep();
  // As where another run is chosen to be looked at.
  if (shown_.stop_awaiting()) before_lessons_.await_start();
  shown_.open_anew(one_spelling(found.runs.front()), found.replay_speed);
  if (found.runs.size() > 1) compare(found.runs, found.address.step);
  gone_to_ = std::make_shared<const ui::state::ViewAddress>(found.address);
}

void Controller::follow_import() {
  const auto imported = import_.take_imported();
  if (!imported) return;
  library_.refresh();
  show_new_run(one_spelling(*imported));
  touch();
}

void Controller::follow_inspect() {
  if (!looks_around_) return;
  // Not after its figures, which take a while to be made of a large run.
  const auto run = shown_.asked_run();
  const WatchState& now = shown_.now();
  const bool is_read = now.view && now.run == run, replays = is_read && now.replay.active;
  inspect_.show(run, is_read && now.view->is_live && !replays, now.replacements);
  inspect_.show_until(replays ? now.replay.now_ns : INT64_MAX);
  if (!snapshot_ || inspect_.view() != snapshot_->inspect) touch();
}

void Controller::show_new_run(const fs::path& run) {
  before_lessons_.show_instead(run);
  shown_.open(run);
}

// ---- commands -----------------------------------------------------------------------------------

void Controller::execute(const ui::state::Command& command) {
  std::visit(
      [this](const auto& asked) {
        if constexpr (requires { this->carry_out(asked); }) {
          carry_out(asked);
        } else if constexpr (requires { next_.carry_out(asked); }) {
          next_.carry_out(asked);
        } else if constexpr (requires { shown_.carry_out(asked); }) {
          shown_.carry_out(asked);
        } else if constexpr (requires { inspect_.carry_out(asked); }) {
          inspect_.carry_out(asked);
        } else {
          sweeps_.carry_out(asked);
        }
      },
      command);
  touch();
}

void Controller::carry_out(const ui::state::ShowLessons& command) {
  if (command.is_shown) return lessons_.enter();
  lessons_.leave();
  notice_.take_back(page_problem_);
  const bool awaits_start = before_lessons_.bring_back(rows(), runs_dir_);
  shown_.await_start(awaits_start && !job_.is_idle());
}

void Controller::carry_out(const ui::state::Quit&) {
  quit_requested_ = asks_to_close_ || !is_at_work();
  asks_to_close_ = !quit_requested_;
}

void Controller::carry_out(const ui::state::SetReplaySpeed& command) {
  // Of a page that is played it goes with the page.
  shown_.set_replay_speed(command.speed, !before_lessons_.is_kept());
}

void Controller::carry_out(const ui::state::StartRun& command) {
  if (const auto reason = why_not_ready(trainer_.state()); !reason.empty())
    return notice_.say_why_not(reason);
  const auto draft = knobs_.draft(taken_names());
  if (!draft.problems.empty()) return notice_.say_why_not(draft.problems.front().message);
  notice_.clear();
  next_.keep(draft.next);
  shown_.await_start(job_.is_idle() || command.stop_current);
  job_.queue().start(
      {.settings = draft.next,
       .runs_dir = runs_dir_,
       .name = draft.next_name,
       .numbers_name = true,  // another run may have it by its turn
       .name_base = draft.baseline,
       .predicted = predictor_.to_keep(draft, library_state_.ledger, options_.machine)},
      command.stop_current);
}

void Controller::carry_out(const ui::state::ShowPlan& command) {
  if (!command.is_shown) return planner_.close_card();
  notice_.clear();
  planner_.open_card();
}

void Controller::carry_out(const ui::state::OpenSweepCard& command) {
  notice_.clear();
  if (command.searches) return sweeps_.open_search_card();
  sweeps_.open_card(knobs_.draft(taken_names()), command.knob);
}

void Controller::carry_out(const ui::state::StartSweep&) {
  if (const auto reason = why_not_ready(trainer_.state()); !reason.empty())
    return notice_.say_why_not(reason);
  const bool at_once = job_.is_idle();
  const auto started = sweeps_.start(knobs_.next(), rows());
  if (started) next_.keep(knobs_.next());
  shown_.await_start(started && at_once);
  notice_.take(started);
}

void Controller::carry_out(const ui::state::ResumeSweep& command) {
  shown_.await_start(job_.is_idle());
  sweeps_.carry_out(command);
}

void Controller::carry_out(const ui::state::SaveText& command) {
  note_saved(save_text(options_.save_dir, command.file_name, command.text));
}

void Controller::carry_out(const ui::state::OpenFiles& command) {
  notice_.clear();
  std::vector<fs::path> traces, runs;
  std::string left_out;  // beside what is opened
  const auto leave_out = [&](const fs::path& path) {
    left_out += (left_out.empty() ? "" : ", ") + path.filename().string();
  };
  for (const std::string& asked : command.paths) {
    const fs::path path = full_path(asked, options_.home);
    if (const auto is_taken_over = next_.take_over(path)) {
      if (!*is_taken_over) leave_out(path);
    } else {
      (trace::interop::may_be_kineto(path) ? traces : runs).push_back(path);
    }
  }
  if (!traces.empty()) {
    std::ranges::for_each(runs, leave_out);
  } else if (!runs.empty()) {
    show_new_run(one_spelling(runs.front()));
  }
  import_.add(std::move(traces), std::move(left_out));
}

void Controller::carry_out(const ui::state::CompareRuns& command) {
  notice_.clear();
  if (command.folders.size() > trace::analysis::kMostCompared) {
    return notice_.say_why_not("Up to " + std::to_string(trace::analysis::kMostCompared) +
                               " runs can be compared. Take one away first.");
  }
  compare(command.folders, command.step);
}

void Controller::compare(const std::vector<std::string>& folders, std::int64_t step) {
  std::vector<std::string> spelled;
  for (const std::string& folder : folders) spelled.push_back(one_spelling(folder).string());
  comparison_.choose({compared_runs(spelled, rows()), step, runs_dir_});
}

void Controller::carry_out(const ui::state::CopySettingsAs& command) {
  // Beside another program's run they are for where that ran.
  const auto told = predictor_.told();
  const bool on_gpu = told ? told->info().device == "cuda"
                           : !launch::runs_on_cpu(knobs_.next(), options_.machine.cuda);
  if (auto text = next_.take_home(command, on_gpu)) copied_text_ = std::move(text);
}

void Controller::carry_out(const ui::state::EditRuns& command) {
  notice_.clear();
  library_.change_words(command);
}

// What is on screen makes way first: nothing may read a run that goes.
void Controller::carry_out(const ui::state::DeleteRuns& command) {
  notice_.clear();
  shown_.leave(command.folders, rows());
  const auto goes = [&](const std::string& folder) {
    return std::ranges::find(command.folders, folder) != command.folders.end();
  };
  auto compared = comparison_.folders();
  if (std::erase_if(compared, goes) > 0) compare(compared, -1);
  next_.baseline().leave(command.folders);
  before_lessons_.leave(command.folders);
  library_.remove(command.folders);
}

void Controller::carry_out(const ui::state::ChangeBookmark& command) {
  const auto view = inspect_.view();
  const auto* row = view ? row_of(rows(), view->run_folder) : nullptr;
  if (row != nullptr && row->is_bundled) {
    return notice_.say_why_not("Bookmarks are kept with their run. " + std::string(kStaysAsItIs));
  }
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

void Controller::carry_out(const ui::state::UndoDelete&) {
  notice_.clear();
  next_.baseline().expect_back();
  library_.undo_remove();
}

}  // namespace shardlens::app::session
