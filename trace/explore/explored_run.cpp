#include "trace/explore/explored_run.h"

#include <algorithm>
#include <future>
#include <utility>

#include "trace/base/side_by_side.h"
#include "trace/explore/run/lane_events.h"
#include "trace/explore/run/run_contents.h"
#include "trace/explore/statistics/range_statistics.h"
#include "trace/store/run/run_files.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/run/trace_file.h"

namespace shardlens::trace::explore {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

namespace {

// How many problems are listed; more of them would only repeat these.
constexpr std::size_t kMostProblems = 4;
// How often the picture is renewed while overviews are being filled.
constexpr std::chrono::milliseconds kPublishPause{500};
// With fewer events reading the run again is as fast as reading what would be kept of it.
constexpr std::int64_t kEventsWorthKeeping = 200'000;
const timeline::TimeRange kEverything{INT64_MIN, INT64_MAX, {}};

base::Result<std::map<int, fs::path>> files_by_rank(const fs::path& run) {
  std::error_code error;
  if (fs::is_directory(run, error)) return store::rank_files(run);
  TRY_ASSIGN(store::TraceFile file, store::TraceFile::open(run));
  TRY_ASSIGN(const auto ranks, store::ranks_in(file.database()));
  std::map<int, fs::path> files;
  for (const int rank : ranks) files[rank] = run;
  return files;
}

}  // namespace

timeline::TimeRange whole_range(const timeline::TimelineRows& rows) {
  return {rows.start_ns, rows.end_ns + 1, {}};
}

base::Result<std::unique_ptr<ExploredRun>> ExploredRun::open(
    const fs::path& path, const store::EventStoreOptions& options, bool is_live) {
  TRY_ASSIGN(const model::RunInfo info, store::read_run_info(path));
  std::unique_ptr<ExploredRun> run(new ExploredRun(path));
  if (model::has_settings(info)) {
    run->settings_ = std::make_shared<const job::Settings>(info.settings);
  }
  // Beside the rest, since the first frame waits for both.
  auto kept = std::async(std::launch::async, read_kept_exploration, path, run->stamp_);
  TRY_ASSIGN(run->store_, store::EventStore::open(path, options));
  run->tally_.emplace(*run->store_, kEverything);
  run->names_ = std::make_shared<ChunkNames>(*run->store_);
  TRY(run->open_sources());
  if (run->ranks_.empty() && !run->problems_.empty()) {
    return tl::make_unexpected(run->problems_.begin()->second);
  }
  run->restore(kept.get());
  run->status_ = info.status;
  run->world_size_ = info.world_size;
  run->more_follows_ = is_live;
  run->follow_devices();
  run->publish();
  return run;
}

void ExploredRun::restore(std::optional<KeptExploration> kept) {
  if (!kept || kept->chunks != store_->chunks()->size() || kept->names != store_->names().count()) {
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
  set_whole(std::make_shared<const timeline::RangeFigures>(std::move(kept->figures)));
  is_kept_ = was_scanned_ = true;
}

// Side by side, since the first frame waits for them.
void ExploredRun::restore_overviews(const std::map<int, std::string>& kept) {
  const std::vector<std::pair<int, std::string_view>> all(kept.begin(), kept.end());
  base::for_each_side_by_side(store_->threads(), all.size(), [&](int, std::size_t i) {
    const auto rank = ranks_.find(all[i].first);
    auto rows = unpacked_overview(all[i].second);
    if (rows && rank != ranks_.end()) rank->second.overview.restore(std::move(*rows));
  });
}

void ExploredRun::set_whole(std::shared_ptr<const timeline::RangeFigures> figures) {
  const std::lock_guard lock(snapshot_mutex_);
  whole_ = std::move(figures);
}

std::shared_ptr<const timeline::RangeFigures> ExploredRun::whole() const {
  const std::lock_guard lock(snapshot_mutex_);
  return whole_;
}

std::shared_ptr<const timeline::RangeFigures> ExploredRun::whole_so_far() {
  const std::lock_guard lock(work_mutex_);
  if (was_scanned_ || scan_.fraction() <= 0) return nullptr;
  const auto rows = snapshot()->rows;
  return std::make_shared<const timeline::RangeFigures>(
      statistics_so_far(*store_, tally_->totals(), whole_range(*rows), scan_.fraction()));
}

bool ExploredRun::is_worth_keeping(const RunSnapshot& run,
                                   const timeline::RangeFigures& figures) const {
  const auto is_known = [](const RankSnapshot& rank) {
    return rank.has_all_rows && rank.exposure != nullptr;
  };
  return run.rows->events >= kEventsWorthKeeping && run.rows->incomplete.empty() &&
         figures.incomplete.empty() && figures.stragglers && was_scanned_ && !is_kept_ &&
         std::ranges::all_of(run.ranks, is_known) && store::is_settled(path_, stamp_);
}

void ExploredRun::take_whole(const RunSnapshot& of, const timeline::RangeFigures& figures) {
  const std::lock_guard lock(work_mutex_);
  const auto run = snapshot();
  // More may have been recorded since these figures were counted.
  const bool is_old = &of != run.get() || !was_scanned_;
  if (is_old || figures.range != whole_range(*run->rows)) return;
  set_whole(std::make_shared<const timeline::RangeFigures>(figures));
  if (!is_worth_keeping(*run, figures)) return;
  is_kept_ = true;
  KeptExploration kept{store_->chunks()->size(),
                       store_->names().count(),
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

base::Result<void> ExploredRun::open_sources() {
  TRY_ASSIGN(auto files, files_by_rank(path_));
  std::erase_if(files, [&](const auto& file) { return ranks_.contains(file.first); });
  const std::vector<std::pair<int, fs::path>> wanted(files.begin(), files.end());
  std::vector<std::optional<base::Result<std::unique_ptr<RankSource>>>> opened(wanted.size());
  base::for_each_side_by_side(store_->threads(), wanted.size(), [&](int, std::size_t i) {
    opened[i] = RankSource::open(wanted[i].second, wanted[i].first);
  });
  const auto chunks = store_->chunks();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    auto& source = *opened[i];
    if (source) {
      problems_.erase(wanted[i].first);
      ExploredRank& rank = ranks_[wanted[i].first];
      rank.source = std::move(*source);
      rank.has_more_rows = !rank.source->has_all_rows();
      // Chunks that are there from the start do not count as new ones.
      for (const store::ChunkEntry& chunk : chunks_of_rank(*chunks, wanted[i].first)) {
        rank.last_chunk = std::max(rank.last_chunk, chunk.row_id);
      }
    } else {
      problems_.insert_or_assign(wanted[i].first, source.error());
    }
  }
  return {};
}

std::shared_ptr<const RunSnapshot> ExploredRun::snapshot() const {
  const std::lock_guard lock(snapshot_mutex_);
  return snapshot_;
}

void ExploredRun::publish() {
  published_ = steady_clock::now();
  auto made = maker_.make(*store_, settings_, ranks_, scan_, problem());
  made->totals = totals_;
  made->world_size = world_size_;
  const std::lock_guard lock(snapshot_mutex_);
  snapshot_ = std::move(made);
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
  std::vector<ExploredRank*> left;
  for (auto& [number, rank] : ranks_) {
    if (rank.has_more_rows) left.push_back(&rank);
  }
  if (left.empty()) return false;
  std::atomic<bool> finished_one = false;
  base::for_each_side_by_side(store_->threads(), left.size(), [&](int, std::size_t i) {
    left[i]->has_more_rows = left[i]->source->read_rows();
    if (!left[i]->has_more_rows) finished_one = true;
  });
  if (!finished_one) return true;
  follow_devices();
  maker_.forget_calls();
  publish();
  return true;
}

bool ExploredRun::fill_overviews() {
  const auto run = snapshot();
  std::atomic<bool> more = false;
  base::for_each_side_by_side(store_->threads(), run->ranks.size(), [&](int, std::size_t i) {
    RankSnapshot rank = run->ranks[i];
    rank.operators_compute = true;  // those that do say so
    rank.extent = with_end(rank.extent);
    // Only as far as the scan has come: those chunks are decoded and still in the cache.
    const std::int64_t until_ns = was_scanned_ ? INT64_MAX : scan_.reached_ns(rank.rank);
    if (ranks_.at(rank.rank).overview.fill_some(*store_, rank, until_ns)) more = true;
  });
  if (steady_clock::now() - published_ > kPublishPause) publish();
  return more;
}

bool ExploredRun::scan_events() {
  const auto chunks = store_->chunks();
  tally_->learn_names(*chunks);
  const auto see = [&](int worker, const store::ChunkEntry& chunk,
                       const store::EventColumns& columns) {
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
  base::for_each_side_by_side(store_->threads(), run->ranks.size(), [&](int, std::size_t i) {
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

// Some work at a time: first rows, which every picture needs, then events, for details and figures.
base::Result<bool> ExploredRun::work() {
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
  maker_.forget_calls();
  was_scanned_ = false;
  totals_.reset();
  set_whole(nullptr);
  // Figures that were read from what was kept hold no sums to which new events could be added: the
  // scan begins anew.
  if (!std::exchange(is_kept_, false)) return;
  scan_ = {};
  tally_.emplace(*store_, kEverything);
  for (auto& [number, rank] : ranks_) rank.exposure = {};
}

void ExploredRun::note_new_chunks() {
  const auto chunks = store_->chunks();
  for (auto& [number, rank] : ranks_) {
    const std::int64_t known = rank.last_chunk;
    for (const store::ChunkEntry& chunk : chunks_of_rank(*chunks, number)) {
      if (chunk.row_id <= known || chunk.kind == model::EventKind::kAllocation) continue;
      rank.overview.add_news({chunk.header.first_ns, chunk.header.last_ns});
      rank.exposure.add_news(*rank.source->rows(), chunk.header.first_ns);
      rank.last_chunk = std::max(rank.last_chunk, chunk.row_id);
    }
  }
}

bool ExploredRun::follow_devices() {
  const auto chunks = store_->chunks();
  bool has_moved = false;
  for (auto& [number, rank] : ranks_) {
    const auto rows = rank.source->rows();
    const auto device =
        analysis::device_records(rows->info.device, rows->is_closed, status_, more_follows_);
    const std::int64_t until_ns =
        device_known_until(rank.progress, device, chunks_of_rank(*chunks, number), *rows);
    has_moved = std::exchange(rank.device, device) != device || has_moved;
    const std::int64_t before_ns = std::exchange(rank.known_until_ns, until_ns);
    if (before_ns == until_ns) continue;
    rank.overview.add_news({std::min(before_ns, until_ns), std::max(before_ns, until_ns)});
    has_moved = true;
  }
  return has_moved;
}

base::Result<bool> ExploredRun::refresh(bool has_ended) {
  const std::lock_guard lock(work_mutex_);
  // Where it cannot be read, only ranks that say so themselves have ended in order.
  if (has_ended) {
    if (const auto info = store::read_run_info(path_)) {
      status_ = info->status;
      world_size_ = info->world_size;
    }
  }
  more_follows_ = !has_ended;
  const bool calls_are_due = maker_.hurry_calls(has_ended);
  bool news = store_->refresh();
  if (news) note_new_chunks();
  // Before anything below can fail: figures that lack the new events must not stay.
  if (news) forget_figures();
  const std::size_t ranks = ranks_.size();
  TRY(open_sources());
  news = news || ranks_.size() > ranks;
  base::Result<bool> nothing = false;
  for (auto& [number, rank] : ranks_) {
    const auto more = rank.source->refresh();
    if (!more) nothing = more;
    if (!more) continue;
    rank.has_more_rows = rank.has_more_rows || *more;
    news = news || *more;
    if (const base::Interval rows = rank.source->take_news(); rows.length() > 0) {
      rank.overview.add_news(rows);
    }
  }
  if (follow_devices()) news = true;
  if (!news && !calls_are_due) return nothing;
  forget_figures();
  publish();
  return true;
}

}  // namespace shardlens::trace::explore
