// Which wrapped module FullyShardedDataParallel's marks mean, in traces that are made by hand.
#include "trace/interop/marks/fsdp1_marks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace shardlens::trace::interop {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Marks one after the other; what is marked within another lies between its begin and its end.
class Marked {
 public:
  template <typename Body>
  Marked& mark(const std::string& what, const Body& within) {
    const std::int64_t start_ns = now_ns_++;
    within();
    add(what, start_ns, ++now_ns_);
    return *this;
  }
  Marked& mark(const std::string& what) {
    return mark(what, [] {});
  }
  Marked& add(const std::string& what, std::int64_t start_ns, std::int64_t end_ns) {
    KinetoEvent event;
    event.category = KinetoCategory::kAnnotation;
    event.name = "FullyShardedDataParallel." + what;
    event.start_ns = start_ns;
    event.duration_ns = end_ns - start_ns;
    marks_.add(event);
    return *this;
  }

  template <typename Body>
  void forward(bool is_root, bool has_parameters, const Body& within) {
    mark("forward", [&] {
      const std::string runs = std::exchange(next_module_, "");
      mark("_root_pre_forward", [&] {
        if (is_root) mark("_to_kwargs");
      });
      mark("_pre_forward", [&] {
        pause();
        if (has_parameters) mark("_pre_forward_prefetch", [&] { pause(); });
      });
      const std::int64_t start_ns = now_ns_++;
      within();
      if (!runs.empty()) add_module(runs, start_ns, ++now_ns_);
      mark("_post_forward");
    });
  }
  void module(const std::string& name = "") {
    runs(name).forward(false, true, [] {});
  }
  // What the next forward is of.
  Marked& runs(const std::string& name) {
    next_module_ = name;
    return *this;
  }
  // In the middle of which a collective may be asked for.
  void pause() { now_ns_ += 4; }
  Marked& hooks(const std::string& kinds) {  // "<": enters backward, ">": leaves it
    for (const char kind : kinds) {
      const std::string side = kind == '<' ? "pre" : "post";
      hooks_ns_.push_back(now_ns_);
      mark("_" + side + "_backward_hook", [&] {
        pause();
        mark("_" + side + "_backward_prefetch", [&] { pause(); });
        pause();
      });
    }
    return *this;
  }

  // Of autograd.
  template <typename Body>
  void node(const Body& within) {
    KinetoEvent event;
    event.category = KinetoCategory::kOperator;
    event.name = "autograd::engine::evaluate_function: MmBackward0";
    event.start_ns = now_ns_++;
    within();
    event.duration_ns = ++now_ns_ - event.start_ns;
    marks_.add(event);
  }

  UnitMarks finish() {
    return marks_.finish([](const base::Interval&) { return true; });
  }
  // "root", "module 2": of hooks, in order.
  std::vector<std::string> hooked(const UnitMarks& units) const {
    std::vector<std::string> names;
    for (const std::int64_t time_ns : hooks_ns_) {
      const auto unit = units.unit_from(time_ns);
      names.push_back(unit ? units.unit_names()[static_cast<std::size_t>(*unit)] : "none");
    }
    return names;
  }
  std::string gathered_at(const UnitMarks& units, std::int64_t time_ns) const {
    const std::vector<base::Interval> backwards{
        {hooks_ns_.empty() ? 0 : hooks_ns_.front(), 1'000'000}};
    const auto use = units.use_at(time_ns, backwards);
    return use ? use->text(units.unit_names()[static_cast<std::size_t>(use->unit)]) : "none";
  }
  std::int64_t hook_ns(std::size_t index) const { return hooks_ns_[index]; }

 private:
  void add_module(const std::string& name, std::int64_t start_ns, std::int64_t end_ns) {
    KinetoEvent event;
    event.category = KinetoCategory::kPython;
    event.name = "nn.Module: " + name;
    event.start_ns = start_ns;
    event.duration_ns = end_ns - start_ns;
    marks_.add(event);
  }

