#include "trainer/strategy/ddp/bucket_hook.h"

#include <utility>

#include "profiler/pytorch/torch_sources.h"

namespace shardlens::trainer::strategy {

namespace {

using FuturePointer = c10::intrusive_ptr<c10::ivalue::Future>;

FuturePointer new_future(const torch::Tensor& buffer) {
  std::vector<c10::Device> devices;
  if (buffer.is_cuda()) devices.push_back(buffer.device());
  return c10::make_intrusive<c10::ivalue::Future>(c10::TensorType::get(), std::move(devices));
}

// What `finish` has done with the bucket once it is reduced. NCCL keeps the tensors of a collective
// until somebody waits for it, or its watchdog looks, every 100 ms; the stream of the callback
// waits already. Gloo's would wait for this callback.
template <typename Finish>
FuturePointer when_reduced(const c10::intrusive_ptr<c10d::Work>& work, const torch::Tensor& buffer,
                           Finish finish) {
  return work->getFuture()->then(
      [work, buffer, finish](c10::ivalue::Future& reduced) {
        reduced.value();  // throws what the collective threw
        if (buffer.is_cuda()) work->wait();
        finish();
        return c10::IValue(buffer);
      },
      c10::TensorType::get());
}

comm::CollectiveTag bucket_tag(int bucket) { return {trace::model::TagKind::kBucket, bucket, ""}; }

}  // namespace

BucketHook::BucketHook(comm::Communicator& communicator, profiler::recorder::Recorder& recorder,
                       const trace::job::Settings& settings, std::shared_ptr<std::size_t> launched)
    : communicator_(communicator),
      recorder_(recorder),
      hook_(settings.communication_hook),
      overlaps_(settings.overlap_comm),
      communicates_(settings.communication != trace::job::Communication::kNone),
      launched_(std::move(launched)) {}

FuturePointer BucketHook::runHook(c10d::GradBucket& bucket) {
  const torch::NoGradGuard no_gradients;
  const int index = static_cast<int>(bucket.getIndex());
  recorder_.bucket_ready(index);
  ++*launched_;
  torch::Tensor buffer = bucket.getBuffer();
  if (!communicates_) {
    auto result = new_future(buffer);
    result->markCompleted(buffer);
    return result;
  }
  if (overlaps_) return reduce(index, std::move(buffer));
  // What an earlier, failed backward left must not be reduced now.
  if (index == 0) deferred_.clear();
  deferred_.push_back({index, buffer, new_future(buffer)});
  auto result = deferred_.back().result;
  if (bucket.isLast()) launch_deferred();
  return result;
}

torch::Tensor BucketHook::parseHookResult(const c10::IValue& result) { return result.toTensor(); }

FuturePointer BucketHook::reduce(int bucket, torch::Tensor buffer) {
  switch (hook_) {
    case trace::job::CommunicationHook::kFp16Compress:
      return reduce_compressed(bucket, buffer, torch::kFloat16);
    case trace::job::CommunicationHook::kBf16Compress:
      return reduce_compressed(bucket, buffer, torch::kBFloat16);
    case trace::job::CommunicationHook::kNone:
      break;
  }
  return reduce_plain(bucket, std::move(buffer));
}

FuturePointer BucketHook::reduce_plain(int bucket, torch::Tensor buffer) {
  auto operation = c10d::ReduceOp::SUM;
  if (communicator_.world_size() == 1) {
    // NCCL would run a kernel of its own over the bucket for an average, and has none for a sum.
  } else if (buffer.is_cuda()) {
    operation = c10d::ReduceOp::AVG;  // inside NCCL's kernel: no pass of our own over the bucket
  } else {
    buffer.mul_(1.0 / communicator_.world_size());
  }
  const auto work = communicator_.all_reduce(buffer, bucket_tag(bucket), operation);
  return when_reduced(work, buffer, [] {});
}

FuturePointer BucketHook::reduce_compressed(int bucket, torch::Tensor buffer,
                                            torch::ScalarType type) {
  const profiler::memory::MemoryCategoryScope communication(
      trace::model::MemoryCategory::kCommunication);
  const torch::Tensor compressed = buffer.to(type).div_(communicator_.world_size());
  const auto work = communicator_.all_reduce(compressed, bucket_tag(bucket));
  return when_reduced(work, buffer, [buffer, compressed] {
    const torch::NoGradGuard no_gradients;
    buffer.copy_(compressed);
  });
}

void BucketHook::launch_deferred() {
  for (Deferred& deferred : std::exchange(deferred_, {})) {
    reduce(deferred.bucket, deferred.buffer)
        ->addCallback([result = deferred.result](c10::ivalue::Future& reduced) {
          if (reduced.hasError()) {
            result->setError(reduced.exception_ptr());
          } else {
            result->markCompleted(reduced.value());
          }
        });
  }
}

}  // namespace shardlens::trainer::strategy
