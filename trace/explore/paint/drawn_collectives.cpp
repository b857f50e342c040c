#include "trace/explore/paint/drawn_collectives.h"

#include <algorithm>

#include "trace/analysis/collectives/plan_figures.h"
#include "trace/model/events.h"

namespace shardlens::trace::explore {

timeline::DrawnCollective::Gather gather_of(const model::Collective& row, std::string_view label) {
  using Gather = timeline::DrawnCollective::Gather;
  if (row.tag_kind != model::TagKind::kUnit ||
      row.function != model::CollectiveFunction::kAllGather) {
    return Gather::kNone;
  }
  const bool is_backward = label.find(" backward gather") != std::string_view::npos;
  return is_backward ? Gather::kBackward : Gather::kForward;
}

std::shared_ptr<const analysis::UnitFigures> DrawnCollectives::unit(int index) {
  const auto [place, is_new] = units_.try_emplace(index);
  const RankRows& rows = *rank_.rows;
  const model::Unit* const unit = rows.unit(index);
  if (!is_new || unit == nullptr) return place->second;
  auto figures = std::make_shared<analysis::UnitFigures>();
  figures->index = index;
  figures->name = rows.text(unit->name);
  figures->bytes = unit->bytes;
  figures->shard_bytes = unit->shard_bytes;
  figures->reduced_bytes = unit->reduced_bytes;
  figures->shard_count = unit->shard_count;
  for (const model::UnitParameter& parameter : rows.unit_parameters) {
    if (parameter.unit != index) continue;
    figures->parameters.emplace_back(rows.text(parameter.name));
    figures->parameter_bytes.push_back(parameter.bytes);
  }
  return place->second = std::move(figures);
}

std::shared_ptr<const analysis::BucketFigures> DrawnCollectives::bucket(const model::Bucket& row) {
  const auto [place, is_new] = buckets_.try_emplace(&row);
  if (!is_new) return place->second;
  const RankRows& rows = *rank_.rows;
  auto figures = std::make_shared<analysis::BucketFigures>();
  figures->index = row.index;
  figures->bytes = row.bytes;
  for (const store::BucketParameter& parameter : rows.bucket_parameters) {
    if (parameter.plan != row.plan || parameter.bucket != row.index) continue;
    figures->parameters.emplace_back(rows.text(parameter.name));
    figures->parameter_bytes.push_back(parameter.bytes);
  }
  if (run_.settings) {
    figures->oversize_reason =
        analysis::oversize_reason(*figures, analysis::bucket_cap_bytes(*run_.settings, row.index));
  }
  return place->second = std::move(figures);
}

void DrawnCollectives::add(std::uint32_t index, timeline::DrawnEvent& event) {
  const RankRows& rows = *rank_.rows;
  const model::Collective& row = rows.collectives.rows[index];
  const std::string& label = rows.labels[rows.collectives.labels[index]];
  event.collective = static_cast<std::int32_t>(collectives_.size());
  timeline::DrawnCollective& drawn = collectives_.emplace_back();
  drawn.function = row.function;
  drawn.executed = row.executed;
  drawn.tag_kind = row.tag_kind;
  drawn.tag_index = row.tag_index;
  drawn.sequence = row.sequence;
  drawn.start_ns = event.time.start_ns;
  const analysis::CollectivePart part = part_of(rows, index);
  drawn.is_timed = part.is_timed();
  if (model::has_bytes(row)) drawn.bytes = row.bytes;
  drawn.gather = gather_of(row, label);
  drawn.is_prefetched = drawn.gather != timeline::DrawnCollective::Gather::kNone &&
                        label.ends_with(model::kPrefetchedEnding);
  if (row.tag_kind == model::TagKind::kUnit) drawn.unit = unit(row.tag_index);
  if (row.tag_kind == model::TagKind::kBucket) {
    const model::Bucket* const planned = rows.bucket(row.tag_index, row.start_ns);
    if (planned != nullptr) drawn.bucket = bucket(*planned);
  }
  if (run_.calls) drawn.wait = run_.calls->wait_of(part, run_.rank_count());
  if (drawn.wait.wait_ns) event.latest_start_ns = row.start_ns + *drawn.wait.wait_ns;
  const bool is_seen_whole = activity_ != nullptr &&
                             activity_->window.start_ns <= event.time.start_ns &&
                             event.time.end_ns <= activity_->window.end_ns;
  if (!is_seen_whole || !drawn.is_timed) return;
  drawn.overlapped_ns = base::length_within(activity_->compute, event.time);
  drawn.exposed_ns = event.time.length() - drawn.overlapped_ns;
}

}  // namespace shardlens::trace::explore
