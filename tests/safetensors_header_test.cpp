#include "lope/safetensors_header.h"

#include <gtest/gtest.h>

#include <cstring>

#include "support/error_of.h"

namespace lope {
namespace {

using testing::error_of;

std::string file_with(const std::string& header, std::size_t data_bytes) {
  const std::uint64_t length = header.size();
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  return file + header + std::string(data_bytes, '\0');
}

SafetensorsHeader parse(const std::string& file) { return parse_safetensors(std::as_bytes(std::span(file)), "f"); }

std::string error_for(const std::string& header, std::size_t data_bytes) {
  return error_of([&] { parse(file_with(header, data_bytes)); });
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":[)" + shape + R"(],"data_offsets":[)" + offsets + "]}";
}

TEST(SafetensorsHeader, HasTheEntriesInTheOrderOfTheirBytes) {
  const std::string text = R"({"b":)" + entry("I64", "1", "8,16") + R"(,"a":)" + entry("F32", "1,2", "0,8") + "}  ";
  const SafetensorsHeader header = parse(file_with(text, 16));
  const std::size_t data = 8 + text.size();
  ASSERT_EQ(header.entries.size(), 2U);
  EXPECT_EQ(header.entries[0].name, "a");
  EXPECT_EQ(header.entries[0].dtype, c10::ScalarType::Float);
  EXPECT_EQ(header.entries[0].shape, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(header.entries[0].begin, data);
  EXPECT_EQ(header.entries[1].name, "b");
  EXPECT_EQ(header.entries[1].end, data + 16);
}

TEST(SafetensorsHeader, HasTheMetadata) {
  EXPECT_EQ(parse(file_with(R"({"__metadata__":{"format":"pt"}})", 0)).metadata.at("format"), "pt");
}

TEST(SafetensorsHeader, ScalarsAndEmptyTensorsAreAllowed) {
  const std::string text = R"({"s":)" + entry("F32", "", "0,4") + R"(,"e":)" + entry("F32", "0,3", "4,4") + "}";
  EXPECT_EQ(parse(file_with(text, 4)).entries.size(), 2U);
}

TEST(SafetensorsHeader, AFileTooShortForALengthIsRefused) {
  EXPECT_EQ(error_of([] { parse("1234567"); }), "cannot read f: it has 7 bytes, too few for a safetensors file");
}

TEST(SafetensorsHeader, ALengthBeyondTheFileIsRefused) {
  EXPECT_EQ(error_of([] { parse(std::string("\x05\0\0\0\0\0\0\0{}", 10)); }),
            "cannot read f: it claims a header of 5 bytes, but only 2 follow; it may be cut short");
}

TEST(SafetensorsHeader, AHugeLengthIsRefusedWithoutReadingOn) {
  EXPECT_EQ(error_of([] { parse(std::string(8, '\xff')); }),
            "cannot read f: it claims a header of 18446744073709551615 bytes, but at most 100000000 are allowed");
}

struct Refused {
  std::string header;
  std::size_t data_bytes;
  std::string message;
};

TEST(SafetensorsHeader, EverythingThatTheFormatForbidsIsRefusedByName) {
  const std::string good = entry("F32", "1", "0,4");
  const std::vector<Refused> table{
      {"", 0, "its header must begin with {; it is not a safetensors file"},
      {"[]", 0, "its header must begin with {; it is not a safetensors file"},
      {R"({"a":)", 0, "its header is not JSON in UTF-8: byte 6 is wrong"},
      {"{\"\xff\":1}", 0, "its header is not JSON in UTF-8: byte 3 is wrong"},
      {R"({"a":)" + good + "}x", 4, "its header is not JSON in UTF-8: byte 55 is wrong"},
      {R"({"a":1})", 0, R"(its header has a number as the value of "a")"},
      {R"({"a":[]})", 0, R"(its header has a list as the value of "a")"},
      {R"({"a":null})", 0, R"(its header has null as the value of "a")"},
      {R"({"__metadata__":{"k":1}})", 0, R"(its header has a number as the value of "k")"},
      {R"({"__metadata__":{"k":{}}})", 0, R"(its header has an object as the value of "k")"},
      {R"({"__metadata__":{"k":"1","k":"2"}})", 0, R"(its header has "k" twice)"},
      {R"({"a":)" + good + R"(,"a":)" + good + "}", 4, R"(its header has "a" twice)"},
      {R"({"a":{"shape":[1],"data_offsets":[0,4]}})", 4, R"(tensor "a" has no dtype in the header)"},
      {R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4, R"(tensor "a" has no shape in the header)"},
      {R"({"a":{"dtype":"F32","shape":[1]}})", 4, R"(tensor "a" has no data_offsets in the header)"},
      {R"({"a":{"color":"red"}})", 4,
       R"(tensor "a" has an unknown field "color" in the header; the format has dtype, shape, data_offsets)"},
      {R"({"a":{"shape":[[1]]}})", 4, R"(tensor "a" has a list in its "shape")"},
      {R"({"a":{"shape":[-1]}})", 4, R"(tensor "a" has a negative number in its "shape")"},
      {R"({"a":{"shape":[1.0]}})", 4, R"(tensor "a" has a number that is no 64-bit integer in its "shape")"},
      {R"({"a":{"shape":[18446744073709551616]}})", 4,
       R"(tensor "a" has a number that is no 64-bit integer in its "shape")"},
      {R"({"a":{"shape":[9223372036854775808]}})", 4, R"(tensor "a" has a number above 2^63 - 1 in its "shape")"},
      {R"({"a":{"data_offsets":[0]}})", 4, R"(tensor "a" has a list that is not [begin, end] in its "data_offsets")"},
      {R"({"a":{"data_offsets":[0,1,2]}})", 4, R"(tensor "a" has a third number in its "data_offsets")"},
      {R"({"a":)" + entry("F32", "1", "0,8") + "}", 4,
       R"(tensor "a" has data_offsets [0, 8], outside the 4 bytes of data; the file may be cut short)"},
      {R"({"a":)" + entry("F32", "1", "4,0") + "}", 4,
       R"(tensor "a" has data_offsets [4, 0], outside the 4 bytes of data; the file may be cut short)"},
      {R"({"a":)" + entry("F32", "2", "0,4") + "}", 4,
       R"(tensor "a" of shape [2] and dtype Float needs 8 bytes, but its data_offsets span 4)"},
      {R"({"a":)" + entry("F32", "4294967296,4294967296", "0,0") + "}", 0,
       R"(tensor "a" is too large: its shape [4294967296, 4294967296] overflows)"},
      {R"({"a":)" + entry("U8", "0,9223372036854775807,9223372036854775807", "0,0") + "}", 0,
       R"(tensor "a" is too large: its shape [0, 9223372036854775807, 9223372036854775807] overflows)"},
      {R"({"a":)" + good + R"(,"b":)" + entry("F32", "1", "2,6") + "}", 6,
       R"(tensor "b" begins at byte 2 of the data, but the one before ends at 4: they overlap)"},
      {R"({"a":)" + good + R"(,"b":)" + entry("F32", "1", "8,12") + "}", 12,
       R"(tensor "b" begins at byte 8 of the data, but the one before ends at 4: there is a hole)"},
      {R"({"a":)" + good + "}", 5, "its tensors end at byte 4 of the data, but there are 5"},
  };
  for (const Refused& row : table) {
    EXPECT_EQ(error_for(row.header, row.data_bytes), "cannot read f: " + row.message) << row.header;
  }
}

TEST(SafetensorsHeader, AnUnknownDtypeIsAnsweredWithTheKnownOnes) {
  EXPECT_EQ(error_for(R"({"a":)" + entry("F4", "2", "0,1") + "}", 1),
            R"(cannot read f: tensor "a" has dtype "F4", but only these can be read: F64, F32, F16, BF16, I64, I32, )"
            "I16, I8, U64, U32, U16, U8, BOOL, F8_E4M3, F8_E5M2, F8_E8M0, C64");
}

TEST(SafetensorsHeader, MoreDimensionsThanTorchHasAreRefused) {
  std::string shape = "1";
  for (int i = 0; i < 64; ++i) shape += ",1";
  EXPECT_EQ(error_for(R"({"a":)" + entry("U8", shape, "0,1") + "}", 1),
            R"(cannot read f: tensor "a" has 65 dimensions, but at most 64 are allowed)");
}

TEST(SafetensorsHeader, AMillionOpenBracketsAreRefusedAtTheFirstThatIsWrong) {
  EXPECT_EQ(error_for(R"({"a":{"shape":)" + std::string(1'000'000, '['), 0),
            R"(cannot read f: tensor "a" has a list in its "shape")");
}

TEST(SafetensorsHeader, NamesInMessagesAreShortAndOnOneLine) {
  const std::string message = error_for("{\"" + std::string(500, 'n') + "\":1}", 0);
  EXPECT_EQ(message, "cannot read f: its header has a number as the value of \"" + std::string(120, 'n') + "...\"");
  EXPECT_EQ(error_for(R"({"a\nb":1})", 0), R"(cannot read f: its header has a number as the value of "a?b")");
}

TEST(SafetensorsHeader, EveryPrefixOfAFileIsRefused) {
  const std::string file = file_with(R"({"a":)" + entry("F32", "1", "0,4") + "}", 4);
  EXPECT_EQ(parse(file).entries.size(), 1U);
  for (std::size_t length = 0; length < file.size(); ++length) {
    EXPECT_THROW(parse(file.substr(0, length)), Error) << length;
  }
}

}  // namespace
}  // namespace lope
