#include "ui/kit/theme.h"

#include <cmath>
#include <cstddef>

#ifdef SHARDLENS_FREETYPE
#include <imgui_freetype.h>
#endif

// The font files, embedded at build time from the system's packages.
extern "C" {
extern const unsigned char shardlens_inter_regular[], shardlens_inter_regular_end[];
extern const unsigned char shardlens_inter_medium[], shardlens_inter_medium_end[];
extern const unsigned char shardlens_inter_semibold[], shardlens_inter_semibold_end[];
extern const unsigned char shardlens_mono_regular[], shardlens_mono_regular_end[];
}

namespace shardlens::ui::kit {

namespace {

struct EmbeddedFont {
  const unsigned char *data, *end;

  std::size_t size() const { return static_cast<std::size_t>(end - data); }
};
constexpr EmbeddedFont kInterRegular{shardlens_inter_regular, shardlens_inter_regular_end};
constexpr EmbeddedFont kInterMedium{shardlens_inter_medium, shardlens_inter_medium_end};
constexpr EmbeddedFont kInterSemibold{shardlens_inter_semibold, shardlens_inter_semibold_end};
constexpr EmbeddedFont kMono{shardlens_mono_regular, shardlens_mono_regular_end};

// ImGui sizes a font by ascender − descender; type is specified by its em. The ratios are those of
// the fonts' hhea tables.
constexpr float kInterHeightPerEm = 1.2102f;
constexpr float kMonoHeightPerEm = 1.32f;

// Latin with accents, Greek and Cyrillic for names and logs; punctuation, arrows, relations, marks.
constexpr ImWchar kGlyphs[] = {0x0020, 0x017f, 0x0370, 0x03ff, 0x0400, 0x045f, 0x2010, 0x2027,
                               0x2030, 0x2033, 0x2039, 0x203a, 0x20ac, 0x20ac, 0x2190, 0x2193,
                               0x2202, 0x2202, 0x2206, 0x2206, 0x2211, 0x2212, 0x221a, 0x221a,
                               0x221e, 0x221e, 0x2248, 0x2248, 0x2260, 0x2260, 0x2264, 0x2265,
                               0x25b2, 0x25b2, 0x25bc, 0x25bc, 0x2713, 0x2713, 0};

struct FaceSpec {
  EmbeddedFont font;
  float em;
};

constexpr std::array<FaceSpec, kFaceCount> kFaces{{
    {kInterRegular, 13},     // kBody
    {kInterRegular, 11.5f},  // kSmall
    {kInterMedium, 13},      // kMedium
    {kInterSemibold, 13},    // kStrong
    {kInterSemibold, 11},    // kHeading
    {kInterSemibold, 16},    // kTitle
    {kInterRegular, 15},     // kReading
    {kInterSemibold, 15},    // kReadingStrong
    {kMono, 12.5f},          // kMono
    {kMono, 11},             // kMonoSmall
    {kMono, 19},             // kMonoLarge
    {kMono, 14},             // kMonoReading
}};

ImVec4 vec(state::Rgb c, float alpha = 1) {
  return {c.r / 255.0f, c.g / 255.0f, c.b / 255.0f, alpha};
}

void apply_colors(ImGuiStyle& style, const state::Palette& p) {
  auto& c = style.Colors;
  c[ImGuiCol_Text] = vec(p.text);
  c[ImGuiCol_TextDisabled] = vec(p.text_muted);
  c[ImGuiCol_WindowBg] = vec(p.window);
  c[ImGuiCol_ChildBg] = vec(p.panel, 0);
  c[ImGuiCol_PopupBg] = vec(p.popup);
  c[ImGuiCol_Border] = vec(p.field_edge);
  c[ImGuiCol_BorderShadow] = vec(p.window, 0);
  c[ImGuiCol_FrameBg] = vec(p.field);
  c[ImGuiCol_FrameBgHovered] = vec(p.hover);
  c[ImGuiCol_FrameBgActive] = vec(p.hover);
  c[ImGuiCol_ScrollbarBg] = vec(p.panel, 0);
  c[ImGuiCol_ScrollbarGrab] = vec(p.field_edge);
  c[ImGuiCol_ScrollbarGrabHovered] = vec(p.text_muted);
  c[ImGuiCol_ScrollbarGrabActive] = vec(p.text_secondary);
  c[ImGuiCol_Header] = vec(p.row_selected);
  c[ImGuiCol_HeaderHovered] = vec(p.hover);
  c[ImGuiCol_HeaderActive] = vec(p.hover);
  c[ImGuiCol_Separator] = vec(p.panel_edge);
  c[ImGuiCol_TextSelectedBg] = vec(p.accent, 0.35f);
  c[ImGuiCol_NavHighlight] = vec(p.accent);
  c[ImGuiCol_ModalWindowDimBg] = vec(p.window, 0.6f);
}

}  // namespace

float Theme::px(float length) const { return std::round(length * scale); }

Fonts rebuild_fonts(ImFontAtlas& atlas, float scale) {
  atlas.Clear();
  Fonts fonts{};
#ifdef SHARDLENS_FREETYPE
  atlas.FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
  atlas.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
#endif
  atlas.Flags |= ImFontAtlasFlags_NoPowerOfTwoHeight;
  for (std::size_t i = 0; i < kFaces.size(); ++i) {
    const FaceSpec& spec = kFaces[i];
    const bool mono = static_cast<Face>(i) >= Face::kMono;
    ImFontConfig config;
    config.FontDataOwnedByAtlas = false;
    config.OversampleH = scale > 1.25f ? 1 : 2;
    config.GlyphRanges = kGlyphs;
    config.EllipsisChar = 0x2026;
    const float size = spec.em * scale * (mono ? kMonoHeightPerEm : kInterHeightPerEm);
    // The atlas only reads it; ImGui's signature predates const.
    void* data = const_cast<unsigned char*>(spec.font.data);
    fonts[i] = atlas.AddFontFromMemoryTTF(data, static_cast<int>(spec.font.size()), size, &config,
                                          kGlyphs);
  }
  atlas.Build();
  return fonts;
}

void apply_style(const Theme& theme) {
  ImGuiStyle& style = ImGui::GetStyle();
  style = ImGuiStyle();
  apply_colors(style, theme.colors());
  style.WindowPadding = {0, 0};
  style.WindowBorderSize = 0;
  style.WindowRounding = theme.px(8);
  style.PopupRounding = theme.px(6);
  style.PopupBorderSize = 1;
  style.ChildBorderSize = 0;
  style.FrameRounding = theme.px(5);
  style.FrameBorderSize = 0;
  style.FramePadding = {theme.px(8), theme.px(4)};
  style.ItemSpacing = {theme.px(8), theme.px(4)};
  style.ScrollbarSize = theme.px(8);
  style.ScrollbarRounding = theme.px(4);
  style.DisplaySafeAreaPadding = {0, 0};
}

}  // namespace shardlens::ui::kit
