#include "trainer/comm/link_work.h"

#include <thread>
#include <utility>

namespace shardlens::trainer::comm {

LinkWork::LinkWork(std::vector<torch::Tensor> outputs)
    : outputs_(std::move(outputs)),
      future_(
          c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()))) {
}

void LinkWork::complete() {
  future_->markCompleted(c10::IValue(outputs_));
  finish();
}

bool LinkWork::wait(std::chrono::milliseconds timeout) {
  const bool done = Work::wait(timeout);
  if (let_go_) let_go_->wait(false);
  return done;
}

void LinkWork::fail(std::exception_ptr reason) {
  future_->setError(reason);
  finish(std::move(reason));
}

void wait_and_release(const c10::intrusive_ptr<c10d::Work>& work) {
  work->wait();
  while (work.use_count() > 1) std::this_thread::yield();
}

}  // namespace shardlens::trainer::comm
