#define BOOST_DLL_USE_STD_FS
#include "library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <boost/dll/shared_library.hpp>
#include <span>

#include "log.hpp"

namespace hal::loader {

namespace {

using boost::dll::shared_library;

// dlerror's text in Boost's message: "... (dlerror system message: TEXT): code". Whole if Boost words it differently.
std::string_view linker_text(std::string_view what) {
    constexpr std::string_view mark = "dlerror system message: ";
    const size_t begin = what.find(mark);
    if (begin == std::string_view::npos) {
        return what;
    }
    what.remove_prefix(begin + mark.size());
    return what.substr(0, what.rfind(')'));
}

shared_library map(const std::string& path) {
    using mode = boost::dll::load_mode::type;
    const auto modes = static_cast<mode>(boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local |
                                         static_cast<mode>(RTLD_NODELETE));
    try {
        return shared_library(std::filesystem::path(path), modes);
    } catch (const std::system_error& error) {  // the throwing overload: the other one loses dlerror's text
        throw Refusal(explain_link_error(path, linker_text(error.what())));
    }
}

// The object and segment that hold an address.
struct Owner {
    const void* address;
    std::string_view name;
    bool executable = false;
};

int find_owner(dl_phdr_info* info, size_t, void* data) {
    auto& owner = *static_cast<Owner*>(data);
    for (const ElfW(Phdr) & segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
        const auto begin = info->dlpi_addr + segment.p_vaddr;
        const auto at = reinterpret_cast<ElfW(Addr)>(owner.address);
        if (segment.p_type == PT_LOAD && at >= begin && at - begin < segment.p_memsz) {
            owner.name = info->dlpi_name;
            owner.executable = (segment.p_flags & PF_X) != 0;
            return 1;
        }
    }
    return 0;
}

const link_map* link_map_of(const shared_library& library) {
    link_map* map = nullptr;
    return dlinfo(library.native(), RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 ? map : nullptr;
}

[[noreturn]] void refuse_entry(hal_backend_state state, const char* code, std::string cause) {
    throw Refusal({state, state == HAL_STATE_ENTRY_MISSING ? HAL_ERROR_NOT_FOUND : HAL_ERROR_ABI, code,
                   std::move(cause),
                   "point the manifest's library_path at a hal backend; a backend is built with hal_add_backend()"});
}

// Of this library, in code, and not of the main program or a dependency that dlsym also searches.
hal_backend_entry_fn checked_entry(const shared_library& library, const std::string& path, const std::string& real) {
    using Entry = const hal_backend_descriptor*(const hal_host*);
    if (!library.has(HAL_BACKEND_ENTRY_SYMBOL)) {
        refuse_entry(HAL_STATE_ENTRY_MISSING, "L030",
                     fmt::format("{} has no {}; it is not a hal backend", path, HAL_BACKEND_ENTRY_SYMBOL));
    }
    const hal_backend_entry_fn entry = &library.get<Entry>(HAL_BACKEND_ENTRY_SYMBOL);
    Owner owner{.address = reinterpret_cast<const void*>(entry)};
    dl_iterate_phdr(find_owner, &owner);
    if (owner.name.empty() || owner.name != real) {
        refuse_entry(HAL_STATE_ENTRY_FOREIGN, "L031",
                     fmt::format("{}: {} comes from {}, not from this library", path, HAL_BACKEND_ENTRY_SYMBOL,
                                 owner.name.empty() ? "the main program" : printable(owner.name, 4096)));
    }
    if (!owner.executable) {
        refuse_entry(HAL_STATE_ENTRY_FOREIGN, "L031",
                     fmt::format("{}: {} is data, not a function", path, HAL_BACKEND_ENTRY_SYMBOL));
    }
    return entry;
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

// The word behind `mark`, up to a blank, comma or end.
std::string_view word_after(std::string_view text, std::string_view mark) {
    text.remove_prefix(text.find(mark) + mark.size());
    return text.substr(0, text.find_first_of(" ,;\n"));
}

}  // namespace

Problem explain_link_error(const std::string& path, std::string_view text) {
    Problem problem{HAL_STATE_LOAD_FAILED, HAL_ERROR_INTERNAL, "L023", "", ""};
    const std::string shown = printable(text, 2000);
    constexpr std::string_view absent = ": cannot open shared object file";
    if (contains(text, "static TLS")) {
        problem.status = HAL_ERROR_OUT_OF_RESOURCES;
        problem.code = "L025";
        problem.cause = fmt::format("{} uses too much static TLS: {}", path, shown);
        problem.next_step = "set GLIBC_TUNABLES=glibc.rtld.optional_static_tls=65536 and tell the vendor";
    } else if (contains(text, "annot allocate memory") || contains(text, "out of memory")) {
        throw std::bad_alloc();
    } else if (const size_t end = text.find(absent); end != std::string_view::npos && text.substr(0, end) != path) {
        problem.status = HAL_ERROR_NOT_FOUND;
        problem.cause = fmt::format("{} needs {}, which could not be opened ({})", path, printable(text.substr(0, end)),
                                    printable(text.substr(end + 2)));
        problem.next_step = fmt::format("install the library, or look at 'ldd {}'", path);
    } else if (contains(text, "undefined symbol: ")) {
        problem.status = HAL_ERROR_ABI;
        problem.code = "L024";
        problem.cause =
            fmt::format("{}: undefined symbol {} ({})", path, printable(word_after(text, "undefined symbol: ")), shown);
        problem.next_step = "the library and its runtime do not match; install the versions that belong together";
    } else if (contains(text, "' not found (required by")) {
        problem.status = HAL_ERROR_ABI;
        problem.code = "L024";
        problem.cause = fmt::format("{}: a dependency lacks a symbol version ({})", path, shown);
        problem.next_step = "the library and its runtime do not match; install the versions that belong together";
    } else {
        if (contains(text, "ermission denied") || contains(text, "not permitted")) {
            problem.status = HAL_ERROR_PERMISSION;
        }
        problem.cause = fmt::format("{} cannot be linked: {}", path, shown);
        problem.next_step = fmt::format("look at 'ldd -r {}', mount options (noexec) and security modules", path);
    }
    return problem;
}

Image::Image(const std::string& path) : library_(std::make_unique<shared_library>(map(path))) {
    const link_map* map = link_map_of(*library_);
    path_ = map == nullptr ? path : map->l_name;
    entry_ = checked_entry(*library_, path, path_);
}

Image::~Image() = default;
Image::Image(Image&&) noexcept = default;
Image& Image::operator=(Image&&) noexcept = default;

}  // namespace hal::loader
