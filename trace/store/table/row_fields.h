// Which columns each row table has: said once per struct; schema, writing and reading all follow
// it. To add a column: a line here and kFormat. Any thread.
#pragma once

#include <array>
#include <cmath>
#include <type_traits>

#include "trace/model/batch.h"
#include "trace/model/events.h"

namespace shardlens::trace::store {

// fields(io, row) hands every member but the rank to `io` with its column's name. `io` is one of
// row_io.h. What may be unknown has integer_if(is it known, name, member, what that holds
// otherwise), which returns whether it is, or real_if, and is NULL in the file then.
template <typename Row>
struct RowTable;

// All of them: every row tells its rank first.
void row_fields(auto& io, auto& row) {
  io.integer("rank", row.rank);
  RowTable<std::remove_cvref_t<decltype(row)>>::fields(io, row);
}

// A bucket's parameters have a table of their own.
struct BucketParameter {
  int rank = 0;
  int plan = 0;
  int bucket = 0;
  int position = 0;
  model::StringId name = 0;
  std::int64_t bytes = 0;
};

template <>
struct RowTable<model::InternedString> {
  static constexpr const char* kName = "string";
  static void fields(auto& io, auto& row) {
    io.integer("id", row.id);
    io.text("text", row.text);
  }
};

template <>
struct RowTable<model::Lane> {
  static constexpr const char* kName = "lane";
  static void fields(auto& io, auto& row) {
    io.integer("lane", row.id);
    io.enumeration("kind", row.kind, model::LaneKind::kMemory);
    io.interned("name", row.name);
  }
};

template <>
struct RowTable<model::ProcessGroup> {
  static constexpr const char* kName = "process_group";
  static void fields(auto& io, auto& row) {
    io.integer("process_group", row.id);
    io.interned("name", row.name);
    io.interned("backend", row.backend);
    io.integer_list("ranks", row.ranks);
  }
};

template <>
struct RowTable<model::Step> {
  static constexpr const char* kName = "step";
  static void fields(auto& io, auto& row) {
    io.integer("step", row.index);
    io.integer("start_ns", row.start_ns);
    io.integer("end_ns", row.end_ns);
    io.real("loss", row.loss);
    io.real("gradient_norm", row.gradient_norm);
    io.real("learning_rate", row.learning_rate);
    io.integer_if(row.tokens >= 0, "tokens", row.tokens, model::kNotKnown);
    io.integer_if(row.samples >= 0, "samples", row.samples, model::kNotKnown);
    io.integer_if(row.model_flops >= 0, "model_flops", row.model_flops, model::kNotKnown);
    io.integer("full_detail", row.full_detail);
    const bool is_read = !std::isnan(row.loss) || !std::isnan(row.gradient_norm);
    io.integer_if(is_read || row.nonfinite, "nonfinite", row.nonfinite);
  }
};

template <>
struct RowTable<model::Span> {
  static constexpr const char* kName = "span";
  static void fields(auto& io, auto& row) {
    io.integer("lane", row.lane);
    io.integer("step", row.step);
    io.enumeration("phase", row.phase, base::Phase::kOther);
    io.integer("depth", row.depth);
    io.interned("name", row.name);
    io.integer("start_ns", row.start_ns);
    io.integer("end_ns", row.end_ns);
  }
};

template <>
struct RowTable<model::Collective> {
  static constexpr const char* kName = "collective";
  static void fields(auto& io, auto& row) {
    io.integer("lane", row.lane);
    io.integer("step", row.step);
    io.integer("process_group", row.process_group);
    io.integer_if(row.sequence >= 0, "sequence", row.sequence, model::kNotKnown);
    io.enumeration("function", row.function, model::CollectiveFunction::kOther);
    io.enumeration("executed", row.executed, model::CollectiveFunction::kOther);
    io.tag(row);
    io.enumeration("phase", row.phase, base::Phase::kOther);
    io.interned("data_type", row.data_type);
    io.interned("algorithm", row.algorithm);
    io.interned("protocol", row.protocol);
    io.integer_if(row.channels > 0, "channels", row.channels);
    io.integer_if(has_bytes(row), "bytes", row.bytes, model::kNotKnown);
    io.integer_if(row.enqueued_ns > 0, "enqueued_ns", row.enqueued_ns);
    io.integer("start_ns", row.start_ns);
    io.integer("end_ns", row.end_ns);
  }
};

template <>
struct RowTable<model::PendingCollective> {
  static constexpr const char* kName = "pending";
  static void fields(auto& io, auto& row) {
    io.integer("process_group", row.process_group);
    io.integer_if(row.sequence >= 0, "sequence", row.sequence, model::kNotKnown);
    io.enumeration("function", row.function, model::CollectiveFunction::kOther);
    io.tag(row);
    io.enumeration("phase", row.phase, base::Phase::kOther);
    io.integer("step", row.step);
    io.integer_if(has_bytes(row), "bytes", row.bytes, model::kNotKnown);
    io.integer("enqueued_ns", row.enqueued_ns);
    io.integer_if(row.end_ns > 0, "end_ns", row.end_ns);
  }
};

template <>
struct RowTable<model::Bucket> {
  static constexpr const char* kName = "bucket";
  static void fields(auto& io, auto& row) {
    io.integer("plan", row.plan);
    io.integer("bucket", row.index);
    io.integer("bytes", row.bytes);
    io.size("tensors", row.parameters);
  }
};

template <>
struct RowTable<BucketParameter> {
  static constexpr const char* kName = "bucket_parameter";
  static void fields(auto& io, auto& row) {
    io.integer("plan", row.plan);
    io.integer("bucket", row.bucket);
    io.integer("position", row.position);
    io.interned("name", row.name);
    io.integer("bytes", row.bytes);
  }
};

template <>
struct RowTable<model::BucketReady> {
  static constexpr const char* kName = "bucket_ready";
  static void fields(auto& io, auto& row) {
    io.integer("step", row.step);
    io.integer("bucket", row.bucket);
    io.integer("time_ns", row.time_ns);
  }
};

template <>
struct RowTable<model::Unit> {
  static constexpr const char* kName = "unit";
  static void fields(auto& io, auto& row) {
    io.integer("unit", row.index);
    io.interned("name", row.name);
    io.integer("bytes", row.bytes);
    io.integer("shard_bytes", row.shard_bytes);
    io.integer("reduced_bytes", row.reduced_bytes);
    io.integer("shard_count", row.shard_count);
    io.interned("data_type", row.data_type);
  }
};

template <>
struct RowTable<model::UnitParameter> {
  static constexpr const char* kName = "unit_parameter";
  static void fields(auto& io, auto& row) {
    io.integer("unit", row.unit);
    io.interned("name", row.name);
    io.integer("bytes", row.bytes);
  }
};

template <>
struct RowTable<model::UnitReady> {
  static constexpr const char* kName = "unit_ready";
  static void fields(auto& io, auto& row) {
    io.integer("step", row.step);
    io.integer("unit", row.unit);
    io.integer("time_ns", row.time_ns);
  }
};

template <>
struct RowTable<model::Evaluation> {
  static constexpr const char* kName = "evaluation";
  static void fields(auto& io, auto& row) {
    io.integer("step", row.step);
    io.integer("time_ns", row.time_ns);
    io.real("loss", row.loss);
    io.real("perplexity", row.perplexity);
    io.real("accuracy", row.accuracy);
    io.integer("targets", row.targets);
    io.integer("sequences", row.sequences);
  }
};

inline constexpr std::array<const char*, model::kMemoryCategoryCount> kMemoryColumns{
    "parameters_bytes",  "gathered_parameters_bytes", "gradients_bytes", "optimizer_bytes",
    "activations_bytes", "communication_bytes",       "other_bytes",     "outside_bytes"};
inline constexpr std::array<const char*, model::kMemoryCategoryCount> kHighestMemoryColumns{
    "parameters_highest_bytes",  "gathered_parameters_highest_bytes",
    "gradients_highest_bytes",   "optimizer_highest_bytes",
    "activations_highest_bytes", "communication_highest_bytes",
    "other_highest_bytes",       "outside_highest_bytes"};

template <>
struct RowTable<model::MemorySample> {
  static constexpr const char* kName = "memory";
  static void fields(auto& io, auto& row) {
    io.integer("time_ns", row.time_ns);
    io.integer("step", row.step);
    io.integer("is_peak", row.is_peak);
    constexpr bool kIsConst = std::is_const_v<std::remove_reference_t<decltype(row)>>;
    unsigned untold = 0;
    for (std::size_t i = 0; i < kMemoryColumns.size(); ++i) {
      const auto category = static_cast<model::MemoryCategory>(i);
      const bool is_told = io.integer_if(row.knows(category), kMemoryColumns[i], row.bytes[i]);
      if (!is_told) untold |= model::MemorySample::bit(category);
    }
    if constexpr (!kIsConst) row.untold = static_cast<std::uint8_t>(untold);
    const bool knows_highest = row.knows_highest();
    for (std::size_t i = 0; i < kHighestMemoryColumns.size(); ++i) {
      io.integer_if(knows_highest, kHighestMemoryColumns[i], row.highest[i]);
    }
    io.integer_if(row.reserved_bytes >= 0, "reserved_bytes", row.reserved_bytes, model::kNotKnown);
    io.integer_if(row.device_used_bytes >= 0, "device_used_bytes", row.device_used_bytes,
                  model::kNotKnown);
    io.integer_if(row.device_total_bytes >= 0, "device_total_bytes", row.device_total_bytes,
                  model::kNotKnown);
  }
};

template <>
struct RowTable<model::CounterSample> {
  static constexpr const char* kName = "counter";
  static void fields(auto& io, auto& row) {
    io.interned("name", row.name);
    io.interned("unit", row.unit);
    io.integer("time_ns", row.time_ns);
    io.real("value", row.value);
  }
};

template <>
struct RowTable<model::LogLine> {
  static constexpr const char* kName = "log";
  static void fields(auto& io, auto& row) {
    io.integer("time_ns", row.time_ns);
    io.enumeration("level", row.level, model::LogLine::Level::kError);
    io.text("text", row.text);
  }
};

template <>
struct RowTable<model::Lost> {
  static constexpr const char* kName = "lost";
  static void fields(auto& io, auto& row) {
    io.text("reason", row.reason);
    io.integer("count", row.count);
  }
};

template <>
struct RowTable<model::Heartbeat> {
  static constexpr const char* kName = "heartbeat";
  static void fields(auto& io, auto& row) {
    io.integer("alive_ns", row.alive_ns);
    io.integer("progress_ns", row.progress_ns);
    io.integer("step", row.step);
    io.enumeration("phase", row.phase, base::Phase::kOther);
  }
};

template <>
struct RowTable<model::RecorderCost> {
  static constexpr const char* kName = "recorder_cost";
  static void fields(auto& io, auto& row) {
    io.integer_if(row.callback_ns >= 0, "callback_ns", row.callback_ns, model::kNotKnown);
    io.integer("writer_ns", row.writer_ns);
    io.integer("events", row.events);
  }
};

template <>
struct RowTable<model::RankInfo> {
  static constexpr const char* kName = "rank";
  static void fields(auto& io, auto& row) {
    io.integer_if(row.local_rank >= 0, "local_rank", row.local_rank, model::kNotKnown);
    io.text("host", row.host);
    io.integer_if(row.process_id > 0, "process_id", row.process_id);
    io.text("device", row.device);
    io.text("device_name", row.device_name);
    io.text("sources", row.sources);
    io.text("versions", row.versions);
    io.real_if(row.peak_flops > 0, "peak_flops", row.peak_flops);
    io.integer_if(row.parameters > 0, "parameters", row.parameters);
    io.text("link", row.link);
    io.real_if(row.link_bytes_per_second > 0, "link_bytes_per_second", row.link_bytes_per_second);
    io.text("peak_flops_origin", row.peak_flops_origin);
    io.text("environment", row.environment);
    io.integer_if(row.trained_parameters > 0, "trained_parameters", row.trained_parameters);
    io.text("model", row.model);
  }
};

// Calls visit(member of Batch) for every table whose rows are only ever added, in a fixed order:
// the order of the columns of table `batch`. Strings and lanes come before what names them.
template <typename Visit>
void for_each_row_list(Visit&& visit) {
  visit(&model::Batch::strings);
  visit(&model::Batch::lanes);
  visit(&model::Batch::process_groups);
  visit(&model::Batch::steps);
  visit(&model::Batch::spans);
  visit(&model::Batch::collectives);
  visit(&model::Batch::buckets);
  visit(&model::Batch::bucket_ready);
  visit(&model::Batch::memory);
  visit(&model::Batch::counters);
  visit(&model::Batch::log);
  visit(&model::Batch::lost);
  visit(&model::Batch::units);
  visit(&model::Batch::unit_parameters);
  visit(&model::Batch::unit_ready);
  visit(&model::Batch::evaluations);
}
inline constexpr int kRowListCount = 16;

// Positions in table `batch`: the row lists, then these two.
inline constexpr int kBucketParameterMark = kRowListCount;
inline constexpr int kChunkMark = kRowListCount + 1;
inline constexpr int kMarkCount = kRowListCount + 2;
// The last row id of every table.
using TableMarks = std::array<std::int64_t, kMarkCount>;

template <typename Row>
Row row_type_of(std::vector<Row> model::Batch::*);

}  // namespace shardlens::trace::store
