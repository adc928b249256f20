// What the pointer does on the timeline: says what lies under it, and marks out a stretch to look at.

lanes.found = function (x, y) {
  const i = Math.floor((y - this.top) / this.pitch);
  if (y < this.top - 4) {
    const act = data.acts.find((one) => {
      const a = this.x(one.began), b = this.x(one.until === null ? one.ended : one.until);
      return x >= a - 4 && x <= Math.max(b, a + 4 + (y < 20 ? 7 * one.name.length : 0));
    });
    return act ? [act.name, ["began " + seconds(act.began), "whom: " + act.whom, act.result]] : null;
  }
  if (i < 0 || i >= rows.length) return null;
  const row = rows[i];
  return this.foundLoss(x, y) || this.foundMark(x, row) || this.foundOk(x, y, i) || [row.label, this.told(row)];
};

lanes.told = function (row) {
  return row.generation === "none" ? ["requests that no instance is known of"] : [
    many(row.served) + " served, " + many(row.lost) + " lost",
    row.cause ? "ended: " + row.cause + (row.exit === null ? "" : ", exit code " + row.exit) : "",
  ];
};

lanes.foundLoss = function (x, y) {
  let best = null, near = 8;
  for (const one of lost) {
    const far = Math.hypot(this.x(one.at) - x, this.dotY(one.row, one.level) - y);
    if (far < near) [near, best] = [far, one];
  }
  if (best === null) return null;
  const name = words(data.classes[best.loss].name);
  if (best.title !== undefined) return [best.title, ["ended " + seconds(best.at), best.why]];
  if (best.id === undefined) return [many(best.n) + " " + name, ["at " + seconds(best.at), best.why || "counted together; zoom in, or see verdicts.json"]];
  return [name + " · " + best.kind + " · " + best.connection, [
    "sent " + seconds(best.began) + ", ended " + seconds(best.at), best.saw ? "the client saw: " + best.saw : "",
    best.why, "belongs to: " + words(best.charge), best.id,
  ]];
};

lanes.foundMark = function (x, row) {
  let best = null, near = 6;
  for (const mark of row.marks) {
    const far = Math.abs(this.x(mark.at) - x);
    if (far < near) [near, best] = [far, mark];
  }
  if (best === null) return null;
  const others = row.marks.filter((mark) => mark !== best && Math.abs(this.x(mark.at) - this.x(best.at)) < 3);
  const line = (mark) => mark.words + " " + seconds(mark.at, 3) + (mark.error ? " \u00b1" + mark.error.toFixed(3) : "") + ", by " + mark.source;
  return [row.label, [best, ...others].map(line)];
};

lanes.foundOk = function (x, y, i) {
  if (ok === null) return null;
  const t = this.t(x), reach = Math.max(ok.grain, (4 / this.inner) * (view.to - view.from));
  const last = lowerBound(ok.t, (t + reach - ok.since) / ok.unit);
  for (let k = lowerBound(ok.t, (t - reach - ok.since) / ok.unit); k < last; k++) {
    if (ok.row[k] === i && Math.abs(this.dotY(i, ok.level[k]) - y) < 4) {
      const low = 10 ** ((ok.level[k] / ok.levels) * 4.8), high = 10 ** (((ok.level[k] + 1) / ok.levels) * 4.8);
      const took = "answered in " + (ok.level[k] ? low.toPrecision(2) * 1 : 0) + " to " + high.toPrecision(2) * 1 + " ms";
      return [many(ok.n[k]) + " ok", ["ended at " + seconds(ok.since + ok.t[k] * ok.unit), took, rows[i].label]];
    }
  }
  return null;
};

lanes.start = function () {
  this.over.className = "over";
  this.over.setAttribute("aria-hidden", "true");
  this.box.append(this.over);
  const plot = () => {
    const { left } = this.base.getBoundingClientRect();
    return { left: left + this.left, width: this.inner };
  };
  const inside = (event) => {
    const { left, top } = this.base.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };
  handle(this.base, plot);
  const say = (event) => {
    const [x, y] = inside(event), found = this.found(x, y);
    pointAt(x >= this.left ? this.t(x) : null);
    if (found === null) tip(0, 0, null);
    else tip(event.clientX, event.clientY, found[0], [...found[1], x >= this.left ? "here: " + seconds(this.t(x)) : ""]);
  };
  let down = null;
  this.base.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch") say(event);
    else if (event.button === 0) down = inside(event)[0];
  });
  addEventListener("pointermove", (event) => {
    if (down !== null) {
      this.brush = [down, inside(event)[0]].map((at) => Math.max(this.left, Math.min(this.left + this.inner, at)));
      this.overlay();
    } else if (event.target === this.base && event.pointerType !== "touch") {
      say(event);
    }
  });
  addEventListener("pointerup", () => {
    const brush = this.brush;
    down = this.brush = null;
    if (brush !== null && Math.abs(brush[1] - brush[0]) > 5) view.show(this.t(Math.min(...brush)), this.t(Math.max(...brush)));
    else if (brush !== null) this.overlay();
  });
  const hush = () => {
    tip(0, 0, null);
    pointAt(null);
  };
  this.base.addEventListener("pointerleave", (event) => event.pointerType === "touch" || hush());
  addEventListener("scroll", hush, { passive: true });
  this.base.addEventListener("touchmove", hush, { passive: true });
  view.watchers.push(() => this.draw());
};

