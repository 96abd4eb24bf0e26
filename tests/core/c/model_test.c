/* Models' tables from plain C. Expected values: the configurations that their
 * authors publish, and transformers' modeling_rope_utils.py. */
#include "check.h"

static const char gemma3[] =
    "{\"model_type\": \"gemma3_text\", \"hidden_size\": 2560, \"num_attention_heads\": 8,"
    " \"head_dim\": 256, \"num_hidden_layers\": 7, \"sliding_window_pattern\": 6,"
    " \"max_position_embeddings\": 131072, \"rope_theta\": 1000000.0,"
    " \"rope_local_base_freq\": 10000.0,"
    " \"rope_scaling\": {\"factor\": 8.0, \"rope_type\": \"linear\"}}";

static const phasor_model* described(const char* config_json, const phasor_model_options* options) {
  const phasor_model* model = NULL;
  phasor_error error;
  if (phasor_describe_model(config_json, strlen(config_json), options, &model, &error) !=
      PHASOR_OK) {
    fprintf(stderr, "%s\n", error.message);
    exit(1);
  }
  return model;
}

static int lists(const char* const* texts, size_t count, const char* wanted) {
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(texts[i], wanted) == 0) return 1;
  }
  return 0;
}

static void gives_a_table_for_each_kind_of_layer(void) {
  const phasor_model* model = described(gemma3, NULL);
  CHECK(strcmp(model->model_type, "gemma3_text") == 0 && model->table_count == 2);
  CHECK(lists(model->keys_used, model->keys_used_count, "rope_local_base_freq"));

  const phasor_spec* global = NULL;
  const phasor_spec* local = NULL;
  CHECK(phasor_model_spec(model, "full_attention", &global, NULL) == PHASOR_OK);
  CHECK(phasor_model_spec(model, "sliding_attention", &local, NULL) == PHASOR_OK);
  double frequencies[128];
  CHECK(phasor_frequencies(global, frequencies, 128, NULL) == PHASOR_OK);
  CHECK(frequencies[0] == 0.125 && frequencies[64] == 0.000125);
  CHECK(phasor_frequencies(local, frequencies, 128, NULL) == PHASOR_OK);
  CHECK(frequencies[0] == 1 && frequencies[64] == 0.01);

  for (size_t i = 0; i < 2; ++i) {
    const phasor_model_table* table = model->tables[i];
    const int is_global = strcmp(table->name, "full_attention") == 0;
    CHECK(table->spec == (is_global ? global : local));
    CHECK(table->use == PHASOR_USE_ROTATE_HALVES && table->checkpoint == NULL);
    CHECK(table->layer_count == (is_global ? 1U : 6U) && table->softmax_factor == NULL);
    if (is_global) CHECK(table->layers[0] == 5); /* every sixth */
    CHECK(strlen(table->description) > 0 && table->first_channel == 0);
  }

  phasor_table* table = NULL;
  float row[256];
  CHECK(phasor_open(local, &table, NULL) == PHASOR_OK);
  phasor_model_free(model);
  CHECK(phasor_read(table, 0, 1, row, sizeof row, NULL) == PHASOR_OK); /* outlives the model */
  CHECK(row[0] == 1 && row[128] == 0);
  phasor_close(table);
}

static void tells_where_learned_rows_are(void) {
  const phasor_model* model = described(
      "{\"model_type\": \"opt\", \"max_position_embeddings\": 2048, \"hidden_size\": 768,"
      " \"word_embed_proj_dim\": 768}",
      NULL);
  CHECK(model->table_count == 1 && model->tables[0]->spec == NULL);
  const phasor_checkpoint_table* checkpoint = model->tables[0]->checkpoint;
  CHECK(checkpoint != NULL && checkpoint->rows == 2050 && checkpoint->width == 768 &&
        checkpoint->row_offset == 2);
  CHECK(checkpoint->tensor_count > 0 &&
        strstr(checkpoint->tensors[0], "embed_positions.weight") != NULL);
  const phasor_spec* spec = (const phasor_spec*)&checks; /* something that is not NULL */
  CHECK_REFUSED(phasor_model_spec(model, NULL, &spec, &error), "table");
  CHECK(spec == NULL);
  phasor_model_free(model);
}

static void takes_every_option(void) {
  const char config[] =
      "{\"model_type\": \"llama\", \"hidden_size\": 256, \"num_attention_heads\": 2,"
      " \"max_position_embeddings\": 2048,"
      " \"rope_scaling\": {\"type\": \"dynamic\", \"factor\": 2.0}}";
  const int64_t length = 4096;
  const phasor_model_options options = {.size = sizeof options,
                                        .transformers_version = PHASOR_TRANSFORMERS_4_46,
                                        .rotary_layout = PHASOR_COS_SIN_DUPLICATED_HALVES,
                                        .element_type = PHASOR_BFLOAT16,
                                        .sequence_length = &length};
  const phasor_model* model = described(config, &options);
  const phasor_spec* spec = NULL;
  CHECK(phasor_model_spec(model, "", &spec, NULL) == PHASOR_OK);
  CHECK(phasor_spec_element_type(spec) == PHASOR_BFLOAT16 && phasor_spec_row_width(spec) == 256);
  CHECK(strstr(phasor_spec_text(spec), "rotary.dynamic_ntk.sequence_length=4096\n") != NULL);
  phasor_model_free(model);

  phasor_model_options newest = options;
  newest.transformers_version = PHASOR_TRANSFORMERS_5_16;
  phasor_model_free(described(config, &newest));

  phasor_model_options wrong = options;
  wrong.transformers_version = 4;
  CHECK_REFUSED(phasor_describe_model(config, sizeof config - 1, &wrong, &model, &error),
                "transformers_version");
  CHECK(model == NULL);
  wrong = options;
  wrong.rotary_layout = 9;
  CHECK_REFUSED(phasor_describe_model(config, sizeof config - 1, &wrong, &model, &error),
                "rotary_layout");
  wrong = options;
  wrong.element_type = 6;
  CHECK_REFUSED(phasor_describe_model(config, sizeof config - 1, &wrong, &model, &error),
                "element_type");
  wrong = options;
  wrong.size = 0;
  CHECK_REFUSED(phasor_describe_model(config, sizeof config - 1, &wrong, &model, &error), "size");
}

static void names_what_is_wrong(void) {
  const phasor_model* model = NULL;
  CHECK_REFUSED(phasor_describe_model("{", 1, NULL, &model, &error), "config_json");
  const char config[] =
      "{\"model_type\": \"llama\", \"hidden_size\": 256, \"num_attention_heads\": 2,"
      " \"max_position_embeddings\": 2048,"
      " \"rope_scaling\": {\"type\": \"linear\", \"factor\": \"four\"}}";
  CHECK_REFUSED(phasor_describe_model(config, sizeof config - 1, NULL, &model, &error),
                "config_json.rope_scaling.factor");
  model = described(gemma3, NULL);
  const phasor_spec* spec = NULL;
  CHECK_REFUSED(phasor_model_spec(model, NULL, &spec, &error), "table");
  CHECK_REFUSED(phasor_model_spec(model, "rotary", &spec, &error), "table");
  phasor_model_free(model);
  phasor_model_free(NULL);
}

int main(void) {
  gives_a_table_for_each_kind_of_layer();
  tells_where_learned_rows_are();
  takes_every_option();
  names_what_is_wrong();
  printf("%d checks\n", checks);
  return 0;
}
