#pragma once
// What is known about the terminal behind a stream.
//
//   if (is_terminal(std::cerr)) std::cerr << terminal_width(std::cerr);

#include <ostream>

namespace lope {

/// Whether the stream is std::cerr, std::clog or std::cout, and that is a terminal which can move its cursor.
bool is_terminal(const std::ostream& stream);

/// Columns; 80 where the terminal does not say.
int terminal_width(const std::ostream& stream);

/// Whether LC_ALL, LC_CTYPE or LANG, in this order of precedence, asks for UTF-8.
bool locale_is_utf8();

/// Whether NO_COLOR asks for text without colours.
bool colour_is_unwanted();

}  // namespace lope
