#include "app/session/watch/run_follower.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "app/session/runs/library_run.h"
#include "app/session/runs/run_banners.h"
#include "app/session/runs/run_liveness.h"
#include "trace/analysis/figures/run_summary.h"
#include "trace/base/file_system.h"
#include "trace/base/wall_clock.h"

namespace shardlens::app::session {

using trace::analysis::RunFigures;
using trace::analysis::StepFigures;
using trace::base::Result;
using trace::model::Batch;
using trace::model::LogLine;
using trace::model::RunStatus;

namespace {

bool details_arrived(const StepFigures& step, const std::vector<std::int64_t>& until_ns) {
  if (until_ns.size() < step.ranks.size()) return false;
  for (std::size_t rank = 0; rank < step.ranks.size(); ++rank) {
    if (until_ns[rank] < step.start_ns + step.ranks[rank].step_ns) return false;
  }
  return true;
}

const StepFigures* nearest_median(std::vector<const StepFigures*> steps) {
  if (steps.empty()) return nullptr;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>((steps.size() - 1) / 2);
  std::nth_element(steps.begin(), middle, steps.end(), [](const auto* a, const auto* b) {
    return a->shown().step_ns < b->shown().step_ns;
  });
  return *middle;
}

}  // namespace

std::int64_t followed_step(const std::vector<StepFigures>& steps,
                           const std::vector<std::int64_t>& detail_until_ns, std::int64_t settled) {
  std::int64_t latest = -1;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (!step->complete || step->ranks.empty()) continue;
    if (latest < 0) latest = step->index;
    const bool whole = step->index <= settled || details_arrived(*step, detail_until_ns);
    if (trace::analysis::has_detail(*step) && whole) return step->index;
  }
  return latest;
}

std::int64_t typical_step(const std::vector<StepFigures>& steps) {
  std::vector<const StepFigures*> detailed, measured;
  for (const auto& step : steps) {
    if (!step.complete || step.warmup || step.ranks.empty()) continue;
    measured.push_back(&step);
    if (trace::analysis::has_detail(step)) detailed.push_back(&step);
  }
  const auto* typical = nearest_median(detailed.empty() ? measured : detailed);
  if (typical != nullptr) return typical->index;
  return steps.empty() ? -1 : steps.back().index;
}

const StepFigures* find_step(const std::vector<StepFigures>& steps, std::int64_t index) {
  const auto found = std::lower_bound(
      steps.begin(), steps.end(), index,
      [](const StepFigures& step, std::int64_t wanted) { return step.index < wanted; });
  return found != steps.end() && found->index == index ? &*found : nullptr;
}

namespace {

constexpr std::size_t kLogLines = 400;
constexpr std::size_t kRankLogLines = 30;
// A recorder sends the last details of a step one or two commits after its row.
constexpr std::int64_t kSettleNs = 350'000'000;

bool earlier(const LogLine& a, const LogLine& b) { return a.time_ns < b.time_ns; }

}  // namespace

Result<std::unique_ptr<RunFollower>> RunFollower::open(const std::filesystem::path& run) {
  const auto stamp = trace::store::run_stamp(run);
  TRY_ASSIGN(auto reader, trace::store::RunReader::open(run));
  TRY_ASSIGN(auto info, reader->info());
  info.folder = run.string();  // as asked for, so that it can be recognised
  return std::unique_ptr<RunFollower>(new RunFollower(std::move(reader), std::move(info), stamp));
}

RunFollower::RunFollower(std::unique_ptr<trace::store::RunReader> reader,
                         trace::model::RunInfo info, trace::store::RunStamp stamp)
    : reader_(std::move(reader)),
      info_(std::move(info)),
      stamp_(stamp),
      inode_(stamp.inode),
      file_system_warning_(trace::base::network_file_system_warning(info_.folder)),
      analysis_(info_),
      wanted_step_(-1) {}

bool RunFollower::has_ended() const { return info_.status != RunStatus::kRunning; }

void RunFollower::start_over() {
  reader_->rewind();
  kept_.reset();
  analysis_ = trace::analysis::RunAnalysis(info_);
  painter_ = {};
  read_until_ns_ = INT64_MIN;
  log_.clear();
  detail_until_ns_.clear();
  arrivals_.clear();
  timeline_is_stale_ = true;
}

bool RunFollower::restore() {
  auto kept = has_ended() ? kept_figures(info_.folder, stamp_) : std::nullopt;
  if (!kept) return false;
  start_over();
  const auto took = reader_->read_facts([this](const Batch& batch) {
    analysis_.add(batch);
    painter_.learn(batch);
    add_log(batch.log);
  });
  if (!took || !reader_->problems().empty()) {  // who reads all of it is told why
    start_over();
    return false;
  }
  kept_ = std::move(kept);
  known_stamp_ = stamp_;
  read_until_ns_ = INT64_MAX;
  note_arrivals();
  return true;
}

