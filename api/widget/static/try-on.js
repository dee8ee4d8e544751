/* <try-on product="SKU" key="vto_pub_…">: a button that opens the service's own dialog in a frame.

The dialog is a page of the service's origin: scripts of the shop cannot read the visitor's photo, and the dialog cannot
reach into the shop's page. What passes between the two is which product, how it should look, and what happened. */

const SERVICE = new URL(import.meta.url).origin;
const THEME = ["accent", "on-accent", "background", "text", "radius", "font"];
const LABELS = {
  en: "See it on you", de: "An dir ansehen", fr: "Essayer sur vous", es: "Pruébatelo", it: "Provalo su di te",
};
const CLOSE = { en: "Close", de: "Schließen", fr: "Fermer", es: "Cerrar", it: "Chiudi" };

const STYLE = new CSSStyleSheet();
STYLE.replaceSync(`
  :host { display: inline-block; }
  :host([hidden]) { display: none; }
  button {
    font: inherit; font-weight: 600; cursor: pointer; padding: .7em 1.2em; border: 0; min-height: 44px;
    color: var(--try-on-on-accent, #fff); background: var(--try-on-accent, #24406e);
    border-radius: var(--try-on-radius, 8px);
  }
  button:focus-visible { outline: 3px solid var(--try-on-accent, #24406e); outline-offset: 2px; }
`);

const DIALOG_STYLE = new CSSStyleSheet();
DIALOG_STYLE.replaceSync(`
  dialog {
    padding: 0; border: 0; width: min(54rem, 100vw); height: min(46rem, 100dvh); max-width: none; max-height: none;
    overflow: hidden; background: var(--try-on-background, #fff); border-radius: min(var(--try-on-radius, 8px), 16px);
  }
  dialog::backdrop { background: rgb(0 0 0 / 55%); }
  button {
    position: absolute; top: .5rem; right: .5rem; width: 44px; height: 44px; padding: 0; border: 0; cursor: pointer;
    font: 1.6rem/1 sans-serif; color: var(--try-on-text, #1f2530); background: var(--try-on-background, #fff);
    border-radius: 50%;
  }
  button:focus-visible { outline: 3px solid var(--try-on-accent, #24406e); outline-offset: 2px; }
  iframe { display: block; width: 100%; height: 100%; border: 0; }
  @media (max-width: 40rem) { dialog { width: 100vw; height: 100dvh; border-radius: 0; } }
`);

/* One dialog for all buttons of a page: a photo that was chosen once serves for the next product too. */
class Dialog {
  constructor() {
    this.host = document.createElement("div");
    this.host.className = "try-on-dialog"; // for `.try-on-dialog::part(dialog)`
    const root = this.host.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [DIALOG_STYLE];
    this.dialog = document.createElement("dialog");
    this.dialog.setAttribute("part", "dialog");
    // The way out for as long as the frame's page, which has its own, is not there. It may never come.
    this.closer = document.createElement("button");
    this.closer.type = "button";
    this.closer.textContent = "×";
    this.closer.addEventListener("click", () => this.dialog.close());
    this.dialog.append(this.closer);
    root.append(this.dialog);
    document.body.append(this.host);
    this.dialog.addEventListener("close", () => this.closed());
    addEventListener("message", (event) => {
      if (event.origin === SERVICE && event.source === this.frame?.contentWindow) this.heard(event.data);
    });
  }

  open(element) {
    this.element = element;
    const { key, language } = element;
    const address = `${SERVICE}/widget/dialog?${new URLSearchParams({ key, lang: language })}`;
    if (!this.host.isConnected) { // a shop that shows its next page without loading it took the old one's body away
      this.dialog.open = false;
      document.body.append(this.host);
      this.load(address);
    } else if (this.frame?.src === address) this.send();
    else this.load(address);
    this.frame.title = element.textContent.trim() || LABELS[language] || LABELS.en;
    this.closer.setAttribute("aria-label", CLOSE[language] || CLOSE.en);
    this.dialog.showModal();
    this.tell("opened");
  }

  /* Into a new frame: an old one that goes elsewhere adds a step to what the browser's back button undoes. */
  load(address) {
    this.frame?.remove();
    this.frame = document.createElement("iframe");
    this.frame.allow = "camera";
    this.frame.referrerPolicy = "origin";
    this.frame.src = address;
    this.dialog.append(this.frame);
    this.closer.hidden = false;
  }

  closed() {
    if (this.closer.hidden) {
      this.frame.contentWindow?.postMessage({ type: "closed" }, SERVICE);
    } else { // the page never came: the next click tries again
      this.frame.remove();
      this.frame = null;
    }
    this.tell("closed");
  }

  send() {
    const style = getComputedStyle(this.element);
    const theme = THEME.map((name) => [name, style.getPropertyValue(`--try-on-${name}`).trim()]);
    const choices = new Map();
    for (const each of document.querySelectorAll("try-on")) {
      if (each.key === this.element.key && each.product) choices.set(each.product, each.shown);
    }
    this.frame.contentWindow.postMessage({
      type: "show",
      product: this.element.product,
      products: [...choices.values()],
      theme: Object.fromEntries(theme.filter(([, value]) => value)),
      scheme: style.colorScheme,
    }, SERVICE);
  }

  heard(message) {
    if (message.type === "ready") {
      this.closer.hidden = true;
      this.send();
    } else if (message.type === "close") this.dialog.close();
    else if (["completed", "failed"].includes(message.type)) this.tell(message.type, message.detail);
  }

  tell(what, detail = {}) {
    const product = this.element.product;
    this.element.dispatchEvent(
      new CustomEvent(`try-on-${what}`, { bubbles: true, composed: true, detail: { product, ...detail } }),
    );
  }
}

let dialog;

class TryOn extends HTMLElement {
  constructor() {
    super();
    const root = this.attachShadow({ mode: "open", delegatesFocus: true });
    root.adoptedStyleSheets = [STYLE];
    this.button = document.createElement("button");
    this.button.type = "button";
    this.button.setAttribute("part", "button");
    this.button.setAttribute("aria-haspopup", "dialog");
    this.button.addEventListener("click", () => {
      dialog ??= new Dialog();
      dialog.open(this);
    });
    this.slotted = document.createElement("slot");
    this.button.append(this.slotted);
    root.append(this.button);
  }

  connectedCallback() {
    this.slotted.textContent = LABELS[this.language] || LABELS.en;
  }

  get key() { return this.getAttribute("key") || ""; }

  get product() { return this.getAttribute("product") || ""; }

  get language() {
    const said = this.closest("[lang]")?.getAttribute("lang") || navigator.language || "en";
    return said.slice(0, 2).toLowerCase();
  }

  /* What the dialog shows of the product; its picture is fetched by the shop's page alone. */
  get shown() {
    return { product: this.product, label: this.getAttribute("label") || this.product };
  }
}

if (!customElements.get("try-on")) customElements.define("try-on", TryOn);
