#include "app/session/sweep/sweep_runner.h"

#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "app/search/search_words.h"
#include "app/session/sweep/sweep_reader.h"
#include "app/session/tuning/prediction_source.h"
#include "app/sweep/sweep_verdict.h"

namespace shardlens::app::session {
namespace {

using trace::base::ErrorKind;
using trace::base::Result;

constexpr const char* kWasStopped = "it was stopped";

// All points are checked before the first one starts; those that do the same are run once. A new
// search leaves out what cannot be run, but for the first, from which it starts.
Result<void> check_all_points(sweep::SweepPoints& points, bool is_new, bool is_search) {
  auto jobs = sweep::jobs_of(points);
  if (is_new && is_search) sweep::leave_out_refused(points, jobs, 1);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i]) continue;
    return trace::base::fail(jobs[i].error().kind,
                             sweep::point_text(points, i) + ": " + jobs[i].error().message);
  }
  if (is_new) sweep::leave_out_doubles(points, jobs);
  return {};
}

// What the sweep's thread waits for and the queue's tells, whichever goes first.
struct AwaitedEnd {
  std::mutex mutex;
  std::condition_variable_any told;
  std::optional<Result<launch::JobStatus>> end;
};

}  // namespace

SweepRunner::SweepRunner(std::filesystem::path runs_dir, JobQueue& queue, Notice& notice,
                         std::function<void()> on_change)
    : runs_dir_(std::move(runs_dir)),
      queue_(queue),
      notice_(notice),
      on_change_(std::move(on_change)),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

template <typename Change>
void SweepRunner::change_state(Change change) {
  {
    const std::lock_guard lock(mutex_);
    change(state_);
    ++state_.version;
  }
  on_change_();
}

void SweepRunner::start(sweep::SweepRequest request) {
  std::string running;
  change_state([&](SweepRunState& state) {
    running = state.name;
    if (!running.empty()) return;
    state.problem.clear();
    state.is_stopping = false;
    state.point.reset();
    state.name = request.name;
    request.runs_dir = runs_dir_;
    asked_ = std::move(request);
  });
  if (!running.empty()) {
    return notice_.say_why_not("The sweep “" + running +
                               "” runs. Stop it, or wait for its end, before another one.");
  }
  notice_.clear();  // that it is stopped
  wake_.notify_one();
}

void SweepRunner::stop() {
  std::string run;
  change_state([&](SweepRunState& state) {
    if (state.name.empty()) return;
    state.is_stopping = true;
    run = run_name_;
  });
  if (!run.empty()) queue_.stop_run(run);
}

SweepRunState SweepRunner::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

bool SweepRunner::is_asked_to_stop(const std::stop_token& closing) const {
  const std::lock_guard lock(mutex_);
  return state_.is_stopping || closing.stop_requested();
}

void SweepRunner::work(const std::stop_token& stop) {
  while (true) {
    std::optional<sweep::SweepRequest> request;
    {
      std::unique_lock lock(mutex_);
      if (!wake_.wait(lock, stop, [this] { return asked_.has_value(); })) return;
      request = std::exchange(asked_, std::nullopt);
    }
    const std::string name = request->name;
    try {
      conclude(name, run(stop, std::move(*request)));
    } catch (const std::exception& error) {
      conclude(name, trace::base::fail(ErrorKind::kFailed, error.what()));
    }
  }
}

Result<bool> SweepRunner::run(const std::stop_token& stop, sweep::SweepRequest request) {
  verdict_.clear();
  const bool is_new = request.points.has_value();
  sweep::SweepPoints points;
  if (is_new) {
    points = *request.points;
  } else {
    TRY_ASSIGN(auto there, sweep::read_sweep(runs_dir_, request.name));
    points = std::move(there.plan.points);
  }
  TRY(check_all_points(points, is_new, request.search.has_value()));
  if (is_new) request.points = std::move(points);
  TRY_ASSIGN(auto sweep, sweep::Sweep::open(request, measured_run));
  change_state([](SweepRunState&) {});  // it can be looked at
  const auto is_stopping = [&] { return is_asked_to_stop(stop); };
  if (sweep.plan().search) {
    const auto ended = search_in(stop, sweep);
    if (!ended && is_stopping()) return false;
    return ended;
  }
  const auto whole = sweep::run_to_end(
      sweep,
      {.wants_to_stop = is_stopping,
       .run = [&](sweep::Slot slot, const auto& job) { return run_in_queue(stop, slot, job); },
       .counted = [this](sweep::Slot) { change_state([](SweepRunState&) {}); }});
  if (whole && *whole) verdict_ = sweep::verdict_of(sweep.plan(), sweep.results()).why;
  if (!whole && is_stopping()) return false;
  return whole;
}

Result<bool> SweepRunner::search_in(const std::stop_token& stop, sweep::Sweep& grid) {
  search::SearchLoop loop(grid, forecast_sources(this_machine()));
  TRY_ASSIGN(
      const auto ending,
      loop.run_to_end({.wants_to_stop = [&] { return is_asked_to_stop(stop); },
                       .run = [&](const search::Choice& choice,
                                  const auto& job) { return run_in_queue(stop, choice.slot, job); },
                       .counted = [this](const auto&) { change_state([](auto&) {}); }}));
  if (!ending) return false;
  verdict_ = search::verdict_text(grid.plan(), grid.results(), loop.standing().outcome);
  return true;
}

Result<launch::JobStatus> SweepRunner::run_in_queue(const std::stop_token& stop, sweep::Slot slot,
                                                    const launch::JobRequest& request) {
  const auto awaited = std::make_shared<AwaitedEnd>();
  {
    const std::lock_guard lock(mutex_);
    // After the window the queue goes, which would start it and stop it again.
    if (state_.is_stopping || stop.stop_requested())
      return trace::base::fail(ErrorKind::kFailed, kWasStopped);
    run_name_ = request.name;
    state_.point = slot.point;
    ++state_.version;
    queue_.start(request, false, [awaited](const Result<launch::JobStatus>& end) {
      {
        const std::lock_guard guard(awaited->mutex);
        awaited->end = end;
      }
      awaited->told.notify_all();
    });
  }
  on_change_();
  std::unique_lock lock(awaited->mutex);
  awaited->told.wait(lock, stop, [&] { return awaited->end.has_value(); });
  if (!awaited->end) return trace::base::fail(ErrorKind::kFailed, "the window was closed");
  return *awaited->end;
}

void SweepRunner::conclude(const std::string& name, const Result<bool>& end) {
  const std::string sweep = "The sweep “" + name + "” ";
  if (!end) {
    notice_.say_why_not(sweep + "does not go on: " + end.error().message);
  } else if (!*end) {
    notice_.say(sweep + "is stopped. What is finished is kept, and Resume goes on");
  } else {
    notice_.say(sweep + "is done. " + (verdict_.empty() ? "No point has a result" : verdict_));
  }
  change_state([&](SweepRunState& state) {
    state.name.clear();
    state.point.reset();
    state.is_stopping = false;
    run_name_.clear();
    state.ended = name;
    state.problem = end ? "" : end.error().message;
  });
}

}  // namespace shardlens::app::session
