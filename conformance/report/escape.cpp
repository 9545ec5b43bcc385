#include "escape.hpp"

#include <nlohmann/json.hpp>

namespace hal::conformance {
namespace {

using nlohmann::json;

std::string valid_utf8(std::string_view text) {
    return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
}

void append_hex(std::string& out, unsigned char byte) {
    static constexpr std::string_view digits = "0123456789abcdef";
    out.append("\\x");
    out += digits[byte >> 4U];
    out += digits[byte & 15U];
}

// Bytes of a character at `place` that a terminal or browser would obey instead of show: C1 controls and the
// characters that reorder what a person reads. Not in XML 1.0: U+FFFE and U+FFFF.
size_t harmful(std::string_view text, size_t place) {
    const std::string_view two = text.substr(place, 2);
    if (two >= "\xC2\x80" && two <= "\xC2\x9F") {
        return 2;
    }
    const std::string_view three = text.substr(place, 3);
    const bool reorders =
        (three >= "\xE2\x80\xA8" && three <= "\xE2\x80\xAE") || (three >= "\xE2\x81\xA6" && three <= "\xE2\x81\xA9");
    return reorders || three == "\xEF\xBF\xBE" || three == "\xEF\xBF\xBF" ? 3 : 0;
}

}  // namespace

std::string clean(std::string_view raw) {
    const std::string text = valid_utf8(raw);
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) {
            append_hex(out, byte);
        } else if (const size_t bytes = harmful(text, i)) {
            for (size_t k = 0; k < bytes; ++k) {
                append_hex(out, static_cast<unsigned char>(text[i + k]));
            }
            i += bytes - 1;
        } else {
            out += text[i];
        }
    }
    return out;
}

std::string one_line(std::string_view text, size_t most) {
    std::string line = clean(text);
    for (char& c : line) {
        c = c == '\n' || c == '\t' ? ' ' : c;
    }
    if (line.size() > most) {
        size_t end = most;
        while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) {
            --end;  // not in the middle of a character
        }
        line.resize(end);
        line += "...";
    }
    return line;
}

std::string escape_xml(const std::string& text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string escape_markdown(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (std::string_view("\\`*_{}[]<>()#+!|~").find(c) != std::string_view::npos) {
            out += '\\';
        }
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

std::string shell_quoted(std::string_view text) {
    static constexpr std::string_view harmless =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+";
    if (!text.empty() && text.find_first_not_of(harmless) == std::string_view::npos) {
        return std::string(text);
    }
    std::string out = "'";
    for (const char c : text) {
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return out + "'";
}

}  // namespace hal::conformance
