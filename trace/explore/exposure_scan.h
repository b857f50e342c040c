// Which collectives of a rank compute hid, each as a whole: found in the background, a stretch of
// time after the other. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trace/explore/run_snapshot.h"

namespace shardlens::trace {

class ExposureScan {
 public:
  // Looks at some more of the rank's collectives; true while there are more. Those that came in
  // since are looked at, too.
  bool scan_some(EventStore& store, const RankSnapshot& rank);

  // kOverlapped or kExposed for each collective of `rows`; null until all of them are known.
  std::shared_ptr<const std::vector<PieceClass>> classes_of(const RankRows& rows) const;

 private:
  std::vector<std::int64_t> ids_;  // of the collectives that were looked at, in order of start
  std::vector<PieceClass> classes_;
  mutable std::shared_ptr<const std::vector<PieceClass>> shared_;
};

}  // namespace shardlens::trace
