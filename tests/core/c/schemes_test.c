/* The schemes of phasor.h beside the plain sinusoidal, rotary and learned ones.
 * Expected values: mpmath at 400 bits, rounded once; slopes and buckets those of
 * tests/golden/schemes.json. */
#include "check.h"

static void gives_timesteps(void) {
  const double shift = 0;
  const phasor_timestep plain = {.size = sizeof plain, .width = 5, .downscale_freq_shift = &shift};
  const double half = 0.5;
  const double period = 1000;
  const double scale = 2;
  const phasor_timestep every = {.size = sizeof every,
                                 .width = 4,
                                 .max_period = &period,
                                 .downscale_freq_shift = &half,
                                 .scale = &scale,
                                 .flip_sin_to_cos = 1};
  const double t = 999.5;
  const float of_plain[5] = {0x1.d2fb26p-2f, -0x1.146326p-1f, 0x1.c7a9p-1f, -0x1.aefdfp-1f, 0};
  const float of_every[4] = {0x1.2b0a2ep-1f, 0x1.ab341cp-2f, 0x1.9f9854p-1f, 0x1.d150b4p-1f};
  float row[5];
  phasor_spec* spec = NULL;
  CHECK(phasor_spec_timestep(&plain, &spec, NULL) == PHASOR_OK);
  CHECK(phasor_frequency_count(spec) == 2);
  phasor_table* table = opened(spec);
  CHECK(phasor_gather_real(table, &t, 1, row, sizeof of_plain, NULL) == PHASOR_OK);
  CHECK(same(row, of_plain, sizeof of_plain));
  phasor_close(table);
  CHECK(phasor_spec_timestep(&every, &spec, NULL) == PHASOR_OK);
  table = opened(spec);
  CHECK(phasor_gather_real(table, &t, 1, row, sizeof of_every, NULL) == PHASOR_OK);
  CHECK(same(row, of_every, sizeof of_every));
  phasor_close(table);

  phasor_timestep wanted = plain;
  wanted.downscale_freq_shift = NULL;
  CHECK_REFUSED(phasor_spec_timestep(&wanted, &spec, &error), "spec.timestep.downscale_freq_shift");
  wanted = plain;
  wanted.flip_sin_to_cos = 2;
  CHECK_REFUSED(phasor_spec_timestep(&wanted, &spec, &error), "spec.timestep.flip_sin_to_cos");
  wanted = plain;
  wanted.scale = &shift;
  CHECK_REFUSED(phasor_spec_timestep(&wanted, &spec, &error), "spec.timestep.scale");
  CHECK(spec == NULL);
}

static void gives_rows_that_change_nothing(void) {
  phasor_none wanted = {.size = sizeof wanted, .width = 4};
  const float turn[4] = {1, 1, 0, 0};
  const float zeros[3] = {0, 0, 0};
  float row[4];
  phasor_spec* spec = NULL;
  CHECK(phasor_spec_none(&wanted, &spec, NULL) == PHASOR_OK);
  phasor_table* table = opened(spec);
  CHECK(phasor_read(table, 1000, 1, row, sizeof row, NULL) == PHASOR_OK);
  CHECK(same(row, turn, sizeof turn));
  phasor_close(table);
  wanted.width = 3;
  CHECK_REFUSED(phasor_spec_none(&wanted, &spec, &error), "spec.none.width");
  wanted.additive = 1;
  CHECK(phasor_spec_none(&wanted, &spec, NULL) == PHASOR_OK);
  table = opened(spec);
  CHECK(phasor_read(table, -7, 1, row, sizeof zeros, NULL) == PHASOR_OK);
  CHECK(same(row, zeros, sizeof zeros));
  phasor_close(table);
  wanted.layout = PHASOR_SIN_ONLY;
  CHECK_REFUSED(phasor_spec_none(&wanted, &spec, &error), "spec.none.layout");
  wanted.additive = -1;
  CHECK_REFUSED(phasor_spec_none(&wanted, &spec, &error), "spec.none.additive");
}

