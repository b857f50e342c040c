// Dear ImGui's triangles as pixels, without a graphics driver: for pictures of panels in tests.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <vector>

namespace shardlens::ui {

std::vector<std::uint8_t> rasterize(const ImDrawData& data, const ImFontAtlas& atlas, int width,
                                    int height);

}  // namespace shardlens::ui
