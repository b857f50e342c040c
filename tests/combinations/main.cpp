// setting_combinations [--seed S] [--count N] [--base "knob=value …"] [--smallest-unit P]…
// [--factor "knob=value …;knob=value …;…"]…: prints the combinations of the training knobs, and of
// these factors beside them, one a line, as assignments with spaces between.
#include <charconv>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "tests/combinations/combinations.h"
#include "trace/base/text.h"

namespace {

using namespace shardlens;

struct Arguments {
  std::uint64_t seed = 1;
  std::size_t count = 60;  // 0: as many as cover all pairs
  trace::job::Settings base;
  std::vector<std::int64_t> smallest_units;
  std::vector<combinations::Factor> others;
};

template <typename Number>
Number number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw std::invalid_argument("\"" + std::string(text) + "\" is not a number");
  }
  return value;
}

Arguments parse(int count, char** texts) {
  Arguments arguments;
  for (int i = 1; i < count; i += 2) {
    const std::string_view name = texts[i];
    if (i + 1 == count) throw std::invalid_argument(std::string(name) + " needs a value");
    const std::string_view value = texts[i + 1];
    if (name == "--seed") {
      arguments.seed = number<std::uint64_t>(value);
    } else if (name == "--count") {
      arguments.count = number<std::size_t>(value);
    } else if (name == "--smallest-unit") {
      arguments.smallest_units.push_back(number<std::int64_t>(value));
    } else if (name == "--factor") {
      const auto values = trace::base::split(value, ';');
      arguments.others.push_back({{values.begin(), values.end()}});
    } else if (name == "--base") {
      auto base = combinations::settings_of_line(arguments.base, value);
      if (!base) throw std::invalid_argument(base.error().message);
      arguments.base = *base;
    } else {
      throw std::invalid_argument("there is no " + std::string(name));
    }
  }
  return arguments;
}

}  // namespace

int main(int count, char** texts) {
  try {
    const Arguments arguments = parse(count, texts);
    auto factors = combinations::training_factors(arguments.smallest_units);
    factors.insert(factors.end(), arguments.others.begin(), arguments.others.end());
    for (const auto& each : combinations::pairwise_combinations(arguments.base, factors,
                                                                arguments.seed, arguments.count)) {
      std::puts(each.line.c_str());
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "setting_combinations: %s\n", error.what());
    return 2;
  }
}
