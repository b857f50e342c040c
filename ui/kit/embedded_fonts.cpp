#include "ui/kit/embedded_fonts.h"

extern "C" {
extern const unsigned char shardlens_inter_regular[], shardlens_inter_regular_end[];
extern const unsigned char shardlens_inter_medium[], shardlens_inter_medium_end[];
extern const unsigned char shardlens_inter_semibold[], shardlens_inter_semibold_end[];
extern const unsigned char shardlens_mono_regular[], shardlens_mono_regular_end[];
}

namespace shardlens::ui::kit {

namespace {

EmbeddedFont between(const unsigned char* begin, const unsigned char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

EmbeddedFont inter_regular() {
  return between(shardlens_inter_regular, shardlens_inter_regular_end);
}
EmbeddedFont inter_medium() { return between(shardlens_inter_medium, shardlens_inter_medium_end); }
EmbeddedFont inter_semibold() {
  return between(shardlens_inter_semibold, shardlens_inter_semibold_end);
}
EmbeddedFont jetbrains_mono_regular() {
  return between(shardlens_mono_regular, shardlens_mono_regular_end);
}

}  // namespace shardlens::ui::kit
