#include "trace/timeline/pieces/ribbon_columns.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace shardlens::trace::timeline {

namespace {

constexpr float kSameShare = 1.0F / 128;
constexpr double kWhole = 1U << 30;  // of a column, in a sum over ranks

// Sums parts of one column after the other.
class ColumnSums {
 public:
  explicit ColumnSums(PixelGrid grid)
      : grid_(grid), per_column_(1 / static_cast<double>(grid.column_ns())) {}

  // In order of time.
  void add(base::Interval part, std::size_t piece_class) {
    while (part.start_ns < part.end_ns) {
      if (part.start_ns >= column_end_ns_) begin_column(part.start_ns);
      const std::int64_t to_ns = std::min(part.end_ns, column_end_ns_);
      add(piece_class, to_ns - part.start_ns);
      part.start_ns = to_ns;
    }
  }
  void add_cell(const ClassCell& cell) {
    for (std::size_t i = 0; i < cell.ns.size(); ++i) {
      if (cell.ns[i] <= 0) continue;
      if (cell.start_ns >= column_end_ns_) begin_column(cell.start_ns);
      add(i, cell.ns[i]);
    }
  }
  std::vector<RibbonColumn> take() { return std::move(columns_); }

 private:
  void begin_column(std::int64_t time_ns) {
    const std::int64_t start_ns = grid_.start_of(grid_.column_at(time_ns));
    column_end_ns_ = start_ns + grid_.column_ns();
    columns_.push_back({start_ns, column_end_ns_, {}});
  }
  void add(std::size_t piece_class, std::int64_t ns) {
    columns_.back().share[piece_class] += static_cast<float>(static_cast<double>(ns) * per_column_);
  }

  PixelGrid grid_;
  double per_column_;
  std::int64_t column_end_ns_ = INT64_MIN;
  std::vector<RibbonColumn> columns_;
};

bool look_the_same(const RibbonColumn& a, const RibbonColumn& b) {
  for (std::size_t i = 0; i < a.share.size(); ++i) {
    if (std::abs(a.share[i] - b.share[i]) >= kSameShare) return false;
  }
  return true;
}

}  // namespace

RowPicture exact_ribbon(const base::ActivitySets& sets, base::Interval window,
                        const base::Intervals& recorded, PixelGrid grid) {
  ColumnSums sums(grid);
  RowPicture ribbon;
  const auto most = static_cast<std::size_t>(
      std::max<std::int64_t>(1, grid.around(window).length() / grid.column_ns()));
  std::size_t count = 0;
  const auto add = [&](base::Interval part, base::TimeClass piece_class) {
    if (++count <= most) {
      Piece& piece = ribbon.pieces.emplace_back();
      piece.start_ns = part.start_ns;
      piece.end_ns = part.end_ns;
      piece.longest_ns = part.length();
      piece.piece_class = piece_class;
    }
    sums.add(part, static_cast<std::size_t>(piece_class));
  };
  base::sweep_classes(sets, window, [&](base::Interval part, base::TimeClass piece_class) {
    if (piece_class != base::TimeClass::kIdle) return add(part, piece_class);
    base::visit_within(recorded, part, [&](base::Interval idle) { add(idle, piece_class); });
  });
  if (count > most) ribbon.pieces.clear();
  ribbon.columns = sums.take();
  return ribbon;
}

std::vector<RibbonColumn> ribbon_columns(std::span<const ClassCell> cells, PixelGrid grid) {
  ColumnSums sums(grid);
  for (const ClassCell& cell : cells) sums.add_cell(cell);
  return sums.take();
}

void MeanRibbon::add(const RowPicture& rank) {
  ++ranks_;
  is_exact_ = is_exact_ && rank.is_exact;
  is_complete_ = is_complete_ && rank.is_complete;
  std::vector<Sum> fresh;
  std::size_t at = 0;
  for (const RibbonColumn& column : rank.columns) {
    while (at < sums_.size() && sums_[at].start_ns < column.start_ns) ++at;
    const bool is_there = at < sums_.size() && sums_[at].start_ns == column.start_ns;
    Sum& sum = is_there ? sums_[at] : fresh.emplace_back(Sum{column.start_ns, column.end_ns, {}});
    for (std::size_t i = 0; i < sum.share.size(); ++i) {
      sum.share[i] += std::llround(static_cast<double>(column.share[i]) * kWhole);
    }
  }
  if (fresh.empty()) return;
  const auto known = static_cast<std::ptrdiff_t>(sums_.size());
  sums_.insert(sums_.end(), fresh.begin(), fresh.end());
  std::ranges::inplace_merge(sums_, sums_.begin() + known, {}, &Sum::start_ns);
}

RowPicture MeanRibbon::picture() const {
  RowPicture mean;
  mean.is_exact = is_exact_;
  mean.is_complete = is_complete_;
  mean.columns.reserve(sums_.size());
  for (const Sum& sum : sums_) {
    RibbonColumn& column = mean.columns.emplace_back(RibbonColumn{sum.start_ns, sum.end_ns, {}});
    for (std::size_t i = 0; i < column.share.size(); ++i) {
      column.share[i] = static_cast<float>(static_cast<double>(sum.share[i]) / kWhole / ranks_);
    }
  }
  return mean;
}

void join_columns(std::vector<RibbonColumn>& columns) {
  if (columns.empty()) return;
  std::size_t kept = 0;
  for (std::size_t i = 1; i < columns.size(); ++i) {
    // Compared with the first of the run, so that a slope does not become level.
    if (columns[kept].end_ns == columns[i].start_ns && look_the_same(columns[kept], columns[i])) {
      columns[kept].end_ns = columns[i].end_ns;
    } else {
      columns[++kept] = columns[i];
    }
  }
  columns.resize(kept + 1);
}

}  // namespace shardlens::trace::timeline
