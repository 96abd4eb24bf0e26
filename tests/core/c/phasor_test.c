/* phasor.h from plain C. Expected values: mpmath at 400 bits, rounded once;
 * of seeded tables, docs/seeded-init.md. */
#include "phasor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static phasor_spec* sinusoidal(const phasor_sinusoidal* wanted) {
  phasor_spec* spec = NULL;
  phasor_error error;
  if (phasor_spec_sinusoidal(wanted, &spec, &error) != PHASOR_OK) {
    fprintf(stderr, "%s\n", error.message);
    exit(1);
  }
  return spec;
}

static phasor_spec* rotary(const phasor_rotary* wanted) {
  phasor_spec* spec = NULL;
  phasor_error error;
  if (phasor_spec_rotary(wanted, &spec, &error) != PHASOR_OK) {
    fprintf(stderr, "%s\n", error.message);
    exit(1);
  }
  return spec;
}

static void gives_the_worked_example(void) {
  const phasor_sinusoidal wanted = {.size = sizeof wanted, .width = 4};
  phasor_table* table = opened(sinusoidal(&wanted));
  const float expected[3][4] = {{0, 1, 0, 1},
                                {0x1.aed548p-1f, 0x1.14a28p-1f, 0x1.47acaep-7f, 0x1.fff972p-1f},
                                {0x1.d18f6ep-1f, -0x1.aa2266p-2f, 0x1.47a87cp-6f, 0x1.ffe5cap-1f}};
  float rows[3][4];
  CHECK(phasor_read(table, 0, 3, rows, sizeof rows, NULL) == PHASOR_OK);
  CHECK(same(rows, expected, sizeof rows));

  const phasor_spec* spec = phasor_table_spec(table);
  CHECK(phasor_spec_row_width(spec) == 4 && phasor_spec_row_bytes(spec) == 16);
  CHECK(phasor_spec_element_type(spec) == PHASOR_FLOAT32);
  CHECK(phasor_spec_first_position(spec) == -(INT64_C(1) << 53));
  CHECK(phasor_spec_last_position(spec) == INT64_C(1) << 53);
  CHECK(!phasor_spec_bounded(spec));
  CHECK(phasor_table_bytes(table) > 0);
  phasor_close(table);
}

static void reads_at_an_offset_into_any_address(void) {
  const phasor_sinusoidal wanted = {.size = sizeof wanted, .width = 4};
  phasor_table* table = opened(sinusoidal(&wanted));
  const float expected[4] = {0x1.ea2c82p-2f, -0x1.c18772p-1f, -0x1.560ddcp-2f, -0x1.e29736p-1f};
  unsigned char memory[sizeof expected + 2];
  memset(memory, 0xA5, sizeof memory);
  CHECK(phasor_read(table, 1000003, 1, memory + 1, sizeof expected, NULL) == PHASOR_OK);
  CHECK(same(memory + 1, expected, sizeof expected));
  CHECK(memory[0] == 0xA5 && memory[sizeof memory - 1] == 0xA5);
  phasor_close(table);
}

static void gathers(void) {
  const phasor_sinusoidal wanted = {.size = sizeof wanted, .width = 4};
  phasor_table* table = opened(sinusoidal(&wanted));
  const int64_t positions[3] = {2, 1000003, 2};
  float rows[3][4];
  CHECK(phasor_gather(table, positions, 3, rows, sizeof rows, NULL) == PHASOR_OK);
  CHECK(rows[0][0] == 0x1.d18f6ep-1f && rows[1][3] == -0x1.e29736p-1f);
  CHECK(same(rows[0], rows[2], sizeof rows[0]));

  const double half = 0.5;
  const float expected[4] = {0x1.eaee88p-2f, 0x1.c1528p-1f, 0x1.47adbcp-8f, 0x1.fffe5cp-1f};
  float row[4];
  CHECK(phasor_gather_real(table, &half, 1, row, sizeof row, NULL) == PHASOR_OK);
  CHECK(same(row, expected, sizeof row));
  CHECK(phasor_gather(table, NULL, 0, NULL, 0, NULL) == PHASOR_OK);
  phasor_close(table);
}

