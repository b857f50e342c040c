// What Inspect found out about a whole run, kept with it: opened again, its figures are there at
// once, and no event is scanned. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/explore/run/lane_scan.h"
#include "trace/explore/run/rank_overview.h"
#include "trace/explore/tally/chunk_names.h"
#include "trace/store/run/kept_file.h"
#include "trace/timeline/values/picture.h"
#include "trace/timeline/values/range_figures.h"

namespace shardlens::trace::explore {

inline constexpr std::string_view kFiguresFile = "inspect.cache";

struct KeptExploration {
  // How many there were in the store that it was found out with: with as many, numbers of names and
  // files mean the same.
  std::uint64_t chunks = 0, names = 0;
  std::vector<LaneScan::Seen> lanes;
  std::map<int, std::vector<base::TimeClass>> exposure;  // by rank, of its collectives
  std::vector<ChunkNames::OfChunk> chunk_names;
  std::map<int, std::string> overviews;  // by rank, packed
  timeline::RangeFigures figures;        // of the whole run
};

// As read_kept().
std::optional<KeptExploration> read_kept_exploration(const std::filesystem::path& run,
                                                     const store::RunStamp& stamp);
void keep_exploration(const std::filesystem::path& run, const store::RunStamp& stamp,
                      const KeptExploration& kept);

// A rank's overview as bytes.
std::string packed_overview(const OverviewRows& rows);
// None for what is no such thing.
std::optional<OverviewRows> unpacked_overview(std::string_view bytes);

}  // namespace shardlens::trace::explore
