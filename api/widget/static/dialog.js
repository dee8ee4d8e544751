/* The widget's dialog. It runs on the service's own origin, in a frame of the shop's page.

A photo stays in this page's memory until a try-on is started; the shop's page never gets it. */

const TEXTS = JSON.parse(document.getElementById("texts").textContent);
const KEY = new URLSearchParams(location.search).get("key");
const LONGEST_SIDE = 1600; // px; engines see no more, and a phone's photo goes from 5 MB to 400 KB
const THEME = ["accent", "on-accent", "background", "text", "radius", "font"];
const GIVE_UP_MS = 10 * 60 * 1000; // a job is over by then, whatever happens

const part = (id) => document.getElementById(id);
let product = null;
let photo = null; // { uri, width, height }
let taking = null; // the choice made last; a photo that takes longer to read than a later one is dropped
let running = null; // the try-on under way: an AbortController that knows its product
let shown = null; // the product of the picture in the result
const unsettled = new Map(); // by product, the { photo, key } of a request that the service may have accepted

function call(path, options = {}) {
  const headers = { Authorization: `Bearer ${KEY}`, ...options.headers };
  if (options.body) headers["Content-Type"] = "application/json";
  return fetch(`/api/v1/${path}`, { ...options, headers, cache: "no-store" });
}

/* What a person is told: their own language where the code is known, else the service's sentence. */
function sentence(code, otherwise) {
  const own = document.documentElement.lang === "en" ? otherwise : null;
  return TEXTS.errors[code] || own || TEXTS.errors.internal;
}

/* Why there is no picture, and whether that is settled: whether none can come of what was asked for. */
class Refused extends Error {
  constructor(code, words, settled) {
    super(words);
    this.code = code;
    this.settled = settled;
  }
}

async function refusal(answer) {
  const body = await answer.json().catch(() => ({}));
  const code = answer.headers.get("X-Error-Code") || "internal";
  return new Refused(code, sentence(code, body.error), answer.status < 500 && answer.status !== 429);
}

function show(id) {
  for (const each of ["choose", "progress", "result"]) part(each).hidden = each !== id;
  part("problem").hidden = true;
  part("title").focus();
}

function say(words) {
  part("status").textContent = words;
}

function complain(words) {
  part("problem").textContent = words;
  part("problem").hidden = false;
  part("problem").scrollIntoView({ block: "nearest" });
}

function tell(type, detail) {
  parent.postMessage({ type, detail }, "*"); // holds no picture; only pages of allowed origins can frame this one
}

/* The photo */

async function take(source) {
  const mine = taking = {};
  let bitmap;
  try {
    bitmap = source instanceof Blob ? await createImageBitmap(source, { imageOrientation: "from-image" }) : source;
  } catch {
    if (mine === taking) complain(sentence("image_not_readable"));
    return;
  }
  if (mine !== taking) return;
  const width = bitmap.videoWidth || bitmap.width;
  const height = bitmap.videoHeight || bitmap.height;
  const scale = Math.min(1, LONGEST_SIDE / Math.max(width, height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d");
  context.fillStyle = "white"; // behind a cut-out, as the service does it
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  const chosen = { uri: canvas.toDataURL("image/jpeg", 0.92), width: canvas.width, height: canvas.height };
  photo = chosen;
  part("chosen").src = photo.uri;
  seeing(false);
  part("problem").hidden = true;
  part("findings").replaceChildren();
  say(TEXTS.photo_chosen);
  if (part("consent").checked) check(chosen);
}

/* Advice about the photo before it is used. Without an answer the try-on itself will tell. */
async function check(chosen) {
  if (!product) return;
  const body = JSON.stringify({ customerPhotoBase64: chosen.uri, productId: product });
  const answer = await call("tryon/check", { method: "POST", body }).catch(() => null);
  if (!answer?.ok || chosen !== photo) return;
  const { photo: seen } = await answer.json();
  const lines = seen.findings.map((finding) => {
    const line = document.createElement("li");
    line.className = finding.severity;
    line.textContent = sentence(finding.code, finding.message);
    return line;
  });
  part("findings").replaceChildren(...lines);
}

/* The camera, from the click that asks for it until it is put away; its stream comes when the visitor allows it, which
may be too late. */
let camera = null;

async function startCamera() {
  if (camera) return;
  const mine = camera = {};
  taking = null; // what is chosen now comes from here
  const video = part("viewfinder");
  try {
    mine.stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "user", height: { ideal: 1600 } } });
    if (mine !== camera) return release(mine);
    if (document.hidden) return seeing(false);
    video.srcObject = mine.stream;
    await video.play();
    if (mine === camera) seeing(true);
  } catch {
    if (mine !== camera) return;
    seeing(false);
    complain(TEXTS.camera_refused);
  }
}

