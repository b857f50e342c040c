// Figures in sentences. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shardlens::trace::advice {

std::string time_words(double ns);                                  // "42.1 ms"
std::string size_words(std::int64_t bytes);                         // "147 MiB"
std::string percent_words(double fraction);                         // "67 %"
std::string count_words(std::int64_t count, std::string_view one);  // "1 bucket", "3 buckets"
std::string mib_value(double mib);                                  // a knob's: "0.5", "25"
// What a change does to a rank's peak: "120 MiB more per rank", "" for 0.
std::string memory_words(std::int64_t more_bytes);

}  // namespace shardlens::trace::advice
