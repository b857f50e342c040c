#include "app/cli/job/watched_job.h"

#include <chrono>
#include <utility>

namespace shardlens::app::cli {
namespace {

constexpr std::chrono::milliseconds kLookEvery{200};

}  // namespace

std::string stopping_text(std::int64_t loss_every) {
  return (loss_every == 1 ? std::string("Stopping after this step")
                          : "Stopping after the next step whose loss is read, within " +
                                std::to_string(loss_every) + " steps (loss_every)") +
         "; again to kill the ranks at once";
}

WatchedJob watch_job(launch::JobSession& job, launch::StopSignals& signals, OnSignal on_signal,
                     const JobDisplay& display) {
  launch::JobStatus status = job.poll();
  RunMonitor monitor(job.folder(), status.run);
  bool asked = false;
  while (status.phase != launch::JobStatus::Phase::kEnded) {
    if (signals.wait(kLookEvery)) {
      if (asked || on_signal == OnSignal::kKill) {
        job.kill_now();
      } else {
        job.request_stop();
        display.say(stopping_text(status.run.settings.loss_every));
      }
      asked = true;
    }
    status = job.poll();
    monitor.look(status);
    display.show(monitor.progress());
    if (const auto hang = monitor.hang()) job.request_abort(*hang);
  }
  return {std::move(status), asked};
}

}  // namespace shardlens::app::cli
