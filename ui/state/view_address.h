// What is looked at, as a text to send: "inspect/RUN?tab=Kernels&shown_ns=0..1200000",
// "tune/RUN?set=bucket_cap_mb=4", "compare/RUN,RUN". Free of ImGui; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/result.h"

namespace shardlens::ui::state {

struct AddressRange {
  std::int64_t from_ns = 0, to_ns = 0;  // since the run's start

  bool operator==(const AddressRange&) const = default;
};

struct AddressSetting {
  std::string knob, value;

  bool operator==(const AddressSetting&) const = default;
};

struct ViewAddress {
  std::string workspace;            // "tune", "inspect" or "compare"
  std::string run;                  // the name of its folder or packed file
  std::vector<std::string> others;  // of Compare: the runs beside that one, which is the base
  std::string tab;                  // of Inspect, its title; "": as it was
  std::optional<AddressRange> shown, selected;
  // Of Inspect: whose steps stand one above the other, `shown` counting from their starts; -1: it
  // shows times.
  int steps_of_rank = -1;
  bool aligned_by_step = false;  // ranks, where times are shown or selected; else by the clock
  // Of Tune and Compare, or the first of those steps; -1: as chosen by the window.
  std::int64_t step = -1;
  std::vector<AddressSetting> settings;  // of Tune: what the next run has otherwise than this one

  bool operator==(const ViewAddress&) const = default;
};

inline constexpr std::size_t kLongestAddress = 16384;  // in bytes

std::string address_text(const ViewAddress& address);
// Takes what address_text() writes, also as "shardlens --view '…'". Its tab is one that
// there is, whatever the run, and its settings are such as their knobs take. Error kUsage.
trace::base::Result<ViewAddress> parse_address(std::string_view text);

}  // namespace shardlens::ui::state
