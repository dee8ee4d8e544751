// The form as a program would send it: curl, Python, TypeScript. Files are named, not put in.
"use strict";

const base = playground.dataset.baseUrl;
const HINTS = [...document.querySelectorAll('[data-garment="0"] [data-api]')].map((each) => each.dataset.api);
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const value = (name) => (playground.elements[name]?.disabled ? "" : (playground.elements[name]?.value || "").trim());
const fileName = (name, usual) => playground.elements[name].files[0]?.name || usual;

// One garment: `image` and `back_image` are {file} or {address}, everything else is text.
function readGarment(number) {
  const at = `garments[${number}].`;
  const source = value(`${at}source`);
  const garment = { fields: {} };
  if (source === "upload") garment.image = { file: fileName(`${at}garmentImageUrl.file`, "garment.jpg") };
  if (source === "address") garment.image = { address: value(`${at}garmentImageUrl`) || "https://shop.example/garment.jpg" };
  if (source === "sample") garment.image = { file: `${value(`${at}sample`) || "garment"}.webp` };
  if (source === "product") garment.fields.productId = value(`${at}productId.other`) || value(`${at}productId`) || "SKU-1";
  if (playground.elements[`${at}garmentBackImageUrl.file`].files.length) garment.back = { file: fileName(`${at}garmentBackImageUrl.file`) };
  else if (value(`${at}garmentBackImageUrl`)) garment.back = { address: value(`${at}garmentBackImageUrl`) };
  for (const hint of HINTS) if (value(at + hint)) garment.fields[hint] = value(at + hint);
  if (source !== "product" && !garment.fields.category) garment.fields.category = samples[value(`${at}sample`)]?.[1] || "upper_body";
  return garment;
}

// As the server sees it: a further garment of which nothing was said is none.
function isFilled(number) {
  const at = `garments[${number}].`;
  const texts = ["garmentImageUrl", "garmentBackImageUrl", "productId", "productId.other", "sample", ...HINTS];
  const files = ["garmentImageUrl.file", "garmentBackImageUrl.file"];
  return value(`${at}source`) !== "upload" || texts.some((name) => value(at + name))
    || files.some((name) => playground.elements[at + name].files.length);
}

function readLook() {
  const sample = value("personSource") === "sample";
  const numbers = [0, ...further.filter((fold) => !fold.hidden).map((fold) => Number(fold.dataset.further)).filter(isFilled)];
  return {
    person: { file: sample ? "portrait.webp" : fileName("customerPhotoBase64", "person.jpg") },
    garments: numbers.map(readGarment),
  };
}

// A picture is given to `write` by its place; every other value is JSON.
function asJson(look, write) {
  const object = (pairs, indent) =>
    `{\n${pairs.map(([name, text]) => `${indent}  ${JSON.stringify(name)}: ${text}`).join(",\n")}\n${indent}}`;
  const fields = ({ image, back, fields: rest }) => [
    ...(image ? [["garmentImageUrl", write(image)]] : []),
    ...(back ? [["garmentBackImageUrl", write(back)]] : []),
    ...Object.entries(rest).map(([name, text]) => [name, write({ text })]),
  ];
  const person = ["customerPhotoBase64", write(look.person)];
  if (look.garments.length === 1) return object([person, ...fields(look.garments[0])], "");
  const list = look.garments.map((garment) => `    ${object(fields(garment), "    ")}`).join(",\n");
  return object([person, ["garments", `[\n${list}\n  ]`]], "");
}

const path = (look) => `/api/v1/tryon${look.garments.length > 1 ? "/combo" : ""}`;
const mediaType = (file) => ({ png: "image/png", webp: "image/webp" })[file.split(".").pop().toLowerCase()] || "image/jpeg";

