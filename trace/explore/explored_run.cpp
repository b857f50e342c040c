#include "trace/explore/explored_run.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "trace/base/side_by_side.h"
#include "trace/explore/kept_exploration.h"
#include "trace/explore/run/kept_overview.h"
#include "trace/explore/run/run_contents.h"
#include "trace/explore/statistics/range_statistics.h"
#include "trace/store/run/rank_files.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/run/trace_file.h"

namespace shardlens::trace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

namespace {

// Matching all collectives again may take this share of the time while a run is live.
constexpr int kCallsPause = 10;
// That are told; further ones are of the same kind.
constexpr std::size_t kMostProblems = 4;
// How often what is seen from afar is shown while it is filled.
constexpr std::chrono::milliseconds kPublishPause{500};
// Of fewer events all is found out again as soon.
constexpr std::int64_t kEventsWorthKeeping = 200'000;
// Of the overviews: so many of a row are more than there are pixels and so few that nobody waits
// for those in a pixel, or for the events where a pixel is shorter; all of them take 100 MB.
constexpr std::int64_t kMostCellsOfARow = std::int64_t{1} << 16;
constexpr std::size_t kMostCells = std::size_t{1} << 22;
const TimeRange kEverything{INT64_MIN, INT64_MAX, {}};

Result<std::map<int, fs::path>> files_by_rank(const fs::path& run) {
  std::error_code error;
  if (fs::is_directory(run, error)) return rank_files(run);
  TRY_ASSIGN(TraceFile file, TraceFile::open(run));
  TRY_ASSIGN(const auto ranks, ranks_in(file.database()));
  std::map<int, fs::path> files;
  for (const int rank : ranks) files[rank] = run;
  return files;
}

std::span<const ChunkEntry> chunks_of(std::span<const ChunkEntry> chunks, int rank) {
  const auto found = std::ranges::equal_range(chunks, rank, {}, &ChunkEntry::rank);
  return {found.begin(), found.end()};
}

std::vector<TimelineRank> ranks_of(const RowCatalogue& catalogue, const RunSnapshot& run) {
  auto ranks = catalogue.ranks();
  for (TimelineRank& rank : ranks) {
    if (const RankSnapshot* const of = run.rank(rank.rank)) rank.host = of->rows->info.host;
    if (!run.clocks) continue;
    const auto& clocks = run.clocks->ranks();
    const auto clock =
        std::ranges::find(clocks, rank.rank, [](const RankClock& each) { return each.host.rank; });
    if (clock != clocks.end()) rank.clock_error_ns = clock->error_ns();
  }
  return ranks;
}

}  // namespace

TimeRange whole_range(const TimelineRows& rows) { return {rows.start_ns, rows.end_ns + 1, {}}; }

Result<std::unique_ptr<ExploredRun>> ExploredRun::open(const fs::path& path,
                                                       const EventStoreOptions& options) {
  TRY_ASSIGN(const RunInfo info, read_run_info(path));
  std::unique_ptr<ExploredRun> run(new ExploredRun(path));
  run->settings_ = std::make_shared<const Settings>(info.settings);
  TRY_ASSIGN(run->store_, EventStore::open(path, options));
  run->tally_.emplace(*run->store_, kEverything);
  run->names_ = std::make_shared<ChunkNames>(*run->store_);
  TRY(run->open_sources());
  if (run->ranks_.empty() && !run->problems_.empty()) {
    return tl::make_unexpected(run->problems_.begin()->second);
  }
  run->restore();
  run->publish();
  return run;
}

void ExploredRun::restore() {
  auto kept = read_kept_exploration(path_, stamp_);
  if (!kept || kept->chunks != store_->chunks()->size() ||
      kept->names != store_->global_name_count()) {
    return;
  }
  scan_.restore(kept->lanes);
  names_->restore(std::move(kept->chunk_names));
  for (auto& [number, classes] : kept->exposure) {
    const auto rank = ranks_.find(number);
    if (rank != ranks_.end()) rank->second.exposure.restore(std::move(classes));
  }
  restore_overviews(kept->overviews);
  kept->figures.seconds = 0;  // they were not computed now
  set_whole(std::make_shared<const RangeFigures>(std::move(kept->figures)));
  is_kept_ = was_scanned_ = true;
}

// The first frame waits for them.
void ExploredRun::restore_overviews(const std::map<int, std::string>& kept) {
  const std::vector<std::pair<int, std::string_view>> all(kept.begin(), kept.end());
  for_each_side_by_side(store_->threads(), all.size(), [&](int, std::size_t i) {
    const auto rank = ranks_.find(all[i].first);
    auto rows = unpacked_overview(all[i].second);
    if (rows && rank != ranks_.end()) rank->second.overview.restore(std::move(*rows));
  });
}

