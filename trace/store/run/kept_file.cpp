#include "trace/store/run/kept_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <system_error>
#include <utility>

#include "trace/base/checksum.h"
#include "trace/base/file_system.h"
#include "trace/store/run/kept_values.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::trace::store {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLargestKept = std::size_t{256} << 20;
using Checksum = std::uint64_t;

// Another build of the program may lay out or define the figures in another way.
std::string kept_key(const RunStamp& stamp) {
  const base::FileStamp program = base::stamp_of("/proc/self/exe");
  KeptWriter key;
  key.value(program.size);
  key.value(program.modified_ns);
  key.value(program.inode);
  key.value(stamp.newest.time_since_epoch().count());
  key.value(stamp.files);
  return key.bytes();
}

// Apart from the content, so that it can say of the same content that it holds for another state
// of the run.
std::string header_of(const RunStamp& stamp, Checksum of_content) {
  KeptWriter claims;
  claims.value(of_content);
  const std::string all = claims.bytes() + kept_key(stamp);
  KeptWriter checksum;
  checksum.value(Checksum{base::checksum_of(all)});
  return checksum.bytes() + all;
}

Checksum content_checksum_in(std::string_view header) {
  Checksum checksum = 0;
  if (header.size() < 2 * sizeof checksum) return checksum;
  std::memcpy(&checksum, header.data() + sizeof checksum, sizeof checksum);
  return checksum;
}

// Never through a link: runs and libraries come from elsewhere, too.
base::Descriptor open_kept(const fs::path& file, int flags) {
  return base::Descriptor(::open(file.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
}

std::string read_part(const base::Descriptor& file, std::size_t bytes, off_t at = 0) {
  std::string text(bytes, '\0');
  const ssize_t got = ::pread(file.get(), text.data(), bytes, at);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

bool write_part(const base::Descriptor& file, std::string_view bytes, off_t at) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(file.get(), bytes.data(), bytes.size(), at);
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
    at += put;
  }
  return true;
}

// Of a packed run it lies beside it, in folders that are ours.
bool can_lie_in(const fs::path& run, const fs::path& folder) {
  std::error_code error;
  if (fs::is_directory(run, error)) return true;
  if (!fs::exists(run, error)) return false;
  const auto make_own = [&](const fs::path& one) {
    fs::create_directory(one, error);
    return fs::is_directory(fs::symlink_status(one, error));
  };
  return make_own(folder.parent_path()) && make_own(folder);
}

bool write_new(const fs::path& file, std::string_view header, std::string_view content) {
  std::error_code ignored;
  fs::remove(file, ignored);  // of a process that ended meanwhile
  base::Descriptor output = open_kept(file, O_WRONLY | O_CREAT | O_EXCL);
  return output.is_open() && write_part(output, header, 0) &&
         write_part(output, content, static_cast<off_t>(header.size())) && output.close();
}

}  // namespace

RunStamp run_stamp(const fs::path& run) {
  RunStamp stamp;
  std::error_code error;
  const auto add = [&](const fs::path& file) {
    std::error_code gone;
    const auto time = fs::last_write_time(file, gone);
    if (gone) return;
    stamp.newest = std::max(stamp.newest, time);
    const base::FileStamp now = base::stamp_of(file);
    // In whatever order the folder lists them.
    stamp.files +=
        base::checksum_of(file.filename().string() + "/" + std::to_string(now.size) + "/" +
                          std::to_string(now.modified_ns) + "/" + std::to_string(now.inode));
    if (file == run || file.filename() == kRunFile) stamp.inode = now.inode;
  };
  if (!fs::is_directory(run, error)) {
    add(run);
    add(base::beside(run, "-wal"));
    return stamp;
  }
  for (fs::directory_iterator entry(run, error), end; !error && entry != end;
       entry.increment(error)) {
    // Not -shm, which readers touch, nor logs.
    const auto extension = entry->path().extension().string();
    if (extension == ".sqlite" || extension == ".sqlite-wal") add(entry->path());
  }
  return stamp;
}

bool was_just_written(const RunStamp& stamp) {
  constexpr std::chrono::seconds kQuietFolder(10);  // a recorder writes several times a second
  const auto now = fs::file_time_type::clock::now();
  // What lies in the future is from before the clock was set back.
  return stamp.newest > now - kQuietFolder && stamp.newest < now + kQuietFolder;
}

bool is_settled(const fs::path& run, const RunStamp& stamp) {
  return !was_just_written(stamp) && run_stamp(run) == stamp;
}

fs::path kept_path(const fs::path& run, std::string_view name) {
  std::error_code error;
  if (fs::is_directory(run, error)) return run / name;
  return run.parent_path() / kKeptFolder / run.filename() / name;
}

std::optional<std::string> read_kept(const fs::path& run, std::string_view name,
                                     const RunStamp& stamp) {
  const fs::path file = kept_path(run, name);
  const auto size = static_cast<std::size_t>(base::file_size_or_zero(file));
  const base::Descriptor input = open_kept(file, O_RDONLY);
  if (size > kLargestKept || !input.is_open()) return std::nullopt;
  const std::string header = read_part(input, header_of(stamp, 0).size());
  const Checksum of_content = content_checksum_in(header);
  if (header != header_of(stamp, of_content) || size < header.size()) return std::nullopt;
  std::string content = read_part(input, size - header.size(), static_cast<off_t>(header.size()));
  if (base::checksum_of(content) != of_content) return std::nullopt;
  return content;
}

void keep(const fs::path& run, std::string_view name, const RunStamp& stamp,
          std::string_view content) {
  const std::string header = header_of(stamp, base::checksum_of(content));
  if (header.size() + content.size() > kLargestKept) return;
  const fs::path file = kept_path(run, name);
  if (!can_lie_in(run, file.parent_path())) return;
  const fs::path fresh =
      base::beside(file, "." + std::to_string(gettid()));  // threads keep the same, too
  std::error_code error;
  const bool is_written = write_new(fresh, header, content);
  if (is_written) fs::rename(fresh, file, error);
  if (!is_written || error) fs::remove(fresh, error);
}

void keep_on(const fs::path& run, std::string_view name, const RunStamp& before,
             const RunStamp& now) {
  const base::Descriptor file = open_kept(kept_path(run, name), O_RDWR);
  if (!file.is_open()) return;
  const std::string there = read_part(file, header_of(before, 0).size());
  const Checksum of_content = content_checksum_in(there);
  // Whoever reads it in between finds a header that is not whole, or of another state.
  if (there == header_of(before, of_content)) write_part(file, header_of(now, of_content), 0);
}

void drop_kept_of_gone_runs(const fs::path& folder) {
  std::error_code error;
  // Never through a link: libraries come from elsewhere, too.
  if (!fs::is_directory(fs::symlink_status(folder / kKeptFolder, error))) return;
  for (fs::directory_iterator entry(folder / kKeptFolder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    const auto run = folder / entry->path().filename();
    const bool is_gone = fs::symlink_status(run, ignored).type() == fs::file_type::not_found;
    if (is_gone) fs::remove_all(entry->path(), ignored);
  }
}

}  // namespace shardlens::trace::store
