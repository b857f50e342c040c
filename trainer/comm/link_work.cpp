#include "trainer/comm/link_work.h"

#include <utility>

namespace shardlens::trainer {

LinkWork::LinkWork(std::vector<torch::Tensor> outputs)
    : outputs_(std::move(outputs)),
      future_(
          c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()))) {
}

void LinkWork::complete() {
  future_->markCompleted(c10::IValue(outputs_));
  finish();
}

void LinkWork::fail(std::exception_ptr reason) {
  future_->setError(reason);
  finish(std::move(reason));
}

}  // namespace shardlens::trainer
