#include "trace/tuning/contention.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>

#include "trace/analysis/noise/student_t.h"

namespace shardlens::trace::tuning {

using predict::MicroBatchWork;
using predict::Moment;

namespace {

constexpr double kSure = 1.96;  // standard deviations to either end of a 95 % interval
constexpr double kMissed = 0.05;
constexpr std::size_t kLeastAlike = 3, kLeastSlopes = 4;

struct Piece {
  double computed_ns = 0, contended_ns = 0;
};
using Pieces = std::map<std::string, std::vector<Piece>>;  // by what they compute

// "h.#.attn.bias" for "h.3.attn.bias": the same of all blocks; "" of none. Nor of one that is known
// by its shape alone, "[768, 768]": others of it may be computed otherwise.
std::string kind_of(const std::string& parameter) {
  if (parameter.starts_with('[')) return "";
  std::string kind;
  bool has_number = false;
  for (const char c : parameter) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    has_number = has_number || is_digit;
    if (!is_digit) kind += c;
    if (is_digit && (kind.empty() || kind.back() != '#')) kind += '#';
  }
  return has_number ? kind : "";
}

Piece between(const Moment& from, const Moment& to) {
  return {static_cast<double>(to.computed_ns - from.computed_ns),
          static_cast<double>(to.contended_ns - from.contended_ns)};
}

void add_pieces(const MicroBatchWork& work, const std::vector<std::string>& kinds, Pieces& pieces) {
  if (kinds.size() == work.gradients.size()) {
    for (std::size_t i = 1; i < kinds.size(); ++i) {
      if (kinds[i - 1].empty() || kinds[i].empty()) continue;
      pieces[kinds[i - 1] + " " + kinds[i]].push_back(
          between(work.gradients[i - 1], work.gradients[i]));
    }
    return;
  }
  for (std::size_t i = 1; i < work.forwards.size(); ++i) {
    pieces["forward"].push_back(between(work.forwards[i - 1].begin, work.forwards[i].begin));
  }
  for (const auto& unit : work.backwards)
    pieces["backward"].push_back(between(unit.begin, unit.end));
}

struct Means {
  double computed_ns = 0, contended_ns = 0;
  bool is_enough = false;
};

// Of all steps; what was held up by something else is left out.
Means means_of(std::vector<Piece> pieces) {
  if (pieces.size() < kLeastAlike) return {};
  const auto middle = pieces.begin() + static_cast<std::ptrdiff_t>(pieces.size() / 2);
  std::ranges::nth_element(pieces, middle, {}, &Piece::computed_ns);
  const double most = 3 * middle->computed_ns;
  std::erase_if(pieces, [&](const Piece& piece) { return piece.computed_ns > most; });
  Means means{.is_enough = !pieces.empty()};
  for (const Piece& piece : pieces) {
    means.computed_ns += piece.computed_ns / static_cast<double>(pieces.size());
    means.contended_ns += piece.contended_ns / static_cast<double>(pieces.size());
  }
  return means;
}

// By what one step's pieces differ from the mean of their like. None: communication beside them
// differs too little for that to tell anything.
std::optional<double> slope_of(const Pieces& step, const std::map<std::string, Means>& means) {
  constexpr double kLeastVariation = 0.01;  // of what a piece computes
  double both = 0, variation = 0, size = 0;
  for (const auto& [kind, pieces] : step) {
    const Means& mean = means.at(kind);
    if (!mean.is_enough) continue;
    for (const Piece& piece : pieces) {
      if (piece.computed_ns > 3 * mean.computed_ns) continue;
      const double more = piece.contended_ns - mean.contended_ns;
      both += more * (piece.computed_ns - mean.computed_ns);
      variation += more * more;
      size += mean.computed_ns * mean.computed_ns;
    }
  }
  if (variation <= kLeastVariation * kLeastVariation * size) return std::nullopt;
  return both / variation;
}

// Of steps that are taken as independent: their mean, and how far off it may be (95 %).
struct Slope {
  double mean = 0, half = 0;
};

Slope mean_slope(const std::vector<double>& slopes) {
  const auto count = static_cast<double>(slopes.size());
  const double mean = std::accumulate(slopes.begin(), slopes.end(), 0.0) / count;
  double squares = 0;
  for (const double slope : slopes) squares += (slope - mean) * (slope - mean);
  const double error = std::sqrt(squares / (count - 1) / count);
  return {mean, analysis::student_t_quantile(kMissed, count - 1) * error};
}

Slowdown weighed(const Slope& slope, const Slowdown& before) {
  const double sure = kSure / std::max(slope.half, 1e-9), prior = kSure / (before.range() / 2);
  const double told = sure * sure, known = prior * prior;
  const double mean = (slope.mean * told + before.mean * known) / (told + known);
  const double half = kSure / std::sqrt(told + known);
  const auto possible = [](double value) { return std::clamp(value, 0.0, 1.0); };
  return {possible(mean), possible(mean - half), possible(mean + half)};
}

}  // namespace

Slowdown fit_slowdown(const std::vector<predict::StepWork>& steps,
                      const std::vector<std::string>& gradients, const Slowdown& before) {
  std::vector<std::string> kinds;
  for (const std::string& name : gradients) kinds.push_back(kind_of(name));
  std::vector<Pieces> by_step;
  Pieces all;
  for (const predict::StepWork& step : steps) {
    Pieces& pieces = by_step.emplace_back();
    for (const predict::RankWork& rank : step.ranks) {
      for (const MicroBatchWork& work : rank.micro_batches) add_pieces(work, kinds, pieces);
    }
    for (const auto& [kind, found] : pieces) {
      all[kind].insert(all[kind].end(), found.begin(), found.end());
    }
  }
  std::map<std::string, Means> means;
  for (const auto& [kind, pieces] : all) means[kind] = means_of(pieces);
  std::vector<double> slopes;
  for (const Pieces& step : by_step) {
    if (const auto slope = slope_of(step, means)) slopes.push_back(*slope);
  }
  if (slopes.size() < kLeastSlopes) return before;
  return weighed(mean_slope(slopes), before);
}

}  // namespace shardlens::trace::tuning
