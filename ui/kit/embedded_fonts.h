// The font files, embedded at build time from the system's packages. Any thread.
#pragma once

#include <cstddef>

namespace shardlens::ui::kit {

struct EmbeddedFont {
  const unsigned char* data = nullptr;
  std::size_t size = 0;
};

EmbeddedFont inter_regular();
EmbeddedFont inter_medium();
EmbeddedFont inter_semibold();
EmbeddedFont jetbrains_mono_regular();

}  // namespace shardlens::ui::kit
