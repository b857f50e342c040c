// What a frame draws of the timeline: rows as pieces, never more of them than pixels. Made ahead
// of the frame by worker threads, drawn as often as wanted. Plain values, any thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/base/time_partition.h"
#include "trace/model/events.h"
#include "trace/timeline/values/event_ref.h"

namespace shardlens::trace::timeline {

struct TimelineRows;

// One event, or neighbours that are too short to be told apart. Times are absolute.
struct Piece {
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint32_t count = 1;  // events that begin in it; 1 with `ref` set: one event, drawn whole
  float busy = 1;           // share of [start, end) in which anything runs
  float busiest = 1;        // of a fold: the greatest share in one of its parts
  std::uint32_t name = 0;   // index into TimelinePicture::names; of a fold: of its longest event
  // Of a fold: the longest event. Of a ribbon: how much of the piece is of its class.
  std::int64_t longest_ns = 0;
  std::uint8_t level = 0;  // of nesting
  base::TimeClass piece_class = base::TimeClass::kCompute;
  // Of collectives: until then the rank waited for the last one; the own start of one that waited
  // for nobody. 0: not known, or not a collective.
  std::int64_t latest_start_ns = 0;
  std::int32_t collective = -1;  // one that is drawn alone: its place in RowPicture::collectives
  EventRef ref;

  std::int64_t duration_ns() const { return end_ns - start_ns; }
};

// What a collective that is drawn alone is for, and what of it is known.
struct DrawnCollective {
  enum class Gather : std::uint8_t { kNone, kForward, kBackward };  // of a unit: for what

  model::CollectiveFunction function = model::CollectiveFunction::kOther;
  model::CollectiveFunction executed = model::CollectiveFunction::kOther;
  model::TagKind tag_kind = model::TagKind::kNone;
  int tag_index = -1;
  std::int64_t sequence = -1;
  std::int64_t start_ns = 0;  // of the whole, absolute
  bool is_timed = true;       // false: it lies where the host asked for it, and has no length
  std::int64_t bytes = -1;    // -1: not known
  analysis::CallWait wait;
  std::int64_t overlapped_ns = -1, exposed_ns = -1;  // -1: not looked at
  Gather gather = Gather::kNone;
  bool is_prefetched = false;                             // a gather ahead of need
  std::shared_ptr<const analysis::UnitFigures> unit;      // gathered or reduced; null: no unit
  std::shared_ptr<const analysis::BucketFigures> bucket;  // reduced; null: no bucket
};

// A ribbon's column: nanoseconds by class, which sum to end − start where everything is known.
struct RibbonColumn {
  std::int64_t start_ns = 0, end_ns = 0;
  std::array<float, base::kPartitionClasses> share{};  // of the column, by class
};

// A point of an area lane; between two points the value of the first holds.
struct AreaPoint {
  std::int64_t time_ns = 0;
  double value = 0;    // mean where several samples fall into one pixel
  double highest = 0;  // of those
};

struct ReadyPoint {  // gradients of a bucket or unit were ready
  std::int64_t time_ns = 0;
  std::uint32_t name = 0;  // "bucket 3", "blocks.3"
  std::int64_t bytes = 0;  // as they are reduced
  int index = -1;          // of the bucket or unit
  model::TagKind kind = model::TagKind::kBucket;
};

// A part of one row at one zoom.
struct RowWindow {
  int row = 0;
  std::int64_t start_ns = 0, end_ns = 0;  // absolute

  bool operator==(const RowWindow&) const = default;
};

struct PictureRequest {
  std::vector<RowWindow> windows;  // what can be seen, and a margin around it
  double ns_per_pixel = 1;

  bool operator==(const PictureRequest&) const = default;
};

struct RowPicture {
  RowWindow window;
  bool is_exact = false;    // events, not cells from afar
  bool is_complete = true;  // false: some of it is still being read or rebuilt
  // By level, then by start. Rows of kRibbon have them at a fine zoom; those of kReady have one for
  // each collective that gathers or reduces a bucket or a unit.
  std::vector<Piece> pieces;
  std::vector<DrawnCollective> collectives;
  std::vector<RibbonColumn> columns;  // kRibbon at a coarse zoom
  std::vector<AreaPoint> area;        // kMemory, kCounter, kGpu
  double area_highest = 0;            // over the whole run, so that the scale holds still
  double area_base = 0;               // the value at the row's bottom
  double area_top = 0;                // at its top; 0: area_highest
  std::vector<ReadyPoint> ready;      // kReady
};

struct TimelinePicture {
  PictureRequest request;
  std::vector<RowPicture> rows;    // in the order of the request's windows
  std::vector<std::string> names;  // 0 is ""
  double prepare_ms = 0;           // what it took
};

// One step of all ranks, ready to be drawn at any zoom.
struct StepPicture {
  struct RankCompute {
    int rank = 0;
    std::int64_t compute_ns = 0;
  };
  std::int64_t step = -1;
  bool has_detail = false;              // of any rank, and no rank awaits its own
  bool awaits_detail = false;           // not all that GPUs did in it was read yet
  std::vector<RankCompute> by_compute;  // ranks that have reported it, the longest computing first
  std::shared_ptr<const TimelineRows> rows;        // of that step alone; never null
  std::shared_ptr<const TimelinePicture> picture;  // of all of them, over the whole step
};

}  // namespace shardlens::trace::timeline
