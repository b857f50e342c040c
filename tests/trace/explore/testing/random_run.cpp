#include "tests/trace/explore/testing/random_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "trace/store/run/run_folder.h"
#include "trace/store/write/row_writer.h"

namespace shardlens::trace::test {

namespace {

constexpr std::array kNames{"sm90_xmma_gemm_bf16",
                            "flash_fwd_kernel",
                            "ncclDevKernel_AllReduce",
                            "vectorized_elementwise_kernel<4>",
                            "Memcpy HtoD",
                            "aten::mm",
                            "aten::add_",
                            "cudaLaunchKernel",
                            "alike",
                            "tiny",
                            "wide",
                            "long"};

}  // namespace

RandomRun::RandomRun(const RandomRunOptions& options) : options_(options), state_(options.seed) {
  model::RunInfo info = run_info("random", options_.ranks);
  path_ = *store::create_run(folder_.path(), info, false);
  calls_.resize(static_cast<std::size_t>(options_.ranks));
  for (int rank = 0; rank < options_.ranks; ++rank) write_rank(rank);
}

// SplitMix64: the same on every machine, unlike the standard's distributions.
std::uint64_t RandomRun::random() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// Every rank numbers them in an order of its own.
std::string RandomRun::text(int rank, model::StringId id) const {
  if (id == 0 || id > kNames.size()) return "";
  return kNames[(id + static_cast<model::StringId>(rank)) % kNames.size()];
}

model::Event RandomRun::random_event(model::EventKind kind, std::int64_t now) {
  model::Event event;
  event.start_ns = now;
  event.name = static_cast<model::StringId>(random() % (kNames.size() + 2));  // some are nobody's
  switch (event.name % 5) {
    case 0:
      event.duration_ns = 20'000;
      break;
    case 1:
      event.duration_ns = static_cast<std::int64_t>(random() % 130);
      break;
    case 2:
      event.duration_ns = 30'000 + static_cast<std::int64_t>(random() % 900);
      break;
    case 3:
      event.duration_ns = std::int64_t{1} << random() % 30;
      break;
    default:
      event.duration_ns = static_cast<std::int64_t>(random() % 60'000) - 200;
  }
  if (options_.absurd_times && random() % 100 == 0) {
    event.duration_ns = INT64_MAX - static_cast<std::int64_t>(random() % 1'000'000);
  }
  if (kind == model::EventKind::kCopy)
    event.value = static_cast<std::int64_t>(random() % 1'000'000);
  event.correlation = random() % 1'000;
  event.flags = static_cast<std::uint32_t>(random() % 4 | random() % 3 << model::kEventDepthShift);
  return event;
}

std::vector<model::Event> RandomRun::random_events(model::EventKind kind, std::int64_t start_ns) {
  std::vector<model::Event> events;
  for (std::size_t i = 0; i < options_.events_of_chunk; ++i) {
    // Some begin at the same nanosecond.
    const auto step = static_cast<std::int64_t>(random() % (kCommitNs / 10'000)) * 10'000;
    events.push_back(random_event(kind, start_ns + step));
  }
  const auto by_start = [](const model::Event& a, const model::Event& b) {
    return a.start_ns < b.start_ns;
  };
  const bool is_shuffled = options_.out_of_order && random() % 3 == 0;
  if (!is_shuffled) std::ranges::stable_sort(events, by_start);
  return events;
}

void RandomRun::add_calls(int rank, std::int64_t start_ns) {
  auto& calls = calls_[static_cast<std::size_t>(rank)];
  for (int i = 0; i < 25; ++i) {
    model::Collective row;
    row.rank = rank;
    row.lane = 5;
    row.function = static_cast<model::CollectiveFunction>(random() % 3);
    row.tag_kind = static_cast<model::TagKind>(random() % 4);
    row.tag_index = static_cast<int>(random() % 3);
    row.tag_name =
        static_cast<model::StringId>(row.tag_kind >= model::TagKind::kUnit ? 20 + random() % 3 : 0);
    row.data_type = 23;
    row.bytes = static_cast<std::int64_t>(1024 << random() % 3);
    row.start_ns = start_ns + static_cast<std::int64_t>(random() % kCommitNs);
    row.end_ns = row.start_ns + static_cast<std::int64_t>(random() % 500'000) - 1'000;
    calls.push_back({row, 1'000 + static_cast<std::int64_t>(calls.size())});
  }
}

void RandomRun::write_rank(int rank) {
  auto writer = store::RowWriter::create_file(store::rank_file(path_, rank), rank);
  ASSERT_TRUE(writer) << writer.error().message;
  for (int commit = 0; commit < options_.commits; ++commit) {
    model::Batch batch;
    const std::int64_t start_ns = kBegin + commit * kCommitNs;
    for (model::StringId id = 1; commit == 0 && id <= kNames.size(); ++id) {
      batch.strings.push_back({rank, id, text(rank, id)});
    }
    for (int kind = 0; kind < model::kEventKindCount; ++kind) {
      for (int lane = 0; lane < options_.lanes; ++lane) {
        model::EventRun run{rank, lane, static_cast<model::EventKind>(kind), {}};
        run.events = random_events(run.kind, start_ns);
        for (const model::Event& event : run.events) {
          events_.push_back({rank, lane, run.kind, event, text(rank, event.name)});
        }
        batch.events.push_back(std::move(run));
      }
    }
    add_calls(rank, start_ns);
    ASSERT_TRUE(writer->begin());
    ASSERT_TRUE(writer->write(batch));
    ASSERT_TRUE(writer->commit(start_ns + kCommitNs));
  }
}

}  // namespace shardlens::trace::test
