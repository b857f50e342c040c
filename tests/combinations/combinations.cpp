#include "tests/combinations/combinations.h"

#include <algorithm>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>

#include "trace/base/text.h"
#include "trace/job/shape/strategy.h"

namespace shardlens::combinations {

namespace {

using trace::job::Knob;
using trace::job::Settings;

// A value, parsed once: its knobs' members of `settings`.
struct Value {
  std::vector<const Knob*> knobs;
  Settings settings;

  std::vector<trace::job::Strategy> strategies;  // that obey all of them

  bool is_obeyed_by(trace::job::Strategy strategy) const {
    return std::ranges::find(strategies, strategy) != strategies.end();
  }
};

void copy_knobs(const std::vector<const Knob*>& knobs, const Settings& from, Settings& to) {
  for (const Knob* knob : knobs) {
    trace::job::copy_value(*knob, from, to);
  }
}

struct Choice {
  std::size_t factor, value;
};
using Pair = std::pair<Choice, Choice>;
using Row = std::vector<std::size_t>;  // the value of each factor

class Drawing {
 public:
  Drawing(const Settings& base, std::span<const Factor> factors, std::uint64_t seed)
      : base_(base), random_(seed) {
    for (const Factor& factor : factors) {
      std::vector<Value>& values = factors_.emplace_back();
      first_.push_back(all_);
      for (const std::string& text : factor.values) values.push_back(parsed(text));
      all_ += values.size();
    }
    std::vector<Choice> possible = choices();
    std::erase_if(possible, [this](const Choice& each) { return !any_row_with({each, each}); });
    for (const Choice& a : possible) {
      for (const Choice& b : possible) {
        if (a.factor < b.factor) wanted_.push_back({a, b});
      }
    }
  }

  // The rows that cover all wanted pairs, but no more than `limit`; pairs that cannot stand
  // together are no longer wanted.
  std::vector<Settings> cover(std::size_t limit) {
    uncovered_.assign(all_ * all_, true);
    std::ranges::shuffle(wanted_, random_);
    std::vector<Settings> covering;
    std::erase_if(wanted_, [&](const Pair& pair) {
      if (covering.size() == limit || !uncovered_[place(pair.first, pair.second)]) return false;
      const auto valid = any_row_with(pair);
      if (!valid) return true;
      const Row row = best_row_from(*valid, pair);
      visit_pairs(row, [&](std::size_t at) { uncovered_[at] = false; });
      covering.push_back(settings_of(row));
      return false;
    });
    return covering;
  }

 private:
  static constexpr int kStarts = 3, kMutations = 24, kPasses = 3;
  static constexpr int kSearches = 3, kSearchSteps = 300;

  Value parsed(const std::string& text) const {
    Value value{{}, base_, {}};
    for (const std::string_view assignment : trace::base::split(text, ' ')) {
      const auto set = trace::job::set_assignment(value.settings, assignment);
      if (!set) throw std::invalid_argument(set.error().message);
      value.knobs.push_back(trace::job::find_knob(assignment.substr(0, assignment.find('='))));
    }
    for (const trace::job::StrategyTraits& each : trace::job::strategies()) {
      const bool obeys = std::ranges::all_of(
          value.knobs, [&](const Knob* knob) { return trace::job::applies(*knob, each.strategy); });
      if (obeys) value.strategies.push_back(each.strategy);
    }
    return value;
  }

  std::vector<Choice> choices() const {
    std::vector<Choice> all;
    for (std::size_t f = 0; f < factors_.size(); ++f) {
      for (std::size_t v = 0; v < factors_[f].size(); ++v) all.push_back({f, v});
    }
    return all;
  }

  // First all values, then those that its strategy does not obey as they were.
  Settings settings_of(const Row& row) const {
    Settings settings = base_;
    for (std::size_t f = 0; f < row.size(); ++f) {
      copy_knobs(factors_[f][row[f]].knobs, factors_[f][row[f]].settings, settings);
    }
    for (std::size_t f = 0; f < row.size(); ++f) {
      const Value& chosen = factors_[f][row[f]];
      if (!chosen.is_obeyed_by(settings.sharding_strategy))
        copy_knobs(chosen.knobs, base_, settings);
    }
    return settings;
  }

  // What keeps the row from being one with both: problems of its settings, and choices of the pair
  // that its strategy does not obey.
  std::size_t faults(const Row& row, const Pair& pair) const {
    const Settings settings = settings_of(row);
    std::size_t count = trace::job::problems_of(settings).size();
    for (const Choice& each : {pair.first, pair.second}) {
      const Value& wished = factors_[each.factor][each.value];
      if (!wished.is_obeyed_by(settings.sharding_strategy)) ++count;
    }
    return count;
  }

  std::size_t place(Choice a, Choice b) const {
    return (first_[a.factor] + a.value) * all_ + first_[b.factor] + b.value;
  }

