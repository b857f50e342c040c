#include "trace/explore/snapshot_maker.h"

#include <algorithm>
#include <utility>

#include "trace/explore/run/lane_events.h"
#include "trace/explore/run/run_contents.h"

namespace shardlens::trace::explore {

namespace {

// How many cells an overview may have. Of one row: more than a screen has pixels, and few enough to
// be summed up within a frame. Of the whole run: what fits into 100 MB.
constexpr std::int64_t kMostCellsOfARow = std::int64_t{1} << 16;
constexpr std::size_t kMostCells = std::size_t{1} << 22;

// While a run is live, matching all collectives again is put off for so many times as long as it
// took.
constexpr int kPause = 10;

std::vector<timeline::TimelineRank> ranks_of(const timeline::RowCatalogue& catalogue,
                                             const RunSnapshot& run) {
  auto ranks = catalogue.ranks();
  for (timeline::TimelineRank& rank : ranks) {
    if (const RankSnapshot* const of = run.rank(rank.rank)) rank.host = of->rows->info.host;
    if (!run.clocks) continue;
    const auto& clocks = run.clocks->ranks();
    const auto clock = std::ranges::find(
        clocks, rank.rank, [](const analysis::RankClock& each) { return each.host.rank; });
    if (clock != clocks.end()) rank.clock_error_ns = clock->error_ns();
  }
  return ranks;
}

RankSnapshot snapshot_of(const ExploredRank& rank, std::span<const store::ChunkEntry> chunks,
                         const LaneScan& scan) {
  RankSnapshot result;
  result.rank = rank.source->rank();
  result.overview = &rank.overview;
  result.has_all_rows = rank.source->has_all_rows();
  result.rows = rank.source->rows();
  result.extent = extent_of(chunks, *result.rows);
  result.device = rank.device;
  result.known_until_ns = rank.known_until_ns;
  result.exposure = rank.exposure.classes_of(*result.rows);
  bool has_kernels = false;
  for (const store::ChunkEntry& chunk : chunks) {
    if (result.lanes.empty() || result.lanes.back() != std::pair(chunk.lane, chunk.kind)) {
      result.lanes.emplace_back(chunk.lane, chunk.kind);
    }
    has_kernels = has_kernels || chunk.kind == model::EventKind::kKernel;
  }
  // Operators of a rank with a GPU only launch kernels. Until the scan has seen all, a rank without
  // kernels is taken to compute in its operators.
  result.operators_compute =
      scan.operators_compute(result.rank) || (!has_kernels && !scan.is_done());
  return result;
}

}  // namespace

void CallMatcher::add_to(RunSnapshot& run) {
  if (!std::ranges::all_of(run.ranks, &RankSnapshot::has_all_rows)) return;
  if (const auto began = std::chrono::steady_clock::now();
      is_old_ && (!calls_ || hurries_ || began >= next_)) {
    std::vector<analysis::RankHost> hosts;
    for (const RankSnapshot& rank : run.ranks) hosts.push_back({rank.rank, rank.rows->info.host});
    auto calls = std::make_shared<analysis::CollectiveCalls>(collectives_of(run));
    clocks_ = std::make_shared<const analysis::HostClocks>(calls->clocks(hosts));
    calls->doubt_waits(*clocks_);
    calls_ = std::move(calls);
    is_old_ = false;
    next_ = std::chrono::steady_clock::now() + kPause * (std::chrono::steady_clock::now() - began);
  }
  run.calls = calls_;
  run.clocks = clocks_;
}

std::shared_ptr<RunSnapshot> SnapshotMaker::make(store::EventStore& store,
                                                 std::shared_ptr<const job::Settings> settings,
                                                 std::map<int, ExploredRank>& ranks,
                                                 const LaneScan& scan, std::string problem) {
  auto run = std::make_shared<RunSnapshot>();
  run->store = &store;
  run->settings = std::move(settings);
  const auto chunks = store.chunks();
  std::vector<timeline::RankContent> contents;
  auto rows = std::make_shared<timeline::TimelineRows>();
  base::Interval extent{INT64_MAX, INT64_MIN};
  for (const auto& [number, rank] : ranks) {
    const auto own = chunks_of_rank(*chunks, number);
    run->ranks.push_back(snapshot_of(rank, own, scan));
    const RankSnapshot& added = run->ranks.back();
    contents.push_back(content_of(added, own, scan));
    rows->has_all_rows = rows->has_all_rows && added.has_all_rows;
    for (const store::ChunkEntry& chunk : own) {
      rows->events += chunk.header.count;
      rows->events_of[static_cast<std::size_t>(chunk.kind)] += chunk.header.count;
    }
    for (const model::Step& step : added.rows->steps) {
      rows->steps.push_back({step.index, number, step.start_ns, step.end_ns});
    }
    if (added.extent.length() <= 0) continue;
    extent.start_ns = std::min(extent.start_ns, added.extent.start_ns);
    extent.end_ns = std::max(extent.end_ns, added.extent.end_ns);
  }
  if (extent.end_ns < extent.start_ns) extent = {};  // nothing was recorded yet
  fit_overviews(*run, ranks, extent);
  calls_.add_to(*run);
  catalogue_.update(contents);
  rows->rows = catalogue_.rows();
  rows->ranks = ranks_of(catalogue_, *run);
  std::ranges::stable_sort(rows->steps, {}, &timeline::StepBorder::start_ns);
  rows->start_ns = extent.start_ns;
  rows->end_ns = extent.end_ns;
  rows->incomplete = std::move(problem);
  rows->reversed_events = scan.reversed_events();
  rows->overlapping_events = scan.overlapping_events();
  run->rows = std::move(rows);
  return run;
}

// The longer a run is and the more it holds, the longer are its cells.
void SnapshotMaker::fit_overviews(RunSnapshot& run, std::map<int, ExploredRank>& ranks,
                                  base::Interval extent) {
  std::size_t cells = 0;
  for (const auto& [number, rank] : ranks) cells += rank.overview.cell_count();
  const int before = cell_bits_;
  for (const auto& [number, rank] : ranks) {
    cell_bits_ = std::max(cell_bits_, rank.overview.rows().cell_bits);
  }
  if (extent.length() > 0) {
    while (extent.length() >> cell_bits_ > kMostCellsOfARow) ++cell_bits_;
  }
  while (cells >> (cell_bits_ - before) > kMostCells) ++cell_bits_;
  for (const RankSnapshot& rank : run.ranks) {
    ranks.at(rank.rank).overview.fit(with_end(rank.extent), cell_bits_);
  }
  run.cell_bits = cell_bits_;
}

}  // namespace shardlens::trace::explore
