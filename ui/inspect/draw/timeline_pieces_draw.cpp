// Events as bars with their names, folds as columns: the pieces of
// ui/inspect/draw/timeline_row_draw.h.
#include <algorithm>
#include <cmath>
#include <functional>

#include "trace/timeline/words/kernel_title.h"
#include "ui/inspect/draw/timeline_row_draw.h"
#include "ui/inspect/timeline/item_facts.h"
#include "ui/kit/paint.h"
#include "ui/kit/timeline_quads.h"
#include "ui/present/timeline/timeline_time_text.h"
#include "ui/state/palette.h"

namespace shardlens::ui::inspect {

namespace {

using trace::base::TimeClass;
using trace::timeline::Piece;
using trace::timeline::RowKind;

constexpr float kLeastNamed = 46;  // a bar's width at scale 1 before its name is tried
constexpr float kLeastStrength = 0.35f;

bool is_event(const Piece& piece) { return piece.count <= 1 && piece.ref.exists(); }

struct PieceLabel {
  state::Rect box;
  std::string text;
  state::Rgb ink;
  bool is_whole = false;  // or left out
};

// What of a collective moves, over all of its parts.
struct Transfer {
  trace::timeline::EventRef ref;
  state::Rect rect;
  const trace::timeline::DrawnCollective* collective;
  const std::string* name;
  float strength;
};

class PieceDrawer {
 public:
  PieceDrawer(const RowCanvas& canvas, const RowPlace& place,
              const trace::timeline::RowPicture& picture, const std::vector<std::string>& names)
      : c_(canvas),
        place_(place),
        picture_(picture),
        names_(names),
        palette_(canvas.theme.colors()) {}

  void add(const Piece& piece);
  std::optional<RowItem> finish();

 private:
  bool is_lit(const Piece& piece) const {
    return c_.lit == nullptr || (piece.name < c_.lit->size() && (*c_.lit)[piece.name]);
  }
  state::Rgb fill_of(const Piece& piece) const;
  void add_event(const Piece& piece, const state::Rect& rect, float strength);
  void add_fold(const Piece& piece, const state::Rect& rect, float strength);
  void add_waiting(const Piece& piece, state::Rect& rect, state::Rgb hue, float strength);
  void add_label(const Piece& piece, const state::Rect& rect, state::Rgb fill);
  void add_transfer(const Piece& piece, const state::Rect& rect, float strength);
  void draw_transfers() const;
  const trace::timeline::DrawnCollective* collective_of(const Piece& piece) const {
    const auto at = static_cast<std::size_t>(piece.collective);
    return at < picture_.collectives.size() ? &picture_.collectives[at] : nullptr;
  }
  float pixels_of(const Piece& piece) const;
  float coverage(const Piece& piece, const state::Rect& rect) const;
  // Of pieces that share a pixel the longest is seen, as strong as all of them cover it.
  void add_thin(const Piece& piece, const state::Rect& pixel);
  void end_thin();
  void note_hover(const Piece& piece, const state::Rect& rect);

