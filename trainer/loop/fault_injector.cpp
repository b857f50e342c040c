#include "trainer/loop/fault_injector.h"

#include <torch/types.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

namespace shardlens::trainer::loop {

using trace::job::InjectedFault;

namespace {
constexpr std::int64_t kImpossibleBytes = std::int64_t{1} << 50;  // 1 PiB
}

FaultInjector::FaultInjector(const std::vector<trace::job::Injection>& all,
                             comm::Communicator& communicator)
    : communicator_(communicator) {
  for (const trace::job::Injection& injection : all) {
    if (injection.rank == communicator.rank()) armed_.push_back({injection});
  }
}

bool FaultInjector::acts(Armed& armed, std::int64_t step, trace::base::Phase phase) {
  const trace::job::Injection& injection = armed.injection;
  const bool this_step = injection.repeats ? step >= injection.step : step == injection.step;
  return this_step && injection.phase == phase && std::exchange(armed.last_step, step) != step;
}

void FaultInjector::enter(std::int64_t step, trace::base::Phase phase) {
  for (Armed& armed : armed_) {
    if (armed.injection.fault == InjectedFault::kNan || !acts(armed, step, phase)) continue;
    act(armed.injection);
  }
}

bool FaultInjector::poisons(std::int64_t step, trace::base::Phase phase) {
  for (Armed& armed : armed_) {
    if (armed.injection.fault == InjectedFault::kNan && acts(armed, step, phase)) return true;
  }
  return false;
}

void FaultInjector::act(const trace::job::Injection& injection) {
  switch (injection.fault) {
    case InjectedFault::kDelay:
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(injection.delay_ms));
      return;
    case InjectedFault::kOutOfMemory:
      // Refused by the device's own allocator, as any request beyond its memory.
      static_cast<void>(torch::empty({kImpossibleBytes},
                                     torch::dtype(torch::kUInt8).device(communicator_.device())));
      return;
    case InjectedFault::kHang:
      while (true) std::this_thread::sleep_for(std::chrono::hours(1));
    case InjectedFault::kExit:
      std::_Exit(1);
    case InjectedFault::kSkipCollective:
    case InjectedFault::kUnequalSize:
      communicator_.inject_next(injection.fault);
      return;
    case InjectedFault::kNan:
      return;
  }
}

}  // namespace shardlens::trainer::loop
