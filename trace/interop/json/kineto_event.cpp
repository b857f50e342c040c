#include "trace/interop/json/kineto_event.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "trace/base/text.h"
#include "trace/interop/json/collective_names.h"

namespace shardlens::trace::interop {

namespace {

namespace ondemand = simdjson::ondemand;

struct CategoryName {
  std::string_view text;
  KinetoCategory category;
};
// The capitals are those of 2021.
constexpr CategoryName kCategories[] = {
    {"kernel", KinetoCategory::kKernel},
    {"Kernel", KinetoCategory::kKernel},
    {"gpu_memcpy", KinetoCategory::kCopy},
    {"Memcpy", KinetoCategory::kCopy},
    {"gpu_memset", KinetoCategory::kCopy},
    {"Memset", KinetoCategory::kCopy},
    {"cpu_op", KinetoCategory::kOperator},
    {"Operator", KinetoCategory::kOperator},
    {"cuda_runtime", KinetoCategory::kLaunch},
    {"Runtime", KinetoCategory::kLaunch},
    {"cuda_driver", KinetoCategory::kLaunch},
    {"python_function", KinetoCategory::kPython},
    {"user_annotation", KinetoCategory::kAnnotation},
};

std::string_view unquoted(std::string_view token) {
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') {
    return token.substr(1, token.size() - 2);
  }
  return token;
}

// Numbers come with what follows them up to the next token.
std::string_view token_of(ondemand::value value) { return base::trimmed(value.raw_json_token()); }

template <typename Number>
void read_number(ondemand::value value, Number& number) {
  const std::string_view text = unquoted(token_of(value));
  Number read{};
  if (std::from_chars(text.data(), text.data() + text.size(), read).ec == std::errc()) {
    number = read;
  }
}

void read_text(ondemand::value value, std::string& text) {
  std::string_view read;
  if (value.get_string().get(read) == simdjson::SUCCESS) {
    text = read;
  }
}

// A number, or a name in quotes.
void read_name_or_number(ondemand::value value, std::string& text) {
  text = unquoted(token_of(value));
}

// Of "[768, 3072]"; −1: too many.
std::int64_t elements_of(std::string_view shape) {
  std::int64_t elements = 1;
  const char* const last = shape.data() + shape.size();
  for (const char* at = shape.data() + 1; at + 1 < last;) {
    std::int64_t size = 0;
    const auto [rest, error] = std::from_chars(at, last, size);
    if (error != std::errc() || __builtin_mul_overflow(elements, size, &elements)) return -1;
    for (at = rest; *at == ',' || *at == ' ';) ++at;
  }
  return std::max<std::int64_t>(elements, -1);
}

// Of all tensors in a list of them, "[[768, 3072], [10]]", or in one of lists; −1: there are none,
// or too many.
std::int64_t elements_within(std::string_view list) {
  std::int64_t sum = -1;
  for (std::size_t end = list.find(']'); end != list.npos; end = list.find(']', end + 1)) {
    const auto begin = list.rfind('[', end);
    // That of a list that held others, or the list itself.
    if (begin == 0 || list.find(']', begin) != end) continue;
    const std::int64_t elements = elements_of(list.substr(begin, end + 1 - begin));
    if (elements < 0 || __builtin_add_overflow(std::max<std::int64_t>(sum, 0), elements, &sum)) {
      return -1;
    }
  }
  return sum;
}

// Of the inputs' sizes, "[[768, 3072], []]": those of the one tensor, which comes first.
void read_one_shape(std::string_view text, KinetoEvent& event) {
  const auto end = text.find(']');
  if (end == text.npos || text.find_first_of("0123456789", end) != text.npos) return;
  const std::string_view shape = text.substr(0, end + 1).substr(text.rfind('[', end));
  const std::int64_t elements = elements_of(shape);
  if (elements < 0) return;
  event.input_shape = shape;
  event.input_elements = elements;
}

// The first two items of a list of lists; "": it has no such one.
std::array<std::string_view, 2> first_items(std::string_view list) {
  std::array<std::string_view, 2> items;
  std::size_t item = 0, begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at < list.size() && item < items.size(); ++at) {
    if (list[at] == '[' && ++depth == 2) begin = at;
    if (list[at] == ']' && depth-- == 2) items[item++] = list.substr(begin, at + 1 - begin);
  }
  return items;
}

