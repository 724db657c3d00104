// What forms cannot do alone: the curve follows the slider, a query box completes words, columns are
// filtered while one types, and a page goes on when its work has ended. Without scripts every page
// still works.
"use strict";

function followSlider(slider) {
  slider.parentElement.hidden = false; // without scripts it would move nothing
  const epsilon = document.getElementById(slider.dataset.sets);
  const steps = slider.dataset.steps.split(" ");
  const told = document.getElementById("at");
  const show = () => {
    slider.setAttribute("aria-valuetext", "epsilon " + steps[slider.value]);
    const points = [...document.querySelectorAll(`[data-epsilon="${steps[slider.value]}"]`)];
    const mark = document.getElementById("mark");
    if (!points.length || !mark) return;
    mark.setAttribute("x1", points[0].getAttribute("cx"));
    mark.setAttribute("x2", points[0].getAttribute("cx"));
    told.textContent = points.map((point) => point.dataset.words).join("; ");
  };
  slider.addEventListener("input", () => {
    epsilon.value = steps[slider.value];
    show();
    epsilon.dispatchEvent(new Event("change", { bubbles: true }));
  });
  epsilon.addEventListener("input", () => {
    const place = steps.indexOf(epsilon.value);
    if (place >= 0) { slider.value = place; show(); }
  });
  show();
}

function complete(box) {
  const list = document.getElementById(box.getAttribute("list"));
  const words = Array.from(list.options, (option) => option.value);
  box.addEventListener("input", () => {
    const start = /^(.*(?:\s|,|\[|=|\()\s*)?(.*)$/s.exec(box.value);
    const [, before = "", last] = start;
    const fits = words.filter((word) => word.toLowerCase().startsWith(last.toLowerCase()));
    list.replaceChildren(...fits.slice(0, 12).map((word) => {
      const option = document.createElement("option");
      option.value = before + (/^[\w.-]+$/.test(word) || box.dataset.bare ? word : `"${word}"`);
      return option;
    }));
  });
}

function filter(box) {
  box.addEventListener("input", () => {
    const words = box.value.trim().toLowerCase();
    document.querySelectorAll(box.dataset.filter).forEach((one) => {
      one.classList.toggle("out", !one.dataset.names.toLowerCase().includes(words));
    });
  });
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("[data-steps]").forEach(followSlider);
  document.querySelectorAll("[data-complete]").forEach(complete);
  document.querySelectorAll("[data-filter]").forEach(filter);
  document.body.addEventListener("htmx:sseClose", () => window.location.reload());
});
