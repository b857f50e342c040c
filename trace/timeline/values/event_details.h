// Everything recorded about one event, as text with links. Plain values, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/timeline/values/name_hits.h"
#include "trace/timeline/values/picture.h"

namespace shardlens::trace::timeline {

struct DetailField {
  std::string label;  // "Start in step"
  std::string value;  // "415.2 ms", with its unit
  std::string note;   // definition or source, for the tooltip
};

struct DetailLink {
  std::string label;  // "Launch", "Previous step", "Next step", "Kernel"
  EventPlace target;
};

// The same collective on one rank.
struct RankCall {
  int rank = 0;
  std::int64_t start_ns = 0, end_ns = 0;
  EventPlace place;
  analysis::CallWait wait;
};

struct EventDetails {
  EventPlace place;
  std::string title;     // "Reduce-scatter · blocks.6", or the name
  std::string name;      // by which a search finds it and its likes, "" for none
  std::string subtitle;  // "rank 0 · step 301"
  base::TimeClass piece_class = base::TimeClass::kCompute;
  std::vector<DetailField> fields;
  std::vector<DetailLink> links;
  std::vector<RankCall> calls;          // of a collective, by rank
  std::vector<std::string> parameters;  // of its bucket or unit
  std::int64_t clock_error_ns = -1;     // between the hosts of `calls`; -1: one host
};

}  // namespace shardlens::trace::timeline
