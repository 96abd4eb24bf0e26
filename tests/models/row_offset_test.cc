// Where learned rows begin, by the config.json of the model whose tensor is served.

#include "models/row_offset.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace phasor::models {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string Fault(absl::string_view config, absl::string_view tensor = "wpe.weight",
                  std::int64_t rows = 1024, std::int64_t width = 768) {
  return std::string(RowOffsetOf(config, tensor, rows, width).status().message());
}

// Keys, shapes and rules: schemes.md 2.
TEST(RowOffset, FollowsTheModelOfTheTensor) {
  EXPECT_EQ(RowOffsetOf(R"({"model_type":"gpt2","n_positions":1024,"n_embd":768})",
                        "transformer.wpe.weight", 1024, 768)
                .value(),
            0);
  EXPECT_EQ(RowOffsetOf(R"({"model_type":"opt","max_position_embeddings":2048,"hidden_size":768})",
                        "decoder.embed_positions.weight", 2050, 768)
                .value(),
            2);
  EXPECT_EQ(RowOffsetOf(R"({"model_type":"roberta","max_position_embeddings":514,
                            "hidden_size":768,"pad_token_id":1})",
                        "roberta.embeddings.position_embeddings.weight", 514, 768)
                .value(),
            2);
}

TEST(RowOffset, TellsAnEncodersTableFromADecoders) {
  const std::string led = R"({"model_type":"led","d_model":8,
      "max_encoder_position_embeddings":16384,"max_decoder_position_embeddings":1024})";
  EXPECT_EQ(RowOffsetOf(led, "led.encoder.embed_positions.weight", 16384, 8).value(), 0);
  EXPECT_EQ(RowOffsetOf(led, "led.decoder.embed_positions.weight", 1024, 8).value(), 0);
  EXPECT_THAT(Fault(led, "led.encoder.embed_positions.weight", 1024, 8), HasSubstr("[16384, 8]"));
  EXPECT_THAT(Fault(led, "embed_positions.weight", 1024, 8),
              AllOf(HasSubstr("no table of this name"),
                    HasSubstr("encoder.embed_positions.weight, decoder.embed_positions.weight")));
}

TEST(RowOffset, AModelsOnlyTableMayHaveAnyName) {
  const std::string opt = R"({"model_type":"opt","max_position_embeddings":48,"hidden_size":8})";
  EXPECT_EQ(RowOffsetOf(opt, "position_embd.weight", 50, 8).value(), 2);
}

TEST(RowOffset, ItsOwnKeyCountsBeforeAllElse) {
  EXPECT_EQ(RowOffsetOf(R"({"model_type":"opt","row_offset":0})", "w", 7, 2).value(), 0);
  EXPECT_EQ(RowOffsetOf(R"({"row_offset":5})", "w", 7, 2).value(), 5);
}

TEST(RowOffset, GuessesNothing) {
  EXPECT_THAT(Fault("{}"), HasSubstr("config_json.model_type: is missing"));
  EXPECT_THAT(Fault(R"({"model_type":"tomorrow"})"), HasSubstr("\"tomorrow\" is not known"));
  EXPECT_THAT(Fault(R"({"model_type":"opt","max_position_embeddings":2048,"hidden_size":768})"),
              AllOf(HasSubstr("[2050, 768]"), HasSubstr("[1024, 768]")));
  EXPECT_THAT(Fault(R"({"model_type":"gpt2","n_positions":1024,"n_embd":1024})"),
              AllOf(HasSubstr("[1024, 1024]"), HasSubstr("[1024, 768]")));
  EXPECT_THAT(Fault(R"({"model_type":"llama","hidden_size":64,"num_attention_heads":4})"),
              HasSubstr("it learns none"));
  EXPECT_THAT(Fault(R"({"model_type":"opt","model_type":"gpt2"})"), HasSubstr("a key twice"));
  EXPECT_THAT(Fault("[]"), HasSubstr("is no JSON object"));
  EXPECT_THAT(Fault("{"), HasSubstr("is no JSON object"));
  for (const char* number : {"-1", "1.5", "\"2\"", "18446744073709551615", "[]"}) {
    EXPECT_THAT(Fault(absl::StrCat("{\"row_offset\":", number, "}")),
                HasSubstr("config_json.row_offset"))
        << number;
  }
}

}  // namespace
}  // namespace phasor::models
