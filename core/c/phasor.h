#ifndef PHASOR_H_
#define PHASOR_H_

/** \file
 * Phasor's position tables in C, computed in the calling process: what a
 * worker in C, Rust, Go or Python links (libphasor.so). No network, no thread,
 * no file, no global state; no C++ exception leaves it.
 *
 *     phasor_sinusoidal wanted = {.size = sizeof wanted, .width = 512};
 *     phasor_spec* spec = NULL;
 *     phasor_table* table = NULL;
 *     phasor_error error;
 *     float rows[32 * 512];
 *     if (phasor_spec_sinusoidal(&wanted, &spec, &error) != PHASOR_OK ||
 *         phasor_open(spec, &table, &error) != PHASOR_OK ||
 *         phasor_read(table, 4096, 32, rows, sizeof rows, &error) != PHASOR_OK) {
 *       fprintf(stderr, "%s\n", error.message);
 *     }
 *     phasor_close(table);
 *     phasor_spec_free(spec);
 *
 * **Accuracy**: every element is the real value of its formula, rounded once
 * to the element type, to nearest, ties to even: the same bits as every Phasor
 * server's. The caller's rounding mode and flush-to-zero neither change the
 * bits nor are changed.
 *
 * **Memory**: elements are in the machine's own byte order, which has to be
 * little-endian, row-major, without padding; buffers need no alignment.
 *
 * **Errors**: functions that can fail return a code, and say more in `error`
 * unless that is NULL; where the code is PHASOR_OK they leave `error` alone.
 * Buffers that a failed call was given hold nothing that is specified. A NULL
 * where something is needed is such an error (PHASOR_INVALID_ARGUMENT, naming the
 * argument); functions that give no code then give 0, or a text that is empty.
 *
 * **Thread safety**: specs and tables are immutable; any number of threads may
 * use one at a time. Freeing is for the last of them.
 *
 * **Compatibility**: within one SONAME functions and fields are added, at the
 * end, and never changed. A struct with a `size` has its sizeof there, as the
 * caller's compiler knows it, and zero in all that the caller does not set: a
 * zero or NULL field stands for its default, in fields of later versions too.
 */

#include <stddef.h>
#include <stdint.h>

/* NOLINTBEGIN(modernize-use-using): this is C */
#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PHASOR_API __attribute__((visibility("default")))
#else
#define PHASOR_API
#endif

/** What became of a call; the numbers are gRPC's. */
typedef int32_t phasor_code;
enum {
  PHASOR_OK = 0,
  PHASOR_INVALID_ARGUMENT = 3,   /**< an argument is wrong: mend the call */
  PHASOR_NOT_FOUND = 5,          /**< rows that only a server has */
  PHASOR_RESOURCE_EXHAUSTED = 8, /**< no memory */
  PHASOR_OUT_OF_RANGE = 11,      /**< a row that does not exist, or a value that does not fit */
  PHASOR_INTERNAL = 13           /**< a fault of this library */
};

/** What was wrong. Both texts end with a zero byte, and are cut to fit. */
typedef struct phasor_error {
  phasor_code code;
  char field[124];    /**< path of the wrong argument: "spec.sinusoidal.width"; or empty */
  char message[1024]; /**< "<field>: <what is wrong, with the value and the way out>" */
} phasor_error;

/** Number formats of elements; the numbers are the wire protocol's. */
enum {
  PHASOR_DEFAULT_ELEMENT_TYPE = 0, /**< FLOAT32; INT32 for relative buckets */
  PHASOR_FLOAT32 = 1,
  PHASOR_FLOAT64 = 2,
  PHASOR_FLOAT16 = 3,  /**< IEEE 754 binary16 */
  PHASOR_BFLOAT16 = 4, /**< the upper half of a binary32 */
  PHASOR_INT32 = 5     /**< two's complement; of relative buckets, which have no other */
};

/** What elements are held to. */
enum {
  PHASOR_DEFAULT_NUMERICS = 0, /**< EXACT */
  PHASOR_EXACT = 1             /**< correctly rounded */
};

