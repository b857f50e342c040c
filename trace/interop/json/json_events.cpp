#include "trace/interop/json/json_events.h"

#include <zlib.h>

#include <cstring>

namespace shardlens::trace::interop {

namespace {

constexpr std::size_t kFirstBuffer = 4u << 20;
constexpr std::size_t kLargestPiece = 256u << 20;
constexpr unsigned kInflateBuffer = 256u << 10;
constexpr std::string_view kEventsKey = "traceEvents";

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

}  // namespace

void JsonEvents::Close::operator()(gzFile_s* file) const { gzclose(file); }

base::Result<JsonEvents> JsonEvents::open(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) {
    return base::fail(base::ErrorKind::kMissing, "there is no file '" + file.string() + "'");
  }
  if (!std::filesystem::is_regular_file(file, error)) {
    return base::fail(
        base::ErrorKind::kUsage,
        "'" + file.string() +
            "' is no file: name the traces themselves, .json or .json.gz, one per rank");
  }
  JsonEvents events(file);
  events.file_bytes_ = static_cast<std::int64_t>(std::filesystem::file_size(file, error));
  events.input_.reset(gzopen(file.c_str(), "rb"));
  if (!events.input_) {
    return base::fail(base::ErrorKind::kIo,
                      "cannot open '" + file.string() + "': " + std::strerror(errno));
  }
  gzbuffer(events.input_.get(), kInflateBuffer);
  events.buffer_.resize(kFirstBuffer + kPadding);
  return events;
}

double JsonEvents::progress() const {
  if (file_bytes_ <= 0 || read_all_) return 1;
  return static_cast<double>(gzoffset(input_.get())) / static_cast<double>(file_bytes_);
}

tl::unexpected<base::Error> JsonEvents::broken(const std::string& what) const {
  const auto kind = events_ > 0 ? base::ErrorKind::kDamaged : base::ErrorKind::kForeign;
  return base::fail(kind, "'" + file_.string() + "' " + what +
                              (events_ > 0 ? " after " + std::to_string(events_) + " events" : "") +
                              ": expected a trace of PyTorch's profiler (export_chrome_trace)");
}

// False: the file has ended.
base::Result<bool> JsonEvents::read_more() {
  if (read_all_) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ + kPadding >= buffer_.size()) {
    if (buffer_.size() > kLargestPiece) return broken("has a single value of more than 256 MiB");
    buffer_.resize(buffer_.size() * 2);
  }
  const auto room = static_cast<unsigned>(buffer_.size() - kPadding - end_);
  const int got = gzread(input_.get(), buffer_.data() + end_, room);
  if (got < 0) {
    int code = 0;
    const std::string reason = gzerror(input_.get(), &code);
    // A compressed file that was cut off: what could be unpacked counts.
    if (code != Z_BUF_ERROR) return broken("cannot be unpacked (" + reason + ")");
  }
  if (got > 0) end_ += static_cast<std::size_t>(got);
  read_all_ = got <= 0;
  return got > 0;
}

// The next character that is neither space nor comma; 0 at the end of the file.
base::Result<char> JsonEvents::peek() {
  for (;;) {
    while (begin_ < end_ && (is_space(buffer_[begin_]) || buffer_[begin_] == ',')) ++begin_;
    if (begin_ < end_) return buffer_[begin_];
    TRY_ASSIGN(const bool more, read_more());
    if (!more) return '\0';
  }
}

// `at`, from begin_, is behind an opening quote and then behind the closing one. False: the file
// ends before.
base::Result<bool> JsonEvents::find_string_end(std::size_t& at) {
  std::size_t backslashes = 0;
  for (;;) {
    if (begin_ + at >= end_) {
      TRY_ASSIGN(const bool more, read_more());
      if (!more) return false;
    }
    const char c = buffer_[begin_ + at++];
    if (c == '"' && backslashes % 2 == 0) return true;
    backslashes = c == '\\' ? backslashes + 1 : 0;
  }
}

// The length of the value at begin_; 0: the file ends within it.
base::Result<std::size_t> JsonEvents::measure_value() {
  std::size_t at = 0;
  int depth = 0;
  for (;;) {
    if (begin_ + at >= end_) {
      TRY_ASSIGN(const bool more, read_more());
      if (!more) return std::size_t{0};
    }
    switch (buffer_[begin_ + at++]) {
      case '"': {
        TRY_ASSIGN(const bool ended, find_string_end(at));
        if (!ended) return std::size_t{0};
        if (depth == 0) return at;
        break;
      }
      case '{':
      case '[':
        ++depth;
        break;
      case '}':
      case ']':
        if (depth == 0) return at - 1;  // behind a number
        if (--depth == 0) return at;
        break;
      case ',':
        if (depth == 0) return at - 1;
        break;
      default:
        break;
    }
  }
}

base::Result<void> JsonEvents::start() {
  TRY_ASSIGN(const char first, peek());
  if (first != '{' && first != '[') return broken("is not JSON");
  in_object_ = first == '{';
  ++begin_;
  state_ = in_object_ ? State::kMembers : State::kEvents;
  return {};
}

std::optional<JsonEvents::Piece> JsonEvents::end_early() {
  cut_off_ = true;
  state_ = State::kEnd;
  return std::nullopt;
}

base::Result<std::optional<JsonEvents::Piece>> JsonEvents::next_event() {
  TRY_ASSIGN(const char first, peek());
  if (first == '\0') return end_early();
  if (first == ']') {
    ++begin_;
    state_ = in_object_ ? State::kMembers : State::kEnd;
    return next();
  }
  if (first != '{') return broken("is not a list of events");
  TRY_ASSIGN(const std::size_t length, measure_value());
  if (length == 0) return end_early();
  ++events_;
  const std::string_view text(buffer_.data() + begin_, length);
  begin_ += length;
  return Piece{true, {}, text};
}

base::Result<std::optional<JsonEvents::Piece>> JsonEvents::next_member() {
  TRY_ASSIGN(const char first, peek());
  if (first == '\0') return end_early();
  if (first == '}') {
    state_ = State::kEnd;
    return std::nullopt;
  }
  if (first != '"') return broken("is not JSON");
  TRY_ASSIGN(const std::size_t key_length, measure_value());
  if (key_length == 0) return end_early();
  key_.assign(buffer_.data() + begin_ + 1, key_length - 2);
  begin_ += key_length;
  TRY_ASSIGN(const char colon, peek());
  if (colon != ':') return broken("is not JSON");
  ++begin_;
  TRY_ASSIGN(const char value, peek());
  if (key_ == kEventsKey && value == '[') {
    ++begin_;
    state_ = State::kEvents;
    return next();
  }
  TRY_ASSIGN(const std::size_t length, measure_value());
  if (length == 0) return end_early();
  const std::string_view text(buffer_.data() + begin_, length);
  begin_ += length;
  return Piece{false, key_, text};
}

base::Result<std::optional<JsonEvents::Piece>> JsonEvents::next() {
  if (state_ == State::kStart) TRY(start());
  if (state_ == State::kEvents) return next_event();
  if (state_ == State::kMembers) return next_member();
  return std::nullopt;
}

}  // namespace shardlens::trace::interop
