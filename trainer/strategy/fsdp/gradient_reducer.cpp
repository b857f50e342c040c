#include "trainer/strategy/fsdp/gradient_reducer.h"

#include <utility>

#include "profiler/pytorch/torch_sources.h"

namespace shardlens::trainer::strategy {

namespace {

using c10::ivalue::Future;

// A work that runs `next` once `first` has ended and is complete when both have. No thread waits.
Completion chained(const c10::intrusive_ptr<c10d::Work>& first,
                   std::function<c10::intrusive_ptr<c10d::Work>()> next) {
  const auto both = c10::make_intrusive<Future>(c10::NoneType::get());
  const auto works = std::make_shared<Completion::Works>(Completion::Works{first});
  auto end = [both](Future& ended) {
    if (ended.hasError()) {
      both->setError(ended.exception_ptr());
    } else {
      both->markCompleted();
    }
  };
  first->getFuture()->addCallback([both, works, end, next = std::move(next)](Future& ended) {
    if (ended.hasError()) return both->setError(ended.exception_ptr());
    try {
      works->push_back(next());
      works->back()->getFuture()->addCallback(end);
    } catch (...) {
      both->setError(std::current_exception());
    }
  });
  return {both, works};
}

}  // namespace

// As fully_shard (torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py,
// _get_gradient_divide_factors): NCCL divides inside its kernel, without a pass of our own, but in
// fp16 one half of the division comes before and one after, so that neither sum nor summands leave
// its range. Gloo only sums.
GradientReducer::Averaging GradientReducer::averaging(torch::ScalarType type) const {
  const int shards = shard_group_ != nullptr ? shard_group_->world_size() : 1;
  const int ranks = shards * (replicas_ != nullptr ? replicas_->world_size() : 1);
  if (ranks == 1) return {};
  if (!streams_.exist()) return {.before = 1.0 / ranks};
  if (type != torch::kFloat16) return {.operation = c10d::ReduceOp::AVG};
  int before = 1;
  while (ranks % before == 0 && ranks / before > before) before *= 2;
  return {.before = 1.0 / before, .after = static_cast<double>(before) / ranks};
}

void GradientReducer::launch(FlatBuffer& buffer, const comm::CollectiveTag& tag) {
  finish();
  UnderWay next;
  next.buffer = &buffer;
  const Averaging average = averaging(buffer.reduced_type());
  next.factor = average.after;
  next.input = buffer.take_gradients(average.before);
  next.output = next.input;
  if (shard_group_ != nullptr) {
    const profiler::memory::MemoryCategoryScope category(trace::model::MemoryCategory::kGradients);
    next.output =
        torch::empty({next.input.numel() / shard_group_->world_size()}, next.input.options());
  }
  next.completion = reduce(next.input, next.output, tag, average.operation);
  under_way_ = std::move(next);
}

Completion GradientReducer::reduce(const torch::Tensor& input, const torch::Tensor& output,
                                   const comm::CollectiveTag& tag,
                                   c10d::ReduceOp::RedOpType operation) {
  if (!streams_.exist()) return reduce_on_host(input, output, tag);
  streams_.let_reduce_stream_wait();
  Completion completion;
  streams_.on_reduce_stream([&] {
    if (shard_group_ != nullptr)
      shard_group_->reduce_scatter(output, input, tag, operation)->wait();
    if (replicas_ != nullptr) replicas_->all_reduce(output, tag, operation)->wait();
    completion = *streams_.mark();
  });
  return completion;
}

Completion GradientReducer::reduce_on_host(const torch::Tensor& input, const torch::Tensor& output,
                                           const comm::CollectiveTag& tag) {
  if (shard_group_ == nullptr && replicas_ == nullptr) return {};
  if (shard_group_ == nullptr) return Completion(replicas_->all_reduce(output, tag));
  const auto scattered = shard_group_->reduce_scatter(output, input, tag);
  if (replicas_ == nullptr) return Completion(scattered);
  return chained(scattered, [this, output, tag] { return replicas_->all_reduce(output, tag); });
}

void GradientReducer::finish() {
  if (!under_way_) return;
  UnderWay ended = *std::exchange(under_way_, std::nullopt);
  ended.completion.wait();
  ended.completion = {};
  ended.input.reset();
  if (ended.factor != 1) ended.output.mul_(ended.factor);
  ended.buffer->add_reduced(ended.output);
}

}  // namespace shardlens::trainer::strategy
