// The safetensors format: 8 bytes header length (little-endian), a JSON header of names, types,
// shapes and positions, then the tensors' bytes. Knows no LibTorch. One owner at a time, reading
// any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/base/result.h"
#include "trainer/checkpoint/disk_file.h"

namespace shardlens::trainer::checkpoint {

enum class DataType { kF32, kF16, kBF16, kF64, kI64, kI32, kU8, kBool };
inline constexpr std::size_t kDataTypeCount = static_cast<std::size_t>(DataType::kBool) + 1;
std::string_view name_of(DataType type);  // "BF16", as in the header
std::optional<DataType> data_type_from(std::string_view name);
std::int64_t bytes_of(DataType type);

struct TensorEntry {
  std::string name;
  DataType type = DataType::kF32;
  std::vector<std::int64_t> sizes;
  std::int64_t begin = 0;  // bytes, counted from the end of the header
  std::int64_t end = 0;

  std::int64_t numel() const { return (end - begin) / bytes_of(type); }
};

using Metadata = std::map<std::string, std::string>;

// A file that is to be written.
struct FileLayout {
  std::string name;
  std::vector<TensorEntry> tensors;
  Metadata metadata;
  std::string header;  // with the length before it; padded to a multiple of 8

  // Places the tensors one after another, in their order, and makes the header of what is above.
  void encode();
  std::int64_t bytes() const;  // of the whole file
};

struct SafetensorsHeader {
  std::vector<TensorEntry> tensors;  // in the order of their bytes
  Metadata metadata;
};
// `json` without the length; `data_bytes` follow it. Refused: anything but the format, a type that
// is not above, a name given twice, sizes that do not match the bytes, overlaps, gaps. Errors start
// with `source`. Allocates in proportion to `json`.
trace::base::Result<SafetensorsHeader> parse_header(std::string_view json, std::int64_t data_bytes,
                                                    const std::string& source);

// One process's part in writing a file, of which others may write the rest. Creates the file when
// there is something to write.
class SafetensorsWriter {
 public:
  // `layout`, encoded, outlives it.
  SafetensorsWriter(std::filesystem::path path, const FileLayout& layout)
      : path_(std::move(path)), layout_(layout) {}

  // The elements [first, first + bytes.size() / width) of the flattened tensor of the layout.
  trace::base::Result<void> write(const TensorEntry& tensor, std::int64_t first,
                                  std::span<const std::byte> bytes);
  // Waits until what was written is on the disk.
  trace::base::Result<void> synchronize();
  // Makes it a safetensors file, which without its header it is not. One process calls it, once all
  // tensors are on the disk or were written here. Waits for the disk.
  trace::base::Result<void> write_header();

 private:
  trace::base::Result<void> write_at(std::int64_t offset, std::span<const std::byte> bytes);

  std::filesystem::path path_;
  const FileLayout& layout_;
  std::optional<DiskFile> file_;
};

// Writes a whole file of tensors that are in memory, and waits until it is on the disk. Returns its
// layout.
struct TensorBytes {
  TensorEntry entry;
  std::span<const std::byte> bytes;
};
trace::base::Result<FileLayout> write_safetensors(const std::filesystem::path& path,
                                                  std::span<const TensorBytes> tensors,
                                                  Metadata metadata);

// Reads only the header, then what is asked for.
class SafetensorsFile {
 public:
  static trace::base::Result<SafetensorsFile> open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return file_.path(); }
  const std::vector<TensorEntry>& tensors() const { return header_.tensors; }
  const Metadata& metadata() const { return header_.metadata; }
  const TensorEntry* find(std::string_view name) const;  // null: there is none of that name

  // The elements [first, first + bytes.size() / width) of the flattened tensor of this file.
  trace::base::Result<void> read(const TensorEntry& tensor, std::int64_t first,
                                 std::span<std::byte> bytes) const;

 private:
  SafetensorsFile(DiskFile file, SafetensorsHeader header, std::int64_t data_start);

  DiskFile file_;
  SafetensorsHeader header_;
  std::int64_t data_start_ = 0;
  std::map<std::string, std::size_t, std::less<>> by_name_;
};

}  // namespace shardlens::trainer::checkpoint