// Chromium prints nothing of a canvas that was only just drawn on; of a copy whose pixels were read it does.
lanes.forPrint = function (on) {
  this.box.querySelectorAll(".printed").forEach((one) => one.remove());
  this.base.hidden = this.over.hidden = on;
  if (!on) return;
  const copy = document.createElement("canvas");
  copy.className = "printed";
  this.box.append(copy);
  const c = sized(copy, this.width, this.height);
  c.drawImage(this.base, 0, 0, this.width, this.height);
  c.getImageData(0, 0, 1, 1);
  copy.style.height = "auto"; // paper is narrower
};

// The same moment is pointed at on every chart.
function pointAt(t) {
  lanes.cursor = t;
  lanes.overlay();
  for (const plot of plots.drawn) plot.setCursor(t === null ? { left: -10, top: -10 } : { left: plot.valToPos(t, "x"), top: 10 }, false);
}

lanes.legend = function () {
  const box = $("lanes-legend"), add = (...parts) => {
    const item = document.createElement("span");
    item.append(...parts);
    box.append(item);
  };
  const group = () => box.append(Object.assign(document.createElement("span"), { className: "group" }));
  box.replaceChildren();
  const counts = {};
  for (const one of lost) counts[one.loss] = (counts[one.loss] || 0) + one.n;
  if (ok !== null) add(legendSign("ok"), "ok " + many(ok.count));
  for (const [i, n] of Object.entries(counts)) add(legendSign(data.classes[i].name), (i < CLASS_COUNT ? words(data.classes[i].name) : data.classes[i].meaning) + " " + many(n));
  group();
  const block = (name, alpha) => {
    const canvas = document.createElement("canvas"), c = sized(canvas, 16, 16);
    canvas.setAttribute("aria-hidden", "true");
    c.globalAlpha = alpha;
    c.fillStyle = colour(name);
    c.fillRect(0, 3, 16, 10);
    return canvas;
  };
  const kinds = new Set(data.rows.map((row) => row.generation));
  for (const name of ["old", "new", "only"]) if (kinds.has(name)) add(block(name, 1), name === "only" ? "ready" : name + ", ready");
  add(block(kinds.has("new") ? "new" : "only", 0.4), "not ready yet");
  if (rows.some((row) => row.going !== null && row.going !== undefined)) add(block("going", 1), "on its way out");
  if (data.acts.length) add(block("act", 0.35), "what swarmtest did");
  group();
  const marks = new Map(data.rows.flatMap((row) => row.marks.map((mark) => [mark.name, mark.words.replace(/^T\d /, "")])));
  for (const name of Object.keys(CODES)) {
    if (!marks.has(name)) continue;
    const code = document.createElement("b");
    code.textContent = CODES[name];
    add(code, marks.get(name));
  }
  const parts = [];
  if (ok !== null && ok.t.length) {
    const drawn = ok.grain > ok.unit ? "ok requests of the same row within " + ok.grain + " s and of about the same time to answer are one dot" : "each ok request is a dot";
    parts.push("Dots lie at the end of a request; the higher in the row, the longer it took (from 1 ms to a minute, logarithmic).", drawn[0].toUpperCase() + drawn.slice(1) + ".");
  }
  if (data.lost.crowd) parts.push("All " + many(data.lost.count) + " that aren\u2019t ok are drawn; those of the same class that lie on each other are one sign.");
  else if (lost.length) parts.push("Every request that isn\u2019t ok is drawn, with a line from its sending.");
  if (data.lost.untimed) parts.push(many(data.lost.untimed) + " have no time at all, and are only in the tables.");
  parts.push("Keys on the chart: arrows, + and \u2212, 0. Ctrl and wheel zoom; shift and wheel move. On a screen to touch, one finger moves and two zoom.");
  $("lanes-hint").textContent = parts.join(" ");
};