function release({ stream }) {
  for (const track of stream?.getTracks() ?? []) track.stop();
}

function seeing(on) {
  part("viewfinder").hidden = part("shutter").hidden = !on;
  part("sources").hidden = on;
  part("chosen").hidden = on || !photo;
  if (!on && camera) {
    release(camera);
    camera = null;
  }
}

/* The try-on */

async function start() {
  const chosen = photo; // another may be chosen meanwhile
  if (!chosen) return complain(TEXTS.photo_first);
  if (!part("consent").checked) {
    part("consent").focus();
    return complain(TEXTS.consent_first);
  }
  seeing(false); // behind the picture nobody would see that it is on
  const asked = product;
  const mine = running = Object.assign(new AbortController(), { product: asked });
  const { signal } = mine;
  show("progress");
  say(TEXTS.started);
  try {
    const jobId = await accepted(asked, chosen, signal);
    const picture = await ended(jobId, signal);
    signal.throwIfAborted();
    unsettled.delete(asked);
    part("after").src = part("download").href = picture;
    part("before").src = chosen.uri;
    slide(0);
    shown = asked;
    show("result");
    say(TEXTS.done);
    tell("completed", { product: asked, jobId });
  } catch (error) {
    if (mine !== running) return;
    show("choose");
    if (signal.aborted) return;
    const known = error instanceof Refused ? error : new Refused("unreachable", sentence("unreachable"), false);
    if (known.settled) unsettled.delete(asked);
    complain(known.message);
    tell("failed", { product: asked, code: known.code });
  } finally {
    if (mine === running) running = null;
  }
}

/* The job of this photo and product. Whoever asks again, because the answer was lost or after stopping, gets the job that
goes on already: it is not paid for twice. */
async function accepted(asked, chosen, signal) {
  if (unsettled.get(asked)?.photo !== chosen) unsettled.set(asked, { photo: chosen, key: newKey() });
  const { key } = unsettled.get(asked);
  const body = JSON.stringify({ customerPhotoBase64: chosen.uri, productId: asked });
  const deadline = Date.now() + GIVE_UP_MS;
  for (let seconds = 1; ; seconds = Math.min(8, 2 * seconds)) { // each counts against the visitor's rate
    const answer = await call("tryon", { method: "POST", headers: { "Idempotency-Key": key }, body, signal });
    if (answer.ok) return (await answer.json()).jobId;
    const refused = await refusal(answer);
    if (refused.code !== "idempotency_in_progress" || Date.now() > deadline) throw refused;
    await pause(seconds, signal);
  }
}

/* Not `randomUUID`, which is not there in frames of shops without HTTPS. */
function newKey() {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((each) => each.toString(16)).join("-");
}

