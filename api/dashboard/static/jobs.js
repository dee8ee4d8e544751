// The page of an open job asks until the job has ended, and then shows itself anew.
"use strict";

const waiting = document.querySelector("[data-job-state]");
const PAUSE_MS = 1000, AFTER_FAULT_MS = 5000;

async function look() {
  let pause = PAUSE_MS;
  try {
    const answer = await fetch(waiting.dataset.jobState, { headers: { Accept: "application/json" } });
    if (answer.status >= 500) {
      pause = AFTER_FAULT_MS;
    } else if (!answer.ok || (await answer.json()).status !== "processing") {
      location.reload();
      return;
    }
  } catch {
    pause = AFTER_FAULT_MS;
  }
  setTimeout(look, pause);
}

if (waiting) look();
