// Waits in the picture of one step, of runs whose true times are known while each host writes its
// own clock's.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "tests/trace/analysis/synthetic_run.h"
#include "tests/trace/explore/testing/whole_step.h"

namespace shardlens::trace::explore {
namespace {

constexpr std::int64_t kBegin = 1'000'000'000;

struct TruePart {
  int rank = 0;
  std::int64_t start_ns = 0, end_ns = 0;
};

struct TrueCall {
  int group = 0;
  model::CollectiveFunction function = model::CollectiveFunction::kAllReduce;
  std::vector<TruePart> parts;

  std::int64_t latest_start_ns() const {
    return std::ranges::max(parts, {}, &TruePart::start_ns).start_ns;
  }
};

// Five ranks, the hosts of which are of up to three clocks. Group 0 is of all, others of two each.
class ClockedRun {
 public:
  static constexpr int kRanks = 5;

  ClockedRun(unsigned seed, int hosts, bool broadcasts_only) : random_(seed) {
    for (int host = 0; host < hosts; ++host) offsets_ns_.push_back(upto(6'000) - 3'000);
    for (int rank = 0; rank < kRanks; ++rank) host_of_.push_back(rank % hosts);
    groups_ = {{0, 1, 2, 3, 4}, {0, 1}, {2, 3}, {1, 4}};
    std::int64_t now = kBegin;
    for (int i = 0; i < 40; ++i) add_call(now, broadcasts_only && upto(8) > 0);
    end_ns_ = now;
  }

  timeline::StepPicture step() const {
    model::RunInfo info;
    info.world_size = kRanks;
    info.settings.skip_steps = 0;
    std::vector<model::Batch> rows;
    for (int rank = 0; rank < kRanks; ++rank) rows.push_back(rows_of(rank));
    return test::first_step(info, rows);
  }

  const std::vector<TrueCall>& calls() const { return calls_; }
  int host(int rank) const { return host_of_[static_cast<std::size_t>(rank)]; }
  std::int64_t offset_ns(int rank) const {
    return offsets_ns_[static_cast<std::size_t>(host(rank))];
  }
  std::set<int> hosts(const TrueCall& call) const {
    std::set<int> result;
    for (const TruePart& part : call.parts) result.insert(host(part.rank));
    return result;
  }
  // Hosts that all-reduces lead to from there, over others, too.
  std::set<int> reached(int from) const {
    std::set<int> seen{from};
    for (bool grows = true; grows;) {
      grows = false;
      for (const TrueCall& call : calls_) {
        if (call.function == model::CollectiveFunction::kBroadcast) continue;
        const auto touched = hosts(call);
        if (std::ranges::none_of(touched, [&](int host) { return seen.contains(host); })) continue;
        for (const int host : touched) grows = seen.insert(host).second || grows;
      }
    }
    return seen;
  }

  // Clocks are 6,000 apart at most. That of two hosts is known to the length of both parts of the
  // shortest call, or over another host.
  std::int64_t most_error_ns() const {
    std::map<std::pair<int, int>, std::int64_t> widths;
    for (const TrueCall& call : calls_) {
      if (call.function == model::CollectiveFunction::kBroadcast) continue;
      const TruePart& first = call.parts.front();
      for (const TruePart& part : call.parts) {
        if (host(part.rank) == host(first.rank)) continue;
        const auto width = part.end_ns - part.start_ns + first.end_ns - first.start_ns;
        const auto known =
            widths.try_emplace(std::minmax(host(first.rank), host(part.rank)), width);
        known.first->second = std::min(known.first->second, width);
      }
    }
    std::int64_t sum = 6'000;
    for (const auto& [hosts, width] : widths) sum += 2 * width;
    return sum;
  }

 private:
  int upto(int most) { return std::uniform_int_distribution(0, most)(random_); }

  void add_call(std::int64_t& now, bool is_broadcast) {
    TrueCall call;
    call.group = static_cast<int>(upto(3));
    if (is_broadcast) call.function = model::CollectiveFunction::kBroadcast;
    const int late = upto(3) == 0 ? 20'000 : 400;
    for (const int rank : groups_[static_cast<std::size_t>(call.group)]) {
      call.parts.push_back({rank, now + upto(late), 0});
    }
    const std::int64_t all_began = call.latest_start_ns();
    for (TruePart& part : call.parts) {
      // A broadcast's root waits for nobody.
      part.end_ns = (is_broadcast ? part.start_ns : all_began) + 20 + upto(180);
      now = std::max(now, part.end_ns);
    }
    now += 50;
    calls_.push_back(std::move(call));
  }

  model::Batch rows_of(int rank) const {
    model::Batch batch;
    batch.rank_info.emplace().rank = rank;
    batch.rank_info->host = "host " + std::to_string(host(rank));
    for (std::size_t id = 0; id < groups_.size(); ++id) {
      if (!std::ranges::binary_search(groups_[id], rank)) continue;
      batch.process_groups.push_back({rank, static_cast<int>(id), 0, 0, groups_[id]});
    }
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const auto part = std::ranges::find(calls_[i].parts, rank, &TruePart::rank);
      if (part == calls_[i].parts.end()) continue;
      auto row =
          analysis::all_reduce(rank, static_cast<std::int64_t>(i), part->start_ns + offset_ns(rank),
                               part->end_ns + offset_ns(rank), 8);
      row.process_group = calls_[i].group;
      row.function = row.executed = calls_[i].function;
      batch.collectives.push_back(row);
    }
    model::Step step;
    step.rank = rank;
    step.start_ns = kBegin + offset_ns(rank);
    step.end_ns = end_ns_ + offset_ns(rank);
    step.full_detail = true;
    batch.steps = {step};
    return batch;
  }

