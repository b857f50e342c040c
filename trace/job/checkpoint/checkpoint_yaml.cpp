// How the facts of a checkpoint stand in its file: YAML, whose last line is a checksum of the rest.
#include <yaml-cpp/yaml.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trace/base/checksum.h"
#include "trace/base/printable.h"
#include "trace/job/checkpoint/checkpoint_info.h"

namespace shardlens::trace::job {

namespace {

constexpr int kCheckpointVersion = 1;
constexpr std::string_view kChecksumKey = "checksum: ";

// Reads the values of one map; the first that is missing or wrong is kept as the error.
class CheckpointFields {
 public:
  CheckpointFields(const YAML::Node& map, std::string source)
      : map_(map), source_(std::move(source)) {}

  YAML::Node node(const char* key) {
    const YAML::Node found = map_.IsMap() ? map_[key] : YAML::Node();
    if (!found || found.IsNull()) wrong(key, "is missing");
    return found;
  }
  void take(const char* key, std::string& value) {
    const YAML::Node found = node(key);
    if (problem_.empty() && !found.IsScalar()) wrong(key, "is not a text");
    if (problem_.empty()) value = found.Scalar();
  }
  template <typename Number>
  void take_number(const char* key, Number& value, Number least) {
    const YAML::Node found = node(key);
    if (!problem_.empty()) return;
    if (!YAML::convert<Number>::decode(found, value) || value < least)
      wrong(key, "is no such number");
  }
  void take_checksum(const char* key, std::uint64_t& value) {
    std::string text;
    take(key, text);
    const auto checksum = base::checksum_from_text(text);
    if (problem_.empty() && !checksum) wrong(key, "is no checksum");
    if (checksum) value = *checksum;
  }
  void wrong(const std::string& key, const std::string& what) {
    if (problem_.empty()) problem_ = "'" + key + "' " + what;
  }
  base::Result<void> result() const {
    if (problem_.empty()) return {};
    return base::fail(base::ErrorKind::kDamaged,
                      source_ + " is damaged: " + problem_ + "; use another checkpoint");
  }

