// The ribbon of a rank on its way into the pyramid. One owner.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "trace/model/activity.h"
#include "trace/model/events.h"
#include "trace/store/lod/lod_ribbon.h"
#include "trace/store/lod/lod_rows.h"
#include "trace/store/lod/lod_stretches.h"
#include "trace/store/lod/write/lod_pyramid.h"

namespace shardlens::trace {

class LodRibbonWriter {
 public:
  static constexpr int kNumber = 0;  // of its stream, on every rank

  enum class Kind : std::uint8_t { kCompute, kCommunication, kCopy, kUndetailed };
  // Times that are not plausible are left out, by all three.
  void add(Kind kind, std::int64_t start_ns, std::int64_t end_ns);
  void add_phase(Phase phase, std::int64_t start_ns, std::int64_t end_ns);
  // Something was recorded.
  void add_evidence(std::int64_t start_ns, std::int64_t end_ns);

  Result<void> close_before(std::int64_t limit, const LodPyramid::Write& write);
  Result<void> close_all(const LodPyramid::Write& write);
  std::vector<LodSpoiled> take_spoiled() { return std::exchange(spoiled_, {}); }

  const Intervals& stretches() const { return stretches_.all(); }
  std::size_t pending() const;

 private:
  struct Set {
    Intervals intervals;  // ordered and disjoint, unless mixed
    bool is_mixed = false;
  };

  void spoil_closed(std::int64_t start_ns, std::int64_t end_ns);
  void remember_optimizer(Interval phase);
  void spoil_phases(std::int64_t start_ns, std::int64_t end_ns);
  std::optional<std::int64_t> next_tile() const;
  void forget_closed();
  LodPyramid::Complete fill_gaps() const;

  LodPyramid pyramid_{true};
  std::int64_t closed_ = kFirstLodTile, closed_ns_ = INT64_MIN;
  std::int64_t next_ = kFirstLodTile;
  std::array<Set, 4> sets_;  // by Kind
  std::vector<PhaseInterval> phases_;
  Intervals optimizer_;  // phases of it before closed_, the latest, ordered
  LodStretches stretches_;
  Intervals added_;
  std::vector<LodSpoiled> spoiled_;
};

}  // namespace shardlens::trace
