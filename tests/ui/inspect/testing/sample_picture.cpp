// The worker's part of tests/ui/inspect/testing/sample_run.h.
#include <algorithm>
#include <cmath>
#include <map>

#include "tests/ui/inspect/testing/sample_run.h"

namespace shardlens::ui::inspect {

namespace {

using trace::timeline::Piece;
using trace::timeline::RowKind;
using trace::timeline::RowPicture;
using trace::timeline::RowWindow;

constexpr std::int64_t kMostExactSteps = 40;  // of a window: more would only slow down tests

trace::timeline::DrawnCollective sample_collective(const SampleEvent& event) {
  trace::timeline::DrawnCollective collective;
  const bool gathers = event.name.starts_with("all-gather");
  collective.function = collective.executed =
      gathers ? trace::model::CollectiveFunction::kAllGather
              : trace::model::CollectiveFunction::kReduceScatter;
  collective.tag_kind = trace::model::TagKind::kUnit;
  collective.gather = gathers ? trace::timeline::DrawnCollective::Gather::kForward
                              : trace::timeline::DrawnCollective::Gather::kNone;
  collective.start_ns = event.start_ns;
  collective.bytes = 254 << 20;
  if (event.latest_start_ns != 0) {
    collective.wait = {event.latest_start_ns - event.start_ns, event.end_ns - event.latest_start_ns,
                       false, trace::analysis::WaitDoubt::kNone};
  }
  const bool is_exposed = event.piece_class == trace::base::TimeClass::kExposed;
  const std::int64_t length_ns = event.end_ns - event.start_ns;
  collective.exposed_ns = is_exposed ? length_ns : 0;
  collective.overlapped_ns = is_exposed ? 0 : length_ns;
  auto unit = std::make_shared<trace::analysis::UnitFigures>();
  unit->name = event.name.substr(event.name.find(' ') + 1);
  unit->bytes = 254 << 20;
  unit->shard_bytes = 127 << 20;
  unit->parameters = {"attn.weight", "attn.bias", "mlp.weight"};
  collective.unit = std::move(unit);
  return collective;
}

class PictureMaker {
 public:
  PictureMaker(const SampleRun& run, const trace::timeline::PictureRequest& request)
      : run_(run), ns_per_pixel_(static_cast<std::int64_t>(std::ceil(request.ns_per_pixel))) {
    out_.request = request;
    out_.names.emplace_back();
    for (const RowWindow& window : request.windows) add(window);
  }
  trace::timeline::TimelinePicture take() { return std::move(out_); }

 private:
  std::uint32_t name(const std::string& text) {
    const auto [at, is_new] = names_.try_emplace(text, out_.names.size());
    if (is_new) out_.names.push_back(text);
    return static_cast<std::uint32_t>(at->second);
  }
  void add(const RowWindow& window);
  void add_event(RowPicture& row, const SampleEvent& event);
  void add_folds(RowPicture& row);
  void add_ribbon(RowPicture& row, std::int64_t first, std::int64_t last);
  void add_area(RowPicture& row);

