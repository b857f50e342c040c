// When the made-up GPU does what. Streams run beside each other, each in order; work takes as long
// as its launch says; events and collectives make streams wait. Any thread may call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace shardlens::fake_gpu {

struct Span {
  std::int64_t start_ns;  // CLOCK_REALTIME
  std::int64_t end_ns;
};

// What a stream waits for; asked again until it knows.
class Gate {
 public:
  virtual ~Gate() = default;
  // When a stream that arrives at `arrived_ns` may go on; negative: not known yet.
  virtual std::int64_t passed_ns(std::int64_t arrived_ns) = 0;
};

struct Work {
  std::int64_t duration_ns = 0;
  std::shared_ptr<Gate> gate = nullptr;          // may be null
  std::function<void(Span)> finished = nullptr;  // told once its times are known; may be null
};

struct Stream;
struct Event;

std::int64_t now_ns();

Stream* create_stream(int device, int priority);
void destroy_stream(Stream* stream);
// Where calls that name no stream go: one for each device.
Stream* default_stream(int device);
std::uint32_t stream_id(const Stream& stream);
int stream_priority(const Stream& stream);
int stream_device(const Stream& stream);

Event* create_event();
void destroy_event(Event* event);

void enqueue(Stream& stream, Work work);
// The host waits: what was held back until then (FAKE_GPU_HOST_AHEAD) begins.
void begin_held_back();
void record(Event& event, Stream& stream);
void wait(Stream& stream, const Event& event);

// Whether everything before has ended by now. An event that was never recorded has.
bool is_done(const Stream& stream);
bool is_done(const Event& event);
bool is_device_done(int device);
// When the stream reached the event; negative: it has not yet.
std::int64_t reached_ns(const Event& event);

}  // namespace shardlens::fake_gpu
