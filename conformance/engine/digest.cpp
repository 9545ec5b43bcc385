#include "digest.hpp"

#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <memory>

namespace hal::conformance {
namespace {

class Digest {
  public:
    Digest() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
        EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
    }
    void add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
    [[nodiscard]] std::string hex() {
        std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
        unsigned int size = 0;
        EVP_DigestFinal_ex(context_.get(), digest.data(), &size);
        static constexpr std::string_view digits = "0123456789abcdef";
        std::string text;
        for (unsigned int i = 0; i < size; ++i) {
            text += digits[digest[i] >> 4U];
            text += digits[digest[i] & 15U];
        }
        return text;
    }

  private:
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string sha256_of_file(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
        return {};
    }
    Digest digest;
    std::array<char, 65'536> buffer{};
    do {
        stream.read(buffer.data(), buffer.size());
        digest.add({buffer.data(), static_cast<size_t>(stream.gcount())});
    } while (stream);
    return digest.hex();
}

std::string sha256_of(std::string_view text) {
    Digest digest;
    digest.add(text);
    return digest.hex();
}

}  // namespace hal::conformance
