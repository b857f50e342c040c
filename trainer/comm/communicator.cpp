#include "trainer/comm/communicator.h"

#include <sched.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <utility>

#include "trace/base/text.h"
#include "trainer/comm/gloo_link.h"
#include "trainer/comm/nccl_executor.h"
#include "trainer/comm/own_address.h"
#include "trainer/comm/rendezvous.h"
#include "trainer/comm/tagged_gloo.h"
#include "trainer/cuda/cuda_part.h"

namespace shardlens::trainer::comm {

namespace {

constexpr int kWorld = 0;  // the recorder's id of the group of all ranks
// For CommunicatorOptions::on_timeout to save what was recorded and end the process, before
// LibTorch's watchdog, which counts from an earlier moment, ends it with a stack trace.
constexpr std::chrono::seconds kWatchdogGrace{10};
// Of ranks that are all there. Less than others wait for an answer of one that cannot connect.
constexpr std::chrono::milliseconds kGlooConnectTimeout{30'000};

using WorkPointer = c10::intrusive_ptr<c10d::Work>;
using GlooDevices = std::vector<std::shared_ptr<gloo::transport::Device>>;
using BackendPointer = c10::intrusive_ptr<RecordedBackend>;

// As long as it lives, threads that the calling one starts preempt nobody when they wake up:
// SCHED_BATCH of sched(7), which they inherit.
class PatientThreads {
 public:
  PatientThreads() : is_usual_(sched_getscheduler(0) == SCHED_OTHER) { set(SCHED_BATCH); }
  ~PatientThreads() { set(SCHED_OTHER); }
  PatientThreads(const PatientThreads&) = delete;
  PatientThreads& operator=(const PatientThreads&) = delete;

 private:
  void set(int policy) const {
    const sched_param none{};
    if (is_usual_) sched_setscheduler(0, policy, &none);
  }
  const bool is_usual_;
};

// Gloo's thread behind it goes round and round while another holds a connection's lock. If it took
// the core from that one, both would wait for the scheduler's next tick, 3 to 4 ms.
GlooDevices gloo_devices(const CommunicatorOptions& options) {
  using Gloo = c10d::ProcessGroupGloo;
  const PatientThreads patient;
  if (options.single_machine) return {Gloo::createDeviceForHostname("127.0.0.1")};
  if (!options.gloo_interfaces.empty()) {
    GlooDevices devices;
    for (const std::string_view each : trace::base::split(options.gloo_interfaces, ',')) {
      devices.push_back(Gloo::createDeviceForInterface(std::string(each)));
    }
    return devices;
  }
  // Gloo's own choice is what the machine's name stands for, often an address of its loopback.
  const auto own = own_address_towards(options.master_address);
  TORCH_CHECK(own, own.error().message);
  return {Gloo::createDeviceForHostname(*own)};
}

c10::intrusive_ptr<TaggedGloo> connect_gloo(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                            int size, const CommunicatorOptions& options) {
  auto gloo_options = c10d::ProcessGroupGloo::Options::create(kGlooConnectTimeout);
  // With more, two collectives run side by side and finish out of order.
  gloo_options->threads = 1;
  c10::intrusive_ptr<TaggedGloo> gloo;
  // Under load Gloo now and then takes a connection that is being made for one that was closed.
  connect_together(store, rank, size, [&](const c10::intrusive_ptr<c10d::Store>& part) {
    gloo.reset();
    gloo_options->devices = gloo_devices(options);
    gloo = c10::make_intrusive<TaggedGloo>(part, rank, size, gloo_options);
  });
  gloo->setTimeout(options.timeout);
  return gloo;
}

// Of the simulated link; 0: the group passes none.
std::int64_t share_of(const GroupPlan& plan, const CommunicatorOptions& options) {
  if (!options.simulated_link) return 0;
  trace::job::RankGroup group{.ranks = std::ssize(plan.ranks)};
  if (group.ranks > 1) group.apart = plan.ranks[1] - plan.ranks[0];
  return trace::job::link_share(*options.simulated_link, group, options.world_size);
}

BackendPointer connect_backend(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                               const GroupPlan& plan, const CommunicatorOptions& options,
                               const std::shared_ptr<SharedLink>& simulated,
                               profiler::recorder::Recorder& recorder) {
  const int size = static_cast<int>(plan.ranks.size());
  // Ranks may come further apart than a collective may take.
  wait_for_all(*store, rank, size, std::max(options.timeout, kConnectTimeout));
  const std::string lane = plan.id == kWorld ? "" : ", " + plan.name;
  if (options.device.is_cuda()) {
    const auto grace = options.on_timeout ? kWatchdogGrace : std::chrono::seconds(0);
    const auto cuda = cuda::load_cuda_part();
    TORCH_CHECK(cuda, cuda.error().message);
    const auto nccl = (*cuda)->create_nccl(
        store,
        {rank, size, options.device, options.timeout + grace, options.high_priority_streams});
    // The first collective would do it, and wait for a rank that does not come to it where nobody
    // watches.
    nccl->eagerConnectSingleDevice(options.device);
    return c10::make_intrusive<RecordedBackend>(
        nccl,
        std::make_unique<NcclExecutor>(
            nccl, recorder,
            NcclExecutorOptions{options.device, options.rank, lane, options.records_kernels,
                                options.timeout, options.on_timeout, (*cuda)->without_tensors}),
        recorder, plan.id);
  }
  const auto gloo = connect_gloo(store, rank, size, options);
  const std::int64_t share = share_of(plan, options);
  return c10::make_intrusive<RecordedBackend>(
      gloo,
      std::make_unique<GlooLink>(
          gloo, GlooLink::Simulated{.link = share > 0 ? simulated : nullptr, .share = share},
          options.timeout, recorder, lane, options.rank),
      recorder, plan.id);
}

void register_group(const GroupPlan& plan, const CommunicatorOptions& options,
                    profiler::recorder::Recorder& recorder) {
  const char* backend = options.device.is_cuda()      ? "nccl"
                        : share_of(plan, options) > 0 ? "gloo, simulated link"
                                                      : "gloo";
  recorder.add_process_group(plan.id, plan.name, backend, plan.ranks);
}

c10::intrusive_ptr<c10d::ProcessGroup> as_process_group(
    const c10::intrusive_ptr<c10d::Store>& store, const BackendPointer& backend,
    torch::Device device) {
  auto group =
      c10::make_intrusive<c10d::ProcessGroup>(store, backend->getRank(), backend->getSize());
  const auto type = device.is_cuda() ? c10d::ProcessGroup::BackendType::NCCL
                                     : c10d::ProcessGroup::BackendType::GLOO;
  group->setBackend(device.type(), type, c10::intrusive_ptr<c10d::Backend>(backend));
  group->setDefaultBackend(type);
  return group;
}

trace::base::Result<std::unique_ptr<Communicator>> failed_to_connect(
    const CommunicatorOptions& options, const std::string& reason) {
  const std::string place = options.store_file.empty()
                                ? options.master_address + ":" + std::to_string(options.master_port)
                                : options.store_file;
  return trace::base::fail(trace::base::ErrorKind::kFailed,
                           "Rank " + std::to_string(options.rank) + " could not meet the other " +
                               std::to_string(options.world_size - 1) + " ranks at " + place +
                               ": " + reason + (reason.ends_with('.') ? "" : ".") +
                               " See the logs of the other ranks.");
}

}  // namespace

Communicator::Communicator(c10::intrusive_ptr<c10d::Store> store, GroupPlan plan,
                           const CommunicatorOptions& options,
                           std::shared_ptr<SharedLink> simulated,
                           profiler::recorder::Recorder& recorder)
    : store_(std::move(store)),
      plan_(std::move(plan)),
      options_(options),
      simulated_(std::move(simulated)),
      recorder_(recorder) {
  const auto own = std::ranges::find(plan_.ranks, options.rank);
  TORCH_CHECK(own != plan_.ranks.end(), "rank ", options.rank, " is not in its group ", plan_.name);
  const int rank = static_cast<int>(own - plan_.ranks.begin());
  backend_ = connect_backend(store_, rank, plan_, options_, simulated_, recorder_);
  group_ = as_process_group(store_, backend_, options_.device);
  register_group(plan_, options_, recorder_);
}

WorkPointer Communicator::all_reduce(torch::Tensor tensor, CollectiveTag tag,
                                     c10d::ReduceOp::RedOpType operation) {
  c10d::AllreduceOptions options;
  options.reduceOp = operation;
  return backend_->all_reduce(std::move(tensor), std::move(tag), options);
}

WorkPointer Communicator::broadcast(torch::Tensor tensor, int root, CollectiveTag tag) {
  c10d::BroadcastOptions options;
  options.rootRank = root;
  return backend_->broadcast_tagged(std::move(tensor), std::move(tag), options);
}

WorkPointer Communicator::all_gather(torch::Tensor output, torch::Tensor input, CollectiveTag tag) {
  return backend_->all_gather(std::move(output), std::move(input), std::move(tag));
}

WorkPointer Communicator::reduce_scatter(torch::Tensor output, torch::Tensor input,
                                         CollectiveTag tag, c10d::ReduceOp::RedOpType operation) {
  c10d::ReduceScatterOptions options;
  options.reduceOp = operation;
  return backend_->reduce_scatter(std::move(output), std::move(input), std::move(tag), options);
}

void Communicator::barrier(CollectiveTag tag) {
  c10d::BarrierOptions options;
  if (device().is_cuda()) options.device_ids = {device().index()};
  backend_->barrier_tagged(std::move(tag), options)->wait();
}

std::unique_ptr<Communicator> Communicator::create_group(const std::string& name,
                                                         std::vector<int> ranks) {
  TORCH_CHECK(plan_.id == kWorld, "only the world is divided into groups");
  const std::string prefix =
      "group " + std::to_string(++groups_) + " of rank " + std::to_string(ranks.at(0));
  return std::unique_ptr<Communicator>(new Communicator(
      c10::make_intrusive<c10d::PrefixStore>(prefix, store_),
      GroupPlan{groups_, name, std::move(ranks)}, options_, simulated_, recorder_));
}

trace::base::Result<std::unique_ptr<Communicator>> Communicator::connect(
    const CommunicatorOptions& options, profiler::recorder::Recorder& recorder) {
  if (options.simulated_link && options.device.is_cuda()) {
    return trace::base::fail(trace::base::ErrorKind::kUsage,
                             "simulate_link works with device cpu only. Set device=cpu.");
  }
  if (options.simulated_link && !options.single_machine) {
    return trace::base::fail(
        trace::base::ErrorKind::kUsage,
        "simulate_link works with all ranks on one machine only, as it compares "
        "their clocks. Set simulate_link=off.");
  }
  try {
    GroupPlan world;
    world.ranks.resize(static_cast<std::size_t>(options.world_size));
    std::iota(world.ranks.begin(), world.ranks.end(), 0);
    const auto& link = options.simulated_link;
    return std::unique_ptr<Communicator>(
        new Communicator(options.store ? options.store : meet(options), std::move(world), options,
                         link ? std::make_shared<SharedLink>(*link) : nullptr, recorder));
  } catch (const c10::Error& error) {
    return failed_to_connect(options, error.what_without_backtrace());
  } catch (const std::exception& error) {
    return failed_to_connect(options, error.what());
  }
}

void turn_flight_recorder_off() { setenv("TORCH_FR_BUFFER_SIZE", "0", /*overwrite=*/0); }

}  // namespace shardlens::trainer::comm