bool RunFollower::keep() {
  if (!has_ended() || read_until_ns_ != INT64_MAX || stamp_ == known_stamp_) return true;
  // The stamp may be of another run by now, whose figures these are not.
  if (reader_->is_replaced() || !trace::store::is_settled(info_.folder, stamp_)) return false;
  known_stamp_ = stamp_;  // whether or not it can be written there
  keep_figures(info_.folder, stamp_, analysis_.figures());
  return true;
}

Result<bool> RunFollower::advance(std::int64_t until_ns) {
  if (until_ns == INT64_MAX) {
    if (kept_ && stamp_ == known_stamp_) return false;
    if ((kept_ || read_until_ns_ != INT64_MAX) && restore()) return true;
  }
  const bool goes_back = kept_.has_value() || until_ns < read_until_ns_;
  if (goes_back) start_over();
  analysis_.expect_more(until_ns != INT64_MAX);
  bool anything_new = goes_back;
  for (bool more = true; more;) {
    const auto batches = reader_->poll(until_ns);
    if (!batches && note_unreadable()) {
      anything_new = true;
      continue;
    }
    if (!batches && (anything_new || !info_.unreadable.empty())) break;  // it is told already
    if (!batches) return tl::make_unexpected(batches.error());
    for (const auto& batch : *batches) absorb(batch);
    more = !batches->empty();
    anything_new = anything_new || more;
  }
  read_until_ns_ = until_ns;
  note_arrivals();
  return anything_new;
}

// A rank of a run that has ended stays as it is; one that is still written may only not be there
// yet. The others go on without it.
bool RunFollower::note_unreadable() {
  auto problems = reader_->problems();
  const bool is_known = problems == info_.unreadable;
  if (!has_ended() || is_known || reader_->readable_ranks() == 0) return false;
  info_ = trace::store::without_unreadable(info_, std::move(problems), reader_->readable_ranks());
  analysis_.set_info(info_);
  return true;
}

Result<bool> RunFollower::refresh_info() {
  // Of one that runs nothing is kept, and it is asked many times a second.
  const auto stamp = has_ended() ? trace::store::run_stamp(info_.folder) : stamp_;
  TRY_ASSIGN(auto info, reader_->info());
  const bool changed =
      info.status != info_.status || info.reason != info_.reason || info.end_ns != info_.end_ns;
  if (changed) {
    info.folder = info_.folder;
    info.unreadable = info_.unreadable;
    info_ = std::move(info);
    analysis_.set_info(info_);
  }
  stamp_ = stamp;
  return changed;
}

void RunFollower::absorb(const Batch& batch) {
  analysis_.add(batch);
  painter_.learn(batch);
  for (const auto& span : batch.spans) note_detail(span.rank, span.start_ns, span.end_ns);
  for (const auto& collective : batch.collectives) {
    note_detail(collective.rank, collective.start_ns, collective.end_ns);
  }
  for (const auto& run : batch.events) {
    if (run.events.empty()) continue;
    note_detail(run.rank, run.events.front().start_ns, run.events.back().end_ns());
  }
  add_log(batch.log);
}

void RunFollower::note_detail(int rank, std::int64_t start_ns, std::int64_t end_ns) {
  if (rank < 0) return;
  const auto slot = static_cast<std::size_t>(rank);
  if (detail_until_ns_.size() <= slot) detail_until_ns_.resize(slot + 1, INT64_MIN);
  detail_until_ns_[slot] = std::max(detail_until_ns_[slot], end_ns);
  if (start_ns < timeline_end_ns_ && end_ns > timeline_start_ns_) timeline_is_stale_ = true;
}

void RunFollower::add_log(const std::vector<LogLine>& lines) {
  if (lines.empty()) return;
  log_.insert(log_.end(), lines.begin(), lines.end());
  std::stable_sort(log_.begin(), log_.end(), earlier);
  if (log_.size() > kLogLines) {
    log_.erase(log_.begin(), log_.end() - static_cast<std::ptrdiff_t>(kLogLines));
  }
}

const std::vector<trace::analysis::StepFigures>& RunFollower::steps() const {
  return kept_ ? kept_->steps : analysis_.steps();
}

RunFigures RunFollower::figures() const {
  if (!kept_) return analysis_.figures();
  RunFigures figures = *kept_;
  figures.info = info_;
  return figures;
}

void RunFollower::select_step(std::optional<std::int64_t> step) { wanted_step_ = step; }

void RunFollower::note_arrivals() {
  const auto latest = std::find_if(steps().rbegin(), steps().rend(),
                                   [](const auto& step) { return step.complete; });
  if (latest == steps().rend()) return;
  if (!arrivals_.empty() && arrivals_.back().step >= latest->index) return;
  arrivals_.push_back({latest->index, trace::base::wall_clock_ns()});
  if (arrivals_.size() > 16) arrivals_.pop_front();
}