/** Where the sines s_i and cosines c_i of h = width/2 pairs stand in a row. */
enum {
  PHASOR_DEFAULT_LAYOUT = 0,            /**< SIN_COS_INTERLEAVED; of rotary tables COS_SIN_HALVES */
  PHASOR_SIN_COS_INTERLEAVED = 1,       /**< s0 c0 s1 c1 ... */
  PHASOR_SIN_COS_HALVES = 2,            /**< s0 s1 ... c0 c1 ... */
  PHASOR_COS_SIN_HALVES = 3,            /**< c0 c1 ... s0 s1 ... */
  PHASOR_COS_SIN_INTERLEAVED = 4,       /**< c0 s0 c1 s1 ... */
  PHASOR_COS_SIN_DUPLICATED_HALVES = 5, /**< c c, then s s: 2 * width elements */
  PHASOR_COS_SIN_DUPLICATED_PAIRS = 6,  /**< c0 c0 c1 c1 ... s0 s0 ...: 2 * width elements */
  PHASOR_COS_ONLY = 7,                  /**< width / 2 elements */
  PHASOR_SIN_ONLY = 8                   /**< width / 2 elements */
};

/** Ladders of angular frequencies w_i, radians per position. */
enum {
  PHASOR_LADDER_PAPER = 0,      /**< base^(-i/h) */
  PHASOR_LADDER_INCLUSIVE = 1,  /**< base^(-i/(h-1)), the last one exactly 1/base */
  PHASOR_LADDER_DOWNSCALED = 2, /**< base^(-i/(h-downscale_shift)) */
  PHASOR_LADDER_EXPLICIT = 3,   /**< `frequencies` */
  /** min_timescale (max_timescale / min_timescale)^(-i/(h-1)); h = 1: min_timescale
   * (tensor2tensor). Without a base. */
  PHASOR_LADDER_TIMESCALES = 4
};

/** What a row of odd width has beside its pairs. Its layout has as many elements
 * as the width. */
enum {
  PHASOR_ODD_COLUMN_NONE = 0, /**< the width is even */
  PHASOR_ODD_COLUMN_ZERO = 1, /**< h = (width-1)/2, and a last column that is +0 */
  PHASOR_ODD_COLUMN_SINE = 2  /**< h = (width+1)/2, the last pair without its cosine;
                               * PHASOR_LADDER_PAPER is then base^(-2i/width) */
};

/** Rows of sines and cosines: pair i of row p is
 * (sin((p + position_offset) * w_i), cos((p + position_offset) * w_i)). */
typedef struct phasor_sinusoidal {
  size_t size;                   /**< sizeof(phasor_sinusoidal) */
  int32_t element_type;          /**< PHASOR_FLOAT32 ... */
  int32_t numerics;              /**< PHASOR_EXACT ... */
  int64_t width;                 /**< d: even, 2 ... 65536; odd with odd_column; required */
  const double* base;            /**< 1 < base <= 2^64; NULL: 10000, or none where w_i are given */
  int32_t ladder;                /**< PHASOR_LADDER_PAPER ... */
  int32_t layout;                /**< PHASOR_SIN_COS_INTERLEAVED ... */
  int64_t position_offset;       /**< added to every position */
  const int64_t* zero_row;       /**< row, after the offset, that is all +0; NULL: none */
  const double* downscale_shift; /**< 0 ... h - 1/2; required with, and for, its ladder alone */
  const double* frequencies;     /**< h of them, 0 or 2^-64 <= |w| <= 2^32; likewise */
  size_t frequency_count;
  int32_t odd_column;          /**< PHASOR_ODD_COLUMN_ZERO from width 3, _SINE from 1 on */
  const double* min_timescale; /**< 2^-32 ... 2^32; for its ladder alone; NULL: 1 */
  const double* max_timescale; /**< above that, at most 2^64; likewise; NULL: 10000 */
} phasor_sinusoidal;

/** A learned table's initial value: independent draws from N(0, stddev^2), a
 * pure function of these fields, row and column (docs/seeded-init.md). */
