# SPDX-License-Identifier: Apache-2.0
"""``python -m senone.batch``: transcribes archives of recordings on every device of a host, or over Ray Data on a cluster.
_options.py reads the command line, _source.py the names of the recordings, _output.py holds the results. _local.py passes
recordings to worker processes (_worker.py) and _ray.py to Ray's actors; both recognise with _recognizer.py.
"""
