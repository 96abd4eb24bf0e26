/* NULL wherever phasor.h takes a pointer: an error that names it, never a crash. */
#include "check.h"

#define CHECK_SCHEME(scheme)                                                  \
  do {                                                                        \
    const phasor_##scheme wanted = {.size = sizeof wanted};                   \
    phasor_spec* spec = NULL;                                                 \
    CHECK_REFUSED(phasor_spec_##scheme(NULL, &spec, &error), "wanted");       \
    CHECK_REFUSED(phasor_spec_##scheme(&wanted, NULL, &error), "spec");       \
    CHECK(phasor_spec_##scheme(NULL, NULL, NULL) == PHASOR_INVALID_ARGUMENT); \
  } while (0)

static void schemes(void) {
  CHECK_SCHEME(sinusoidal);
  CHECK_SCHEME(learned_init);
  CHECK_SCHEME(learned_table);
  CHECK_SCHEME(rotary);
  CHECK_SCHEME(timestep);
  CHECK_SCHEME(none);
  CHECK_SCHEME(alibi);
  CHECK_SCHEME(relative_buckets);
}

static void specs(void) {
  CHECK(strcmp(phasor_spec_text(NULL), "") == 0);
  CHECK(strcmp(phasor_spec_fingerprint(NULL), "") == 0);
  CHECK(phasor_spec_element_type(NULL) == 0 && phasor_spec_row_width(NULL) == 0);
  CHECK(phasor_spec_axes(NULL) == 0 && phasor_spec_attention_factor(NULL) == 0);
  CHECK(phasor_spec_row_bytes(NULL) == 0 && phasor_spec_bounded(NULL) == 0);
  CHECK(phasor_spec_first_position(NULL) == 0 && phasor_spec_last_position(NULL) == 0);
  CHECK(phasor_frequency_count(NULL) == 0);
  const int64_t position = 0;
  const double real = 0;
  double out = 0;
  CHECK_REFUSED(phasor_check_range(NULL, 0, 1, &error), "spec");
  CHECK_REFUSED(phasor_check_positions(NULL, &position, 1, &error), "spec");
  CHECK_REFUSED(phasor_check_real_positions(NULL, &real, 1, &error), "spec");
  CHECK_REFUSED(phasor_frequencies(NULL, &out, 1, &error), "spec");
  CHECK_REFUSED(phasor_shift(NULL, 1, &out, &out, sizeof out, &error), "spec");
  CHECK_REFUSED(phasor_shift_real(NULL, 1, &out, &out, sizeof out, &error), "spec");
  phasor_spec_free(NULL);
}

static void arguments_beside_a_spec(void) {
  const phasor_sinusoidal wanted = {.size = sizeof wanted, .width = 2};
  phasor_spec* spec = NULL;
  float row[2] = {0, 1};
  CHECK(phasor_spec_sinusoidal(&wanted, &spec, NULL) == PHASOR_OK);
  CHECK_REFUSED(phasor_check_positions(spec, NULL, 1, &error), "positions");
  CHECK_REFUSED(phasor_check_real_positions(spec, NULL, 1, &error), "real_positions");
  CHECK_REFUSED(phasor_frequencies(spec, NULL, 1, &error), "out");
  CHECK_REFUSED(phasor_shift(spec, 1, NULL, row, sizeof row, &error), "rows");
  CHECK_REFUSED(phasor_shift(spec, 1, row, NULL, sizeof row, &error), "out");
  CHECK_REFUSED(phasor_open(spec, NULL, &error), "table");
  phasor_spec_free(spec);
}

static void tables(void) {
  phasor_table* table = (phasor_table*)&checks; /* something that is not NULL */
  CHECK_REFUSED(phasor_open(NULL, &table, &error), "spec");
  CHECK(table == NULL);
  CHECK(phasor_table_spec(NULL) == NULL && phasor_table_bytes(NULL) == 0);
  const int64_t position = 0;
  const double real = 0;
  float out = 0;
  CHECK_REFUSED(phasor_read(NULL, 0, 1, &out, sizeof out, &error), "table");
  CHECK_REFUSED(phasor_gather(NULL, &position, 1, &out, sizeof out, &error), "table");
  CHECK_REFUSED(phasor_gather_real(NULL, &real, 1, &out, sizeof out, &error), "table");
  CHECK_REFUSED(phasor_gather_axes(NULL, &position, 1, &out, sizeof out, &error), "table");
  CHECK_REFUSED(phasor_gather_axes_real(NULL, &real, 1, &out, sizeof out, &error), "table");
  phasor_close(NULL);
}

static void blocks(void) {
  const int64_t position = 0;
  float row = 0;
  phasor_block block = {.first_position = 0, .row_count = 1, .rows = NULL};
  CHECK(phasor_gather_blocks(NULL, 1, sizeof row, &position, 1, &row) == 0);
  CHECK(phasor_gather_blocks(&block, 1, sizeof row, &position, 1, &row) == 0);
  block.rows = &row;
  CHECK(phasor_gather_blocks(&block, 1, sizeof row, NULL, 1, &row) == 0);
  CHECK(phasor_gather_blocks(&block, 1, sizeof row, &position, 1, NULL) == 0);
}

static void models(void) {
  const phasor_model* model = (const phasor_model*)&checks; /* something that is not NULL */
  const phasor_spec* spec = NULL;
  CHECK_REFUSED(phasor_describe_model(NULL, 2, NULL, &model, &error), "config_json");
  CHECK(model == NULL);
  CHECK_REFUSED(phasor_describe_model(NULL, 0, NULL, &model, &error), "config_json");
  CHECK_REFUSED(phasor_describe_model("{}", 2, NULL, NULL, &error), "model");
  CHECK_REFUSED(phasor_model_spec(NULL, "rotary", &spec, &error), "model");
  CHECK_REFUSED(phasor_model_spec(NULL, "rotary", NULL, &error), "spec");
  phasor_model_free(NULL);
}

int main(void) {
  schemes();
  specs();
  arguments_beside_a_spec();
  tables();
  blocks();
  models();
  printf("%d checks\n", checks);
  return 0;
}
