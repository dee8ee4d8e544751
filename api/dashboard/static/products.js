// Shows how far an import is without anybody asking again and again.
"use strict";

{
  const EVERY_MS = 2000;
  const report = document.getElementById("import-report");

  const refresh = async () => {
    try {
      const answer = await fetch(location.href);
      const next = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("import-report");
      if (!next && answer.status < 500) {
        location.reload(); // the session has ended, or the import is gone
        return;
      }
      // What has the focus stays where it is.
      if (next && !report.contains(document.activeElement)) {
        report.replaceChildren(...next.childNodes);
        report.dataset.state = next.dataset.state;
        hide();
      }
    } catch {
      // The network is away for the moment; the next round tries again.
    }
    if (report.dataset.state === "running") setTimeout(refresh, EVERY_MS);
  };

  const hide = () => {
    for (const each of report.querySelectorAll(".no-script")) each.hidden = true;
  };

  if (report && report.dataset.state === "running") {
    hide();
    setTimeout(refresh, EVERY_MS);
  }
}
