// The steps of build(), each in a file of its own.
#pragma once

#include "model.hpp"

namespace hal::conformance {

void add_tests(Model& model, const Log& log, const Catalogue& catalogue);
void add_rows(Model& model, const Catalogue& catalogue);
void add_totals(Model& model);
void add_headlines(Model& model);
void add_claims(Model& model, const Catalogue& catalogue);
void add_exit(Model& model);

}  // namespace hal::conformance
