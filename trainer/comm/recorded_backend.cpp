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

WorkPointer RecordedBackend::enter(CollectiveDescription what, std::vector<torch::Tensor> outputs,
                                   decltype(CollectiveJob::launch) launch) {
  const std::lock_guard lock(mutex_);
  what.sequence = next_sequence_++;
  profiler::queue::CollectiveCall entry;
  entry.process_group = group_;
  entry.sequence = what.sequence;
  entry.function = what.function;
  entry.executed = what.executed;
  entry.tag_kind = what.tag.kind;
  entry.tag_index = what.tag.index;
  if (what.tag.kind != trace::model::TagKind::kNone) entry.tag_name = interned(what.tag.name);
  entry.data_type = interned(name_of(what.type));
  entry.bytes = what.bytes;
  const auto handle = recorder_.enter_collective(entry);
  return executor_->submit({std::move(what), handle, std::move(launch), std::move(outputs)});
}

template <typename Start>
WorkPointer RecordedBackend::in_place(CollectiveFunction function, const torch::Tensor& tensor,
                                      CollectiveTag tag, Start start) {
  const auto fault = take_fault();
  if (fault == trace::job::InjectedFault::kSkipCollective) return completed_work({tensor});
  const torch::Tensor moved = with_fault(tensor, fault);
  return enter({-1, function, function, moved.scalar_type(), bytes_of(moved), std::move(tag)},
               {tensor}, [tensors = std::vector{moved}, start](c10d::Backend& backend) mutable {
                 return start(backend, tensors);
               });
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
  constexpr auto kFunction = CollectiveFunction::kAllGather;
  return enter({-1, kFunction, kFunction, all.scalar_type(), bytes_of(all), std::move(tag)},
               {output}, [all, own, gloo](c10d::Backend& backend) mutable -> WorkPointer {
                 if (!gloo) return backend._allgather_base(all, own);
                 static_cast<TaggedGloo&>(backend).gather_in_place(all, own);
                 return completed_work({all});
               });
}

WorkPointer RecordedBackend::reduce_scatter(torch::Tensor output, torch::Tensor input,
                                            CollectiveTag tag,
                                            const c10d::ReduceScatterOptions& options) {
  const auto fault = take_fault();
  if (fault == trace::job::InjectedFault::kSkipCollective) return completed_work({output});
  torch::Tensor all = with_fault(input, fault, getSize()), own = with_fault(output, fault);
  // Gloo has no reduce-scatter: it reduces everything everywhere.
  const bool gloo = getBackendName() == "gloo";
  TORCH_CHECK(!gloo || options.reduceOp == c10d::ReduceOp::SUM, "Gloo's reduce-scatter sums only");
  constexpr auto kFunction = CollectiveFunction::kReduceScatter;
  return enter({-1, kFunction, gloo ? CollectiveFunction::kAllReduce : kFunction, all.scalar_type(),
                bytes_of(all), std::move(tag)},
               {output}, [all, own, gloo, options](c10d::Backend& backend) mutable -> WorkPointer {
                 if (!gloo) return backend._reduce_scatter_base(own, all, options);
                 // In place: Gloo's own form copies the whole input first, and frees the copy a
                 // little late.
                 std::vector<torch::Tensor> tensors{all};
                 wait_and_release(backend.allreduce(tensors));
                 own.view({-1}).copy_(
                     all.view({-1}).narrow(0, backend.getRank() * own.numel(), own.numel()));
                 return completed_work({own});
               });
}

WorkPointer RecordedBackend::barrier_tagged(CollectiveTag tag,
                                            const c10d::BarrierOptions& options) {
  if (take_fault(/*has_size=*/false)) return completed_work({});
  constexpr auto kFunction = CollectiveFunction::kBarrier;
  return enter({-1, kFunction, kFunction, torch::kUInt8, 0, std::move(tag)}, {},
               [options](c10d::Backend& backend) { return backend.barrier(options); });
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
  constexpr auto kFunction = CollectiveFunction::kAllGather;
  return enter(
      {-1, kFunction, kFunction, own[0].scalar_type(), bytes_of(own[0]) * getSize(), default_tag()},
      outputs[0], [all, own, options](c10d::Backend& backend) mutable {
        return backend.allgather(all, own, options);
      });
}

WorkPointer RecordedBackend::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                                  const c10d::ReduceScatterOptions& options) {
  return reduce_scatter(output, input, default_tag(), options);
}

WorkPointer RecordedBackend::barrier(const c10d::BarrierOptions& options) {
  return barrier_tagged(default_tag(), options);
}

}  // namespace shardlens::trainer::comm
