# SPDX-License-Identifier: Apache-2.0
# How SENONE_UNITY builds: the files of a part are compiled together, since most of the time is spent on headers. The demo and
# the builds of tests are made so. Whoever edits a file again and again configures with -DSENONE_UNITY=OFF: then it is compiled
# alone. The releases are, too, so that a missing #include is found. Included before the first target.
set(CMAKE_UNITY_BUILD ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)

# Files that are compiled by themselves: Highway includes the first five several times, and the others have private names that
# another file of their part has, too. Plugins of tests include plugins/cpu/entry.cc.
set_source_files_properties(plugins/cpu/gmm_clusters.cc plugins/cpu/gmm_diagonal.cc plugins/cpu/gmm_full.cc
                            plugins/cpu/gmm_shared.cc plugins/cpu/mfcc_block.cc
                            core/base/parallel.cc core/base/shared_copy.cc core/decode/tonality.cc
                            core/decode/voice_activity.cc core/graph/archive.cc
                            core/lattice/prepared_lattice.cc core/lattice/unordered_lattice.cc core/model/bundle.cc
                            core/model/hmm_file.cc plugins/cpu/entry.cc plugins/cpu/mfcc.cc plugins/gpu/features/mfcc_tiles.cc
                            builder/g2p/unit_ngram.cc builder/graph/srgs.cc builder/graph/token_expansion.cc builder/graph/xml.cc
                            builder/import/kaldi.cc
                            tools/bench_mfcc.cc tools/g2p.cc tools/graph.cc tools/recognize_utterance.cc
                            reference/lattice.cc reference/plp.cc reference/viterbi.cc
                            PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
