#include "trainer/comm/gloo_link.h"

#include <ATen/record_function.h>
#include <pthread.h>

#include <algorithm>
#include <utility>

#include "trainer/comm/collective_description.h"

namespace shardlens::trainer::comm {

SharedLink::Clock::time_point SharedLink::transfer(Clock::time_point start,
                                                   const CollectiveDescription& collective,
                                                   int world_size, std::int64_t share) {
  const std::lock_guard lock(mutex_);
  free_at_ = std::max(free_at_, start) + share * transfer_time(link_, collective, world_size);
  return free_at_ + latency(link_, world_size);
}

namespace {

constexpr std::chrono::seconds kCloseGrace{2};

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

GlooLink::GlooLink(c10::intrusive_ptr<TaggedGloo> gloo, Simulated simulated,
                   std::chrono::milliseconds timeout, profiler::recorder::Recorder& recorder,
                   const std::string& lane_suffix, int world_rank)
    : gloo_(std::move(gloo)),
      simulated_(std::move(simulated)),
      timeout_(timeout),
      recorder_(recorder),
      lane_(recorder.add_lane(trace::model::LaneKind::kCommunication,
                              (simulated_.link ? "gloo, simulated link" : "gloo") + lane_suffix)),
      world_rank_(world_rank),
      thread_([this](std::stop_token stop) { run(std::move(stop)); }) {
  pthread_setname_np(thread_.native_handle(), "gloo link");
}

GlooLink::~GlooLink() { close(); }

c10::intrusive_ptr<c10d::Work> GlooLink::submit(CollectiveJob job) {
  auto work = c10::make_intrusive<LinkWork>(job.outputs);
  const auto let_go = std::make_shared<std::atomic<bool>>(false);
  work->wait_also_for(let_go);
  {
    const std::lock_guard lock(mutex_);
    TORCH_CHECK(!closed_, to_text(job.description),
                " was asked for after the end of communication");
    queue_.push_back({std::move(job), work, let_go});
  }
  changed_.notify_all();
  return work;
}

void GlooLink::close() {
  {
    std::unique_lock lock(mutex_);
    if (std::exchange(closed_, true)) return;
    const auto idle = [this] { return queue_.empty() && !busy_; };
    changed_.wait_for(lock, kCloseGrace, idle);
  }
  thread_.request_stop();
  // Wakes a collective that waits for a stopped rank; harmless when all are done.
  gloo_->give_up("this rank ended its communication");
  thread_.join();
}

void GlooLink::run(std::stop_token stop) {
  for (;;) {
    Queued next;
    {
      std::unique_lock lock(mutex_);
      busy_ = false;
      changed_.notify_all();
      changed_.wait(lock, stop, [this] { return !queue_.empty(); });
      if (queue_.empty()) return;
      next = std::move(queue_.front());
      queue_.pop_front();
      busy_ = true;
    }
    carry_out(next, stop);
    const LinkWork::LetGo let_go = std::move(next.let_go);
    next = {};
    let_go->store(true);
    let_go->notify_all();
  }
}

void GlooLink::carry_out(Queued& queued, const std::stop_token& stop) {
  if (failure_.empty()) {
    try {
      transfer(queued.job, stop);
      // Released first: the callbacks of whoever waits may run long.
      queued.job.launch = nullptr;
      queued.work->complete();
      return;
    } catch (const c10::Error& error) {
      failure_ = describe_failure(queued.job, error.what_without_backtrace());
    } catch (const std::exception& error) {
      failure_ = describe_failure(queued.job, error.what());
    }
    queued.work->fail(std::make_exception_ptr(C10_BUILD_ERROR(DistBackendError, failure_)));
    return;
  }
  const std::string text = to_text(queued.job.description) + " was not started: " + failure_;
  queued.work->fail(std::make_exception_ptr(C10_BUILD_ERROR(DistBackendError, text)));
}

void GlooLink::transfer(const CollectiveJob& job, const std::stop_token& stop) {
  // The span of this collective is ours to report: Gloo's own lacks the simulated part, and ends
  // also when the collective failed.
  const at::RecordFunctionGuard no_spans_of_gloo(false);
  const bool is_alone = gloo_->getSize() == 1;
  const std::int64_t start_ns = profiler::recorder::Recorder::now_ns();
  recorder_.start_collective(job.handle, lane_, start_ns);
  Clock::time_point earliest_end{};
  if (simulated_.link && !is_alone) {
    earliest_end = simulated_.link->transfer(last_start_of_all_ranks(job), job.description,
                                             gloo_->getSize(), simulated_.share);
  }
  gloo_->set_next_tag(fingerprint(job.description));
  wait_and_release(job.launch(*gloo_));
  if (simulated_.link) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, stop, earliest_end, [] { return false; });
  }
  // A single rank sends nothing, which takes no time.
  recorder_.end_collective(job.handle,
                           is_alone ? start_ns : profiler::recorder::Recorder::now_ns());
}

GlooLink::Clock::time_point GlooLink::last_start_of_all_ranks(const CollectiveJob& job) {
  auto start = torch::full({1}, static_cast<std::int64_t>(Clock::now().time_since_epoch().count()),
                           torch::kInt64);
  // Apart from the collective's own tag, and as sure to differ when the collectives do.
  gloo_->set_next_tag(fingerprint(job.description) ^ 0x80000000u);
  std::vector<torch::Tensor> tensors{start};
  c10d::AllreduceOptions options;
  options.reduceOp = c10d::ReduceOp::MAX;
  gloo_->allreduce(tensors, options)->wait();
  return Clock::time_point(Clock::duration(start.item<std::int64_t>()));
}

std::string GlooLink::describe_failure(const CollectiveJob& job, const std::string& reason) const {
  std::string text = reason;
  if (contains(reason, "imed out") || contains(reason, "imeout")) {
    text = timeout_reason(timeout_);
  } else if (contains(reason, "onnection")) {
    text =
        "another rank closed its connection. It ended, or gave up on a collective; its log "
        "says why.";
  }
  return failure_text(job.description, world_rank_, text);
}

}  // namespace shardlens::trainer::comm
