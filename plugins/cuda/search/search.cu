// SPDX-License-Identifier: Apache-2.0
// The Viterbi beam search. A team, a block or a cluster of blocks (search_team.cuh), takes a channel through all frames of a
// window, with barriers of its own only. Nothing waits for the host or for other teams. So as many channels run beside
// each other as the GPU holds, and the others after them. A frame (search_frame.cuh) selects tokens (search_select.cuh)
// and expands and resolves their emitting arcs. It expands and resolves epsilon arcs until no cost falls
// (search_expand.cuh), writes the tokens and frees their slots. A frame that does not fit its memory leaves the channel
// as it was before it. The kernel ends there and the host, with more memory, goes on. Channels that make lattices keep
// the frame's links (search_links.cuh), and prune their lattice every few frames (search_prune.cuh). The order of
// threads changes only the numbers of tokens and records, and the order of links.
//
// Floor, a frame of kaldi_20k (3000 active tokens, 10,500 arcs, 3300 new tokens): 0.9 MB, 0.2 us of an H200's memory.
// Arcs are 170 KB, their begins 100 KB of sectors. Tokens, candidates and records, written and read, are 600 KB. The
// chain of loads, not their size, bounds a frame's time.
#include "plugins/cuda/search/search_advance.cuh"
#include "plugins/gpu/runtime/open_options.h"

namespace asr::gpu {
namespace {

constexpr uint32_t kThreads = 1024;
constexpr size_t kSlotBytes = sizeof(unsigned long long) + sizeof(uint32_t);
constexpr uint32_t kClusterThreads = 768;

// Returns the shared memory of the table, or, while gaps of a lattice are closed, of the numbers of FrameMoves.
constexpr size_t table_bytes(uint32_t n_slots) { return (n_slots < kThreads ? kThreads : n_slots) * kSlotBytes; }
constexpr size_t kOtherBytes = sizeof(SearchState) + kBins * sizeof(uint32_t);
constexpr size_t shared_bytes_of(uint32_t n_slots, uint32_t n_row) { return table_bytes(n_slots) + n_row * sizeof(float); }

__global__ void __launch_bounds__(kThreads) search_kernel(SearchJob *jobs, SearchScratch scratch) {
  __shared__ SearchState search;
  __shared__ uint32_t histogram[kBins];
  uint32_t part = 0;
  if (threadIdx.x == 0) {
    part = claim_scratch(scratch);
    set_scratch(search, scratch, part);
    search.histogram = histogram;
  }
  __syncthreads();
  Table<NarrowTeam>(search).block_free_own();
  team_take_job<NarrowTeam>(search, jobs + blockIdx.x);
  if (threadIdx.x == 0) release_scratch(scratch, part);
}

__global__ void __launch_bounds__(kClusterThreads) search_cluster_kernel(SearchJob *jobs, SearchScratch scratch) {
  if (!kHasClusters) return;
  __shared__ SearchState search;
  uint32_t part = 0;
  if (threadIdx.x == 0) {
    part = claim_scratch(scratch);
    set_scratch(search, scratch, part);
  }
  __syncthreads();
  Table<ClusterTeam>(search).block_free_own();
  team_take_job<ClusterTeam>(search, jobs + blockIdx.x / ClusterTeam::size());
  if (threadIdx.x == 0) release_scratch(scratch, part);
}

// A launch of clusters of so many blocks.
struct ClusterLaunch {
  cudaLaunchConfig_t config{};
  cudaLaunchAttribute attribute{};

  ClusterLaunch(uint32_t n_blocks, uint32_t cluster_size, cudaStream_t stream) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster_size;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = n_blocks;
    config.blockDim = kClusterThreads;
    config.dynamicSmemBytes = sizeof(ClusterShare);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
};

}  // namespace

uint32_t search_shared_slots(size_t shared_bytes) {
  uint32_t n = 1;
  while (2 * n * kSlotBytes + kOtherBytes <= shared_bytes) n *= 2;
  return n;
}

uint32_t search_shared_row(size_t shared_bytes) {
  constexpr size_t kReserve = 64;  // for alignment
  const size_t taken = table_bytes(search_shared_slots(shared_bytes)) + kOtherBytes + kReserve;
  return taken < shared_bytes ? static_cast<uint32_t>((shared_bytes - taken) / sizeof(float)) : 0;
}

cudaError_t prepare_search(uint32_t n_shared_slots, uint32_t n_shared_row) {
  return cudaFuncSetAttribute(search_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              static_cast<int>(shared_bytes_of(n_shared_slots, n_shared_row)));
}

cudaError_t prepare_search_clusters(uint32_t cluster_size, uint32_t *n_clusters) {
  *n_clusters = 0;
  int device = 0, has_clusters = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, device);
  if (error != cudaSuccess || has_clusters == 0) return error;
  error = cudaFuncSetAttribute(search_cluster_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(ClusterShare));
  if (error == cudaSuccess)
    error = cudaFuncSetAttribute(search_cluster_kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  if (error != cudaSuccess) return error;
  const ClusterLaunch launch(cluster_size, cluster_size, nullptr);
  int n = 0;
  error = cudaOccupancyMaxActiveClusters(&n, search_cluster_kernel, &launch.config);
  if (error == cudaSuccess) *n_clusters = static_cast<uint32_t>(n);
  if (error != cudaErrorInvalidClusterSize) return error;
  cudaGetLastError();  // none of that size, which is no failure
  return cudaSuccess;
}

void launch_search(SearchJob *jobs, uint32_t n_jobs, const SearchScratch &scratch, cudaStream_t stream) {
  const size_t n_bytes = shared_bytes_of(scratch.n_shared_slots, scratch.n_shared_row);
  search_kernel<<<n_jobs, kThreads, n_bytes, stream>>>(jobs, scratch);
}

cudaError_t launch_search_clusters(SearchJob *jobs, uint32_t n_jobs, SearchScratch scratch, uint32_t cluster_size,
                                   cudaStream_t stream) {
  scratch.n_shared_slots =
      initial_capacity(ClusterShare::kSlots, scratch.initial_capacity_shift, 2 * ClusterShare::kMinCapacity);
  const ClusterLaunch launch(n_jobs * cluster_size, cluster_size, stream);
  return cudaLaunchKernelEx(&launch.config, search_cluster_kernel, jobs, scratch);
}

}  // namespace asr::gpu
