// The data, the colours, and the one stretch of time that all charts show.

const data = JSON.parse(document.getElementById("data").textContent);
const CLASS_COUNT = data.classes.length; // what comes after them are signs of other things than requests
const $ = (id) => document.getElementById(id);

function unpacked(Kind, text) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Kind(bytes.buffer);
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim() || "#888";
}

function words(name) {
  return name.replaceAll("_", " ");
}

function seconds(t, digits) {
  const text = Math.abs(t).toFixed(digits === undefined ? 2 : digits);
  return (t < 0 && Number(text) !== 0 ? "\u2212" : "+") + text + " s";
}

function many(n) {
  return n.toLocaleString("en-US");
}

// A step of 1, 2 or 5 times a power of ten, so that about `count` of them fit.
function niceStep(span, count) {
  const rough = span / Math.max(1, count), power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= rough);
}

const view = {
  from: data.since,
  to: data.until,
  least: Math.min(0.05, (data.until - data.since) / 2),
  watchers: [],

  show(from, to) {
    let span = Math.max(this.least, Math.min(to - from, data.until - data.since));
    from = Math.max(data.since, Math.min(from, data.until - span));
    if (from === this.from && from + span === this.to) return;
    this.from = from;
    this.to = from + span;
    this.tell();
  },
  all() {
    this.show(data.since, data.until);
  },
  zoom(factor, about) {
    const middle = about === undefined ? (this.from + this.to) / 2 : about;
    const share = (middle - this.from) / (this.to - this.from), span = (this.to - this.from) * factor;
    this.show(middle - share * span, middle + (1 - share) * span);
  },
  move(share) {
    const span = this.to - this.from;
    this.show(this.from + share * span, this.to + share * span);
  },
  asked: false,
  tell() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      for (const watcher of this.watchers) watcher();
    });
  },
};

// Keys, wheel and fingers do the same on every chart. `plot` tells from where to where it lies on the page.
function handle(element, plot) {
  const at = (x) => {
    const { left, width } = plot();
    return view.from + ((x - left) / width) * (view.to - view.from);
  };
  element.addEventListener("keydown", (event) => {
    const act = {
      ArrowLeft: () => view.move(-0.2), ArrowRight: () => view.move(0.2),
      "+": () => view.zoom(0.6), "=": () => view.zoom(0.6), "-": () => view.zoom(1 / 0.6),
      0: () => view.all(), Escape: () => view.all(), Home: () => view.move(-1e9), End: () => view.move(1e9),
    }[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  element.addEventListener("wheel", (event) => {
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (event.ctrlKey || event.metaKey) view.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 200))), at(event.clientX));
    else if (sideways || event.shiftKey) view.move((sideways ? event.deltaX : event.deltaY) / 600);
    else return; // the wheel alone scrolls the page, as everywhere
    event.preventDefault();
  }, { passive: false });
  element.addEventListener("dblclick", () => view.all());

  let fingers = null;
  const read = (event) => [...event.touches].map((touch) => touch.clientX);
  element.addEventListener("touchstart", (event) => {
    fingers = { xs: read(event), from: view.from, to: view.to };
  }, { passive: true });
  element.addEventListener("touchmove", (event) => {
    const xs = read(event), { width, left } = plot();
    if (fingers === null || xs.length !== fingers.xs.length) return;
    const per = (fingers.to - fingers.from) / width;
    if (xs.length === 2) {
      const factor = Math.abs(fingers.xs[0] - fingers.xs[1]) / Math.max(12, Math.abs(xs[0] - xs[1]));
      const middle = fingers.from + ((fingers.xs[0] + fingers.xs[1]) / 2 - left) * per, span = (fingers.to - fingers.from) * factor;
      const share = ((xs[0] + xs[1]) / 2 - left) / width;
      view.show(middle - share * span, middle + (1 - share) * span);
      event.preventDefault();
    } else if (xs.length === 1) {
      view.show(fingers.from - (xs[0] - fingers.xs[0]) * per, fingers.to - (xs[0] - fingers.xs[0]) * per);
    }
  }, { passive: false });
  element.addEventListener("touchend", () => { fingers = null; });
}

function tip(x, y, title, lines) {
  const box = $("tip");
  if (title === null) {
    box.hidden = true;
    return;
  }
  const bold = document.createElement("b");
  bold.textContent = title; // text, never markup: it may hold anything that an app wrote
  box.replaceChildren(bold, lines.filter(Boolean).join("\n"));
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  box.style.left = Math.max(4, Math.min(x + 14, innerWidth - width - 6)) + "px";
  box.style.top = (y + 18 + height > innerHeight ? Math.max(4, y - height - 12) : y + 18) + "px";
}
