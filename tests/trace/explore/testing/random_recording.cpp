#include "tests/trace/explore/testing/random_recording.h"

#include <array>
#include <random>
#include <string>

#include "trace/explore/run/rank_overview.h"

namespace shardlens::trace::test {

namespace {

constexpr std::int64_t kRecordingBegin = 1'790'000'000'000'000'000;
constexpr model::StringId kNameCount = 12;

class RandomRecording {
 public:
  explicit RandomRecording(const RecordingOptions& options)
      : options_(options), random_(options.seed) {}

  RecordedCommit commit(int index) {
    RecordedCommit result;
    model::Batch& batch = result.batch;
    if (index == 0) define_names(batch);
    if (options_.late && chance(25)) now_ -= below(20'000'000'000);
    for (int i = 0; i < options_.events_per_commit; ++i) add_any(batch);
    if (chance(2)) add_step(batch);
    now_ += options_.commit_ns / 2 + below(options_.commit_ns);
    if (chance(30)) now_ += below(12'000'000'000);
    // Longer than what counts as idle, or nearly.
    const std::int64_t near = options_.late ? 250'000'000'000 : 290'000'000'000;
    if (chance(60)) now_ += near + below(50'000'000'000);
    latest_ = std::max(latest_, now_);
    result.now_ns = latest_;
    return result;
  }

 private:
  std::int64_t below(std::int64_t limit) {
    return std::uniform_int_distribution<std::int64_t>(0, limit - 1)(random_);
  }
  bool chance(int of) { return below(of) == 0; }
  // Few streams; what is nested deeper than the deepest is put to it.
  int depth() {
    return std::array{0, 1, explore::kOverviewDepths - 1, explore::kOverviewDepths + 3}[below(4)];
  }
  model::StringId name() { return static_cast<model::StringId>(below(kNameCount)); }

  void define_names(model::Batch& batch) {
    for (model::StringId id = 1; id < kNameCount; ++id) {
      const std::string text = id % 4 == 1 ? "ncclDevKernel_" : "kernel_";
      batch.strings.push_back({options_.rank, id, text + std::to_string(id)});
    }
  }

  // When something was, and for how long; it has ended by now, mostly.
  void pick_time(std::int64_t& start, std::int64_t& duration) {
    duration = chance(8) ? 0 : below(chance(3) ? 300'000'000 : 6'000'000);
    if (chance(30)) duration = below(3'000'000'000);
    if (chance(15)) duration = -below(50'000'000);
    if (options_.long_ && chance(60)) duration = below(chance(4) ? 40'000'000'000 : 9'000'000'000);
    start = now_ - std::max<std::int64_t>(0, duration) + below(options_.commit_ns);
    if (chance(6)) start -= below(1'500'000'000);
    if (options_.late && chance(80)) start -= below(60'000'000'000);
    // Borders of cells and tiles are where mistakes are made.
    if (chance(10)) start &= ~(explore::cell_length_ns(explore::kFinestCellBits) - 1);
    if (chance(20)) duration &= ~(explore::cell_length_ns(explore::kFinestCellBits) - 1);
    if (chance(20)) start &= ~(explore::cell_length_ns(explore::kFinestCellBits) * 256 - 1);
    if (options_.absurd && chance(60)) {
      const std::int64_t starts[] = {0,
                                     -5'000'000'000,
                                     std::int64_t{1} << 61,
                                     3'000'000'000'000,
                                     -(std::int64_t{1} << 61),
                                     kRecordingBegin * 2};
      start = starts[below(6)] + below(1'000'000'000);
    }
    if (options_.long_ && chance(200)) duration = 60'000'000'000 + below(20'000'000'000);
    if (options_.absurd && chance(60)) {
      duration = chance(2) ? std::int64_t{1} << 59 : -(std::int64_t{1} << 59);
    }
  }

  void add_any(model::Batch& batch) {
    std::int64_t start = 0, duration = 0;
    pick_time(start, duration);
    const int kind = static_cast<int>(below(8));
    if (kind == 0) return add_span(batch, start, duration);
    if (kind == 1) return add_collective(batch, start, duration);
    model::Event event;
    event.start_ns = start;
    event.duration_ns = duration;
    event.name = name();
    event.flags = static_cast<std::uint32_t>(below(4)) | static_cast<std::uint32_t>(depth())
                                                             << model::kEventDepthShift;
    const auto event_kind = static_cast<model::EventKind>(kind % model::kEventKindCount);
    batch.events.push_back({options_.rank, static_cast<int>(below(2)), event_kind, {event}});
  }

  void add_span(model::Batch& batch, std::int64_t start, std::int64_t duration) {
    const int nesting = chance(2) ? 0 : depth();
    const auto phase = static_cast<base::Phase>(below(base::kPhaseCount - 1));
    batch.spans.push_back({options_.rank, 0, 1, phase, nesting, name(), start, start + duration});
  }

  void add_collective(model::Batch& batch, std::int64_t start, std::int64_t duration) {
    model::Collective row;
    row.rank = options_.rank;
    row.lane = 1 + static_cast<int>(below(2));
    row.function = static_cast<model::CollectiveFunction>(below(4));
    row.tag_kind = static_cast<model::TagKind>(below(4));
    row.tag_index = static_cast<int>(below(5));
    const bool is_named = row.tag_kind == model::TagKind::kNamed ||
                          (row.tag_kind == model::TagKind::kUnit && chance(2));
    if (is_named) row.tag_name = 1 + static_cast<model::StringId>(below(kNameCount - 1));
    row.start_ns = start;
    row.end_ns = start + duration;
    batch.collectives.push_back(row);
  }

  void add_step(model::Batch& batch) {
    model::Step step;
    step.rank = options_.rank;
    step.end_ns = now_;
    step.start_ns = now_ - below(options_.long_ && chance(10) ? 8'000'000'000 : 600'000'000);
    step.full_detail = !chance(3);
    batch.steps.push_back(step);
  }

  const RecordingOptions options_;
  std::mt19937_64 random_;
  std::int64_t now_ = kRecordingBegin, latest_ = kRecordingBegin;
};

}  // namespace

std::vector<RecordedCommit> random_recording(const RecordingOptions& options) {
  RandomRecording recording(options);
  std::vector<RecordedCommit> commits;
  for (int i = 0; i < options.commits; ++i) commits.push_back(recording.commit(i));
  return commits;
}

}  // namespace shardlens::trace::test