static void shifts(void) {
  const phasor_sinusoidal wanted = {.size = sizeof wanted, .width = 2};
  phasor_spec* spec = sinusoidal(&wanted);
  const float row[2] = {0x1.aed548p-1f, 0x1.14a28p-1f};
  const float next[2] = {0x1.d18f6ep-1f, -0x1.aa2264p-2f};
  const float half[2] = {0x1.feb7a8p-1f, 0x1.21bd52p-4f};
  float out[2];
  CHECK(phasor_shift(spec, 1, row, out, sizeof out, NULL) == PHASOR_OK);
  CHECK(same(out, next, sizeof out));
  CHECK(phasor_shift_real(spec, 0.5, row, out, sizeof out, NULL) == PHASOR_OK);
  CHECK(same(out, half, sizeof out));
  memcpy(out, row, sizeof out);
  CHECK(phasor_shift(spec, 1, out, out, sizeof out, NULL) == PHASOR_OK); /* in place */
  CHECK(same(out, next, sizeof out));

  /* Not overlapping otherwise: what is read would have been written. */
  float three[6] = {0, 1, 0, 1, 0, 1};
  phasor_error error;
  CHECK(phasor_shift(spec, 1, three, three + 2, 4 * sizeof *three, &error) ==
        PHASOR_INVALID_ARGUMENT);
  CHECK(strcmp(error.field, "out") == 0);
  CHECK(phasor_shift_real(spec, 0.5, three + 2, three, 4 * sizeof *three, &error) ==
        PHASOR_INVALID_ARGUMENT);
  CHECK(strcmp(error.field, "out") == 0);
  CHECK(phasor_shift(spec, 0, three, three + 2, 2 * sizeof *three, NULL) == PHASOR_OK); /* beside */

  CHECK(phasor_shift_real(spec, NAN, row, out, sizeof out, &error) == PHASOR_INVALID_ARGUMENT);
  CHECK(strcmp(error.field, "by") == 0);
  CHECK(phasor_shift(spec, 1, row, out, 5, &error) == PHASOR_INVALID_ARGUMENT);
  CHECK(strcmp(error.field, "rows") == 0);
  phasor_spec_free(spec);
}

static void gives_frequencies_and_names_the_table(void) {
  const double base = 1000;
  const phasor_sinusoidal wanted = {.size = sizeof wanted,
                                    .element_type = PHASOR_FLOAT16,
                                    .width = 6,
                                    .base = &base,
                                    .ladder = PHASOR_LADDER_PAPER};
  phasor_spec* spec = sinusoidal(&wanted);
  double frequencies[3];
  CHECK(phasor_frequency_count(spec) == 3);
  CHECK(phasor_frequencies(spec, frequencies, 3, NULL) == PHASOR_OK);
  CHECK(frequencies[0] == 1 && frequencies[1] == 0x1.999999999999ap-4 &&
        frequencies[2] == 0x1.47ae147ae147bp-7);
  phasor_error error;
  CHECK(phasor_frequencies(spec, frequencies, 2, &error) == PHASOR_INVALID_ARGUMENT);
  CHECK(strcmp(error.field, "out") == 0);
  CHECK(strcmp(phasor_spec_text(spec),
               "element_type=ELEMENT_TYPE_FLOAT16\n"
               "sinusoidal.base=408f400000000000\n"
               "sinusoidal.width=6\n") == 0);
  phasor_spec_free(spec);

  /* The fingerprint of proto/README.md. */
  const double large = 500000;
  const phasor_sinusoidal published = {
      .size = sizeof published, .element_type = PHASOR_FLOAT16, .width = 512, .base = &large};
  spec = sinusoidal(&published);
  CHECK(strcmp(phasor_spec_fingerprint(spec), "96642caa3007aca78620105378d9461e") == 0);
  phasor_spec_free(spec);
}

