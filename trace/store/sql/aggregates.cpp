#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "trace/base/median.h"
#include "trace/store/sql/extensions.h"

namespace shardlens::trace::store {

namespace {

constexpr std::size_t kMostValues = std::size_t{1} << 27;  // 1 GiB, as of an answer

// Whether there is one, which is not text.
bool is_number(sqlite3_context* context, sqlite3_value* value) {
  switch (sqlite3_value_numeric_type(value)) {
    case SQLITE_INTEGER:
    case SQLITE_FLOAT:
      return true;
    case SQLITE_NULL:
      return false;
    default:
      sqlite3_result_error(context, "it asks for the median, percentile or stdev of text", -1);
      return false;
  }
}

struct Sample {
  double share = 0.5;
  std::vector<double> values{};

  void add(sqlite3_context* context, double value) {
    if (values.size() == kMostValues) return sqlite3_result_error_nomem(context);
    values.push_back(value);
  }
};

// `count`: 1 for a median, 2 for a percentile. SQLite keeps a pointer for each group, null at
// first.
void take(sqlite3_context* context, int count, sqlite3_value** arguments) try {
  auto** sample = static_cast<Sample**>(sqlite3_aggregate_context(context, sizeof(Sample*)));
  if (sample == nullptr || !is_number(context, arguments[0])) return;
  if (*sample == nullptr) {
    const double percent = count == 1 ? 50 : sqlite3_value_double(arguments[1]);
    if (!(percent >= 0 && percent <= 100)) {
      return sqlite3_result_error(context, "a percentile lies from 0 to 100", -1);
    }
    *sample = new Sample{percent / 100};
  }
  (*sample)->add(context, sqlite3_value_double(arguments[0]));
} catch (const std::bad_alloc&) {
  sqlite3_result_error_nomem(context);
}

void give_quantile(sqlite3_context* context) {
  auto** kept = static_cast<Sample**>(sqlite3_aggregate_context(context, 0));
  if (kept == nullptr || *kept == nullptr) return;
  const std::unique_ptr<Sample> sample(*kept);
  std::ranges::sort(sample->values);
  sqlite3_result_double(context, base::quantile(sample->values, sample->share));
}

// Welford 1962: sums of squares of large numbers would cancel.
struct Spread {
  std::int64_t count;
  double mean, squares;
};

void take_spread(sqlite3_context* context, int, sqlite3_value** arguments) {
  auto* spread = static_cast<Spread*>(sqlite3_aggregate_context(context, sizeof(Spread)));
  if (spread == nullptr || !is_number(context, arguments[0])) return;
  const double value = sqlite3_value_double(arguments[0]), before = value - spread->mean;
  spread->mean += before / static_cast<double>(++spread->count);
  spread->squares += before * (value - spread->mean);
}

void give_spread(sqlite3_context* context) {
  const auto* spread = static_cast<Spread*>(sqlite3_aggregate_context(context, 0));
  if (spread == nullptr || spread->count < 2) return;
  sqlite3_result_double(context,
                        std::sqrt(spread->squares / static_cast<double>(spread->count - 1)));
}

}  // namespace

base::Result<void> create_aggregates(Database& connection) {
  const auto add = [&](const char* name, int arguments, auto step, auto end) {
    return connection.check(sqlite3_create_function_v2(connection.get(), name, arguments,
                                                       SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr,
                                                       nullptr, step, end, nullptr));
  };
  TRY(add("median", 1, take, give_quantile));
  TRY(add("percentile", 2, take, give_quantile));
  return add("stdev", 1, take_spread, give_spread);
}

}  // namespace shardlens::trace::store
