#pragma once
// The IDX files of MNIST and its kin: one tensor each.
//
//   at::Tensor images = lope::read_idx("train-images-idx3-ubyte.gz");     // uint8 (60000, 28, 28)

#include <ATen/core/Tensor.h>

#include <string>

namespace lope {

/// The tensor of an IDX file, plain or gzipped: uint8, int8, int16, int32, float or double of any shape (format: see
/// http://yann.lecun.com/exdb/mnist). Throws Error naming the file when it cannot be read, its magic number is another,
/// its size isn't the one that its header says, or its compressed data are damaged.
at::Tensor read_idx(const std::string& path);

}  // namespace lope
