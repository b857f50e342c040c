#include "tests/app/session/fake_job.h"

#include <utility>

namespace shardlens::app::session {

namespace {

class FakeJob final : public launch::RunningJob {
 public:
  explicit FakeJob(std::shared_ptr<FakeJobControl> control) : control_(std::move(control)) {}
  ~FakeJob() override {
    if (!control_->ended) control_->killed = true;
  }
  const std::filesystem::path& folder() const override { return control_->folder; }
  launch::JobStatus poll() const override {
    ++control_->looked_at;
    launch::JobStatus status;
    status.run.name = control_->request.name;
    status.run.settings = control_->request.settings;
    status.run.world_size = static_cast<int>(control_->request.settings.ranks);
    status.run.status = trace::model::RunStatus::kRunning;
    status.is_measured = control_->request.is_measured;
    if (!control_->ended) return status;
    status.phase = launch::JobStatus::Phase::kEnded;
    status.run.status = trace::model::RunStatus::kDone;
    status.stopped_by_user = control_->stop_requested;
    if (control_->stop_requested) status.run.status = trace::model::RunStatus::kStopped;
    if (control_->loses_checkpoint) {
      status.lost_checkpoint = true;
      status.run.reason = "stopped by the user, but the checkpoint was not saved";
    }
    if (control_->failed) {
      status.run.status = trace::model::RunStatus::kFailed;
      status.run.reason = control_->abort_reason.empty()
                              ? "rank 1 exited with code 1: out of memory"
                              : control_->abort_reason;
    }
    return status;
  }
  void request_stop() override {
    control_->stop_requested = true;
    if (control_->ends_when_stopped) control_->end();
  }
  void request_abort(std::string reason) override {
    control_->abort_reason = std::move(reason);
    control_->failed = true;
    control_->end();
  }
  void kill_now() override {
    control_->killed = true;
    control_->end();
  }

 private:
  std::shared_ptr<FakeJobControl> control_;
};

}  // namespace

StartJob FakeJobs::starter() {
  return [shared = shared_](const launch::JobRequest& request, std::function<void()> on_news)
             -> trace::base::Result<std::unique_ptr<launch::RunningJob>> {
    const std::lock_guard lock(shared->mutex);
    if (!shared->refusal.empty()) {
      return trace::base::fail(trace::base::ErrorKind::kUsage, std::exchange(shared->refusal, {}));
    }
    auto control = std::make_shared<FakeJobControl>();
    control->request = request;
    control->on_news = std::move(on_news);
    control->folder = shared->folder;
    shared->jobs.push_back(control);
    return std::make_unique<FakeJob>(control);
  };
}

std::vector<std::shared_ptr<FakeJobControl>> FakeJobs::started() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->jobs;
}

void FakeJobs::refuse(const std::string& message) {
  const std::lock_guard lock(shared_->mutex);
  shared_->refusal = message;
}

void FakeJobs::record_in(const std::filesystem::path& folder) {
  const std::lock_guard lock(shared_->mutex);
  shared_->folder = folder;
}

}  // namespace shardlens::app::session
