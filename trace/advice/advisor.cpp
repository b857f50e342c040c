#include "trace/advice/advisor.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "trace/advice/facts/what_if.h"
#include "trace/job/shape/strategy.h"
#include "trace/model/run_info.h"

namespace shardlens::trace::advice {

namespace {

bool may_speak(const Rule& rule, const RunFacts& run) {
  if (rule.needs == kNothing || model::has_settings(run.figures.info)) return true;
  return run.tells(rule.needs);
}

// What is known to help comes first, and of that what helps most.
auto merit(const Advice& advice) {
  return std::tuple(advice.gain.has_value(), advice.gain ? advice.gain->ns : advice.at_stake_ns,
                    advice.saved_bytes);
}

// Collects what does not contradict what was taken before.
class Selection {
 public:
  explicit Selection(const RunFacts& run) : run_(run) {}

  void consider(Advice advice) {
    if (topics_.contains(advice.topic)) return;
    if (!advice.changes.empty() && !takes(advice.changes)) return;
    topics_.insert(advice.topic);
    taken_.push_back(std::move(advice));
  }

  std::vector<Advice> take() { return std::move(taken_); }

 private:
  bool takes(const std::vector<KnobValue>& changes) {
    for (const KnobValue& change : changes) {
      if (std::ranges::find(changes_, change.knob, &KnobValue::knob) != changes_.end())
        return false;
    }
    std::vector<KnobValue> all = changes_;
    all.insert(all.end(), changes.begin(), changes.end());
    const auto next = run_.with(all);
    if (!next || !have_effects(all, next->sharding_strategy)) return false;
    if (!run_.may_fit(*next)) return false;
    changes_ = std::move(all);
    return true;
  }

  static bool have_effects(const std::vector<KnobValue>& all, job::Strategy strategy) {
    return std::ranges::all_of(all, [&](const KnobValue& change) {
      const job::Knob* knob = job::find_knob(change.knob);
      return knob != nullptr && job::has_effect(*knob, strategy);
    });
  }

  const RunFacts& run_;
  std::set<Topic> topics_;
  std::vector<KnobValue> changes_;
  std::vector<Advice> taken_;
};

}  // namespace

std::vector<Advice> advise(const RunFacts& run) {
  std::vector<Advice> said;
  if (run.figures.summary.steps_measured == 0) return said;
  for (const Rule& rule : rules()) {
    if (!may_speak(rule, run)) continue;
    auto advice = rule.speak(run);
    if (!advice) continue;
    advice->rule = rule.id;
    advice->topic = rule.topic;
    if (!advice->changes.empty() && !add_gain(run, *advice)) continue;
    said.push_back(std::move(*advice));
  }
  std::ranges::stable_sort(said, std::greater<>(), merit);
  Selection selection(run);
  for (Advice& advice : said) selection.consider(std::move(advice));
  return selection.take();
}

std::vector<std::string_view> looked_at(const RunFacts& run) {
  std::vector<std::string_view> all;
  for (const Rule& rule : rules()) {
    if (may_speak(rule, run) && std::ranges::find(all, rule.looks_at) == all.end()) {
      all.push_back(rule.looks_at);
    }
  }
  return all;
}

}  // namespace shardlens::trace::advice
