#include "tests/fake_gpu/cuda/timeline.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <utility>

namespace shardlens::fake_gpu {
namespace {

constexpr std::int64_t kHeldBack = -1;

struct Queued {
  std::int64_t launched_ns;  // or kHeldBack
  Work work;
};

// The place of an event in its stream, known once the stream gets there.
class Place final : public Gate {
 public:
  std::int64_t passed_ns(std::int64_t arrived_ns) override {
    return reached_ns < 0 ? -1 : std::max(arrived_ns, reached_ns);
  }
  std::int64_t reached_ns = -1;
};

}  // namespace

struct Stream {
  std::uint32_t id;
  int device;
  int priority;
  std::deque<Queued> queue;  // whose times are not known yet
  std::int64_t free_ns = 0;  // when the last of the others ends
};

struct Event {
  std::shared_ptr<Place> place;  // null: never recorded
};

namespace {

struct Timeline {
  std::mutex mutex;
  std::list<Stream> streams;
  std::map<int, Stream*> default_streams;
  std::uint32_t next_id = 7;  // as CUDA's first
};
Timeline& timeline() {
  static auto* instance = new Timeline;  // used until the process has ended
  return *instance;
}

Stream* add_stream(Timeline& all, int device, int priority) {
  return &all.streams.emplace_back(Stream{all.next_id++, device, priority, {}, 0});
}

// Whether all work takes no time, so that a program's time is its own.
bool is_instant() {
  static const bool is_set = std::getenv("FAKE_GPU_INSTANT") != nullptr;
  return is_set;
}

// Whether the host is ahead, however long it takes: work begins when the host waits for it.
bool is_held_back() {
  static const bool is_set = std::getenv("FAKE_GPU_HOST_AHEAD") != nullptr;
  return is_set;
}

// Finds out when the first of the queue run; whether there was one.
bool advance(Stream& stream) {
  bool moved = false;
  for (; !stream.queue.empty(); stream.queue.pop_front(), moved = true) {
    const auto& [launched_ns, work] = stream.queue.front();
    if (launched_ns == kHeldBack) break;
    std::int64_t start_ns = std::max(stream.free_ns, launched_ns);
    if (work.gate != nullptr) start_ns = work.gate->passed_ns(start_ns);
    if (start_ns < 0) break;
    stream.free_ns = start_ns + (is_instant() ? 0 : work.duration_ns);
    if (work.finished) work.finished({start_ns, stream.free_ns});
  }
  return moved;
}

// Streams wait for each other: what one reaches may let another go on.
void advance_all(Timeline& all) {
  for (bool moved = true; moved;) {
    moved = false;
    for (Stream& stream : all.streams) moved = advance(stream) || moved;
  }
}

bool has_ended(const Stream& stream) { return stream.queue.empty() && stream.free_ns <= now_ns(); }

}  // namespace

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

Stream* create_stream(int device, int priority) {
  Timeline& all = timeline();
  const std::lock_guard lock(all.mutex);
  return add_stream(all, device, priority);
}

void destroy_stream(Stream* stream) {
  Timeline& all = timeline();
  const std::lock_guard lock(all.mutex);
  all.streams.remove_if([stream](const Stream& each) { return &each == stream; });
}

Stream* default_stream(int device) {
  Timeline& all = timeline();
  const std::lock_guard lock(all.mutex);
  Stream*& stream = all.default_streams[device];
  if (stream == nullptr) stream = add_stream(all, device, 0);
  return stream;
}

std::uint32_t stream_id(const Stream& stream) { return stream.id; }
int stream_priority(const Stream& stream) { return stream.priority; }
int stream_device(const Stream& stream) { return stream.device; }

Event* create_event() { return new Event; }
void destroy_event(Event* event) { delete event; }

void enqueue(Stream& stream, Work work) {
  Timeline& all = timeline();
  const std::lock_guard lock(all.mutex);
  stream.queue.push_back({is_held_back() ? kHeldBack : now_ns(), std::move(work)});
  advance(stream);
}

void begin_held_back() {
  if (!is_held_back()) return;
  Timeline& all = timeline();
  const std::lock_guard lock(all.mutex);
  const std::int64_t launched_ns = now_ns();
  for (Stream& stream : all.streams) {
    for (Queued& queued : stream.queue) {
      if (queued.launched_ns == kHeldBack) queued.launched_ns = launched_ns;
    }
  }
}

void record(Event& event, Stream& stream) {
  auto place = std::make_shared<Place>();
  {
    const std::lock_guard lock(timeline().mutex);
    event.place = place;
  }
  enqueue(stream, {.finished = [place](Span span) { place->reached_ns = span.end_ns; }});
}

void wait(Stream& stream, const Event& event) {
  std::shared_ptr<Place> place;
  {
    const std::lock_guard lock(timeline().mutex);
    place = event.place;
  }
  if (place != nullptr) enqueue(stream, {.gate = std::move(place)});
}

bool is_done(const Stream& stream) {
  Timeline& all = timeline();
  const std::lock_guard lock(all.mutex);
  advance_all(all);
  return has_ended(stream);
}

bool is_device_done(int device) {
  Timeline& all = timeline();
  const std::lock_guard lock(all.mutex);
  advance_all(all);
  return std::ranges::all_of(all.streams, [device](const Stream& stream) {
    return stream.device != device || has_ended(stream);
  });
}

bool is_done(const Event& event) {
  Timeline& all = timeline();
  const std::lock_guard lock(all.mutex);
  if (event.place == nullptr) return true;
  advance_all(all);
  return event.place->reached_ns >= 0 && event.place->reached_ns <= now_ns();
}

std::int64_t reached_ns(const Event& event) {
  Timeline& all = timeline();
  const std::lock_guard lock(all.mutex);
  advance_all(all);
  return event.place == nullptr ? -1 : event.place->reached_ns;
}

}  // namespace shardlens::fake_gpu
