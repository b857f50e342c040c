#include "app/session/record_cache.h"

#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>

#include "trace/store/checksum.h"
#include "trace/store/file_system.h"

namespace shardlens::app {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kLargestCache = std::int64_t{256} << 20;
constexpr std::size_t kChecksumBytes = sizeof(std::uint64_t);

// Values as they lie in memory: nobody but the same program reads them.
class RecordCacheWriter {
 public:
  template <typename Value>
  void value(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  template <typename List, typename Each>
  void list(const List& list, Each&& each) {
    value(list.size());
    for (const auto& item : list) each(item);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class RecordCacheReader {
 public:
  explicit RecordCacheReader(std::string_view bytes) : rest_(bytes) {}
  template <typename Value>
  void value(Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    is_whole_ = is_whole_ && rest_.size() >= sizeof(value);
    if (!is_whole_) return;
    std::memcpy(&value, rest_.data(), sizeof(value));
    rest_.remove_prefix(sizeof(value));
  }
  template <typename List, typename Each>
  void list(List& list, Each&& each) {
    auto count = list.size();
    value(count);
    is_whole_ = is_whole_ && count <= rest_.size();
    if (!is_whole_) return;
    list.resize(count);
    for (auto& item : list) each(item);
  }
  bool has_all() const { return is_whole_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool is_whole_ = true;
};

// What the run's own file says, so that it is not opened to list it. The names of all members, here
// and below, so that none is forgotten.
template <typename Cache, typename Info>
void each_value_of_info(Cache& cache, Info& info) {
  const auto value = [&](auto& one) { cache.value(one); };
  const auto text = [&](auto& one) { cache.list(one, value); };
  auto& [name, folder, status, reason, start_ns, end_ns, device, world_size, recorded_ranks,
         program, imported_from, command, settings, simulated_link, shared_gpu, communication_off,
         note, tags, unreadable] = info;
  for (auto* one : {&name, &reason, &device, &program, &imported_from, &command, &note}) text(*one);
  value(status);
  value(start_ns);
  value(end_ns);
  value(world_size);
  value(recorded_ranks);
  value(simulated_link);
  value(shared_gpu);
  value(communication_off);
  cache.list(tags, text);
  cache.list(unreadable, text);
  for (const trace::Knob& knob : trace::knobs()) {
    std::visit(
        [&](auto member) {
          if constexpr (requires { (settings.*member).size(); }) {
            text(settings.*member);
          } else {
            value(settings.*member);
          }
        },
        knob.member);
  }
}

// All but what only the library knows: where the run lies, and its number.
template <typename Cache, typename Record>
void each_cached_value(Cache& cache, Record& record) {
  const auto value = [&](auto& one) { cache.value(one); };
  auto& [info, summary, peak, noise, hosts, devices, losses, pulse, is_bundled, number] = record;
  each_value_of_info(cache, info);
  value(summary);
  value(peak);
  value(noise);
  cache.list(hosts, value);
  cache.list(devices, value);
  cache.list(losses, value);
  auto& [status, start_ns, alive_ns, world_size, processes] = pulse;
  value(status);
  value(start_ns);
  value(alive_ns);
  value(world_size);
  cache.list(processes, [&](auto& process) {
    auto& [host, id] = process;
    cache.list(host, value);
    value(id);
  });
}

// Another build of the program may lay out or define the figures in another way.
std::string record_cache_key(const RunStamp& stamp) {
  const auto program = trace::stamp_of("/proc/self/exe");
  RecordCacheWriter key;
  key.value(program.size);
  key.value(program.modified_ns);
  key.value(program.inode);
  key.value(stamp.newest.time_since_epoch().count());
  key.value(stamp.files);
  return key.bytes();
}

std::string checksum_bytes(std::string_view content) {
  RecordCacheWriter checksum;
  checksum.value(trace::checksum_of(content));
  return checksum.bytes();
}

}  // namespace

std::optional<RunRecord> kept_record(const fs::path& run, const RunStamp& stamp) {
  const fs::path file = run / kRecordCacheFile;
  if (const auto size = trace::file_size_or_zero(file); size == 0 || size > kLargestCache) {
    return std::nullopt;
  }
  std::ifstream input(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(input), {}};
  std::string_view content = bytes;
  if (content.size() < kChecksumBytes) return std::nullopt;
  content.remove_prefix(kChecksumBytes);
  const std::string key = record_cache_key(stamp);
  if (!bytes.starts_with(checksum_bytes(content)) || !content.starts_with(key)) return std::nullopt;
  content.remove_prefix(key.size());
  RunRecord record;
  RecordCacheReader reader(content);
  each_cached_value(reader, record);
  if (!reader.has_all()) return std::nullopt;
  record.info.folder = run.string();
  return record;
}

void keep_record(const RunRecord& record, const RunStamp& stamp) {
  std::error_code error;
  if (!fs::is_directory(record.info.folder, error)) return;
  RecordCacheWriter writer;
  each_cached_value(writer, record);
  const std::string content = record_cache_key(stamp) + writer.bytes();
  // Complete or not at all, whoever else looks at the same run.
  const fs::path file = fs::path(record.info.folder) / kRecordCacheFile;
  const fs::path fresh = trace::beside(file, "." + std::to_string(getpid()));
  std::ofstream output(fresh, std::ios::binary);
  output << checksum_bytes(content) << content;
  output.close();
  if (output) fs::rename(fresh, file, error);
  if (!output || error) fs::remove(fresh, error);
}

}  // namespace shardlens::app