void ExploredRun::set_whole(std::shared_ptr<const RangeFigures> figures) {
  const std::lock_guard lock(snapshot_mutex_);
  whole_ = std::move(figures);
}

std::shared_ptr<const RangeFigures> ExploredRun::whole() const {
  const std::lock_guard lock(snapshot_mutex_);
  return whole_;
}

std::shared_ptr<const RangeFigures> ExploredRun::whole_so_far() {
  const std::lock_guard lock(work_mutex_);
  if (was_scanned_ || scan_.fraction() <= 0) return nullptr;
  const auto rows = snapshot()->rows;
  return std::make_shared<const RangeFigures>(
      statistics_so_far(*store_, tally_->totals(), whole_range(*rows), scan_.fraction()));
}

bool ExploredRun::is_worth_keeping(const RunSnapshot& run, const RangeFigures& figures) const {
  const auto is_known = [](const RankSnapshot& rank) {
    return rank.has_all_rows && rank.exposure != nullptr;
  };
  return run.rows->events >= kEventsWorthKeeping && run.rows->incomplete.empty() &&
         figures.incomplete.empty() && figures.stragglers && was_scanned_ && !is_kept_ &&
         std::ranges::all_of(run.ranks, is_known) && !was_just_written(stamp_) &&
         run_stamp(path_) == stamp_;
}

void ExploredRun::take_whole(const RunSnapshot& of, const RangeFigures& figures) {
  const std::lock_guard lock(work_mutex_);
  const auto run = snapshot();
  // More may have come in since they were counted.
  const bool is_old = &of != run.get() || !was_scanned_;
  if (is_old || figures.range != whole_range(*run->rows)) return;
  set_whole(std::make_shared<const RangeFigures>(figures));
  if (!is_worth_keeping(*run, figures)) return;
  is_kept_ = true;
  KeptExploration kept{store_->chunks()->size(),
                       store_->global_name_count(),
                       scan_.seen(),
                       {},
                       names_->known(),
                       {},
                       figures};
  for (const auto& [number, rank] : ranks_) {
    kept.exposure[number] = rank.exposure.classes();
    kept.overviews[number] = packed_overview(rank.overview.rows());
  }
  keep_exploration(path_, stamp_, kept);
}

Result<void> ExploredRun::open_sources() {
  TRY_ASSIGN(auto files, files_by_rank(path_));
  std::erase_if(files, [&](const auto& file) {
    return ranks_.contains(file.first) || problems_.contains(file.first);
  });
  const std::vector<std::pair<int, fs::path>> wanted(files.begin(), files.end());
  std::vector<std::optional<Result<std::unique_ptr<RankSource>>>> opened(wanted.size());
  for_each_side_by_side(store_->threads(), wanted.size(), [&](int, std::size_t i) {
    opened[i] = RankSource::open(wanted[i].second, wanted[i].first);
  });
  const auto chunks = store_->chunks();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    auto& source = *opened[i];
    if (source) {
      ranks_[wanted[i].first].source = std::move(*source);
      // Those that are there are no news.
      for (const ChunkEntry& chunk : chunks_of(*chunks, wanted[i].first)) {
        auto& last = ranks_[wanted[i].first].last_chunk;
        last = std::max(last, chunk.row_id);
      }
    } else {
      problems_.emplace(wanted[i].first, source.error());
    }
  }
  return {};
}

std::shared_ptr<const RunSnapshot> ExploredRun::snapshot() const {
  const std::lock_guard lock(snapshot_mutex_);
  return snapshot_;
}

RankSnapshot ExploredRun::snapshot_of(const Rank& rank, std::span<const ChunkEntry> chunks) const {
  RankSnapshot result;
  result.rank = rank.source->rank();
  result.overview = &rank.overview;
  result.has_all_rows = rank.source->has_all_rows();
  result.rows = rank.source->rows();
  result.extent = extent_of(chunks, *result.rows);
  result.exposure = rank.exposure.classes_of(*result.rows);
  bool has_kernels = false;
  for (const ChunkEntry& chunk : chunks) {
    if (result.lanes.empty() || result.lanes.back() != std::pair(chunk.lane, chunk.kind)) {
      result.lanes.emplace_back(chunk.lane, chunk.kind);
    }
    has_kernels = has_kernels || chunk.kind == EventKind::kKernel;
  }
  // Until all were looked at: a GPU's operators only launch.
  result.operators_compute =
      scan_.operators_compute(result.rank) || (!has_kernels && !scan_.is_done());
  return result;
}