  std::int64_t now_ns_ = 1000;
  std::string next_module_;
  std::vector<std::int64_t> hooks_ns_;
  Fsdp1Marks marks_;
};

TEST(Fsdp1Marks, TellModulesByTheirPlaceInForwardAndBackwardByTheReverse) {
  Marked trace;
  trace.forward(true, true, [&] {
    trace.module();
    trace.module();
  });
  trace.hooks("<<><>>");
  const UnitMarks units = trace.finish();
  EXPECT_EQ(units.why_none(), "");
  EXPECT_TRUE(units.are_inferred());
  EXPECT_THAT(units.unit_names(), ElementsAre("root", "module 1", "module 2"));
  EXPECT_THAT(trace.hooked(units),
              ElementsAre("root", "module 2", "module 2", "module 1", "module 1", "root"));
  // What a hook asks for itself, then what it prefetches.
  EXPECT_EQ(trace.gathered_at(units, trace.hook_ns(1) + 2), "module 2 backward gather");
  EXPECT_EQ(trace.gathered_at(units, trace.hook_ns(1) + 7), "module 1 backward gather, prefetched");
  EXPECT_EQ(trace.gathered_at(units, trace.hook_ns(2) + 7), "module 1 backward gather, prefetched");
  EXPECT_EQ(trace.gathered_at(units, trace.hook_ns(2) + 13), "module 2 reduce");
}

TEST(Fsdp1Marks, NestModulesInTheirNames) {
  Marked trace;
  trace.forward(true, true, [&] {
    trace.module();
    trace.forward(false, true, [&] {
      trace.module();
      trace.forward(false, false, [&] { trace.module(); });
    });
  });
  // Backward enters as forward left, and ends as forward entered, the other way round.
  trace.hooks("<<<<>>><>>");
  const UnitMarks units = trace.finish();
  EXPECT_EQ(units.why_none(), "");
  EXPECT_THAT(units.unit_names(),
              ElementsAre("root", "module 1", "module 2", "module 2.1", "module 2.2"));
  EXPECT_THAT(trace.hooked(units),
              ElementsAre("root", "module 2", "module 2.2", "module 2.1", "module 2.2",
                          "module 2.1", "module 2", "module 1", "module 1", "root"));
}

TEST(Fsdp1Marks, OfOneTensorHooksComeInTheOrderInWhichForwardLeftModules) {
  Marked trace;
  for (int pass = 0; pass < 2; ++pass) {
    trace.forward(true, true, [&] {
      trace.module();
      trace.forward(false, true, [&] { trace.module(); });
    });
    trace.node([&] { trace.hooks("<<<"); });  // the root returns what modules 2 and 2.1 returned
    trace.hooks(">>");
    trace.node([&] { trace.hooks("<"); });
    trace.hooks(">>");
  }
  const UnitMarks units = trace.finish();
  EXPECT_EQ(units.why_none(), "");
  const std::vector<std::string> hooked{"module 2.1", "module 2", "root",     "module 2.1",
                                        "module 2",   "module 1", "module 1", "root"};
  std::vector<std::string> twice = hooked;
  twice.insert(twice.end(), hooked.begin(), hooked.end());
  EXPECT_EQ(trace.hooked(units), twice);
}

TEST(Fsdp1Marks, CallModulesByTheirClassWhereThatTellsAllApart) {
  const auto names = [](const std::string& first, const std::string& second) {
    Marked trace;
    for (int pass = 0; pass < 2; ++pass) {
      trace.runs("Model_0").forward(true, true, [&] {
        trace.runs(first).forward(false, true, [&] { trace.module("Linear_0"); });
        trace.module(second);
      });
    }
    return trace.finish().unit_names();
  };
  EXPECT_THAT(names("Block_0", "Block_1"),
              ElementsAre("root", "Block_0", "Block_0.Linear_0", "Block_1"));
  EXPECT_THAT(names("Block_0", ""), ElementsAre("root", "module 1", "module 1.1", "module 2"));
  EXPECT_THAT(names("Block_0", "Block_0"),
              ElementsAre("root", "module 1", "module 1.1", "module 2"));
}