  void visit_pairs(const Row& row, const auto& visit) const {
    const trace::job::Strategy strategy = strategy_of(row);
    std::vector<Choice> obeyed;
    for (std::size_t f = 0; f < row.size(); ++f) {
      if (factors_[f][row[f]].is_obeyed_by(strategy)) obeyed.push_back({f, row[f]});
    }
    for (auto a = obeyed.begin(); a != obeyed.end(); ++a) {
      for (auto b = a + 1; b != obeyed.end(); ++b) visit(place(*a, *b));
    }
  }

  trace::job::Strategy strategy_of(const Row& row) const {
    for (std::size_t f = 0; f < row.size(); ++f) {
      const Value& chosen = factors_[f][row[f]];
      if (chosen.settings.sharding_strategy != base_.sharding_strategy) {
        return chosen.settings.sharding_strategy;
      }
    }
    return base_.sharding_strategy;
  }

  std::size_t gain(const Row& row) const {
    std::size_t pairs = 0;
    visit_pairs(row, [&](std::size_t at) { pairs += uncovered_[at] ? 1 : 0; });
    return pairs;
  }

  // Another value for a factor that is none of the pair's.
  Row mutated(Row row, const Pair& pair) {
    const std::size_t factor = random_() % row.size();
    if (factor != pair.first.factor && factor != pair.second.factor) {
      row[factor] = random_() % factors_[factor].size();
    }
    return row;
  }

  // Walks from the first values, which are the defaults, to where nothing is refused.
  std::optional<Row> any_row_with(const Pair& pair) {
    const bool can_be = std::ranges::any_of(trace::job::strategies(), [&](const auto& strategy) {
      return factors_[pair.first.factor][pair.first.value].is_obeyed_by(strategy.strategy) &&
             factors_[pair.second.factor][pair.second.value].is_obeyed_by(strategy.strategy);
    });
    for (int search = 0; can_be && search < kSearches; ++search) {
      Row row(factors_.size(), 0);
      row[pair.first.factor] = pair.first.value;
      row[pair.second.factor] = pair.second.value;
      std::size_t left = faults(row, pair);
      for (int step = 0; left > 0 && step < kSearchSteps; ++step) {
        Row next = mutated(row, pair);
        const std::size_t of_next = faults(next, pair);
        if (of_next > left) continue;
        row = std::move(next);
        left = of_next;
      }
      if (left == 0) return row;
    }
    return std::nullopt;
  }

  Row best_row_from(const Row& valid, const Pair& pair) {
    Row best = valid;
    for (int start = 0; start < kStarts; ++start) {
      Row row = valid;
      for (int i = 0; i < kMutations; ++i) {
        Row next = mutated(row, pair);
        if (faults(next, pair) == 0) row = std::move(next);
      }
      climb(row, pair);
      if (gain(row) > gain(best)) best = std::move(row);
    }
    return best;
  }

  // Changes one factor after the other to what covers most.
  void climb(Row& row, const Pair& pair) {
    std::vector<Choice> order = choices();
    std::erase_if(order, [&](const Choice& each) {
      return each.factor == pair.first.factor || each.factor == pair.second.factor;
    });
    std::size_t most = gain(row);
    for (int pass = 0; pass < kPasses; ++pass) {
      std::ranges::shuffle(order, random_);
      for (const Choice& each : order) {
        const std::size_t before = std::exchange(row[each.factor], each.value);
        const std::size_t now = gain(row);
        if (now > most && faults(row, pair) == 0) {
          most = now;
        } else {
          row[each.factor] = before;
        }
      }
    }
  }

  Settings base_;
  std::mt19937_64 random_;
  std::vector<std::vector<Value>> factors_;
  std::vector<std::size_t> first_;  // where a factor's values begin among all
  std::size_t all_ = 0;
  std::vector<bool> uncovered_;  // [value among all, value among all]
  std::vector<Pair> wanted_;
};

std::string line_of(const Settings& base, const Settings& settings) {
  std::string line;
  for (const Knob* knob : trace::job::differing_knobs(base, settings)) {
    line += (line.empty() ? "" : " ") + std::string(knob->name) + "=" +
            trace::job::value_text(settings, *knob);
  }
  return line;
}

}  // namespace

std::vector<Combination> pairwise_combinations(const Settings& base,
                                               std::span<const Factor> factors, std::uint64_t seed,
                                               std::size_t count) {
  Drawing drawing(base, factors, seed);
  std::vector<Combination> combinations;
  do {
    for (const Settings& settings : drawing.cover(count == 0 ? SIZE_MAX : count)) {
      combinations.push_back({settings, line_of(base, settings)});
    }
  } while (combinations.size() < count);
  if (count > 0) combinations.resize(count);
  return combinations;
}

trace::base::Result<Settings> settings_of_line(const Settings& base, std::string_view line) {
  Settings settings = base;
  if (line.empty()) return settings;
  for (const std::string_view assignment : trace::base::split(line, ' ')) {
    TRY(trace::job::set_assignment(settings, assignment));
  }
  return settings;
}

}  // namespace shardlens::combinations
