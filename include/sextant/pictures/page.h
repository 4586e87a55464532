// Makes one self-contained HTML page of sections of text, tables and pictures, which works offline,
// light and dark.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/pictures/canvas.h"

namespace sextant {

std::string escape_html(std::string_view text);

class Page {
 public:
  explicit Page(std::string title, std::string subtitle = "");
  void section(std::string_view heading);
  // Hides the following content behind a line that opens it, until unfold(); in print it is open.
  void fold(std::string_view summary);
  void unfold();
  // Inserts the list of sections here instead of at the top.
  void contents();
  void paragraph(std::string_view text);  // plain text, escaped
  void code(std::string_view text);
  // Adds a table; `rows[0]` is the header. Cells are escaped; numbers are set in tabular figures.
  // Throws Error for no row.
  void table(const std::vector<std::vector<std::string>>& rows);
  // Adds a picture. Throws Error for a picture whose text is no <svg> element.
  void picture(const Picture& picture, std::string_view caption);
  // Adds a picture with `narrow`, the same drawn for a phone (max_width of 350), which a column
  // shows in which the text of `picture` would be too small.
  void picture(const Picture& picture, const Picture& narrow, std::string_view caption);
  void verdict(bool good, std::string_view text);  // adds a highlighted line
  void data(std::string_view name,
            std::string_view json);  // adds a downloadable block of numbers inside the page
  // Insert HTML unchanged: the caller escapes. `insert_head` inserts into <head>, for style sheets
  // and meta tags.
  void insert(std::string_view html);
  void insert_head(std::string_view html);
  std::string html() const;

 private:
  void add_picture(const Picture& picture, std::string_view classes);
  void add_caption(std::string_view caption);

  std::string title_, subtitle_, head_, body_;
  std::size_t contents_at_ = 0;        // place of the table of contents in the body
  std::set<int> from_;                 // widths of the column from which wide pictures are shown
  std::vector<std::string> sections_;  // headings, for the table of contents
};

}  // namespace sextant