typedef struct phasor_learned_init {
  size_t size;           /**< sizeof(phasor_learned_init) */
  int32_t element_type;  /**< PHASOR_FLOAT32 ... */
  int32_t numerics;      /**< PHASOR_EXACT ... */
  int64_t max_positions; /**< rows, at least 1; max_positions * width <= 2^62; required */
  int64_t width;         /**< d: 1 ... 65536, odd allowed; required */
  const double* stddev;  /**< positive, finite, its draws within the type; NULL: 0.02 */
  int64_t seed;          /**< taken mod 2^64 */
  int64_t stream;        /**< 0 ... 2^63-1 */
} phasor_learned_init;

/** Timestep embeddings of diffusion models (diffusers' get_timestep_embedding):
 * sines, then cosines; pair i of row t is (sin(t * w_i), cos(t * w_i)),
 * w_i = scale * max_period^(-i/(h - downscale_freq_shift)), h = floor(width/2). An
 * odd width has a last column that is +0. Fractional t: phasor_gather_real. */
typedef struct phasor_timestep {
  size_t size;                        /**< sizeof(phasor_timestep) */
  int32_t element_type;               /**< PHASOR_FLOAT32 ... */
  int32_t numerics;                   /**< PHASOR_EXACT ... */
  int64_t width;                      /**< 2 ... 65536; required */
  const double* max_period;           /**< 1 < max_period <= 2^64; NULL: 10000 */
  const double* downscale_freq_shift; /**< 0 ... h - 1/2; required: models use 0 and 1 alike */
  const double* scale;                /**< of every angle: 2^-32 ... 2^32; NULL: 1 */
  int32_t flip_sin_to_cos;            /**< 1: cosines before sines; else 0 */
} phasor_timestep;

/** Rows that change nothing, the same at every position, for layers without
 * positions (NoPE): cosines of 1 and sines of 0, or zeros to be added. */
typedef struct phasor_none {
  size_t size;          /**< sizeof(phasor_none) */
  int32_t element_type; /**< PHASOR_FLOAT32 ... */
  int32_t numerics;     /**< PHASOR_EXACT ... */
  int64_t width;        /**< 2 ... 65536 and even; from 1 on and odd too if additive; required */
  int32_t layout;       /**< PHASOR_COS_SIN_HALVES ...; the default if additive */
  int32_t additive;     /**< 1: `width` zeros; else 0 */
} phasor_none;

/** What position p of a table of biases is, m_k being the slope of head k. */
enum {
  PHASOR_ALIBI_DISTANCE = 0,    /**< a distance: -m_k |p|    (the paper, MPT) */
  PHASOR_ALIBI_KEY_POSITION = 1 /**< a key's position: m_k p (the paper's code, BLOOM) */
};

/** Biases added to attention scores (ALiBi; Press et al. 2021): row p has one of
 * each head. With N heads, N a power of two, m_k = 2^(-bias_max (k+1) / N); with n
 * heads, N/2 < n < N, the slopes are those of N heads that stand second, fourth,
 * ..., then those that stand first, third, ..., n in all. */
typedef struct phasor_alibi {
  size_t size;            /**< sizeof(phasor_alibi) */
  int32_t element_type;   /**< PHASOR_FLOAT32 ... */
  int32_t numerics;       /**< PHASOR_EXACT ... */
  int64_t head_count;     /**< n, elements in a row: 1 ... 65536; required */
  const double* bias_max; /**< 2^-32 ... 128; NULL: 8 */
  int32_t form;           /**< PHASOR_ALIBI_DISTANCE ... */
} phasor_alibi;

/** Buckets of relative positions (T5; Raffel et al. 2020): row r, r = key's position -
 * query's position, is one INT32, the row of the model's own table of biases. With B
 * buckets a side (num_buckets, half of it if bidirectional) and E = floor(B/2), a
 * distance n has bucket n if n < E, else
 * E + min(B-1-E, floor((B-E) ln(n/E) / ln(max_distance/E))). Bidirectional: n = |r|,
 * and B more where r > 0. Else n = max(-r, 0). */
