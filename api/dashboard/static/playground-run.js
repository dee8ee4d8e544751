// Checks the pictures of the form, or starts a try-on, tells how it goes, and shows the picture beside the photo.
"use strict";

const ASK_EVERY_MS = 800;
const place = (id) => document.getElementById(id);
const go = place("go");
const panels = ["waiting-for-you", "under-way", "failed", "done"];
let before = "";

function say(sentence) {
  place("said").textContent = sentence;
}

function show(panel) {
  for (const id of panels) place(id).hidden = id !== panel;
  place("again").hidden = panel !== "failed" && panel !== "done";
}

function trouble(sentence) {
  place("trouble").hidden = !sentence;
  place("trouble").textContent = sentence;
}

function showMeans({ means, refusal }) {
  place("means").textContent = means;
  place("refusal").hidden = !refusal;
  place("refusal").querySelector("span").textContent = refusal || "";
  go.disabled = Boolean(refusal);
}

async function ask(address, options = {}) {
  const answer = await fetch(address, { ...options, headers: { Accept: "application/json" } });
  const body = await answer.json().catch(() => ({ error: "The service gave an unexpected answer. Try again." }));
  return { ok: answer.ok, status: answer.status, body };
}

// The service no longer tells how the run goes on, since the session has ended, say.
class Refusal extends Error {}

// The photo that the result is compared with: the local file, or the sample's own picture.
function photoBefore() {
  if (before.startsWith("blob:")) URL.revokeObjectURL(before);
  const sample = playground.elements.personSource.value === "sample";
  const file = playground.elements.customerPhotoBase64.files[0];
  before = sample ? playground.querySelector(".person .sample img").src : file ? URL.createObjectURL(file) : "";
  return before;
}

function showStage({ stage, words, garment, garments, elapsedMs }) {
  const rows = [...document.querySelectorAll("[data-stage]")];
  const now = rows.findIndex((row) => row.dataset.stage === stage);
  const of = garment && garments > 1 ? ` ${garment} of ${garments}` : "";
  rows.forEach((row, position) => {
    row.classList.toggle("past", position < now);
    if (position === now) row.setAttribute("aria-current", "step");
    else row.removeAttribute("aria-current");
    row.querySelector(".of").textContent = position === now ? of : "";
  });
  place("elapsed").textContent = `${(elapsedMs / 1000).toFixed(1)} s`;
  const sentence = `${words}${of}.`;
  if (place("said").textContent !== sentence) say(sentence);
}

async function watch(jobId) {
  let away = 0;
  for (;;) {
    let standing;
    try {
      standing = await ask(`/dashboard/playground/jobs/${jobId}/state`);
      const broken = standing.ok && !standing.body.status; // it broke off on the way
      away = broken || standing.status >= 500 ? away + 1 : 0;
    } catch {
      away += 1; // the network is away; the job goes on without it
    }
    if (away === 0 && !standing.ok) throw new Refusal(standing.body.error);
    if (away === 0 && standing.body.status !== "processing") return standing.body;
    if (away === 0) showStage(standing.body);
    else say("The service cannot be reached right now. Your try-on continues, and this page keeps checking.");
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS * Math.min(1 + away, 6)));
  }
}

function end(panel) {
  show(panel);
  place("outcome").scrollIntoView({ block: "start" });
}

async function finish(jobId, ended, photo) {
  if (ended.means) showMeans(ended);
  if (ended.status !== "completed") {
    place("failure").textContent = ended.error;
    end("failed");
    say(`No picture. ${ended.error}`);
    return;
  }
  const picture = `/dashboard/jobs/${jobId}/result.jpg`;
  place("after").src = picture;
  place("before").src = photo;
  place("download").href = picture;
  place("job").href = `/dashboard/jobs/${jobId}`;
  const seconds = (ended.generationTimeMs / 1000).toFixed(1);
  place("took").textContent = `Made in ${seconds} s. Move the slider to compare.`;
  place("not-followed").hidden = !ended.hintsNotFollowed.length;
  place("not-followed").querySelector("span").textContent = ended.hintsNotFollowed.join(", ");
  slide();
  await Promise.allSettled([place("before").decode(), place("after").decode()]); // they have their height from here on
  end("done");
  say(`Your picture is ready. It took ${seconds} seconds.`);
}

