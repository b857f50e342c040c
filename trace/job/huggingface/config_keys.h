// The values of a JSON object of strangers, as a config.json is, with everything that is wrong with
// them collected instead of thrown. One thread.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shardlens::trace::job {

struct CountRange {
  std::int64_t least = 1;
  std::int64_t most = 1;
};

// Discarded if it is no JSON, or nested so deeply that whoever copies or shows a value of it could
// run out of stack.
nlohmann::json parse_config(std::string_view text);

// As messages show a value: its JSON in ASCII, at most 40 characters of it.
std::string shown(const nlohmann::json& value);

// Parts of one message, each naming its key.
struct ConfigProblems {
  std::vector<std::string> damaged;      // "vocab_size is missing"
  std::vector<std::string> unsupported;  // "hidden_act \"gelu\" is not supported (silu is)"

  bool empty() const { return damaged.empty() && unsupported.empty(); }
};

// A key that is there with the value null is as one that is not there. A value that is a problem is
// answered with one that can be computed with.
class ConfigKeys {
 public:
  // Both outlive it. `prefix`: before the keys in messages, "rope_scaling.".
  ConfigKeys(const nlohmann::json& object, ConfigProblems& problems, std::string prefix = "");

  bool has(std::string_view key) const { return find(key) != nullptr; }
  // nullptr: there is none.
  const nlohmann::json* find(std::string_view key) const;
  // Without `automatic` the key must be there.
  std::int64_t count(std::string_view key, CountRange range,
                     std::optional<std::int64_t> automatic = std::nullopt);
  double number(std::string_view key, double least, double most,
                std::optional<double> automatic = std::nullopt);
  bool flag(std::string_view key, bool automatic);
  std::string text(std::string_view key, std::string_view automatic = "");
  // A text among those that are supported, as `automatic` is.
  std::string choice(std::string_view key, std::string_view automatic,
                     std::span<const std::string_view> supported);
  // nullptr: there is none.
  const nlohmann::json* object(std::string_view key);
  // The keys of the object under `key`, named "key.inner" in messages; none if there is no object.
  ConfigKeys inside(std::string_view key);

  // What is not supported: `key` must be absent or have the value that changes nothing.
  void must_be_absent(std::string_view key);
  void must_be_off(std::string_view key);

  // `what` follows the key's name: "is missing".
  void damaged(std::string_view key, std::string_view what);
  // `supported` follows the key's name and value: "silu is".
  void unsupported(std::string_view key, std::string_view supported);

 private:
  const nlohmann::json& object_;
  ConfigProblems& problems_;
  std::string prefix_;
};

}  // namespace shardlens::trace::job
