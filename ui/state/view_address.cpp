#include "ui/state/view_address.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <utility>

#include "trace/analysis/compare/run_difference.h"
#include "trace/base/printable.h"
#include "trace/base/text.h"
#include "trace/base/words/suggestion.h"
#include "trace/job/settings/settings.h"
#include "ui/state/view_preferences.h"

namespace shardlens::ui::state {

using trace::base::ErrorKind;
using trace::base::fail;

namespace {

constexpr std::string_view kByStep = "by_step";
constexpr std::string_view kHexDigits = "0123456789ABCDEF";

bool stands_for_itself(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.' ||
         c == '~';
}

// As in the query of a web address (RFC 3986), so that no shell and no chat changes it.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (stands_for_itself(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kHexDigits[byte >> 4];
    out += kHexDigits[byte & 15];
  }
  return out;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const char* const digits = text.data() + i + 1;
    const bool is_escape = text[i] == '%' && i + 2 < text.size() &&
                           std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    out += is_escape ? static_cast<char>(byte) : text[i];
    if (is_escape) i += 2;
  }
  return out;
}

std::string_view cut(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

void add_range(std::string& text, std::string_view name, const std::optional<AddressRange>& range) {
  if (!range) return;
  text += "&" + std::string(name) + "=" + std::to_string(range->from_ns) + ".." +
          std::to_string(range->to_ns);
}

std::optional<AddressRange> range_in(std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) return {};
  const auto from = trace::base::number_from<std::int64_t>(text.substr(0, dots)),
             to = trace::base::number_from<std::int64_t>(text.substr(dots + 2));
  if (!from || !to || *to <= *from) return {};
  return AddressRange{*from, *to};
}

// The address alone, of a line that was copied with its command.
std::string_view without_command(std::string_view text) {
  constexpr std::string_view kOption = "--view";
  if (const std::size_t at = text.find(kOption); at != std::string_view::npos) {
    text.remove_prefix(at + kOption.size());
  }
  constexpr std::string_view kAround = " \t\n'\"=";
  const std::size_t first = std::min(text.find_first_not_of(kAround), text.size());
  text.remove_prefix(first);
  while (!text.empty() && kAround.find(text.back()) != std::string_view::npos) {
    text.remove_suffix(1);
  }
  return text;
}

tl::unexpected<trace::base::Error> refused(std::string_view text, const std::string& why) {
  return fail(ErrorKind::kUsage, "\"" + trace::base::shortened(text) + "\" is not a view: " + why +
                                     ". Copy one in the window: Ctrl+K, \"Copy this view\".");
}

// The runs of Compare, the base first.
trace::base::Result<void> take_compared(std::string_view text, std::string_view names,
                                        ViewAddress& address) {
  using trace::analysis::kFewestCompared;
  using trace::analysis::kMostCompared;
  std::vector<std::string> runs;
  while (!names.empty()) runs.push_back(unescaped(cut(names, ',')));
  const bool has_all =
      std::ranges::none_of(runs, [](const std::string& run) { return run.empty(); });
  if (!has_all || runs.size() < kFewestCompared || runs.size() > kMostCompared) {
    return refused(text, "it names " + std::to_string(kFewestCompared) + " to " +
                             std::to_string(kMostCompared) + " runs, with commas between them");
  }
  address.run = std::move(runs.front());
  address.others.assign(std::move_iterator(runs.begin() + 1), std::move_iterator(runs.end()));
  return {};
}

// Any that there is: a run without it shows another one.
trace::base::Result<void> take_tab(std::string_view text, std::string_view title,
                                   ViewAddress& address) {
  address.tab = unescaped(title);
  if (std::ranges::find(kInspectTabTitles, address.tab) != kInspectTabTitles.end()) return {};
  const auto nearest = trace::base::nearest_names(address.tab, kInspectTabTitles).front();
  return refused(text, "there is no tab \"" + trace::base::shortened(title) +
                           "\", the nearest is \"" + std::string(nearest) + "\"");
}

