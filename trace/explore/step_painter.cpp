#include "trace/explore/step_painter.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trace/analysis/steps/ribbon.h"
#include "trace/base/side_by_side.h"
#include "trace/explore/paint/picture_maker.h"
#include "trace/explore/paint/row_painter.h"
#include "trace/model/activity.h"
#include "trace/store/read/rank_tail.h"
#include "trace/timeline/pieces/piece_folder.h"

namespace shardlens::trace::explore {

namespace {

// Into how many parts a step is divided. Events shorter than a part cannot be seen when the step
// fills the window and are joined with their neighbours, so that one picture serves every zoom.
// With many ranks parts are coarser, since their rows are low and the picture must not grow too
// large.
constexpr double kPictureParts = 4096, kPicturePartsOfMany = 2048;
constexpr std::size_t kMany = 64;
// Ribbons and collectives are cut no finer.
constexpr std::int64_t kSliverParts = 1000;

struct NamedTime {
  base::Interval time;
  std::uint32_t name = 0;  // a string's id, then a label's number
};

// One rank's part in the step. Rows of a step have lanes of their own: a process group's number.
struct StepRank {
  int number = 0;
  base::Interval step;
  store::RowPart part;
  std::vector<NamedTime> compute;  // may overlap across threads and streams
  std::vector<base::Interval> communication, copies;
  std::set<int> groups;  // whose collectives touch it
  bool has_units = false, has_detail = false;
  std::vector<const timeline::TimelineRow*> rows;
  std::vector<RowDraft> drafts;
};

// Sorts out the rows that touch the step of their rank.
class StepRowSorter {
 public:
  StepRowSorter(std::vector<StepRank>& ranks, const analysis::StepFigures& step,
                const model::StringTable& strings)
      : ranks_(ranks), step_(step), strings_(strings) {}

  void take_in(const model::Batch& batch) {
    for (const model::Span& span : batch.spans) {
      StepRank* const rank = touched(span.rank, span.start_ns, span.end_ns);
      if (rank == nullptr || span.depth != 0) continue;
      rank->part.rows.spans.push_back(span);
      rank->part.rows.spans.back().lane = 0;
      rank->part.span_ids.push_back(std::ssize(rank->part.rows.spans));
    }
    for (const model::Collective& row : batch.collectives) take_in(row);
    for (const model::BucketReady& ready : batch.bucket_ready) {
      StepRank* const rank = ready.step == step_.index ? ready_on(ready) : nullptr;
      if (rank != nullptr) rank->part.rows.bucket_ready.push_back(ready);
    }
    for (const model::UnitReady& ready : batch.unit_ready) {
      StepRank* const rank = ready.step == step_.index ? ready_on(ready) : nullptr;
      if (rank != nullptr) rank->part.rows.unit_ready.push_back(ready);
    }
    for (const model::EventRun& run : batch.events) take_in(run);
  }

 private:
  StepRank* rank_at(int rank) {
    const bool is_known = rank >= 0 && static_cast<std::size_t>(rank) < ranks_.size();
    return is_known ? &ranks_[static_cast<std::size_t>(rank)] : nullptr;
  }
  StepRank* touched(int number, std::int64_t start_ns, std::int64_t end_ns) {
    StepRank* const rank = rank_at(number);
    if (rank == nullptr || !base::is_plausible_time(start_ns, end_ns)) return nullptr;
    return start_ns < rank->step.end_ns && end_ns > rank->step.start_ns ? rank : nullptr;
  }
  template <typename Ready>
  StepRank* ready_on(const Ready& ready) {
    return ready.time_ns < INT64_MAX ? touched(ready.rank, ready.time_ns, ready.time_ns + 1)
                                     : nullptr;
  }

  // Also one outside of its own rank's step: other ranks may have waited for it within theirs.
  void take_in(const model::Collective& row) {
    StepRank* const rank = rank_at(row.rank);
    if (rank == nullptr || !base::is_plausible_time(row.start_ns, row.end_ns)) return;
    rank->part.rows.collectives.push_back(row);
    rank->part.rows.collectives.back().lane = row.process_group;
    rank->part.collective_ids.push_back(std::ssize(rank->part.rows.collectives));
    if (touched(row.rank, row.start_ns, row.end_ns) == nullptr) return;
    rank->communication.push_back({row.start_ns, row.end_ns});
    rank->groups.insert(row.process_group);
    rank->has_units = rank->has_units || row.tag_kind == model::TagKind::kUnit;
  }

