#include "trace/explore/statistics/range_statistics.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "trace/explore/run/lane_events.h"
#include "trace/explore/statistics/collective_tables.h"
#include "trace/explore/tally/exact_pass.h"
#include "trace/timeline/words/kernel_class.h"

namespace shardlens::trace::explore {

namespace {

// Of kTalliedKinds.
constexpr std::array kChunkTables{
    timeline::StatisticsTable::kKernels, timeline::StatisticsTable::kOperators,
    timeline::StatisticsTable::kCopies, timeline::StatisticsTable::kLaunches};
static_assert(kChunkTables.size() == kTalliedKinds.size());

// What both passes go over.
struct RangeChunks {
  std::vector<store::ChunkEntry> chunks;
  bool is_whole_run = true;
};

RangeChunks chunks_within(const store::EventStore& store, const timeline::TimeRange& range) {
  RangeChunks found;
  const auto all = store.chunks();
  for (const store::ChunkEntry& chunk : *all) {
    const store::ChunkHeader& header = chunk.header;
    const base::Interval own = range.of_rank(chunk.rank);
    const bool is_inside = header.first_ns >= own.start_ns && header.last_ns < own.end_ns;
    found.is_whole_run = found.is_whole_run && is_inside && range.has_rank(chunk.rank);
    const bool can_begin = header.first_ns < own.end_ns && header.last_ns >= own.start_ns;
    if (chunk.kind == model::EventKind::kAllocation || !can_begin || !range.has_rank(chunk.rank)) {
      continue;
    }
    found.chunks.push_back(chunk);
  }
  return found;
}

base::TimeClass piece_class_of(model::EventKind kind, timeline::KernelClass kernel_class) {
  if (kind == model::EventKind::kCopy) return base::TimeClass::kCopy;
  if (kind != model::EventKind::kKernel) return base::TimeClass::kHost;
  if (kernel_class == timeline::KernelClass::kOptimizer) return base::TimeClass::kOptimizer;
  if (kernel_class == timeline::KernelClass::kCommunication) return base::TimeClass::kOverlapped;
  return base::TimeClass::kCompute;
}

// `exact` is null before the second pass: then there are no quantiles yet.
timeline::NameFigures figures_of(const store::EventStore& store, std::size_t kind,
                                 const NameTotals& totals, const ExactPass* exact,
                                 std::size_t place) {
  const NameTotal& total = totals.names()[place];
  const LongestEvent& longest = total.sum.longest;
  timeline::NameFigures figures;
  figures.name = store.names().text(total.sum.name);
  timeline::KernelClass kernel_class = timeline::KernelClass::kOther;
  if (kTalliedKinds[kind] == model::EventKind::kKernel) {
    kernel_class = timeline::kernel_class_of(figures.name);
    figures.kernel_class = timeline::to_string(kernel_class);
  }
  figures.piece_class = piece_class_of(kTalliedKinds[kind], kernel_class);
  figures.count = total.count;
  figures.total_ns = total.sum.total_ns;
  figures.mean_ns = static_cast<double>(figures.total_ns) / static_cast<double>(figures.count);
  figures.least_ns = total.sum.least_ns;
  figures.most_ns = longest.duration_ns;
  figures.bytes = total.sum.bytes;
  figures.longest = {table_of(kTalliedKinds[kind]), longest.rank, longest.chunk, longest.index};
  figures.longest_start_ns = longest.start_ns;
  figures.histogram = {total.bins.first_ns(), total.bins.last_ns(), {}};
  if (exact == nullptr) {
    figures.median_ns = figures.p99_ns = timeline::kUnknownNs;
    return figures;
  }
  figures.median_ns = exact->median_ns(place);
  figures.p99_ns = exact->p99_ns(place);
  figures.histogram.counts = exact->bins(place);
  return figures;
}

timeline::RangeTable range_table(const store::EventStore& store, std::size_t kind,
                                 const NameTotals& totals, const ExactPass* exact) {
  timeline::RangeTable table{kChunkTables[kind], timeline::GroupBy::kName, {}, 0, 0};
  for (std::size_t place = 0; place < totals.names().size(); ++place) {
    table.rows.push_back(figures_of(store, kind, totals, exact, place));
  }
  complete_table(table);
  return table;
}

// The two passes over all chunks of the range.
class ChunkStatistics {
 public:
  ChunkStatistics(store::EventStore& store, const timeline::TimeRange& range,
                  const std::function<bool()>& wanted)
      : store_(store),
        range_(range),
        wanted_(wanted),
        found_(chunks_within(store, range)),
        tally_(store, range) {
    tally_.learn_names(found_.chunks);
  }

