// What readers of other frameworks' files have in common: values by type, what is taken over, what
// is left, and the first thing that is wrong. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/frameworks/read/config_file.h"
#include "trace/frameworks/read/foreign_settings.h"

namespace shardlens::trace::frameworks {

class ConfigReader {
 public:
  // `ranks`: as many as there are, unless the file says how many.
  ConfigReader(const ConfigFile& file, Framework framework, std::int64_t ranks);

  // Values by key, which then counts as taken over. Nothing where the key is missing, null, "auto"
  // (which the reading program fills in, and is listed as ignored), or of another type, which is
  // the error that finish() returns.
  std::optional<double> number(std::string_view key);
  std::optional<std::int64_t> whole(std::string_view key);
  std::optional<bool> boolean(std::string_view key);
  std::optional<std::string> text(std::string_view key);
  std::optional<std::vector<double>> numbers(std::string_view key);
  // Whether the value is "auto", which the reading program fills in: then `knobs` stay as they are.
  bool is_left(std::string_view key, std::initializer_list<std::string_view> knobs);
  // Takes a list only if it has no items, and says whether.
  bool take_empty_list(std::string_view key);

  bool has(std::string_view key) const { return file_.find(key) != nullptr; }
  bool has_section(std::string_view key) const { return file_.has_section(key); }

  // A knob from the value of a key or, where that is absent, from the framework's default for it;
  // what the knob refuses is an error that names the key.
  void set(std::string_view knob, const std::string& value, std::string_view key);
  // A knob that was set by other words for the same.
  void say(std::string_view knob) { result_.said.push_back(knob); }
  // A key that is not taken over after all, for a reason that depends on others.
  void ignore(std::string_view key, const std::string& reason);
  // Knobs that such a file does not speak of.
  void leave(std::initializer_list<std::string_view> knobs);
  void remark(const std::string& sentence) { result_.remarks.push_back(sentence); }
  // The first one counts.
  void fail(std::string_view key, const std::string& message);
  bool has_failed() const { return !problem_.empty(); }

  job::Settings& settings() { return result_.settings; }
  // What nobody took is ignored, for the reason that `reason` gives of a key.
  base::Result<ForeignSettings> finish(const std::function<std::string(std::string_view)>& reason);

 private:
  const ConfigEntry* take(std::string_view key);
  // Of what is no list; `use`: what it has to be.
  template <typename Value>
  std::optional<Value> single(std::string_view key, std::optional<Value> (*parse)(std::string_view),
                              std::string_view use);

  const ConfigFile& file_;
  ForeignSettings result_;
  std::set<std::string, std::less<>> taken_;
  std::vector<IgnoredKey> ignored_;
  std::string problem_;
};

// Why keys that begin so have no counterpart, in tables of each framework: the first that fits.
struct KeyReason {
  std::string_view begin, text;
};
std::string reason_of_key(std::span<const KeyReason> reasons, std::string_view key);

}  // namespace shardlens::trace::frameworks
