#include "trace/interop/marks/fsdp1_marks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "trace/base/result.h"
#include "trace/base/text.h"
#include "trace/interop/marks/autograd_passes.h"

namespace shardlens::trace::interop {

namespace {

using base::Interval;
using base::Result;
using Kind = UnitMarks::Kind;
using Mark = Fsdp1Marks::Mark;

constexpr std::string_view kModule = "nn.Module: ";  // of Python's calls

std::optional<Mark::What> what_of(std::string_view name) {
  constexpr auto kNames = std::to_array<std::pair<std::string_view, Mark::What>>({
      {"forward", Mark::What::kForward},
      {"_to_kwargs", Mark::What::kRootInputs},
      {"_pre_forward", Mark::What::kPreForward},
      {"_pre_forward_prefetch", Mark::What::kForwardPrefetch},
      {"_post_forward", Mark::What::kPostForward},
      {"_pre_backward_hook", Mark::What::kPreBackward},
      {"_pre_backward_prefetch", Mark::What::kBackwardPrefetch},
      {"_post_backward_hook", Mark::What::kPostBackward},
      {"_post_backward_prefetch", Mark::What::kBackwardPrefetch},
      {"_post_backward_hook_reshard_only", Mark::What::kFrozen},
  });
  if (!name.starts_with(kFsdp1Prefix)) return std::nullopt;
  name.remove_prefix(kFsdp1Prefix.size());
  const auto found = std::ranges::find(kNames, name, &decltype(kNames)::value_type::first);
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

tl::unexpected<base::Error> untold(std::string why) {
  return base::fail(base::ErrorKind::kUsage, std::move(why));
}

// What is done where forward or backward comes to a module, and within it where the next one is
// gathered ahead. Wrapped modules without parameters of their own gather none: they are no units.
struct Hook {
  Interval time;
  std::optional<Interval> prefetch;
};

constexpr int kNoUnit = -1;

// Of a wrapped module.
struct Forward {
  Interval time;
  bool is_root = false;
  std::optional<Hook> enter;
  std::optional<Interval> leave;
  std::optional<std::size_t> outer;  // by its place in the pass
  int unit = kNoUnit;

  bool gathers() const { return enter && enter->prefetch; }
};

// A forward pass, and what is marked from its end to the next one.
struct Pass {
  std::vector<Forward> forwards;  // outer ones before inner ones, in order
  std::vector<Hook> enters, leaves;
  bool has_frozen = false;

  bool is_of_root() const { return forwards.front().is_root; }
};

// Puts marks together.
class PassReader {
 public:
  // `marks`: in order, outer ones before inner ones.
  explicit PassReader(const std::vector<Mark>& marks) {
    for (const Mark& mark : marks) {
      // By their ends: times that were rounded may overlap by a bit.
      while (!open_.empty() && forward(open_.back()).time.end_ns < mark.time.end_ns) {
        open_.pop_back();
      }
      if (mark.what == Mark::What::kForward) {
        begin(mark.time);
      } else if (!open_.empty()) {
        add(mark, forward(open_.back()));
      } else if (!passes_.empty()) {
        add(mark, passes_.back());
      }
    }
  }

  // When forward of a root was under way.
  std::vector<Interval> root_forwards() const {
    std::vector<Interval> times;
    for (const Pass& pass : passes_) {
      if (pass.is_of_root()) times.push_back(pass.forwards.front().time);
    }
    return times;
  }

  // Those of the root: what lies before the first or behind the last of them was cut off, and where
  // backward computes a forward again nothing is gathered. Error: a clause.
  Result<std::vector<Pass>> of_root() && {
    std::vector<Pass> found;
    for (Pass& pass : passes_) {
      if (pass.is_of_root()) {
        if (beside_root_) return untold("a wrapped module runs beside the forward of its root");
        found.push_back(std::move(pass));
      } else if (!found.empty()) {
        beside_root_ |= std::ranges::any_of(pass.forwards, &Forward::gathers);
        append(std::move(pass), found.back());
      }
    }
    if (found.empty()) return untold("no forward of its root is marked in the trace");
    return found;
  }

 private:
  Forward& forward(std::size_t place) { return passes_.back().forwards[place]; }

  void begin(const Interval& time) {
    if (open_.empty()) passes_.emplace_back();
    auto& forwards = passes_.back().forwards;
    const auto outer = open_.empty() ? std::nullopt : std::optional(open_.back());
    open_.push_back(forwards.size());
    forwards.push_back({.time = time, .enter = {}, .leave = {}, .outer = outer});
  }
  static void add(const Mark& mark, Forward& forward) {
    if (mark.what == Mark::What::kRootInputs) forward.is_root = true;
    if (mark.what == Mark::What::kPreForward) forward.enter = Hook{mark.time, std::nullopt};
    if (mark.what == Mark::What::kForwardPrefetch && forward.enter)
      forward.enter->prefetch = mark.time;
    if (mark.what == Mark::What::kPostForward) forward.leave = mark.time;
  }
  void add(const Mark& mark, Pass& pass) {
    if (mark.what == Mark::What::kFrozen) pass.has_frozen = true;
    if (mark.what == Mark::What::kPreBackward) pass.enters.push_back({mark.time, std::nullopt});
    if (mark.what == Mark::What::kPostBackward) pass.leaves.push_back({mark.time, std::nullopt});
    if (mark.what != Mark::What::kBackwardPrefetch) return;
    for (std::vector<Hook>* hooks : {&pass.enters, &pass.leaves}) {
      if (hooks->empty() || hooks->back().time.end_ns < mark.time.end_ns) continue;
      hooks->back().prefetch = mark.time;
    }
  }
  static void append(Pass from, Pass& to) {
    to.enters.insert(to.enters.end(), from.enters.begin(), from.enters.end());
    to.leaves.insert(to.leaves.end(), from.leaves.begin(), from.leaves.end());
    to.has_frozen |= from.has_frozen;
  }

  std::vector<Pass> passes_;
  std::vector<std::size_t> open_;  // forwards around what comes next
  bool beside_root_ = false;
};

// Which modules ran, where Python's calls were recorded.
class ModuleNames {
 public:
  explicit ModuleNames(const std::vector<Fsdp1Marks::Module>& modules) : modules_(modules) {}

  // Of the wrapped one, which is the first behind what is done before it; "": not told.
  std::string_view of(const Forward& forward) const {
    const std::int64_t entered_ns = forward.enter ? forward.enter->time.end_ns : INT64_MAX;
    const auto first = std::ranges::lower_bound(
        modules_, entered_ns, {}, [](const auto& module) { return module.time.start_ns; });
    const bool is_within = first != modules_.end() && first->time.end_ns <= forward.time.end_ns;
    return is_within ? std::string_view(first->name) : std::string_view();
  }

 private:
  const std::vector<Fsdp1Marks::Module>& modules_;
};

// What a unit is called within the one around it, of which it is the n-th; "": that is not told.
using Naming = std::function<std::string(const Forward&, int n)>;

// Numbers the units of each pass; they are the same in all of them. `top`: before the names of
// those within the root. Error: a clause.
Result<std::vector<std::string>> name_units(std::vector<Pass>& passes, const std::string& top,
                                            const Naming& naming) {
  std::vector<std::string> names;
  for (Pass& pass : passes) {
    std::vector<std::string> of_pass;
    std::vector<int> inner_units;  // by unit
    for (Forward& forward : pass.forwards) {
      if (!forward.gathers() && !forward.is_root) continue;
      forward.unit = static_cast<int>(of_pass.size());
      inner_units.push_back(0);
      auto outer = forward.outer;
      while (outer && pass.forwards[*outer].unit == kNoUnit) outer = pass.forwards[*outer].outer;
      if (!outer) {
        of_pass.emplace_back("root");
        continue;
      }
      const auto within = static_cast<std::size_t>(pass.forwards[*outer].unit);
      const std::string own = naming(forward, ++inner_units[within]);
      if (own.empty()) return untold("not all of its modules are named");
      of_pass.push_back((within == 0 ? top : of_pass[within] + ".") + own);
    }
    if (&pass != &passes.front() && of_pass != names) {
      return untold("its forward passes do not enter the same modules");
    }
    names = std::move(of_pass);
  }
  return names;
}

// By the classes of modules, as in "Block_2", where they tell all of them apart; else by number.
Result<std::vector<std::string>> name_units(std::vector<Pass>& passes, const ModuleNames& modules) {
  auto named = name_units(
      passes, "", [&](const Forward& forward, int) { return std::string(modules.of(forward)); });
  if (named && std::set(named->begin(), named->end()).size() == named->size()) return named;
  return name_units(passes, "module ", [](const Forward&, int n) { return std::to_string(n); });
}

// Marks a pass's units. `nodes`: of autograd, by start.
class PassMarker {
 public:
  PassMarker(const Pass& pass, const std::vector<Interval>& nodes, UnitMarks& marks)
      : pass_(pass), nodes_(nodes), marks_(marks) {
    for (const Forward& forward : pass.forwards) {
      if (forward.gathers()) entered_.push_back(&forward);
    }
    left_ = entered_;
    std::ranges::stable_sort(left_, {}, [](const Forward* each) { return each->time.end_ns; });
    before_.resize(pass.forwards.size());
    for (std::size_t i = 1; i < left_.size(); ++i) before_[index(*left_[i])] = left_[i - 1];
  }

  void mark_forward() {
    for (const Forward& forward : pass_.forwards) {
      if (forward.unit == kNoUnit) continue;
      if (forward.enter) marks_.add(Kind::kForward, {forward.enter->time, forward.unit});
      if (forward.leave) marks_.add(Kind::kForwardEnd, {*forward.leave, forward.unit});
    }
    for (std::size_t i = 0; i < entered_.size(); ++i) {
      const Hook& enter = *entered_[i]->enter;
      mark_gathers(Kind::kForwardPrefetch, enter,
                   i + 1 < entered_.size() ? entered_[i + 1] : nullptr);
      marks_.add(Kind::kGather, {before_prefetch(enter), entered_[i]->unit});
    }
  }

  // `may_be_cut`: nothing follows, so that the trace may have ended in it. Error: a clause.
  Result<void> mark_backward(bool may_be_cut) {
    std::vector<Hook> enters = pass_.enters;
    std::erase_if(enters, [](const Hook& hook) { return !hook.prefetch; });
    if (enters.empty() && pass_.leaves.empty()) return {};  // an evaluation
    if (left_.empty()) return untold("it does not mark where modules are gathered ahead");
    if (pass_.has_frozen) return untold("some of its modules have no gradients");
    for (const auto* hooks : {&std::as_const(enters), &pass_.leaves}) {
      if (hooks->size() == left_.size()) continue;
      if (may_be_cut && hooks->size() < left_.size()) return {};
      return untold("backward came to " + base::grouped(std::ssize(*hooks)) + " of " +
                    base::grouped(std::ssize(left_)) + " modules that forward went through");
    }
    std::vector<std::int64_t> entered_ns(pass_.forwards.size());  // by unit
    const auto in_backward = order_in_backward(enters);
    for (std::size_t i = 0; i < enters.size(); ++i) {
      const Forward& forward = *in_backward[i];
      entered_ns[index(forward)] = enters[i].time.end_ns;
      marks_.add(Kind::kBackward, {enters[i].time, forward.unit});
      marks_.add(Kind::kGather, {before_prefetch(enters[i]), forward.unit});
      mark_gathers(Kind::kBackwardPrefetch, enters[i], before_[index(forward)]);
    }
    for (std::size_t i = 0; i < pass_.leaves.size(); ++i) {
      const Forward& forward = *entered_[entered_.size() - 1 - i];
      const Hook& leave = pass_.leaves[i];
      if (leave.time.start_ns < entered_ns[index(forward)]) {
        return untold("gradients of a module come before backward is at it");
      }
      const std::int64_t begin_ns = leave.prefetch ? leave.prefetch->end_ns : leave.time.start_ns;
      marks_.add(Kind::kGradientsReady, {leave.time, forward.unit});
      marks_.add(Kind::kReduce, {{begin_ns, leave.time.end_ns}, forward.unit});
      if (leave.prefetch) mark_gathers(Kind::kBackwardPrefetch, leave, before_[index(forward)]);
    }
    return {};
  }

 private:
  static Interval before_prefetch(const Hook& hook) {
    return {hook.time.start_ns, hook.prefetch->start_ns};
  }
  // The reverse of the order in which forward left them. But modules that return what one within
  // them returned have their hooks at one tensor, which runs them in the order of forward.
  std::vector<const Forward*> order_in_backward(const std::vector<Hook>& enters) const {
    std::vector<const Forward*> order(left_.rbegin(), left_.rend());
    for (std::size_t begin = 0, i = 1; i <= enters.size(); ++i) {
      if (i < enters.size() && is_one_node(enters[begin].time, enters[i].time)) continue;
      std::reverse(order.begin() + static_cast<std::ptrdiff_t>(begin),
                   order.begin() + static_cast<std::ptrdiff_t>(i));
      begin = i;
    }
    return order;
  }
  bool is_one_node(const Interval& first, const Interval& second) const {
    const auto next = std::ranges::upper_bound(nodes_, second.start_ns, {}, &Interval::start_ns);
    if (next == nodes_.begin()) return false;
    const Interval& node = *std::prev(next);
    return node.start_ns <= first.start_ns && second.end_ns <= node.end_ns;
  }
  static std::size_t index(const Forward& forward) {
    return static_cast<std::size_t>(forward.unit);
  }
  void mark_gathers(Kind kind, const Hook& hook, const Forward* next) {
    if (next == nullptr) return;
    marks_.add(kind, {*hook.prefetch, next->unit});
    marks_.add(Kind::kGather, {*hook.prefetch, next->unit});
  }

  const Pass& pass_;
  const std::vector<Interval>& nodes_;
  UnitMarks& marks_;
  std::vector<const Forward*> entered_, left_;  // those that gather, in order
  std::vector<const Forward*> before_;          // by unit: the one that was left before; null: none
};

Result<std::vector<std::string>> mark_units(std::vector<Pass>& passes, const ModuleNames& modules,
                                            const std::vector<Interval>& nodes, UnitMarks& marks) {
  TRY_ASSIGN(auto names, name_units(passes, modules));
  for (const Pass& pass : passes) {
    PassMarker marker(pass, nodes, marks);
    marker.mark_forward();
    TRY(marker.mark_backward(&pass == &passes.back()));
  }
  return names;
}

}  // namespace

void Fsdp1Marks::add(const KinetoEvent& event) {
  const Interval time = event.time();
  if (event.category == KinetoCategory::kPython && event.name.starts_with(kModule)) {
    modules_.push_back({time, event.name.substr(kModule.size())});
  }
  const bool is_node = event.category == KinetoCategory::kOperator;
  if (is_node && event.name.starts_with(kAutogradNode)) nodes_.push_back(time);
  if (event.category != KinetoCategory::kAnnotation) return;
  if (const auto what = what_of(event.name)) marks_.push_back({time, *what});
}

UnitMarks Fsdp1Marks::finish(const std::function<bool(const base::Interval&)>& is_believed) {
  std::erase_if(marks_, [&](const Mark& mark) { return !is_believed(mark.time); });
  std::ranges::stable_sort(marks_, {}, [](const Mark& mark) {
    return std::pair(mark.time.start_ns, -mark.time.end_ns);
  });
  std::ranges::stable_sort(modules_, {}, [](const Module& module) { return module.time.start_ns; });
  std::ranges::sort(nodes_);
  UnitMarks found;
  if (marks_.empty()) return found;
  PassReader reader(marks_);
  for (const Interval& time : reader.root_forwards()) found.add_forward(time);
  auto passes = std::move(reader).of_root();
  auto names = passes ? mark_units(*passes, ModuleNames(modules_), nodes_, found)
                      : tl::make_unexpected(passes.error());
  if (names) {
    found.finish(std::move(*names), true);
  } else {
    found.refuse(names.error().message);
  }
  return found;
}

}  // namespace shardlens::trace::interop
