// What hal-tables prints from reflect.hpp.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hal/reflect.hpp"

namespace hal::tool {

struct Parameter {
    std::string type;
    std::string name;
};

// Of an entry, in order, without the instance.
std::vector<Parameter> parameters(const EntryInfo& entry);

// "type name, type name".
std::string parameter_list(const EntryInfo& entry);

struct Totals {
    size_t standard_entries;
    size_t mandatory_entries;
    size_t own_entries;
};
Totals totals();

std::string summary();
std::string markdown();
std::string json();  // schemas/tables-1.json
std::string lock();  // hal/abi.lock

}  // namespace hal::tool
