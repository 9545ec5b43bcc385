// A mapped plug-in and its checked entry symbol.
#pragma once

#include <memory>
#include <string>

#include "problem.hpp"

namespace boost::dll {
class shared_library;
}

namespace hal::loader {

class Image {
  public:
    // Maps the library; the path is absolute. Runs its constructors. Throws Refusal (L023, L024, L025, L030, L031).
    explicit Image(const std::string& path);
    ~Image();
    Image(Image&&) noexcept;
    Image& operator=(Image&&) noexcept;

    [[nodiscard]] hal_backend_entry_fn entry() const { return entry_; }

    // As the dynamic linker knows it.
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    // Kept although images are pinned: its destructor gives back one reference of the dynamic linker's count and,
    // because of RTLD_NODELETE, unmaps nothing, so that open and close pair up however often a process repeats them.
    std::unique_ptr<boost::dll::shared_library> library_;
    hal_backend_entry_fn entry_ = nullptr;
    std::string path_;
};

// The Problem for dlerror's text about a library that could not be mapped. Throws std::bad_alloc where the text says
// so.
Problem explain_link_error(const std::string& path, std::string_view text);

}  // namespace hal::loader
