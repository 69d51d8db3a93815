// SPDX-License-Identifier: Apache-2.0
// Converts FrontEnd to a JSON object, one key per field, and back. One list of the fields serves both directions.
#include "core/feature/front_end_json.h"

#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/base/parse_json.h"
#include "core/feature/front_end.h"

namespace asr {
namespace {

using Parsed = nlohmann::json;

// Names of an enum's values, in the order of the values.
template <typename Enum>
struct EnumNames;
template <>
struct EnumNames<FrameEdges> {
  static constexpr const char *kNames[] = {"snip", "pad_tail", "centred"};
};
template <>
struct EnumNames<WindowShape> {
  static constexpr const char *kNames[] = {"hamming", "povey", "hann", "rectangular"};
};
template <>
struct EnumNames<asr_dc_removal> {
  static constexpr const char *kNames[] = {"keep", "before_preemphasis", "after_preemphasis"};
};
template <>
struct EnumNames<DctKind> {
  static constexpr const char *kNames[] = {"orthonormal", "htk", "sphinx_legacy"};
};
template <>
struct EnumNames<CmnKind> {
  static constexpr const char *kNames[] = {"none", "batch", "live"};
};
template <>
struct EnumNames<DynamicKind> {
  static constexpr const char *kNames[] = {"none",
                                           "1s_c_d_dd",
                                           "1s_c_d",
                                           "1s_c_d_ld_dd",
                                           "s2_4x",
                                           "1s_12c_12d_3p_12dd",
                                           "regression_squared",
                                           "regression_repeated",
                                           "splice"};
};

template <typename AnyFrontEnd, typename Visit>
void for_each_field(AnyFrontEnd &f, Visit &&visit) {
  visit("sample_rate_hz", f.sample_rate_hz);
  visit("window_samples", f.window_samples);
  visit("shift_samples", f.shift_samples);
  visit("fft_samples", f.fft_samples);
  visit("edges", f.edges);
  visit("dither", f.dither);
  visit("dc_removal", f.dc_removal);
  visit("preemphasis", f.preemphasis);
  visit("preemphasis_in_frame", f.preemphasis_in_frame);
  visit("window", f.window);
  visit("magnitude", f.magnitude);
  visit("n_mel", f.n_mel);
  visit("low_hz", f.low_hz);
  visit("high_hz", f.high_hz);
  visit("triangles_in_hz", f.triangles_in_hz);
  visit("round_edges_to_bins", f.round_edges_to_bins);
  visit("unit_area", f.unit_area);
  visit("vtln_low_hz", f.vtln_low_hz);
  visit("vtln_high_hz", f.vtln_high_hz);
  visit("log_add", f.log_add);
  visit("log_floor", f.log_floor);
  visit("noise_removal", f.noise_removal);
  visit("n_ceps", f.n_ceps);
  visit("dct", f.dct);
  visit("lifter", f.lifter);
  visit("integer_half_lifter", f.integer_half_lifter);
  visit("c0_last", f.c0_last);
  visit("use_energy", f.use_energy);
  visit("energy_windowed", f.energy_windowed);
  visit("cmn", f.cmn);
  visit("cmn_variance", f.cmn_variance);
  visit("cmn_skip_negative_c0", f.cmn_skip_negative_c0);
  visit("cmn_prior", f.cmn_prior);
  visit("cmn_lookahead_frames", f.cmn_lookahead_frames);
  visit("cmn_prior_frames", f.cmn_prior_frames);
  visit("cmn_window_frames", f.cmn_window_frames);
  visit("dynamic", f.dynamic);
  visit("delta_order", f.delta_order);
  visit("delta_window", f.delta_window);
  visit("splice_left", f.splice_left);
  visit("splice_right", f.splice_right);
  visit("drop_absolute_energy", f.drop_absolute_energy);
  visit("transform", f.transform);
  visit("transform_rows", f.transform_rows);
  visit("transform_cols", f.transform_cols);
}

// Fields that are written only where they differ from their defaults: senone.json of other models stays readable for releases
// that do not have them.
template <typename Visit>
void for_each_later_field(Visit &&visit) {
  visit("from_archives", &FrontEnd::from_archives);
  visit("vtln_htk_bends", &FrontEnd::vtln_htk_bends);
  visit("lpc_order", &FrontEnd::lpc_order);
  visit("compression", &FrontEnd::compression);
  visit("floor_gain", &FrontEnd::floor_gain);
  visit("cepstral_scale", &FrontEnd::cepstral_scale);
  visit("energy_beside_c0", &FrontEnd::energy_beside_c0);
  visit("energy_range_db", &FrontEnd::energy_range_db);
  visit("energy_scale", &FrontEnd::energy_scale);
  visit("cmn_cepstra", &FrontEnd::cmn_cepstra);
}

struct Writer {
  JsonWriter *json;