void ExploredRun::add_calls(RunSnapshot& run) {
  for (const RankSnapshot& rank : run.ranks) {
    if (!rank.has_all_rows) return;
  }
  if (const auto began = steady_clock::now(); calls_are_old_ && (!calls_ || began >= next_calls_)) {
    std::vector<CollectivePart> parts;
    std::vector<RankHost> hosts;
    for (const RankSnapshot& rank : run.ranks) {
      for (std::uint32_t i = 0; i < rank.rows->collectives.size(); ++i) {
        parts.push_back(part_of(*rank.rows, i));
      }
      hosts.push_back({rank.rank, rank.rows->info.host});
    }
    auto calls = std::make_shared<CollectiveCalls>(std::move(parts));
    clocks_ = std::make_shared<const HostClocks>(rank_clocks(hosts, *calls));
    calls->doubt_waits(*clocks_);
    calls_ = std::move(calls);
    calls_are_old_ = false;
    next_calls_ = steady_clock::now() + kCallsPause * (steady_clock::now() - began);
  }
  run.calls = calls_;
  run.clocks = clocks_;
}

void ExploredRun::publish() {
  auto run = std::make_shared<RunSnapshot>();
  run->store = store_.get();
  run->settings = settings_;
  const auto chunks = store_->chunks();
  std::vector<RankContent> contents;
  auto rows = std::make_shared<TimelineRows>();
  Interval extent{INT64_MAX, INT64_MIN};
  for (const auto& [number, rank] : ranks_) {
    const auto own = chunks_of(*chunks, number);
    run->ranks.push_back(snapshot_of(rank, own));
    const RankSnapshot& added = run->ranks.back();
    contents.push_back(content_of(added, own, scan_));
    for (const ChunkEntry& chunk : own) {
      rows->events += chunk.header.count;
      rows->events_of[static_cast<std::size_t>(chunk.kind)] += chunk.header.count;
    }
    for (const Step& step : added.rows->steps) {
      rows->steps.push_back({step.index, number, step.start_ns, step.end_ns});
    }
    if (added.extent.length() <= 0) continue;
    extent.start_ns = std::min(extent.start_ns, added.extent.start_ns);
    extent.end_ns = std::max(extent.end_ns, added.extent.end_ns);
  }
  if (extent.end_ns < extent.start_ns) extent = {};  // nothing was recorded yet
  fit_overviews(*run, extent);
  add_calls(*run);
  run->totals = totals_;
  catalogue_.update(contents);
  rows->rows = catalogue_.rows();
  rows->ranks = ranks_of(catalogue_, *run);
  std::ranges::stable_sort(rows->steps, {}, &StepBorder::start_ns);
  rows->start_ns = extent.start_ns;
  rows->end_ns = extent.end_ns;
  rows->incomplete = problem();
  published_ = steady_clock::now();
  rows->reversed_events = scan_.reversed_events();
  rows->overlapping_events = scan_.overlapping_events();
  run->rows = std::move(rows);
  const std::lock_guard lock(snapshot_mutex_);
  snapshot_ = std::move(run);
}

// The longer a run is and the more it holds, the longer are its cells.
void ExploredRun::fit_overviews(RunSnapshot& run, Interval extent) {
  std::size_t cells = 0;
  for (const auto& [number, rank] : ranks_) cells += rank.overview.cell_count();
  const int before = cell_bits_;
  for (const auto& [number, rank] : ranks_) {
    cell_bits_ = std::max(cell_bits_, rank.overview.rows().cell_bits);
  }
  if (extent.length() > 0) {
    while (extent.length() >> cell_bits_ > kMostCellsOfARow) ++cell_bits_;
  }
  while (cells >> (cell_bits_ - before) > kMostCells) ++cell_bits_;
  for (const RankSnapshot& rank : run.ranks) {
    ranks_.at(rank.rank).overview.fit(with_end(rank.extent), cell_bits_);
  }
  run.cell_bits = cell_bits_;
}

std::string ExploredRun::problem() const {
  std::vector<std::string> all;
  const auto add = [&](std::string text) {
    if (!text.empty() && std::ranges::find(all, text) == all.end()) all.push_back(std::move(text));
  };
  for (const auto& [number, error] : problems_) add(error.message);
  for (const auto& [number, rank] : ranks_) add(rank.source->problem());
  add(store_->problem());
  add(scan_.problem());
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), kMostProblems); ++i) {
    text += (i == 0 ? "" : "\n") + all[i];
  }
  if (all.size() > kMostProblems) {
    text += "\nand " + std::to_string(all.size() - kMostProblems) + " more";
  }
  return text;
}

bool ExploredRun::read_rows() {
  std::vector<Rank*> left;
  for (auto& [number, rank] : ranks_) {
    if (rank.has_more_rows) left.push_back(&rank);
  }
  if (left.empty()) return false;
  std::atomic<bool> finished_one = false;
  for_each_side_by_side(store_->threads(), left.size(), [&](int, std::size_t i) {
    left[i]->has_more_rows = left[i]->source->read_rows();
    if (!left[i]->has_more_rows) finished_one = true;
  });
  if (!finished_one) return true;
  calls_are_old_ = true;
  publish();
  return true;
}

