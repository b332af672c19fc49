#pragma once
// The fields of a text in the form of RFC 4180, row by row.
//
//   CsvReader reader(text, ',');
//   std::vector<std::string> row;
//   while (reader.next(row)) use(row, reader.line());

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lope {

class CsvReader {
 public:
  /// A byte order mark at the beginning is passed over. The text outlives the reader.
  CsvReader(std::string_view text, char delimiter);

  /// Puts the fields of the next row that is not blank into `row`; false at the end. Throws Error with line and
  /// position (from 1) of a quote that is out of place or never closed.
  bool next(std::vector<std::string>& row);

  /// The line, from 1, on which the row begins that `next` gave last.
  int64_t line() const { return row_line_; }

 private:
  bool at_end() const { return at_ == text_.size(); }
  bool at_row_end() const { return at_end() || text_[at_] == '\n' || text_.substr(at_, 2) == "\r\n"; }
  void skip_row_end();
  void read_field(std::string& field);
  void read_quoted(std::string& field);
  [[noreturn]] void fail(std::string_view what) const;

  std::string_view text_;
  char delimiter_;
  size_t at_ = 0;
  size_t line_begin_ = 0;
  int64_t line_ = 1;
  int64_t row_line_ = 0;
};

}  // namespace lope
