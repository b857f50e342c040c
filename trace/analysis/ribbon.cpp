#include "trace/analysis/ribbon.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace shardlens::trace {

namespace {

constexpr std::size_t kClassCount = static_cast<std::size_t>(BarClass::kIdle) + 1;

void append(std::vector<ClassPiece>& pieces, ClassPiece piece) {
  if (piece.time.length() <= 0) return;
  if (!pieces.empty() && pieces.back().bar_class == piece.bar_class &&
      pieces.back().time.end_ns == piece.time.start_ns) {
    pieces.back().time.end_ns = piece.time.end_ns;
  } else {
    pieces.push_back(piece);
  }
}

void collect(std::vector<ClassPiece>& pieces, const Intervals& set, BarClass bar_class) {
  for (const auto& interval : set) pieces.push_back({interval, bar_class});
}

// The class with most of [begin, end) within `window`.
BarClass fullest_class(const ClassPiece* begin, const ClassPiece* end, Interval window) {
  std::array<std::int64_t, kClassCount> lengths{};
  for (const auto* piece = begin; piece != end; ++piece) {
    const auto part = std::min(piece->time.end_ns, window.end_ns) -
                      std::max(piece->time.start_ns, window.start_ns);
    if (part > 0) lengths[static_cast<std::size_t>(piece->bar_class)] += part;
  }
  const auto fullest = std::max_element(lengths.begin(), lengths.end());
  return static_cast<BarClass>(fullest - lengths.begin());
}

// A stretch of slivers: cells of at least the sliver's length, each with its fullest class.
void append_cells(std::vector<ClassPiece>& result, const ClassPiece* begin, const ClassPiece* end,
                  std::int64_t sliver_ns) {
  const Interval stretch{begin->time.start_ns, (end - 1)->time.end_ns};
  const auto cells = std::max<std::int64_t>(1, stretch.length() / sliver_ns);
  const auto* first = begin;
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    const Interval window{
        stretch.start_ns + cell * sliver_ns,
        cell + 1 == cells ? stretch.end_ns : stretch.start_ns + (cell + 1) * sliver_ns};
    while (first->time.end_ns <= window.start_ns) ++first;
    const auto* last = first;
    while (last != end && last->time.start_ns < window.end_ns) ++last;
    append(result, {window, fullest_class(first, last, window)});
  }
}

// Gives what is still shorter than a sliver to the longer neighbour.
std::vector<ClassPiece> absorb_short(std::vector<ClassPiece> pieces, std::int64_t sliver_ns) {
  std::vector<ClassPiece> result;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    auto piece = pieces[i];
    if (piece.time.length() >= sliver_ns || pieces.size() == 1) {
      append(result, piece);
      continue;
    }
    const bool has_next = i + 1 < pieces.size();
    const bool takes_next =
        has_next && (result.empty() || pieces[i + 1].time.length() > result.back().time.length());
    if (takes_next) {
      pieces[i + 1].time.start_ns = piece.time.start_ns;
    } else {
      result.back().time.end_ns = piece.time.end_ns;
    }
  }
  return result;
}

}  // namespace

std::vector<ClassPiece> exact_partition(const RibbonInput& input) {
  const auto compute = clip(input.compute, input.step);
  const auto communication = clip(input.communication, input.step);
  const auto alone = subtract(compute, communication);
  const auto busy = unite(compute, communication);
  const auto copies = subtract(clip(input.copies, input.step), busy);
  std::vector<ClassPiece> pieces;
  collect(pieces, intersect(compute, communication), BarClass::kOverlapped);
  collect(pieces, intersect(alone, input.optimizer), BarClass::kOptimizerCompute);
  collect(pieces, subtract(alone, input.optimizer), BarClass::kCompute);
  collect(pieces, subtract(communication, compute), BarClass::kExposed);
  collect(pieces, copies, BarClass::kCopy);
  collect(pieces, subtract(normalize({input.step}), unite(busy, copies)), BarClass::kIdle);
  std::sort(pieces.begin(), pieces.end(),
            [](const auto& a, const auto& b) { return a.time.start_ns < b.time.start_ns; });
  return pieces;
}

std::vector<ClassPiece> without_slivers(const std::vector<ClassPiece>& pieces,
                                        std::int64_t sliver_ns) {
  if (sliver_ns <= 1) return pieces;
  std::vector<ClassPiece> result;
  for (std::size_t i = 0; i < pieces.size();) {
    if (pieces[i].time.length() >= sliver_ns) {
      append(result, pieces[i++]);
      continue;
    }
    std::size_t end = i;
    while (end < pieces.size() && pieces[end].time.length() < sliver_ns &&
           (end == i || pieces[end].time.start_ns == pieces[end - 1].time.end_ns)) {
      ++end;
    }
    append_cells(result, pieces.data() + i, pieces.data() + end, sliver_ns);
    i = end;
  }
  return absorb_short(std::move(result), sliver_ns);
}

}  // namespace shardlens::trace