static void gives_biases_of_alibi(void) {
  phasor_alibi wanted = {.size = sizeof wanted, .head_count = 6, .form = PHASOR_ALIBI_KEY_POSITION};
  const float slopes[6] = {0.25F, 0.0625F, 0.015625F, 0.00390625F, 0.5F, 0.125F};
  float row[6];
  phasor_spec* spec = NULL;
  CHECK(phasor_spec_alibi(&wanted, &spec, NULL) == PHASOR_OK);
  CHECK(phasor_frequency_count(spec) == 0 && phasor_spec_attention_factor(spec) == 0);
  phasor_table* table = opened(spec);
  CHECK(phasor_read(table, 1, 1, row, sizeof row, NULL) == PHASOR_OK);
  CHECK(same(row, slopes, sizeof slopes));
  CHECK_REFUSED(phasor_shift(phasor_table_spec(table), 1, row, row, sizeof row, &error), "spec");
  phasor_close(table);

  const double sixteen = 16;
  const float of_sixteen[6] = {0.0625F,           0.00390625F, 0.000244140625F,
                               1.52587890625e-5F, 0.25F,       0.015625F};
  wanted.bias_max = &sixteen;
  wanted.form = PHASOR_ALIBI_DISTANCE;
  CHECK(phasor_spec_alibi(&wanted, &spec, NULL) == PHASOR_OK);
  table = opened(spec);
  CHECK(phasor_read(table, -3, 1, row, sizeof row, NULL) == PHASOR_OK);
  for (int k = 0; k < 6; ++k) CHECK(row[k] == -3 * of_sixteen[k]);
  phasor_close(table);

  wanted.form = 2;
  CHECK_REFUSED(phasor_spec_alibi(&wanted, &spec, &error), "spec.alibi.form");
  wanted.form = 0;
  wanted.head_count = 0;
  CHECK_REFUSED(phasor_spec_alibi(&wanted, &spec, &error), "spec.alibi.head_count");
}

static void gives_buckets_of_relative_positions(void) {
  phasor_relative_buckets wanted = {.size = sizeof wanted};
  const int64_t positions[8] = {-130, -20, -8, -7, 0, 1, 20, 128};
  const int32_t both[8] = {15, 10, 8, 7, 0, 17, 26, 31};
  int32_t rows[8];
  phasor_spec* spec = NULL;
  CHECK(phasor_spec_relative_buckets(&wanted, &spec, NULL) == PHASOR_OK);
  CHECK(phasor_spec_element_type(spec) == PHASOR_INT32 && phasor_spec_row_bytes(spec) == 4);
  CHECK(strcmp(phasor_spec_text(spec), "relative_buckets={}\n") == 0);
  phasor_table* table = opened(spec);
  CHECK(phasor_gather(table, positions, 8, rows, sizeof rows, NULL) == PHASOR_OK);
  CHECK(same(rows, both, sizeof both));
  const double real = 1;
  CHECK_REFUSED(phasor_gather_real(table, &real, 1, rows, sizeof *rows, &error), "real_positions");
  phasor_close(table);

  const int32_t no = 0;
  const int32_t before[8] = {31, 17, 8, 7, 0, 0, 0, 0};
  wanted.element_type = PHASOR_INT32;
  wanted.bidirectional = &no;
  CHECK(phasor_spec_relative_buckets(&wanted, &spec, NULL) == PHASOR_OK);
  table = opened(spec);
  CHECK(phasor_gather(table, positions, 8, rows, sizeof rows, NULL) == PHASOR_OK);
  CHECK(same(rows, before, sizeof before));
  phasor_close(table);

  const int64_t eight = 8;
  const int64_t few = 2;
  const int32_t two = 2;
  wanted.num_buckets = &eight;
  wanted.max_distance = &few;
  CHECK_REFUSED(phasor_spec_relative_buckets(&wanted, &spec, &error),
                "spec.relative_buckets.max_distance");
  wanted.bidirectional = &two;
  CHECK_REFUSED(phasor_spec_relative_buckets(&wanted, &spec, &error),
                "spec.relative_buckets.bidirectional");
  wanted.bidirectional = NULL;
  wanted.num_buckets = &few;
  CHECK_REFUSED(phasor_spec_relative_buckets(&wanted, &spec, &error),
                "spec.relative_buckets.num_buckets");
  wanted.element_type = PHASOR_FLOAT32;
  CHECK_REFUSED(phasor_spec_relative_buckets(&wanted, &spec, &error), "spec.element_type");
}