bool ExploredRun::fill_overviews() {
  const auto run = snapshot();
  std::atomic<bool> more = false;
  for_each_side_by_side(store_->threads(), run->ranks.size(), [&](int, std::size_t i) {
    RankSnapshot rank = run->ranks[i];
    rank.operators_compute = true;  // those that do say so
    rank.extent = with_end(rank.extent);
    // Close behind the scan, which has decoded them.
    const std::int64_t until_ns = was_scanned_ ? INT64_MAX : scan_.reached_ns(rank.rank);
    if (ranks_.at(rank.rank).overview.fill_some(*store_, rank, until_ns)) more = true;
  });
  if (steady_clock::now() - published_ > kPublishPause) publish();
  return more;
}

bool ExploredRun::scan_events() {
  const auto chunks = store_->chunks();
  tally_->learn_names(*chunks);
  const auto see = [&](int worker, const ChunkEntry& chunk, const EventColumns& columns) {
    tally_->add(worker, chunk, columns);
    names_->note(chunk, columns, tally_->names().at(chunk.rank));
  };
  const bool more = scan_.scan_some(*store_, *chunks, see);
  was_scanned_ = !more;
  if (!more) totals_ = std::make_shared<const RunTotals>(tally_->totals());
  return more;
}

bool ExploredRun::scan_exposure() {
  const auto run = snapshot();
  std::atomic<bool> more = false;
  for_each_side_by_side(store_->threads(), run->ranks.size(), [&](int, std::size_t i) {
    RankSnapshot rank = run->ranks[i];
    const auto own = ranks_.find(rank.rank);
    if (own == ranks_.end()) return;
    rank.operators_compute = rank.operators_compute || scan_.operators_compute(rank.rank);
    const std::int64_t until_ns = was_scanned_ ? INT64_MAX : scan_.reached_ns(rank.rank);
    if (own->second.exposure.scan_some(*store_, rank, until_ns)) more = true;
  });
  return more;
}

void ExploredRun::update_progress() {
  double rows = 0, filled = 0;
  for (const auto& [number, rank] : ranks_) {
    rows += rank.has_more_rows ? 0 : 1;
    filled += rank.overview.fraction();
  }
  const double ranks = static_cast<double>(std::max<std::size_t>(ranks_.size(), 1));
  progress_ = 0.4 * rows / ranks + 0.4 * filled / ranks + 0.2 * scan_.fraction();
}

// First what is seen of every picture, then what sharpens it.
Result<bool> ExploredRun::work() {
  const std::lock_guard lock(work_mutex_);
  if (read_rows()) {
    update_progress();
    return true;
  }
  if (!was_scanned_) {
    // Whether operators count as compute is known from here.
    if (!scan_events()) publish();
    while (!was_scanned_ && scan_exposure()) {
    }
    while (fill_overviews() && !was_scanned_) {
    }
    update_progress();
    return true;
  }
  if (fill_overviews() || scan_exposure()) {
    update_progress();
    return true;
  }
  publish();
  progress_ = 1;
  return false;
}

void ExploredRun::forget_figures() {
  calls_are_old_ = true;
  was_scanned_ = false;
  totals_.reset();
  set_whole(nullptr);
  // What was kept cannot be gone on with.
  if (!std::exchange(is_kept_, false)) return;
  scan_ = {};
  tally_.emplace(*store_, kEverything);
  for (auto& [number, rank] : ranks_) rank.exposure = {};
}

void ExploredRun::note_new_chunks() {
  const auto chunks = store_->chunks();
  for (auto& [number, rank] : ranks_) {
    const std::int64_t known = rank.last_chunk;
    for (const ChunkEntry& chunk : chunks_of(*chunks, number)) {
      if (chunk.row_id <= known || chunk.kind == EventKind::kAllocation) continue;
      rank.overview.add_news({chunk.header.first_ns, chunk.header.last_ns});
      rank.last_chunk = std::max(rank.last_chunk, chunk.row_id);
    }
  }
}

Result<bool> ExploredRun::refresh() {
  const std::lock_guard lock(work_mutex_);
  TRY_ASSIGN(bool news, store_->refresh());
  if (news) note_new_chunks();
  // At once: an error below does not make figures of fewer events those of the run.
  if (news) forget_figures();
  const std::size_t ranks = ranks_.size();
  TRY(open_sources());
  news = news || ranks_.size() > ranks;
  for (auto& [number, rank] : ranks_) {
    TRY_ASSIGN(const bool more, rank.source->refresh());
    rank.has_more_rows = rank.has_more_rows || more;
    news = news || more;
    if (const Interval rows = rank.source->take_news(); rows.length() > 0) {
      rank.overview.add_news(rows);
    }
  }
  if (!news) return false;
  forget_figures();
  publish();
  return true;
}

}  // namespace shardlens::trace