  void take_in(const model::EventRun& run) {
    for (const model::Event& event : run.events) {
      const bool makes_sense = event.duration_ns >= 0 && event.start_ns >= 0 &&
                               event.start_ns <= INT64_MAX - event.duration_ns;
      StepRank* const rank =
          makes_sense ? touched(run.rank, event.start_ns, event.end_ns()) : nullptr;
      if (rank == nullptr) continue;
      const base::Interval time{event.start_ns, event.end_ns()};
      switch (model::activity_of(run.kind, event, strings_.get(run.rank, event.name))) {
        case model::Activity::kCompute:
          rank->compute.push_back({time, event.name});
          break;
        case model::Activity::kCommunication:
          rank->communication.push_back(time);
          break;
        case model::Activity::kCopy:
          rank->copies.push_back(time);
          break;
        case model::Activity::kNone:
          break;
      }
    }
  }

  std::vector<StepRank>& ranks_;
  const analysis::StepFigures& step_;
  const model::StringTable& strings_;
};

// What it did, which is then no longer kept event by event but for computation.
WindowActivity activity_of_rank(StepRank& rank) {
  std::ranges::stable_sort(rank.compute, {}, [](const NamedTime& at) { return at.time.start_ns; });
  std::vector<base::Interval> compute;
  compute.reserve(rank.compute.size());
  for (const NamedTime& at : rank.compute) compute.push_back(at.time);
  WindowActivity activity;
  activity.window = rank.step;
  activity.compute = base::normalize(std::move(compute));
  activity.communication = base::normalize(std::move(rank.communication));
  activity.copies = base::normalize(std::move(rank.copies));
  return activity;
}

RankSnapshot snapshot_of(StepRank& rank, RankRowsBuilder builder,
                         const model::StringTable& strings) {
  builder.use_strings(strings);
  builder.add(std::move(rank.part));
  std::map<model::StringId, std::uint32_t> labels;
  for (NamedTime& at : rank.compute) {
    const auto [label, is_new] = labels.try_emplace(at.name, 0);
    if (is_new) label->second = builder.label(strings.get(rank.number, at.name));
    at.name = label->second;
  }
  RankSnapshot snapshot;
  snapshot.rank = rank.number;
  snapshot.rows = builder.build();
  snapshot.has_all_rows = true;
  snapshot.extent = rank.step;
  return snapshot;
}

// Who waited for whom.
std::shared_ptr<const analysis::CollectiveCalls> calls_of(const RunSnapshot& run,
                                                          const analysis::HostClocks* clocks) {
  auto calls = std::make_shared<analysis::CollectiveCalls>(collectives_of(run));
  calls->doubt_waits(clocks != nullptr ? *clocks : analysis::HostClocks());
  return calls;
}

// The rows that the step has. Their addresses may be used once all of them were added.
class StepCatalogue {
 public:
  explicit StepCatalogue(const analysis::StepFigures& step) {
    rows_->is_one_step = true;
    rows_->start_ns = step.start_ns;
    rows_->end_ns = step.end_ns;
    index_ = step.index;
  }

  void add(const StepRank& of, const RankRows& known) {
    rank_ = &rows_->ranks.emplace_back();
    rank_->rank = of.number;
    rank_->device = known.info.device;
    rank_->device_name = known.info.device_name;
    rank_->host = known.info.host;
    rows_->steps.push_back({index_, of.number, of.step.start_ns, of.step.end_ns});
    add_row(timeline::RowKind::kRibbon, 0, "Ribbon", 0);
    // Traces of other programs need not tell any.
    if (known.spans.size() > 0) {
      add_row(timeline::RowKind::kPhases, 0, "Phases", known.spans.size());
    }
    add_row(timeline::RowKind::kKernels, 0, "Compute", of.compute.size());
    for (const int group : of.groups) {
      const auto calls =
          std::ranges::count(known.collectives.rows, group, &model::Collective::lane);
      const std::string name = of.groups.size() == 1 ? "Communication" : group_name(known, group);
      add_row(timeline::RowKind::kCommunication, group, name, static_cast<std::size_t>(calls));
    }
    const std::size_t marks = known.bucket_ready.size() + known.unit_ready.size();
    if (of.has_units || marks > 0) {
      add_row(timeline::RowKind::kReady, 0, of.has_units ? "Units" : "Buckets", marks);
    }
  }
  std::shared_ptr<timeline::TimelineRows> take() { return std::move(rows_); }

