#include "trace/analysis/steps/ribbon.h"

#include <algorithm>
#include <cstddef>

namespace shardlens::trace::analysis {

namespace {

void append(std::vector<ClassPiece>& pieces, ClassPiece piece) {
  if (piece.time.length() <= 0) return;
  if (!pieces.empty() && pieces.back().bar_class == piece.bar_class &&
      pieces.back().time.end_ns == piece.time.start_ns) {
    pieces.back().time.end_ns = piece.time.end_ns;
  } else {
    pieces.push_back(piece);
  }
}

// The class with most of [begin, end) within `window`.
base::TimeClass fullest_class(const ClassPiece* begin, const ClassPiece* end,
                              base::Interval window) {
  base::TimeByClass lengths{};
  for (const auto* piece = begin; piece != end; ++piece) {
    const auto part = std::min(piece->time.end_ns, window.end_ns) -
                      std::max(piece->time.start_ns, window.start_ns);
    if (part > 0) lengths[base::index_of(piece->bar_class)] += part;
  }
  const auto fullest = std::max_element(lengths.begin(), lengths.end());
  return static_cast<base::TimeClass>(fullest - lengths.begin());
}

// A stretch of slivers: cells of at least the sliver's length, each with its fullest class.
void append_cells(std::vector<ClassPiece>& result, const ClassPiece* begin, const ClassPiece* end,
                  std::int64_t sliver_ns) {
  const base::Interval stretch{begin->time.start_ns, (end - 1)->time.end_ns};
  const auto cells = std::max<std::int64_t>(1, stretch.length() / sliver_ns);
  const auto* first = begin;
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    const base::Interval window{
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

std::vector<ClassPiece> exact_partition(const base::ActivitySets& sets, base::Interval window) {
  std::vector<ClassPiece> pieces;
  base::sweep_classes(sets, window, [&](base::Interval part, base::TimeClass time_class) {
    pieces.push_back({part, time_class});
  });
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

}  // namespace shardlens::trace::analysis
