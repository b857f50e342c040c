// What a search over names found. Plain values, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/timeline/values/event_ref.h"

namespace shardlens::trace::timeline {

struct NamePattern {
  std::string text;       // a regular expression (RE2-like subset of ECMAScript), or a plain name
  bool is_plain = false;  // the whole name, exactly
  bool ignores_case = true;

  bool operator==(const NamePattern&) const = default;
};

struct NameHit {  // one name in one table, over all ranks
  std::string name;
  EventTableKind table = EventTableKind::kKernel;
  std::int64_t count = 0;
  std::int64_t total_ns = 0;
};

struct EventPlace {
  EventRef ref;
  std::int64_t start_ns = 0, end_ns = 0;
  int row = -1;  // of TimelineRows
};

struct HitInstance {
  EventPlace place;
  std::int64_t step = -1;  // of its rank; -1: in none
};

struct NameHits {
  NamePattern pattern;
  std::vector<NameHit> names;  // the most frequent first
  std::int64_t count = 0;      // of events
  bool is_complete = false;    // false: rows are still being read, and there may be more
  std::string problem;         // the expression's error, in words; "" for none
  // Of a plain name the earliest events, as many as a list takes.
  std::vector<HitInstance> instances;
};

}  // namespace shardlens::trace::timeline
