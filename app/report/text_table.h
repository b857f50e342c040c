// Columns of text in a fixed-width font, aligned by what is seen, not by bytes, and the figures
// that stand in them. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shardlens::app::report {

enum class Align { kLeft, kRight };

class TextTable {
 public:
  struct Column {
    std::string heading;
    Align align = Align::kLeft;
    std::size_t longest = 60;  // longer texts are cut with "…"
    bool is_name = false;      // … in their middle: names of a sweep begin alike
  };
  explicit TextTable(std::vector<Column> columns);

  void add_row(std::vector<std::string> cells);  // as many as there are columns
  bool empty() const { return rows_.empty(); }
  // Headings and rows, each line after `indent` and with a newline; no trailing spaces.
  std::string text(std::string_view indent = "  ", bool headings = true) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

std::string time_text(double ns);
std::string size_text(double bytes);
std::string loss_text(double loss);                       // "2.7012", "not finite"
std::string or_unknown(bool is_known, std::string text);  // "–": it is not known

// Code points: what a terminal shows of the texts written here.
std::size_t display_width(std::string_view text);
// Cut to `width` code points, with "…" as the last.
std::string cut_to_width(std::string_view text, std::size_t width);

}  // namespace shardlens::app::report