typedef struct phasor_relative_buckets {
  size_t size;                  /**< sizeof(phasor_relative_buckets) */
  int32_t element_type;         /**< PHASOR_INT32, or the default */
  int32_t numerics;             /**< PHASOR_EXACT ... */
  const int64_t* num_buckets;   /**< 4 ... 8192, from 2 on if not bidirectional; NULL: 32 */
  const int64_t* max_distance;  /**< above E, at most 2^53; NULL: 128 */
  const int32_t* bidirectional; /**< 0 or 1; NULL: 1 */
} phasor_relative_buckets;

/** Ways in which models stretch rotary tables; proto/phasor/v1/table_spec.proto
 * has the formulas. b_i = base^(-i/h) is the frequency before, w_i after. A
 * number without a default is required. */

/** w_i = b_i / factor. */
typedef struct phasor_linear_scaling {
  size_t size;
  double factor; /**< 1 ... 2^64 */
} phasor_linear_scaling;

/** The base times factor^(h/(h-1)); h is 2 or more. */
typedef struct phasor_ntk_scaling {
  size_t size;
  double factor; /**< 1 ... 2^64 */
} phasor_ntk_scaling;

/** NTK scaling at a given length. */
typedef struct phasor_dynamic_ntk_scaling {
  size_t size;
  double factor;                   /**< 1 ... 2^64 */
  int64_t max_position_embeddings; /**< 1 ... 2^53 */
  int64_t sequence_length;         /**< 1 ... 2^53 */
} phasor_dynamic_ntk_scaling;

/** YaRN: slow pairs divided by factor, fast ones kept. */
typedef struct phasor_yarn_scaling {
  size_t size;
  double factor;                            /**< 1 ... 2^64 */
  int64_t original_max_position_embeddings; /**< 1 ... 2^53 */
  const double* beta_fast;                  /**< *beta_slow ... 2^32; NULL: 32 */
  const double* beta_slow;                  /**< 2^-32 ... *beta_fast; NULL: 1 */
  const double* mscale;                     /**< 2^-32 ... 2^32; NULL: none; both or neither */
  const double* mscale_all_dim;             /**< the same */
  const int32_t* truncate;                  /**< 0 or 1; NULL: 1 */
} phasor_yarn_scaling;

/** LongRoPE: pair i divided by number i of a list. */
typedef struct phasor_longrope_scaling {
  size_t size;
  const double* short_factor; /**< h values, each 2^-32 ... 2^64 */
  size_t short_factor_count;
  const double* long_factor; /**< the same, for a sequence_length above the original one */
  size_t long_factor_count;
  int64_t original_max_position_embeddings; /**< 2 ... 2^53 */
  int64_t sequence_length;                  /**< 1 ... 2^53 */
  const double* factor; /**< 1 ... 2^64; NULL: none, beside an attention_factor alone */
} phasor_longrope_scaling;

/** Llama 3.1 and later: slow pairs divided by factor, fast ones kept, by wavelength. */
typedef struct phasor_llama3_scaling {
  size_t size;
  double factor;                            /**< 1 ... 2^64 */
  double low_freq_factor;                   /**< 2^-32 ... 2^32 */
  double high_freq_factor;                  /**< above low_freq_factor, at most 2^32 */
  int64_t original_max_position_embeddings; /**< 1 ... 2^53 */
} phasor_llama3_scaling;

/** Gemma 4: the first floor(partial_rotary_factor * h) pairs, the others rest. */
typedef struct phasor_proportional_scaling {
  size_t size;
  const double* partial_rotary_factor; /**< above 0, at most 1; NULL: 1 */
  const double* factor;                /**< 1 ... 2^64; NULL: 1 */
} phasor_proportional_scaling;

/** Cosines and sines that turn queries and keys: pair i of row p is
 * (a * cos(p * w_i), a * sin(p * w_i)). At most one scaling is not NULL; without
 * any, w_i = b_i. */
