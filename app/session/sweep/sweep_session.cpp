#include "app/session/sweep/sweep_session.h"

#include <utility>

namespace shardlens::app::session {

using ui::state::ShownSweep;
using ui::state::SweepPhase;
using ui::state::SweepView;

namespace {

constexpr std::chrono::seconds kLookElsewhereEvery{1};

}  // namespace

SweepSession::SweepSession(const std::filesystem::path& runs_dir, JobQueue& queue, Notice& notice,
                           const std::function<void()>& on_change)
    : drafting_(runs_dir, on_change),
      reader_(runs_dir, on_change),
      runner_(runs_dir, queue, notice, on_change) {}

void SweepSession::show(const std::string& name) {
  is_wanted_ = true;
  asked_ = name;
  reader_.show(name);
}

void SweepSession::carry_out(const ui::state::ShowSweep& command) {
  show(command.name.empty() ? run_state_.name : command.name);
}

void SweepSession::carry_out(const ui::state::ResumeSweep& command) {
  sweep::SweepRequest request;
  request.name = command.name;
  runner_.start(std::move(request));
  show(command.name);
}

void SweepSession::open_card(const ui::state::KnobDraft& knobs, const std::string& knob) {
  is_wanted_ = true;
  drafting_.open(proposed_sweep(knobs, knob));
}

void SweepSession::open_search_card() {
  is_wanted_ = true;
  ui::state::SweepDraft draft;
  draft.search.emplace();
  drafting_.open(std::move(draft));
}

trace::base::Result<void> SweepSession::start(const trace::job::Settings& settings,
                                              LedgerRows rows) {
  TRY_ASSIGN(auto request, drafting_.request(settings, rows));
  const std::string name = request.name;
  runner_.start(std::move(request));
  drafting_.close();
  show(name);
  return {};
}

void SweepSession::follow_library() {
  if (is_wanted_) reader_.show(asked_);
}

bool SweepSession::follow() {
  bool is_new = drafting_.take_news();
  if (auto now = runner_.state(); now.version != run_state_.version) {
    run_state_ = std::move(now);
    if (is_wanted_) asked_since_ = reader_.show(asked_);
    is_new = true;
  }
  if (auto now = reader_.state(); now.version != read_.version) {
    read_ = std::move(now);
    is_new = true;
  }
  if (is_elsewhere()) {
    // How it ended here does not matter any more.
    if (run_state_.ended == read_.shown->name) run_state_.ended.clear();
    look_elsewhere();
  }
  return is_new;
}

// Its last run comes into the library before it is over there.
void SweepSession::look_elsewhere() {
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_elsewhere_ < kLookElsewhereEvery) return;
  looked_elsewhere_ = now;
  reader_.look_again();
}

// By another program, or another window; what was read while this one held it does not say so.
bool SweepSession::is_elsewhere() const {
  if (!read_.shown || read_.shown->phase != SweepPhase::kElsewhere) return false;
  const std::string& name = read_.shown->name;
  return name != run_state_.name && (name != run_state_.ended || read_.asked >= asked_since_);
}

// As it was read, and whether it runs by now.
std::shared_ptr<const ShownSweep> SweepSession::made_shown() const {
  const auto& read = read_.shown;
  const std::string& running = run_state_.name;
  if (!read || (!asked_.empty() && read->name != asked_)) {
    if (asked_.empty() || asked_ != running) return nullptr;
    // Nothing of it is on disk yet.
    return std::make_shared<const ShownSweep>(
        ShownSweep{.name = running, .phase = SweepPhase::kRunning});
  }
  const bool runs = read->name == running;
  auto phase = read->phase;
  if (runs) {
    phase = run_state_.is_stopping ? SweepPhase::kStopping : SweepPhase::kRunning;
  } else if (phase == SweepPhase::kElsewhere && !is_elsewhere()) {
    phase = read->is_complete() ? SweepPhase::kDone : SweepPhase::kUnfinished;
  }
  auto shown = std::make_shared<ShownSweep>(*read);
  shown->phase = phase;
  if (runs) {
    shown->running_point = run_state_.point;
    // What it began with may not be written yet.
    if (shown->points.empty()) shown->problem.clear();
  } else if (run_state_.ended == read->name && shown->problem.empty() && !shown->is_complete()) {
    shown->problem = run_state_.problem;
  }
  return shown;
}

std::shared_ptr<const SweepView> SweepSession::view(const trace::job::Settings& settings,
                                                    LedgerRows rows) {
  if (!is_wanted_) return nullptr;
  std::tuple of{read_.version, run_state_.version, asked_};
  if (std::exchange(shown_of_, of) != of) shown_ = made_shown();
  auto view = std::make_shared<SweepView>();
  view->names = read_.names;
  view->shown = shown_;
  view->is_loading = !read_.is_read || (!view->shown && !read_.names.empty());
  view->running = run_state_.name;
  view->card = drafting_.card(settings, rows);
  return view;
}

}  // namespace shardlens::app::session
