#include "trainer/checkpoint/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "trace/base/file_system.h"
#include "trace/base/text.h"

namespace shardlens::trainer::checkpoint {

using trace::base::ErrorKind;
using trace::base::fail;
using trace::base::quoted;
using trace::base::Result;

static_assert(std::endian::native == std::endian::little);

namespace {

struct TypeRow {
  std::string_view name;
  std::int64_t bytes;
};
// In the order of DataType.
constexpr std::array kTypes = {TypeRow{"F32", 4}, TypeRow{"F16", 2}, TypeRow{"BF16", 2},
                               TypeRow{"F64", 8}, TypeRow{"I64", 8}, TypeRow{"I32", 4},
                               TypeRow{"U8", 1},  TypeRow{"BOOL", 1}};
static_assert(kTypes.size() == kDataTypeCount);

constexpr std::int64_t kLengthBytes = 8;
// The reference implementation's limit.
constexpr std::uint64_t kLargestHeader = 100'000'000;

const TypeRow& row_of(DataType type) { return kTypes[static_cast<std::size_t>(type)]; }

std::string json_text(std::string_view text) {
  using nlohmann::json;
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

void append_entry(std::string& json, const TensorEntry& tensor) {
  json += json_text(tensor.name) + ":{\"dtype\":\"" + std::string(name_of(tensor.type)) +
          "\",\"shape\":[" + trace::base::joined(tensor.sizes, ",") + "],\"data_offsets\":[" +
          std::to_string(tensor.begin) + "," + std::to_string(tensor.end) + "]}";
}

}  // namespace

std::string_view name_of(DataType type) { return row_of(type).name; }
std::int64_t bytes_of(DataType type) { return row_of(type).bytes; }

std::optional<DataType> data_type_from(std::string_view name) {
  const auto at = std::ranges::find(kTypes, name, &TypeRow::name) - kTypes.begin();
  if (at == std::ssize(kTypes)) return std::nullopt;
  return static_cast<DataType>(at);
}

void FileLayout::encode() {
  std::int64_t at = 0;
  for (TensorEntry& tensor : tensors) {
    tensor.begin = at;
    at += std::accumulate(tensor.sizes.begin(), tensor.sizes.end(), bytes_of(tensor.type),
                          std::multiplies<>());
    tensor.end = at;
  }
  std::string json = "{\"__metadata__\":{";
  bool first = true;
  for (const auto& [key, text] : metadata) {
    if (!std::exchange(first, false)) json += ',';
    json += json_text(key) + ":" + json_text(text);
  }
  json += '}';
  for (const TensorEntry& tensor : tensors) {
    json += ',';
    append_entry(json, tensor);
  }
  json += '}';
  while (json.size() % 8 != 0) json += ' ';
  const std::uint64_t length = json.size();
  header.assign(kLengthBytes, '\0');
  std::memcpy(header.data(), &length, sizeof(length));
  header += json;
}

std::int64_t FileLayout::bytes() const {
  return std::ssize(header) + (tensors.empty() ? 0 : tensors.back().end);
}

Result<void> SafetensorsWriter::write_at(std::int64_t offset, std::span<const std::byte> bytes) {
  if (!file_) {
    TRY_ASSIGN(DiskFile created, DiskFile::create(path_, layout_.bytes()));
    file_.emplace(std::move(created));
  }
  return file_->write(offset, bytes);
}

Result<void> SafetensorsWriter::write(const TensorEntry& tensor, std::int64_t first,
                                      std::span<const std::byte> bytes) {
  return write_at(std::ssize(layout_.header) + tensor.begin + first * bytes_of(tensor.type), bytes);
}

Result<void> SafetensorsWriter::synchronize() {
  return file_ ? file_->synchronize() : Result<void>();
}

Result<void> SafetensorsWriter::write_header() {
  TRY(write_at(0, std::as_bytes(std::span(layout_.header))));
  return synchronize();
}

Result<FileLayout> write_safetensors(const std::filesystem::path& path,
                                     std::span<const TensorBytes> tensors, Metadata metadata) {
  FileLayout layout{path.filename().string(), {}, std::move(metadata), {}};
  for (const TensorBytes& tensor : tensors) layout.tensors.push_back(tensor.entry);
  layout.encode();
  SafetensorsWriter file(path, layout);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorEntry& entry = layout.tensors[i];
    if (std::ssize(tensors[i].bytes) != entry.end - entry.begin) {
      return fail(ErrorKind::kFailed, "tensor '" + entry.name + "' has other bytes than its shape");
    }
    TRY(file.write(entry, 0, tensors[i].bytes));
  }
  TRY(file.write_header());
  return layout;
}

SafetensorsFile::SafetensorsFile(DiskFile file, SafetensorsHeader header, std::int64_t data_start)
    : file_(std::move(file)), header_(std::move(header)), data_start_(data_start) {
  for (std::size_t i = 0; i < header_.tensors.size(); ++i) by_name_[header_.tensors[i].name] = i;
}

Result<SafetensorsFile> SafetensorsFile::open(const std::filesystem::path& path) {
  TRY_ASSIGN(DiskFile file, DiskFile::open(path));
  const std::string source = quoted(path);
  if (file.size() < kLengthBytes) {
    return fail(ErrorKind::kForeign, source + " is too short to be a safetensors file");
  }
  std::uint64_t length = 0;
  TRY(file.read(0, std::as_writable_bytes(std::span(&length, 1))));
  const std::int64_t rest = file.size() - kLengthBytes;
  if (length > kLargestHeader) {
    return fail(ErrorKind::kForeign, source +
                                         " is not a safetensors file, or its first bytes are "
                                         "damaged: a header of " +
                                         std::to_string(length) + " bytes");
  }
  if (length > static_cast<std::uint64_t>(rest)) {
    return fail(ErrorKind::kDamaged, source + " is cut off: its header has " +
                                         std::to_string(length) + " bytes, the file " +
                                         std::to_string(file.size()));
  }
  std::string json(length, '\0');
  TRY(file.read(kLengthBytes, std::as_writable_bytes(std::span(json))));
  const auto header_end = static_cast<std::int64_t>(length) + kLengthBytes;
  TRY_ASSIGN(SafetensorsHeader header, parse_header(json, file.size() - header_end, source));
  return SafetensorsFile(std::move(file), std::move(header), header_end);
}

const TensorEntry* SafetensorsFile::find(std::string_view name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? nullptr : &header_.tensors[at->second];
}

Result<void> SafetensorsFile::read(const TensorEntry& tensor, std::int64_t first,
                                   std::span<std::byte> bytes) const {
  const std::int64_t width = bytes_of(tensor.type);
  const std::int64_t numel = tensor.numel();
  const bool inside = first >= 0 && first <= numel && std::ssize(bytes) % width == 0 &&
                      std::ssize(bytes) / width <= numel - first;
  if (!inside) {
    return fail(ErrorKind::kFailed, "tensor '" + tensor.name + "' of " + quoted(path()) + " has " +
                                        std::to_string(numel) + " elements: asked for others");
  }
  const auto read = file_.read(data_start_ + tensor.begin + first * width, bytes);
  if (!read) {
    return fail(read.error().kind, "tensor '" + tensor.name + "': " + read.error().message);
  }
  return {};
}

}  // namespace shardlens::trainer::checkpoint
