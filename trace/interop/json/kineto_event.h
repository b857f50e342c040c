// One event of a trace that PyTorch's profiler (Kineto) exported, read from its JSON. Names and
// meaning of members: torch/csrc/profiler/collection.cpp and libkineto/src/output_json.cpp of
// PyTorch 1.8 to 2.11. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "trace/base/intervals.h"

namespace shardlens::trace::interop {

enum class KinetoCategory : std::uint8_t {
  kKernel,
  kCopy,    // memcpy and memset on the GPU
  kLaunch,  // calls of the CUDA runtime and driver
  kOperator,
  kPython,      // Python functions, with with_stack=True
  kAnnotation,  // record_function on the host
  kMemory,      // [memory]: one allocation, or a release
  kFlow,        // arrows, names and mirrors, which rows express otherwise
  kOther,       // of the profiler itself, and what later versions add
};

// Of a ProfilerStep that we export, where only its times were recorded.
inline constexpr std::string_view kDetailOfStep = "detail";
inline constexpr std::string_view kNoDetail = "not recorded";

struct KinetoEvent {
  KinetoCategory category = KinetoCategory::kOther;
  std::string category_text;
  std::string name;
  std::string process, thread;   // as written: numbers, or names
  std::int64_t start_ns = 0;     // from the trace's base time
  std::int64_t duration_ns = 0;  // −1: what stands there is none
  int device = -1;
  int stream = -1;
  std::uint64_t correlation = 0;
  std::int64_t bytes = 0;
  std::int64_t total_allocated = -1, total_reserved = -1;  // of [memory], where the trace has it
  int device_type = -1;                                    // 0: CPU, 1: CUDA

  // Of a collective's kernel, where the trace has them; elements also of the operators that ask for
  // one with tensors for each.
  std::string collective, data_type, group, group_ranks;
  std::int64_t group_size = -1;
  std::int64_t in_elements = -1, out_elements = -1;
  std::int64_t sequence = -1;

  // Of an operator, while gradients are computed: the number of the next node of autograd that its
  // thread makes; of a node at work its own, and the thread that made it. −1 and 0: else.
  std::int64_t node_number = -1;
  std::int64_t forward_thread = 0;

  std::string detail;  // kNoDetail, or "" as a rule

  // Of what an event of inputs_are_read() takes, where shapes were recorded: "[768, 3072]" and
  // "float"; else "" and -1. Elements are those of all its tensors.
  std::string input_shape, input_type;
  std::int64_t input_elements = -1;

  std::int64_t end_ns() const { return start_ns + duration_ns; }
  base::Interval time() const { return {start_ns, end_ns()}; }
};

// Events whose inputs tell what is reduced: gradients, Gloo's collectives, and what asks for them.
bool inputs_are_read(std::string_view event_name);

class KinetoParser {
 public:
  KinetoParser();
  ~KinetoParser();

  // `text`: an object, with JsonEvents::kPadding readable bytes behind it. False: not valid JSON,
  // or without name and time.
  bool parse(std::string_view text, KinetoEvent& event);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// "4458676522690.655" µs → ns, to the last digit; what is no number is 0.
std::int64_t microseconds_to_ns(std::string_view text);

}  // namespace shardlens::trace::interop