static void gives_odd_widths(void) {
  phasor_sinusoidal wanted = {
      .size = sizeof wanted, .width = 3, .odd_column = PHASOR_ODD_COLUMN_SINE};
  const float sine[3] = {0x1.ea2c82p-2f, -0x1.c18772p-1f, -0x1.46765ap-1f};
  const float zero[5] = {0x1.210386p-3f, 0x1.eb724p-6f, -0x1.fae04cp-1f, 0x1.ffc506p-1f, 0};
  float row[5];
  phasor_spec* spec = NULL;
  CHECK(phasor_spec_sinusoidal(&wanted, &spec, NULL) == PHASOR_OK);
  CHECK(phasor_frequency_count(spec) == 2 && phasor_spec_row_width(spec) == 3);
  phasor_table* table = opened(spec);
  CHECK(phasor_read(table, 1000003, 1, row, sizeof sine, NULL) == PHASOR_OK);
  CHECK(same(row, sine, sizeof sine));
  phasor_close(table);

  wanted.width = 5;
  wanted.odd_column = PHASOR_ODD_COLUMN_ZERO;
  wanted.layout = PHASOR_SIN_COS_HALVES;
  CHECK(phasor_spec_sinusoidal(&wanted, &spec, NULL) == PHASOR_OK);
  table = opened(spec);
  CHECK(phasor_read(table, 3, 1, row, sizeof zero, NULL) == PHASOR_OK);
  CHECK(same(row, zero, sizeof zero));
  phasor_close(table);

  wanted.odd_column = 3;
  CHECK_REFUSED(phasor_spec_sinusoidal(&wanted, &spec, &error), "spec.sinusoidal.odd_column");
  wanted.odd_column = PHASOR_ODD_COLUMN_NONE;
  CHECK_REFUSED(phasor_spec_sinusoidal(&wanted, &spec, &error), "spec.sinusoidal.width");
}

static void gives_the_ladder_of_timescales(void) {
  const double least = 2;
  const double most = 512;
  phasor_sinusoidal wanted = {.size = sizeof wanted,
                              .width = 4,
                              .ladder = PHASOR_LADDER_TIMESCALES,
                              .min_timescale = &least,
                              .max_timescale = &most};
  phasor_spec* spec = NULL;
  double frequencies[4];
  CHECK(phasor_spec_sinusoidal(&wanted, &spec, NULL) == PHASOR_OK);
  CHECK(phasor_frequencies(spec, frequencies, 2, NULL) == PHASOR_OK);
  CHECK(frequencies[0] == 2 && frequencies[1] == 0.0078125);
  phasor_spec_free(spec);

  /* tensor2tensor's own: t2t_fairseq_d8_freqs. */
  wanted.width = 8;
  wanted.min_timescale = NULL;
  wanted.max_timescale = NULL;
  CHECK(phasor_spec_sinusoidal(&wanted, &spec, NULL) == PHASOR_OK);
  CHECK(phasor_frequencies(spec, frequencies, 4, NULL) == PHASOR_OK);
  CHECK(frequencies[0] == 1 && frequencies[1] == 0.046415888336127789 &&
        frequencies[2] == 0.0021544346900318837 && frequencies[3] == 0.0001);
  phasor_spec_free(spec);

  wanted.max_timescale = &least;
  wanted.min_timescale = &least;
  CHECK_REFUSED(phasor_spec_sinusoidal(&wanted, &spec, &error),
                "spec.sinusoidal.timescales.max_timescale");
  wanted.ladder = PHASOR_LADDER_PAPER;
  CHECK_REFUSED(phasor_spec_sinusoidal(&wanted, &spec, &error),
                "spec.sinusoidal.timescales.min_timescale");
  wanted.min_timescale = NULL;
  CHECK_REFUSED(phasor_spec_sinusoidal(&wanted, &spec, &error),
                "spec.sinusoidal.timescales.max_timescale");
}

int main(void) {
  gives_timesteps();
  gives_rows_that_change_nothing();
  gives_biases_of_alibi();
  gives_buckets_of_relative_positions();
  gives_odd_widths();
  gives_the_ladder_of_timescales();
  printf("%d checks\n", checks);
  return 0;
}
