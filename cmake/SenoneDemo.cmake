# SPDX-License-Identifier: Apache-2.0
# How SENONE_DEMO builds: only what ./dev demo runs. `tests/install/demo.sh SOURCE BUILD --build ""` tells when a file that is
# left out is needed; it is run by hand, since it takes minutes. Included before the first target.

# What import sphinx, graph, recognize and wer do not call. The parts must link without these files.
set(SENONE_NOT_IN_DEMO
    api/asr_audio.cc
    builder/g2p/alignment.cc builder/g2p/train.cc builder/g2p/unit_ngram.cc
    builder/graph/grammar_scores.cc builder/graph/graph_builder*.cc builder/graph/open_graph.cc
    builder/graph/srgs.cc builder/graph/xml.cc
    builder/import/htk*.cc builder/import/julius_binhmm.cc builder/import/kaldi.cc builder/import/kaldi_gmm.cc
    builder/import/kaldi_hmms.cc builder/import/kaldi_mfcc_conf.cc builder/import/kaldi_tr*.cc builder/import/token_graph.cc
    builder/train/[d-f]*.cc builder/train/mixture_model.cc builder/train/r*.cc builder/train/sample*.cc builder/train/semi_tied.cc builder/train/shared*.cc
    builder/train/st*.cc builder/train/tr*.cc
    core/lattice/kaldi_lattice_reader.cc core/lattice/oracle.cc core/lattice/state_level.cc core/lattice/unordered_lattice.cc
    tools/align*.cc tools/bench*.cc tools/device*.cc tools/features.cc tools/g2p.cc tools/import_htk.cc tools/import_kaldi.cc tools/info.cc tools/lattice.cc
    tools/lattice_[abcprs]*.cc tools/listen.cc tools/loglike_file.cc tools/matrix_output.cc tools/microphone.cc tools/recording_rows.cc
    tools/csv.cc tools/scorer.cc tools/text_grid.cc tools/train*.cc)
list(TRANSFORM SENONE_NOT_IN_DEMO PREPEND ${PROJECT_SOURCE_DIR}/)
file(GLOB SENONE_LEFT_OUT ${SENONE_NOT_IN_DEMO})