static void takes_every_field(void) {
  const int64_t padding = 1;
  const double shift = 1;
  const double ladder[2] = {1, 0.01};
  phasor_sinusoidal wanted = {.size = sizeof wanted,
                              .element_type = PHASOR_BFLOAT16,
                              .numerics = PHASOR_EXACT,
                              .width = 4,
                              .ladder = PHASOR_LADDER_EXPLICIT,
                              .layout = PHASOR_COS_SIN_HALVES,
                              .position_offset = 1,
                              .zero_row = &padding,
                              .frequencies = ladder,
                              .frequency_count = 2};
  phasor_table* table = opened(sinusoidal(&wanted));
  uint16_t rows[2][4];
  CHECK(phasor_read(table, 0, 2, rows, sizeof rows, NULL) == PHASOR_OK);
  const uint16_t zero[4] = {0, 0, 0, 0};
  CHECK(same(rows[0], zero, sizeof zero)); /* position 0 is row 1 */
  CHECK(phasor_read(table, -2, 1, rows, sizeof rows[0], NULL) == PHASOR_OK);
  CHECK(rows[0][0] == 0x3F0A && rows[0][2] == 0xBF57); /* cos(-1), sin(-1) */
  phasor_close(table);

  const phasor_sinusoidal downscaled = {.size = sizeof downscaled,
                                        .width = 4,
                                        .ladder = PHASOR_LADDER_DOWNSCALED,
                                        .downscale_shift = &shift};
  const phasor_sinusoidal inclusive = {
      .size = sizeof inclusive, .width = 4, .ladder = PHASOR_LADDER_INCLUSIVE};
  phasor_spec* a = sinusoidal(&downscaled);
  phasor_spec* b = sinusoidal(&inclusive);
  double of_a[2];
  double of_b[2];
  CHECK(phasor_frequencies(a, of_a, 2, NULL) == PHASOR_OK);
  CHECK(phasor_frequencies(b, of_b, 2, NULL) == PHASOR_OK);
  CHECK(of_a[1] == 1e-4 && of_b[1] == 1e-4);
  CHECK(strstr(phasor_spec_text(a), "sinusoidal.downscaled.downscale_shift=") != NULL);
  CHECK(strstr(phasor_spec_text(b), "sinusoidal.inclusive={}\n") != NULL);
  phasor_spec_free(a);
  phasor_spec_free(b);
}

static void initialises_learned_tables(void) {
  const phasor_learned_init wanted = {
      .size = sizeof wanted, .max_positions = 2, .width = 4, .seed = 42, .stream = 54};
  phasor_spec* spec = NULL;
  CHECK(phasor_spec_learned_init(&wanted, &spec, NULL) == PHASOR_OK);
  CHECK(phasor_spec_bounded(spec) && phasor_spec_last_position(spec) == 1);
  CHECK(phasor_frequency_count(spec) == 0);
  CHECK(phasor_spec_attention_factor(spec) == 0 && phasor_spec_axes(spec) == 1);
  phasor_table* table = opened(spec);
  const float expected[4] = {0x1.1fd5b6p-8f, -0x1.dd7fe8p-7f, -0x1.f1e7acp-7f, -0x1.d0811ap-12f};
  float row[4];
  CHECK(phasor_read(table, 1, 1, row, sizeof row, NULL) == PHASOR_OK);
  CHECK(same(row, expected, sizeof row));

  phasor_error error;
  CHECK(phasor_read(table, 2, 1, row, sizeof row, &error) == PHASOR_OUT_OF_RANGE);
  CHECK(error.code == PHASOR_OUT_OF_RANGE && strcmp(error.field, "start_position") == 0);
  const int64_t past = 2;
  CHECK(phasor_gather(table, &past, 1, row, sizeof row, &error) == PHASOR_OUT_OF_RANGE);
  CHECK(strcmp(error.field, "positions[0]") == 0);
  CHECK(phasor_check_positions(phasor_table_spec(table), &past, 1, NULL) == PHASOR_OUT_OF_RANGE);
  CHECK(phasor_check_range(phasor_table_spec(table), 2, 0, NULL) == PHASOR_OK);
  CHECK(phasor_check_range(phasor_table_spec(table), 2, 1, NULL) == PHASOR_OUT_OF_RANGE);
  CHECK(phasor_check_range(phasor_table_spec(table), 0, -1, NULL) == PHASOR_INVALID_ARGUMENT);
  const double real = 0.5;
  CHECK(phasor_check_real_positions(phasor_table_spec(table), &real, 1, &error) ==
        PHASOR_INVALID_ARGUMENT);
  CHECK(strcmp(error.field, "real_positions") == 0);
  CHECK(phasor_frequencies(phasor_table_spec(table), NULL, 0, &error) == PHASOR_INVALID_ARGUMENT);
  CHECK(strcmp(error.field, "spec") == 0);
  phasor_close(table);

  const double stddev = 1e-3;
  const phasor_learned_init narrow = {.size = sizeof narrow,
                                      .element_type = PHASOR_FLOAT64,
                                      .max_positions = 1,
                                      .width = 1,
                                      .stddev = &stddev};
  CHECK(phasor_spec_learned_init(&narrow, &spec, NULL) == PHASOR_OK);
  CHECK(strstr(phasor_spec_text(spec), "learned_init.stddev=3f50624dd2f1a9fc\n") != NULL);
  phasor_spec_free(spec);
}

