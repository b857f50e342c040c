#include "app/session/watch/run_watcher.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "app/session/runs/run_liveness.h"
#include "app/session/worker/free_memory.h"
#include "trace/base/wall_clock.h"
#include "trace/store/sqlite/stop_reading.h"
#include "ui/state/snapshot.h"

namespace shardlens::app::session {

using namespace std::chrono_literals;
using trace::model::RunStatus;

void ReplayClock::load(std::int64_t start_ns, std::int64_t end_ns) {
  start_ns_ = start_ns;
  end_ns_ = std::max(start_ns, end_ns);
  position_ns_ = start_ns;
  anchor_wall_ns_ = 0;
  playing_ = false;
}

void ReplayClock::play(std::int64_t wall_ns) {
  anchor(wall_ns);
  if (position_ns_ >= end_ns_) position_ns_ = start_ns_;
  playing_ = true;
}

void ReplayClock::pause(std::int64_t wall_ns) {
  anchor(wall_ns);
  playing_ = false;
}

void ReplayClock::set_speed(double speed, std::int64_t wall_ns) {
  if (std::isnan(speed)) return;
  anchor(wall_ns);
  speed_ = std::clamp(speed, ui::state::kSlowestReplay, ui::state::kFastestReplay);
}

void ReplayClock::seek(std::int64_t trace_ns, std::int64_t wall_ns) {
  anchor(wall_ns);
  position_ns_ = std::clamp(trace_ns, start_ns_, end_ns_);
}

std::int64_t ReplayClock::now_ns(std::int64_t wall_ns) const {
  if (!playing_) return position_ns_;
  const double passed = static_cast<double>(std::max<std::int64_t>(0, wall_ns - anchor_wall_ns_));
  const double left = static_cast<double>(end_ns_ - position_ns_);
  // Compared before converting: a long pause at 100 × would overflow.
  if (passed * speed_ >= left) return end_ns_;
  return position_ns_ + static_cast<std::int64_t>(passed * speed_);
}

void ReplayClock::anchor(std::int64_t wall_ns) {
  position_ns_ = now_ns(wall_ns);
  anchor_wall_ns_ = wall_ns;
  if (position_ns_ >= end_ns_) playing_ = false;
}

namespace {

constexpr auto kLivePause = 40ms;     // a commit waits at most this long to be read
constexpr auto kReplayPause = 40ms;   // so that the scrubber moves evenly
constexpr auto kAbandonedPause = 1s;  // "running" according to its file, yet nothing stirs
constexpr auto kNothingToDo = 24h;
constexpr auto kLargeRead = 300ms;  // after which much was freed

}  // namespace

RunWatcher::RunWatcher(std::function<void()> on_publish)
    : on_publish_(std::move(on_publish)),
      state_(std::make_shared<const WatchState>()),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

void RunWatcher::show(const std::filesystem::path& run) {
  ask([&](Requests& requests) {
    requests = {};
    requests.show = asked_run_ = run;
  });
}

void RunWatcher::look_again() {
  {
    const std::lock_guard lock(mutex_);
    requests_.looks = true;
  }
  wake_.notify_one();
}

void RunWatcher::set_own_job(const std::filesystem::path& run) {
  const std::lock_guard lock(mutex_);
  own_job_ = run;
}

bool RunWatcher::is_own_job() const {
  const std::lock_guard lock(mutex_);
  return !own_job_.empty() && own_job_ == draft_.run;
}

void RunWatcher::select_usual_step() {
  ask([](Requests& requests) {
    requests.step.reset();
    requests.usual_step = true;
  });
}

void RunWatcher::start_replay(const std::filesystem::path& run, double speed) {
  ask([&](Requests& requests) {
    requests = {};
    requests.show = asked_run_ = run;
    requests.replay = ReplayWish::kStart;
    requests.speed = speed;
    requests.playing = true;
  });
}

std::shared_ptr<const WatchState> RunWatcher::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::filesystem::path RunWatcher::asked_run() const {
  const std::lock_guard lock(mutex_);
  return asked_run_;
}

void RunWatcher::work(const std::stop_token& stop) {
  const trace::store::StopReading closing([&stop] { return stop.stop_requested(); });
  while (!stop.stop_requested()) {
    Requests requests;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, stop, pause_length(),
                     [this] { return requests_.any || requests_.looks; });
      requests = std::exchange(requests_, {});
    }
    if (stop.stop_requested()) return;
    const auto began = std::chrono::steady_clock::now();
    try {
      const bool only_looks = !requests.any && pause_length() == kNothingToDo;
      if (only_looks && !(follower_ && follower_->is_replaced())) continue;
      const bool asked = requests.any && carry_out(std::move(requests));
      // One moment for both: a replay must not reach its end between reading and publishing.
      const auto now_ns = trace::base::wall_clock_ns();
      const bool read = follow_file(now_ns);
      if (asked || read || replaying_) publish(asked || read, now_ns);
      is_kept_ = !follower_ || follower_->keep();  // shown first
    } catch (const std::exception& error) {
      give_up(error.what());
    }
    last_cost_ = std::chrono::steady_clock::now() - began;
    if (last_cost_ > kLargeRead) give_back_memory();
  }
}