  template <typename Field>
  void operator()(const char *name, const Field &field) {
    json->key(name);
    if constexpr (std::is_enum_v<Field>) {
      json->value(EnumNames<Field>::kNames[static_cast<size_t>(field)]);
    } else if constexpr (std::is_arithmetic_v<Field>) {
      json->value(field);
    } else {
      json->begin_array();
      for (const auto &value : field) json->value(value);
      json->end_array();
    }
  }
};

struct Reader {
  const Parsed &object;
  const std::string &source;
  size_t n_found = 0;

  template <typename Field>
  void operator()(const char *name, Field &field) {
    const auto at = object.find(name);
    if (at == object.end()) return;  // the field keeps its default
    ++n_found;
    if (!read(*at, field))
      fail(ASR_BAD_FILE, "%s: front_end.%s has a wrong type or value; import the model again", source.c_str(), name);
  }

  static bool read(const Parsed &value, bool &field) {
    if (value.is_boolean()) field = value.get<bool>();
    return value.is_boolean();
  }
  static bool read(const Parsed &value, double &field) {
    if (value.is_number()) field = value.get<double>();
    return value.is_number() && std::isfinite(field);
  }
  static bool read(const Parsed &value, uint32_t &field) {
    const bool good = value.is_number_unsigned() && value.get<uint64_t>() <= UINT32_MAX;
    if (good) field = static_cast<uint32_t>(value.get<uint64_t>());
    return good;
  }
  static bool read(const Parsed &value, std::vector<float> &field) {
    if (!value.is_array()) return false;
    field.clear();
    for (const Parsed &element : value) {
      double number = 0;
      if (!read(element, number)) return false;
      field.push_back(static_cast<float>(number));
    }
    return true;
  }
  template <typename Enum, typename = std::enable_if_t<std::is_enum_v<Enum>>>
  static bool read(const Parsed &value, Enum &field) {
    if (!value.is_string()) return false;
    const auto &names = EnumNames<Enum>::kNames;
    for (size_t i = 0; i < std::size(names); ++i) {
      if (value.get_ref<const std::string &>() == names[i]) {
        field = static_cast<Enum>(i);
        return true;
      }
    }
    return false;
  }
};

[[noreturn]] void fail_unknown_key(const Parsed &object, const std::string &source) {
  std::set<std::string> known;
  const FrontEnd defaults;
  for_each_field(defaults, [&](const char *name, const auto &) { known.insert(name); });
  for_each_later_field([&](const char *name, auto) { known.insert(name); });
  for (const auto &item : object.items()) {
    if (known.count(item.key()) == 0) {
      fail(ASR_BAD_FILE, "%s: front_end has the unknown key \"%s\"; was it written by a newer version?", source.c_str(),
           item.key().c_str());
    }
  }
  fail(ASR_BAD_FILE, "%s: front_end has a key twice; import the model again", source.c_str());
}

}  // namespace

std::string front_end_to_json(const FrontEnd &front_end) {
  JsonWriter json;
  write_front_end(front_end, &json);
  return json.text();
}

void write_front_end(const FrontEnd &front_end, JsonWriter *json) {
  json->begin_object();
  Writer write{json};
  for_each_field(front_end, write);
  const FrontEnd defaults;
  for_each_later_field([&](const char *name, auto field) {
    if (front_end.*field != defaults.*field) write(name, front_end.*field);
  });
  json->end_object();
}

FrontEnd front_end_from_json(const std::string &json, const std::string &source) {
  const JsonText parsed(json, source, false);
  const Parsed &object = parsed.root();
  if (!object.is_object()) fail(ASR_BAD_FILE, "%s: front_end is not a JSON object; import the model again", source.c_str());
  FrontEnd front_end;
  Reader reader{object, source};
  for_each_field(front_end, reader);
  for_each_later_field([&](const char *name, auto field) { reader(name, front_end.*field); });
  if (reader.n_found != object.size()) fail_unknown_key(object, source);
  front_end.validate(source);
  return front_end;
}

}  // namespace asr
