#include "app/sweep/sweep_loop.h"

namespace shardlens::app::sweep {

trace::base::Result<bool> run_to_end(Sweep& sweep, const SweepDriver& driver) {
  while (const auto slot = sweep.next()) {
    if (driver.wants_to_stop()) return false;
    TRY_ASSIGN(const auto request, sweep.request_for(*slot));
    TRY_ASSIGN(const auto ended, driver.run(*slot, request));
    TRY_ASSIGN(const bool counts, sweep.take(*slot, ended));
    if (!counts) return false;
    driver.counted(*slot);
  }
  return true;
}

}  // namespace shardlens::app::sweep