// What no file should be able to cause: the run is closed, the program goes on.
void RunWatcher::give_up(const std::string& why) {
  follower_.reset();
  draft_.view.reset();
  replaying_ = false;
  draft_.problem = "The run " + draft_.run.string() + " cannot be shown: " + why;
  publish(false, trace::base::wall_clock_ns());
}

bool RunWatcher::carry_out(Requests requests) {
  const bool is_other = requests.show && (*requests.show != draft_.run || !follower_);
  const bool is_refused = is_other && !open_run(*requests.show);
  // Another run may have been asked for meanwhile.
  if (requests.label && requests.label->first == draft_.run) label_ = requests.label->second;
  // What is asked of a run that cannot be opened is not done to the one that stays.
  if (!follower_ || is_refused) return true;
  const bool leaves =
      requests.show ? requests.replay != ReplayWish::kStart : requests.replay == ReplayWish::kStop;
  // Before the step that was asked for: beginning and leaving a replay select one, too.
  if (leaves) leave_replay();
  carry_out_replay(requests);
  if (requests.usual_step) select_first_step();
  if (requests.step) follower_->select_step(*requests.step);
  return true;
}

bool RunWatcher::open_run(const std::filesystem::path& run) {
  std::unique_ptr<RunFollower> follower;
  if (!run.empty()) {
    auto opened = RunFollower::open(run);
    if (!opened && keep_what_is_shown(run, opened.error())) return false;
    if (opened) follower = std::move(*opened);
  }
  take(run, std::move(follower));
  return true;
}

void RunWatcher::take(const std::filesystem::path& run, std::unique_ptr<RunFollower> follower) {
  draft_.view.reset();
  if (follower || run.empty()) draft_.problem.clear();
  could_not_read_ = false;
  label_ = {};
  replaying_ = false;
  ended_at_ns_ = 0;
  next_read_ = {};
  draft_.run = run;
  follower_ = std::move(follower);
  if (follower_) select_first_step();
}

// Its name stays, and so does what the library calls it.
trace::base::Result<void> RunWatcher::open_replacement() {
  TRY_ASSIGN(auto opened, RunFollower::open(draft_.run));
  const RunLabel label = label_;
  take(std::filesystem::path(draft_.run), std::move(opened));
  label_ = label;
  ++draft_.replacements;
  return {};
}

// True if that is new. It is tried again.
bool RunWatcher::could_not_read(const trace::base::Error& why) {
  next_read_ = std::chrono::steady_clock::now() + kAbandonedPause;
  could_not_read_ = true;
  return std::exchange(draft_.problem, why.message) != why.message;
}

// True where there is anything.
bool RunWatcher::keep_what_is_shown(const std::filesystem::path& not_opened,
                                    const trace::base::Error& why) {
  draft_.problem = why.message;
  ++draft_.failed_openings;
  if (!draft_.view) return false;
  const std::lock_guard lock(mutex_);
  if (asked_run_ == not_opened) asked_run_ = draft_.run;  // and nothing else since
  return true;
}

// As if the run had just been opened: a live one is followed again.
void RunWatcher::leave_replay() {
  if (!std::exchange(replaying_, false)) return;
  ended_at_ns_ = 0;
  next_read_ = {};
  if (follower_) select_first_step();
}

