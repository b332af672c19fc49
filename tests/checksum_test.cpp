#include "../src/checksum.h"

#include <gtest/gtest.h>

#include <span>
#include <string>

namespace lope::testing {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(Checksum, IsXxh3WithSeedZero) {
  // The value that the reference implementation gives for no bytes.
  EXPECT_EQ(checksum_of({}), 0x2d06800538d394c2U);
  EXPECT_EQ(checksum_text(checksum_of({})), "2d06800538d394c2");
  EXPECT_EQ(checksum_text(0xabcU), "0000000000000abc");
}

TEST(Checksum, DoesNotDependOnThePieces) {
  std::string text(5000, 'a');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * i % 251);
  for (const size_t piece : {size_t{1}, size_t{64}, size_t{257}, size_t{4999}}) {
    Checksum checksum;
    for (size_t at = 0; at < text.size(); at += piece) checksum.add(bytes_of(text.substr(at, piece)));
    EXPECT_EQ(checksum.value(), checksum_of(bytes_of(text))) << piece;
  }
}

}  // namespace
}  // namespace lope::testing
