#include "trainer/checkpoint/stored_state.h"

#include <algorithm>

#include "trace/base/checksum.h"
#include "trace/base/file_system.h"
#include "trace/base/text.h"

namespace shardlens::trainer::checkpoint {

using trace::base::ErrorKind;
using trace::base::fail;
using trace::base::quoted;
using trace::base::Result;

namespace {

tl::unexpected<trace::base::Error> damaged(const std::filesystem::path& file,
                                           const std::string& tensor, const std::string& why) {
  return fail(ErrorKind::kDamaged, quoted(file) + ": tensor '" + tensor + "' " + why +
                                       "; the checkpoint is damaged, use another one");
}

Result<std::vector<ChecksumRange>> checksums_of(const SafetensorsFile& file,
                                                const TensorEntry& tensor) {
  const auto text = file.metadata().find(std::string(kChecksumsKey) + tensor.name);
  if (text == file.metadata().end()) return damaged(file.path(), tensor.name, "has no checksums");
  auto ranges = checksums_from_text(text->second, tensor.numel());
  if (!ranges) return damaged(file.path(), tensor.name, "has no valid checksums");
  return std::move(*ranges);
}

}  // namespace

Result<void> read_verified(const SafetensorsFile& file, const TensorEntry& tensor,
                           std::int64_t begin, std::int64_t end, const ElementSink& sink) {
  const std::int64_t width = bytes_of(tensor.type);
  TRY_ASSIGN(const std::vector<ChecksumRange> ranges, checksums_of(file, tensor));
  std::vector<std::byte> buffer;
  for (const ChecksumRange& range : ranges) {
    const std::int64_t from = std::max(begin, range.begin);
    const std::int64_t to = std::min(end, range.end);
    if (from >= to) continue;
    buffer.resize(static_cast<std::size_t>((range.end - range.begin) * width));
    TRY(file.read(tensor, range.begin, buffer));
    if (trace::base::checksum_of(buffer) != range.checksum) {
      return damaged(file.path(), tensor.name,
                     "has changed between elements " + std::to_string(range.begin) + " and " +
                         std::to_string(range.end) + " since it was saved");
    }
    sink(from, std::span(buffer).subspan(static_cast<std::size_t>((from - range.begin) * width),
                                         static_cast<std::size_t>((to - from) * width)));
  }
  return {};
}

Result<StoredState> StoredState::open(const trace::job::CheckpointInfo& info) {
  StoredState state;
  state.folder_ = quoted(info.folder);
  std::map<std::string, std::int64_t> numels;
  for (const trace::job::ParameterShape& parameter : info.parameters) {
    numels[parameter.name] = parameter.numel();
  }
  for (const trace::job::CheckpointFile& file : info.files) {
    const bool is_optimizer = file.name.starts_with(kOptimizerPrefix);
    if (!is_optimizer && !file.name.starts_with(kModelPrefix)) continue;
    TRY(state.add_file(info.folder / file.name, is_optimizer, numels));
  }
  for (auto& [key, parts] : state.parts_) std::ranges::sort(parts, {}, &Part::begin);
  return state;
}

Result<void> StoredState::add_file(const std::filesystem::path& path, bool is_optimizer,
                                   const std::map<std::string, std::int64_t>& numels) {
  TRY_ASSIGN(SafetensorsFile file, SafetensorsFile::open(path));
  for (const TensorEntry& tensor : file.tensors()) {
    StoredName name = parse_stored_name(tensor.name, is_optimizer);
    const auto numel = numels.find(name.parameter);
    if (numel == numels.end()) return damaged(path, tensor.name, "is no parameter of its model");
    const auto [begin, end] = name.range.value_or(std::pair(std::int64_t{0}, numel->second));
    if (end > numel->second || end - begin != tensor.numel()) {
      return damaged(path, tensor.name, "does not fit the parameter's shape");
    }
    parts_[{name.parameter, name.slot}].push_back({files_.size(), tensor, begin, end});
  }
  for (const auto& [key, text] : file.metadata()) {
    if (!key.starts_with(kStepsKey)) continue;
    const auto steps = trace::base::number_from<double>(text);
    if (!steps) {
      return damaged(path, key.substr(kStepsKey.size()), "has no number of optimizer steps");
    }
    steps_[key.substr(kStepsKey.size())] = *steps;
  }
  files_.push_back(std::move(file));
  return {};
}

bool StoredState::holds(const std::string& parameter, Slot slot) const {
  return parts_.contains({parameter, slot});
}

Result<DataType> StoredState::type_of(const std::string& parameter, Slot slot) const {
  const std::vector<Part>& parts = parts_.at({parameter, slot});
  for (const Part& part : parts) {
    if (part.tensor.type != parts.front().tensor.type) {
      return damaged(files_[part.file].path(), part.tensor.name, "has another type than its rest");
    }
  }
  return parts.front().tensor.type;
}

Result<void> StoredState::read(const std::string& parameter, Slot slot, std::int64_t begin,
                               std::int64_t end, const ElementSink& sink) const {
  std::int64_t at = begin;
  for (const Part& part : parts_.at({parameter, slot})) {
    const std::int64_t from = std::max(at, part.begin);
    const std::int64_t to = std::min(end, part.end);
    if (from != at || from >= to) continue;
    const ElementSink shifted = [&](std::int64_t first, std::span<const std::byte> bytes) {
      sink(first + part.begin, bytes);
    };
    TRY(read_verified(files_[part.file], part.tensor, from - part.begin, to - part.begin, shifted));
    at = to;
  }
  if (at >= end) return {};
  return fail(ErrorKind::kDamaged, folder_ + ": no file holds '" + parameter +
                                       std::string(suffix_of(slot)) + "' from element " +
                                       std::to_string(at) +
                                       " on; the checkpoint is damaged, use another one");
}

Result<double> StoredState::optimizer_steps(const std::string& parameter) const {
  const auto found = steps_.find(parameter);
  if (found != steps_.end()) return found->second;
  return fail(ErrorKind::kDamaged, folder_ + ": no file says how many optimizer steps '" +
                                       parameter + "' had; use another checkpoint");
}

}  // namespace shardlens::trainer::checkpoint
