// Carries out the faults that the setting `inject` asks for on this rank. The training thread.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/job/settings/grammars.h"
#include "trainer/comm/communicator.h"

namespace shardlens::trainer::loop {

class FaultInjector {
 public:
  FaultInjector(const std::vector<trace::job::Injection>& all, comm::Communicator& communicator);

  // At the start of a phase: waits, asks for more memory than there is, never returns, or prepares
  // the next collective. Each fault acts once per step, in its first micro-batch.
  void enter(std::int64_t step, trace::base::Phase phase);
  // Whether this step's values are to become NaN in that phase.
  bool poisons(std::int64_t step, trace::base::Phase phase);

 private:
  struct Armed {
    trace::job::Injection injection;
    std::int64_t last_step = -1;  // in which it acted
  };
  // Whether it acts now, once a step.
  static bool acts(Armed& armed, std::int64_t step, trace::base::Phase phase);
  void act(const trace::job::Injection& injection);

  comm::Communicator& communicator_;
  std::vector<Armed> armed_;
};

}  // namespace shardlens::trainer::loop
