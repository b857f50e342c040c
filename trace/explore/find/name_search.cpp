#include "trace/explore/find/name_search.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/saturated.h"
#include "trace/explore/find/nearest_hits.h"
#include "trace/explore/run/lane_events.h"
#include "trace/explore/run/run_snapshot.h"

namespace shardlens::trace::explore {

namespace {

// How much a compiled expression may take: nobody types one by hand that needs more.
constexpr std::int64_t kMostMemory = 8 << 20;
constexpr std::size_t kLongestPattern = 4096;
constexpr std::size_t kMostInstances = 500;

}  // namespace

// Which names a pattern means. RE2 takes time linear in the text, whatever the expression.
class NameMatcher {
 public:
  // Errors: kUsage, in words for who typed it.
  static base::Result<NameMatcher> compile(const timeline::NamePattern& pattern) {
    NameMatcher matcher;
    if (pattern.is_plain || pattern.text.empty()) {
      matcher.plain_ = pattern.text;
      return matcher;
    }
    if (pattern.text.size() > kLongestPattern) {
      return base::fail(base::ErrorKind::kUsage,
                        "The expression is too long: " + std::to_string(pattern.text.size()) +
                            " of at most " + std::to_string(kLongestPattern) + " characters");
    }
    re2::RE2::Options options;
    options.set_max_mem(kMostMemory);
    options.set_log_errors(false);
    options.set_never_capture(true);
    options.set_case_sensitive(!pattern.ignores_case);
    matcher.expression_ = std::make_unique<const re2::RE2>(pattern.text, options);
    if (matcher.expression_->ok()) return matcher;
    return base::fail(base::ErrorKind::kUsage,
                      "The expression cannot be read: " + matcher.expression_->error() +
                          ". Put \\ before a character that is meant literally");
  }

  // An expression anywhere in the name, a plain pattern the whole of it. No text matches nothing.
  bool matches(std::string_view name) const {
    if (!expression_) return !plain_.empty() && name == plain_;
    return re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *expression_);
  }

  // A collective's label tells what it was for, "bucket 3". Who searches asks for its function,
  // too, however that is written: all_reduce, all-reduce, AllReduce, as in NCCL's kernels.
  bool means(model::CollectiveFunction function) const {
    if (!expression_) return false;
    const std::string own(model::to_string(function));
    std::string hyphens = own, camel;
    std::ranges::replace(hyphens, '_', '-');
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (own[i] == '_') continue;
      const bool begins_word = i == 0 || own[i - 1] == '_';
      camel += begins_word ? static_cast<char>(std::toupper(own[i])) : own[i];
    }
    return matches(own) || matches(hyphens) || matches(camel);
  }

 private:
  NameMatcher() = default;

  std::string plain_;
  std::unique_ptr<const re2::RE2> expression_;  // none: a plain pattern
};

namespace {

// Calls visit(place, name) for each span and collective that the pattern means.
template <typename Visit>
void for_each_row(const RunSnapshot& run, const NameMatcher& matcher, Visit&& visit) {
  std::array<bool, static_cast<std::size_t>(model::CollectiveFunction::kOther) + 1> functions{};
  for (std::size_t i = 0; i < functions.size(); ++i) {
    functions[i] = matcher.means(static_cast<model::CollectiveFunction>(i));
  }
  for (const RankSnapshot& rank : run.ranks) {
    const RankRows& rows = *rank.rows;
    std::vector<bool> labels(rows.labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = matcher.matches(rows.labels[i]);
    const auto visit_those = [&](const auto& timed, timeline::EventTableKind table, auto is_meant) {
      for (std::size_t i = 0; i < timed.size(); ++i) {
        const auto& row = timed.rows[i];
        const std::uint32_t label = timed.labels[i];
        if (!labels[label] && !is_meant(row)) continue;
        visit(
            timeline::EventPlace{{table, rank.rank, timed.ids[i], 0}, row.start_ns, row.end_ns, -1},
            std::string_view(rows.labels[label]));
      }
    };
    visit_those(rows.spans, timeline::EventTableKind::kSpan,
                [](const model::Span&) { return false; });
    visit_those(rows.collectives, timeline::EventTableKind::kCollective,
                [&](const model::Collective& row) {
                  return functions[static_cast<std::size_t>(row.function)];
                });
  }
}

// Sums by name and table.
using HitSums = std::map<std::pair<std::string_view, timeline::EventTableKind>, timeline::NameHit>;

void add_hit(HitSums& sums, std::string_view name, timeline::EventTableKind table,
             std::int64_t count, std::int64_t total_ns) {
  timeline::NameHit& hit = sums[{name, table}];
  hit.count += count;
  hit.total_ns = base::saturated_add(hit.total_ns, total_ns);
}

// By number first: comparing texts for every chunk would take longer than all the rest.
void count_events(const store::EventStore& store, std::span<const store::ChunkEntry> chunks,
                  std::span<const std::shared_ptr<const ChunkNames::Counts>> counts,
                  const std::vector<bool>& names, HitSums& sums) {
  struct Sum {
    std::int64_t count = 0, total_ns = 0;
  };
  std::vector<std::array<Sum, model::kEventKindCount>> by_number(names.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (!counts[i]) continue;
    for (const auto& one : *counts[i]) {
      if (one.name >= names.size() || !names[one.name]) continue;
      Sum& sum = by_number[one.name][static_cast<std::size_t>(chunks[i].kind)];
      sum.count += one.count;
      sum.total_ns = base::saturated_add(sum.total_ns, one.total_ns);
    }
  }
  for (std::uint32_t name = 0; name < names.size(); ++name) {
    for (int kind = 0; kind < model::kEventKindCount; ++kind) {
      const Sum& sum = by_number[name][static_cast<std::size_t>(kind)];
      if (sum.count == 0) continue;
      add_hit(sums, store.names().text(name), table_of(static_cast<model::EventKind>(kind)),
              sum.count, sum.total_ns);
    }
  }
}

// No row of the timeline shows single allocations.
std::vector<store::ChunkEntry> searched_chunks(const store::EventStore& store) {
  const auto all = store.chunks();
  std::vector<store::ChunkEntry> chunks;
  chunks.reserve(all->size());
  std::ranges::copy_if(*all, std::back_inserter(chunks), [](const store::ChunkEntry& chunk) {
    return chunk.kind != model::EventKind::kAllocation;
  });
  return chunks;
}

void add_names(HitSums sums, timeline::NameHits& hits) {
  for (auto& [key, hit] : sums) {
    hits.count += hit.count;
    hits.names.push_back({std::string(key.first), key.second, hit.count, hit.total_ns});
  }
  std::ranges::stable_sort(hits.names, std::ranges::greater(), &timeline::NameHit::count);
}

}  // namespace

// A pattern and the names of all ranks that it means.
struct NameSearch::Matched {
  timeline::NamePattern pattern;
  NameMatcher matcher;
  std::vector<bool> names;

