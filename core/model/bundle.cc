// SPDX-License-Identifier: Apache-2.0
// Reads senone.json with a check of every field, and writes it. The engine and the tools call this.
#include "core/model/bundle.h"

#include <cmath>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json_writer.h"
#include "core/base/limits.h"
#include "core/base/parse_json.h"
#include "core/feature/front_end_json.h"

namespace asr {
namespace {

using Parsed = nlohmann::json;

constexpr char kIndexName[] = "senone.json";
constexpr int kVersion = 1;

// Returns a field of an object; a missing field or one of another type is an error that names it.
const Parsed &field(const Parsed &object, const char *name, Parsed::value_t type, const std::string &source) {
  const auto found = object.find(name);
  if (found == object.end()) fail(ASR_BAD_FILE, "%s: the field \"%s\" is missing", source.c_str(), name);
  const bool number = type == Parsed::value_t::number_float && found->is_number();
  const bool count = type == Parsed::value_t::number_unsigned && found->is_number_unsigned();
  if (!number && !count && found->type() != type) {
    fail(ASR_BAD_FILE, "%s: the field \"%s\" has the type %s", source.c_str(), name, found->type_name());
  }
  return *found;
}

std::string text_field(const Parsed &object, const char *name, const std::string &source) {
  return field(object, name, Parsed::value_t::string, source).get<std::string>();
}

double number_field(const Parsed &object, const char *name, double lowest, double highest, const std::string &source) {
  const double value = field(object, name, Parsed::value_t::number_float, source).get<double>();
  if (!(value >= lowest && value <= highest)) {
    fail(ASR_BAD_FILE, "%s: \"%s\" is %g; it must lie in %g ... %g", source.c_str(), name, value, lowest, highest);
  }
  return value;
}

uint64_t count_field(const Parsed &object, const char *name, const std::string &source) {
  return field(object, name, Parsed::value_t::number_unsigned, source).get<uint64_t>();
}

void write_decoding(const DecodingDefaults &decoding, JsonWriter *json) {
  json->begin_object();
  json->key("beam"), json->value(decoding.beam);
  json->key("acoustic_scale"), json->value(decoding.acoustic_scale);
  json->key("word_insertion_cost"), json->value(decoding.word_insertion_cost);
  json->key("max_active"), json->value(decoding.max_active);
  if (decoding.reject_threshold) json->key("reject_threshold"), json->value(*decoding.reject_threshold);
  if (decoding.has_garbage) json->key("garbage"), json->value(true);
  if (!decoding.keywords.empty()) {
    json->key("keywords");
    json->begin_object();
    for (const auto &[phrase, threshold] : decoding.keywords) json->key(phrase), json->value(threshold);
    json->end_object();
  }
  json->end_object();
}

DecodingDefaults decoding_from_json(const Parsed &json, const std::string &source) {
  DecodingDefaults decoding;
  decoding.beam = number_field(json, "beam", 1e-3, 1e6, source);
  decoding.acoustic_scale = number_field(json, "acoustic_scale", 1e-6, 1e6, source);
  decoding.word_insertion_cost = number_field(json, "word_insertion_cost", -1e6, 1e6, source);
  decoding.max_active = static_cast<uint32_t>(number_field(json, "max_active", 1, 4e9, source));
  if (json.contains("reject_threshold")) decoding.reject_threshold = number_field(json, "reject_threshold", 1e-6, 1, source);
  if (json.contains("garbage")) decoding.has_garbage = field(json, "garbage", Parsed::value_t::boolean, source).get<bool>();
  if (!json.contains("keywords")) return decoding;
  const Parsed &keywords = field(json, "keywords", Parsed::value_t::object, source);
  for (const auto &[phrase, threshold] : keywords.items()) {
    decoding.keywords[phrase] = number_field(keywords, phrase.c_str(), 0, 1, source);
  }
  return decoding;
}

void write_list(const std::vector<std::string> &texts, JsonWriter *json) {
  json->begin_array();
  for (const std::string &text : texts) json->value(text);
  json->end_array();
}

void write_fillers(const Bundle &bundle, JsonWriter *json) {
  json->begin_array();
  for (const auto &[word, phones] : bundle.filler_words) {
    json->begin_object();
    json->key("word"), json->value(word);
    json->key("phones"), write_list(phones, json);
    json->end_object();
  }
  json->end_array();
}

void fillers_from_json(const Parsed &json, Bundle &bundle, const std::string &source) {
  for (const Parsed &entry : json) {
    if (!entry.is_object()) fail(ASR_BAD_FILE, "%s: an entry of \"filler_words\" is not an object", source.c_str());
    std::vector<std::string> phones;
    for (const Parsed &phone : field(entry, "phones", Parsed::value_t::array, source))
      phones.push_back(phone.get<std::string>());
    bundle.filler_words.emplace_back(text_field(entry, "word", source), std::move(phones));
  }
}

void write_steps(const Bundle &bundle, JsonWriter *json) {
  json->begin_array();
  for (const BundleStep &step : bundle.made_by) {
    json->begin_object();
    json->key("senone"), json->value(step.version);
    json->key("arguments"), write_list(step.arguments, json);
    json->end_object();
  }
  json->end_array();
}

// Older bundles have no steps.
void steps_from_json(const Parsed &json, Bundle &bundle, const std::string &source) {
  if (!json.contains("made_by")) return;
  for (const Parsed &entry : field(json, "made_by", Parsed::value_t::array, source)) {
    if (!entry.is_object()) fail(ASR_BAD_FILE, "%s: an entry of \"made_by\" is not an object", source.c_str());
    BundleStep step{text_field(entry, "senone", source), {}};
    for (const Parsed &argument : field(entry, "arguments", Parsed::value_t::array, source)) {
      step.arguments.push_back(argument.get<std::string>());
    }
    bundle.made_by.push_back(std::move(step));
  }
}

std::string hexadecimal(uint64_t value) { return format("%016llx", static_cast<unsigned long long>(value)); }

uint64_t checksum_field(const Parsed &object, const std::string &source) {
  const std::string text = text_field(object, "checksum", source);
  if (text.size() != 16 || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
    fail(ASR_BAD_FILE, "%s: \"checksum\" is \"%s\", not 16 hexadecimal digits", source.c_str(), text.c_str());
  }
  return std::stoull(text, nullptr, 16);
}

void write_files(const Bundle &bundle, JsonWriter *json) {
  json->begin_object();
  for (const auto &[name, file] : bundle.files) {
    json->key(name);
    json->begin_object();
    json->key("size"), json->value(file.size);
    json->key("checksum"), json->value(hexadecimal(file.checksum));
    json->end_object();
  }
  json->end_object();
}

// Accepts plain file names only: an index must not refer to files outside the bundle.
bool is_plain_name(const std::string &name) {
  return !name.empty() && name.front() != '.' && name.find_first_of(std::string("/\\\0", 3)) == std::string::npos;
}

void files_from_json(const Parsed &json, Bundle &bundle, const std::string &source) {
  for (const auto &[name, entry] : json.items()) {
    if (!is_plain_name(name)) fail(ASR_BAD_FILE, "%s: \"%s\" is not the name of a file", source.c_str(), name.c_str());
    if (!entry.is_object()) fail(ASR_BAD_FILE, "%s: the entry of %s is not an object", source.c_str(), name.c_str());
    bundle.files[name] = {count_field(entry, "size", source), checksum_field(entry, source)};
  }
}

void check_files(const Bundle &bundle, const std::string &unread) {
  for (const auto &[name, listed] : bundle.files) {
    if (name != unread) check_bundle_file(bundle, name);
  }
}

// Throws with a description of a path that is not a bundle.
void check_place(const std::string &path, const std::string &index) {
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  if (type == std::filesystem::file_type::not_found) {
    fail(ASR_NOT_FOUND, "%s: does not exist; name a bundle, a directory made by `senone import`", path.c_str());
  }
  if (type == std::filesystem::file_type::regular) {
    fail(ASR_NOT_FOUND, "%s: is a file; name a bundle, a directory made by `senone import`", path.c_str());
  }
  if (std::filesystem::status(index, error).type() == std::filesystem::file_type::not_found) {
    fail(ASR_NOT_FOUND, "%s: is no bundle, as it has no %s; name a directory made by `senone import`", path.c_str(),
         kIndexName);
  }
}

Bundle parse_index(const std::string &text, const std::string &source) {
  if (text.size() > kMaxIndexBytes) {
    fail(ASR_BAD_FILE, "%s: has %zu bytes; up to %zu are read; import the model again", source.c_str(), text.size(),
         kMaxIndexBytes);
  }
  const JsonText parsed(text, source);
  const Parsed &json = parsed.root();
  if (!json.is_object()) fail(ASR_BAD_FILE, "%s: is not a JSON object", source.c_str());
  const uint64_t version = count_field(json, "senone_bundle", source);
  if (version != kVersion) {
    fail(ASR_BAD_FILE, "%s: has bundle version %llu, but this program reads version %d; make the bundle again", source.c_str(),
         static_cast<unsigned long long>(version), kVersion);
  }
  Bundle bundle;
  bundle.name = text_field(json, "name", source);
  bundle.source = text_field(json, "source", source);
  steps_from_json(json, bundle, source);
  bundle.front_end = front_end_from_json(field(json, "front_end", Parsed::value_t::object, source).dump(), source);
  if (json.contains("scores")) bundle.scores = score_model_from_json(json["scores"], source);
  bundle.decoding = decoding_from_json(field(json, "decoding", Parsed::value_t::object, source), source);
  fillers_from_json(field(json, "filler_words", Parsed::value_t::array, source), bundle, source);
  files_from_json(field(json, "files", Parsed::value_t::object, source), bundle, source);
  return bundle;
}

// `place(name)`: the FileAt of a file of the bundle.
template <typename Place>
void write_index(Bundle bundle, const std::vector<std::string> &names, const Place &place) {
  bundle.files.clear();
  for (const std::string &name : names) {
    const FileSum sum = sum_file(place(name));
    bundle.files[name] = {sum.size, sum.checksum};
  }
  OutputFile out(place(kIndexName));
  out.write(bundle_index_text(bundle));
  out.commit();
}

}  // namespace

void check_has_gaussians(const Bundle &bundle) {
  if (!bundle.scores) return;
  fail(ASR_UNSUPPORTED,
       "%s: the bundle has no Gaussians to score audio or features with: its log-likelihoods are computed elsewhere; feed them "
       "as rows of %u values (senone recognize --loglikes)",
       bundle.path.c_str(), bundle.scores->n_columns());
}

void check_takes_audio(const Bundle &bundle) {
  if (!bundle.front_end.from_archives) return;
  fail(ASR_UNSUPPORTED,
       "%s: the model was imported with --features-only, so that it takes features made elsewhere, but no audio; feed rows of "
       "%u values (senone recognize --features)",
       bundle.path.c_str(), bundle.front_end.n_dims());
}

void check_bundle_file_size(const std::string &path, const BundleFile &listed, uint64_t size) {
  if (size == listed.size) return;
  fail(ASR_BAD_FILE, "%s: has %llu bytes, but %s lists %llu; make the bundle again", path.c_str(),
       static_cast<unsigned long long>(size), kIndexName, static_cast<unsigned long long>(listed.size));
}

void check_bundle_file(const std::string &path, const BundleFile &listed, const FileSum &found) {
  check_bundle_file_size(path, listed, found.size);
  if (found.checksum != listed.checksum) {
    fail(ASR_BAD_FILE, "%s: its checksum differs from the one in %s: the file is damaged; make the bundle again", path.c_str(),
         kIndexName);
  }
}

void check_bundle_file(const Bundle &bundle, const std::string &name) {
  const std::string path = bundle.file(name);
  const BundleFile &listed = bundle.files.at(name);
  const InputFile file(path);
  check_bundle_file_size(path, listed, file.size());
  check_bundle_file(path, listed, sum_file(file));
}

Bundle parse_bundle_index(const std::string &text, const std::string &source) {
  try {
    return parse_index(text, source);
  } catch (const nlohmann::json::exception &error) {
    fail(ASR_BAD_FILE, "%s: is not valid: %s; make the bundle again", source.c_str(), error.what());
  }
}

Bundle read_bundle_index(const std::string &path) {
  const std::string index = path + "/" + kIndexName;
  check_place(path, index);
  Bundle bundle = parse_bundle_index(read_file(index, kMaxIndexBytes), index);
  bundle.path = path;
  return bundle;
}

Bundle read_bundle(const std::string &path, const std::string &unread) {
  Bundle bundle = read_bundle_index(path);
  check_files(bundle, unread);
  return bundle;
}

void write_bundle_index(const Bundle &bundle, const OutputDirectory &directory, const std::vector<std::string> &names) {
  write_index(bundle, names, [&](const std::string &name) { return directory.file(name); });
}

void write_bundle_index(const Bundle &bundle, const std::string &directory, const std::vector<std::string> &names) {
  write_index(bundle, names, [&](const std::string &name) { return FileAt(directory + "/" + name); });
}

std::string bundle_index_text(const Bundle &bundle) {
  JsonWriter json(2);
  json.begin_object();
  json.key("senone_bundle"), json.value(kVersion);
  json.key("name"), json.value(bundle.name);
  json.key("source"), json.value(bundle.source);
  json.key("made_by"), write_steps(bundle, &json);
  json.key("front_end"), write_front_end(bundle.front_end, &json);
  if (bundle.scores) json.key("scores"), write_score_model(*bundle.scores, &json);
  json.key("decoding"), write_decoding(bundle.decoding, &json);
  json.key("filler_words"), write_fillers(bundle, &json);
  json.key("files"), write_files(bundle, &json);
  json.end_object();
  return json.text() + "\n";
}

}  // namespace asr
