#include "trace/explore/statistics/range_statistics.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "trace/explore/statistics/collective_tables.h"
#include "trace/explore/tally/exact_pass.h"
#include "trace/timeline/words/kernel_class.h"

namespace shardlens::trace {

namespace {

// The tables from chunks, as kTalliedKinds.
struct ChunkTable {
  StatisticsTable table;
  EventTableKind events;
};
constexpr std::array<ChunkTable, kTalliedKinds.size()> kChunkTables{{
    {StatisticsTable::kKernels, EventTableKind::kKernel},
    {StatisticsTable::kOperators, EventTableKind::kOperator},
    {StatisticsTable::kCopies, EventTableKind::kCopy},
    {StatisticsTable::kLaunches, EventTableKind::kLaunch},
}};

// What both passes go over.
struct RangeChunks {
  std::vector<ChunkEntry> chunks;
  bool is_whole_run = true;
};

RangeChunks chunks_of(const EventStore& store, const TimeRange& range) {
  RangeChunks found;
  const auto all = store.chunks();
  for (const ChunkEntry& chunk : *all) {
    const ChunkHeader& header = chunk.header;
    const bool is_inside = header.first_ns >= range.start_ns && header.last_ns < range.end_ns;
    found.is_whole_run = found.is_whole_run && is_inside && has_rank(range, chunk.rank);
    const bool can_begin = header.first_ns < range.end_ns && header.last_ns >= range.start_ns;
    if (chunk.kind == EventKind::kAllocation || !can_begin || !has_rank(range, chunk.rank)) {
      continue;
    }
    found.chunks.push_back(chunk);
  }
  return found;
}

TimeClass piece_class_of(EventKind kind, KernelClass kernel_class) {
  if (kind == EventKind::kCopy) return TimeClass::kCopy;
  if (kind != EventKind::kKernel) return TimeClass::kHost;
  if (kernel_class == KernelClass::kOptimizer) return TimeClass::kOptimizer;
  if (kernel_class == KernelClass::kCommunication) return TimeClass::kOverlapped;
  return TimeClass::kCompute;
}

// `exact` is null before the second pass: then there are no quantiles yet.
NameFigures figures_of(const EventStore& store, std::size_t kind, const NameTotals& totals,
                       const ExactPass* exact, std::size_t place) {
  const NameTotal& total = totals.names()[place];
  const LongestEvent& longest = total.sum.longest;
  NameFigures figures;
  figures.name = store.global_text(total.sum.name);
  KernelClass kernel_class = KernelClass::kOther;
  if (kTalliedKinds[kind] == EventKind::kKernel) {
    kernel_class = kernel_class_of(figures.name);
    figures.kernel_class = to_string(kernel_class);
  }
  figures.piece_class = piece_class_of(kTalliedKinds[kind], kernel_class);
  figures.count = total.count;
  figures.total_ns = total.sum.total_ns;
  figures.mean_ns = static_cast<double>(figures.total_ns) / static_cast<double>(figures.count);
  figures.least_ns = total.sum.least_ns;
  figures.most_ns = longest.duration_ns;
  figures.bytes = total.sum.bytes;
  figures.longest = {kChunkTables[kind].events, longest.rank, longest.chunk, longest.index};
  figures.longest_start_ns = longest.start_ns;
  figures.histogram = {total.bins.first_ns(), total.bins.last_ns(), {}};
  if (exact == nullptr) {
    figures.median_ns = figures.p99_ns = kUnknownNs;
    return figures;
  }
  figures.median_ns = exact->median_ns(place);
  figures.p99_ns = exact->p99_ns(place);
  figures.histogram.counts = exact->bins(place);
  return figures;
}

RangeTable table_of(const EventStore& store, std::size_t kind, const NameTotals& totals,
                    const ExactPass* exact) {
  RangeTable table{kChunkTables[kind].table, GroupBy::kName, {}, 0, 0};
  for (std::size_t place = 0; place < totals.names().size(); ++place) {
    table.rows.push_back(figures_of(store, kind, totals, exact, place));
  }
  complete_table(table);
  return table;
}

// The two passes over all chunks of the range.
class ChunkStatistics {
 public:
  ChunkStatistics(EventStore& store, const TimeRange& range, const std::function<bool()>& wanted)
      : store_(store),
        range_(range),
        wanted_(wanted),
        found_(chunks_of(store, range)),
        tally_(store, range) {
    tally_.learn_names(found_.chunks);
  }

