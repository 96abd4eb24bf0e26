#include "server/rows_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "phasor/v1/position_table_service.pb.h"

namespace phasor::server {
namespace {

constexpr char kFingerprint[] = "0123456789abcdef0123456789abcdef";

std::string BytesOf(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

std::shared_ptr<std::vector<std::byte>> Memory(std::size_t size) {
  auto memory = std::make_shared<std::vector<std::byte>>(size);
  for (std::size_t i = 0; i < size; ++i) (*memory)[i] = static_cast<std::byte>(i * 7 + 1);
  return memory;
}

// The generated class is the oracle.
std::string Typed(const RowsHead& head, v1::ElementType type, const std::string& data) {
  v1::GetRowsResponse response;
  v1::Rows& rows = *response.mutable_rows();
  rows.set_fingerprint(std::string(head.fingerprint));
  if (head.start_position.has_value()) rows.set_start_position(*head.start_position);
  rows.set_row_count(head.row_count);
  rows.set_row_width(head.row_width);
  rows.set_element_type(type);
  rows.set_data(data);
  return response.SerializeAsString();
}

struct Case {
  std::optional<std::int64_t> start_position;
  std::int64_t row_count;
  std::int64_t row_width;
  ElementType type;
  v1::ElementType wire_type;
  std::vector<std::size_t> slices;
};

TEST(RowsMessage, IsTheBytesOfTheTypedMessage) {
  const std::int64_t min = std::numeric_limits<std::int64_t>::min();
  const Case cases[] = {
      {std::nullopt, 0, 4, ElementType::kFloat32, v1::ELEMENT_TYPE_FLOAT32, {}},
      {0, 0, 4, ElementType::kFloat32, v1::ELEMENT_TYPE_FLOAT32, {}},
      {0, 1, 1, ElementType::kFloat16, v1::ELEMENT_TYPE_FLOAT16, {2}},
      {-1, 1, 4, ElementType::kFloat32, v1::ELEMENT_TYPE_FLOAT32, {16}},
      {min, 3, 8, ElementType::kFloat64, v1::ELEMENT_TYPE_FLOAT64, {64, 128}},
      {std::int64_t{1} << 53,
       2,
       65536,
       ElementType::kBfloat16,
       v1::ELEMENT_TYPE_BFLOAT16,
       {131072, 131072}},
      {std::nullopt, 33, 512, ElementType::kFloat32, v1::ELEMENT_TYPE_FLOAT32, {65536, 2048}},
      {127, 127, 127, ElementType::kFloat16, v1::ELEMENT_TYPE_FLOAT16, {1, 22, 23, 24, 100}},
  };
  for (const Case& c : cases) {
    const RowsHead head = {kFingerprint, c.start_position, c.row_count, c.row_width, c.type};
    RowSlices slices;
    std::string data;
    for (std::size_t size : c.slices) {
      auto memory = Memory(size);
      slices.push_back(ShareRows(memory, *memory));
      data.append(reinterpret_cast<const char*>(memory->data()), size);
    }
    const std::string bytes = BytesOf(EncodeRows(head, slices));
    EXPECT_EQ(bytes, Typed(head, c.wire_type, data));
    EXPECT_EQ(RowsMessageBytes(head, static_cast<std::int64_t>(data.size())),
              static_cast<std::int64_t>(bytes.size()));
    v1::GetRowsResponse parsed;
    ASSERT_TRUE(parsed.ParseFromString(bytes));
    EXPECT_EQ(parsed.rows().data(), data);
  }
}

TEST(RowsMessage, SharesTheRowsAndKeepsTheirOwner) {
  auto memory = Memory(100'000);
  const std::byte* address = memory->data();
  std::weak_ptr<std::vector<std::byte>> alive = memory;
  grpc::ByteBuffer message =
      EncodeRows({kFingerprint, 0, 1, 25'000, ElementType::kFloat32}, {ShareRows(memory, *memory)});
  memory.reset();
  EXPECT_FALSE(alive.expired());
  {
    std::vector<grpc::Slice> slices;
    ASSERT_TRUE(message.Dump(&slices).ok());
    ASSERT_EQ(slices.size(), 2u);
    EXPECT_EQ(static_cast<const void*>(slices[1].begin()), static_cast<const void*>(address));
  }
  message.Clear();
  EXPECT_TRUE(alive.expired());
}

TEST(RowsMessage, SharesTheSmallestRowsToo) {
  for (std::size_t size : {1u, 8u, 23u, 24u}) {
    auto memory = Memory(size);
    std::weak_ptr<std::vector<std::byte>> alive = memory;
    {
      grpc::Slice slice = ShareRows(memory, *memory);
      EXPECT_EQ(static_cast<const void*>(slice.begin()), static_cast<const void*>(memory->data()));
      memory.reset();
      EXPECT_FALSE(alive.expired());
    }
    EXPECT_TRUE(alive.expired());
  }
}

}  // namespace
}  // namespace phasor::server
