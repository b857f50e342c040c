// Texts, and failures, that every rank tells all others. All ranks call the same functions in the
// same order, on their training threads. Throws c10::Error when a collective fails.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trainer/comm/communicator.h"

namespace shardlens::trainer::checkpoint {

// Reading or writing that each rank has a part in, with exchanges in between. All may take longer
// than a collective: who is done waits in exchange() as long as the others tell by piece_done()
// that they get on. One that stands still is noticed as in any collective.
class SharedWork {
 public:
  // `on_progress`: called as long as this rank or one that it waits for gets on.
  SharedWork(comm::Communicator& communicator, std::string tag,
             std::function<void()> on_progress = nullptr);

  // After each few MiB. Tells it the others now and then, who are in exchange() or here as well.
  void piece_done();
  // What each rank gave, in their order. The same error on all ranks if any of them gave one: that
  // of the lowest rank, which the message names.
  trace::base::Result<std::vector<std::string>> exchange(
      const trace::base::Result<std::string>& mine);
  trace::base::Result<void> agree(const trace::base::Result<void>& mine);

 private:
  std::vector<std::int64_t> tell(std::int64_t length);

  comm::Communicator& communicator_;
  const std::string tag_;
  const std::function<void()> on_progress_;
  const std::chrono::steady_clock::duration interval_;  // between two tellings
  std::chrono::steady_clock::time_point next_telling_;
};

}  // namespace shardlens::trainer::checkpoint