  bool has_names() const { return std::ranges::find(names, true) != names.end(); }
};

base::Result<std::shared_ptr<const NameSearch::Matched>> NameSearch::match(
    const timeline::NamePattern& pattern) {
  const std::uint32_t count = store_.names().count();
  {
    const std::lock_guard lock(mutex_);
    if (last_ && last_->pattern == pattern && last_->names.size() == count) return last_;
  }
  TRY_ASSIGN(NameMatcher matcher, NameMatcher::compile(pattern));
  auto matched =
      std::make_shared<Matched>(Matched{pattern, std::move(matcher), std::vector<bool>(count)});
  for (std::uint32_t name = 0; name < count; ++name) {
    matched->names[name] = matched->matcher.matches(store_.names().text(name));
  }
  const std::lock_guard lock(mutex_);
  last_ = matched;
  return std::shared_ptr<const Matched>(std::move(matched));
}

base::Result<timeline::NameHits> NameSearch::find(const timeline::NamePattern& pattern,
                                                  const RunSnapshot& run,
                                                  const std::function<bool()>& wanted,
                                                  std::int64_t until_ns) {
  timeline::NameHits hits;
  hits.pattern = pattern;
  hits.is_complete = true;  // of what it was given
  const auto matched = match(pattern);
  if (!matched) {
    hits.problem = matched.error().message;
    return hits;
  }
  const auto& [own_pattern, matcher, names] = **matched;
  HitSums sums;
  NearestHits earliest(
      {.last_ns = base::saturated_difference(until_ns, 1), .most = kMostInstances});
  for_each_row(run, matcher, [&](const timeline::EventPlace& place, std::string_view name) {
    if (place.start_ns >= until_ns) return;
    const std::int64_t duration = base::saturated_difference(place.end_ns, place.start_ns);
    add_hit(sums, name, place.ref.table, 1, std::max<std::int64_t>(0, duration));
    if (pattern.is_plain) earliest.offer(place);
  });
  if ((*matched)->has_names()) {
    const auto chunks = searched_chunks(store_);
    const auto found = chunk_names_->of(chunks, wanted, until_ns);
    if (!found.finished)
      return base::fail(base::ErrorKind::kFailed, "the search is no longer wanted");
    count_events(store_, chunks, found.counts, names, sums);
    if (pattern.is_plain) earliest.look_into(chunks, names, store_, *chunk_names_, {});
  }
  add_names(std::move(sums), hits);
  for (const timeline::EventPlace& place : earliest.take()) hits.instances.push_back({place, -1});
  return hits;
}

std::optional<timeline::EventPlace> NameSearch::neighbour_hit(const timeline::NamePattern& pattern,
                                                              int direction, std::int64_t from_ns,
                                                              const RunSnapshot& run,
                                                              const std::function<bool()>& wanted) {
  const auto matched = match(pattern);
  const bool is_next = direction > 0;
  if (!matched || from_ns == (is_next ? INT64_MAX : INT64_MIN)) return std::nullopt;
  NearestHits nearest(is_next ? NearestHits::Wanted{.first_ns = from_ns + 1}
                              : NearestHits::Wanted{.last_ns = from_ns - 1, .is_backward = true});
  for_each_row(run, (*matched)->matcher,
               [&](const timeline::EventPlace& place, std::string_view) { nearest.offer(place); });
  if ((*matched)->has_names()) {
    nearest.look_into(searched_chunks(store_), (*matched)->names, store_, *chunk_names_, wanted);
  }
  const auto hits = nearest.take();
  return hits.empty() ? std::nullopt : std::optional(hits.front());
}

}  // namespace shardlens::trace::explore
