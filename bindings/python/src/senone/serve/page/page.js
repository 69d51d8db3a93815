// SPDX-License-Identifier: Apache-2.0
// Live captions of a microphone or a recording, through the server's WebSocket for Vosk's clients. A server with a token
// is opened as /#token=TOKEN, so that the token is in no log.

const token = new URLSearchParams(location.hash.slice(1)).get("token");
const query = token === null ? "" : `?token=${encodeURIComponent(token)}`;
const get = (id) => document.getElementById(id);
const [model, microphone, file, drop, state, utterances, partial] =
  ["model", "microphone", "file", "drop", "state", "utterances", "partial"].map(get);

let source = null; // what is being recognised: has stop()

function say(text) {
  state.textContent = text;
}

async function showServer() {
  const answer = await fetch(`status${query}`);
  const status = await answer.json();
  if (!answer.ok) throw new Error(status.error);
  const engines = status.models.flatMap((each) => each.engines.map((engine) =>
    `${each.name} on ${engine.device_name}: ${engine.streams} open, ${engine.waiting_s.toFixed(1)} s behind`));
  get("server").textContent = engines.join("; ");
  if (model.options.length === 0) model.append(...status.models.map((each) => new Option(each.name)));
}

// ---- what is heard --------------------------------------------------------------------------------------------------

function shaded(words) {
  return words.flatMap((word) => {
    const span = document.createElement("span");
    span.className = `word${word.conf < 0.5 ? " low" : word.conf < 0.8 ? " middle" : ""}`;
    span.textContent = word.word;
    span.title = `confidence ${word.conf}, ${word.start} to ${word.end} s`;
    return [span, " "];
  });
}

function showUtterance([best, ...others]) {
  const line = document.createElement("li");
  const button = document.createElement("button");
  const list = document.createElement("ul");
  button.append(...shaded(best.result));
  button.setAttribute("aria-expanded", "false");
  list.hidden = true;
  const texts = others.length > 0 ? others.map((each) => each.text) : ["no alternatives"];
  list.append(...texts.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
  button.addEventListener("click", () => {
    list.hidden = !list.hidden;
    button.setAttribute("aria-expanded", String(!list.hidden));
  });
  line.append(button, list);
  utterances.append(line);
  utterances.scrollTop = utterances.scrollHeight;
}

function show(reply) {
  if (reply.error !== undefined) throw new Error(reply.error);
  partial.textContent = reply.partial ?? "";
  if (reply.alternatives?.[0].text) showUtterance(reply.alternatives);
}

// ---- the connection -------------------------------------------------------------------------------------------------

// Sends messages, each of which has one reply. `send` waits for the reply.
class Recognizer {
  static open(rate) {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/${query}`);
      const recognizer = new Recognizer(socket);
      socket.onopen = () => {
        const config = { sample_rate: rate, model: model.value, max_alternatives: 5 };
        socket.send(JSON.stringify({ config }));
        resolve(recognizer);
      };
      socket.onerror = () => reject(new Error("the server does not answer"));
    });
  }

  constructor(socket) {
    this.socket = socket;
    this.waiting = [];
    socket.onmessage = (message) => this.waiting.shift()?.resolve(JSON.parse(message.data));
    socket.onclose = (close) => {
      for (const each of this.waiting) each.reject(new Error(`the server closed the connection: ${close.reason || close.code}`));
      this.waiting = [];
    };
  }

  async send(message) {
    const reply = new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
    this.socket.send(message);
    show(await reply);
  }

  end() {
    return this.send('{"eof" : 1}');
  }
}

// ---- sources --------------------------------------------------------------------------------------------------------

async function listen() {
  const plain = { channelCount: 1, echoCancellation: false, noiseSuppression: false, autoGainControl: false };
  const stream = await navigator.mediaDevices.getUserMedia({ audio: plain }); // models know unprocessed speech
  const context = new AudioContext();
  await context.audioWorklet.addModule("page/capture.js");
  const recognizer = await Recognizer.open(context.sampleRate);
  const capture = new AudioWorkletNode(context, "capture", { numberOfOutputs: 0 });
  const stop = async (error) => {
    if (source === null) return;
    source = null;
    capture.port.onmessage = null;
    for (const track of stream.getTracks()) track.stop();
    await context.close();
    microphone.setAttribute("aria-pressed", "false");
    microphone.textContent = "Start the microphone";
    if (error === undefined) await recognizer.end();
    say(error === undefined ? "The microphone is off." : error.message);
  };
  source = { stop };
  capture.port.onmessage = (message) => recognizer.send(message.data).catch(stop);
  context.createMediaStreamSource(stream).connect(capture);
  microphone.setAttribute("aria-pressed", "true");
  microphone.textContent = "Stop the microphone";
  say("Listening.");
}

async function recognize(recording) {
  let stopped = false;
  source = { stop: async () => { stopped = true; } };
  try {
    say(`Reading ${recording.name}.`);
    const audio = await new OfflineAudioContext(1, 1, 16000).decodeAudioData(await recording.arrayBuffer());
    const samples = audio.getChannelData(0);
    const recognizer = await Recognizer.open(audio.sampleRate);
    const n = audio.sampleRate / 5;
    for (let begin = 0; begin < samples.length && !stopped; begin += n) {
      const piece = Int16Array.from(samples.subarray(begin, begin + n), (value) => Math.max(-1, Math.min(1, value)) * 32767);
      await recognizer.send(piece.buffer);
      say(`${recording.name}: ${Math.round((100 * begin) / samples.length)} %`);
    }
    await recognizer.end();
    say(`${recording.name} has ended.`);
  } finally {
    source = null;
  }
}

// Ends what runs and begins something else.
async function instead(begin) {
  try {
    if (source !== null) await source.stop();
    await begin?.();
  } catch (error) {
    say(error.message);
  }
}

microphone.addEventListener("click", () => instead(source === null ? listen : null));
file.addEventListener("change", () => file.files.length > 0 && instead(() => recognize(file.files[0])));
drop.addEventListener("dragover", (event) => {
  event.preventDefault();
  drop.classList.add("over");
});
drop.addEventListener("dragleave", () => drop.classList.remove("over"));
drop.addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  if (event.dataTransfer.files.length > 0) instead(() => recognize(event.dataTransfer.files[0]));
});
const showOften = () => showServer().catch((error) => say(error.message));
showOften();
setInterval(showOften, 5000);
