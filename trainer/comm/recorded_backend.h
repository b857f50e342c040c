// The c10d backend that every collective passes, whoever asks for it: counts it, enters it in the
// recorder, applies faults on purpose, hands it to the executor. Any thread.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "profiler/recorder/recorder.h"
#include "trace/job/settings/grammars.h"
#include "trainer/comm/collective_executor.h"

namespace shardlens::trainer::comm {

class RecordedBackend final : public c10d::Backend {
 public:
  // `group` is the recorder's number of the process group.
  RecordedBackend(c10::intrusive_ptr<c10d::Backend> inner,
                  std::unique_ptr<CollectiveExecutor> executor,
                  profiler::recorder::Recorder& recorder, int group);

  const std::string getBackendName() const override { return inner_->getBackendName(); }
  void setTimeout(std::chrono::milliseconds timeout) override { inner_->setTimeout(timeout); }
  void shutdown() override;

  void set_default_tag(CollectiveTag tag);
  void inject_next(trace::job::InjectedFault fault);

  // With a tag of the caller; the overrides below use the default one.
  c10::intrusive_ptr<c10d::Work> all_reduce(torch::Tensor tensor, CollectiveTag tag,
                                            const c10d::AllreduceOptions& options);
  c10::intrusive_ptr<c10d::Work> broadcast_tagged(torch::Tensor tensor, CollectiveTag tag,
                                                  const c10d::BroadcastOptions& options);
  c10::intrusive_ptr<c10d::Work> all_gather(torch::Tensor output, torch::Tensor input,
                                            CollectiveTag tag);
  c10::intrusive_ptr<c10d::Work> reduce_scatter(torch::Tensor output, torch::Tensor input,
                                                CollectiveTag tag,
                                                const c10d::ReduceScatterOptions& options);
  c10::intrusive_ptr<c10d::Work> barrier_tagged(CollectiveTag tag,
                                                const c10d::BarrierOptions& options);

  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors,
                                           const c10d::AllreduceOptions& options) override;
  c10::intrusive_ptr<c10d::Work> broadcast(std::vector<at::Tensor>& tensors,
                                           const c10d::BroadcastOptions& options) override;
  c10::intrusive_ptr<c10d::Work> _allgather_base(at::Tensor& output, at::Tensor& input,
                                                 const c10d::AllgatherOptions& options) override;
  c10::intrusive_ptr<c10d::Work> allgather(std::vector<std::vector<at::Tensor>>& outputs,
                                           std::vector<at::Tensor>& inputs,
                                           const c10d::AllgatherOptions& options) override;
  c10::intrusive_ptr<c10d::Work> _reduce_scatter_base(
      at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& options) override;
  c10::intrusive_ptr<c10d::Work> barrier(const c10d::BarrierOptions& options) override;

 private:
  // `what` but for its number, which it gets here.
  c10::intrusive_ptr<c10d::Work> enter(CollectiveDescription what,
                                       std::vector<torch::Tensor> outputs,
                                       decltype(CollectiveJob::launch) launch);
  // Of a collective that leaves its result where it found its input. `start`: asks the backend.
  template <typename Start>
  c10::intrusive_ptr<c10d::Work> in_place(trace::model::CollectiveFunction function,
                                          const torch::Tensor& tensor, CollectiveTag tag,
                                          Start start);
  CollectiveTag default_tag();
  // For a collective that may be left out and, if it `has_size`, have another.
  std::optional<trace::job::InjectedFault> take_fault(bool has_size = true);
  // The tensor to hand to the backend: as it is, or with a value more for each of its `parts` if
  // that fault is due.
  torch::Tensor with_fault(torch::Tensor tensor,
                           const std::optional<trace::job::InjectedFault>& fault, int parts = 1);
  trace::model::StringId interned(const std::string& text);

  c10::intrusive_ptr<c10d::Backend> inner_;
  std::unique_ptr<CollectiveExecutor> executor_;
  profiler::recorder::Recorder& recorder_;
  const int group_;

  std::mutex mutex_;  // keeps number and submission of a collective together
  std::int64_t next_sequence_ = 0;
  CollectiveTag default_tag_;
  std::optional<trace::job::InjectedFault> fault_;
  std::map<std::string, trace::model::StringId> strings_;
};

}  // namespace shardlens::trainer::comm
