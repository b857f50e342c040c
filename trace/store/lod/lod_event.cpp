#include "trace/store/lod/lod_event.h"

namespace shardlens::trace {

namespace {

constexpr StringId kFunctionNames = 0x8000'0000u, kBucketNames = 0x9000'0000u,
                   kUnitNames = 0xA000'0000u, kNameClass = 0xF000'0000u;

StringId numbered(StringId kind, int number) {
  return kind | (static_cast<StringId>(number) & ~kNameClass);
}

}  // namespace

std::optional<LodKind> lod_kind(EventKind kind) {
  switch (kind) {
    case EventKind::kOperator:
      return LodKind::kOperator;
    case EventKind::kKernel:
      return LodKind::kKernel;
    case EventKind::kLaunch:
      return LodKind::kLaunch;
    case EventKind::kCopy:
      return LodKind::kCopy;
    case EventKind::kAllocation:
      return std::nullopt;
  }
  return std::nullopt;
}

LodStream lod_stream_of(const Span& span) {
  return {span.lane, LodKind::kSpan, lod_depth(span.depth)};
}

LodStream lod_stream_of(const Collective& collective) {
  return {collective.lane, LodKind::kCollective, 0};
}

LodEvent lod_event_of(const Span& span) {
  return lod_event_between(span.start_ns, span.end_ns, span.name);
}

LodEvent lod_event_of(const Collective& collective) {
  return lod_event_between(collective.start_ns, collective.end_ns, lod_name_of(collective));
}

StringId lod_name_of(const Collective& collective) {
  if (collective.tag_kind == TagKind::kBucket) return numbered(kBucketNames, collective.tag_index);
  if (collective.tag_kind != TagKind::kNone && collective.tag_name != 0) return collective.tag_name;
  if (collective.tag_kind == TagKind::kUnit) return numbered(kUnitNames, collective.tag_index);
  return numbered(kFunctionNames, static_cast<int>(collective.function));
}

std::string lod_name_text(StringId name) {
  const StringId number = name & ~kNameClass;
  switch (name & kNameClass) {
    case kFunctionNames:
      return std::string(to_string(static_cast<CollectiveFunction>(number)));
    case kBucketNames:
      return "bucket " + std::to_string(number);
    case kUnitNames:
      return "unit " + std::to_string(number);
    default:
      return {};
  }
}

}  // namespace shardlens::trace
