#include "trace/interop/marks/ddp_buckets.h"

#include <algorithm>
#include <utility>

#include "trace/base/result.h"
#include "trace/base/saturated.h"
#include "trace/base/text.h"

namespace shardlens::trace::interop {

namespace {

using base::Result;

constexpr std::size_t kMostPlans = 2;  // the first step's, and that after it

tl::unexpected<base::Error> unclear(std::string why) {
  return base::fail(base::ErrorKind::kUsage, std::move(why));
}

// A reduction and how many gradients were there when it was asked for.
struct Launch {
  const AskedCall* reduction = nullptr;
  std::size_t gradients = 0;
};

// Those that were asked for while a gradient was accumulated: others are not DDP's. Gradients are
// no integers: what is are numbers of how often parameters were used.
std::vector<Launch> launches_of(const DdpBackward& backward,
                                std::vector<std::size_t>& used_parameters) {
  std::vector<Launch> launches;
  for (const AskedCall& reduction : backward.reductions) {
    const auto next = std::ranges::upper_bound(backward.gradients, reduction.asked_ns, {},
                                               &DdpGradient::start_ns);
    if (next == backward.gradients.begin()) continue;
    if (std::prev(next)->end_ns < reduction.asked_ns) continue;
    if (reduction.is_of_integers) {
      used_parameters.push_back(reduction.call);
      continue;
    }
    launches.push_back({&reduction, static_cast<std::size_t>(next - backward.gradients.begin())});
  }
  return launches;
}

Result<DdpBucket> bucket_of(std::span<const DdpGradient> gradients, const AskedCall& reduction) {
  if (gradients.front().elements < 0) return DdpBucket{reduction.bytes, {}};
  std::int64_t elements = 0;
  for (const DdpGradient& gradient : gradients) {
    elements = base::saturated_add(elements, gradient.elements);
  }
  if (reduction.elements != elements) {
    return unclear("an all-reduce of " + base::grouped(reduction.elements) +
                   " elements follows gradients of " + base::grouped(elements) +
                   " (as with find_unused_parameters, or a communication hook of one's own)");
  }
  DdpBucket bucket{0, {gradients.begin(), gradients.end()}};
  const std::int64_t element_bytes = gradients.front().element_bytes;
  if (__builtin_mul_overflow(elements, element_bytes, &bucket.bytes) || bucket.bytes <= 0) {
    return unclear("how large the data type of its gradients is is not known");
  }
  return bucket;
}

Result<std::vector<DdpBucket>> plan_of(const DdpBackward& backward,
                                       const std::vector<Launch>& launches) {
  const auto is_told = [](const DdpGradient& gradient) { return gradient.elements >= 0; };
  const bool tells_sizes = std::ranges::any_of(backward.gradients, is_told);
  if (tells_sizes && !std::ranges::all_of(backward.gradients, is_told)) {
    return unclear("it does not tell the sizes of some gradients (sparse ones have none)");
  }
  const auto differs = [](const DdpGradient& a, const DdpGradient& b) { return a.type != b.type; };
  if (std::ranges::adjacent_find(backward.gradients, differs) != backward.gradients.end()) {
    return unclear("its gradients are of several data types, of which each has buckets of its own");
  }
  std::vector<DdpBucket> plan;
  std::size_t begin = 0;
  for (const auto& [reduction, end] : launches) {
    if (end == begin) {
      return unclear(
          "several all-reduces were asked for at one gradient: buckets are not in the order in "
          "which gradients come (as with find_unused_parameters)");
    }
    if (reduction->is_sparse) {
      return unclear(
          "some of its gradients are sparse: how much of them is reduced no trace tells");
    }
    if (reduction->bytes < 0 && (reduction->elements < 0 || !tells_sizes)) {
      return unclear(
          "it does not tell what its all-reduces held (record it with record_shapes=True)");
    }
    const std::span gradients = std::span(backward.gradients).subspan(begin, end - begin);
    TRY_ASSIGN(plan.emplace_back(), bucket_of(gradients, *reduction));
    begin = end;
  }
  if (begin != backward.gradients.size()) {
    return unclear(
        "gradients come behind the last all-reduce: not all of its parameters are DDP's");
  }
  return plan;
}

bool is_same_plan(const std::vector<DdpBucket>& a, const std::vector<DdpBucket>& b) {
  const auto has_same = [](const DdpBucket& x, const DdpBucket& y) {
    return x.bytes == y.bytes && std::ranges::equal(x.gradients, y.gradients, {},
                                                    &DdpGradient::elements, &DdpGradient::elements);
  };
  return std::ranges::equal(a, b, has_same);
}

DdpBuckets none(std::string why) {
  DdpBuckets found;
  found.why_none = std::move(why);
  return found;
}

}  // namespace

DdpBuckets find_ddp_buckets(std::span<const DdpBackward> backwards) {
  DdpBuckets found;
  for (const DdpBackward& backward : backwards) {
    const auto launches = launches_of(backward, found.used_parameters);
    if (launches.empty()) continue;  // a micro-batch that is not reduced
    auto plan = plan_of(backward, launches);
    if (!plan) return none(plan.error().message);
    for (std::size_t i = 0; i < launches.size(); ++i) {
      found.tags.push_back({launches[i].reduction->call, static_cast<int>(i)});
    }
    if (found.plans.empty() || !is_same_plan(found.plans.back(), *plan)) {
      found.plans.push_back(std::move(*plan));
    }
    if (found.plans.size() > kMostPlans) {
      return none(
          "its buckets change from one backward pass to another (as with several modules that are "
          "wrapped by DDP)");
    }
  }
  if (found.plans.empty()) {
    found.why_none = "no all-reduce was asked for where autograd accumulates gradients";
  }
  return found;
}

}  // namespace shardlens::trace::interop
