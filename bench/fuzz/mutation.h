// The choices of one case, and the damage that they do to bytes, JSON and YAML: the same for the
// same seed, or for the same bytes, on every machine. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "trace/synthetic/random_numbers.h"

namespace shardlens::bench {

class Mutation {
 public:
  explicit Mutation(std::uint64_t seed) : random_(seed) {}
  // Choices that somebody else thought of; behind their end, random ones. They outlive it.
  explicit Mutation(std::string_view choices) : choices_(choices), random_(0) {}

  std::size_t below(std::size_t limit);
  bool one_in(std::size_t count) { return below(count) == 0; }
  template <typename Range>
  const auto& pick(const Range& range) {
    return *std::next(std::begin(range), static_cast<std::ptrdiff_t>(below(std::size(range))));
  }

  // Around zero, around the ends of types, a time of day, or any.
  std::int64_t integer();
  // As it may stand in JSON or YAML, also where no number can be that.
  std::string number();
  // Empty, long, not UTF-8, an escape of a terminal, …
  std::string text();

  // One to a few changes.
  std::string bytes(std::string from) { return changed(std::move(from), &Mutation::change_bytes); }
  std::string json(std::string from) { return changed(std::move(from), &Mutation::change_json); }
  std::string yaml(std::string from) { return changed(std::move(from), &Mutation::change_yaml); }
  // Instead of this file: a folder, a pipe that nobody writes to, a link to nowhere, or nothing.
  void replace_file(const std::filesystem::path& file);

 private:
  std::string changed(std::string from, std::string (Mutation::*change)(std::string));
  std::string change_bytes(std::string from);
  std::string change_json(std::string from);
  std::string change_yaml(std::string from);
  struct Part {
    std::size_t begin = 0, end = 0;
  };
  Part value_of_json(const std::string& text);
  std::string nested(char open, char close);

  std::uint64_t next(std::uint64_t limit);

  std::string_view choices_;  // that are left
  trace::synthetic::RandomNumbers random_;
};

}  // namespace shardlens::bench