  base::Result<void> run(std::shared_ptr<const RunTotals> known) {
    const bool is_known = known && found_.is_whole_run && known->chunks == found_.chunks.size();
    if (is_known) {
      totals_ = std::move(known);
    } else {
      TRY(pass([&](int worker, const store::ChunkEntry& chunk, const store::EventColumns& columns) {
        tally_.add(worker, chunk, columns);
      }));
      totals_ = std::make_shared<const RunTotals>(tally_.totals());
    }
    for (std::size_t i = 0; i < kTalliedKinds.size(); ++i) {
      exact_[i].emplace(totals_->kinds[i], store_.threads());
    }
    return pass(
        [&](int worker, const store::ChunkEntry& chunk, const store::EventColumns& columns) {
          exact_[tally_of(chunk.kind)]->add(worker, chunk.rank, columns, range_.of_rank(chunk.rank),
                                            tally_.names().at(chunk.rank));
        });
  }

  timeline::RangeTable table(std::size_t i) const {
    return range_table(store_, i, totals_->kinds[i], &*exact_[i]);
  }
  bool is_whole_run() const { return found_.is_whole_run; }
  const std::string& problem() const { return problem_; }

 private:
  template <typename Add>
  base::Result<void> pass(Add&& add) {
    const auto visit = store_.visit(found_.chunks, add, wanted_);
    if (!visit.finished)
      return base::fail(base::ErrorKind::kFailed, "the statistics are no longer wanted");
    problem_ = visit.problem;
    if (visit.unreadable > 1) {
      problem_ += " (and " + std::to_string(visit.unreadable - 1) + " more)";
    }
    return {};
  }

  store::EventStore& store_;
  const timeline::TimeRange& range_;
  const std::function<bool()>& wanted_;
  const RangeChunks found_;
  RunTally tally_;
  std::shared_ptr<const RunTotals> totals_;
  std::array<std::optional<ExactPass>, kTalliedKinds.size()> exact_;
  std::string problem_;
};

bool are_inside(const RunSnapshot& run, const timeline::TimeRange& range) {
  return std::ranges::all_of(run.ranks, [&](const RankSnapshot& rank) {
    const base::Interval own = range.of_rank(rank.rank);
    return range.has_rank(rank.rank) &&
           std::ranges::all_of(rank.rows->collectives.rows, [&](const auto& row) {
             return row.start_ns >= own.start_ns && row.start_ns < own.end_ns;
           });
  });
}

}  // namespace

base::Result<timeline::RangeFigures> range_statistics(const RunSnapshot& run,
                                                      const timeline::TimeRange& range,
                                                      const std::function<bool()>& wanted) {
  const auto begun = std::chrono::steady_clock::now();
  auto of_collectives =
      std::async(std::launch::async, [&run, &range] { return collective_tables(run, range); });
  store::EventStore& store = *run.store;
  ChunkStatistics statistics(store, range, wanted);
  TRY(statistics.run(run.totals));
  timeline::RangeFigures figures;
  figures.range = range;
  for (std::size_t i = 0; i < kChunkTables.size(); ++i) {
    figures.tables.push_back(statistics.table(i));
    if (kChunkTables[i] != timeline::StatisticsTable::kOperators) continue;
    for (auto& table : of_collectives.get()) {
      figures.tables.push_back(std::move(table));
    }
  }
  figures.is_whole_run = statistics.is_whole_run() && are_inside(run, range);
  figures.incomplete = store.problem();
  if (!statistics.problem().empty()) {
    figures.incomplete += (figures.incomplete.empty() ? "" : "\n") + statistics.problem();
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
  figures.seconds = taken.count();
  return figures;
}

timeline::RangeFigures statistics_so_far(const store::EventStore& store, const RunTotals& totals,
                                         const timeline::TimeRange& range, double fraction) {
  timeline::RangeFigures figures;
  figures.range = range;
  figures.fraction = fraction;
  figures.is_whole_run = true;
  for (std::size_t i = 0; i < kTalliedKinds.size(); ++i) {
    figures.tables.push_back(range_table(store, i, totals.kinds[i], nullptr));
  }
  figures.incomplete = store.problem();
  return figures;
}

}  // namespace shardlens::trace::explore
