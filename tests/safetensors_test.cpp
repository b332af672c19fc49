#include "lope/safetensors.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "lope/mapped_file.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace lope {
namespace {

using testing::error_of;
using testing::read_text;
using testing::TemporaryFolder;
using testing::write_text;

TensorMap round_trip(const TensorMap& tensors) {
  const TemporaryFolder folder;
  save_safetensors(folder / "t", tensors);
  return SafetensorsFile(folder / "t").tensors();
}

TEST(Safetensors, EveryDtypeComesBackBitForBit) {
  at::manual_seed(1);
  const at::Tensor bytes = at::randint(0, 256, {24}, at::kByte);
  TensorMap tensors;
  for (const auto dtype : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong, at::kInt, at::kShort,
                           at::kChar, at::kByte, at::kUInt64, at::kUInt32, at::kUInt16, at::kFloat8_e4m3fn,
                           at::kFloat8_e5m2, at::kFloat8_e8m0fnu, at::kComplexFloat}) {
    tensors[c10::toString(dtype)] = bytes.view(dtype);
  }
  const TensorMap again = round_trip(tensors);
  EXPECT_EQ(again.size(), 16U);
  for (const auto& [name, tensor] : tensors) {
    EXPECT_EQ(again.at(name).scalar_type(), tensor.scalar_type());
    EXPECT_TRUE(again.at(name).view(at::kByte).equal(bytes)) << name;
  }
}

TEST(Safetensors, BoolsScalarsAndEmptyTensorsComeBack) {
  const TensorMap again = round_trip(
      {{"bool", at::arange(2).to(at::kBool)}, {"scalar", at::scalar_tensor(3.5)}, {"empty", at::empty({2, 0, 3})}});
  EXPECT_TRUE(again.at("bool").equal(at::arange(2).to(at::kBool)));
  EXPECT_EQ(again.at("scalar").dim(), 0);
  EXPECT_EQ(again.at("scalar").item<float>(), 3.5F);
  EXPECT_EQ(again.at("empty").sizes(), (std::vector<std::int64_t>{2, 0, 3}));
}

TEST(Safetensors, ViewsThatAreNotContiguousAreWrittenInTheirOwnOrder) {
  const at::Tensor table = at::arange(6, at::kFloat).view({2, 3});
  const TensorMap again =
      round_trip({{"t", table.t()}, {"column", table.select(1, 1)}, {"row", table.expand({4, 2, 3})}});
  EXPECT_TRUE(again.at("t").equal(table.t()));
  EXPECT_TRUE(again.at("column").equal(at::tensor({1.F, 4.F})));
  EXPECT_EQ(again.at("row").sum().item<float>(), 60.F);
}

TEST(Safetensors, ConjugateAndNegatedViewsAreWrittenAsTheirValues) {
  const at::Tensor value = at::complex(at::tensor({1.F}), at::tensor({2.F}));
  const TensorMap again = round_trip({{"conj", value.conj()}, {"neg", at::imag(value.conj())}});
  EXPECT_TRUE(again.at("conj").equal(value.conj().resolve_conj()));
  EXPECT_EQ(again.at("neg").item<float>(), -2.F);
}

TEST(Safetensors, DeviceTensorsComeBackOnTheCpu) {
  if (!at::globalContext().hasCUDA()) GTEST_SKIP() << "no CUDA device";
  const at::Tensor value = at::arange(5, at::TensorOptions(at::kFloat).device(at::kCUDA));
  EXPECT_TRUE(round_trip({{"a", value}}).at("a").equal(value.cpu()));
}

TEST(Safetensors, MetadataComesBackAndIsFormatPtByDefault) {
  const TemporaryFolder folder;
  save_safetensors(folder / "t", {}, {{"step", "7"}, {"note", "\"quoted\"\n"}});
  EXPECT_EQ(SafetensorsFile(folder / "t").metadata(),
            (std::map<std::string, std::string>{{"step", "7"}, {"note", "\"quoted\"\n"}}));
  save_safetensors(folder / "t", {});
  EXPECT_EQ(SafetensorsFile(folder / "t").metadata().at("format"), "pt");
}

TEST(Safetensors, DataIsAlignedAndWidestElementsComeFirst) {
  const TemporaryFolder folder;
  save_safetensors(folder / "t",
                   {{"a", at::ones({3}, at::kByte)}, {"b", at::ones({1}, at::kDouble)}, {"c", at::ones({1})}});
  const SafetensorsFile file(folder / "t");
  EXPECT_EQ(file.entries()[0].name, "b");
  EXPECT_EQ(file.entries()[0].begin % 8, 0U);
  EXPECT_EQ(file.entries()[1].name, "c");
  EXPECT_EQ(file.entries()[2].name, "a");
}

