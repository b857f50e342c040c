#include "trace/store/kept_file.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <system_error>

#include "trace/store/checksum.h"
#include "trace/store/file_system.h"
#include "trace/store/kept_values.h"

namespace shardlens::trace {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kLargestKept = std::int64_t{256} << 20;
constexpr std::size_t kChecksumBytes = sizeof(std::uint64_t);

// Another build of the program may lay out or define the figures in another way.
std::string kept_key(const RunStamp& stamp) {
  const FileStamp program = stamp_of("/proc/self/exe");
  KeptWriter key;
  key.value(program.size);
  key.value(program.modified_ns);
  key.value(program.inode);
  key.value(stamp.newest.time_since_epoch().count());
  key.value(stamp.files);
  return key.bytes();
}

std::string checksum_bytes(std::string_view content) {
  KeptWriter checksum;
  checksum.value(checksum_of(content));
  return checksum.bytes();
}

}  // namespace

RunStamp run_stamp(const fs::path& run) {
  RunStamp stamp;
  std::error_code error;
  const auto add = [&stamp](const fs::path& file) {
    std::error_code gone;
    const auto time = fs::last_write_time(file, gone);
    if (gone) return;
    stamp.newest = std::max(stamp.newest, time);
    const FileStamp now = stamp_of(file);
    // In whatever order the folder lists them.
    stamp.files += checksum_of(file.filename().string() + "/" + std::to_string(now.size) + "/" +
                               std::to_string(now.modified_ns) + "/" + std::to_string(now.inode));
  };
  if (!fs::is_directory(run, error)) {
    add(run);
    add(beside(run, "-wal"));
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
  return stamp.newest > fs::file_time_type::clock::now() - kQuietFolder;
}

fs::path kept_path(const fs::path& run, std::string_view name) {
  std::error_code error;
  if (fs::is_directory(run, error)) return run / name;
  return run.parent_path() / kKeptFolder / run.filename() / name;
}

std::optional<std::string> read_kept(const fs::path& run, std::string_view name,
                                     const RunStamp& stamp) {
  const fs::path file = kept_path(run, name);
  if (const auto size = file_size_or_zero(file); size == 0 || size > kLargestKept) {
    return std::nullopt;
  }
  std::ifstream input(file, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(input), {}};
  std::string_view content = bytes;
  if (content.size() < kChecksumBytes) return std::nullopt;
  content.remove_prefix(kChecksumBytes);
  const std::string key = kept_key(stamp);
  if (!bytes.starts_with(checksum_bytes(content)) || !content.starts_with(key)) return std::nullopt;
  bytes.erase(0, kChecksumBytes + key.size());
  return bytes;
}

void keep(const fs::path& run, std::string_view name, const RunStamp& stamp,
          std::string_view content) {
  std::error_code error;
  const std::string all = kept_key(stamp) + std::string(content);
  if (all.size() + kChecksumBytes > static_cast<std::size_t>(kLargestKept)) return;
  const fs::path file = kept_path(run, name);
  if (!fs::exists(run, error)) return;
  fs::create_directories(file.parent_path(), error);
  const fs::path fresh =
      beside(file, "." + std::to_string(gettid()));  // threads keep the same, too
  std::ofstream output(fresh, std::ios::binary);
  output << checksum_bytes(all) << all;
  output.close();
  if (output) fs::rename(fresh, file, error);
  if (!output || error) fs::remove(fresh, error);
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

}  // namespace shardlens::trace
