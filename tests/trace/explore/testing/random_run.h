// A recorded run of random events of which every one is known, with all that real ones do wrong:
// out of order, of no length, reversed, absurdly long, without a name. For the test's thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/trace/store/testing/store_fixture.h"
#include "trace/model/events.h"

namespace shardlens::trace::test {

// An event and what its chunk says of it.
struct RandomEvent {
  int rank = 0, lane = 0;
  model::EventKind kind = model::EventKind::kKernel;
  model::Event event;
  std::string name;
};

struct RandomCall {
  model::Collective row;
  std::int64_t row_id = 0;
};

struct RandomRunOptions {
  unsigned seed = 1;
  int ranks = 3, lanes = 2, commits = 6;
  std::size_t events_of_chunk = 300;
  bool out_of_order = true;
  bool absurd_times = false;  // ends beyond all numbers
};

class RandomRun {
 public:
  explicit RandomRun(const RandomRunOptions& options);

  static constexpr std::int64_t kBegin = 1'790'000'000'000'000'000;
  static constexpr std::int64_t kCommitNs = 10'000'000;
  std::int64_t end_ns() const { return kBegin + options_.commits * kCommitNs; }

  const std::filesystem::path& path() const { return path_; }
  const std::vector<RandomEvent>& events() const { return events_; }
  // By rank.
  const std::vector<std::vector<RandomCall>>& calls() const { return calls_; }
  std::string text(int rank, model::StringId id) const;

 private:
  void write_rank(int rank);
  model::Event random_event(model::EventKind kind, std::int64_t now);
  std::vector<model::Event> random_events(model::EventKind kind, std::int64_t start_ns);
  void add_calls(int rank, std::int64_t start_ns);
  std::uint64_t random();

  RandomRunOptions options_;
  std::uint64_t state_;
  Folder folder_;
  std::filesystem::path path_;
  std::vector<RandomEvent> events_;
  std::vector<std::vector<RandomCall>> calls_;
};

}  // namespace shardlens::trace::test