 private:
  static std::string group_name(const RankRows& known, int id) {
    if (id < 0) return "group not known";
    const model::ProcessGroup* const group = known.group(id);
    const auto name = group == nullptr ? std::string_view() : known.text(group->name);
    return name.empty() ? "group " + std::to_string(id) : std::string(name);
  }
  void add_row(timeline::RowKind kind, int lane, std::string label, std::size_t count) {
    timeline::TimelineRow& row = rows_->rows.emplace_back();
    row.id = static_cast<int>(rows_->rows.size()) - 1;
    row.rank = rank_->rank;
    row.kind = kind;
    row.lane = lane;
    row.label = std::move(label);
    row.count = static_cast<std::int64_t>(count);
    rank_->rows.push_back(row.id);
  }

  std::shared_ptr<timeline::TimelineRows> rows_ = std::make_shared<timeline::TimelineRows>();
  timeline::TimelineRank* rank_ = nullptr;
  std::int64_t index_ = 0;
};

// The ribbon's pieces, each with the share of its time that is of its class.
std::vector<timeline::Piece> ribbon_of(const StepRank& rank, const WindowActivity& all,
                                       const base::Intervals& optimizer) {
  const auto exact =
      analysis::exact_partition({all.compute, all.communication, all.copies, optimizer}, rank.step);
  std::vector<timeline::Piece> pieces;
  auto at = exact.begin();
  for (const analysis::ClassPiece& part :
       analysis::without_slivers(exact, rank.step.length() / kSliverParts)) {
    timeline::Piece& piece = pieces.emplace_back();
    piece.start_ns = part.time.start_ns;
    piece.end_ns = part.time.end_ns;
    piece.piece_class = part.bar_class;
    for (; at != exact.end() && at->time.start_ns < piece.end_ns; ++at) {
      const base::Interval inside{std::max(at->time.start_ns, piece.start_ns),
                                  std::min(at->time.end_ns, piece.end_ns)};
      if (at->bar_class == piece.piece_class) piece.longest_ns += inside.length();
      if (at->time.end_ns > piece.end_ns) break;
    }
  }
  return pieces;
}

RowDraft compute_row(const StepRank& rank, const base::Intervals& optimizer, double ns_per_pixel) {
  const timeline::PixelGrid grid(ns_per_pixel);
  timeline::PieceFolder folder(grid, rank.step, 1);
  timeline::DrawnEvent event;
  for (std::size_t i = 0; i < rank.compute.size(); ++i) {
    event.time = rank.compute[i].time;
    event.name = rank.compute[i].name;
    const auto phase = base::first_ending_after(optimizer, event.time.start_ns);
    const bool optimizes = phase != optimizer.end() && phase->start_ns <= event.time.start_ns;
    event.piece_class = optimizes ? base::TimeClass::kOptimizer : base::TimeClass::kCompute;
    event.ref = {timeline::EventTableKind::kKernel, rank.number, 0, static_cast<std::uint32_t>(i)};
    folder.add(event);
  }
  RowDraft draft;
  draft.names_are_labels = true;
  draft.picture.is_exact = true;
  draft.picture.pieces = folder.finish();
  timeline::join_pieces(draft.picture.pieces, grid);
  return draft;
}

void paint_rank(const RunSnapshot& run, StepRank& rank, double ns_per_pixel) {
  const RankSnapshot& snapshot = run.ranks[static_cast<std::size_t>(rank.number)];
  const WindowActivity activity = activity_of_rank(rank);
  for (const timeline::TimelineRow* row : rank.rows) {
    RowDraft& draft = rank.drafts.emplace_back();
    if (row->kind == timeline::RowKind::kRibbon) {
      if (rank.has_detail)
        draft.picture.pieces = ribbon_of(rank, activity, snapshot.rows->optimizer);
      draft.picture.is_exact = true;
    } else if (row->kind == timeline::RowKind::kKernels) {
      draft = compute_row(rank, snapshot.rows->optimizer, ns_per_pixel);
    } else {
      const double sliver_ns = static_cast<double>(rank.step.length() / kSliverParts);
      draft = paint_row(run, {row, &snapshot, rank.step, ns_per_pixel, sliver_ns}, &activity);
    }
    draft.picture.pieces.shrink_to_fit();  // there may be a thousand ranks
    draft.picture.window = {row->id, run.rows->start_ns, run.rows->end_ns};
  }
  rank.compute = {};
}

std::vector<StepRank> ranks_of(const analysis::RunFigures& figures,
                               const analysis::StepFigures& step) {
  std::vector<StepRank> ranks(std::max(figures.ranks.size(), step.ranks.size()));
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ranks[i].number = static_cast<int>(i);
    if (i >= step.ranks.size()) continue;
    const analysis::StepBreakdown& own = step.ranks[i];
    ranks[i].step = {own.start_ns, own.start_ns + own.step_ns};
    ranks[i].has_detail = own.has_detail;
  }
  return ranks;
}

timeline::StepPicture frame_of(const analysis::StepFigures& step) {
  timeline::StepPicture out;
  out.step = step.index;
  for (std::size_t i = 0; i < step.ranks.size(); ++i) {
    if (step.ranks[i].step_ns <= 0) continue;  // has not reported the step
    out.by_compute.push_back({static_cast<int>(i), step.ranks[i].compute_ns});
    out.has_detail = out.has_detail || step.ranks[i].has_detail;
  }
  out.awaits_detail = step.awaits_detail();
  if (out.awaits_detail) out.has_detail = false;
  std::ranges::stable_sort(out.by_compute, std::ranges::greater(),
                           &timeline::StepPicture::RankCompute::compute_ns);
  return out;
}

}  // namespace