  std::mt19937 random_;
  std::vector<std::int64_t> offsets_ns_;
  std::vector<int> host_of_;
  std::vector<std::vector<int>> groups_;
  std::vector<TrueCall> calls_;
  std::int64_t end_ns_ = 0;
};

// What was looked at, so that nothing passes for want of cases.
struct Seen {
  int exact = 0, drawn = 0, none = 0, made_up = 0, unconnected = 0;
};

// `true_wait_ns`: by the true times; `recorded_wait_ns`: by those of each host's clock.
void check(const ClockedRun& run, const TrueCall& call, const timeline::Piece& piece,
           const timeline::DrawnCollective& drawn, std::int64_t true_wait_ns,
           std::int64_t recorded_wait_ns, Seen& seen) {
  const auto hosts = run.hosts(call);
  if (hosts.size() == 1) {
    ++seen.exact;
    ASSERT_NE(piece.latest_start_ns, 0);
    EXPECT_EQ(piece.latest_start_ns - drawn.start_ns, true_wait_ns);
    return;
  }
  const auto connected = run.reached(*hosts.begin());
  if (!std::ranges::includes(connected, hosts)) {
    ++seen.unconnected;
    EXPECT_EQ(piece.latest_start_ns, 0);
    EXPECT_EQ(drawn.wait.doubt, analysis::WaitDoubt::kClocksUnknown);
    return;
  }
  if (piece.latest_start_ns == 0) {
    EXPECT_EQ(drawn.wait.doubt, analysis::WaitDoubt::kClockError);
    EXPECT_LE(recorded_wait_ns, run.most_error_ns()) << "so much no clock makes up";
    if (true_wait_ns == 0 && recorded_wait_ns > 0) ++seen.made_up;
    return;
  }
  const std::int64_t drawn_ns = piece.latest_start_ns - drawn.start_ns;
  if (drawn_ns == 0) {  // the last rank, or one that had left
    ++seen.none;
    EXPECT_EQ(recorded_wait_ns, 0);
    if (!drawn.wait.has_left) {
      EXPECT_EQ(true_wait_ns, 0);
    }
    return;
  }
  ++seen.drawn;
  EXPECT_GT(true_wait_ns, 0) << drawn_ns << " are made up by clocks";
  EXPECT_LE(std::abs(drawn_ns - true_wait_ns), 6'000);
}

Seen compare(const ClockedRun& run) {
  Seen seen;
  const timeline::StepPicture step = run.step();
  for (const timeline::TimelineRow& row : step.rows->rows) {
    if (row.kind != timeline::RowKind::kCommunication) continue;
    const timeline::RowPicture& picture = step.picture->rows.at(static_cast<std::size_t>(row.id));
    std::int32_t last = -1;
    for (const timeline::Piece& piece : picture.pieces) {
      if (piece.collective < 0 || piece.collective == last) continue;  // a fold, or a further part
      last = piece.collective;
      const timeline::DrawnCollective& drawn =
          picture.collectives.at(static_cast<std::size_t>(last));
      const TrueCall& call = run.calls().at(static_cast<std::size_t>(drawn.sequence));
      const auto part = *std::ranges::find(call.parts, row.rank, &TruePart::rank);
      std::int64_t recorded_latest_ns = INT64_MIN;
      for (const TruePart& each : call.parts) {
        recorded_latest_ns = std::max(recorded_latest_ns, each.start_ns + run.offset_ns(each.rank));
      }
      const auto waited = [](std::int64_t start_ns, std::int64_t end_ns, std::int64_t latest_ns) {
        return latest_ns >= end_ns ? 0 : latest_ns - start_ns;
      };
      SCOPED_TRACE("rank " + std::to_string(row.rank) + ", call " + std::to_string(drawn.sequence));
      check(run, call, piece, drawn, waited(part.start_ns, part.end_ns, call.latest_start_ns()),
            waited(part.start_ns + run.offset_ns(row.rank), part.end_ns + run.offset_ns(row.rank),
                   recorded_latest_ns),
            seen);
    }
  }
  return seen;
}

TEST(StepWaits, AreNeverMadeUpByClocksOfHosts) {
  Seen all;
  for (unsigned seed = 1; seed <= 30; ++seed) {
    for (const int hosts : {1, 2, 3}) {
      for (const bool broadcasts_only : {false, true}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", hosts " + std::to_string(hosts));
        const Seen seen = compare(ClockedRun(seed, hosts, broadcasts_only));
        all.exact += seen.exact;
        all.drawn += seen.drawn;
        all.none += seen.none;
        all.made_up += seen.made_up;
        all.unconnected += seen.unconnected;
      }
    }
  }
  EXPECT_GT(all.exact, 1'000);
  EXPECT_GT(all.drawn, 300);
  EXPECT_GT(all.none, 100);
  EXPECT_GT(all.made_up, 100);
  EXPECT_GT(all.unconnected, 100);
}

}  // namespace
}  // namespace shardlens::trace::explore
