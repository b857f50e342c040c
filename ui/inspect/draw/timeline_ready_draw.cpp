// When gradients were ready, and what took them over the link: the ready rows of
// ui/inspect/draw/timeline_row_draw.h.
#include <algorithm>
#include <cmath>
#include <string>

#include "ui/inspect/draw/timeline_row_draw.h"
#include "ui/kit/paint.h"
#include "ui/kit/timeline_quads.h"
#include "ui/present/format.h"

namespace shardlens::ui::inspect {

namespace {

using trace::timeline::DrawnCollective;
using trace::timeline::Piece;
using trace::timeline::RowPicture;
using Gather = DrawnCollective::Gather;

// A low row's boxes stay high enough for a figure as long as its marks can be seen.
constexpr float kMarkHeight = 10, kLeastMark = 6, kLeastNamedBox = 12;

class ReadyRow {
 public:
  ReadyRow(const RowCanvas& canvas, const RowPlace& place, const RowPicture& picture,
           const std::vector<std::string>& names)
      : c_(canvas), theme_(canvas.theme), place_(place), picture_(picture), names_(names) {
    boxes_ = place.area;
    marks_ = place.area;
    const float beside_boxes = place.area.h - theme_.px(kLeastNamedBox);
    if (beside_boxes < theme_.px(kLeastMark)) return;
    marks_ = boxes_.take_top(std::min(beside_boxes, theme_.px(kMarkHeight)));
  }

  std::optional<RowItem> draw();
  // visit(size, box) for what is to have its size on it.
  template <typename Visit>
  void visit_sizes(Visit&& visit) const;

 private:
  bool has_boxes() const { return boxes_.h < place_.area.h; }
  const DrawnCollective& call(const Piece& piece) const {
    return picture_.collectives[static_cast<std::size_t>(piece.collective)];
  }
  bool is_reduction(const Piece& piece) const {
    return piece.collective >= 0 && call(piece).gather == Gather::kNone;
  }
  state::Rect box_of(const Piece& piece) const;
  bool is_visible(const state::Rect& box) const { return box.w > 0; }
  static present::Quantity size_of(const DrawnCollective& call) {
    return present::format_bytes(
        static_cast<double>(call.bucket ? call.bucket->bytes : call.bytes));
  }
  void label_unit(const state::Rect& box, const std::string& unit, state::Rgb ink) const;
  void draw_gather(const Piece& piece, const state::Rect& box) const;
  void draw_reduction(const Piece& piece, const state::Rect& box, float limit) const;
  void draw_boxes();
  void draw_marks();
  bool is_hovered(const state::Rect& rect) const {
    return c_.mouse_inside && rect.contains(c_.mouse_x, c_.mouse_y);
  }

