#include "app/session/compare/comparison_session.h"

#include <algorithm>
#include <utility>

namespace shardlens::app::session {

ComparisonSession::ComparisonSession(std::function<void()> on_change)
    : on_change_(std::move(on_change)),
      worker_([this](const ComparisonQuestion& question, const std::function<bool()>& wanted) {
        reader_.answer(question, wanted,
                       [&, this](auto view) { publish(std::move(view), wanted); });
      }) {}

void ComparisonSession::choose(ComparisonQuestion question) {
  question.ended_runs = question_.ended_runs;
  question_ = std::move(question);
  const std::lock_guard lock(mutex_);  // also where the worker is asked: see publish()
  if (question_.runs.empty()) {
    worker_.cancel();
    view_.reset();
    return;
  }
  auto view = unread_comparison(question_);
  // What is on screen stays there while the others are read.
  for (auto& run : view.runs) {
    if (!view_) break;
    const auto before = std::ranges::find(view_->runs, run.folder, &ui::state::ComparedRun::folder);
    if (before == view_->runs.end()) continue;
    run.run = before->run;
    run.problem = before->problem;
  }
  if (view_ && std::ranges::equal(view.runs, view_->runs, {}, &ui::state::ComparedRun::folder,
                                  &ui::state::ComparedRun::folder)) {
    view.differences = view_->differences;
  }
  view_ = std::make_shared<const ui::state::ComparisonView>(std::move(view));
  worker_.ask(question_);
}

void ComparisonSession::follow_library(std::vector<ComparisonQuestion::Run> runs,
                                       std::size_t ended_runs) {
  const bool is_as_large = std::exchange(question_.ended_runs, ended_runs) == ended_runs;
  if (question_.runs.empty()) return;
  const auto shown = view();
  const bool is_live = shown && std::ranges::any_of(shown->runs, [](const auto& run) {
                         return run.run && run.run->is_live;
                       });
  const bool is_same = is_as_large && runs == question_.runs;
  question_.runs = std::move(runs);
  // A live run brings news faster than a large one is read, which would be begun again and again.
  if (!is_same || (is_live && worker_.is_idle())) worker_.ask(question_);
}

void ComparisonSession::follow_library(LedgerRows rows) {
  const auto has_ended = [](const ui::state::LedgerRow& row) {
    return row.status != trace::model::RunStatus::kRunning;
  };
  follow_library(compared_runs(folders(), rows),
                 static_cast<std::size_t>(std::ranges::count_if(rows, has_ended)));
}

std::vector<std::string> ComparisonSession::folders() const {
  std::vector<std::string> folders;
  for (const auto& run : question_.runs) folders.push_back(run.folder);
  return folders;
}

std::shared_ptr<const ui::state::ComparisonView> ComparisonSession::view() const {
  const std::lock_guard lock(mutex_);
  return view_;
}

void ComparisonSession::publish(ui::state::ComparisonView view,
                                const std::function<bool()>& wanted) {
  {
    const std::lock_guard lock(mutex_);
    if (!wanted()) return;  // else it would take the place of what was chosen since
    view_ = std::make_shared<const ui::state::ComparisonView>(std::move(view));
  }
  on_change_();
}

}  // namespace shardlens::app::session