static void gives_rotary_rows_of_one_position_and_of_one_an_axis(void) {
  const int64_t sections[2] = {1, 1};
  const phasor_rotary wanted = {
      .size = sizeof wanted, .width = 4, .mrope_section = sections, .mrope_section_count = 2};
  phasor_table* table = opened(rotary(&wanted));
  CHECK(phasor_spec_axes(phasor_table_spec(table)) == 2);
  CHECK(phasor_spec_attention_factor(phasor_table_spec(table)) == 1);
  const float first[4] = {0x1.14a28p-1f, 0x1.fff972p-1f, 0x1.aed548p-1f, 0x1.47acaep-7f};
  const float mixed[4] = {0x1.14a28p-1f, 0x1.ffe5cap-1f, 0x1.aed548p-1f, 0x1.47a87cp-6f};
  float rows[2][4];
  CHECK(phasor_read(table, 1, 1, rows, sizeof first, NULL) == PHASOR_OK);
  CHECK(same(rows, first, sizeof first));

  const int64_t positions[4] = {1, 2, 1, 1};
  CHECK(phasor_gather_axes(table, positions, 4, rows, sizeof rows, NULL) == PHASOR_OK);
  CHECK(same(rows[0], mixed, sizeof mixed) && same(rows[1], first, sizeof first));
  const double reals[4] = {1, 2, 1, 1};
  memset(rows, 0, sizeof rows);
  CHECK(phasor_gather_axes_real(table, reals, 4, rows, sizeof rows, NULL) == PHASOR_OK);
  CHECK(same(rows[0], mixed, sizeof mixed) && same(rows[1], first, sizeof first));
  phasor_error error;
  CHECK(phasor_gather_axes(table, positions, 3, rows, sizeof rows, &error) ==
        PHASOR_INVALID_ARGUMENT);
  CHECK(strcmp(error.field, "positions") == 0);
  phasor_close(table);
}

static void takes_rows_from_blocks(void) {
  const int16_t low[3] = {-20, -19, -18};
  const int16_t high[2] = {7, 8};
  phasor_block blocks[2] = {{.first_position = INT64_MIN, .row_count = 3, .rows = low},
                            {.first_position = 7, .row_count = 2, .rows = high}};
  const int64_t positions[4] = {8, INT64_MIN + 2, 7, 8};
  int16_t rows[4];
  CHECK(phasor_gather_blocks(blocks, 2, sizeof *rows, positions, 4, rows) == 4);
  const int16_t expected[4] = {8, -18, 7, 8};
  CHECK(same(rows, expected, sizeof rows));
  CHECK(blocks[0].uses == 1 && blocks[1].uses == 3);

  const int64_t absent[4] = {6, 9, INT64_MIN + 3, INT64_MAX};
  for (int i = 0; i < 4; ++i) {
    const int64_t second[2] = {7, absent[i]};
    CHECK(phasor_gather_blocks(blocks, 2, sizeof *rows, second, 2, rows) == 1);
  }
  CHECK(phasor_gather_blocks(blocks + 1, 1, sizeof *rows, &absent[2], 1, rows) == 0);
  CHECK(phasor_gather_blocks(NULL, 0, sizeof *rows, positions, 1, rows) == 0);
  CHECK(phasor_gather_blocks(blocks, 2, sizeof *rows, NULL, 0, NULL) == 0);
}

/* Frequency number `pair` of what is wanted. */
static double frequency(const phasor_rotary* wanted, size_t pair) {
  phasor_spec* spec = rotary(wanted);
  const size_t count = phasor_frequency_count(spec);
  double* frequencies = malloc(count * sizeof *frequencies);
  CHECK(frequencies != NULL && pair < count);
  CHECK(phasor_frequencies(spec, frequencies, count, NULL) == PHASOR_OK);
  const double wanted_one = frequencies[pair];
  free(frequencies);
  phasor_spec_free(spec);
  return wanted_one;
}

static double attention_factor(const phasor_rotary* wanted) {
  phasor_spec* spec = rotary(wanted);
  const double factor = phasor_spec_attention_factor(spec);
  phasor_spec_free(spec);
  return factor;
}

