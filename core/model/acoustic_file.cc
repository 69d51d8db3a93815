// SPDX-License-Identifier: Apache-2.0
// Reads and writes acoustic.bin: the arrays of an AcousticModel behind a header with their counts (docs/bundle.md).
#include "core/base/error.h"
#include "core/base/sections.h"
#include "core/model/acoustic_model.h"

namespace asr {
namespace {

constexpr char kMagic[9] = "SenoneAM";
constexpr uint32_t kVersion = 1;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t covariance;
  uint32_t n_dims, n_states, n_streams, n_codebooks, n_covariances, n_stream_dims;
  uint64_t n_gaussians, n_means, n_precisions, n_log_weights;
};
static_assert(sizeof(Header) == 72);
static_assert(sizeof(asr_gmm_codebook) == 24);

}  // namespace

void write_acoustic_model(const AcousticModel &model, const FileAt &place) {
  model.validate(place.path());
  std::vector<uint32_t> stream_sizes, stream_dims;
  for (const GmmStream &stream : model.streams) {
    stream_sizes.push_back(static_cast<uint32_t>(stream.dims.size()));
    stream_dims.insert(stream_dims.end(), stream.dims.begin(), stream.dims.end());
  }
  Header header{};
  memcpy(header.magic, kMagic, sizeof(header.magic));
  header.version = kVersion;
  header.covariance = static_cast<uint32_t>(model.covariance);
  header.n_dims = model.n_dims;
  header.n_states = model.n_states;
  header.n_streams = static_cast<uint32_t>(stream_sizes.size());
  header.n_codebooks = static_cast<uint32_t>(model.codebooks.size());
  header.n_covariances = static_cast<uint32_t>(model.precision_at.size());
  header.n_stream_dims = static_cast<uint32_t>(stream_dims.size());
  header.n_gaussians = model.n_gaussians();
  header.n_means = model.means.size();
  header.n_precisions = model.precisions.size();
  header.n_log_weights = model.log_weights.size();

  OutputFile file(place);
  file.write(&header, sizeof(header));
  write_section(file, stream_sizes);
  write_section(file, stream_dims);
  write_section(file, model.codebooks);
  write_section(file, model.means);
  write_section(file, model.covariance_of);
  write_section(file, model.precision_at);
  write_section(file, model.precisions);
  write_section(file, model.state_codebook);
  write_section(file, model.state_weight);
  write_section(file, model.log_weights);
  file.commit();
}

AcousticModel read_acoustic_model(const std::string &path) {
  const FileCopy file(path);
  SectionReader reader(file.data(), file.size(), path);
  const auto header = reader.header<Header>(kMagic, kVersion);
  const uint64_t n_cells = uint64_t(header.n_states) * header.n_streams;

  if (header.covariance != ASR_COVARIANCE_DIAGONAL && header.covariance != ASR_COVARIANCE_FULL) {
    fail(ASR_BAD_FILE, "%s: unknown kind of covariance %u", path.c_str(), header.covariance);
  }
  AcousticModel model;
  model.covariance = static_cast<asr_covariance>(header.covariance);
  model.n_dims = header.n_dims;
  model.n_states = header.n_states;
  const auto stream_sizes = reader.copy<uint32_t>(header.n_streams, "stream sizes");
  const auto stream_dims = reader.copy<uint32_t>(header.n_stream_dims, "stream dimensions");
  model.codebooks = reader.copy<asr_gmm_codebook>(header.n_codebooks, "codebooks");
  model.means = reader.copy<float>(header.n_means, "means");
  model.covariance_of = reader.copy<uint32_t>(header.n_gaussians, "covariance numbers");
  model.precision_at = reader.copy<uint64_t>(header.n_covariances, "precision offsets");
  model.precisions = reader.copy<float>(header.n_precisions, "precisions");
  model.state_codebook = reader.copy<uint32_t>(n_cells, "codebooks of states");
  model.state_weight = reader.copy<uint64_t>(n_cells, "weight offsets of states");
  model.log_weights = reader.copy<float>(header.n_log_weights, "log weights");
  reader.finish();

  size_t at = 0;
  for (const uint32_t size : stream_sizes) {
    if (size > stream_dims.size() - at) fail(ASR_BAD_FILE, "%s: a stream has more dimensions than are listed", path.c_str());
    const auto first = stream_dims.begin() + static_cast<std::ptrdiff_t>(at);
    model.streams.push_back({std::vector<uint32_t>(first, first + size)});
    at += size;
  }
  model.validate(path);
  return model;
}

}  // namespace asr
