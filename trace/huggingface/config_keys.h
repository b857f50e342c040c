// The values of a config.json, with everything that is wrong with them collected instead of thrown.
// One thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/model/result.h"

namespace shardlens::trace {

struct CountRange {
  std::int64_t least = 1;
  std::int64_t most = 1;
};

// A key that is there with the value null is as one that is not there.
class ConfigKeys {
 public:
  // `prefix` stands before the names of keys in messages: "rope_scaling.".
  ConfigKeys(const nlohmann::json& object, std::vector<std::string>& problems,
             std::string prefix = "");

  bool has(std::string_view key) const { return find(key) != nullptr; }
  // Without `automatic` the key must be there.
  std::int64_t count(std::string_view key, CountRange range,
                     std::optional<std::int64_t> automatic = std::nullopt);
  double number(std::string_view key, double least, double most,
                std::optional<double> automatic = std::nullopt);
  bool flag(std::string_view key, bool automatic);
  std::string text(std::string_view key, std::string_view automatic);
  // The object under `key`; null: there is none.
  const nlohmann::json* object(std::string_view key);
  const nlohmann::json* find(std::string_view key) const;

  // What is not implemented: `key` must be absent or have the value that changes nothing.
  void must_be_absent(std::string_view key);
  void must_be_off(std::string_view key);

  void problem(std::string_view key, const std::string& what);

 private:
  const nlohmann::json& object_;
  std::vector<std::string>& problems_;
  std::string prefix_;
};

}  // namespace shardlens::trace
