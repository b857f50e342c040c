#include "app/session/jobs/job_queue.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

namespace shardlens::app::session {

using namespace std::chrono_literals;
using trace::base::Result;
using ui::state::JobPhase;

namespace {

constexpr auto kHangCheckEvery = 1s;  // all else the job tells itself

Result<std::unique_ptr<launch::RunningJob>> start_safely(const StartJob& start,
                                                         const launch::JobRequest& request,
                                                         std::function<void()> on_news) {
  try {
    return start(request, std::move(on_news));
  } catch (const std::exception& error) {
    return trace::base::fail(trace::base::ErrorKind::kFailed,
                             std::string("The job could not be started: ") + error.what());
  }
}

tl::unexpected<trace::base::Error> not_started(const char* why) {
  return trace::base::fail(trace::base::ErrorKind::kFailed, why);
}

// What the user must know of a job that has ended; "" if it went well.
std::string notice_of(const launch::JobStatus& ended) {
  const std::string run = "Run “" + ended.run.name + "”";
  std::string notice;
  const auto status = ended.run.status;
  if (status == trace::model::RunStatus::kFailed) notice = run + " failed: " + ended.run.reason;
  if (status == trace::model::RunStatus::kIncomplete)
    notice = run + " is incomplete: " + ended.run.reason;
  if (status == trace::model::RunStatus::kStopped && !ended.went_as_asked()) {
    notice = run + " was " + ended.run.reason;
  }
  for (const auto& problem : ended.save_errors) {
    notice += (notice.empty() ? run + ": its end could not be saved: " : ". Not saved: ") + problem;
  }
  return notice;
}

}  // namespace

Result<std::unique_ptr<launch::RunningJob>> start_job_session(const launch::JobRequest& request,
                                                              std::function<void()> on_news) {
  launch::JobOptions options;
  options.on_news = std::move(on_news);
  return launch::JobSession::start(request, std::move(options));
}

JobQueue::JobQueue(StartJob start, Notice& notice, std::function<void()> on_change,
                   std::chrono::milliseconds farewell)
    : start_(std::move(start)),
      notice_(notice),
      on_change_(std::move(on_change)),
      farewell_(farewell),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

template <typename Change>
void JobQueue::change_state(Change change) {
  {
    const std::lock_guard lock(mutex_);
    change(state_);
    state_.queued.clear();
    for (const Job& job : waiting_) state_.queued.push_back({job.id, job.request.name});
    ++state_.version;
  }
  on_change_();
}

void JobQueue::start(launch::JobRequest request, bool stop_current, JobEnd on_end) {
  change_state([&](QueueState& state) {
    Job job{++last_id_, std::move(request), std::move(on_end)};
    const bool busy = state.phase != JobPhase::kNone;
    if (!busy) {
      state.phase = JobPhase::kStarting;
      state.run_name = job.request.name;
      starting_ = std::move(job);
      return;
    }
    stop_wanted_ = stop_wanted_ || stop_current;
    if (stop_current) state.phase = JobPhase::kStopping;
    waiting_.insert(stop_current ? waiting_.begin() : waiting_.end(), std::move(job));
  });
  wake_.notify_one();
}

void JobQueue::want_stop(QueueState& state) {
  if (state.phase == JobPhase::kNone) return;
  stop_wanted_ = has_news_ = true;
  state.phase = JobPhase::kStopping;
}

void JobQueue::stop() {
  change_state([&](QueueState& state) { want_stop(state); });
  wake_.notify_one();
}

template <typename IsMeant>
void JobQueue::cancel_if(IsMeant is_meant) {
  std::vector<JobEnd> told;
  change_state([&](QueueState&) {
    for (const Job& job : waiting_) {
      if (is_meant(job)) told.push_back(job.on_end);
    }
    std::erase_if(waiting_, is_meant);
  });
  for (const JobEnd& on_end : told) on_end(not_started("it was cancelled"));
}

void JobQueue::stop_run(const std::string& name) {
  cancel_if([&](const Job& job) { return job.request.name == name; });
  // What no longer waits never will again.
  change_state([&](QueueState& state) {
    if (state.run_name == name) want_stop(state);
  });
  wake_.notify_one();
}

void JobQueue::kill_now() {
  change_state([&](QueueState& state) {
    // The job that was meant may have ended meanwhile: the next one is not being stopped.
    if (state.phase == JobPhase::kStopping) kill_wanted_ = has_news_ = true;
  });
  wake_.notify_one();
}

void JobQueue::cancel_queued(std::uint64_t id) {
  // What is starting cannot be taken back.
  cancel_if([id](const Job& job) { return id == 0 || job.id == id; });
}

void JobQueue::move_queued(std::uint64_t id, int places) {
  change_state([&](QueueState&) {
    const auto found = std::ranges::find(waiting_, id, &Job::id);
    if (found == waiting_.end()) return;
    const auto from = found - waiting_.begin();
    const auto to = std::clamp<std::ptrdiff_t>(from + places, 0, std::ssize(waiting_) - 1);
    Job job = std::move(*found);
    waiting_.erase(found);
    waiting_.insert(waiting_.begin() + to, std::move(job));
  });
}

// The job that has waited longest, if there is one.
void JobQueue::take_next(QueueState& state) {
  state.phase = waiting_.empty() ? JobPhase::kNone : JobPhase::kStarting;
  if (waiting_.empty()) return;
  starting_ = std::move(waiting_.front());
  waiting_.pop_front();
  state.run_name = starting_->request.name;
}

QueueState JobQueue::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void JobQueue::work(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      const auto has_work = [this] {
        return job_ == nullptr ? starting_.has_value() : has_news_ || (stop_wanted_ && !stop_sent_);
      };
      if (job_ != nullptr) {
        wake_.wait_for(lock, stop, kHangCheckEvery, has_work);
      } else {
        wake_.wait(lock, stop, has_work);
      }
      has_news_ = false;
    }
    if (stop.stop_requested()) break;
    if (job_ == nullptr) start_next();
    if (job_ != nullptr) look_after_job_safely();
  }
  leave_in_order();
}