// "bucket_cap_mb=4", of which the knob knows whether it takes it.
trace::base::Result<void> take_setting(std::string_view text, std::string_view assignment,
                                       ViewAddress& address) {
  if (address.workspace != kTuneWorkspace) return refused(text, "set is of tune/");
  std::string knob = unescaped(cut(assignment, '='));
  AddressSetting setting{std::move(knob), unescaped(assignment)};
  if (setting.value != trace::base::printable_line(setting.value)) {
    return refused(text, "the value of a setting is one line of text");
  }
  trace::job::Settings taken;
  if (const auto set = trace::job::set_value(taken, setting.knob, setting.value); !set) {
    std::string why = set.error().message;
    while (why.ends_with('.')) why.pop_back();
    return refused(text, why);
  }
  address.settings.push_back(std::move(setting));
  return {};
}

}  // namespace

std::string address_text(const ViewAddress& address) {
  std::string options;
  if (!address.tab.empty()) options += "&tab=" + escaped(address.tab);
  if (address.steps_of_rank >= 0) {
    options += "&steps_of_rank=" + std::to_string(address.steps_of_rank);
  }
  add_range(options, "shown_ns", address.shown);
  add_range(options, "selected_ns", address.selected);
  if (address.aligned_by_step) options += "&ranks=" + std::string(kByStep);
  if (address.step >= 0) options += "&step=" + std::to_string(address.step);
  for (const AddressSetting& setting : address.settings) {
    options += "&set=" + escaped(setting.knob) + "=" + escaped(setting.value);
  }
  if (!options.empty()) options.front() = '?';
  std::string runs = escaped(address.run);
  for (const std::string& other : address.others) runs += "," + escaped(other);
  return address.workspace + "/" + runs + options;
}

trace::base::Result<ViewAddress> parse_address(std::string_view text) {
  if (text.size() > kLongestAddress) {
    return refused(text, "it is longer than " + std::to_string(kLongestAddress) + " bytes");
  }
  std::string_view rest = without_command(text);
  ViewAddress address;
  address.workspace = std::string(cut(rest, '/'));
  const std::string_view runs = cut(rest, '?');
  if (address.workspace == kCompareWorkspace) {
    TRY(take_compared(text, runs, address));
  } else if (address.workspace == kTuneWorkspace || address.workspace == kInspectWorkspace) {
    address.run = unescaped(runs);
  } else {
    return refused(text, "it begins with tune/, inspect/ or compare/");
  }
  if (address.run.empty()) return refused(text, "it names no run");
  while (!rest.empty()) {
    std::string_view value = cut(rest, '&');
    const std::string_view name = cut(value, '=');
    if (name == "tab") {
      TRY(take_tab(text, value, address));
    } else if (name == "shown_ns" || name == "selected_ns") {
      const auto range = range_in(value);
      if (!range) return refused(text, std::string(name) + " is START..END in nanoseconds");
      (name == "shown_ns" ? address.shown : address.selected) = range;
    } else if (name == "ranks") {
      if (value != kByStep) return refused(text, "ranks is " + std::string(kByStep));
      address.aligned_by_step = true;
    } else if (name == "steps_of_rank") {
      const auto rank = trace::base::number_from<int>(value);
      if (!rank || *rank < 0) return refused(text, "steps_of_rank is a rank's number");
      address.steps_of_rank = *rank;
    } else if (name == "step") {
      const auto step = trace::base::number_from<std::int64_t>(value);
      if (!step || *step < 0) return refused(text, "step is a number");
      address.step = *step;
    } else if (name == "set") {
      TRY(take_setting(text, value, address));
    } else {
      return refused(text, "\"" + trace::base::shortened(name) + "\" is not known");
    }
  }
  return address;
}

}  // namespace shardlens::ui::state
