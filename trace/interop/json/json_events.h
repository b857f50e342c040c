// Reads a Chrome trace, plain or gzip, piece by piece: every event and every other member of the
// top level as its JSON text, so that memory stays that of one event however long the file is. One
// thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/result.h"

struct gzFile_s;

namespace shardlens::trace::interop {

class JsonEvents {
 public:
  // Bytes that may be read behind a piece, as simdjson wants.
  static constexpr std::size_t kPadding = 64;

  // Error kMissing: no such file; kIo: not readable.
  static base::Result<JsonEvents> open(const std::filesystem::path& file);

  struct Piece {
    bool is_event = false;
    std::string_view key;   // of a member; "" for an event
    std::string_view text;  // valid until the next call
  };
  // Nothing: the end. Errors: kForeign if this is no trace, kDamaged where it stops to be one.
  base::Result<std::optional<Piece>> next();

  // The file ended within an event, as that of a killed process does; all before it was given.
  bool was_cut_off() const { return cut_off_; }
  // How far reading has come, from 0 to 1.
  double progress() const;

 private:
  enum class State : std::uint8_t { kStart, kMembers, kEvents, kEnd };
  struct Close {
    void operator()(gzFile_s* file) const;
  };

  explicit JsonEvents(std::filesystem::path file) : file_(std::move(file)) {}
  base::Result<bool> read_more();
  base::Result<char> peek();
  base::Result<std::size_t> measure_value();
  base::Result<bool> find_string_end(std::size_t& at);
  base::Result<std::optional<Piece>> next_event();
  base::Result<std::optional<Piece>> next_member();
  base::Result<void> start();
  std::optional<Piece> end_early();
  tl::unexpected<base::Error> broken(const std::string& what) const;

  std::filesystem::path file_;
  std::unique_ptr<gzFile_s, Close> input_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  std::int64_t file_bytes_ = 0, events_ = 0;
  State state_ = State::kStart;
  bool in_object_ = false;  // a bare array of events is a trace, too
  bool cut_off_ = false;
  bool read_all_ = false;
  std::string key_;
};

}  // namespace shardlens::trace::interop
