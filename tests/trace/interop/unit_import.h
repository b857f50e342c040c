// Runs that become of made-up traces with units, and what is expected of all of them, whichever
// program wrote the trace.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/trace/interop/kineto_traces.h"
#include "tests/trace/interop/unit_traces.h"

namespace shardlens::trace::interop {

inline FsdpJob drawn_units(std::mt19937& random) {
  FsdpJob job;
  job.units.resize(2 + random() % 8);
  for (auto& elements : job.units)
    elements = 2 * (1 + static_cast<std::int64_t>(random() % 50'000));
  job.steps = 3;
  job.micro_batches = 1 + static_cast<int>(random() % 3);
  job.reduces_each = random() % 2 == 0;
  job.frees_after_forward = random() % 3 != 0;
  job.prefetches_forward = random() % 2 == 0;
  job.gathers_ahead = random() % 3 != 0;
  job.on_gpu = random() % 2 == 0;
  return job;
}

// What rank 1's collectives were for, each of which is a unit's, in the order in which they were
// asked for.
inline std::vector<std::string> tags_of_last_step(const std::vector<model::Batch>& batches,
                                                  const model::StringTable& strings) {
  std::int64_t last = -1;
  std::vector<model::Collective> calls;
  for (const model::Batch& batch : batches) {
    for (const model::Collective& call : batch.collectives) {
      EXPECT_EQ(call.tag_kind, model::TagKind::kUnit);
      if (call.rank != 1) continue;
      calls.push_back(call);
      last = std::max(last, call.step);
    }
  }
  std::ranges::sort(calls, {}, &model::Collective::enqueued_ns);
  std::vector<std::string> tags;
  for (const model::Collective& call : calls) {
    if (call.step == last) tags.emplace_back(strings.get(1, call.tag_name));
  }
  return tags;
}

template <typename Writer>
class UnitImport : public KinetoImport {
 protected:
  Run imported(const FsdpJob& job) {
    const ImportedRun run = import_job<Writer>(job);
    EXPECT_TRUE(run.warnings.empty()) << testing::PrintToString(run.warnings);
    return open(run.folder);
  }

  // Its units, and what each collective was for; returns the run.
  Run expect_units(const FsdpJob& job) {
    Run run = imported(job);
    const auto& units = run.figures.units;
    EXPECT_EQ(units.size(), job.units.size());
    for (std::size_t unit = 0; unit < std::min(units.size(), job.units.size()); ++unit) {
      EXPECT_EQ(units[unit].name, Writer::name(unit));
      EXPECT_EQ(units[unit].bytes, 4 * job.units[unit]);
      EXPECT_EQ(units[unit].reduced_bytes, 4 * job.units[unit]);
      EXPECT_EQ(units[unit].shard_bytes, 2 * job.units[unit]);
      EXPECT_EQ(units[unit].shard_count, 2);
      EXPECT_EQ(units[unit].data_type, "float32");
    }
    Writer writer(job, 1);
    static_cast<void>(writer.text());
    EXPECT_EQ(tags_of_last_step(run.batches, run.strings), writer.calls());
    return run;
  }

  // Of rank 0 in three units' four steps of two micro-batches, the second of which is reduced;
  // returns how often each of its marks came, by name.
  static std::map<std::string, int> expect_phases(const Run& run) {
    std::map<base::Phase, int> phases;
    std::map<int, int> ready;
    std::map<std::string, int> marks;
    for (const model::Batch& batch : run.batches) {
      for (const model::Span& span : batch.spans) {
        if (span.rank != 0) continue;
        if (span.depth == 0) ++phases[span.phase];
        ++marks[std::string(run.strings.get(0, span.name))];
      }
      for (const model::UnitReady& each : batch.unit_ready) {
        if (each.rank == 0) ++ready[each.unit];
      }
      for (const model::Collective& call : batch.collectives) {
        const bool in_forward =
            run.strings.get(call.rank, call.tag_name).find(" forward ") != std::string_view::npos;
        EXPECT_EQ(call.phase, in_forward ? base::Phase::kForward : base::Phase::kBackward);
      }
    }
    EXPECT_EQ(phases[base::Phase::kForward], 8) << "no matter what is marked within";
    EXPECT_EQ(phases[base::Phase::kBackward], 8);
    EXPECT_EQ(phases[base::Phase::kOptimizer], 4);
    for (int unit = 0; unit < 3; ++unit) EXPECT_EQ(ready[unit], 4) << "once a step is reduced";
    return marks;
  }
};

}  // namespace shardlens::trace::interop
