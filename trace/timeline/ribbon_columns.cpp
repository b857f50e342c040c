#include "trace/timeline/ribbon_columns.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

namespace shardlens::trace {

namespace {

constexpr float kSameShare = 1.0F / 128;

// Sums parts of one column after the other.
class ColumnSums {
 public:
  explicit ColumnSums(PixelGrid grid) : grid_(grid) {}

  void add(std::int64_t start_ns, std::size_t piece_class, std::int64_t ns) {
    const std::int64_t column = grid_.column_at(start_ns);
    if (columns_.empty() || column != column_) {
      column_ = column;
      columns_.push_back({grid_.start_of(column), grid_.start_of(column + 1), {}});
    }
    columns_.back().share[piece_class] +=
        static_cast<float>(static_cast<double>(ns) / static_cast<double>(grid_.column_ns()));
  }
  std::vector<RibbonColumn> take() { return std::move(columns_); }

 private:
  PixelGrid grid_;
  std::int64_t column_ = 0;
  std::vector<RibbonColumn> columns_;
};

bool look_the_same(const RibbonColumn& a, const RibbonColumn& b) {
  for (std::size_t i = 0; i < a.share.size(); ++i) {
    if (std::abs(a.share[i] - b.share[i]) >= kSameShare) return false;
  }
  return true;
}

}  // namespace

PieceClass piece_class_of(BarClass bar_class) {
  switch (bar_class) {
    case BarClass::kData:
      return PieceClass::kData;
    case BarClass::kForward:
      return PieceClass::kForward;
    case BarClass::kBackward:
      return PieceClass::kBackward;
    case BarClass::kOptimizerPhase:
      return PieceClass::kOptimizerPhase;
    case BarClass::kEvaluation:
      return PieceClass::kEvaluation;
    case BarClass::kOtherPhase:
      return PieceClass::kOtherPhase;
    case BarClass::kCompute:
      return PieceClass::kCompute;
    case BarClass::kOptimizerCompute:
      return PieceClass::kOptimizer;
    case BarClass::kOverlapped:
      return PieceClass::kOverlapped;
    case BarClass::kExposed:
    case BarClass::kWaiting:
      return PieceClass::kExposed;
    case BarClass::kCopy:
      return PieceClass::kCopy;
    case BarClass::kIdle:
      return PieceClass::kIdle;
  }
  return PieceClass::kIdle;
}

std::vector<RibbonColumn> ribbon_columns(std::span<const ClassPiece> pieces, PixelGrid grid) {
  ColumnSums sums(grid);
  for (const ClassPiece& piece : pieces) {
    const auto piece_class = static_cast<std::size_t>(piece_class_of(piece.bar_class));
    for (std::int64_t from_ns = piece.time.start_ns; from_ns < piece.time.end_ns;) {
      const std::int64_t to_ns =
          std::min(piece.time.end_ns, grid.start_of(grid.column_at(from_ns) + 1));
      sums.add(from_ns, piece_class, to_ns - from_ns);
      from_ns = to_ns;
    }
  }
  return sums.take();
}

std::vector<RibbonColumn> ribbon_columns(std::span<const ClassCell> cells, PixelGrid grid) {
  ColumnSums sums(grid);
  for (const ClassCell& cell : cells) {
    for (std::size_t i = 0; i < cell.ns.size(); ++i) {
      if (cell.ns[i] > 0) sums.add(cell.start_ns, i, cell.ns[i]);
    }
  }
  return sums.take();
}

std::vector<Piece> ribbon_pieces(std::span<const ClassPiece> pieces) {
  std::vector<Piece> result;
  result.reserve(pieces.size());
  for (const ClassPiece& from : pieces) {
    Piece& piece = result.emplace_back();
    piece.start_ns = from.time.start_ns;
    piece.end_ns = from.time.end_ns;
    piece.longest_ns = from.time.length();
    piece.piece_class = piece_class_of(from.bar_class);
  }
  return result;
}

std::vector<RibbonColumn> mean_columns(std::span<const std::vector<RibbonColumn>> ranks) {
  std::map<std::int64_t, RibbonColumn> sums;
  for (const auto& columns : ranks) {
    for (const RibbonColumn& column : columns) {
      RibbonColumn& sum = sums.try_emplace(column.start_ns).first->second;
      sum.start_ns = column.start_ns;
      sum.end_ns = column.end_ns;
      for (std::size_t i = 0; i < sum.share.size(); ++i) {
        sum.share[i] += column.share[i] / static_cast<float>(ranks.size());
      }
    }
  }
  std::vector<RibbonColumn> mean;
  mean.reserve(sums.size());
  for (const auto& [start, column] : sums) mean.push_back(column);
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

}  // namespace shardlens::trace
