#include "csv_reader.h"

#include <fmt/format.h>

#include "lope/error.h"

namespace lope {

CsvReader::CsvReader(std::string_view text, char delimiter) : text_(text), delimiter_(delimiter) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
}

void CsvReader::fail(std::string_view what) const {
  throw Error(fmt::format("line {} position {}: {}", line_, at_ - line_begin_ + 1, what));
}

void CsvReader::skip_row_end() {
  if (at_end()) return;
  at_ += text_[at_] == '\r' ? 2 : 1;
  line_begin_ = at_;
  ++line_;
}

bool CsvReader::next(std::vector<std::string>& row) {
  while (!at_end() && at_row_end()) skip_row_end();
  if (at_end()) return false;
  row_line_ = line_;
  size_t fields = 0;
  while (true) {
    if (fields == row.size()) row.emplace_back();
    read_field(row[fields++]);
    if (at_row_end()) break;
    ++at_;  // the delimiter
  }
  row.resize(fields);
  skip_row_end();
  return true;
}

void CsvReader::read_field(std::string& field) {
  field.clear();
  if (!at_row_end() && text_[at_] == '"') return read_quoted(field);
  const size_t begin = at_;
  while (!at_row_end() && text_[at_] != delimiter_) {
    if (text_[at_] == '"') fail("there is a quote in a field that does not begin with one");
    ++at_;
  }
  field.assign(text_.substr(begin, at_ - begin));
}

void CsvReader::read_quoted(std::string& field) {
  const CsvReader opening = *this;
  for (++at_; !at_end(); ++at_) {
    if (text_[at_] == '"' && text_.substr(at_, 2) != "\"\"") {
      ++at_;
      if (!at_row_end() && text_[at_] != delimiter_) fail("there is text behind a closing quote");
      return;
    }
    if (text_[at_] == '"') ++at_;
    if (text_[at_] == '\n') {
      ++line_;
      line_begin_ = at_ + 1;
    }
    field.push_back(text_[at_]);
  }
  opening.fail("there is a quote that is never closed");
}

}  // namespace lope
