// Collectives, their details and answers to queries, for ui/inspect's tests and pictures.
#include <random>

#include "tests/ui/inspect/testing/sample_run.h"
#include "tests/ui/inspect/testing/sample_tables.h"
#include "trace/analysis/steps/collective_calls.h"

namespace shardlens::ui::inspect {

namespace {

using trace::base::TimeClass;

// Half of the ranks are on another host, whose clock may be 8 µs off.
trace::analysis::HostClocks sample_clocks(int ranks) {
  constexpr std::int64_t kError = 8'000;
  trace::analysis::ClockMeetings meetings;
  meetings.add(trace::model::CollectiveFunction::kBarrier, {0, 0, kError}, {ranks - 1, 0, kError});
  std::vector<trace::analysis::RankHost> hosts;
  for (int rank = 0; rank < ranks; ++rank) {
    hosts.push_back({rank, rank < (ranks + 1) / 2 ? "node-1" : "node-2"});
  }
  return meetings.clocks(hosts);
}

}  // namespace

std::shared_ptr<const trace::timeline::StragglerFigures> sample_stragglers(int ranks, int calls) {
  std::mt19937 random(7);
  const trace::analysis::HostClocks clocks = sample_clocks(ranks);
  trace::timeline::StragglerSums sums;
  for (int i = 0; i < calls; ++i) {
    const std::int64_t begin = kSampleStart + i * 20'000'000ll;
    const std::int64_t end = begin + 14'000'000 + static_cast<std::int64_t>(random() % 900'000);
    std::vector<trace::model::Collective> collectives;
    for (int rank = 0; rank < ranks; ++rank) {
      trace::model::Collective& c = collectives.emplace_back();
      c.rank = rank;
      c.step = i / 8;
      c.sequence = i;
      c.function = trace::model::CollectiveFunction::kReduceScatter;
      c.tag_kind = trace::model::TagKind::kUnit;
      c.bytes = 266'600'000;
      const bool slow = rank == 3 % ranks && i % 3 != 0;
      c.start_ns = begin + static_cast<std::int64_t>(random() % 400'000) + (slow ? 3'000'000 : 0);
      c.end_ns = end;
    }
    std::vector<trace::analysis::CollectivePart> parts;
    for (const trace::model::Collective& c : collectives) {
      parts.push_back({0, 0, c.sequence, c.function, c.rank, 0, c.start_ns, c.end_ns, i, ranks});
    }
    trace::analysis::CollectiveCalls known(parts);
    known.doubt_waits(clocks);
    std::vector<trace::timeline::StragglerRow> rows;
    for (std::size_t at = 0; at < collectives.size(); ++at) {
      rows.push_back({&collectives[at],
                      {trace::timeline::EventTableKind::kCollective, parts[at].rank, i, 0},
                      known.wait_of(parts[at], parts.size())});
    }
    sums.add(rows, "blocks." + std::to_string(i % 8) + " reduce",
             known.clock_error_ns(parts.front()));
  }
  return std::make_shared<const trace::timeline::StragglerFigures>(sums.take());
}

std::shared_ptr<const trace::timeline::EventDetails> sample_details(int ranks) {
  auto details = std::make_shared<trace::timeline::EventDetails>();
  details->place.ref = {trace::timeline::EventTableKind::kCollective, 0, 4812, 0};
  details->place.start_ns = kSampleStart + 1'000'000'000;
  details->title = "Reduce-scatter · blocks.6";
  details->subtitle = "rank 0 · step 301";
  details->piece_class = TimeClass::kOverlapped;
  details->fields = {{"Kernel", "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", ""},
                     {"Start in step", "415.2 ms", "From the rank's own begin of the step"},
                     {"Duration", "14.9 ms", "Own end − own start"},
                     {"Waiting for rank 3", "3.6 ms", "Latest start over the ranks − own start"},
                     {"Transfer", "11.3 ms", "End − latest start"},
                     {"Size", "254.3 MiB bf16", ""},
                     {"Bus bandwidth", "41.2 GB/s", "nccl-tests"},
                     {"Overlapped", "14.9 ms (100 %)", "Under compute of the same rank"},
                     {"Group, sequence", "fsdp.reduce · 4,812", ""},
                     {"Gradients", "blocks.6: 9 tensors, 66.6 M values", ""}};
  for (int rank = 0; rank < ranks; ++rank) {
    const std::int64_t begin = kSampleStart + 1'000'000'000 + (rank * 37 % 11) * 330'000;
    const std::int64_t latest = kSampleStart + 1'003'600'000;
    trace::timeline::RankCall call;
    call.rank = rank;
    call.start_ns = rank == 3 ? latest : begin;
    call.end_ns = kSampleStart + 1'014'900'000;
    call.wait = {latest - call.start_ns, call.end_ns - latest, false,
                 trace::analysis::WaitDoubt::kNone};
    call.place.ref = {trace::timeline::EventTableKind::kCollective, rank, 4812, 0};
    call.place.start_ns = call.start_ns;
    call.place.end_ns = call.end_ns;
    details->calls.push_back(call);
  }
  details->clock_error_ns = 8'000;
  for (const char* label : {"Launch", "Previous step", "Next step"}) {
    details->links.push_back({label, details->calls.back().place});
  }
  for (const char* name : {"attn.qkv.weight", "attn.qkv.bias", "attn.proj.weight", "mlp.fc.weight"})
    details->parameters.push_back(std::string("blocks.6.") + name);
  return details;
}

std::shared_ptr<const state::SqlAnswer> sample_answer(std::size_t rows) {
  auto answer = std::make_shared<state::SqlAnswer>();
  answer->query =
      "-- what a step waits for\nselect rank, step, name, duration_ns / 1e3 as us, start_ns\n"
      "from kernel\nwhere name like '%nccl%' and duration_ns > 5000\norder by us desc";
  answer->columns = {"rank", "step", "name", "us", "start_ns"};
  answer->is_number = {true, true, false, true, true};
  for (std::size_t i = 0; i < rows; ++i) {
    answer->rows.push_back({std::to_string(i % 8), std::to_string(300 + i / 8),
                            i % 2 == 0 ? "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL"
                                       : "ncclDevKernel_AllGather, \"ring\"",
                            std::to_string(14790.5 - static_cast<double>(i)),
                            std::to_string(kSampleStart + static_cast<std::int64_t>(i) * 1000)});
  }
  answer->truncated = rows >= 1000;
  answer->seconds = 0.0123;
  return answer;
}

std::shared_ptr<const state::SqlAnswer> failed_answer() {
  auto answer = std::make_shared<state::SqlAnswer>();
  answer->query = "select name, durations_ns\nfrom kernel";
  answer->error = "no such column: durations_ns. kernel has: rank, lane, name, duration_ns";
  answer->wrong_at = answer->query.find("durations_ns");
  return answer;
}

}  // namespace shardlens::ui::inspect