async function ended(jobId, signal) {
  const deadline = Date.now() + GIVE_UP_MS;
  let away = 0;
  while (Date.now() < deadline) {
    let answer;
    try {
      answer = await call(`tryon/${jobId}`, { headers: { Prefer: "wait=25" }, signal });
    } catch (error) {
      if (signal.aborted || ++away > 5) throw error;
      await pause(2, signal);
      continue;
    }
    if (answer.status === 429 || answer.status === 503) {
      await pause(Number(answer.headers.get("Retry-After")) || 5, signal);
      continue;
    }
    if (!answer.ok) throw await refusal(answer);
    away = 0;
    const body = await answer.json();
    if (body.status === "completed") return body.resultImageBase64;
    if (body.status === "failed") {
      const code = answer.headers.get("X-Error-Code") || "internal";
      throw new Refused(code, sentence(code, body.error), true);
    }
    if (!answer.headers.has("Preference-Applied")) await pause(2, signal);
  }
  throw new Refused("timed_out", sentence("timed_out"), false);
}

function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 1000 * seconds);
    signal.addEventListener("abort", () => { clearTimeout(timer); reject(signal.reason); }, { once: true });
  });
}

function slide(percent) {
  part("slider").value = percent;
  part("compare").style.setProperty("--split", `${percent}%`);
}

/* The shop's page says what to show and how. */

function dress(theme, scheme) {
  if (/^(light|dark|light dark|dark light)$/.test(scheme)) document.documentElement.style.colorScheme = scheme;
  for (const name of THEME) {
    const value = theme[name];
    // Nothing that fetches: a value is a colour, a length or a list of fonts.
    if (typeof value === "string" && !/[;{}]|url|image|\/\*/i.test(value)) {
      document.documentElement.style.setProperty(`--${name}`, value);
    }
  }
}

function present(message) {
  const choices = Array.isArray(message.products) ? message.products : [];
  dress(message.theme || {}, message.scheme);
  choose(String(message.product), choices);
  if (running?.product === product || (shown === product && !part("result").hidden)) return;
  running?.abort(); // its picture would stand under another product's name
  running = null;
  show("choose");
}

function choose(sku, choices) {
  product = sku;
  part("product").textContent = choices.find((each) => each.product === sku)?.label || sku;
  const others = choices.filter((each) => each.product !== sku);
  part("others").hidden = !others.length;
  part("products").replaceChildren(...others.map((each) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "plain";
    button.textContent = each.label;
    button.addEventListener("click", () => { choose(each.product, choices); start(); });
    const item = document.createElement("li");
    item.append(button);
    return item;
  }));
}

addEventListener("message", (event) => {
  if (event.source !== parent) return;
  if (event.data?.type === "show") present(event.data);
  if (event.data?.type === "closed") seeing(false); // however that came: the back button, Escape in the shop's page
});

part("file").addEventListener("change", (event) => {
  const [file] = event.target.files;
  event.target.value = ""; // so that the same file can be chosen again
  if (file) take(file);
});
part("drop").addEventListener("dragover", (event) => { event.preventDefault(); part("drop").classList.add("over"); });
part("drop").addEventListener("dragleave", () => part("drop").classList.remove("over"));
part("drop").addEventListener("drop", (event) => {
  event.preventDefault();
  part("drop").classList.remove("over");
  const [file] = event.dataTransfer.files;
  if (file) take(file);
});
part("camera").hidden = !navigator.mediaDevices?.getUserMedia;
part("camera").addEventListener("click", startCamera);
part("take").addEventListener("click", () => take(part("viewfinder")));
part("stop").addEventListener("click", () => seeing(false));
part("consent").addEventListener("change", (event) => { if (event.target.checked && photo) check(photo); });
part("choose").addEventListener("submit", (event) => { event.preventDefault(); start(); });
part("cancel").addEventListener("click", () => running?.abort());
part("again").addEventListener("click", () => show("choose"));
part("slider").addEventListener("input", (event) => slide(event.target.value));
part("close").addEventListener("click", () => { seeing(false); tell("close"); });
addEventListener("keydown", (event) => { if (event.key === "Escape") { seeing(false); tell("close"); } });

document.addEventListener("visibilitychange", () => { if (document.hidden && camera?.stream) seeing(false); });

tell("ready");
