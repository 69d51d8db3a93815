# SPDX-License-Identifier: Apache-2.0
"""Metrics of the server and its engines for Prometheus."""

from __future__ import annotations

from typing import Any, Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

import senone

from ._models import Model

_LATENCIES_S = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)


class Metrics:
    """Counters of one server. All of them live in its own registry, so that a process may have several."""

    def __init__(self, models: Callable[[], Iterable[Model]]) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        engines: Any = _Engines(models)  # a Collector by its one method
        self._registry.register(engines)
        self.connections: Any = self._make(Gauge, "senone_connections", "Connections that are open", "protocol")
        self.ended: Any = self._make(Counter, "senone_connections_ended", "Connections that ended", "protocol", "reason")
        self.refused: Any = self._make(Counter, "senone_refused", "Connections that were refused", "reason")
        self.results: Any = self._make(Counter, "senone_results", "Results: heard, rejected or empty", "protocol", "kind")
        self.audio: Any = self._make(Counter, "senone_audio_seconds", "Audio that clients sent", "protocol")
        self.latency: Any = Histogram(
            "senone_final_latency_seconds",
            "From the arrival of the end of an utterance's last word to its result",
            ["protocol"],
            buckets=_LATENCIES_S,
            registry=self._registry,
        )

    def text(self) -> bytes:
        """Returns all metrics in the text format of Prometheus."""
        return bytes(generate_latest(self._registry))

    def _make(self, kind: Any, name: str, text: str, *labels: str) -> Any:
        return kind(name, text, labels, registry=self._registry)


class _Engines:
    """Reads `Engine.stats` when asked."""

    def __init__(self, models: Callable[[], Iterable[Model]]) -> None:
        self._models = models

    def collect(self) -> Iterable[Any]:
        labels = ["model", "device", "engine"]
        streams = GaugeMetricFamily("senone_engine_streams", "Streams that are open", labels=labels)
        lost = GaugeMetricFamily("senone_engine_lost", "1: the engine has lost its device and gets no streams", labels=labels)
        waiting = GaugeMetricFamily("senone_engine_waiting_seconds", "Audio fed and not searched yet", labels=labels)
        fed = CounterMetricFamily("senone_engine_fed_seconds", "Audio fed", labels=labels)
        searched = CounterMetricFamily("senone_engine_searched_seconds", "Audio searched or dropped", labels=labels)
        busy = CounterMetricFamily("senone_engine_busy_seconds", "Time that the engine's threads spent in steps", labels=labels)
        steps = CounterMetricFamily("senone_engine_steps", "Steps that searched", labels=labels)
        lanes = CounterMetricFamily("senone_engine_lanes", "Streams that the steps advanced, summed", labels=labels)
        for model in self._models():
            for number, (engine, is_lost) in enumerate(zip(model.engines, model.lost())):
                try:
                    stats = engine.stats()
                except senone.InvalidState:  # replaced by a reload just now
                    continue
                of = [model.name, engine.info.device_id, str(number)]
                streams.add_metric(of, stats.n_streams)
                lost.add_metric(of, is_lost)
                waiting.add_metric(of, stats.waiting_s)
                fed.add_metric(of, stats.fed_s)
                searched.add_metric(of, stats.searched_s)
                busy.add_metric(of, stats.busy_s)
                steps.add_metric(of, stats.n_steps)
                lanes.add_metric(of, stats.n_lanes)
        return [streams, lost, waiting, fed, searched, busy, steps, lanes]
