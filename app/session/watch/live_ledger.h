// The ledger with what is known by now of the run on screen while that is recorded: the library
// takes its figures up more seldom than the screen does, and one run has one step time. Interface
// thread only.
#pragma once

#include <memory>

#include "ui/state/snapshot.h"

namespace shardlens::app::session {

class LiveLedger {
 public:
  using Ledger = std::shared_ptr<const ui::state::Ledger>;

  // `shown`: null: none, or a replay. The same pointer for the same two.
  Ledger with_live(const Ledger& library, const std::shared_ptr<const ui::state::RunView>& shown);

 private:
  Ledger library_, now_;
  std::shared_ptr<const ui::state::RunView> shown_;
};

}  // namespace shardlens::app::session
