// SPDX-License-Identifier: Apache-2.0
// The part of page.js that runs on the audio thread: 16-bit samples of the first channel, a tenth of a second a message.

class Capture extends AudioWorkletProcessor {
  constructor() {
    super();
    this.samples = new Int16Array(Math.round(sampleRate / 10));
    this.n = 0;
  }

  process(inputs) {
    const channel = inputs[0][0];
    if (channel === undefined) return true; // the microphone is not there yet
    for (const value of channel) {
      this.samples[this.n++] = Math.max(-1, Math.min(1, value)) * 32767;
      if (this.n === this.samples.length) {
        const full = this.samples;
        this.samples = new Int16Array(full.length);
        this.n = 0;
        this.port.postMessage(full.buffer, [full.buffer]);
      }
    }
    return true;
  }
}

registerProcessor("capture", Capture);