/* Of width 4 by hand; of real models those of tests/golden/schemes.json. */
static void stretches_rotary_tables_in_every_way(void) {
  const phasor_rotary plain = {.size = sizeof plain, .width = 4};
  CHECK(frequency(&plain, 1) == 0.01);

  const phasor_linear_scaling linear = {.size = sizeof linear, .factor = 4};
  phasor_rotary wanted = plain;
  wanted.linear = &linear;
  CHECK(frequency(&wanted, 0) == 0.25 && frequency(&wanted, 1) == 0.0025);

  const phasor_ntk_scaling ntk = {.size = sizeof ntk, .factor = 4};
  wanted = plain;
  wanted.ntk = &ntk;
  CHECK(frequency(&wanted, 0) == 1 && frequency(&wanted, 1) == 0.0025);

  const phasor_dynamic_ntk_scaling dynamic = {
      .size = sizeof dynamic, .factor = 2, .max_position_embeddings = 2, .sequence_length = 5};
  wanted = plain;
  wanted.dynamic_ntk = &dynamic;
  CHECK(frequency(&wanted, 1) == 0.0025); /* 2 * 5 / 2 - 1 is 4 */

  const double short_factor[2] = {1, 2};
  const double long_factor[2] = {1, 4};
  const double thirty_two = 32;
  phasor_longrope_scaling longrope = {.size = sizeof longrope,
                                      .short_factor = short_factor,
                                      .short_factor_count = 2,
                                      .long_factor = long_factor,
                                      .long_factor_count = 2,
                                      .original_max_position_embeddings = 4096,
                                      .sequence_length = 4097,
                                      .factor = &thirty_two};
  wanted = plain;
  wanted.longrope = &longrope;
  CHECK(frequency(&wanted, 1) == 0.0025);
  longrope.sequence_length = 4096;
  CHECK(frequency(&wanted, 1) == 0.005);
  CHECK(attention_factor(&wanted) == 1.1902380714238083);
  const double own = 2;
  wanted.attention_factor = &own;
  longrope.factor = NULL;
  CHECK(attention_factor(&wanted) == 2);

  const double half = 0.5;
  const double four = 4;
  phasor_proportional_scaling proportional = {
      .size = sizeof proportional, .partial_rotary_factor = &half, .factor = &four};
  wanted = plain;
  wanted.proportional = &proportional;
  CHECK(frequency(&wanted, 0) == 0.25 && frequency(&wanted, 1) == 0);
  proportional.partial_rotary_factor = NULL;
  CHECK(frequency(&wanted, 1) == 0.0025);

  const double frequencies[2] = {3, 5};
  wanted = plain;
  wanted.frequencies = frequencies;
  wanted.frequency_count = 2;
  CHECK(frequency(&wanted, 0) == 3 && frequency(&wanted, 1) == 5);

  /* Llama 3.1 and gpt-oss. */
  const double llama_base = 500000;
  const phasor_llama3_scaling llama3 = {.size = sizeof llama3,
                                        .factor = 8,
                                        .low_freq_factor = 1,
                                        .high_freq_factor = 4,
                                        .original_max_position_embeddings = 8192};
  wanted =
      (phasor_rotary){.size = sizeof wanted, .width = 128, .base = &llama_base, .llama3 = &llama3};
  CHECK(frequency(&wanted, 28) == 0.003211445994752591);
  CHECK(frequency(&wanted, 29) == 0.0021665707635033586);
  CHECK(frequency(&wanted, 32) == 0.00052484616099295467);

  const double gpt_oss_base = 150000;
  const int32_t no = 0;
  phasor_yarn_scaling yarn = {
      .size = sizeof yarn, .factor = 32, .original_max_position_embeddings = 4096, .truncate = &no};
  wanted =
      (phasor_rotary){.size = sizeof wanted, .width = 64, .base = &gpt_oss_base, .yarn = &yarn};
  CHECK(frequency(&wanted, 9) == 0.031705696184663766);
  CHECK(frequency(&wanted, 10) == 0.019335001126540358);
  CHECK(attention_factor(&wanted) == 0x1.58b90bfbe8e7cp+0); /* 1 + ln(32) / 10 */
  const double betas[2] = {16, 2};
  const double mscales[2] = {1, 0.5};
  yarn.truncate = NULL;
  yarn.beta_fast = &betas[0];
  yarn.beta_slow = &betas[1];
  yarn.mscale = &mscales[0];
  yarn.mscale_all_dim = &mscales[1];
  phasor_spec* spec = rotary(&wanted);
  CHECK(strcmp(phasor_spec_text(spec),
               "rotary.base=41024f8000000000\n"
               "rotary.width=64\n"
               "rotary.yarn.beta_fast=4030000000000000\n"
               "rotary.yarn.beta_slow=4000000000000000\n"
               "rotary.yarn.factor=4040000000000000\n"
               "rotary.yarn.mscale=3ff0000000000000\n"
               "rotary.yarn.mscale_all_dim=3fe0000000000000\n"
               "rotary.yarn.original_max_position_embeddings=4096\n") == 0);
  phasor_spec_free(spec);
}

