#include "trainer/loop/step_failure.h"

#include <c10/util/Exception.h>

#include <array>
#include <new>
#include <span>
#include <string_view>

namespace shardlens::trainer::loop {

namespace {

// Without the backtrace that c10 appends, and on one line: the last line of a log is the reason.
std::string message_of(const std::exception& failure) {
  const auto* error = dynamic_cast<const c10::Error*>(&failure);
  std::string text = error != nullptr ? error->what_without_backtrace() : failure.what();
  if (const auto end = text.find("\nException raised from"); end != std::string::npos) {
    text.resize(end);
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

bool contains_any(std::string_view text, std::span<const std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (text.find(part) != std::string_view::npos) return true;
  }
  return false;
}

bool is_out_of_memory(const std::exception& failure, std::string_view text) {
  // c10's allocator on the CPU throws a plain error.
  static constexpr std::array<std::string_view, 3> kParts{"can't allocate memory",
                                                          "not enough memory", "out of memory"};
  return dynamic_cast<const c10::OutOfMemoryError*>(&failure) != nullptr ||
         dynamic_cast<const std::bad_alloc*>(&failure) != nullptr || contains_any(text, kParts);
}

bool is_lost_connection(const std::exception& failure, std::string_view text) {
  static constexpr std::array<std::string_view, 5> kParts{
      "Connection closed by peer", "Connection reset by peer", "Connection refused", "Broken pipe",
      "remote process exited"};
  return dynamic_cast<const c10::DistBackendError*>(&failure) != nullptr ||
         contains_any(text, kParts);
}

bool is_timeout(std::string_view text) {
  static constexpr std::array<std::string_view, 3> kParts{"Timed out waiting", "timed out",
                                                          "timeout"};
  return contains_any(text, kParts);
}

}  // namespace

trace::base::Error describe_failure(const std::exception& failure, const std::string& where,
                                    const ExplainMemory& explain_memory) {
  const std::string text = message_of(failure);
  std::string message = where + ": ";
  if (is_out_of_memory(failure, text)) {
    const std::string known = explain_memory ? explain_memory(text) : std::string();
    message += known.empty() ? "out of memory. Lower batch_per_rank or sequence_length, or choose "
                               "a smaller model."
                             : known;
    message += " (" + text + ")";
  } else if (text.starts_with("collective ")) {
    message += text;  // the communicator has explained it already
  } else if (is_timeout(text)) {
    message +=
        "a collective did not finish within collective_timeout_s: another rank did not "
        "arrive. (" +
        text + ")";
  } else if (is_lost_connection(failure, text)) {
    message += "the connection to another rank was lost; that rank's log says why. (" + text + ")";
  } else {
    message += text;
  }
  return {trace::base::ErrorKind::kFailed, message};
}

std::string place_name(std::int64_t step, trace::base::Phase phase) {
  std::string place = "step " + std::to_string(step);
  if (phase != trace::base::Phase::kOther)
    place += ", " + std::string(trace::base::to_string(phase));
  return place;
}

}  // namespace shardlens::trainer::loop
