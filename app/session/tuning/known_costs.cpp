#include "app/session/tuning/known_costs.h"

#include "trace/predict/costs/costs_library.h"

namespace shardlens::app::session {

using trace::base::Result;
using trace::predict::CollectiveCosts;

namespace {

constexpr int kMostRanks = 16;  // other than the run's own number

}  // namespace

Result<CollectiveCosts> known_costs(const trace::model::RunInfo& info,
                                    const std::vector<trace::model::RankInfo>& ranks,
                                    const std::filesystem::path& library) {
  auto setup = trace::predict::setup_of(info, ranks);
  CollectiveCosts known;
  std::error_code error;
  if (!std::filesystem::is_directory(library / trace::predict::kCostsFolder, error)) return known;
  const int own = setup.ranks;
  for (int other = 1; other <= kMostRanks; ++other) {
    // The run's own number first: it fills what it knows before others do.
    setup.ranks = other == 1 ? own : other;
    TRY_ASSIGN(const auto kept, trace::predict::costs_for(setup, library));
    if (kept) known = known.filled_from(*kept);
  }
  return known;
}

}  // namespace shardlens::app::session
