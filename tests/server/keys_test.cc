// Tables that differ in one field never share rows, whichever is asked first.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/server/running_server.h"

namespace phasor::server {
namespace {

constexpr std::int64_t kStart = 3;
constexpr std::int64_t kCount = 9;

v1::TableSpec SinusoidalWith(const std::function<void(v1::Sinusoidal*)>& change) {
  v1::TableSpec spec = SinusoidalProto(8);
  change(spec.mutable_sinusoidal());
  return spec;
}

v1::TableSpec LearnedWith(const std::function<void(v1::LearnedInit*)>& change) {
  v1::TableSpec spec = LearnedProto(100, 8);
  change(spec.mutable_learned_init());
  return spec;
}

v1::TableSpec RotaryWith(const std::function<void(v1::Rotary*)>& change) {
  v1::TableSpec spec;
  spec.mutable_rotary()->set_width(8);
  change(spec.mutable_rotary());
  return spec;
}

struct Variant {
  std::string name;
  v1::TableSpec plain;
  v1::TableSpec changed;
};

std::vector<Variant> Variants() {
  using S = v1::Sinusoidal*;
  using L = v1::LearnedInit*;
  const v1::TableSpec sinusoidal = SinusoidalProto(8);
  const v1::TableSpec learned = LearnedProto(100, 8);
  v1::TableSpec float16 = sinusoidal;
  float16.set_element_type(v1::ELEMENT_TYPE_FLOAT16);
  v1::TableSpec bfloat16 = sinusoidal;
  bfloat16.set_element_type(v1::ELEMENT_TYPE_BFLOAT16);
  v1::TableSpec learned_float64 = learned;
  learned_float64.set_element_type(v1::ELEMENT_TYPE_FLOAT64);
  const auto downscaled = [](double shift) {
    return SinusoidalWith([=](S s) { s->mutable_downscaled()->set_downscale_shift(shift); });
  };
  const auto explicit_last = [](double frequency) {
    return SinusoidalWith([=](S s) {
      for (double w : {1.0, 0.5, 0.25, frequency}) s->mutable_explicit_()->add_frequencies(w);
    });
  };
  const auto timescales = [](double least, double most) {
    return SinusoidalWith([=](S s) {
      s->mutable_timescales()->set_min_timescale(least);
      s->mutable_timescales()->set_max_timescale(most);
    });
  };
  const auto odd = [](v1::OddColumn column) {
    return SinusoidalWith([=](S s) {
      s->set_width(9);
      s->set_odd_column(column);
    });
  };
  using R = v1::Rotary*;
  using Y = v1::YarnScaling*;
  const v1::TableSpec rotary = RotaryWith([](R) {});
  const auto linear = [](double factor) {
    return RotaryWith([=](R r) { r->mutable_linear()->set_factor(factor); });
  };
  const auto dynamic = [](std::int64_t length) {
    return RotaryWith([=](R r) {
      r->mutable_dynamic_ntk()->set_factor(4);
      r->mutable_dynamic_ntk()->set_max_position_embeddings(8);
      r->mutable_dynamic_ntk()->set_sequence_length(length);
    });
  };
  const auto yarn = [](const std::function<void(Y)>& change) {
    return RotaryWith([=](R r) {
      r->mutable_yarn()->set_factor(4);
      r->mutable_yarn()->set_original_max_position_embeddings(200);
      change(r->mutable_yarn());
    });
  };
  using B = v1::RelativeBuckets*;
  const auto buckets = [](const std::function<void(B)>& change) {
    v1::TableSpec spec;
    spec.mutable_relative_buckets()->set_num_buckets(16);
    change(spec.mutable_relative_buckets());
    return spec;
  };
  using A = v1::Alibi*;
  const auto alibi = [](const std::function<void(A)>& change) {
    v1::TableSpec spec;
    spec.mutable_alibi()->set_head_count(8);
    change(spec.mutable_alibi());
    return spec;
  };
  using N = v1::NoPosition*;
  const auto none = [](const std::function<void(N)>& change) {
    v1::TableSpec spec;
    spec.mutable_none()->set_width(8);
    change(spec.mutable_none());
    return spec;
  };
  using T = v1::Timestep*;
  const auto timestep = [](const std::function<void(T)>& change) {
    v1::TableSpec spec;
    spec.mutable_timestep()->set_width(8);
    spec.mutable_timestep()->set_downscale_freq_shift(0);
    change(spec.mutable_timestep());
    return spec;
  };
  return {
      {"scheme", sinusoidal, learned},
      {"element_type", sinusoidal, float16},
      {"16-bit element_type", float16, bfloat16},
      {"width", sinusoidal, SinusoidalWith([](S s) { s->set_width(10); })},
      {"base", sinusoidal, SinusoidalWith([](S s) { s->set_base(9999); })},
      {"ladder", sinusoidal, SinusoidalWith([](S s) { s->mutable_inclusive(); })},
      {"ladder of shift 0", sinusoidal, downscaled(0)},
      {"downscale_shift", downscaled(0), downscaled(1)},
      {"frequencies", explicit_last(0.125), explicit_last(0.12500001)},
      {"timescales", sinusoidal, timescales(1, 9999)},
      {"min_timescale", timescales(1, 10000), timescales(2, 10000)},
      {"max_timescale", timescales(1, 10000), timescales(1, 9999)},
      {"odd_column", odd(v1::ODD_COLUMN_ZERO), odd(v1::ODD_COLUMN_SINE)},
      {"odd width", sinusoidal, odd(v1::ODD_COLUMN_ZERO)},
      {"layout", sinusoidal, SinusoidalWith([](S s) { s->set_layout(v1::LAYOUT_COS_SIN_HALVES); })},
      {"position_offset", sinusoidal, SinusoidalWith([](S s) { s->set_position_offset(1); })},
      {"zero_row", sinusoidal, SinusoidalWith([](S s) { s->set_zero_row(5); })},
      {"zero_row's value", SinusoidalWith([](S s) { s->set_zero_row(4); }),
       SinusoidalWith([](S s) { s->set_zero_row(5); })},
      {"rotary for sinusoidal", sinusoidal, rotary},
      {"rotary width", rotary, RotaryWith([](R r) { r->set_width(10); })},
      {"rotary base", rotary, RotaryWith([](R r) { r->set_base(9999); })},
      {"attention_factor", rotary, RotaryWith([](R r) { r->set_attention_factor(1.25); })},
      {"rotary layout", rotary, RotaryWith([](R r) { r->set_layout(v1::LAYOUT_SIN_COS_HALVES); })},
      {"linear", rotary, linear(2)},
      {"linear factor", linear(2), linear(3)},
      {"ntk for linear", linear(2), RotaryWith([](R r) { r->mutable_ntk()->set_factor(2); })},
      {"sequence_length", dynamic(16), dynamic(17)},
      {"beta_fast", yarn([](Y) {}), yarn([](Y y) { y->set_beta_fast(2); })},
      {"beta_slow", yarn([](Y) {}), yarn([](Y y) { y->set_beta_slow(0.125); })},
      {"truncate", yarn([](Y) {}), yarn([](Y y) { y->set_truncate(false); })},
      {"mscale", yarn([](Y) {}), yarn([](Y y) {
         y->set_mscale(1);
         y->set_mscale_all_dim(1);
       })},
      {"timestep for sinusoidal", sinusoidal, timestep([](T) {})},
      {"timestep width", timestep([](T) {}), timestep([](T t) { t->set_width(9); })},
      {"max_period", timestep([](T) {}), timestep([](T t) { t->set_max_period(9999); })},
      {"downscale_freq_shift", timestep([](T) {}),
       timestep([](T t) { t->set_downscale_freq_shift(1); })},
      {"scale", timestep([](T) {}), timestep([](T t) { t->set_scale(2); })},
      {"flip_sin_to_cos", timestep([](T) {}), timestep([](T t) { t->set_flip_sin_to_cos(true); })},
      {"none for rotary", rotary, none([](N) {})},
      {"none's width", none([](N) {}), none([](N n) { n->set_width(10); })},
      {"none's layout", none([](N) {}),
       none([](N n) { n->set_layout(v1::LAYOUT_SIN_COS_HALVES); })},
      {"additive", none([](N) {}), none([](N n) { n->set_additive(true); })},
      {"alibi for none", none([](N n) { n->set_additive(true); }), alibi([](A) {})},
      {"head_count", alibi([](A) {}), alibi([](A a) { a->set_head_count(9); })},
      {"bias_max", alibi([](A) {}), alibi([](A a) { a->set_bias_max(9); })},
      {"form", alibi([](A) {}), alibi([](A a) { a->set_form(v1::ALIBI_FORM_KEY_POSITION); })},
      {"buckets for alibi", alibi([](A) {}), buckets([](B) {})},
      {"num_buckets", buckets([](B) {}), buckets([](B b) { b->set_num_buckets(6); })},
      {"max_distance", buckets([](B) {}), buckets([](B b) { b->set_max_distance(5); })},
      {"bidirectional", buckets([](B) {}), buckets([](B b) { b->set_bidirectional(false); })},
      {"learned width", learned, LearnedWith([](L l) { l->set_width(9); })},
      {"stddev", learned, LearnedWith([](L l) { l->set_stddev(0.03); })},
      {"seed", learned, LearnedWith([](L l) { l->set_seed(1); })},
      {"stream", learned, LearnedWith([](L l) { l->set_stream(1); })},
      {"learned element_type", learned, learned_float64},
  };
}

void ExpectRows(RunningServer* server, const v1::TableSpec& spec) {
  v1::Rows rows;
  const grpc::Status status =
      GetRows(server, RangeRequest<v1::GetRowsRequest>(spec, kStart, kCount), &rows);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ExpectSameRows(rows.data(), LocalRows(spec, kStart, kCount));
  EXPECT_EQ(rows.fingerprint(), SpecOf(spec).fingerprint());
}

TEST(Keys, TablesThatDifferInOneFieldShareNothing) {
  for (const Variant& variant : Variants()) {
    SCOPED_TRACE(variant.name);
    if (variant.name != "ladder of shift 0") {  // that one's rows are the same
      ASSERT_NE(LocalRows(variant.plain, kStart, kCount),
                LocalRows(variant.changed, kStart, kCount));
    }
    for (bool plain_first : {true, false}) {
      RunningServer server;
      const v1::TableSpec& first = plain_first ? variant.plain : variant.changed;
      const v1::TableSpec& second = plain_first ? variant.changed : variant.plain;
      for (const v1::TableSpec& spec : {first, second, first, second}) ExpectRows(&server, spec);
      EXPECT_EQ(server.server().cache().blocks_made(), 2);
    }
  }
}

TEST(Keys, TheLengthOfALearnedTableIsItsOwn) {
  for (bool long_first : {true, false}) {
    RunningServer server;
    for (std::int64_t length : {long_first ? 100 : 10, long_first ? 10 : 100}) {
      v1::Rows rows;
      const grpc::Status status =
          GetRows(&server, RangeRequest<v1::GetRowsRequest>(LearnedProto(length, 8), 9, 2), &rows);
      if (length == 10) {
        ExpectError(status, grpc::OUT_OF_RANGE, "row_count");
      } else {
        EXPECT_TRUE(status.ok());
        ExpectSameRows(rows.data(), LocalRows(LearnedProto(length, 8), 9, 2));
      }
    }
  }
}

TEST(Keys, ADefaultThatIsWrittenIsTheSameTable) {
  RunningServer server;
  ExpectRows(&server, SinusoidalProto(8));
  v1::TableSpec written = SinusoidalWith([](v1::Sinusoidal* s) {
    s->set_base(10000);
    s->mutable_paper();
    s->set_layout(v1::LAYOUT_SIN_COS_INTERLEAVED);
    s->set_position_offset(0);
  });
  written.set_element_type(v1::ELEMENT_TYPE_FLOAT32);
  written.set_numerics(v1::NUMERICS_EXACT);
  ExpectRows(&server, written);
  EXPECT_EQ(server.server().cache().blocks_made(), 1);
}

}  // namespace
}  // namespace phasor::server
