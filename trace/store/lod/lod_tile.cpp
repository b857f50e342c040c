#include "trace/store/lod/lod_tile.h"

namespace shardlens::trace {

std::string_view to_string(LodKind kind) {
  switch (kind) {
    case LodKind::kOperator:
      return "op";
    case LodKind::kKernel:
      return "kernel";
    case LodKind::kLaunch:
      return "launch";
    case LodKind::kCopy:
      return "copy";
    case LodKind::kSpan:
      return "span";
    case LodKind::kCollective:
      return "collective";
    case LodKind::kRibbon:
      return "ribbon";
  }
  return "unknown";
}

}  // namespace shardlens::trace