function curl(look) {
  const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
  const body = asJson(look, ({ file, address, text }) =>
    file !== undefined
      ? `"data:${mediaType(file)};base64,$(base64 <${quoted(file)} | tr -d '\\n')"`
      : JSON.stringify(address ?? text).replace(/[\\$`]/g, "\\$&"));
  return `cat >body.json <<END
${body}
END
curl -sS "${base}${path(look)}" --data-binary @body.json \\
  -H "Authorization: Bearer $VTO_API_KEY" -H "Content-Type: application/json" >answer.json

job=$(sed -n 's/.*"jobId": *"\\([^"]*\\)".*/\\1/p' answer.json)
while grep -q '"processing"' answer.json; do
  curl -sS "${base}/api/v1/tryon/$job" -H "Authorization: Bearer $VTO_API_KEY" -H "Prefer: wait=25" >answer.json
done

if grep -q base64, answer.json; then
  sed 's/.*base64,\\([^"]*\\)".*/\\1/' answer.json | base64 -d >result.jpg
else
  cat answer.json # why there is no picture
fi`;
}

function python(look) {
  const picture = ({ file, address }) => JSON.stringify(file ?? address);
  const garment = ({ image, back, fields }) => {
    const given = image ? [picture(image)] : [];
    if (back) given.push(`back_image=${picture(back)}`);
    for (const [name, text] of Object.entries(fields)) given.push(`${snake(name)}=${JSON.stringify(text)}`);
    return `Garment(${given.join(", ")})`;
  };
  return `import os

from tryon_client import Garment, TryOnClient, TryOnError

look = [
${look.garments.map((each) => `    ${garment(each)},`).join("\n")}
]
with TryOnClient(${JSON.stringify(base)}, os.environ["VTO_API_KEY"]) as client:
    try:
        client.run_and_wait(${picture(look.person)}, look).save("result.jpg")
    except TryOnError as error:
        print("No picture:", error)`;
}

function typescript(look) {
  const body = asJson(look, ({ file, address, text }) =>
    file !== undefined ? `await inline(${JSON.stringify(file)})` : JSON.stringify(address ?? text));
  return `import { readFile, writeFile } from "node:fs/promises";

type Answer = { jobId?: string; status?: string; error?: string; resultImageBase64?: string };

const address = ${JSON.stringify(`${base}/api/v1/tryon`)};
const headers = { Authorization: \`Bearer \${process.env.VTO_API_KEY}\`, "Content-Type": "application/json" };
const inline = async (path: string) => \`data:image/jpeg;base64,\${(await readFile(path)).toString("base64")}\`;
const call = async (url: string, init: RequestInit) => (await (await fetch(url, init)).json()) as Answer;

let answer = await call(${look.garments.length > 1 ? "`${address}/combo`" : "address"}, {
  method: "POST",
  headers: { ...headers, "Idempotency-Key": crypto.randomUUID() },
  body: JSON.stringify(${body.replaceAll("\n", "\n  ")}),
});
const poll = \`\${address}/\${answer.jobId}\`;
while (answer.status === "processing") answer = await call(poll, { headers: { ...headers, Prefer: "wait=25" } });

if (answer.resultImageBase64) {
  await writeFile("result.jpg", Buffer.from(answer.resultImageBase64.split(",")[1]!, "base64"));
} else {
  console.error("No picture:", answer.error);
}`;
}

const LANGUAGES = { curl, python, typescript };
const tabs = [...document.querySelectorAll("[role=tab][data-language]")];

function write() {
  const chosen = tabs.find((tab) => tab.getAttribute("aria-selected") === "true");
  document.getElementById("snippet-text").textContent = LANGUAGES[chosen.dataset.language](readLook());
}

function choose(tab) {
  for (const each of tabs) {
    each.setAttribute("aria-selected", String(each === tab));
    each.tabIndex = each === tab ? 0 : -1;
  }
  document.getElementById("snippet").setAttribute("aria-labelledby", tab.id);
  write();
}

tabs.forEach((tab, position) => {
  tab.addEventListener("click", () => choose(tab));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(position + step + tabs.length) % tabs.length];
    next.focus();
    choose(next);
  });
});

document.getElementById("code").hidden = false;
for (const event of ["input", "change"]) playground.addEventListener(event, write);
write();
