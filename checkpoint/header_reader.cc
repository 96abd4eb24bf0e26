#include "checkpoint/header_reader.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

namespace phasor::checkpoint {
namespace {

using Json = nlohmann::json;

constexpr absl::string_view kMetadata = "__metadata__";

absl::Status NoJson(std::size_t at) {
  return absl::DataLossError(absl::StrCat("the header is no JSON at its byte ", at, ", byte ",
                                          at + kLengthBytes, " of the file"));
}

// Takes the JSON event by event, without a tree: of two equal keys that would
// keep the last and tell nobody.
class HeaderReader final : public nlohmann::json_sax<Json> {
 public:
  absl::StatusOr<std::vector<Tensor>> Take() && {
    if (!status_.ok()) return status_;
    return std::move(tensors_);
  }

  bool null() override { return Unexpected("null"); }
  bool boolean(bool) override { return Unexpected("a boolean"); }
  bool number_integer(number_integer_t value) override {
    return Unexpected(absl::StrCat("the number ", value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    switch (state_) {
      case State::kShape: tensor().shape.push_back(value); return true;
      case State::kOffsets:
        if (offsets_++ >= 2) return Fail("data_offsets has more than two numbers");
        (offsets_ == 1 ? tensor().begin : tensor().end) = value;
        return true;
      default: return Unexpected(absl::StrCat("the number ", value));
    }
  }
  // Integers past 64 bits come here too.
  bool number_float(number_float_t, const string_t& text) override {
    return Unexpected(absl::StrCat("the number ", Quoted(text)));
  }
  bool string(string_t& value) override {
    switch (state_) {
      case State::kDtypeValue: tensor().dtype = std::move(value); break;
      case State::kMetadataValue: break;
      default: return Unexpected(absl::StrCat("the text ", Quoted(value)));
    }
    return Go(state_ == State::kDtypeValue ? State::kTensor : State::kMetadataKeys);
  }
  bool binary(binary_t&) override { return Unexpected("binary data"); }

  bool start_object(std::size_t) override {
    switch (state_) {
      case State::kBegin: return Go(State::kTop);
      case State::kTensorValue: keys_.clear(); return Go(State::kTensor);
      case State::kMetadataObject: keys_.clear(); return Go(State::kMetadataKeys);
      default: return Unexpected("an object");
    }
  }
  bool key(string_t& name) override {
    switch (state_) {
      case State::kTop: return TopKey(name);
      case State::kTensor: return TensorKey(name);
      case State::kMetadataKeys:
        if (!keys_.insert(name).second) {
          return Fail(absl::StrCat("the key ", Quoted(name), " comes twice"));
        }
        return Go(State::kMetadataValue);
      default: return Unexpected("a key");
    }
  }
  bool end_object() override {
    if (state_ == State::kTensor) {
      for (const absl::string_view needed : {"dtype", "shape", "data_offsets"}) {
        if (!keys_.contains(needed)) return Fail(absl::StrCat("has no ", needed));
      }
    }
    where_ = "";
    return Go(state_ == State::kTop ? State::kEnd : State::kTop);
  }
  bool start_array(std::size_t) override {
    switch (state_) {
      case State::kShapeValue: return Go(State::kShape);
      case State::kOffsetsValue: offsets_ = 0; return Go(State::kOffsets);
      default: return Unexpected("a list");
    }
  }
  bool end_array() override {
    if (state_ == State::kOffsets && offsets_ != 2) {
      return Fail(absl::StrCat("data_offsets has ", offsets_, " numbers, not two"));
    }
    return Go(State::kTensor);
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    if (status_.ok()) status_ = NoJson(position - 1);
    return false;
  }

 private:
  enum class State {
    kBegin,
    kTop,          // in the header, before a name
    kTensorValue,  // after a tensor's name
    kTensor,       // in a tensor's object, before a key
    kDtypeValue,
    kShapeValue,
    kShape,
    kOffsetsValue,
    kOffsets,
    kMetadataObject,  // after "__metadata__"
    kMetadataKeys,
    kMetadataValue,
    kEnd,
  };

  Tensor& tensor() { return tensors_.back(); }

  bool Go(State next) {
    state_ = next;
    return true;
  }
  bool Fail(absl::string_view what) {
    status_ = absl::DataLossError(absl::StrCat("the header", where_, ": ", what));
    return false;
  }
  bool Unexpected(absl::string_view what) {
    return Fail(absl::StrCat(what, " where there is to be ", Expected()));
  }
  absl::string_view Expected() const {
    switch (state_) {
      case State::kBegin:
      case State::kTensorValue:
      case State::kMetadataObject: return "an object";
      case State::kDtypeValue:
      case State::kMetadataValue: return "a text";
      case State::kShapeValue: return "shape, a list";
      case State::kOffsetsValue: return "data_offsets, a list";
      case State::kShape: return "a length of shape, 0 ... 2^64-1";
      case State::kOffsets: return "an offset, 0 ... 2^64-1";
      default: return "a key";
    }
  }
  bool TopKey(string_t& name) {
    where_ = absl::StrCat(" at ", Quoted(name));
    if (!names_.insert(name).second) return Fail("the name comes twice");
    if (name == kMetadata) return Go(State::kMetadataObject);
    tensors_.emplace_back().name = std::move(name);
    return Go(State::kTensorValue);
  }
  bool TensorKey(const string_t& name) {
    if (!keys_.insert(name).second) return Fail(absl::StrCat("the key ", name, " comes twice"));
    if (name == "dtype") return Go(State::kDtypeValue);
    if (name == "shape") return Go(State::kShapeValue);
    if (name == "data_offsets") return Go(State::kOffsetsValue);
    return Fail(absl::StrCat("the key ", Quoted(name), " is not known"));
  }

  State state_ = State::kBegin;
  absl::Status status_;
  std::string where_;
  std::vector<Tensor> tensors_;
  absl::flat_hash_set<std::string> names_;
  absl::flat_hash_set<std::string> keys_;  // of the object one level down
  int offsets_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<Tensor>> ReadHeaderJson(absl::string_view json) {
  // Which the parser takes for the end, whatever stands behind it.
  if (const auto zero = json.find('\0'); zero != absl::string_view::npos) {
    return NoJson(zero);
  }
  HeaderReader reader;
  Json::sax_parse(json.begin(), json.end(), &reader);
  return std::move(reader).Take();
}

}  // namespace phasor::checkpoint
