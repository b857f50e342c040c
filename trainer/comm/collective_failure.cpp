#include "trainer/comm/collective_failure.h"

namespace shardlens::trainer::comm {

std::string failure_text(const CollectiveDescription& description, int world_rank,
                         const std::string& reason) {
  return to_text(description) + " failed on rank " + std::to_string(world_rank) + ": " + reason;
}

std::string timeout_reason(std::chrono::milliseconds timeout) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  // The launcher knows a hang by the setting's name (any_ran_out_of_patience).
  return "the other ranks did not take part within " + std::to_string(seconds.count()) +
         " s (collective_timeout_s). A rank is stopped, hangs or entered another collective; "
         "compare the last collectives of the ranks.";
}

}  // namespace shardlens::trainer::comm