typedef struct phasor_rotary {
  size_t size;                    /**< sizeof(phasor_rotary) */
  int32_t element_type;           /**< PHASOR_FLOAT32 ... */
  int32_t numerics;               /**< PHASOR_EXACT ... */
  int64_t width;                  /**< rotary width: even, 2 ... 65536; required */
  const double* base;             /**< 1 < base <= 2^64; NULL: 10000, or none with frequencies */
  const double* attention_factor; /**< a: 2^-64 ... 2^64; NULL: as the scaling says, else 1 */
  int32_t layout;                 /**< PHASOR_COS_SIN_HALVES ... */
  int32_t mrope_interleaved;      /**< three axes: 1 if pair i takes axis i mod 3; else 0 */
  const int64_t* mrope_section;   /**< pairs of each of 2 ... 8 axes, h in all; NULL: one axis */
  size_t mrope_section_count;
  const phasor_linear_scaling* linear;
  const phasor_ntk_scaling* ntk;
  const phasor_dynamic_ntk_scaling* dynamic_ntk;
  const phasor_yarn_scaling* yarn;
  const phasor_longrope_scaling* longrope;
  const phasor_llama3_scaling* llama3;
  const phasor_proportional_scaling* proportional;
  const double* frequencies; /**< h of them, 0 or 2^-64 <= |w| <= 2^32: in place of b_i */
  size_t frequency_count;
} phasor_rotary;

/** Rows that a server loaded from a checkpoint, as its GetTable tells of them.
 * Their spec can be checked and named here; the rows themselves are the
 * server's: phasor_open gives NOT_FOUND. */
typedef struct phasor_learned_table {
  size_t size;                /**< sizeof(phasor_learned_table) */
  int32_t element_type;       /**< PHASOR_FLOAT32 ... */
  int32_t numerics;           /**< PHASOR_EXACT ... */
  const char* name;           /**< 1 ... 128 of letters, digits and "._-/"; required */
  const char* content_sha256; /**< 64 lower-case hex digits; required */
  int64_t max_positions;      /**< rows, at least 1; required */
  int64_t width;              /**< d: 1 ... 65536, odd allowed; required */
} phasor_learned_table;

/** Which table: checked, every field in range. */
typedef struct phasor_spec phasor_spec;

/** Checks what is wanted and gives it in `*spec`, to be freed by
 * phasor_spec_free; NULL there after an error.
 *
 * **Errors**: INVALID_ARGUMENT naming field and value as the wire protocol writes it,
 * `size` for a struct with fields set that this library does not know; OUT_OF_RANGE
 * for a seeded table whose values could round to an infinity, and for such an
 * attention factor. */
PHASOR_API phasor_code phasor_spec_sinusoidal(const phasor_sinusoidal* wanted, phasor_spec** spec,
                                              phasor_error* error);
PHASOR_API phasor_code phasor_spec_learned_init(const phasor_learned_init* wanted,
                                                phasor_spec** spec, phasor_error* error);
PHASOR_API phasor_code phasor_spec_rotary(const phasor_rotary* wanted, phasor_spec** spec,
                                          phasor_error* error);
PHASOR_API phasor_code phasor_spec_timestep(const phasor_timestep* wanted, phasor_spec** spec,
                                            phasor_error* error);
PHASOR_API phasor_code phasor_spec_none(const phasor_none* wanted, phasor_spec** spec,
                                        phasor_error* error);
PHASOR_API phasor_code phasor_spec_alibi(const phasor_alibi* wanted, phasor_spec** spec,
                                         phasor_error* error);
PHASOR_API phasor_code phasor_spec_relative_buckets(const phasor_relative_buckets* wanted,
                                                    phasor_spec** spec, phasor_error* error);
PHASOR_API phasor_code phasor_spec_learned_table(const phasor_learned_table* wanted,
                                                 phasor_spec** spec, phasor_error* error);
/** Frees a spec; NULL is none. */
PHASOR_API void phasor_spec_free(phasor_spec* spec);

/** The canonical text (proto/README.md), one line a field that does not stand
 * at its default; two specs with equal texts are the same table. Lives as long
 * as the spec. */