  Result<void> run(std::shared_ptr<const RunTotals> known) {
    const bool is_known = known && found_.is_whole_run && known->chunks == found_.chunks.size();
    if (is_known) {
      totals_ = std::move(known);
    } else {
      TRY(pass([&](int worker, const ChunkEntry& chunk, const EventColumns& columns) {
        tally_.add(worker, chunk, columns);
      }));
      totals_ = std::make_shared<const RunTotals>(tally_.totals());
    }
    for (std::size_t i = 0; i < kTalliedKinds.size(); ++i) {
      exact_[i].emplace(totals_->kinds[i], store_.threads());
    }
    return pass([&](int worker, const ChunkEntry& chunk, const EventColumns& columns) {
      exact_[tally_of(chunk.kind)]->add(worker, chunk.rank, columns, range_,
                                        tally_.names().at(chunk.rank));
    });
  }

  RangeTable table(std::size_t i) const {
    return table_of(store_, i, totals_->kinds[i], &*exact_[i]);
  }
  bool is_whole_run() const { return found_.is_whole_run; }
  const std::string& problem() const { return problem_; }

 private:
  template <typename Add>
  Result<void> pass(Add&& add) {
    const auto visit = store_.visit(found_.chunks, add, wanted_);
    if (!visit.finished) return fail(ErrorKind::kFailed, "the statistics are no longer wanted");
    problem_ = visit.problem;
    if (visit.unreadable > 1) {
      problem_ += " (and " + std::to_string(visit.unreadable - 1) + " more)";
    }
    return {};
  }

  EventStore& store_;
  const TimeRange& range_;
  const std::function<bool()>& wanted_;
  const RangeChunks found_;
  RunTally tally_;
  std::shared_ptr<const RunTotals> totals_;
  std::array<std::optional<ExactPass>, kTalliedKinds.size()> exact_;
  std::string problem_;
};

bool are_inside(std::span<const CollectiveRows> collectives, const TimeRange& range) {
  return std::ranges::all_of(collectives, [&](const CollectiveRows& rank) {
    return has_rank(range, rank.rank) && std::ranges::all_of(rank.rows, [&](const auto& row) {
             return row.start_ns >= range.start_ns && row.start_ns < range.end_ns;
           });
  });
}

}  // namespace

Result<RangeFigures> range_statistics(EventStore& store,
                                      std::span<const CollectiveRows> collectives,
                                      const TimeRange& range, const std::function<bool()>& wanted,
                                      std::shared_ptr<const RunTotals> known) {
  const auto begun = std::chrono::steady_clock::now();
  auto of_collectives = std::async(
      std::launch::async, [collectives, &range] { return collective_tables(collectives, range); });
  ChunkStatistics statistics(store, range, wanted);
  TRY(statistics.run(std::move(known)));
  RangeFigures figures;
  figures.range = range;
  for (std::size_t i = 0; i < kChunkTables.size(); ++i) {
    figures.tables.push_back(statistics.table(i));
    if (kChunkTables[i].table != StatisticsTable::kOperators) continue;
    for (auto& table : of_collectives.get()) {
      figures.tables.push_back(std::move(table));
    }
  }
  figures.is_whole_run = statistics.is_whole_run() && are_inside(collectives, range);
  figures.incomplete = store.problem();
  if (!statistics.problem().empty()) {
    figures.incomplete += (figures.incomplete.empty() ? "" : "\n") + statistics.problem();
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
  figures.seconds = taken.count();
  return figures;
}

RangeFigures statistics_so_far(const EventStore& store, const RunTotals& totals,
                               const TimeRange& range, double fraction) {
  RangeFigures figures;
  figures.range = range;
  figures.fraction = fraction;
  figures.is_whole_run = true;
  for (std::size_t i = 0; i < kTalliedKinds.size(); ++i) {
    figures.tables.push_back(table_of(store, i, totals.kinds[i], nullptr));
  }
  figures.incomplete = store.problem();
  return figures;
}

}  // namespace shardlens::trace