void RunWatcher::select_first_step() {
  const bool runs = follower_->info().status == RunStatus::kRunning;
  follower_->select_step(runs ? std::optional<std::int64_t>(-1) : std::nullopt);
}

void RunWatcher::carry_out_replay(const Requests& requests) {
  const auto now = trace::base::wall_clock_ns();
  if (requests.replay == ReplayWish::kStart) {
    const auto range = follower_->commit_range();
    if (!range || range->last_ns == 0) {
      draft_.problem = range ? "Nothing was recorded in this run that could be replayed."
                             : range.error().message;
      return;
    }
    clock_.load(range->idle_until_ns, range->last_ns);
    follower_->select_step(-1);
    replaying_ = true;
  }
  if (requests.speed) clock_.set_speed(*requests.speed, now);
  if (requests.seek_ns) clock_.seek(*requests.seek_ns, now);
  if (requests.playing) *requests.playing ? clock_.play(now) : clock_.pause(now);
}

// True if anything new was read.
bool RunWatcher::follow_file(std::int64_t now_ns) {
  if (!follower_) return false;
  if (!replaying_ && std::chrono::steady_clock::now() < next_read_) return false;
  if (follower_->is_replaced()) {
    const auto opened = open_replacement();
    if (!opened) return could_not_read(opened.error());
  }
  trace::base::Result<bool> changed = false;
  // The status is read first: what was written before it changed is then surely read.
  if (!replaying_ || clock_.at_end(now_ns)) changed = follower_->refresh_info();
  const auto until = replaying_ && !clock_.at_end(now_ns) ? clock_.now_ns(now_ns) : INT64_MAX;
  trace::base::Result<bool> read = changed ? follower_->advance(until) : changed;
  if (!read) return could_not_read(read.error());
  const bool recovered = std::exchange(could_not_read_, false);
  if (recovered) draft_.problem.clear();
  if (follower_->info().status == RunStatus::kRunning) {
    ended_at_ns_ = 0;
  } else if (ended_at_ns_ == 0) {
    ended_at_ns_ = now_ns;
  }
  const bool fell_silent = !replaying_ && draft_.view && draft_.view->is_live && !is_own_job() &&
                           is_abandoned(liveness_of(draft_.view->figures), now_ns);
  const bool step_settled =
      draft_.view && draft_.view->selected_step != follower_->step_to_show(now_ns);
  return recovered || *changed || *read || fell_silent || step_settled;
}

void RunWatcher::publish(bool anything_read, std::int64_t now_ns) {
  if (follower_ && (anything_read || !draft_.view)) {
    auto view = follower_->view(now_ns, replaying_, label_, is_own_job());
    if (view) {
      draft_.view = std::move(*view);
    } else {
      draft_.problem = view.error().message;
    }
  }
  ++draft_.version;
  draft_.replay = {.active = replaying_,
                   .playing = replaying_ && clock_.playing(now_ns),
                   .speed = clock_.speed(),
                   .start_ns = clock_.start_ns(),
                   .end_ns = clock_.end_ns(),
                   .now_ns = clock_.now_ns(now_ns)};
  {
    const std::lock_guard lock(mutex_);
    state_ = std::make_shared<const WatchState>(draft_);
  }
  on_publish_();
}

// A view that is dear to make is made less often: at most half a core.
std::chrono::nanoseconds RunWatcher::pause_length() const {
  if (!follower_) return kNothingToDo;
  if (replaying_)
    return draft_.replay.playing ? std::max<std::chrono::nanoseconds>(kReplayPause, last_cost_)
                                 : std::chrono::nanoseconds(kNothingToDo);
  if (could_not_read_) return kAbandonedPause;
  const auto now = trace::base::wall_clock_ns();
  if (ended_at_ns_ != 0 && std::chrono::nanoseconds(now - ended_at_ns_) > kReadOnAfterEnd)
    return is_kept_ ? kNothingToDo : std::chrono::nanoseconds(kAbandonedPause);
  if (ended_at_ns_ == 0 && draft_.view && !draft_.view->is_live) return kAbandonedPause;
  return std::max<std::chrono::nanoseconds>(kLivePause, last_cost_);
}

}  // namespace shardlens::app::session