PHASOR_API const char* phasor_spec_text(const phasor_spec* spec);
/** First half of the SHA-256 of that text: 32 hex digits. Lives as long as the spec. */
PHASOR_API const char* phasor_spec_fingerprint(const phasor_spec* spec);
/** PHASOR_FLOAT32 ...; never the default's 0. */
PHASOR_API int32_t phasor_spec_element_type(const phasor_spec* spec);
/** Elements in a row: not the width for every layout. */
PHASOR_API int64_t phasor_spec_row_width(const phasor_spec* spec);
/** Positions that a row may have: 1, or one an axis (phasor_rotary.mrope_section). */
PHASOR_API int64_t phasor_spec_axes(const phasor_spec* spec);
/** What sines and cosines are multiplied by, rounded to binary64; 0 for tables without any. */
PHASOR_API double phasor_spec_attention_factor(const phasor_spec* spec);
/** Bytes in a row. */
PHASOR_API int64_t phasor_spec_row_bytes(const phasor_spec* spec);
/** First and last position that has a row. */
PHASOR_API int64_t phasor_spec_first_position(const phasor_spec* spec);
PHASOR_API int64_t phasor_spec_last_position(const phasor_spec* spec);
/** 1 if the table ends, as a learned one does; 0 for a formula. */
PHASOR_API int32_t phasor_spec_bounded(const phasor_spec* spec);

/** Checks that rows start ... start + count - 1 exist. Zero rows exist at any
 * start from the first position to one past the last.
 *
 * **Errors**: INVALID_ARGUMENT (row_count), OUT_OF_RANGE (start_position, row_count). */
PHASOR_API phasor_code phasor_check_range(const phasor_spec* spec, int64_t start, int64_t count,
                                          phasor_error* error);
/** Checks that `count` positions have rows.
 *
 * **Errors**: OUT_OF_RANGE (positions[k]). */
PHASOR_API phasor_code phasor_check_positions(const phasor_spec* spec, const int64_t* positions,
                                              size_t count, phasor_error* error);
/** The same for real positions; of formulas over the reals alone.
 *
 * **Errors**: INVALID_ARGUMENT (real_positions, real_positions[k]), OUT_OF_RANGE
 * (real_positions[k]). */
PHASOR_API phasor_code phasor_check_real_positions(const phasor_spec* spec, const double* positions,
                                                   size_t count, phasor_error* error);

/** Number of angular frequencies, h; 0 for tables that have none. */
PHASOR_API size_t phasor_frequency_count(const phasor_spec* spec);
/** Writes w_0 ... w_(count-1), radians per position, each correctly rounded;
 * `count` is phasor_frequency_count.
 *
 * **Errors**: INVALID_ARGUMENT (spec) for tables without frequencies, (out). */
PHASOR_API phasor_code phasor_frequencies(const phasor_spec* spec, double* out, size_t count,
                                          phasor_error* error);

/** Turns rows of a table of sines and cosines into the rows `steps` positions on: pair i
 * by -steps * w_i, each element the correctly rounded value of the exact
 * rotation of the numbers given. `rows` and `out` are `bytes` long and may be
 * the same memory, but not overlap otherwise. Zero steps give the rows back bit
 * for bit.
 *
 * **Errors**: INVALID_ARGUMENT (spec) for tables without pairs, with half of a
 * pair, and layouts of one half, (rows) for what is not whole rows, NaN, infinities,
 * copies that differ, (out) for one that overlaps `rows` in part; OUT_OF_RANGE (rows)
 * for what would round to an infinity. */
PHASOR_API phasor_code phasor_shift(const phasor_spec* spec, int64_t steps, const void* rows,
                                    void* out, size_t bytes, phasor_error* error);
/** The same by any finite number of positions, taken exactly.
 *
 * **Errors**: as above; INVALID_ARGUMENT (by) for one that is not finite. */
PHASOR_API phasor_code phasor_shift_real(const phasor_spec* spec, double steps, const void* rows,
                                         void* out, size_t bytes, phasor_error* error);

