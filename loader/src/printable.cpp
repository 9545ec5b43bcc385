#include <array>

#include "log.hpp"

namespace hal::loader {

namespace {

unsigned byte_at(std::string_view text, size_t place) {
    return static_cast<unsigned char>(text[place]);
}

struct Character {
    size_t bytes;  // 0: no valid UTF-8 here
    unsigned code;
};

Character decode(std::string_view text, size_t place) {
    const unsigned lead = byte_at(text, place);
    if (lead < 0x80) {
        return {1, lead};
    }
    const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() - place < bytes) {
        return {0, 0};
    }
    unsigned code = lead & (0xffu >> (bytes + 1));
    for (size_t i = 1; i < bytes; ++i) {
        const unsigned next = byte_at(text, place + i);
        if ((next & 0xc0u) != 0x80u) {
            return {0, 0};
        }
        code = code << 6 | (next & 0x3fu);
    }
    constexpr std::array<unsigned, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return code < smallest[bytes] || code > 0x10ffff || surrogate ? Character{0, 0} : Character{bytes, code};
}

// Terminals obey C0 and C1 controls; the bidirectional ones reorder what a person reads.
bool is_harmless(unsigned code) {
    const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    const bool line_break = code == 0x2028 || code == 0x2029;
    const bool bidirectional = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return !control && !line_break && !bidirectional;
}

void append_escaped(std::string& out, std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    for (size_t i = 0; i < bytes.size(); ++i) {
        out += "\\x";
        out += digits[byte_at(bytes, i) >> 4];
        out += digits[byte_at(bytes, i) & 15];
    }
}

}  // namespace

std::string printable(std::string_view text, size_t most) {
    std::string out;
    for (size_t place = 0; place < text.size();) {
        const Character character = decode(text, place);
        const std::string_view bytes = text.substr(place, character.bytes == 0 ? 1 : character.bytes);
        std::string piece;
        if (character.bytes == 0 || !is_harmless(character.code)) {
            append_escaped(piece, bytes);
        } else {
            piece = bytes;
        }
        if (out.size() + piece.size() > most) {
            return out + "...";
        }
        out += piece;
        place += bytes.size();
    }
    return out;
}

}  // namespace hal::loader