void StepPainter::learn(const model::Batch& batch) {
  std::map<int, store::RowPart> parts;
  const auto part = [&](int rank) -> model::Batch& { return parts[rank].rows; };
  for (const model::ProcessGroup& row : batch.process_groups)
    part(row.rank).process_groups.push_back(row);
  for (const model::Unit& row : batch.units) part(row.rank).units.push_back(row);
  for (const model::UnitParameter& row : batch.unit_parameters) {
    part(row.rank).unit_parameters.push_back(row);
  }
  if (batch.rank_info) part(batch.rank_info->rank).rank_info = batch.rank_info;
  for (const model::Bucket& row : batch.buckets) {
    part(row.rank).buckets.push_back(row);
    for (std::size_t i = 0; i < std::min(row.parameters.size(), row.parameter_bytes.size()); ++i) {
      parts[row.rank].bucket_parameters.push_back({row.rank, row.plan, row.index,
                                                   static_cast<int>(i), row.parameters[i],
                                                   row.parameter_bytes[i]});
    }
  }
  for (auto& [rank, rows] : parts) {
    known_.try_emplace(rank, RankRowsBuilder(rank)).first->second.add(std::move(rows));
  }
}

base::Result<timeline::StepPicture> StepPainter::paint(const analysis::RunFigures& figures,
                                                       const analysis::StepFigures& step,
                                                       const model::StringTable& strings,
                                                       const ReadRows& read) const {
  std::vector<StepRank> ranks = ranks_of(figures, step);
  StepRowSorter sorter(ranks, step, strings);
  TRY(read([&](const model::Batch& batch) { sorter.take_in(batch); }));
  RunSnapshot run;
  if (model::has_settings(figures.info)) {
    run.settings = std::make_shared<const job::Settings>(figures.info.settings);
  }
  StepCatalogue catalogue(step);
  for (StepRank& rank : ranks) {
    const auto known = known_.find(rank.number);
    run.ranks.push_back(snapshot_of(
        rank, known == known_.end() ? RankRowsBuilder(rank.number) : known->second, strings));
    if (rank.step.length() > 0) catalogue.add(rank, *run.ranks.back().rows);
  }
  run.calls = calls_of(run, figures.clocks.get());
  timeline::StepPicture out = frame_of(step);
  out.rows = run.rows = catalogue.take();
  for (const timeline::TimelineRow& row : out.rows->rows) {
    ranks[static_cast<std::size_t>(row.rank)].rows.push_back(&row);
  }
  const double length = static_cast<double>(step.end_ns) - static_cast<double>(step.start_ns);
  const double parts = ranks.size() > kMany ? kPicturePartsOfMany : kPictureParts;
  const double ns_per_pixel = std::max(1.0, length / parts);
  base::for_each_side_by_side(base::thread_count(0), ranks.size(), [&](int, std::size_t i) {
    if (!ranks[i].rows.empty()) paint_rank(run, ranks[i], ns_per_pixel);
  });
  auto picture = std::make_shared<timeline::TimelinePicture>();
  PictureNames names(nullptr);
  for (StepRank& rank : ranks) {
    for (RowDraft& draft : rank.drafts) {
      names.take_over(draft, &run.ranks[static_cast<std::size_t>(rank.number)]);
      picture->rows.push_back(std::move(draft.picture));
    }
  }
  picture->names = names.take();
  out.picture = std::move(picture);
  return out;
}

}  // namespace shardlens::trace::explore
