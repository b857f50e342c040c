// What a trace consists of: plain values, one struct per table of the file.
// Times are nanoseconds of CLOCK_REALTIME, sizes bytes. `rank` is the global rank. Any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/phase.h"
#include "trace/base/saturated.h"

namespace shardlens::trace::model {

// An interned string: an index into the string table of the rank that wrote it. 0 is "".
using StringId = std::uint32_t;
// Ids are given one after the other, and no job has as many names. A damaged file must not make a
// reader allocate the whole space of ids.
inline constexpr StringId kMostStringId = 1u << 20;

// What an integer holds that nobody told, where 0 would be a value.
inline constexpr std::int64_t kNotKnown = -1;

// Larger sizes are damage, not measurements; below that as many as there are can be added up.
constexpr bool is_plausible_size(std::int64_t bytes) {
  return bytes >= 0 && bytes <= std::int64_t{1} << 56;
}

// The sum of two numbers that cannot be negative; known where both are.
constexpr std::int64_t known_sum(std::int64_t a, std::int64_t b) {
  return a < 0 || b < 0 ? kNotKnown : base::saturated_add(a, b);
}

// ---- where an event happened ------------------------------------------------------------------

enum class LaneKind : std::uint8_t {
  kPhases,         // host phases of the training thread
  kOperators,      // operators of one CPU thread
  kCompute,        // a GPU stream that runs kernels
  kCommunication,  // the communication thread (CPU) or stream (GPU) of one process group
  kCopies,
  kMemory,  // allocations of a rank, of all its threads
};

struct Lane {
  int rank = 0;
  int id = 0;  // unique within its rank
  LaneKind kind = LaneKind::kPhases;
  StringId name = 0;
};

// ---- steps and phases -------------------------------------------------------------------------

// One optimizer step of one rank, written when it has ended.
struct Step {
  int rank = 0;
  std::int64_t index = 0;  // 0-based
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  double loss = 0;           // mean over ranks and micro-batches; NaN: not known
  double gradient_norm = 0;  // before clipping; NaN: not computed
  double learning_rate = std::numeric_limits<double>::quiet_NaN();  // NaN: not known
  // Of this rank.
  std::int64_t tokens = kNotKnown, samples = kNotKnown, model_flops = kNotKnown;
  bool full_detail = false;  // operators, kernels and collectives were recorded
  bool nonfinite = false;    // loss or gradient norm was not finite
};

// What the model got on held-out data after a step, over all ranks; rank 0 records it.
struct Evaluation {
  int rank = 0;
  std::int64_t step = 0;
  std::int64_t time_ns = 0;    // when it ended
  double loss = 0;             // mean over targets, nats
  double perplexity = 0;       // NaN: the model is no language model
  double accuracy = 0;         // share of targets that were the most probable; NaN: not computed
  std::int64_t targets = 0;    // tokens or examples that counted
  std::int64_t sequences = 0;  // that they came from
};

// A host phase, or a span nested in one (depth 1, 2, …). Phases of depth 0 do not overlap.
struct Span {
  int rank = 0;
  int lane = 0;
  std::int64_t step = 0;
  base::Phase phase = base::Phase::kOther;
  int depth = 0;
  StringId name = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

// ---- communication ----------------------------------------------------------------------------

enum class CollectiveFunction : std::uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kReduce,
  kSend,
  kReceive,
  kAllToAll,
  kBarrier,
  kOther,
};

// What a collective was for. Stored as text, "bucket 3", "unit blocks.6 forward gather", "loss", …
enum class TagKind : std::uint8_t { kNone, kBucket, kUnit, kNamed };
// What the tag of a unit's gather ends with that was asked for ahead of need.
inline constexpr std::string_view kPrefetchedEnding = ", prefetched";

// One collective on one rank, written when it has ended.
struct Collective {
  int rank = 0;
  int lane = 0;
  std::int64_t step = -1;  // -1: outside any step
  int process_group = 0;
  std::int64_t sequence = -1;  // within the process group; the same on all its ranks
  CollectiveFunction function = CollectiveFunction::kOther;  // what the strategy asked for
  CollectiveFunction executed = CollectiveFunction::kOther;  // what the backend ran
  TagKind tag_kind = TagKind::kNone;
  int tag_index = -1;                       // bucket or unit index
  StringId tag_name = 0;                    // for kNamed and kUnit: "blocks.6 forward gather"
  base::Phase phase = base::Phase::kOther;  // in which phase the host asked for it
  StringId data_type = 0;                   // "float32", "bfloat16", …
  StringId algorithm = 0;  // as NCCL chose it: "RING", "TREE", "NVLS", …; 0: not known
  StringId protocol = 0;   // "LL", "LL128", "SIMPLE"
  int channels = 0;        // that it was spread over
  // S of nccl-tests: the total over ranks for gather and scatter.
  std::int64_t bytes = kNotKnown;
  std::int64_t enqueued_ns = 0;  // the host's call
  std::int64_t start_ns = 0;     // the backend really began
  std::int64_t end_ns = 0;
};

// A collective that a rank has entered and not left: the present, rewritten with every commit.
// Where nothing goes on, also the last that each process group has left of those without detail,
// which are no rows of their own.
struct PendingCollective {
  int rank = 0;
  int process_group = 0;
  std::int64_t sequence = -1;
  CollectiveFunction function = CollectiveFunction::kOther;
  TagKind tag_kind = TagKind::kNone;
  int tag_index = -1;
  StringId tag_name = 0;
  base::Phase phase = base::Phase::kOther;
  std::int64_t step = -1;
  std::int64_t bytes = kNotKnown;
  std::int64_t enqueued_ns = 0;
  std::int64_t end_ns = 0;  // 0: it has not ended
};

// Whether it is known how many: a barrier moves 0, and so may any other.
bool has_bytes(const auto& collective) { return collective.bytes >= 0; }

struct ProcessGroup {
  int rank = 0;
  int id = 0;
  StringId name = 0;       // "world", "shard", …
  StringId backend = 0;    // "gloo", "nccl", "gloo, simulated link"
  std::vector<int> ranks;  // first kNotKnown for each member that only its own row tells of
};

// One bucket of DDP's plan. `plan` 0 is the first plan, 1 the one after the rebuild.
struct Bucket {
  int rank = 0;
  int plan = 0;
  int index = 0;  // in launch order
  std::int64_t bytes = 0;
  // In the bucket's order; empty: not known which. A name in brackets is a shape: "[768, 3072]".
  std::vector<StringId> parameters;
  std::vector<std::int64_t> parameter_bytes;  // same length
};

// How the LogLine of a rank begins that tells why it has no buckets, though it may have had some.
inline constexpr std::string_view kNoBucketPlan = "Buckets of DDP are not known: ";
// Likewise of units.
inline constexpr std::string_view kNoUnits = "Units of FullyShardedDataParallel are not known: ";

// When the last gradient of a bucket was ready, that is, when its reduction could start.
struct BucketReady {
  int rank = 0;
  std::int64_t step = 0;
  int bucket = 0;
  std::int64_t time_ns = 0;
};

// What a sharding strategy gathers and reduces as one.
struct Unit {
  int rank = 0;
  int index = 0;                   // 0 is the root
  StringId name = 0;               // "root", "blocks.3", …
  std::int64_t bytes = 0;          // gathered, with padding
  std::int64_t shard_bytes = 0;    // what the rank keeps of it
  std::int64_t reduced_bytes = 0;  // gradients as they are reduced, before they are scattered
  int shard_count = 1;             // ranks that share it
  StringId data_type = 0;          // as it is gathered
};
struct UnitParameter {
  int rank = 0;
  int unit = 0;
  StringId name = 0;
  std::int64_t bytes = 0;  // as it is gathered
};

// When the last gradient of a unit was ready, that is, when its reduction could start.
struct UnitReady {
  int rank = 0;
  std::int64_t step = 0;
  int unit = 0;
  std::int64_t time_ns = 0;
};

// ---- memory -----------------------------------------------------------------------------------

enum class MemoryCategory : std::uint8_t {
  kParameters,
  kGatheredParameters,
  kGradients,
  kOptimizer,
  kActivations,
  kCommunication,  // buckets, gather and scatter buffers
  kOther,
  kOutside,  // not allocated through PyTorch: context, libraries, heap
};
inline constexpr int kMemoryCategoryCount = 8;
// What PyTorch's memory is for, other than all that nobody told.
constexpr bool is_purpose(MemoryCategory category) {
  return category != MemoryCategory::kOther && category != MemoryCategory::kOutside;
}

struct MemorySample {
  int rank = 0;
  std::int64_t time_ns = 0;
  std::int64_t step = -1;
  // The composition at this step's peak, caught between samples; where nothing tells when it was
  // (the caching allocator of a GPU), `time_ns` is the end of the step.
  bool is_peak = false;
  // A bit for each category of which nobody told what it holds; in sums it is 0.
  std::uint8_t untold = 0;
  std::array<std::int64_t, kMemoryCategoryCount> bytes{};
  // Of a peak: each category at its own time in the step; 0 where only samples are known.
  std::array<std::int64_t, kMemoryCategoryCount> highest{};
  // By the caching allocator; equals allocated on a CPU.
  std::int64_t reserved_bytes = kNotKnown;
  // Of the whole device or process.
  std::int64_t device_used_bytes = kNotKnown, device_total_bytes = kNotKnown;