 private:
  YAML::Node map_;
  std::string source_;
  std::string problem_;
};

void emit_lists(YAML::Emitter& out, const CheckpointInfo& info) {
  out << YAML::Key << "notes" << YAML::Value << YAML::Flow << YAML::BeginMap;
  for (const auto& [key, text] : info.notes) {
    out << YAML::Key << YAML::DoubleQuoted << key << YAML::Value << YAML::DoubleQuoted << text;
  }
  out << YAML::EndMap;
  out << YAML::Key << "files" << YAML::Value << YAML::BeginSeq;
  for (const CheckpointFile& file : info.files) {
    out << YAML::Flow << YAML::BeginMap;
    out << YAML::Key << "name" << YAML::Value << file.name;
    out << YAML::Key << "bytes" << YAML::Value << file.bytes;
    out << YAML::Key << "header_bytes" << YAML::Value << file.header_bytes;
    out << YAML::Key << "header_checksum" << YAML::Value << YAML::DoubleQuoted
        << base::checksum_text(file.header_checksum);
    out << YAML::EndMap;
  }
  out << YAML::EndSeq;
  out << YAML::Key << "parameters" << YAML::Value << YAML::BeginMap;
  for (const ParameterShape& parameter : info.parameters) {
    out << YAML::Key << parameter.name << YAML::Value << YAML::Flow << parameter.sizes;
  }
  out << YAML::EndMap;
}

// The text before the last line, if that line is its checksum.
base::Result<std::string> checked_text(const std::string& yaml, const std::string& source) {
  const std::size_t at = yaml.rfind(kChecksumKey);
  const bool starts_line = at != std::string::npos && (at == 0 || yaml[at - 1] == '\n');
  if (!starts_line) {
    return base::fail(
        base::ErrorKind::kDamaged,
        source + " is cut off or not a checkpoint's: its last line, a checksum, is missing");
  }
  const std::string text = yaml.substr(0, at);
  if (yaml.substr(at) !=
      std::string(kChecksumKey) + base::checksum_text(base::checksum_of(text)) + "\n") {
    return base::fail(base::ErrorKind::kDamaged,
                      source +
                          " is damaged: its checksum is another one; use another "
                          "checkpoint");
  }
  return text;
}

base::Result<void> take_files(const YAML::Node& list, const std::string& source,
                              CheckpointInfo& info) {
  std::set<std::string> names;
  for (const YAML::Node& entry : list) {
    CheckpointFile file;
    CheckpointFields fields(entry, source);
    fields.take("name", file.name);
    fields.take_number<std::int64_t>("bytes", file.bytes, 0);
    fields.take_number<std::int64_t>("header_bytes", file.header_bytes, 0);
    fields.take_checksum("header_checksum", file.header_checksum);
    // A name must stay inside the folder.
    const bool plain =
        !file.name.empty() && file.name.front() != '.' && file.name.find('/') == std::string::npos;
    if (!plain || !names.insert(file.name).second) fields.wrong("files", "has a wrong name");
    if (file.header_bytes > file.bytes) fields.wrong("header_bytes", "exceeds the file");
    TRY(fields.result());
    info.files.push_back(std::move(file));
  }
  return {};
}

base::Result<void> take_parameters(const YAML::Node& map, const std::string& source,
                                   CheckpointInfo& info) {
  CheckpointFields fields(map, source);
  std::set<std::string> names;
  for (const auto& entry : map) {
    ParameterShape parameter;
    const bool read =
        entry.first.IsScalar() && entry.second.IsSequence() &&
        YAML::convert<std::vector<std::int64_t>>::decode(entry.second, parameter.sizes);
    if (entry.first.IsScalar()) parameter.name = entry.first.Scalar();
    std::int64_t numel = 1;
    bool sensible = read && names.insert(parameter.name).second;
    for (const std::int64_t size : parameter.sizes) {
      sensible = sensible && size >= 0 && !__builtin_mul_overflow(numel, size, &numel);
    }
    if (!sensible) fields.wrong(parameter.name, "is given twice or has no shape");
    TRY(fields.result());
    info.parameters.push_back(std::move(parameter));
  }
  return {};
}

base::Result<void> take_values(CheckpointFields& fields, CheckpointInfo& info) {
  fields.take_number<std::int64_t>("step", info.step, 0);
  fields.take_number<std::int64_t>("samples_seen", info.samples_seen, 0);
  fields.take_number<std::int64_t>("epoch", info.epoch, 0);
  fields.take_number<std::int64_t>("batch_index", info.batch_index, 0);
  fields.take_number<std::uint64_t>("seed", info.seed, 0);
  fields.take_number<int>("world_size", info.world_size, 1);
  fields.take("strategy", info.strategy);
  fields.take("format", info.format);
  fields.take("model", info.model);
  fields.take("optimizer", info.optimizer);
  fields.take_number<std::int64_t>("optimizer_steps", info.optimizer_steps, 0);
  fields.take_number<std::int64_t>("saved_ns", info.saved_ns, 0);
  if (info.format != "full" && info.format != "sharded") fields.wrong("format", "is unknown");
  return fields.result();
}

base::Result<CheckpointInfo> info_from(const YAML::Node& root, const std::string& source) {
  CheckpointFields fields(root, source);
  int version = 0;
  fields.take_number<int>("shardlens_checkpoint", version, 1);
  TRY(fields.result());
  if (version > kCheckpointVersion) {
    return base::fail(base::ErrorKind::kOtherVersion,
                      source + " was written by a newer version (format " +
                          std::to_string(version) + ", this one reads up to " +
                          std::to_string(kCheckpointVersion) + "): update the program");
  }
  CheckpointInfo info;
  TRY(take_values(fields, info));
  for (const auto& entry : fields.node("notes")) {
    if (entry.first.IsScalar() && entry.second.IsScalar()) {
      info.notes[entry.first.Scalar()] = entry.second.Scalar();
    }
  }
  TRY(take_files(fields.node("files"), source, info));
  TRY(take_parameters(fields.node("parameters"), source, info));
  std::uint64_t fingerprint = 0;
  fields.take_checksum("model_fingerprint", fingerprint);
  if (fingerprint != shape_fingerprint(info.parameters)) {
    fields.wrong("model_fingerprint", "is another model's");
  }
  TRY(fields.result());
  return info;
}

}  // namespace

std::string checkpoint_info_to_yaml(const CheckpointInfo& info) {
  YAML::Emitter out;
  out << YAML::BeginMap;
  const auto field = [&out](const char* key, const auto& value) {
    out << YAML::Key << key << YAML::Value << value;
  };
  field("shardlens_checkpoint", kCheckpointVersion);
  field("step", info.step);
  field("samples_seen", info.samples_seen);
  field("epoch", info.epoch);
  field("batch_index", info.batch_index);
  field("seed", info.seed);
  field("world_size", info.world_size);
  out << YAML::Key << "strategy" << YAML::Value << YAML::DoubleQuoted << info.strategy;
  field("format", info.format);
  out << YAML::Key << "model" << YAML::Value << YAML::DoubleQuoted << info.model;
  out << YAML::Key << "model_fingerprint" << YAML::Value << YAML::DoubleQuoted
      << base::checksum_text(shape_fingerprint(info.parameters));
  out << YAML::Key << "optimizer" << YAML::Value << YAML::DoubleQuoted << info.optimizer;
  field("optimizer_steps", info.optimizer_steps);
  field("saved_ns", info.saved_ns);
  emit_lists(out, info);
  out << YAML::EndMap;
  const std::string text = std::string(out.c_str(), out.size()) + "\n";
  return text + std::string(kChecksumKey) + base::checksum_text(base::checksum_of(text)) + "\n";
}

base::Result<CheckpointInfo> parse_checkpoint_info(const std::string& yaml,
                                                   const std::string& source) {
  TRY_ASSIGN(const std::string text, checked_text(yaml, source));
  try {
    return info_from(YAML::Load(text), source);
  } catch (const YAML::Exception& exception) {
    return base::fail(base::ErrorKind::kDamaged,
                      source + " is not readable (" + base::printable_line(exception.msg) +
                          ", line " + std::to_string(exception.mark.line + 1) +
                          "); use another checkpoint");
  }
}

}  // namespace shardlens::trace::job
