#ifndef PHASOR_CLIENT_CLI_ELEMENT_TEXT_H_
#define PHASOR_CLIENT_CLI_ELEMENT_TEXT_H_

/// \file
/// Elements as numbers and as text.

#include <cstddef>
#include <string>

#include "phasor/core/element_type.h"

namespace phasor::cli {

/// The value of one element; exact for every type.
double ElementValue(ElementType type, const std::byte* element);

/// Appends the shortest decimal that reads back to the same element, whether
/// the reader rounds it to the type at once or by way of binary64 (16-bit
/// types: of binary32 too). Negative zero is "-0"; NaN and infinities are
/// "nan", "inf" and "-inf".
void AppendElement(ElementType type, const std::byte* element, std::string& out);

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_ELEMENT_TEXT_H_
