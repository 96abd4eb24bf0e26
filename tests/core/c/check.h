/* What the tests in C share. */
#ifndef PHASOR_TESTS_CORE_C_CHECK_H_
#define PHASOR_TESTS_CORE_C_CHECK_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "phasor.h"

static int checks;

#define CHECK(condition)                                              \
  do {                                                                \
    ++checks;                                                         \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

static inline int same(const void* a, const void* b, size_t bytes) {
  return memcmp(a, b, bytes) == 0;
}

static inline phasor_table* opened(phasor_spec* spec) {
  phasor_table* table = NULL;
  CHECK(phasor_open(spec, &table, NULL) == PHASOR_OK);
  phasor_spec_free(spec); /* the table does not need it */
  return table;
}

/* The call was refused for `wrong`. */
#define CHECK_REFUSED(call, wrong)                                                           \
  do {                                                                                       \
    phasor_error error = {.code = PHASOR_OK};                                                \
    const phasor_code code = call;                                                           \
    if (strcmp(error.field, wrong) != 0) fprintf(stderr, "%s: %s\n", wrong, error.message);  \
    CHECK(code == PHASOR_INVALID_ARGUMENT && error.code == code);                            \
    CHECK(strcmp(error.field, wrong) == 0 && strstr(error.message, wrong) == error.message); \
  } while (0)

#endif /* PHASOR_TESTS_CORE_C_CHECK_H_ */
