// The switch between light and dark, folding, zoom buttons; draws all charts again when the page changes.

const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const THEMES = ["auto", "light", "dark"];

function kept(name, value) {
  try { // a page opened from disk may have no storage
    if (value === undefined) return localStorage.getItem(name);
    localStorage.setItem(name, value);
  } catch {
    return null;
  }
  return null;
}

function setTheme(name) {
  if (name === "auto") delete root.dataset.theme;
  else root.dataset.theme = name;
  document.getElementById("theme-name").textContent = name;
  redraw();
}

function redraw() {
  if (typeof lanes === "undefined") return;
  lanes.draw();
  lanes.legend();
  plots.draw();
}

function startPage() {
  const button = document.getElementById("theme"), before = kept("swarmtest-theme");
  let theme = THEMES.includes(before) ? before : "auto";
  button.hidden = false;
  button.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    kept("swarmtest-theme", theme);
    root.classList.remove("paper");
    setTheme(theme);
  });
  for (const opener of document.querySelectorAll("[data-open]")) {
    opener.hidden = false;
    opener.addEventListener("click", () => {
      const all = [...document.querySelectorAll(opener.dataset.open + " details")], open = !all.every((one) => one.open);
      for (const one of all) one.open = open;
      opener.textContent = open ? "Close all" : "Open all";
    });
  }
  dark.addEventListener("change", redraw);
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("main details")) one.open = true;
    root.dataset.theme = "light";
    root.classList.add("paper");
    redraw();
    if (typeof lanes !== "undefined") lanes.forPrint(true);
  });
  addEventListener("afterprint", () => {
    if (typeof lanes !== "undefined") lanes.forPrint(false);
    setTheme(theme);
  });
  if (typeof lanes !== "undefined") startCharts();
  setTheme(theme);
}

function startCharts() {
  const acts = { left: () => view.move(-0.4), right: () => view.move(0.4), in: () => view.zoom(0.5), out: () => view.zoom(2), all: () => view.all() };
  $("zoom").hidden = false;
  for (const button of document.querySelectorAll("[data-zoom]")) button.addEventListener("click", acts[button.dataset.zoom]);
  lanes.start();
  plots.start();
  const say = () => { $("stretch").textContent = seconds(view.from, 1) + " to " + seconds(view.to, 1); };
  view.watchers.push(say);
  say();
  let width = innerWidth, waiting = 0;
  addEventListener("resize", () => {
    if (innerWidth === width) return; // a phone's bars come and go
    width = innerWidth;
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(redraw);
  });
}

startPage();