// Of an operator that asks for a collective: what is written, and what is read.
void read_out_and_in(std::string_view text, KinetoEvent& event) {
  const auto [first, second] = first_items(text);
  constexpr std::array kOfTensors{"c10d::_allgather_base_", "c10d::_reduce_scatter_base_",
                                  "c10d::alltoall_base_"};
  if (std::ranges::find(kOfTensors, event.name) != kOfTensors.end()) {  // "[[1000], [500], []]"
    if (second.empty()) return;
    event.out_elements = elements_of(first);
    event.in_elements = elements_of(second);
    return;
  }
  // Of lists, of which one may be all there is: "[[[10], [20]], []]", "[[], [[500]], []]".
  const std::int64_t out = elements_within(first), in = elements_within(second);
  const bool has_both = out >= 0 && in >= 0;
  event.out_elements = has_both ? out : -1;
  event.in_elements = has_both ? in : -1;
  event.input_elements = has_both ? -1 : std::max(out, in);
}

bool is_gradient(std::string_view event_name) {
  return event_name == "torch::autograd::AccumulateGrad";
}

void read_shapes(ondemand::value value, KinetoEvent& event) {
  ondemand::array inputs;
  std::string_view text;
  if (value.get_array().get(inputs) != simdjson::SUCCESS) return;
  if (inputs.raw_json().get(text) != simdjson::SUCCESS) return;
  if (is_gradient(event.name)) return read_one_shape(text, event);
  if (!is_host_collective(event.name)) return read_out_and_in(text, event);
  event.input_elements = elements_within(base::trimmed(text));
}

void read_first_text(ondemand::value value, std::string& text) {
  ondemand::array texts;
  if (value.get_array().get(texts) != simdjson::SUCCESS) return;
  for (auto each : texts) return read_text(each.value(), text);
}

void read_argument(std::string_view key, ondemand::value value, KinetoEvent& event) {
  // A trace with shapes has them everywhere.
  const bool is_of_inputs = key == "Input Dims" || key == "Input type";
  if (is_of_inputs && !inputs_are_read(event.name)) return;
  if (key == "Input Dims") return read_shapes(value, event);
  if (key == "Input type") return read_first_text(value, event.input_type);
  if (key == "correlation") return read_number(value, event.correlation);
  if (key == "stream") return read_number(value, event.stream);
  if (key == "device" || key == "Device Id") return read_number(value, event.device);
  if (key == "bytes" || key == "Bytes") return read_number(value, event.bytes);
  if (key == "Device Type") return read_number(value, event.device_type);
  if (key == "Total Allocated") return read_number(value, event.total_allocated);
  if (key == "Total Reserved") return read_number(value, event.total_reserved);
  if (key == kDetailOfStep) return read_text(value, event.detail);
  if (key == "Collective name") return read_text(value, event.collective);
  if (key == "dtype") return read_text(value, event.data_type);
  if (key == "Process Group Name") return read_text(value, event.group);
  if (key == "Process Group Ranks") return read_text(value, event.group_ranks);
  if (key == "Group size") return read_number(value, event.group_size);
  if (key == "In msg nelems") return read_number(value, event.in_elements);
  if (key == "Out msg nelems") return read_number(value, event.out_elements);
  if (key == "Seq") return read_number(value, event.sequence);
  if (key == "Sequence number") return read_number(value, event.node_number);
  if (key == "Fwd thread id") return read_number(value, event.forward_thread);
}

// Up to PyTorch 1.10 what is marked with record_function is an operator, too: what PyTorch itself
// marks tells its name.
bool is_marked_by_pytorch(std::string_view name) {
  constexpr std::string_view kOwnMarks[] = {"ProfilerStep#", "enumerate(DataLoader)#",
                                            "Optimizer.",    "DistributedDataParallel.",
                                            "nccl:",         "gloo:",
                                            "mpi:"};
  return std::ranges::any_of(kOwnMarks,
                             [&](std::string_view mark) { return name.starts_with(mark); });
}