static void expect_rotary_refused(const phasor_rotary* wanted, const char* field) {
  phasor_spec* spec = (phasor_spec*)&checks; /* something that is not NULL */
  phasor_error error = {.code = PHASOR_OK};
  CHECK(phasor_spec_rotary(wanted, &spec, &error) == PHASOR_INVALID_ARGUMENT);
  if (strcmp(error.field, field) != 0) fprintf(stderr, "%s: %s\n", field, error.message);
  CHECK(strcmp(error.field, field) == 0 && spec == NULL);
}

static void names_the_field_of_a_rotary_table_that_is_wrong(void) {
  const double one = 1;
  const phasor_rotary good = {.size = sizeof good, .width = 4};
  phasor_rotary wanted = good;
  wanted.width = 3;
  expect_rotary_refused(&wanted, "spec.rotary.width");
  wanted = good;
  wanted.layout = 9;
  expect_rotary_refused(&wanted, "spec.rotary.layout");
  wanted = good;
  wanted.mrope_interleaved = 2;
  expect_rotary_refused(&wanted, "spec.rotary.mrope_interleaved");
  wanted = good;
  wanted.mrope_section_count = 2;
  expect_rotary_refused(&wanted, "spec.rotary.mrope_section");
  wanted = good;
  wanted.frequencies = &one;
  wanted.frequency_count = SIZE_MAX;
  expect_rotary_refused(&wanted, "spec.rotary.explicit.frequencies");

  const phasor_linear_scaling nothing = {.size = sizeof nothing};
  wanted = good;
  wanted.linear = &nothing;
  expect_rotary_refused(&wanted, "spec.rotary.linear.factor");
  const phasor_ntk_scaling ntk = {.size = sizeof ntk, .factor = 2};
  wanted.ntk = &ntk;
  expect_rotary_refused(&wanted, "spec.rotary.scaling");
  const phasor_linear_scaling forgotten = {.factor = 2};
  wanted = good;
  wanted.linear = &forgotten;
  expect_rotary_refused(&wanted, "size");
  const int32_t two = 2;
  const phasor_yarn_scaling yarn = {
      .size = sizeof yarn, .factor = 2, .original_max_position_embeddings = 64, .truncate = &two};
  wanted = good;
  wanted.yarn = &yarn;
  expect_rotary_refused(&wanted, "spec.rotary.yarn.truncate");
  const phasor_longrope_scaling longrope = {.size = sizeof longrope, .short_factor_count = 2};
  wanted = good;
  wanted.longrope = &longrope;
  expect_rotary_refused(&wanted, "spec.rotary.longrope.short_factor");
}

static void expect_refused(const phasor_sinusoidal* wanted, const char* field) {
  phasor_spec* spec = (phasor_spec*)&checks; /* something that is not NULL */
  phasor_error error = {.code = PHASOR_OK};
  CHECK(phasor_spec_sinusoidal(wanted, &spec, &error) == PHASOR_INVALID_ARGUMENT);
  if (strcmp(error.field, field) != 0) fprintf(stderr, "%s: %s\n", field, error.message);
  CHECK(strcmp(error.field, field) == 0 && strstr(error.message, field) == error.message);
  CHECK(error.code == PHASOR_INVALID_ARGUMENT && spec == NULL);
}

