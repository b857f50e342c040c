// A collective that a GlooLink carries out: completed or failed by the link's thread, awaited
// anywhere.
#pragma once

#include <torch/types.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <utility>
#include <vector>

namespace shardlens::trainer::comm {

class LinkWork final : public c10d::Work {
 public:
  explicit LinkWork(std::vector<torch::Tensor> outputs);

  void complete();
  void fail(std::exception_ptr reason);

  // While somebody else carries it out: `false`, until they hold none of its tensors any more. Set
  // before anybody can wait.
  using LetGo = std::shared_ptr<std::atomic<bool>>;
  void wait_also_for(LetGo let_go) { let_go_ = std::move(let_go); }

  // Also waits until no other thread holds the tensors, so that memory does not depend on how soon
  // other threads run.
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;

  std::vector<torch::Tensor> result() override { return outputs_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }

 private:
  std::vector<torch::Tensor> outputs_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
  LetGo let_go_;
};

// Waits for a work of Gloo, and until Gloo's thread has let go of it, which it does a moment after
// it tells that it is done.
void wait_and_release(const c10::intrusive_ptr<c10d::Work>& work);

}  // namespace shardlens::trainer::comm