KinetoCategory category_of(const std::string& phase, const KinetoEvent& event) {
  if (event.name == "[memory]") return KinetoCategory::kMemory;
  if (phase != "X") return KinetoCategory::kFlow;
  // What the other events say already, once more.
  if (event.category_text == "gpu_user_annotation" || event.category_text == "Trace") {
    return KinetoCategory::kFlow;
  }
  for (const CategoryName& each : kCategories) {
    if (each.text != event.category_text) continue;
    const bool is_operator = each.category == KinetoCategory::kOperator;
    return is_operator && is_marked_by_pytorch(event.name) ? KinetoCategory::kAnnotation
                                                           : each.category;
  }
  return KinetoCategory::kOther;
}

void reset(KinetoEvent& event) {
  KinetoEvent empty;
  // The texts keep their memory from event to event.
  for (auto text : {&KinetoEvent::category_text, &KinetoEvent::name, &KinetoEvent::process,
                    &KinetoEvent::thread, &KinetoEvent::collective, &KinetoEvent::data_type,
                    &KinetoEvent::group, &KinetoEvent::group_ranks, &KinetoEvent::input_shape,
                    &KinetoEvent::input_type, &KinetoEvent::detail}) {
    (event.*text).clear();
    std::swap(event.*text, empty.*text);
  }
  event = std::move(empty);
}

}  // namespace

bool inputs_are_read(std::string_view event_name) {
  return is_gradient(event_name) || event_name.starts_with("c10d::") ||
         is_host_collective(event_name);
}

std::int64_t microseconds_to_ns(std::string_view text) {
  constexpr std::int64_t kMostWhole = INT64_MAX / 1000 - 1;
  std::int64_t whole = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, whole);
  if (error == std::errc::result_out_of_range)
    return text.front() == '-' ? INT64_MIN + 1 : INT64_MAX;
  if (error != std::errc()) return 0;
  whole = std::clamp(whole, -kMostWhole, kMostWhole);
  if (rest == end) return whole * 1000;
  if (*rest != '.' || text.find_first_of("eE") != std::string_view::npos) {
    double value = 0;
    std::from_chars(text.data(), end, value);
    return std::llround(std::clamp(value * 1000, -0x1p62, 0x1p62));
  }
  std::int64_t digits = 0;
  std::int64_t scale = 1000;
  const char* digit = rest + 1;
  for (; digit != end && scale > 1 && *digit >= '0' && *digit <= '9'; ++digit) {
    digits = digits * 10 + (*digit - '0');
    scale /= 10;
  }
  digits *= scale;
  if (digit != end && *digit >= '5' && *digit <= '9') ++digits;
  return text.front() == '-' ? whole * 1000 - digits : whole * 1000 + digits;
}

namespace {

// −1: a negative one, or no number.
std::int64_t duration_of(std::string_view token) {
  const bool is_number = !token.empty() && token.front() >= '0' && token.front() <= '9';
  return is_number ? microseconds_to_ns(token) : -1;
}

}  // namespace

struct KinetoParser::State {
  ondemand::parser parser;
  std::string phase;
};

KinetoParser::KinetoParser() : state_(std::make_unique<State>()) {}
KinetoParser::~KinetoParser() = default;

bool KinetoParser::parse(std::string_view text, KinetoEvent& event) try {
  reset(event);
  state_->phase.clear();
  auto document =
      state_->parser.iterate(text.data(), text.size(), text.size() + simdjson::SIMDJSON_PADDING);
  for (auto field : document.get_object()) {
    const std::string_view key = field.unescaped_key();
    ondemand::value value = field.value();
    if (key == "ph") {
      read_text(value, state_->phase);
    } else if (key == "cat") {
      read_text(value, event.category_text);
    } else if (key == "name") {
      read_text(value, event.name);
    } else if (key == "pid") {
      read_name_or_number(value, event.process);
    } else if (key == "tid") {
      read_name_or_number(value, event.thread);
    } else if (key == "ts") {
      event.start_ns = microseconds_to_ns(unquoted(token_of(value)));
    } else if (key == "dur") {
      event.duration_ns = duration_of(unquoted(token_of(value)));
    } else if (key == "args") {
      for (auto argument : value.get_object()) {
        const std::string_view name = argument.unescaped_key();
        read_argument(name, argument.value(), event);
      }
    }
  }
  event.category = category_of(state_->phase, event);
  return !state_->phase.empty();
} catch (const simdjson::simdjson_error&) {
  return false;
}

}  // namespace shardlens::trace::interop
