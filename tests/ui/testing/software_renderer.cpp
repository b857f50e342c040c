#include "tests/ui/testing/software_renderer.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace shardlens::ui {

namespace {

struct Canvas {
  std::vector<std::uint8_t> rgba;
  int width = 0, height = 0;
};

struct Texture {
  const unsigned char* alpha = nullptr;
  int width = 0, height = 0;

  float sample(float u, float v) const {  // bilinear
    const float x = u * static_cast<float>(width) - 0.5f, y = v * static_cast<float>(height) - 0.5f;
    const int x0 = static_cast<int>(std::floor(x)), y0 = static_cast<int>(std::floor(y));
    const float fx = x - static_cast<float>(x0), fy = y - static_cast<float>(y0);
    const auto at = [this](int i, int j) {
      i = std::clamp(i, 0, width - 1);
      j = std::clamp(j, 0, height - 1);
      return static_cast<float>(alpha[j * width + i]) / 255.0f;
    };
    return (at(x0, y0) * (1 - fx) + at(x0 + 1, y0) * fx) * (1 - fy) +
           (at(x0, y0 + 1) * (1 - fx) + at(x0 + 1, y0 + 1) * fx) * fy;
  }
};

double cross(const ImVec2& a, const ImVec2& b, double x, double y) {
  return (static_cast<double>(b.x) - a.x) * (y - a.y) -
         (static_cast<double>(b.y) - a.y) * (x - a.x);
}

// The rule that gives a pixel on a shared edge to one triangle only.
bool owns_edge(const ImVec2& a, const ImVec2& b) { return a.y == b.y ? a.x < b.x : a.y > b.y; }

void blend(Canvas& canvas, int x, int y, const std::array<float, 4>& c) {
  std::uint8_t* pixel = &canvas.rgba[static_cast<std::size_t>((y * canvas.width + x) * 4)];
  for (int i = 0; i < 3; ++i) {
    const float under = pixel[i];
    pixel[i] = static_cast<std::uint8_t>(
        std::lround(under + (c[static_cast<std::size_t>(i)] - under) * c[3]));
  }
}

void triangle(Canvas& canvas, const Texture& texture, const ImDrawVert* v0, const ImDrawVert* v1,
              const ImDrawVert* v2, const ImVec4& clip) {
  double area = cross(v0->pos, v1->pos, v2->pos.x, v2->pos.y);
  if (area == 0) return;
  if (area < 0) {
    std::swap(v1, v2);
    area = -area;
  }
  const auto [low_x, high_x] = std::minmax({v0->pos.x, v1->pos.x, v2->pos.x});
  const auto [low_y, high_y] = std::minmax({v0->pos.y, v1->pos.y, v2->pos.y});
  const int x_begin = std::max(0, static_cast<int>(std::floor(std::max(low_x, clip.x))));
  const int x_end = std::min(canvas.width, static_cast<int>(std::ceil(std::min(high_x, clip.z))));
  const int y_begin = std::max(0, static_cast<int>(std::floor(std::max(low_y, clip.y))));
  const int y_end = std::min(canvas.height, static_cast<int>(std::ceil(std::min(high_y, clip.w))));
  const std::array<const ImDrawVert*, 3> v{v0, v1, v2};
  for (int y = y_begin; y < y_end; ++y) {
    for (int x = x_begin; x < x_end; ++x) {
      const double px = x + 0.5, py = y + 0.5;
      if (px < clip.x || px >= clip.z || py < clip.y || py >= clip.w) continue;
      const std::array<double, 3> w{cross(v1->pos, v2->pos, px, py),
                                    cross(v2->pos, v0->pos, px, py),
                                    cross(v0->pos, v1->pos, px, py)};
      bool inside = true;
      for (std::size_t i = 0; i < 3; ++i) {
        const auto& a = v[(i + 1) % 3]->pos;
        const auto& b = v[(i + 2) % 3]->pos;
        inside = inside && (w[i] > 0 || (w[i] == 0 && owns_edge(a, b)));
      }
      if (!inside) continue;
      std::array<float, 4> c{};
      float u = 0, t = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        const auto share = static_cast<float>(w[i] / area);
        u += v[i]->uv.x * share;
        t += v[i]->uv.y * share;
        for (std::size_t k = 0; k < 4; ++k) {
          c[k] += static_cast<float>((v[i]->col >> (8 * k)) & 0xff) * share;
        }
      }
      c[3] = c[3] / 255.0f * texture.sample(u, t);
      if (c[3] > 0) blend(canvas, x, y, c);
    }
  }
}

}  // namespace

std::vector<std::uint8_t> rasterize(const ImDrawData& data, const ImFontAtlas& atlas, int width,
                                    int height) {
  Canvas canvas{std::vector<std::uint8_t>(static_cast<std::size_t>(width * height) * 4, 255), width,
                height};
  Texture texture{atlas.TexPixelsAlpha8, atlas.TexWidth, atlas.TexHeight};
  if (texture.alpha == nullptr) return canvas.rgba;
  for (int n = 0; n < data.CmdListsCount; ++n) {
    const ImDrawList& list = *data.CmdLists[n];
    for (const ImDrawCmd& command : list.CmdBuffer) {
      if (command.UserCallback != nullptr) continue;
      for (unsigned i = 0; i + 2 < command.ElemCount; i += 3) {
        const auto vertex = [&](unsigned k) {
          const ImDrawIdx index = list.IdxBuffer[static_cast<int>(command.IdxOffset + i + k)];
          return &list.VtxBuffer[static_cast<int>(command.VtxOffset + index)];
        };
        triangle(canvas, texture, vertex(0), vertex(1), vertex(2), command.ClipRect);
      }
    }
  }
  return canvas.rgba;
}

}  // namespace shardlens::ui
