#include "gzip_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "lope/error.h"

namespace lope {
namespace {

/// Deflate makes nothing smaller than 1/1032 of it (https://zlib.net/zlib_tech.html).
constexpr uint64_t kMostExpansion = 1032;
constexpr size_t kMostAtOnce = size_t{1} << 30;

}  // namespace

void GzipFile::Close::operator()(gzFile_s* file) const { gzclose_r(file); }

GzipFile::GzipFile(std::string path) : path_(std::move(path)) {
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(path_, error);
  if (!error) {
    errno = 0;
    file_.reset(gzopen(path_.c_str(), "rbe"));
    if (!file_) error.assign(errno == 0 ? ENOMEM : errno, std::generic_category());
  }
  if (error) {
    throw Error(fmt::format("cannot read {}: {}; give the path of a readable file", path_, error.message()));
  }
  most_bytes_ = size * kMostExpansion;
}

size_t GzipFile::read(std::span<std::byte> to) {
  size_t filled = 0;
  while (filled < to.size()) {
    const size_t wanted = std::min(to.size() - filled, kMostAtOnce);
    const int got = gzread(file_.get(), to.data() + filled, static_cast<unsigned>(wanted));
    int code = Z_OK;
    const std::string_view reason = gzerror(file_.get(), &code);  // "PATH: REASON"
    if (got < 0 || code == Z_BUF_ERROR) {
      throw Error(fmt::format(
          "{}: its compressed data are {}: get the file anew", path_,
          code == Z_BUF_ERROR ? "cut short" : fmt::format("damaged ({})", reason.substr(reason.rfind(": ") + 2))));
    }
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  return filled;
}

}  // namespace lope
