// The page of an open job says how far it is until the job has ended, and then shows itself anew.
"use strict";

const waiting = document.querySelector("[data-job-state]");
const progress = document.querySelector("[data-progress]");
const PAUSE_MS = 1000, AFTER_FAULT_MS = 5000;

async function look() {
  let pause = PAUSE_MS;
  try {
    const answer = await fetch(waiting.dataset.jobState, { headers: { Accept: "application/json" } });
    const standing = await answer.json();
    if (answer.status >= 500) {
      pause = AFTER_FAULT_MS;
    } else if (!answer.ok || standing.status !== "processing") {
      location.reload();
      return;
    } else if (progress.textContent !== standing.words) {
      progress.textContent = standing.words;
    }
  } catch {
    pause = AFTER_FAULT_MS;
  }
  setTimeout(look, pause);
}

if (waiting) look();
