#include "ui/inspect/timeline/timeline_request.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "ui/inspect/timeline/timeline_window.h"

namespace shardlens::ui::inspect {

namespace {

using trace::timeline::PictureRequest;
using trace::timeline::RowWindow;

constexpr double kSeenMargin = 0.5;  // of the width, at each side

// A power of two of about an eighth of the width, so that a small move asks for the same.
std::int64_t rounding(double span_ns) {
  const int bits = static_cast<int>(std::floor(std::log2(std::max(span_ns, 8.0)))) - 3;
  return std::int64_t{1} << std::clamp(bits, 0, 58);
}

std::int64_t round_down(std::int64_t value, std::int64_t step) { return value & ~(step - 1); }

}  // namespace

PictureRequest picture_request(std::span<const SeenPart> parts, double span_ns, float width) {
  PictureRequest request;
  const std::int64_t step = rounding(span_ns);
  const auto margin = static_cast<std::int64_t>(std::min(kSeenMargin * span_ns, 1e18));
  for (const SeenPart& part : parts) {
    RowWindow window;
    window.row = part.row;
    window.start_ns = round_down(std::max(part.start_ns - margin, part.least_ns), step);
    window.end_ns = round_down(std::min(part.end_ns + margin, part.most_ns), step) + step;
    if (window.end_ns > window.start_ns) request.windows.push_back(window);
  }
  std::ranges::sort(request.windows, {},
                    [](const RowWindow& window) { return std::pair(window.row, window.start_ns); });
  // Half octaves: a window that grows by a few pixels asks for the same.
  const double exact = span_ns / std::max(1.0, static_cast<double>(width));
  request.ns_per_pixel = std::exp2(std::floor(std::log2(std::max(exact, 1e-6)) * 2) / 2);
  return request;
}

PictureIndex::PictureIndex(std::shared_ptr<const trace::timeline::TimelinePicture> picture)
    : picture_(std::move(picture)) {
  if (!picture_) return;
  for (const trace::timeline::RowPicture& row : picture_->rows)
    by_row_[row.window.row].push_back(&row);
}

const std::vector<std::string>& PictureIndex::names() const {
  static const std::vector<std::string> kNone;
  return picture_ ? picture_->names : kNone;
}

const trace::timeline::RowPicture* PictureIndex::find(int row, std::int64_t start_ns,
                                                      std::int64_t end_ns) const {
  const auto found = by_row_.find(row);
  if (found == by_row_.end()) return nullptr;
  const trace::timeline::RowPicture* best = nullptr;
  double most = 0;
  for (const trace::timeline::RowPicture* part : found->second) {
    const double covered = distance_ns(std::min(part->window.end_ns, end_ns),
                                       std::max(part->window.start_ns, start_ns));
    if (best != nullptr && covered <= most) continue;
    best = part;
    most = covered;
  }
  return best;
}

const trace::timeline::Piece* PictureIndex::find(const trace::timeline::EventPlace& place) const {
  const trace::timeline::RowPicture* picture = find(place.row, place.start_ns);
  if (picture == nullptr || !place.ref.exists()) return nullptr;
  const auto found = std::ranges::find(picture->pieces, place.ref, &trace::timeline::Piece::ref);
  return found == picture->pieces.end() ? nullptr : &*found;
}

void LitNames::forget_names() {
  picked_.clear();
  has_lit_ = false;
}

void LitNames::follow(const std::vector<std::string>& names,
                      std::shared_ptr<const trace::timeline::NameHits> hits,
                      const std::string& picked) {
  const bool has_lit = hits || !picked.empty();
  if (hits == hits_ && picked == picked_ && has_lit_ == has_lit) return;
  hits_ = std::move(hits);
  picked_ = picked;
  has_lit_ = has_lit;
  lit_.clear();
  if (!has_lit_) return;
  std::unordered_set<std::string_view> wanted{picked_};
  if (hits_) {
    for (const trace::timeline::NameHit& hit : hits_->names) wanted.insert(hit.name);
  }
  wanted.erase(std::string_view());
  for (const std::string& name : names) lit_.push_back(wanted.contains(name));
}

}  // namespace shardlens::ui::inspect