  static constexpr std::uint8_t bit(MemoryCategory category) {
    return static_cast<std::uint8_t>(1u << static_cast<unsigned>(category));
  }
  // All but other, where nobody told what PyTorch's memory is for.
  static constexpr std::uint8_t kUntoldPurposes =
      0xff & ~(1u << static_cast<unsigned>(MemoryCategory::kOther));

  bool knows(MemoryCategory category) const {
    // Something always is outside of PyTorch: 0 is that nobody could ask.
    if (category == MemoryCategory::kOutside) return bytes[static_cast<std::size_t>(category)] > 0;
    return (untold & bit(category)) == 0;
  }
  // What any of PyTorch's memory is for.
  bool knows_a_purpose() const {
    constexpr std::uint8_t kPurposes = kUntoldPurposes & ~bit(MemoryCategory::kOutside);
    return (untold & kPurposes) != kPurposes;
  }
  bool tells_nothing() const {
    return !knows_a_purpose() && !knows(MemoryCategory::kOther) && !knows(MemoryCategory::kOutside);
  }
  bool knows_highest() const {
    return is_peak && std::ranges::any_of(highest, [](std::int64_t held) { return held > 0; });
  }

  // By PyTorch. What is outside grows on a CPU with what the heap keeps of freed tensors, so that a
  // total with it hides what was gathered and freed, and puts the peak anywhere.
  std::int64_t allocated_bytes() const {
    return total_bytes() - bytes[static_cast<std::size_t>(MemoryCategory::kOutside)];
  }
  std::int64_t total_bytes() const {
    std::int64_t sum = 0;
    for (auto b : bytes) sum += b;
    return sum;
  }
};

struct CounterSample {
  int rank = 0;
  StringId name = 0;
  StringId unit = 0;
  std::int64_t time_ns = 0;
  double value = 0;
};

// ---- bulk events ------------------------------------------------------------------------------

enum class EventKind : std::uint8_t { kOperator, kKernel, kLaunch, kCopy, kAllocation };
inline constexpr int kEventKindCount = 5;

inline constexpr std::uint32_t kEventLeaf = 1u << 0;     // an operator that called no other
inline constexpr std::uint32_t kEventCompute = 1u << 1;  // counts as compute: docs/NUMBERS.md
inline constexpr std::uint32_t kEventDepthShift = 8;     // bits 8-15: nesting depth
// Of an allocation that was recorded with its life, by one of our recorders.
inline constexpr std::uint32_t kEventOlder = 1u << 2;     // was there when the step began
inline constexpr std::uint32_t kEventNotFreed = 1u << 3;  // was still there when it ended
inline constexpr std::uint32_t kEventCategoryShift = 16;  // bits 16-19: MemoryCategory + 1; 0: none

// One event of the bulk kinds; stored in column chunks.
struct Event {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  StringId name = 0;
  std::uint32_t flags = 0;
  std::uint64_t correlation = 0;  // joins kernel, launch and operator; 0: none
  // Copy: bytes; 0: not known. Allocation: bytes; with a category its duration is how long it lived
  // within the step and its correlation the address, without one (of another program's trace) it is
  // a moment and negative bytes were freed. Kernel: its node of a CUDA graph. Else 0.
  std::int64_t value = 0;