TEST(Fsdp1Marks, CountNoModuleWithoutParametersButTheRoot) {
  Marked trace;
  trace.forward(true, false, [&] {
    trace.module();
    trace.forward(false, false, [] {});
  });
  trace.mark("_pre_backward_hook");  // the root's, which gathers nothing
  trace.hooks("<>");
  const UnitMarks units = trace.finish();
  EXPECT_EQ(units.why_none(), "");
  EXPECT_THAT(units.unit_names(), ElementsAre("root", "module 1"));
  EXPECT_THAT(trace.hooked(units), ElementsAre("module 1", "module 1"));
}

TEST(Fsdp1Marks, LeaveOutWhatWasCutOffAndForwardsThatBackwardComputesAgain) {
  Marked trace;
  trace.module();  // the rest of a forward that began before the trace
  trace.hooks("<>");
  for (int pass = 0; pass < 2; ++pass) {
    trace.forward(true, true, [&] { trace.module(); });
    trace.hooks("<<");
    trace.forward(false, false, [] {});  // again: nothing is gathered
    trace.hooks(">>");
  }
  trace.forward(true, true, [&] { trace.module(); });
  trace.hooks("<<");  // cut off
  const UnitMarks units = trace.finish();
  EXPECT_EQ(units.why_none(), "");
  EXPECT_THAT(units.unit_names(), ElementsAre("root", "module 1"));
  EXPECT_EQ(units.forwards().size(), 3u);
  EXPECT_THAT(trace.hooked(units),
              ElementsAre("none", "none", "root", "module 1", "module 1", "root", "root",
                          "module 1", "module 1", "root", "none", "none"));
}

std::string refused(Marked& trace) {
  const UnitMarks units = trace.finish();
  EXPECT_FALSE(units.has_units());
  return units.why_none();
}

TEST(Fsdp1Marks, SayWhyTheyTellNoUnits) {
  const auto two = [](Marked& trace) { trace.forward(true, true, [&] { trace.module(); }); };
  Marked no_root;
  no_root.module();
  EXPECT_THAT(refused(no_root), HasSubstr("no forward of its root"));

  Marked others;
  two(others);
  others.forward(true, true, [] {});
  EXPECT_THAT(refused(others), HasSubstr("do not enter the same modules"));

  Marked beside;
  two(beside);
  beside.module();
  two(beside);
  EXPECT_THAT(refused(beside), HasSubstr("beside the forward of its root"));

  for (const std::string hooks : {"<>>", "<<>", "<<<>>", "<<>>>", "<", ">"}) {
    Marked unlike;
    two(unlike);
    unlike.hooks(hooks);
    two(unlike);
    EXPECT_THAT(refused(unlike), HasSubstr("of 2 modules that forward went through")) << hooks;
  }

  Marked unmarked;
  unmarked.forward(true, false, [&] { unmarked.forward(false, false, [] {}); });
  unmarked.mark("_pre_backward_hook").mark("_post_backward_hook");
  EXPECT_THAT(refused(unmarked), HasSubstr("does not mark where modules are gathered ahead"));

  Marked early;
  two(early);
  early.hooks("<>><");
  EXPECT_THAT(refused(early), HasSubstr("come before backward is at it"));

  Marked frozen;
  two(frozen);
  frozen.hooks("<<>").mark("_post_backward_hook_reshard_only");
  EXPECT_THAT(refused(frozen), HasSubstr("no gradients"));
}

TEST(Fsdp1Marks, ThatAreNotThereAreNoReason) {
  Marked none;
  const UnitMarks units = none.finish();
  EXPECT_FALSE(units.has_units());
  EXPECT_EQ(units.why_none(), "");
  EXPECT_TRUE(units.forwards().empty());
}

}  // namespace
}  // namespace shardlens::trace::interop
