// The figures of a range calculated event by event, and tables held against them. For the test's
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/trace/explore/testing/random_run.h"
#include "trace/timeline/values/range_figures.h"

namespace shardlens::trace::test {

// What a row of a table is made of.
struct Sample {
  std::int64_t duration_ns = 0, start_ns = 0, bytes = 0;
  int rank = 0;
};
using Samples = std::map<std::string, std::vector<Sample>>;

Samples samples_of(const RandomRun& run, const timeline::TimeRange& range, model::EventKind kind);
Samples samples_of(const RandomRun& run, const timeline::TimeRange& range,
                   timeline::GroupBy group_by);
// Texts of collectives have ids of their own, beyond those of the file.
std::string_view call_text(model::StringId id);
// Names of units, of which FullyShardedDataParallel's have a space.
std::string_view call_unit(int index);
// `has_bytes`: their sum is told, too.
void expect_table(const timeline::RangeTable& table, const Samples& samples, bool has_bytes);

}  // namespace shardlens::trace::test