static void names_the_field_that_is_wrong(void) {
  const double one = 1;
  const phasor_sinusoidal good = {.size = sizeof good, .width = 4};
  phasor_sinusoidal wanted = good;
  wanted.width = 3;
  expect_refused(&wanted, "spec.sinusoidal.width");
  wanted = good;
  wanted.base = &one;
  expect_refused(&wanted, "spec.sinusoidal.base");
  wanted = good;
  wanted.layout = 9;
  expect_refused(&wanted, "spec.sinusoidal.layout");
  wanted = good;
  wanted.ladder = 5;
  expect_refused(&wanted, "spec.sinusoidal.ladder");
  wanted = good;
  wanted.ladder = PHASOR_LADDER_DOWNSCALED;
  expect_refused(&wanted, "spec.sinusoidal.downscaled.downscale_shift");
  wanted = good;
  wanted.downscale_shift = &one;
  expect_refused(&wanted, "spec.sinusoidal.downscaled.downscale_shift");
  wanted = good;
  wanted.frequencies = &one;
  wanted.frequency_count = 1;
  expect_refused(&wanted, "spec.sinusoidal.explicit.frequencies");
  wanted.ladder = PHASOR_LADDER_EXPLICIT;
  wanted.frequency_count = SIZE_MAX;
  expect_refused(&wanted, "spec.sinusoidal.explicit.frequencies");
  wanted.frequency_count = 2;
  wanted.frequencies = NULL;
  expect_refused(&wanted, "spec.sinusoidal.explicit.frequencies");
  wanted = good;
  wanted.element_type = 6;
  expect_refused(&wanted, "spec.element_type");
  wanted.element_type = PHASOR_INT32;
  expect_refused(&wanted, "spec.element_type");
  wanted = good;
  wanted.numerics = 2;
  expect_refused(&wanted, "spec.numerics");
  expect_refused(NULL, "wanted");

  phasor_table* table = opened(sinusoidal(&good));
  float row[5];
  phasor_error error;
  CHECK(phasor_read(table, 0, 1, row, sizeof row, &error) == PHASOR_INVALID_ARGUMENT);
  CHECK(strcmp(error.field, "out") == 0);
  CHECK(phasor_read(table, 0, 1, NULL, 16, &error) == PHASOR_INVALID_ARGUMENT);
  CHECK(phasor_read(table, INT64_MAX, 2, row, 32, &error) == PHASOR_OUT_OF_RANGE);
  CHECK(phasor_gather(table, NULL, 1, row, 16, &error) == PHASOR_INVALID_ARGUMENT);
  CHECK(strcmp(error.field, "positions") == 0);
  phasor_close(table);
  phasor_close(NULL);
  phasor_spec_free(NULL);
}

/* A caller compiled against the first header, whose struct ends before odd_column. */
static void takes_shorter_structs(void) {
  phasor_sinusoidal wanted = {.size = offsetof(phasor_sinusoidal, odd_column), .width = 4};
  wanted.odd_column = 77; /* behind its end */
  wanted.min_timescale = (const double*)&wanted;
  phasor_spec* spec = sinusoidal(&wanted);
  CHECK(strcmp(phasor_spec_text(spec), "sinusoidal.width=4\n") == 0);
  phasor_spec_free(spec);
  --wanted.size;
  expect_refused(&wanted, "size");
}

/* A caller compiled against a later header, whose struct is longer. */
static void takes_longer_structs_and_refuses_what_it_does_not_know(void) {
  struct {
    phasor_sinusoidal known;
    int64_t later;
  } wanted = {.known = {.width = 4}};
  wanted.known.size = sizeof wanted;
  phasor_spec_free(sinusoidal(&wanted.known));
  wanted.later = 1;
  expect_refused(&wanted.known, "size");
  wanted.known.size = 0; /* forgotten */
  expect_refused(&wanted.known, "size");
  wanted.known.size = SIZE_MAX;
  expect_refused(&wanted.known, "size");
}

int main(void) {
  gives_the_worked_example();
  reads_at_an_offset_into_any_address();
  gathers();
  shifts();
  gives_frequencies_and_names_the_table();
  takes_every_field();
  initialises_learned_tables();
  gives_rotary_rows_of_one_position_and_of_one_an_axis();
  takes_rows_from_blocks();
  stretches_rotary_tables_in_every_way();
  names_the_field_of_a_rotary_table_that_is_wrong();
  names_the_field_that_is_wrong();
  takes_shorter_structs();
  takes_longer_structs_and_refuses_what_it_does_not_know();
  printf("%d checks, phasor %s\n", checks, phasor_version());
  return 0;
}