  const RowCanvas& c_;
  const kit::Theme& theme_;
  const RowPlace& place_;
  const RowPicture& picture_;
  const std::vector<std::string>& names_;
  state::Rect marks_, boxes_;
  std::optional<RowItem> hovered_;
};

state::Rect ReadyRow::box_of(const Piece& piece) const {
  const float x0 = std::max(std::floor(c_.x(piece.start_ns - place_.shift_ns)), place_.area.x - 1);
  const float x1 = std::min(std::max(std::floor(c_.x(piece.end_ns - place_.shift_ns)), x0 + 1),
                            place_.area.right() + 1);
  state::Rect box{x0, boxes_.y, x1 - x0, boxes_.h};
  if (box.w >= 4) box.w -= 1;
  return box;
}

template <typename Visit>
void ReadyRow::visit_sizes(Visit&& visit) const {
  if (boxes_.h < theme_.px(kLeastNamedBox)) return;
  for (const Piece& piece : picture_.pieces) {
    const state::Rect box = box_of(piece);
    if (is_reduction(piece) && !call(piece).unit && is_visible(box)) {
      visit(size_of(call(piece)), box);
    }
  }
}

// "blocks.3", "3": the longest that fits.
void ReadyRow::label_unit(const state::Rect& box, const std::string& unit, state::Rgb ink) const {
  if (box.h < theme_.px(kLeastNamedBox)) return;
  const auto dot = unit.find('.');
  const std::string number = dot == std::string::npos ? std::string() : unit.substr(dot + 1);
  for (const std::string& label : {unit, number}) {
    if (label.empty()) continue;
    const state::Rect inner = box.inset(theme_.px(3), 0);
    if (kit::label_in(theme_, inner, kit::Face::kSmall, ink, label, kit::Align::kCenter) > 0)
      return;
  }
}

void ReadyRow::draw_gather(const Piece& piece, const state::Rect& box) const {
  const state::Palette& p = theme_.colors();
  const DrawnCollective& gather = call(piece);
  const float strength = (gather.is_prefetched ? 0.55f : 1.0f) * c_.dim;
  kit::outline(box, kit::color(p.text_muted, strength), 2);
  const std::string& name = piece.name < names_.size() ? names_[piece.name] : names_.front();
  label_unit(box, gather.unit ? gather.unit->name : name.substr(0, name.find(' ')), p.text_muted);
  kit::shape(gather.gather == Gather::kBackward ? kit::Shape::kLeft : kit::Shape::kRight,
             box.x + box.w / 2, marks_.y + theme_.px(4), theme_.px(6),
             kit::color(p.text_muted, strength));
}

void ReadyRow::draw_reduction(const Piece& piece, const state::Rect& box, float limit) const {
  const state::Palette& p = theme_.colors();
  const DrawnCollective& reduction = call(piece);
  kit::bordered(box, kit::color(p.field), kit::color(p.idle_edge), 2);
  if (reduction.unit) return label_unit(box, reduction.unit->name, p.text_secondary);
  if (box.h < theme_.px(kLeastNamedBox)) return;  // the size stands in the tooltip
  if (reduction.bucket && !reduction.bucket->oversize_reason.empty()) {
    // Beyond the box where there is room: the reason matters more than the border.
    const std::string& why = reduction.bucket->oversize_reason;
    const float width = kit::text_width(theme_, kit::Face::kSmall, why) + theme_.px(8);
    const state::Rect wide{box.x, box.y, std::max(box.w, width), box.h};
    if (wide.right() <= limit) {
      kit::fill(wide.inset(1, 1), kit::color(p.field), 2);
      kit::label_in(theme_, wide.inset(theme_.px(4), 0), kit::Face::kSmall, p.text_secondary, why);
      return;
    }
  }
  if (c_.sizes.kind == SizeForm::Kind::kNone) return;
  kit::label_in(theme_, box.inset(theme_.px(2), 0), kit::Face::kSmall, p.text_secondary,
                c_.sizes.text(size_of(reduction)), kit::Align::kCenter);
}

void ReadyRow::draw_boxes() {
  for (std::size_t i = 0; i < picture_.pieces.size(); ++i) {
    const Piece& piece = picture_.pieces[i];
    const state::Rect box = box_of(piece);
    if (piece.collective < 0 || !is_visible(box)) continue;
    float limit = place_.area.right();
    if (i + 1 < picture_.pieces.size()) {
      limit = std::min(limit, box_of(picture_.pieces[i + 1]).x);
    }
    is_reduction(piece) ? draw_reduction(piece, box, limit) : draw_gather(piece, box);
    if (!is_hovered({box.x, place_.area.y, box.w, place_.area.h})) continue;
    hovered_ = RowItem{
        .row = place_.row, .shift_ns = place_.shift_ns, .piece = piece, .collective = call(piece)};
    if (piece.name < names_.size()) hovered_->name = names_[piece.name];
  }
}

void ReadyRow::draw_marks() {
  const state::Palette& p = theme_.colors();
  const float size = std::min(marks_.h, theme_.px(has_boxes() ? 7 : 8));
  const auto in_sight = [&](const trace::timeline::ReadyPoint& ready) {
    const float x = std::round(c_.x(ready.time_ns - place_.shift_ns));
    return x >= place_.area.x && x < place_.area.right();
  };
  const auto count = std::count_if(picture_.ready.begin(), picture_.ready.end(), in_sight);
  const bool dense = static_cast<float>(count) * size * 1.5f > place_.area.w;
  const float tick = std::max(1.0f, theme_.px(1));
  float drawn = place_.area.x - size;
  kit::QuadBatch ticks;
  for (const trace::timeline::ReadyPoint& ready : picture_.ready) {
    const float x = std::round(c_.x(ready.time_ns - place_.shift_ns));
    if (!in_sight(ready) || x < drawn + 2) continue;
    drawn = x;
    if (dense) {
      ticks.add(x, marks_.y + 2, x + tick, place_.area.bottom() - 2,
                kit::color(p.text_muted, 0.7f * c_.dim));
    } else {
      kit::shape(kit::Shape::kDown, x, has_boxes() ? marks_.y + theme_.px(4) : marks_.center_y(),
                 size, kit::color(p.text_secondary, c_.dim));
    }
    if (!is_hovered({x - size / 2, place_.area.y, size, place_.area.h})) continue;
    hovered_ = RowItem{.row = place_.row, .shift_ns = place_.shift_ns, .ready = ready};
    if (ready.name < names_.size()) hovered_->name = names_[ready.name];
    for (const DrawnCollective& call : picture_.collectives) {
      const bool is_own = call.tag_kind == ready.kind && call.tag_index == ready.index;
      if (is_own && call.gather == Gather::kNone) hovered_->collective = call;
    }
  }
}

std::optional<RowItem> ReadyRow::draw() {
  const kit::Clip clip(place_.area);
  if (has_boxes()) draw_boxes();
  draw_marks();
  return std::move(hovered_);
}

}  // namespace

std::optional<RowItem> draw_ready(const RowCanvas& canvas, const RowPlace& place,
                                  const RowPicture& picture,
                                  const std::vector<std::string>& names) {
  return ReadyRow(canvas, place, picture, names).draw();
}

std::string SizeForm::text(const present::Quantity& size) const {
  switch (kind) {
    case Kind::kWithUnit:
      return size.text();
    case Kind::kNumber:
      return size.value;
    case Kind::kShortNumber:
      return present::one_digit_fewer(size.value);
    case Kind::kNone:
      break;
  }
  return {};
}

void SizeRoom::add(const RowCanvas& canvas, const RowPlace& place, const RowPicture& picture) {
  static const std::vector<std::string> kNoNames;
  const kit::Theme& theme = canvas.theme;
  ReadyRow(canvas, place, picture, kNoNames)
      .visit_sizes([&](const present::Quantity& size, const state::Rect& box) {
        const float room = box.w - theme.px(4);
        const auto fits = [&](const std::string& text) {
          return kit::text_width(theme, kit::Face::kSmall, text) <= room ? 1 : 0;
        };
        ++all_;
        with_unit_ += fits(size.text());
        as_number_ += fits(size.value);
        short_ += fits(present::one_digit_fewer(size.value));
        units_.insert(size.unit);
      });
}

SizeForm SizeRoom::form() const {
  // Hardly any box stays empty beside others that say their unit.
  const bool with_unit = 2 * with_unit_ >= all_;
  const bool as_number = units_.size() == 1 && 2 * as_number_ >= all_;
  if (with_unit && (!as_number || 10 * with_unit_ >= 9 * as_number_)) {
    return {SizeForm::Kind::kWithUnit, ""};
  }
  if (as_number) return {SizeForm::Kind::kNumber, *units_.begin()};
  const bool is_short = units_.size() == 1 && 2 * short_ >= all_ && short_ > 0;
  return is_short ? SizeForm{SizeForm::Kind::kShortNumber, *units_.begin()} : SizeForm{};
}

}  // namespace shardlens::ui::inspect