std::int64_t RunFollower::step_to_show(std::int64_t now_ns) const {
  if (!wanted_step_) return typical_step(steps());
  // A step that replay has not reached yet: what is there instead.
  if (*wanted_step_ >= 0 && find_step(steps(), *wanted_step_) != nullptr) return *wanted_step_;
  std::int64_t settled = -1;
  for (const auto& arrival : arrivals_) {
    if (arrival.wall_ns <= now_ns - kSettleNs) settled = arrival.step;
  }
  // Nothing more comes of a run that has ended.
  if (has_ended() && read_until_ns_ == INT64_MAX) settled = INT64_MAX;
  return followed_step(steps(), detail_until_ns_, settled);
}

Result<void> RunFollower::update_timeline(const RunFigures& figures, std::int64_t index) {
  const auto* step = find_step(figures.steps, index);
  if (step == nullptr || step->ranks.empty()) {
    timeline_.reset();
    timeline_start_ns_ = timeline_end_ns_ = 0;
    return {};
  }
  const bool is_right = timeline_ && timeline_->step == index && !timeline_is_stale_ &&
                        timeline_->awaits_detail == step->awaits_detail();
  if (is_right) return {};
  const auto read = [&](const std::function<void(const Batch&)>& take) {
    return reader_->read_range(step->start_ns, step->end_ns, take, read_until_ns_);
  };
  TRY_ASSIGN(auto painted, painter_.paint(figures, *step, analysis_.strings(), read));
  timeline_ = std::make_shared<const trace::timeline::StepPicture>(std::move(painted));
  timeline_start_ns_ = step->start_ns;
  timeline_end_ns_ = step->end_ns;
  timeline_is_stale_ = false;
  return {};
}

Result<std::shared_ptr<const ui::state::RunView>> RunFollower::view(std::int64_t now_ns,
                                                                    bool during_replay,
                                                                    const RunLabel& label,
                                                                    bool is_own_job) {
  auto view = std::make_shared<ui::state::RunView>();
  view->ordinal = label.ordinal;
  view->inode = inode_;
  view->figures = figures();
  view->figures.recorder.bytes_on_disk = reader_->bytes_on_disk();
  auto& info = view->figures.info;
  if (!label.name.empty()) info.name = label.name;
  const bool hides_the_end = during_replay && read_until_ns_ != INT64_MAX;
  if (hides_the_end) {
    info.status = RunStatus::kRunning;
    info.reason.clear();
    info.end_ns = 0;
  }
  const bool running = info.status == RunStatus::kRunning;
  const bool lives = running && (is_own_job || !is_abandoned(liveness_of(view->figures), now_ns));
  view->is_live = hides_the_end || (lives && !during_replay);
  if (running && !lives && !hides_the_end) mark_as_cut_off(info);
  view->selected_step = step_to_show(now_ns);
  view->follows_live = wanted_step_ && (*wanted_step_ < 0 || view->selected_step != *wanted_step_);
  TRY(update_timeline(view->figures, view->selected_step));
  view->timeline = timeline_;
  view->log = log_;
  view->banners = banners_of(view->figures);
  if (view->is_live && !file_system_warning_.empty()) view->banners.push_back(file_system_warning_);
  if (!hides_the_end) {
    add_diagnosis(*view, now_ns);
    add_rank_logs(*view);
  }
  return view;
}

namespace {

// Of a run whose launcher was killed nothing says it but what was recorded last.
std::int64_t end_of(const RunFigures& figures) {
  if (figures.info.end_ns != 0) return figures.info.end_ns;
  return figures.steps.empty() ? figures.info.start_ns : figures.steps.back().end_ns;
}

}  // namespace

void RunFollower::add_diagnosis(ui::state::RunView& view, std::int64_t now_ns) const {
  const auto diagnosis = diagnosis_of(view.figures, analysis_.strings(), now_ns);
  if (diagnosis.cause == trace::analysis::HangCause::kNone) return;
  view.diagnosis = diagnosis.sentence;
  const std::int64_t time_ns = view.is_live ? now_ns : end_of(view.figures);
  for (const auto& state : diagnosis.states) {
    view.log.push_back({.rank = state.rank,
                        .time_ns = time_ns,
                        .level = LogLine::Level::kWarning,
                        .text = trace::analysis::state_text(state)});
  }
}

void RunFollower::add_rank_logs(ui::state::RunView& view) const {
  if (view.figures.info.status != RunStatus::kFailed) return;
  constexpr std::string_view kErrorPrefix = "error: ";  // which records do without
  // Most of it the rank has recorded, too.
  const auto is_recorded = [&](const LogLine& line) {
    std::string_view text = line.text;
    if (text.starts_with(kErrorPrefix)) text.remove_prefix(kErrorPrefix.size());
    return std::ranges::any_of(log_, [&](const LogLine& recorded) {
      return recorded.rank == line.rank && recorded.text == text;
    });
  };
  for (int rank = 0; rank < info_.world_size; ++rank) {
    for (auto& line : rank_log_lines(info_.folder, rank, kRankLogLines, end_of(view.figures))) {
      if (!is_recorded(line)) view.log.push_back(std::move(line));
    }
  }
}

}  // namespace shardlens::app::session
