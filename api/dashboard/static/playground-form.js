// The playground's form: pictures by drop, with a preview; garments one by one; samples.
"use strict";

const playground = document.getElementById("playground");
// Name to address of the picture and category.
const samples = JSON.parse(playground.dataset.samples);

function check(input) {
  const file = input.files[0];
  if (!file) return "";
  const largest = Number(input.dataset.largest);
  if (file.size > largest) return `This picture is larger than ${Math.floor(largest / 1024 / 1024)} MB. Choose a smaller one.`;
  if (file.type && !input.accept.split(",").includes(file.type)) return /hei[cf]/.test(file.type) ? "iPhone HEIC photos do not work yet. Choose a JPEG, PNG or WebP." : "Choose a JPEG, PNG or WebP picture.";
  return "";
}

function clearError(field) {
  field.classList.remove("wrong");
  for (const error of field.querySelectorAll(".error")) error.remove();
  for (const control of field.querySelectorAll("[aria-invalid]")) control.removeAttribute("aria-invalid");
}

// Shows a sentence beside the field that it is about, and says where the keyboard should go.
function showError(name, sentence) {
  const controls = [...playground.querySelectorAll(`[data-field="${CSS.escape(name)}"]`)];
  const control = controls.find((each) => each.checkVisibility() || each.closest("details:not([open])")) || controls[0];
  if (!control) return null;
  for (let fold = control.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  const field = control.closest(".field");
  clearError(field);
  field.classList.add("wrong");
  const error = document.createElement("p");
  error.className = "error";
  error.id = `${control.id}-error`;
  error.textContent = sentence;
  field.append(error);
  control.setAttribute("aria-invalid", "true");
  control.setAttribute("aria-describedby", `${control.id}-hint ${error.id}`);
  return control;
}

function preview(picture, file) {
  if (picture.src.startsWith("blob:")) URL.revokeObjectURL(picture.src);
  picture.hidden = !file;
  if (file) picture.src = URL.createObjectURL(file);
  else picture.removeAttribute("src");
}

for (const zone of playground.querySelectorAll("[data-drop]")) {
  const input = zone.querySelector("input[type=file]");
  zone.querySelector("[data-scripted]").hidden = false;
  input.addEventListener("change", () => {
    clearError(zone);
    const complaint = check(input);
    if (complaint) {
      input.value = "";
      showError(input.dataset.field, complaint);
    }
    preview(zone.querySelector(".preview"), input.files[0]);
  });
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    if (!event.dataTransfer.files.length) return;
    const one = new DataTransfer();
    one.items.add(event.dataTransfer.files[0]);
    input.files = one.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  });
}

for (const choice of playground.querySelectorAll("select[name$='.sample']")) {
  const picture = choice.closest(".sample").querySelector("[data-sample-preview]");
  const show = () => {
    picture.hidden = !choice.value;
    if (choice.value) [picture.src] = samples[choice.value];
  };
  choice.addEventListener("change", show);
  show();
}

playground.addEventListener("input", (event) => {
  const field = event.target.closest(".field.wrong");
  if (field && event.target.type !== "file") clearError(field);
});

// Garments beyond the first: shown when asked for, and not sent while they are hidden.
const further = [...playground.querySelectorAll("[data-further]")];
const addGarment = document.getElementById("add-garment");

function useFurther(fold, used) {
  fold.hidden = !used;
  fold.open = used;
  for (const control of fold.querySelectorAll("input, select")) control.disabled = !used;
  addGarment.hidden = further.every((each) => !each.hidden);
}

for (const fold of further) {
  const remove = fold.querySelector("[data-remove]");
  useFurther(fold, fold.open);
  remove.hidden = false;
  remove.addEventListener("click", () => {
    for (const control of fold.querySelectorAll("input:not([type=radio]), select")) control.value = "";
    for (const picture of fold.querySelectorAll(".preview")) preview(picture, null);
    useFurther(fold, false);
    playground.dispatchEvent(new Event("change"));
    addGarment.focus();
  });
}

addGarment.addEventListener("click", () => {
  const fold = further.find((each) => each.hidden);
  useFurther(fold, true);
  fold.querySelector("input[type=radio]:checked").focus();
  playground.dispatchEvent(new Event("change"));
});

const useSamples = document.getElementById("use-samples");
useSamples.hidden = false;
useSamples.addEventListener("click", () => {
  for (const name of ["personSource", "garments[0].source"]) playground.elements[name].value = "sample";
  const choice = playground.elements["garments[0].sample"];
  if (!choice.value) choice.value = Object.keys(samples)[0];
  choice.dispatchEvent(new Event("change", { bubbles: true }));
  for (const field of playground.querySelectorAll(".field.wrong")) clearError(field);
  document.getElementById("go").focus();
});