/** An opened table: what makes ranges fast. Reading keeps nothing. */
typedef struct phasor_table phasor_table;

/** Opens a table, to be closed by phasor_close; NULL there after an error. It
 * does not need the spec any more.
 *
 * **Errors**: RESOURCE_EXHAUSTED. */
PHASOR_API phasor_code phasor_open(const phasor_spec* spec, phasor_table** table,
                                   phasor_error* error);
/** Closes a table; NULL is none. */
PHASOR_API void phasor_close(phasor_table* table);
/** The table's spec, which lives as long as the table and is not freed. */
PHASOR_API const phasor_spec* phasor_table_spec(const phasor_table* table);
/** Bytes that the table holds. */
PHASOR_API int64_t phasor_table_bytes(const phasor_table* table);

/** Writes rows start ... start + count - 1 to `out`: count * row_bytes bytes,
 * and `out_bytes` has to be that.
 *
 * **Errors**: those of phasor_check_range; INVALID_ARGUMENT (out). */
PHASOR_API phasor_code phasor_read(const phasor_table* table, int64_t start, int64_t count,
                                   void* out, size_t out_bytes, phasor_error* error);
/** Writes one row for each of `count` positions, in that order, repeats allowed.
 *
 * **Errors**: those of phasor_check_positions; INVALID_ARGUMENT (out). */
PHASOR_API phasor_code phasor_gather(const phasor_table* table, const int64_t* positions,
                                     size_t count, void* out, size_t out_bytes,
                                     phasor_error* error);
/** The same at real positions, each taken exactly.
 *
 * **Errors**: those of phasor_check_real_positions; INVALID_ARGUMENT (out). */
PHASOR_API phasor_code phasor_gather_real(const phasor_table* table, const double* positions,
                                          size_t count, void* out, size_t out_bytes,
                                          phasor_error* error);

/** Writes one row for each phasor_spec_axes of `count` positions, one position an
 * axis: positions are [rows, axes], row-major.
 *
 * **Errors**: as phasor_gather; INVALID_ARGUMENT (positions) for a remainder. */
PHASOR_API phasor_code phasor_gather_axes(const phasor_table* table, const int64_t* positions,
                                          size_t count, void* out, size_t out_bytes,
                                          phasor_error* error);
/** The same at real positions, each taken exactly. */
PHASOR_API phasor_code phasor_gather_axes_real(const phasor_table* table, const double* positions,
                                               size_t count, void* out, size_t out_bytes,
                                               phasor_error* error);

/** A learned table, whose values are in the model's checkpoint. */
typedef struct phasor_checkpoint_table {
  const char* const* tensors; /**< how the tensor's name may end */
  size_t tensor_count;
  int64_t rows; /**< of the tensor */
  int64_t width;
  int64_t row_offset; /**< the row of position 0 */
} phasor_checkpoint_table;

/** What a model does with a table's rows. */
enum {
  PHASOR_USE_ADD = 1,              /**< adds them to the token embeddings */
  PHASOR_USE_ROTATE_HALVES = 2,    /**< turns elements i and i + h of queries and keys */
  PHASOR_USE_ROTATE_PAIRS = 3,     /**< turns elements 2i and 2i + 1 */
  PHASOR_USE_ROTATE_TO_HALVES = 4, /**< turns 2i and 2i + 1, leaves them at i and i + h */
  PHASOR_USE_NOTHING = 5,          /**< these layers know no positions */
  PHASOR_USE_ADD_TO_SCORES = 6,    /**< adds them to attention scores (ALiBi) */
  PHASOR_USE_LOOK_UP = 7           /**< takes them for rows of its own table (T5) */
};

/** One table of a model. */
typedef struct phasor_model_table {
  const char* name;        /**< unique in the model: "rotary", "sliding_attention", "encoder" */
  const char* description; /**< in words */
  int32_t use;             /**< PHASOR_USE_ADD ... */
  const phasor_spec* spec; /**< as phasor_open takes it; NULL for learned tables */
  const phasor_checkpoint_table* checkpoint; /**< of those; else NULL */
  const int64_t* layers; /**< that use it, from 0, ascending; none: all, or not told */
  size_t layer_count;
  int64_t first_channel;        /**< where in the head the turned channels begin */
  const double* softmax_factor; /**< what scores are multiplied by on top; NULL: nothing */
} phasor_model_table;

