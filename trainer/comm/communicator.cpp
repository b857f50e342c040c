#include "trainer/comm/communicator.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "trainer/comm/gloo_link.h"
#include "trainer/comm/nccl_executor.h"
#include "trainer/comm/recorded_backend.h"
#include "trainer/comm/rendezvous.h"
#include "trainer/comm/tagged_gloo.h"

namespace shardlens::trainer {

namespace {

constexpr int kWorld = 0;  // the recorder's id of the group of all ranks

using WorkPointer = c10::intrusive_ptr<c10d::Work>;
using BackendPointer = c10::intrusive_ptr<RecordedBackend>;

class WorldCommunicator final : public Communicator {
 public:
  WorldCommunicator(c10::intrusive_ptr<c10d::ProcessGroup> group, BackendPointer backend,
                    torch::Device device)
      : group_(std::move(group)), backend_(std::move(backend)), device_(device) {}
  ~WorldCommunicator() override { shutdown(); }

  int rank() const override { return backend_->getRank(); }
  int world_size() const override { return backend_->getSize(); }
  c10::intrusive_ptr<c10d::ProcessGroup> process_group() override { return group_; }

  WorkPointer all_reduce(torch::Tensor tensor, CollectiveTag tag,
                         c10d::ReduceOp::RedOpType operation) override {
    c10d::AllreduceOptions options;
    options.reduceOp = operation;
    return backend_->all_reduce(std::move(tensor), std::move(tag), options);
  }
  WorkPointer broadcast(torch::Tensor tensor, int root, CollectiveTag tag) override {
    c10d::BroadcastOptions options;
    options.rootRank = root;
    return backend_->broadcast_tagged(std::move(tensor), std::move(tag), options);
  }
  WorkPointer all_gather(torch::Tensor output, torch::Tensor input, CollectiveTag tag) override {
    return backend_->all_gather(std::move(output), std::move(input), std::move(tag));
  }
  void barrier(CollectiveTag tag) override {
    c10d::BarrierOptions options;
    if (device_.is_cuda()) options.device_ids = {device_.index()};
    backend_->barrier_tagged(std::move(tag), options)->wait();
  }
  void set_default_tag(CollectiveTag tag) override { backend_->set_default_tag(std::move(tag)); }
  void inject_next(trace::InjectedFault fault) override { backend_->inject_next(fault); }
  void shutdown() override { backend_->shutdown(); }

 private:
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  BackendPointer backend_;
  torch::Device device_;
};

c10::intrusive_ptr<TaggedGloo> connect_gloo(const c10::intrusive_ptr<c10d::Store>& store,
                                            const CommunicatorOptions& options) {
  auto gloo_options = c10d::ProcessGroupGloo::Options::create(
      std::max<std::chrono::milliseconds>(options.timeout, kConnectTimeout));
  gloo_options->devices = {options.single_machine
                               ? c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1")
                               : c10d::ProcessGroupGloo::createDefaultDevice()};
  // With more, two collectives run side by side and finish out of order.
  gloo_options->threads = 1;
  auto gloo =
      c10::make_intrusive<TaggedGloo>(store, options.rank, options.world_size, gloo_options);
  // Only now: ranks may start further apart than a collective may take.
  gloo->setTimeout(options.timeout);
  return gloo;
}

BackendPointer connect_backend(const c10::intrusive_ptr<c10d::Store>& store,
                               const CommunicatorOptions& options, profiler::Recorder& recorder) {
  if (options.device.is_cuda()) {
    const auto nccl =
        create_nccl(store, options.rank, options.world_size, options.device, options.timeout);
    return c10::make_intrusive<RecordedBackend>(
        nccl, std::make_unique<NcclExecutor>(nccl, options.device, recorder), recorder);
  }
  const auto gloo = connect_gloo(store, options);
  return c10::make_intrusive<RecordedBackend>(
      gloo, std::make_unique<GlooLink>(gloo, options.simulated_link, options.timeout, recorder),
      recorder);
}

void register_group(const CommunicatorOptions& options, profiler::Recorder& recorder) {
  std::vector<int> ranks(static_cast<std::size_t>(options.world_size));
  std::iota(ranks.begin(), ranks.end(), 0);
  const char* backend = options.device.is_cuda() ? "nccl"
                        : options.simulated_link ? "gloo, simulated link"
                                                 : "gloo";
  recorder.add_process_group(kWorld, "world", backend, std::move(ranks));
}

trace::Result<std::unique_ptr<Communicator>> failed_to_connect(const CommunicatorOptions& options,
                                                               const std::string& reason) {
  const std::string place = options.store_file.empty()
                                ? options.master_address + ":" + std::to_string(options.master_port)
                                : options.store_file;
  return trace::fail(trace::ErrorKind::kFailed,
                     "Rank " + std::to_string(options.rank) + " could not meet the other " +
                         std::to_string(options.world_size - 1) + " ranks at " + place + ": " +
                         reason + " See the logs of the other ranks.");
}

}  // namespace

trace::Result<std::unique_ptr<Communicator>> Communicator::connect(
    const CommunicatorOptions& options, profiler::Recorder& recorder) {
  if (options.simulated_link && options.device.is_cuda()) {
    return trace::fail(trace::ErrorKind::kUsage,
                       "simulate_link works with device cpu only. Set device=cpu.");
  }
  if (options.simulated_link && !options.single_machine) {
    return trace::fail(trace::ErrorKind::kUsage,
                       "simulate_link works with all ranks on one machine only, as it compares "
                       "their clocks. Set simulate_link=off.");
  }
  try {
    const auto store = meet(options);
    auto backend = connect_backend(store, options, recorder);
    auto group = c10::make_intrusive<c10d::ProcessGroup>(store, options.rank, options.world_size);
    const auto type = options.device.is_cuda() ? c10d::ProcessGroup::BackendType::NCCL
                                               : c10d::ProcessGroup::BackendType::GLOO;
    group->setBackend(options.device.type(), type, c10::intrusive_ptr<c10d::Backend>(backend));
    group->setDefaultBackend(type);
    register_group(options, recorder);
    return std::make_unique<WorldCommunicator>(std::move(group), std::move(backend),
                                               options.device);
  } catch (const c10::Error& error) {
    return failed_to_connect(options, error.what_without_backtrace());
  } catch (const std::exception& error) {
    return failed_to_connect(options, error.what());
  }
}

}  // namespace shardlens::trainer