  std::int64_t end_ns() const { return base::saturated_add(start_ns, duration_ns); }
  int depth() const { return static_cast<int>((flags >> kEventDepthShift) & 0xff); }
};

// Of an allocation's flags; none: it was not recorded with its life.
inline std::optional<MemoryCategory> category_of(std::uint32_t event_flags) {
  const std::uint32_t number = (event_flags >> kEventCategoryShift) & 0xf;
  if (number == 0 || number > static_cast<std::uint32_t>(kMemoryCategoryCount)) return std::nullopt;
  return static_cast<MemoryCategory>(number - 1);
}
inline std::uint32_t flags_of(MemoryCategory category) {
  return (static_cast<std::uint32_t>(category) + 1) << kEventCategoryShift;
}

// Events of one kind on one lane, ordered by start.
struct EventRun {
  int rank = 0;
  int lane = 0;
  EventKind kind = EventKind::kOperator;
  std::vector<Event> events;
};

// ---- about the recording ----------------------------------------------------------------------

struct InternedString {
  int rank = 0;
  StringId id = 0;
  std::string text;
};

struct LogLine {
  int rank = 0;
  std::int64_t time_ns = 0;
  enum class Level : std::uint8_t { kInfo, kWarning, kError } level = Level::kInfo;
  std::string text;
};

// Records that could not be kept, and why.
struct Lost {
  int rank = 0;
  std::string reason;  // "operator queue full", "disk full", "size limit", …
  std::int64_t count = 0;
};

// One row per rank, rewritten with every commit.
struct Heartbeat {
  int rank = 0;
  std::int64_t alive_ns = 0;     // the recorder's thread ran
  std::int64_t progress_ns = 0;  // the training thread moved on
  std::int64_t step = -1;
  base::Phase phase = base::Phase::kOther;
};

// What the recorder did to the job.
struct RecorderCost {
  int rank = 0;
  std::int64_t callback_ns = 0;  // spent in callbacks on the job's threads, measured by sampling
  std::int64_t writer_ns = 0;    // CPU time of the recorder's own threads
  std::int64_t events = 0;
};

struct RankInfo {
  bool operator==(const RankInfo&) const = default;