function slide() {
  place("compare").style.setProperty("--split", `${place("split").value}%`);
}
place("split").addEventListener("input", slide);

function showRefusal(body) {
  const controls = Object.entries(body.fields || {}).map(([name, sentence]) => name && showError(name, sentence));
  const control = controls.find((each) => each);
  if (control) control.focus();
  else trouble(body.error);
}

// What was found in each picture stands under it, until something in the form changes; what is found later is dropped.
function showFindings(findings) {
  for (const list of playground.querySelectorAll("[data-found]")) {
    const found = findings[list.dataset.found] || [];
    list.hidden = !found.length;
    list.replaceChildren(...found.map(({ severity, message }) => {
      const item = document.createElement("li");
      const word = document.createElement("b");
      item.className = severity;
      word.textContent = severity === "problem" ? "Change:" : "Better:";
      item.append(word, ` ${message}`);
      return item;
    }));
  }
}

function showChecked(tone, sentence) {
  place("checked").hidden = !sentence;
  place("checked").className = `note ${tone}`;
  place("checked").textContent = sentence;
}

let checking = new AbortController();

function forgetCheck() {
  checking.abort();
  showChecked("", "");
  showFindings({});
}
playground.addEventListener("change", forgetCheck);

async function checkPictures() {
  forgetCheck();
  checking = new AbortController();
  const { signal } = checking;
  showChecked("busy", "Looking at the pictures.");
  place("check").disabled = true;
  try {
    const { ok, body } = await ask(place("check").formAction, { method: "POST", body: new FormData(playground), signal });
    if (signal.aborted) return;
    showChecked(body.ok ? "good" : "bad", ok ? body.said : "");
    if (ok) showFindings(body.findings);
    else showRefusal(body);
  } catch {
    if (signal.aborted) return;
    showChecked("", "");
    trouble("The service cannot be reached. Try again in a moment.");
  } finally {
    place("check").disabled = false;
  }
}

playground.addEventListener("submit", async (event) => {
  event.preventDefault();
  trouble("");
  for (const field of playground.querySelectorAll(".field.wrong")) clearError(field);
  if (event.submitter === place("check")) {
    await checkPictures();
    return;
  }
  const form = new FormData(playground);
  const photo = photoBefore();
  go.disabled = true;
  say("Sending the pictures.");
  try {
    const { ok, body } = await ask(playground.action, { method: "POST", body: form });
    if (!ok) {
      say("");
      showRefusal(body);
      return;
    }
    if (!body.jobId) throw new Error("the answer broke off");
    playground.elements.run_key.value = body.jobId; // the next run is another job, of the same pictures too
    show("under-way");
    showStage({ stage: "queue", words: "In the queue", elapsedMs: 0 });
    place("outcome").scrollIntoView({ block: "nearest" });
    place("outcome-heading").focus({ preventScroll: true }); // the button that had the focus is disabled by now
    await finish(body.jobId, await watch(body.jobId), photo);
  } catch (error) {
    say("");
    if (error instanceof Refusal) {
      show("waiting-for-you");
      trouble(`${error.message} What comes of the try-on is shown under Jobs.`);
    } else trouble("The service cannot be reached. The try-on may have been started: look under Jobs, or try again in a moment. The same form is not started twice.");
  } finally {
    go.disabled = !place("refusal").hidden;
  }
});

place("again").addEventListener("click", () => {
  show("waiting-for-you");
  playground.scrollIntoView({ block: "start" });
  (playground.querySelector("[name=personSource]:checked") || go).focus();
});
