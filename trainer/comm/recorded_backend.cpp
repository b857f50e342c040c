#include "trainer/comm/recorded_backend.h"

#include <utility>

#include "trainer/comm/link_work.h"
#include "trainer/comm/tagged_gloo.h"

namespace shardlens::trainer::comm {

using trace::model::CollectiveFunction;
using WorkPointer = c10::intrusive_ptr<c10d::Work>;

namespace {

std::int64_t bytes_of(const torch::Tensor& tensor) {
  return static_cast<std::int64_t>(tensor.nbytes());
}

WorkPointer completed_work(std::vector<torch::Tensor> outputs) {
  auto work = c10::make_intrusive<LinkWork>(std::move(outputs));
  work->complete();
  return work;
}

}  // namespace

RecordedBackend::RecordedBackend(c10::intrusive_ptr<c10d::Backend> inner,
                                 std::unique_ptr<CollectiveExecutor> executor,
                                 profiler::recorder::Recorder& recorder, int group)
    : Backend(inner->getRank(), inner->getSize()),
      inner_(std::move(inner)),
      executor_(std::move(executor)),
      recorder_(recorder),
      group_(group) {}

void RecordedBackend::shutdown() {
  if (take_fault()) {
    recorder_.log(trace::model::LogLine::Level::kWarning,
                  "A fault was injected that no collective came to show: name an earlier step or "
                  "phase in `inject`.");
  }
  executor_->close();
}

void RecordedBackend::set_default_tag(CollectiveTag tag) {
  const std::lock_guard lock(mutex_);
  default_tag_ = std::move(tag);
}

void RecordedBackend::inject_next(trace::job::InjectedFault fault) {
  const std::lock_guard lock(mutex_);
  fault_ = fault;
}

CollectiveTag RecordedBackend::default_tag() {
  const std::lock_guard lock(mutex_);
  return default_tag_;
}

std::optional<trace::job::InjectedFault> RecordedBackend::take_fault(bool has_size) {
  const std::lock_guard lock(mutex_);
  if (!has_size && fault_ == trace::job::InjectedFault::kUnequalSize) return std::nullopt;
  return std::exchange(fault_, std::nullopt);
}

torch::Tensor RecordedBackend::with_fault(torch::Tensor tensor,
                                          const std::optional<trace::job::InjectedFault>& fault,
                                          int parts) {
  if (fault != trace::job::InjectedFault::kUnequalSize) return tensor;
  return torch::zeros({tensor.numel() + parts}, tensor.options());
}

trace::model::StringId RecordedBackend::interned(const std::string& text) {
  const auto known = strings_.find(text);
  if (known != strings_.end()) return known->second;
  return strings_[text] = recorder_.intern(text);
}

WorkPointer RecordedBackend::enter(Call call) {
  const std::lock_guard lock(mutex_);
  profiler::queue::CollectiveCall entry;
  entry.process_group = group_;
  entry.sequence = next_sequence_++;
  entry.function = call.function;
  entry.executed = call.executed;
  entry.tag_kind = call.tag.kind;
  entry.tag_index = call.tag.index;
  if (call.tag.kind != trace::model::TagKind::kNone) entry.tag_name = interned(call.tag.name);
  entry.data_type = interned(std::string(to_text(call.type)));
  entry.bytes = call.bytes;

  CollectiveJob job;
  job.description = {entry.sequence, call.function, call.executed,
                     call.type,      call.bytes,    std::move(call.tag)};
  job.handle = recorder_.enter_collective(entry);
  job.launch = std::move(call.launch);
  job.outputs = std::move(call.outputs);
  return executor_->submit(std::move(job));
}

template <typename Start>
WorkPointer RecordedBackend::in_place(CollectiveFunction function, const torch::Tensor& tensor,
                                      CollectiveTag tag, Start start) {
  const auto fault = take_fault();
  if (fault == trace::job::InjectedFault::kSkipCollective) return completed_work({tensor});
  const torch::Tensor moved = with_fault(tensor, fault);
  Call call{function, function, moved.scalar_type(), bytes_of(moved), std::move(tag), {tensor}, {}};
  call.launch = [tensors = std::vector{moved}, start](c10d::Backend& backend) mutable {
    return start(backend, tensors);
  };
  return enter(std::move(call));
}

WorkPointer RecordedBackend::all_reduce(torch::Tensor tensor, CollectiveTag tag,
                                        const c10d::AllreduceOptions& options) {
  return in_place(CollectiveFunction::kAllReduce, tensor, std::move(tag),
                  [options](c10d::Backend& backend, std::vector<torch::Tensor>& tensors) {
                    return backend.allreduce(tensors, options);
                  });
}

WorkPointer RecordedBackend::broadcast_tagged(torch::Tensor tensor, CollectiveTag tag,
                                              const c10d::BroadcastOptions& options) {
  return in_place(CollectiveFunction::kBroadcast, tensor, std::move(tag),
                  [options](c10d::Backend& backend, std::vector<torch::Tensor>& tensors) {
                    return backend.broadcast(tensors, options);
                  });
}

WorkPointer RecordedBackend::all_gather(torch::Tensor output, torch::Tensor input,
                                        CollectiveTag tag) {
  const auto fault = take_fault();
  if (fault == trace::job::InjectedFault::kSkipCollective) return completed_work({output});
  const bool gloo = getBackendName() == "gloo";
  torch::Tensor all = with_fault(output, fault, getSize()), own = with_fault(input, fault);
  Call call{CollectiveFunction::kAllGather,
            CollectiveFunction::kAllGather,
            all.scalar_type(),
            bytes_of(all),
            std::move(tag),
            {output},
            {}};
  call.launch = [all, own, gloo](c10d::Backend& backend) mutable -> WorkPointer {
    if (!gloo) return backend._allgather_base(all, own);
    static_cast<TaggedGloo&>(backend).gather_in_place(all, own);
    return completed_work({all});
  };
  return enter(std::move(call));
}

WorkPointer RecordedBackend::reduce_scatter(torch::Tensor output, torch::Tensor input,
                                            CollectiveTag tag,
                                            const c10d::ReduceScatterOptions& options) {
  const auto fault = take_fault();
  if (fault == trace::job::InjectedFault::kSkipCollective) return completed_work({output});
  torch::Tensor all = with_fault(input, fault, getSize()), own = with_fault(output, fault);
  // Gloo has no reduce-scatter: it reduces everything everywhere.
  const bool gloo = getBackendName() == "gloo";
  Call call{CollectiveFunction::kReduceScatter,
            gloo ? CollectiveFunction::kAllReduce : CollectiveFunction::kReduceScatter,
            all.scalar_type(),
            bytes_of(all),
            std::move(tag),
            {output},
            {}};
  TORCH_CHECK(!gloo || options.reduceOp == c10d::ReduceOp::SUM, "Gloo's reduce-scatter sums only");
  call.launch = [all, own, gloo, options](c10d::Backend& backend) mutable -> WorkPointer {
    if (!gloo) return backend._reduce_scatter_base(own, all, options);
    // In place: Gloo's own form copies the whole input first, and frees the copy a little late.
    std::vector<torch::Tensor> tensors{all};
    wait_and_release(backend.allreduce(tensors));
    own.view({-1}).copy_(all.view({-1}).narrow(0, backend.getRank() * own.numel(), own.numel()));
    return completed_work({own});
  };
  return enter(std::move(call));
}

WorkPointer RecordedBackend::barrier_tagged(CollectiveTag tag,
                                            const c10d::BarrierOptions& options) {
  if (take_fault(/*has_size=*/false)) return completed_work({});
  Call call{CollectiveFunction::kBarrier,
            CollectiveFunction::kBarrier,
            torch::kUInt8,
            0,
            std::move(tag),
            {},
            [options](c10d::Backend& backend) { return backend.barrier(options); }};
  return enter(std::move(call));
}

WorkPointer RecordedBackend::allreduce(std::vector<at::Tensor>& tensors,
                                       const c10d::AllreduceOptions& options) {
  TORCH_CHECK(tensors.size() == 1, "an all-reduce takes one tensor, not ", tensors.size());
  return all_reduce(tensors[0], default_tag(), options);
}

WorkPointer RecordedBackend::broadcast(std::vector<at::Tensor>& tensors,
                                       const c10d::BroadcastOptions& options) {
  TORCH_CHECK(tensors.size() == 1, "a broadcast takes one tensor, not ", tensors.size());
  return broadcast_tagged(tensors[0], default_tag(), options);
}

WorkPointer RecordedBackend::_allgather_base(at::Tensor& output, at::Tensor& input,
                                             const c10d::AllgatherOptions&) {
  return all_gather(output, input, default_tag());
}

WorkPointer RecordedBackend::allgather(std::vector<std::vector<at::Tensor>>& outputs,
                                       std::vector<at::Tensor>& inputs,
                                       const c10d::AllgatherOptions& options) {
  TORCH_CHECK(inputs.size() == 1 && outputs.size() == 1, "an all-gather takes one tensor, not ",
              inputs.size());
  const auto fault = take_fault();
  if (fault == trace::job::InjectedFault::kSkipCollective) return completed_work(outputs[0]);
  std::vector<at::Tensor> own{with_fault(inputs[0], fault)};
  std::vector<std::vector<at::Tensor>> all{outputs[0]};
  for (at::Tensor& part : all[0]) part = with_fault(part, fault);
  Call call{CollectiveFunction::kAllGather,
            CollectiveFunction::kAllGather,
            own[0].scalar_type(),
            bytes_of(own[0]) * getSize(),
            default_tag(),
            outputs[0],
            {}};
  call.launch = [all, own, options](c10d::Backend& backend) mutable {
    return backend.allgather(all, own, options);
  };
  return enter(std::move(call));
}

WorkPointer RecordedBackend::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                                  const c10d::ReduceScatterOptions& options) {
  return reduce_scatter(output, input, default_tag(), options);
}

WorkPointer RecordedBackend::barrier(const c10d::BarrierOptions& options) {
  return barrier_tagged(default_tag(), options);
}

}  // namespace shardlens::trainer::comm