  const SampleRun& run_;
  std::int64_t ns_per_pixel_;
  trace::timeline::TimelinePicture out_;
  std::map<std::string, std::size_t> names_{{"", 0}};
};

void PictureMaker::add_event(RowPicture& row, const SampleEvent& event) {
  const std::int64_t length = event.end_ns - event.start_ns;
  if (length < ns_per_pixel_ && !row.pieces.empty()) {
    Piece& last = row.pieces.back();
    const bool fold = !last.ref.exists() && last.level == event.level;
    if (fold && event.end_ns - last.start_ns <= ns_per_pixel_) {
      const auto busy = static_cast<double>(last.busy) * static_cast<double>(last.duration_ns()) +
                        static_cast<double>(length);
      last.end_ns = event.end_ns;
      last.busy = static_cast<float>(busy / static_cast<double>(last.duration_ns()));
      last.longest_ns = std::max(last.longest_ns, length);
      ++last.count;
      return;
    }
  }
  Piece piece;
  piece.start_ns = event.start_ns;
  piece.end_ns = event.end_ns;
  piece.name = name(event.name);
  piece.level = static_cast<std::uint8_t>(event.level);
  piece.piece_class = event.piece_class;
  piece.latest_start_ns = event.latest_start_ns;
  piece.longest_ns = length;
  if (length >= ns_per_pixel_) piece.ref = event.ref;
  if (piece.ref.table == trace::timeline::EventTableKind::kCollective) {
    piece.collective = static_cast<std::int32_t>(row.collectives.size());
    row.collectives.push_back(sample_collective(event));
  }
  row.pieces.push_back(piece);
}

// Of many steps: a fold per pixel, busy as the steps are in the mean.
void PictureMaker::add_folds(RowPicture& row) {
  const trace::timeline::TimelineRow& of =
      run_.rows().rows[static_cast<std::size_t>(row.window.row)];
  const auto events = run_.events(row.window.row, 0);
  const std::int64_t step =
      run_.step_end(std::max(of.rank, 0), 0) - run_.step_start(std::max(of.rank, 0), 0);
  for (int level = 0; level < of.levels; ++level) {
    double busy = 0;
    int count = 0;
    for (const SampleEvent& event : events) {
      if (event.level != level) continue;
      busy += static_cast<double>(event.end_ns - event.start_ns) / static_cast<double>(step);
      ++count;
    }
    if (count == 0) continue;
    const std::int64_t from = std::max(row.window.start_ns, run_.rows().start_ns);
    const std::int64_t to = std::min(row.window.end_ns, run_.rows().end_ns);
    for (std::int64_t at = from; at < to; at += ns_per_pixel_) {
      Piece piece;
      piece.start_ns = at;
      piece.end_ns = std::min(at + ns_per_pixel_, to);
      piece.count = static_cast<std::uint32_t>(count);
      piece.busy = static_cast<float>(
          std::min(1.0, busy * (0.92 + 0.001 * static_cast<double>(at / ns_per_pixel_ % 97))));
      piece.busiest = std::min(1.0f, piece.busy * 1.25f);
      piece.level = static_cast<std::uint8_t>(level);
      piece.piece_class = events[events.size() / 2].piece_class;
      row.pieces.push_back(piece);
    }
  }
}

void PictureMaker::add_ribbon(RowPicture& row, std::int64_t first, std::int64_t last) {
  std::map<std::int64_t, trace::timeline::RibbonColumn> columns;
  const std::int64_t width = std::max<std::int64_t>(ns_per_pixel_, 1'000'000);
  const std::int64_t stride = std::max<std::int64_t>(1, (last - first) / 2'000);
  for (std::int64_t step = first; step < last; step += stride) {
    for (const SampleEvent& event : run_.events(row.window.row, step)) {
      for (std::int64_t at = event.start_ns; at < event.end_ns;) {
        const std::int64_t key = at / width, end = std::min(event.end_ns, (key + 1) * width);
        auto& column = columns[key];
        column.start_ns = key * width;
        column.end_ns = (key + stride) * width;
        column.share[static_cast<std::size_t>(event.piece_class)] +=
            static_cast<float>(static_cast<double>(end - at) / static_cast<double>(width));
        at = end;
      }
    }
  }
  for (const auto& [key, column] : columns) row.columns.push_back(column);
}

void PictureMaker::add_area(RowPicture& row) {
  row.area_highest = run_.area_highest(row.window.row);
  const std::int64_t from = std::max(row.window.start_ns, run_.rows().start_ns);
  const std::int64_t to = std::min(row.window.end_ns, run_.rows().end_ns);
  const std::int64_t width =
      std::max({ns_per_pixel_, (to - from) / 2'000, std::int64_t{1'000'000}});
  constexpr int kSamples = 5;
  for (std::int64_t at = from; at < to; at += width) {
    trace::timeline::AreaPoint point{at, 0, 0};
    for (int i = 0; i < kSamples; ++i) {
      const double value = run_.area_value(row.window.row, at + width * i / kSamples);
      point.value += value / kSamples;
      point.highest = std::max(point.highest, value);
    }
    row.area.push_back(point);
  }
}

void PictureMaker::add(const RowWindow& window) {
  RowPicture row;
  row.window = window;
  const trace::timeline::TimelineRow& of = run_.rows().rows[static_cast<std::size_t>(window.row)];
  const int rank = std::max(of.rank, 0);
  std::int64_t first = 0, last = run_.options().steps;
  while (first < last && run_.step_end(rank, first) <= window.start_ns) ++first;
  while (last > first && run_.step_start(rank, last - 1) >= window.end_ns) --last;
  row.is_exact = last - first <= kMostExactSteps;
  if (of.kind == RowKind::kMemory || of.kind == RowKind::kCounter) {
    add_area(row);
  } else if (of.kind == RowKind::kRibbon && ns_per_pixel_ > 200'000) {
    add_ribbon(row, first, last);
  } else {
    if (!row.is_exact && of.kind != RowKind::kReady) {
      add_folds(row);
      last = first;
    }
    const std::int64_t stride = std::max<std::int64_t>(1, (last - first) / kMostExactSteps);
    for (std::int64_t step = first; step < last; step += stride) {
      for (const SampleEvent& event : run_.events(window.row, step)) {
        if (event.end_ns <= window.start_ns || event.start_ns >= window.end_ns) continue;
        if (of.kind == RowKind::kReady) {
          row.ready.push_back({event.start_ns - 200'000, name(event.name.substr(15)), 254 << 20, -1,
                               trace::model::TagKind::kUnit});
          add_event(row, event);
          if (!row.pieces.back().ref.exists()) row.pieces.pop_back();
        } else {
          add_event(row, event);
        }
      }
    }
    std::stable_sort(row.pieces.begin(), row.pieces.end(), [](const Piece& a, const Piece& b) {
      return a.level != b.level ? a.level < b.level : a.start_ns < b.start_ns;
    });
  }
  out_.rows.push_back(std::move(row));
}

}  // namespace

trace::timeline::TimelinePicture sample_picture(const SampleRun& run,
                                                const trace::timeline::PictureRequest& request) {
  return PictureMaker(run, request).take();
}

}  // namespace shardlens::ui::inspect