  const RowCanvas& c_;
  const RowPlace& place_;
  const trace::timeline::RowPicture& picture_;
  const std::vector<std::string>& names_;
  const state::Palette& palette_;
  kit::QuadBatch quads_;
  kit::QuadRun ground_, column_, peak_;  // of folds
  std::vector<PieceLabel> labels_;
  std::vector<Transfer> transfers_;
  std::vector<std::pair<state::Rect, state::Rgb>> waiting_;
  std::optional<RowItem> hovered_;
  struct Thin {
    const Piece* piece = nullptr;  // null: none
    state::Rect rect;
    float longest = 0, covered = 0;  // pixels
  };
  Thin thin_;
  int level_ = -1;
  float drawn_ = 0;  // of this level
};

state::Rgb PieceDrawer::fill_of(const Piece& piece) const {
  const state::Rgb fill = state::time_color(palette_, piece.piece_class);
  const bool named = place_.kind == RowKind::kKernels || place_.kind == RowKind::kOperators;
  if (!named || piece.name >= names_.size() || piece.name == 0) return fill;
  return state::shade_by_name(palette_, fill, std::hash<std::string>{}(names_[piece.name]));
}

void PieceDrawer::add_label(const Piece& piece, const state::Rect& rect, state::Rgb fill) {
  if (rect.h < c_.theme.px(11) || rect.w < c_.theme.px(kLeastNamed)) return;
  if (!shows_words(c_.theme, rect, c_.plot)) return;
  const state::Rect box = rect.inset(c_.theme.px(4), 0);
  if (place_.kind == RowKind::kRibbon) {
    if (piece.piece_class != TimeClass::kExposed || piece.longest_ns <= 0) return;
    labels_.push_back(
        {box, "exposed " + present::length_text(piece.longest_ns), state::text_on(fill), true});
    return;
  }
  if (piece.name == 0 || piece.name >= names_.size()) return;
  // "forw…" would tell nothing; half a kernel's name tells something.
  labels_.push_back({box, trace::timeline::event_title(place_.kind, names_[piece.name]),
                     state::text_on(fill), place_.kind == RowKind::kPhases});
}

void PieceDrawer::add_transfer(const Piece& piece, const state::Rect& rect, float strength) {
  if (piece.name >= names_.size() || rect.h < c_.theme.px(11)) return;
  if (!transfers_.empty() && transfers_.back().ref == piece.ref) {
    state::Rect& whole = transfers_.back().rect;
    if (whole.w <= 0) whole.x = rect.x;
    whole.w = std::max(whole.w, rect.right() - whole.x);
  } else {
    transfers_.push_back({piece.ref, rect, collective_of(piece), &names_[piece.name], strength});
  }
}

void PieceDrawer::draw_transfers() const {
  for (const Transfer& transfer : transfers_) {
    const bool is_exposed = transfer.collective->exposed_ns > transfer.collective->overlapped_ns;
    const state::Rgb under =
        state::mix(palette_.panel, is_exposed ? palette_.exposed : palette_.overlapped,
                   static_cast<double>(transfer.strength));
    const CollectiveLabel label = collective_label(*transfer.collective, *transfer.name);
    const state::Rect box = transfer.rect.inset(c_.theme.px(3), 0);
    for (const std::string& text : {label.full, label.brief}) {
      if (text.empty()) continue;
      if (kit::label_in(c_.theme, box, kit::Face::kSmall, state::text_on(under), text,
                        kit::Align::kCenter) > 0)
        break;
    }
  }
}

void PieceDrawer::add_waiting(const Piece& piece, state::Rect& rect, state::Rgb hue,
                              float strength) {
  if (piece.latest_start_ns <= piece.start_ns) return;
  const std::int64_t until = std::min(piece.latest_start_ns, piece.end_ns);
  const float x = std::clamp(std::floor(c_.x(until - place_.shift_ns)), rect.x, rect.right());
  if (x - rect.x < 2) return;
  const state::Rect hollow{rect.x, rect.y, x - rect.x, rect.h};
  const auto seen = static_cast<double>(strength);
  quads_.add(hollow, kit::color(state::mix(palette_.panel, hue, 0.22 * seen)));
  waiting_.push_back({hollow, state::mix(palette_.panel, hue, seen)});
  rect.w -= hollow.w;
  rect.x = x;
}

void PieceDrawer::add_event(const Piece& piece, const state::Rect& whole, float strength) {
  const state::Rgb fill = fill_of(piece);
  state::Rect rect = whole;
  if (rect.w >= 3) rect.w -= 1;  // so that neighbours are told apart
  if (place_.kind == RowKind::kCommunication) add_waiting(piece, rect, fill, strength);
  quads_.add(rect, kit::color(fill, strength));
  const float edge = std::max(1.0f, c_.theme.px(1.5f));
  if (state::is_quiet(piece.piece_class)) {
    quads_.add(rect.x, rect.y, rect.right(), rect.y + edge,
               kit::color(state::piece_edge(palette_, piece.piece_class), strength));
  }
  if (place_.kind == RowKind::kCommunication && collective_of(piece) != nullptr) {
    return add_transfer(piece, rect, strength);
  }
  add_label(piece, rect, state::mix(palette_.panel, fill, static_cast<double>(strength)));
}

// Its height is the share in which anything runs, a line above it the busiest part's.
void PieceDrawer::add_fold(const Piece& piece, const state::Rect& rect, float strength) {
  const float busy = std::clamp(piece.busy, 0.0f, 1.0f);
  const float busiest = std::clamp(piece.busiest, busy, 1.0f);
  const state::Rgb fill = state::time_color(palette_, piece.piece_class);
  const float height = std::clamp(std::round(rect.h * busy), std::min(2.0f, rect.h), rect.h);
  const float top = rect.bottom() - height;
  ground_.add(quads_, rect.x, rect.y, rect.right(), top, kit::color(fill, 0.16f * strength));
  // As strong as it is high, so that neighbours of one height are one rectangle.
  const float solid = 0.55f + 0.45f * height / rect.h;
  column_.add(quads_, rect.x, top, rect.right(), rect.bottom(), kit::color(fill, solid * strength));
  const float line = std::round(rect.bottom() - rect.h * busiest);
  if (line < top - 1) {
    peak_.add(quads_, rect.x, line, rect.right(), line + 1, kit::color(fill, 0.8f * strength));
  }
  if (state::is_quiet(piece.piece_class)) add_label(piece, rect, fill);
}

float PieceDrawer::pixels_of(const Piece& piece) const {
  return static_cast<float>(distance_ns(piece.end_ns, piece.start_ns) / c_.window.span_ns() *
                            static_cast<double>(c_.plot.w));
}

// A bar of a pixel is as strong as the event covers it, so that dense rows show how dense they are.
float PieceDrawer::coverage(const Piece& piece, const state::Rect& rect) const {
  return rect.w > 1.5f ? 1 : std::clamp(pixels_of(piece), kLeastStrength, 1.0f);
}

void PieceDrawer::add_thin(const Piece& piece, const state::Rect& pixel) {
  if (thin_.piece == nullptr || thin_.rect.x != pixel.x) {
    end_thin();
    if (pixel.x < drawn_) return;  // drawn by one that is wider
    thin_ = {&piece, pixel, 0, 0};
    drawn_ = pixel.right();
  }
  const float own = pixels_of(piece) * std::clamp(piece.busy, 0.0f, 1.0f);
  thin_.covered += own;
  if (own <= thin_.longest) return;
  thin_.longest = own;
  thin_.piece = &piece;
}

void PieceDrawer::end_thin() {
  if (thin_.piece == nullptr) return;
  const float lit = is_lit(*thin_.piece) ? 1.0f : c_.dim;
  quads_.add(thin_.rect, kit::color(fill_of(*thin_.piece),
                                    lit * std::clamp(thin_.covered, kLeastStrength, 1.0f)));
  note_hover(*thin_.piece, thin_.rect);
  thin_.piece = nullptr;
}

void PieceDrawer::note_hover(const Piece& piece, const state::Rect& rect) {
  if (!c_.mouse_inside || !rect.contains(c_.mouse_x, c_.mouse_y)) return;
  hovered_ = RowItem{.row = place_.row, .shift_ns = place_.shift_ns, .piece = piece};
  if (piece.name < names_.size()) hovered_->name = names_[piece.name];
  if (const auto* collective = collective_of(piece)) hovered_->collective = *collective;
}

void PieceDrawer::add(const Piece& piece) {
  if (piece.level >= place_.levels) return;
  if (piece.level != level_) {
    end_thin();
    level_ = piece.level;
    drawn_ = place_.area.x;
  }
  const float from = std::floor(c_.x(piece.start_ns - place_.shift_ns));
  const float to = std::max(std::floor(c_.x(piece.end_ns - place_.shift_ns)), from + 1);
  if (c_.is_fine && to - from <= 1) {
    if (from < place_.area.x || from >= place_.area.right()) return;
    const float top = place_.area.y + place_.level_height * static_cast<float>(piece.level);
    return add_thin(piece, {from, top, 1, place_.level_height});
  }
  end_thin();
  float x0 = std::max(from, drawn_);
  const float x1 = std::min(to, place_.area.right());
  // One that began in another, which the recorder's order forbids, lies before it.
  const bool inside = x1 <= drawn_ && x1 - std::max(from, place_.area.x) >= 3;
  if (inside) x0 = std::max(from, place_.area.x);
  if (x1 <= x0) return;
  drawn_ = std::max(drawn_, x1);
  float top = place_.area.y + place_.level_height * static_cast<float>(piece.level);
  float height = place_.level_height - (place_.levels > 1 ? 1.0f : 0.0f);
  if (inside) {
    top += std::round(height / 2);
    height -= std::round(height / 2);
  }
  const state::Rect rect{x0, top, x1 - x0, height};
  const bool lit = is_lit(piece);
  float strength = lit ? 1.0f : c_.dim;
  if (is_event(piece) || place_.kind == RowKind::kRibbon) {
    strength *= coverage(piece, rect);
    add_event(piece, rect, strength);
  } else {
    add_fold(piece, rect, strength);
  }
  if (c_.lit != nullptr && lit) {
    quads_.add(rect.x, rect.y, rect.right(), rect.y + std::max(1.0f, c_.theme.px(2)),
               kit::color(palette_.text));
  }
  note_hover(piece, rect);
}

std::optional<RowItem> PieceDrawer::finish() {
  end_thin();
  for (kit::QuadRun* run : {&ground_, &column_, &peak_}) run->end(quads_);
  quads_.flush();
  for (const auto& [rect, hue] : waiting_) {
    if (rect.w >= c_.theme.px(5)) kit::hatch(c_.theme, rect, kit::color(hue, 0.55f));
    if (rect.w >= 3) kit::outline(rect, kit::color(hue), 0);
  }
  for (const PieceLabel& label : labels_) {
    const auto draw = label.is_whole ? kit::label_in : kit::text_in;
    draw(c_.theme, label.box, kit::Face::kSmall, label.ink, label.text, kit::Align::kLeft);
  }
  draw_transfers();
  return std::move(hovered_);
}

}  // namespace

std::optional<RowItem> draw_pieces(const RowCanvas& canvas, const RowPlace& place,
                                   const trace::timeline::RowPicture& picture,
                                   const std::vector<std::string>& names) {
  PieceDrawer drawer(canvas, place, picture, names);
  for (const Piece& piece : picture.pieces) drawer.add(piece);
  return drawer.finish();
}

}  // namespace shardlens::ui::inspect
