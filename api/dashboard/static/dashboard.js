// What every page gains where scripts run: times in the reader's own zone, buttons that copy, forms that ask first.
"use strict";

for (const time of document.querySelectorAll("time[data-local]")) {
  const moment = new Date(time.dateTime);
  time.title = time.textContent;
  time.textContent = moment.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

for (const button of document.querySelectorAll("[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  const label = button.querySelector("span") || button;
  const said = label.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      label.textContent = "Copied";
    } catch {
      // Over plain http there is no clipboard: select it, so that the keyboard can copy it.
      getSelection().selectAllChildren(source);
      label.textContent = "Press Ctrl+C";
    }
    setTimeout(() => { label.textContent = said; }, 2000);
  });
}

for (const form of document.querySelectorAll("form[data-once]")) {
  // A form that is sent twice would order twice.
  form.addEventListener("submit", () => {
    for (const button of form.querySelectorAll("button[type=submit]")) setTimeout(() => { button.disabled = true; });
  });
  // Browsers may show the page again as it was left, when somebody goes back.
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    for (const button of form.querySelectorAll("button[type=submit]")) button.disabled = false;
  });
}