void JobQueue::hear_news() {
  {
    const std::lock_guard lock(mutex_);
    has_news_ = true;
  }
  wake_.notify_one();
}

void JobQueue::start_next() {
  std::optional<Job> asked;
  change_state([&](QueueState& state) {
    asked = std::exchange(starting_, std::nullopt);
    if (!asked) return;
    state.phase = JobPhase::kStarting;
    state.run_name = asked->request.name;
  });
  if (!asked) return;
  auto job = start_safely(start_, asked->request, [this] { hear_news(); });
  if (!job) notice_.say_why_not(job.error().message);
  change_state([&](QueueState& state) {
    if (!job) {
      stop_wanted_ = kill_wanted_ = false;
      take_next(state);
      return;
    }
    job_ = std::move(*job);
    const launch::JobStatus begun = job_->poll();
    monitor_.emplace(job_->folder(), begun.run);
    stop_sent_ = false;
    state.phase = stop_wanted_ ? JobPhase::kStopping : JobPhase::kRunning;
    state.run_name = begun.run.name;
    state.folder = job_->folder();
    state.saves_checkpoints = begun.saves_checkpoints();
    ++state.started;
  });
  if (!job) return asked->on_end(tl::make_unexpected(job.error()));
  on_end_ = std::move(asked->on_end);
}

// The job goes on whatever happens while looking at it.
void JobQueue::look_after_job_safely() {
  try {
    look_after_job();
  } catch (const std::exception& error) {
    notice_.say_why_not(std::string("The job cannot be followed: ") + error.what());
  }
}

void JobQueue::look_after_job() {
  const auto [is_stopped, is_killed] = [this] {
    const std::lock_guard lock(mutex_);
    return std::pair(stop_wanted_, std::exchange(kill_wanted_, false));
  }();
  if (is_stopped && !stop_sent_) {
    stop_sent_ = true;
    job_->request_stop();
  }
  if (is_killed) job_->kill_now();
  const auto status = job_->poll();
  if (status.phase == launch::JobStatus::Phase::kEnded) return finish(status);
  if (status.phase == launch::JobStatus::Phase::kStopping && state().phase == JobPhase::kRunning) {
    change_state([](QueueState& state) { state.phase = JobPhase::kStopping; });
  }
  watch_for_hangs(status);
}

void JobQueue::watch_for_hangs(const launch::JobStatus& status) {
  if (const auto hang = monitor_->look(status)) job_->request_abort(*hang);
}

void JobQueue::finish(const launch::JobStatus& status) {
  monitor_.reset();  // who hears of the end may remove the run
  job_.reset();
  std::exchange(on_end_, {})(status);
  if (const auto notice = notice_of(status); !notice.empty()) notice_.say_why_not(notice);
  change_state([&](QueueState& state) {
    stop_wanted_ = kill_wanted_ = false;
    stop_sent_ = false;
    take_next(state);
    ++state.ended;
  });
}

void JobQueue::await_end() {
  const auto ends_within = [this](std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    return wake_.wait_for(
        lock, limit, [this] { return job_->poll().phase == launch::JobStatus::Phase::kEnded; });
  };
  if (!job_->poll().saves_checkpoints()) {
    ends_within(farewell_);
    return;
  }
  while (!ends_within(kHangCheckEvery)) watch_for_hangs(job_->poll());
}

void JobQueue::leave_in_order() {
  if (job_ != nullptr) {
    job_->request_stop();
    if (kill_wanted_) job_->kill_now();
    await_end();
    job_.reset();
    on_end_(not_started("the window was closed while it ran"));
  }
  if (starting_) starting_->on_end(not_started("the window was closed"));
  for (const Job& job : waiting_) {
    job.on_end(not_started("the window was closed"));
  }
}

}  // namespace shardlens::app::session
