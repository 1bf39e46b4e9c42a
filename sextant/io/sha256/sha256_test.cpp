// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/sha256.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/temporary_folder.h"

namespace sextant {
namespace {

std::string sha256(std::string_view text, std::size_t piece) {
  Sha256 sum;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    sum.add(std::as_bytes(std::span(text.substr(at, piece))));
  }
  return sum.hex();
}

/// The examples of the standard and of its test vectors.
TEST(Sha256, GivesThePublishedSums) {
  for (const std::size_t piece :
       {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{1000}}) {
    EXPECT_EQ(sha256("", piece),
              "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256("abc", piece),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", piece),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(sha256(std::string(1000000, 'a'), piece),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  }
}

TEST(Sha256, ReadsFiles) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "text";
  std::ofstream(path) << "abc";
  EXPECT_EQ(sha256_of_file(path),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace sextant