TEST(Safetensors, TensorsAliasTheMappedFileAndKeepItAlive) {
  const TemporaryFolder folder;
  save_safetensors(folder / "t", {{"a", at::arange(4, at::kInt)}});
  at::Tensor tensor;
  {
    const SafetensorsFile file(folder / "t");
    tensor = file.tensor("a");
    EXPECT_EQ(tensor.data_ptr(), file.tensor("a").data_ptr());
  }
  std::filesystem::remove(folder / "t");
  EXPECT_TRUE(tensor.equal(at::arange(4, at::kInt)));
}

TEST(Safetensors, WritingIntoATensorLeavesTheFileAlone) {
  const TemporaryFolder folder;
  save_safetensors(folder / "t", {{"a", at::ones({2})}});
  SafetensorsFile(folder / "t").tensor("a").zero_();
  EXPECT_TRUE(SafetensorsFile(folder / "t").tensor("a").equal(at::ones({2})));
}

std::string file_with(const std::string& header, const std::string& data) {
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size());
  return length + header + data;
}

TEST(Safetensors, DataAtAnOddAddressIsCopied) {
  const TemporaryFolder folder;
  std::string header = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  header.resize(header.size() + 3 - header.size() % 2, ' ');
  write_text(folder / "t", file_with(header, std::string("\0\0\x80\x3f", 4)));
  EXPECT_EQ(header.size() % 2, 1U);
  EXPECT_EQ(SafetensorsFile(folder / "t").tensor("a").item<float>(), 1.F);
}

TEST(Safetensors, BoolsOtherThanZeroAndOneAreRefused) {
  const TemporaryFolder folder;
  write_text(folder / "t", file_with(R"({"a":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})", "\x02"));
  EXPECT_EQ(error_of([&] { SafetensorsFile(folder / "t").tensor("a"); }),
            "cannot read " + (folder / "t") + ": tensor \"a\" is BOOL but has bytes other than 0 and 1");
}

TEST(Safetensors, AnUnknownNameIsAnError) {
  const TemporaryFolder folder;
  save_safetensors(folder / "t", {{"a", at::ones({1})}});
  const SafetensorsFile file(folder / "t");
  EXPECT_TRUE(file.contains("a"));
  EXPECT_FALSE(file.contains("b"));
  EXPECT_EQ(error_of([&] { file.tensor("b"); }), (folder / "t") + " has no tensor \"b\"; it has 1 others");
}

TEST(Safetensors, ADamagedFileIsNamed) {
  const TemporaryFolder folder;
  write_text(folder / "t", "not a safetensors file at all");
  EXPECT_EQ(error_of([&] { SafetensorsFile(folder / "t"); }),
            "cannot read " + (folder / "t") +
                ": it claims a header of 7021991845529153390 bytes, but at most 100000000 are allowed");
}

TEST(Safetensors, TensorsThatTheFormatLacksAreRefusedAndNothingIsWritten) {
  const TemporaryFolder folder;
  const std::string path = folder / "t";
  const std::string start = "cannot write " + path + ": ";
  EXPECT_EQ(error_of([&] { save_safetensors(path, {{"a", at::Tensor()}}); }),
            start + "tensor \"a\": it is undefined; leave it out");
  EXPECT_EQ(error_of([&] { save_safetensors(path, {{"a", at::eye(2).to_sparse()}}); }),
            start + "tensor \"a\": it is sparse; call to_dense() first");
  EXPECT_EQ(error_of([&] { save_safetensors(path, {{"__metadata__", at::ones({1})}}); }),
            start + "tensor \"__metadata__\": this name is the format's own; give another");
  EXPECT_EQ(error_of([&] { save_safetensors(path, {{"\xff", at::ones({1})}}); }),
            start + "a name or the metadata is not UTF-8");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Safetensors, ADtypeThatTheFormatLacksIsAnsweredWithTheOnesItHas) {
  const TemporaryFolder folder;
  const std::string message =
      error_of([&] { save_safetensors(folder / "t", {{"a", at::ones({1}, at::kComplexDouble)}}); });
  EXPECT_EQ(message.substr(0, message.find(", only")),
            "cannot write " + (folder / "t") + ": tensor \"a\": the format has no dtype ComplexDouble");
}

TEST(Safetensors, AFailedSaveKeepsTheOldFile) {
  const TemporaryFolder folder;
  save_safetensors(folder / "t", {{"a", at::ones({2})}});
  const std::string before = read_text(folder / "t");
  EXPECT_THROW(save_safetensors(folder / "t", {{"a", at::Tensor()}}), Error);
  EXPECT_EQ(read_text(folder / "t"), before);
}

}  // namespace
}  // namespace lope
