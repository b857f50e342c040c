#include "trainer/rank/rank_place.h"

#include <climits>
#include <cstring>

#include "trace/base/text.h"
#include "trace/model/rank_outcome.h"

namespace shardlens::trainer::rank {

namespace {

constexpr int kLastPort = 65535;

trace::base::Result<int> read_number(const VariableLookup& lookup, const char* name, int smallest,
                                     int largest = INT_MAX) {
  const char* text = lookup(name);
  if (text == nullptr) {
    return trace::base::fail(
        trace::base::ErrorKind::kUsage,
        std::string(name) +
            " is not set. A rank is started by `shardlens run`, or by torchrun: "
            "torchrun --standalone --no_python --nproc_per_node=2 -- shardlens-rank --settings "
            "FILE --run DIR.");
  }
  const auto value = trace::base::number_from<int>(text);
  if (!value || *value < smallest || *value > largest) {
    return trace::base::fail(
        trace::base::ErrorKind::kUsage,
        std::string(name) + " is \"" + text + "\"; it must be a whole number " +
            (largest == INT_MAX
                 ? "of at least " + std::to_string(smallest)
                 : "from " + std::to_string(smallest) + " to " + std::to_string(largest)) +
            ".");
  }
  return *value;
}

trace::base::Result<void> check(const RankPlace& e) {
  if (e.rank < e.world_size && e.local_rank < e.local_world_size &&
      e.local_world_size <= e.world_size) {
    return {};
  }
  return trace::base::fail(trace::base::ErrorKind::kUsage,
                           "The environment contradicts itself: RANK " + std::to_string(e.rank) +
                               " of WORLD_SIZE " + std::to_string(e.world_size) + ", LOCAL_RANK " +
                               std::to_string(e.local_rank) + " of LOCAL_WORLD_SIZE " +
                               std::to_string(e.local_world_size) + ".");
}

}  // namespace

trace::base::Result<RankPlace> parse_rank_place(const VariableLookup& lookup) {
  RankPlace environment;
  TRY_ASSIGN(environment.rank, read_number(lookup, "RANK", 0));
  TRY_ASSIGN(environment.local_rank, read_number(lookup, "LOCAL_RANK", 0));
  TRY_ASSIGN(environment.world_size, read_number(lookup, "WORLD_SIZE", 1));
  TRY_ASSIGN(environment.local_world_size, read_number(lookup, "LOCAL_WORLD_SIZE", 1));
  TRY(check(environment));
  if (const char* file = lookup("SHARDLENS_STORE_FILE")) environment.store_file = file;
  if (lookup("SHARDLENS_LAUNCHER_PID") != nullptr) {
    TRY_ASSIGN(environment.launcher_process, read_number(lookup, "SHARDLENS_LAUNCHER_PID", 1));
  }
  if (lookup(trace::model::kOutcomeVariable) != nullptr) {
    TRY_ASSIGN(environment.outcome_descriptor,
               read_number(lookup, trace::model::kOutcomeVariable, 0));
  }
  if (environment.store_file.empty()) {
    const char* address = lookup("MASTER_ADDR");
    environment.master_address = address != nullptr ? address : "127.0.0.1";
    TRY_ASSIGN(environment.master_port, read_number(lookup, "MASTER_PORT", 1, kLastPort));
  }
  const char* agent = lookup("TORCHELASTIC_USE_AGENT_STORE");
  environment.agent_store = agent != nullptr && std::strcmp(agent, "True") == 0;
  if (const char* count = lookup("TORCHELASTIC_RESTART_COUNT")) environment.store_prefix = count;
  environment.lookup = lookup;
  return environment;
}

}  // namespace shardlens::trainer::rank
