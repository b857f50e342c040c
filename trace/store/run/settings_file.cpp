#include "trace/store/run/settings_file.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/null.h>
#include <yaml-cpp/yaml.h>

#include <optional>
#include <set>
#include <sstream>
#include <system_error>

#include "trace/base/file_system.h"
#include "trace/base/printable.h"
#include "trace/base/text.h"
#include "trace/job/settings/settings.h"

namespace shardlens::trace::store {

namespace fs = std::filesystem;

namespace {

// Settings are a few kilobytes; a file this large is something else, given by mistake.
constexpr std::uintmax_t kLargestFile = 1u << 20;

tl::unexpected<base::Error> wrong(const std::string& source, const YAML::Mark& mark,
                                  const std::string& message) {
  const std::string line =
      mark.is_null() ? std::string() : ", line " + std::to_string(mark.line + 1);
  return base::fail(base::ErrorKind::kUsage, source + line + ": " + message);
}

// "key=value,key=value" of a map, several of a list separated by ";".
base::Result<std::string> flattened(const YAML::Node& node, const std::string& key,
                                    const std::string& source) {
  if (node.IsScalar()) return node.Scalar();
  if (node.IsNull()) return wrong(source, node.Mark(), "'" + key + "' has no value");
  std::string text;
  for (const auto& entry : node) {
    std::string part;
    if (node.IsMap()) {
      if (!entry.first.IsScalar() || !entry.second.IsScalar()) {
        return wrong(source, node.Mark(),
                     "'" + key +
                         "' is nested too deeply: write it as "
                         "key=value,key=value");
      }
      part = (text.empty() ? "" : ",") + entry.first.Scalar() + "=" + entry.second.Scalar();
    } else {
      if (!entry.IsScalar() && !entry.IsMap()) {
        return wrong(source, node.Mark(), "'" + key + "' holds a list in a list");
      }
      TRY_ASSIGN(part, flattened(entry, key, source));
      if (!text.empty()) part.insert(0, ";");
    }
    text += part;
  }
  return text;
}

// Returns the value as text.
base::Result<std::string> take_entry(const YAML::Node& key_node, const YAML::Node& value_node,
                                     const std::string& source, std::set<std::string>& seen,
                                     job::Settings& settings) {
  if (!key_node.IsScalar()) return wrong(source, key_node.Mark(), "a key must be a plain word");
  const std::string& key = key_node.Scalar();
  const job::Knob* knob = job::find_knob(key);
  if (!knob) {
    return wrong(source, key_node.Mark(), job::unknown_setting_text(key));
  }
  if (!seen.insert(std::string(knob->name)).second) {
    return wrong(source, key_node.Mark(), "'" + key + "' is given twice: remove one of them");
  }
  TRY_ASSIGN(std::string text, flattened(value_node, key, source));
  const auto set = job::set_value(settings, key, text);
  if (!set) return wrong(source, key_node.Mark(), set.error().message);
  return text;
}

// Where the latest document begins.
class DocumentMarks final : public YAML::EventHandler {
 public:
  YAML::Mark latest;

