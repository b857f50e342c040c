#include "trace/timeline/pieces/collective_parts.h"

#include <algorithm>

#include "trace/base/time_partition.h"

namespace shardlens::trace::timeline {

base::TimeClass communication_class(base::Interval time, const base::Intervals& compute) {
  if (time.length() <= 0) time.end_ns = time.start_ns + 1;
  return base::length_within(compute, time) * 2 >= time.length() ? base::TimeClass::kOverlapped
                                                                 : base::TimeClass::kExposed;
}

namespace {

// Cuts one collective; what is shorter than a column goes by what most of its column is.
class ExposureCutter {
 public:
  ExposureCutter(const Piece& piece, PixelGrid grid, std::vector<Piece>& parts)
      : piece_(piece), grid_(grid), parts_(parts), first_(parts.size()), from_ns_(piece.start_ns) {}

  void add(base::Interval part, base::TimeClass part_class) {
    if (part.length() >= grid_.column_ns()) {
      end_column(part.start_ns);
      emit(part.end_ns, part_class);
      return;
    }
    while (part.start_ns < part.end_ns) {
      const std::int64_t column_end = grid_.start_of(grid_.column_at(part.start_ns) + 1);
      const std::int64_t to_ns = std::min(part.end_ns, column_end);
      balance_ns_ += part_class == base::TimeClass::kOverlapped ? to_ns - part.start_ns
                                                                : part.start_ns - to_ns;
      if (to_ns == column_end) end_column(to_ns);
      part.start_ns = to_ns;
    }
  }
  void finish() { end_column(piece_.end_ns); }

 private:
  void end_column(std::int64_t until_ns) {
    if (until_ns > from_ns_) {
      emit(until_ns, balance_ns_ >= 0 ? base::TimeClass::kOverlapped : base::TimeClass::kExposed);
    }
    balance_ns_ = 0;
  }
  // From where the last one ended.
  void emit(std::int64_t until_ns, base::TimeClass part_class) {
    const bool has_last = parts_.size() > first_;
    const bool is_short = until_ns - from_ns_ < grid_.column_ns();
    const bool last_is_short = has_last && parts_.back().duration_ns() < grid_.column_ns();
    if (has_last && (is_short || last_is_short || parts_.back().piece_class == part_class)) {
      Piece& last = parts_.back();
      if (last_is_short && !is_short) last.piece_class = part_class;
      last.end_ns = until_ns;
    } else {
      Piece& part = parts_.emplace_back(piece_);
      part.start_ns = from_ns_;
      part.end_ns = until_ns;
      part.piece_class = part_class;
    }
    from_ns_ = until_ns;
  }

  const Piece piece_;
  PixelGrid grid_;
  std::vector<Piece>& parts_;
  std::size_t first_;  // of this collective
  std::int64_t from_ns_;
  std::int64_t balance_ns_ = 0;  // of the column: overlapped − exposed
};

}  // namespace

std::vector<Piece> split_by_exposure(const std::vector<Piece>& pieces,
                                     const base::Intervals& compute, PixelGrid grid) {
  std::vector<Piece> result;
  result.reserve(pieces.size() * 2);
  const base::Intervals none;
  for (const Piece& piece : pieces) {
    if (!piece.ref.exists() || piece.duration_ns() < grid.column_ns()) {
      result.push_back(piece);
      continue;
    }
    const base::Interval whole{piece.start_ns, piece.end_ns};
    const base::Intervals communication{whole};
    ExposureCutter cutter(piece, grid, result);
    base::sweep_classes(
        {compute, communication, none, none}, whole,
        [&](base::Interval part, base::TimeClass part_class) { cutter.add(part, part_class); });
    cutter.finish();
  }
  return result;
}

}  // namespace shardlens::trace::timeline