  int rank = 0;
  int local_rank = 0;  // -1: not known
  std::string host;
  std::int64_t process_id = 0;
  std::string device;           // "cpu", "cuda:0"
  std::string device_name;      // "Intel Xeon …, 2 cores", "NVIDIA H100 …"
  std::string sources;          // "operators: RecordFunction; collectives: Gloo's own thread; …"
  std::string versions;         // "LibTorch 2.11.0, …"
  double peak_flops = 0;        // dense peak for the run's precision; 0: not known
  std::int64_t parameters = 0;  // values, shared ones counted once
  std::string link = {};  // to the other ranks: "NVLink, 18 links", "PCIe 5 x16"; "": not known
  double link_bytes_per_second = 0;     // its peak in one direction; 0: not known
  std::string peak_flops_origin;        // "dense bf16, NVIDIA H100 datasheet"; "": not known
  std::string environment;              // lines "NAME=value", see library_environment.h
  std::int64_t trained_parameters = 0;  // of `parameters`; 0: not known
  std::string model;                    // its shape, see shape_text.h; "": not known

  // Ranks with a GPU each may all call it cuda:0: see RunInfo::shared_gpu.
  bool is_on_device_of(const RankInfo& other) const {
    return host == other.host && device == other.device;
  }
};

std::string_view to_string(LaneKind);
std::string_view to_string(CollectiveFunction);
std::string_view to_string(TagKind);
std::string_view to_string(MemoryCategory);
std::string_view to_string(EventKind);
std::string_view to_string(LogLine::Level);

}  // namespace shardlens::trace::model
