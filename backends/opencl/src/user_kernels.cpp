#include "user_kernels.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "hal/sdk.hpp"
#include "kernels/numbers.hpp"

namespace hal::opencl {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr uint32_t most_tensors = 16;

// One file, read with the place of each error.
class Reader {
  public:
    Reader(fs::path path, std::deque<UserKernel>& out) : path_(std::move(path)), out_(out) {}

    void read() {
        const json root = parse();
        require_object(root, "", {"schema_version", "kernels"});
        if (string(root, "", "schema_version").rfind("1.", 0) != 0) {
            wrong("/schema_version", "expected 1.x");
        }
        const json& list = member(root, "", "kernels");
        if (!list.is_array()) {
            wrong("/kernels", "expected an array");
        }
        for (size_t i = 0; i < list.size(); ++i) {
            read_kernel(list[i], "/kernels/" + std::to_string(i));
        }
    }

  private:
    [[noreturn]] void wrong(const std::string& place, const std::string& text) const {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "option kernels of opencl: " + path_.string() +
                                                         (place.empty() ? "" : ": ") + place + ": " + text);
    }

    [[nodiscard]] static std::string within(const std::string& place, const std::string& key) {
        return place + "/" + key;
    }

    [[nodiscard]] static std::string contents(const fs::path& path) {
        std::ifstream stream(path, std::ios::binary);
        std::ostringstream text;
        text << stream.rdbuf();
        return stream && text ? text.str() : std::string();
    }

    [[nodiscard]] json parse() const {
        const std::string text = contents(path_);
        if (text.empty()) {
            wrong("", "it cannot be read, or is empty");
        }
        try {
            return json::parse(text);
        } catch (const json::exception& error) {
            wrong("", error.what());
        }
    }

    void require_object(const json& value, const std::string& place, std::initializer_list<const char*> known) const {
        if (!value.is_object()) {
            wrong(place, "expected an object");
        }
        for (const auto& [key, unused] : value.items()) {
            if (std::find(known.begin(), known.end(), key) == known.end()) {
                wrong(within(place, key), "unknown key");
            }
        }
    }
    [[nodiscard]] const json& member(const json& object, const std::string& place, const char* key) const {
        const auto found = object.find(key);
        if (found == object.end()) {
            wrong(within(place, key), "is missing");
        }
        return *found;
    }
    [[nodiscard]] std::string string(const json& object, const std::string& place, const char* key) const {
        const json& value = member(object, place, key);
        if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
            wrong(within(place, key), "expected a string that is not empty");
        }
        return value;
    }
    [[nodiscard]] uint32_t count(const json& object, const std::string& place, const char* key,
                                 uint32_t fallback) const {
        const auto found = object.find(key);
        if (found == object.end()) {
            return fallback;
        }
        if (!found->is_number_unsigned() || found->get<uint64_t>() > most_tensors) {
            wrong(within(place, key), "expected a number from 0 to " + std::to_string(most_tensors));
        }
        return found->get<uint32_t>();
    }

    [[nodiscard]] hal_dtype dtype(const json& object, const std::string& place) const {
        const std::string name = string(object, place, "dtype");
        for (const hal_dtype one : {HAL_I8, HAL_I16, HAL_I32, HAL_I64, HAL_U8, HAL_U16, HAL_U32, HAL_U64, HAL_F16,
                                    HAL_F32, HAL_F64, HAL_BF16, HAL_BOOL}) {
            if (shared::dtype_text(one) == name) {
                return one;
            }
        }
        wrong(place + "/dtype", "\"" + name + "\" is no type; expected f32, i32, u8, bf16, ...");
    }

    void read_attributes(const json& object, const std::string& place, UserKernel& kernel) const {
        const auto found = object.find("attributes");
        if (found == object.end()) {
            return;
        }
        if (!found->is_array()) {
            wrong(place + "/attributes", "expected an array");
        }
        for (size_t i = 0; i < found->size(); ++i) {
            const std::string at = place + "/attributes/" + std::to_string(i);
            require_object((*found)[i], at, {"name", "passed_as"});
            const std::string passed = string((*found)[i], at, "passed_as");
            if (passed != "f32" && passed != "f64" && passed != "i64") {
                wrong(at + "/passed_as", "expected f32, f64 or i64");
            }
            kernel.attributes.push_back({string((*found)[i], at, "name"), passed == "f32"   ? UserKernel::Passed::f32
                                                                          : passed == "f64" ? UserKernel::Passed::f64
                                                                                            : UserKernel::Passed::i64});
        }
    }

    void read_kernel(const json& object, const std::string& place) {
        require_object(object, place,
                       {"op", "dtype", "source", "spirv", "entry", "inputs", "outputs", "options", "attributes"});
        UserKernel& kernel = out_.emplace_back();
        const bool spirv = object.contains("spirv");
        if (spirv == object.contains("source")) {
            wrong(place, "expected either source or spirv");
        }
        kernel.op = string(object, place, "op");
        kernel.entry = string(object, place, "entry");
        kernel.options = object.contains("options") ? string(object, place, "options") : "";
        kernel.inputs = count(object, place, "inputs", 1);
        kernel.outputs = count(object, place, "outputs", 1);
        if (kernel.outputs == 0) {
            wrong(place + "/outputs", "expected at least 1");
        }
        read_attributes(object, place, kernel);
        const char* const key = spirv ? "spirv" : "source";
        kernel.file = (path_.parent_path() / string(object, place, key)).string();
        kernel.text = contents(kernel.file);
        if (kernel.text.empty()) {
            wrong(within(place, key), kernel.file + " cannot be read, or is empty");
        }
        kernel.source = {kernel.file.c_str(), {kernel.text, {}, {}}, spirv};

        hal_kernel& head = kernel.registration;
        head.size = sizeof head;
        head.op = kernel.op.c_str();
        head.backend = "opencl";
        head.layout = HAL_LAYOUT_ANY;
        head.dtype = dtype(object, place);
        head.run = run_user_kernel;
        head.file = kernel.file.c_str();
        head.flags = 0;     // dense tensors, apart from each other
        head.priority = 1;  // the user's own comes before ours of the same name
        head.query = query_user_kernel;
        head.user_data = reinterpret_cast<uint64_t>(&kernel);
    }

    fs::path path_;
    std::deque<UserKernel>& out_;
};

}  // namespace

UserKernels::UserKernels(const std::string& path, const std::vector<const hal_kernel*>& own) : all_(own) {
    if (!path.empty()) {
        Reader(path, kernels_).read();
    }
    for (const UserKernel& kernel : kernels_) {
        all_.push_back(&kernel.registration);
    }
    std::copy_if(all_.begin(), all_.end(), std::back_inserter(without_f64_),
                 [](const hal_kernel* kernel) { return kernel->dtype != HAL_F64; });
}

}  // namespace hal::opencl
