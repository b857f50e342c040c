#include "trainer/fsdp/gradient_reducer.h"

#include <utility>

#include "profiler/torch/torch_sources.h"

namespace shardlens::trainer {

namespace {

constexpr std::size_t kMostUnderWay = 2;

using c10::ivalue::Future;

// Runs `next` once `first` is there; the result is there once that has ended, too. No thread waits.
c10::intrusive_ptr<Future> chained(const c10::intrusive_ptr<Future>& first,
                                   std::function<c10::intrusive_ptr<c10d::Work>()> next) {
  auto both = c10::make_intrusive<Future>(c10::NoneType::get());
  auto end = [both](Future& ended) {
    if (ended.hasError()) {
      both->setError(ended.exception_ptr());
    } else {
      both->markCompleted();
    }
  };
  first->addCallback([both, end, next = std::move(next)](Future& ended) {
    if (ended.hasError()) return both->setError(ended.exception_ptr());
    try {
      next()->getFuture()->addCallback(end);
    } catch (...) {
      both->setError(std::current_exception());
    }
  });
  return both;
}

}  // namespace

void GradientReducer::launch(FlatBuffer& buffer, double scale, const CollectiveTag& tag) {
  while (!under_way_.empty() &&
         (under_way_.size() >= kMostUnderWay || under_way_.front().completion.is_done())) {
    retire_first();
  }
  UnderWay next;
  next.buffer = &buffer;
  next.input = buffer.take_gradients(scale);
  next.output = next.input;
  if (shard_group_ != nullptr) {
    const profiler::MemoryCategoryScope category(trace::MemoryCategory::kGradients);
    next.output =
        torch::empty({next.input.numel() / shard_group_->world_size()}, next.input.options());
  }
  next.completion = reduce(next.input, next.output, tag);
  under_way_.push_back(std::move(next));
}

Completion GradientReducer::reduce(const torch::Tensor& input, const torch::Tensor& output,
                                   const CollectiveTag& tag) {
  if (!streams_.exist()) return reduce_on_host(input, output, tag);
  streams_.let_reduce_stream_wait();
  Completion completion;
  streams_.on_reduce_stream([&] {
    if (shard_group_ != nullptr) shard_group_->reduce_scatter(output, input, tag)->wait();
    if (replicas_ != nullptr) replicas_->all_reduce(output, tag)->wait();
    completion = *streams_.mark();
  });
  return completion;
}

Completion GradientReducer::reduce_on_host(const torch::Tensor& input, const torch::Tensor& output,
                                           const CollectiveTag& tag) {
  if (shard_group_ == nullptr && replicas_ == nullptr) return {};
  if (shard_group_ == nullptr) return Completion(replicas_->all_reduce(output, tag)->getFuture());
  const auto scattered = shard_group_->reduce_scatter(output, input, tag)->getFuture();
  if (replicas_ == nullptr) return Completion(scattered);
  return Completion(
      chained(scattered, [this, output, tag] { return replicas_->all_reduce(output, tag); }));
}

void GradientReducer::retire_first() {
  UnderWay& first = under_way_.front();
  first.completion.wait();
  first.input.reset();
  first.buffer->add_reduced(first.output);
  under_way_.pop_front();
}

void GradientReducer::finish() {
  while (!under_way_.empty()) retire_first();
}

}  // namespace shardlens::trainer