  void OnDocumentStart(const YAML::Mark& mark) override { latest = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

// YAML::LoadAll() would tell, too, but never ends where a text begins with a comma (yaml-cpp 0.7).
std::optional<YAML::Mark> second_document(const std::string& yaml) {
  DocumentMarks marks;
  std::istringstream stream(yaml);
  YAML::Parser parser(stream);
  const bool has_two = parser.HandleNextDocument(marks) && parser.HandleNextDocument(marks);
  return has_two ? std::optional(marks.latest) : std::nullopt;
}

base::Result<YAML::Node> load(const std::string& yaml, const std::string& source) {
  try {
    if (const auto second = second_document(yaml)) {
      return wrong(source, *second, "more than one YAML document: keep one");
    }
    return YAML::Load(yaml);
  } catch (const YAML::Exception& exception) {
    return wrong(source, exception.mark,
                 "this is not YAML (" + base::printable_line(exception.msg) +
                     "): write one `key: value` per line");
  }
}

// Quoted so that any text survives; numbers and words stay as people write them.
std::string yaml_scalar(const std::string& text) {
  const bool plain = !YAML::IsNullString(text) &&
                     text.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+ ") ==
                         std::string::npos &&
                     text.front() != ' ' && text.back() != ' ';
  if (plain) return text;
  YAML::Emitter emitter;
  emitter << YAML::DoubleQuoted << text;
  return emitter.c_str();
}

}  // namespace

base::Result<std::string> read_settings_text(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) {
    return base::fail(base::ErrorKind::kUsage, "there is no settings file " + base::quoted(file));
  }
  if (!fs::is_regular_file(file, error) && !fs::is_fifo(file, error)) {
    return base::fail(base::ErrorKind::kUsage,
                      base::quoted(file) + " is not a file: name a YAML file of settings");
  }
  if (fs::is_regular_file(file, error) && fs::file_size(file, error) > kLargestFile) {
    return base::fail(base::ErrorKind::kUsage,
                      base::quoted(file) + " is too large to be settings: name a YAML file");
  }
  if (auto text = base::whole_text(file)) return std::move(*text);
  return base::fail(base::ErrorKind::kIo,
                    "cannot read " + base::quoted(file) + ": check its permissions");
}

base::Result<SaidSettings> parse_said_settings(const std::string& yaml,
                                               const std::string& source_name) {
  TRY_ASSIGN(const YAML::Node root, load(yaml, source_name));
  SaidSettings said;
  if (!root || root.IsNull()) return said;
  if (!root.IsMap()) {
    return wrong(source_name, root.Mark(),
                 "settings must be lines of `key: value`, this is a " +
                     std::string(root.IsSequence() ? "list" : "single text"));
  }
  std::set<std::string> seen;
  for (const auto& entry : root) {
    TRY(take_entry(entry.first, entry.second, source_name, seen, said.settings)
            .map([](const std::string&) {}));
    said.said.push_back(job::find_knob(entry.first.Scalar())->name);
  }
  return said;
}

base::Result<job::Settings> parse_settings(const std::string& yaml,
                                           const std::string& source_name) {
  TRY_ASSIGN(SaidSettings said, parse_said_settings(yaml, source_name));
  return std::move(said.settings);
}

base::Result<std::vector<SettingTexts>> parse_setting_lists(const std::string& yaml,
                                                            const std::string& source_name) {
  TRY_ASSIGN(const YAML::Node root, load(yaml, source_name));
  std::vector<SettingTexts> lists;
  if (!root || !root.IsSequence()) {
    return wrong(source_name, root ? root.Mark() : YAML::Mark::null_mark(),
                 "a list is expected, one line `- {bucket_cap_mb: 4, ranks: 2}` for each point");
  }
  for (const auto& point : root) {
    if (!point.IsMap()) {
      return wrong(source_name, point.Mark(), "a point must be a map: `- {bucket_cap_mb: 4}`");
    }
    job::Settings checked;
    std::set<std::string> seen;
    SettingTexts& texts = lists.emplace_back();
    for (const auto& entry : point) {
      TRY_ASSIGN(std::string text,
                 take_entry(entry.first, entry.second, source_name, seen, checked));
      texts.emplace_back(entry.first.Scalar(), std::move(text));
    }
  }
  return lists;
}

base::Result<job::Settings> read_settings(const fs::path& file) {
  TRY_ASSIGN(const std::string yaml, read_settings_text(file));
  return parse_settings(yaml, file.string());
}

base::Result<std::vector<SettingTexts>> read_setting_lists(const fs::path& file) {
  TRY_ASSIGN(const std::string yaml, read_settings_text(file));
  return parse_setting_lists(yaml, file.string());
}

std::string settings_to_yaml(const job::Settings& settings) {
  std::string yaml;
  for (const job::Knob* knob : job::differing_knobs(job::Settings(), settings)) {
    yaml += "# " + std::string(knob->explanation) + " (default " + job::default_text(*knob) + ")\n";
    yaml += std::string(knob->name) + ": " + yaml_scalar(job::value_text(settings, *knob)) + "\n";
  }
  if (yaml.empty()) yaml = "# All settings have their defaults; `shardlens settings` lists them\n";
  return yaml;
}

}  // namespace shardlens::trace::store