/** A model's tables. All of it lives until phasor_model_free. */
typedef struct phasor_model {
  const char* model_type;
  const phasor_model_table* const* tables;
  size_t table_count;
  const char* const* keys_used; /**< paths of the keys that decided something, sorted */
  size_t keys_used_count;
  const char* const* keys_ignored; /**< of those about positions that decided nothing */
  size_t keys_ignored_count;
  const char* const* warnings; /**< versions that disagree, guesses made */
  size_t warning_count;
} phasor_model;

/** Versions of Hugging Face's transformers that read configurations differently. */
enum {
  PHASOR_TRANSFORMERS_DEFAULT = 0, /**< 5.16 */
  PHASOR_TRANSFORMERS_4_46 = 1,
  PHASOR_TRANSFORMERS_5_0 = 2,
  PHASOR_TRANSFORMERS_5_16 = 3
};

/** How a configuration is read. */
typedef struct phasor_model_options {
  size_t size;                    /**< sizeof(phasor_model_options) */
  int32_t transformers_version;   /**< PHASOR_TRANSFORMERS_4_46 ... */
  int32_t rotary_layout;          /**< of rotary rows: PHASOR_COS_SIN_HALVES ... */
  int32_t element_type;           /**< PHASOR_FLOAT32 ... */
  const int64_t* sequence_length; /**< that length-dependent tables are for: 1 ... 2^53; NULL: up
                                   * to that of the model's training, and for LongRoPE one
                                   * table more beyond */
} phasor_model_options;

/** Reads the tables of a model off the text of its config.json (docs/models.md);
 * `options` may be NULL. `*model` is to be freed by phasor_model_free; NULL there
 * after an error. A model type that is not known, with RoPE's keys, is read as llama
 * is, and a warning says so.
 *
 * **Errors**: INVALID_ARGUMENT naming the key (config_json.rope_scaling.factor) and
 * its value, or the option. */
PHASOR_API phasor_code phasor_describe_model(const char* config_json, size_t bytes,
                                             const phasor_model_options* options,
                                             const phasor_model** model, phasor_error* error);
/** Frees a model, its specs included; NULL is none. */
PHASOR_API void phasor_model_free(const phasor_model* model);
/** Gives in `*spec` the spec of the model's table of that name, or, where `table` is
 * NULL or empty, of the only one that has one. It lives as long as the model and is not
 * freed.
 *
 * **Errors**: INVALID_ARGUMENT (table), listing the names, for one that is not there,
 * or none where there are several; for one whose values are in a checkpoint. */
PHASOR_API phasor_code phasor_model_spec(const phasor_model* model, const char* table,
                                         const phasor_spec** spec, phasor_error* error);

/** Consecutive rows that the caller keeps. */
typedef struct phasor_block {
  int64_t first_position; /**< of rows[0] */
  int64_t row_count;
  const void* rows;
  int64_t uses; /**< counted up by one for each row taken */
} phasor_block;

/** Takes rows from blocks that the caller keeps, `block_count` of them in the
 * order of their positions: row k of `out` is the one at positions[k]. For
 * languages in which a loop over rows is slow. Blocks may be used by one thread
 * at a time.
 *
 * Gives the number of rows taken: less than `count` if positions[that] is in
 * none of the blocks; none where a pointer is NULL. Nothing is checked but that. */
PHASOR_API size_t phasor_gather_blocks(phasor_block* blocks, size_t block_count, size_t row_bytes,
                                       const int64_t* positions, size_t count, void* out);

/** Version of this library: "MAJOR.MINOR.PATCH". Never freed. */
PHASOR_API const char* phasor_version(void);

#ifdef __cplusplus
} /* extern "C" */
#endif
/* NOLINTEND(modernize-use-using) */

#endif /* PHASOR_H_ */
