# SPDX-License-Identifier: Apache-2.0
"""Recognises speech for other programs over the network: ``python -m senone.serve BUNDLE``; docs/serve.md is its manual.

One process. The library's threads recognise; asyncio moves bytes, so that a connection is a coroutine and a few kilobytes.
_service.py admits connections and owns their streams, and _vosk.py, _jambonz.py, _aeap.py, _files.py and _wyoming.py each
speak one protocol.
"""
