// The timeline: a row for each instance, its life as a bar, its marks with error bars, its requests as dots.

const lanes = {
  box: $("lanes"), base: $("lanes").querySelector("canvas"), over: document.createElement("canvas"),
  cursor: null, brush: null,

  measure() {
    this.width = this.box.clientWidth;
    const n = rows.length, narrow = this.width < 560;
    this.pitch = n <= 8 ? 48 : n <= 16 ? 36 : n <= 40 ? 25 : n <= 130 ? 16
      : Math.max(4, Math.floor(2100 / n)); // browsers limit the size of a canvas
    this.labels = this.pitch >= 36 ? 13 : 0;
    this.font = (this.pitch >= 25 ? 12 : 10.5) + "px " + getComputedStyle(document.body).fontFamily;
    const c = this.base.getContext("2d");
    c.font = this.font;
    const widest = Math.max(40, ...rows.map((row) => c.measureText(row.label).width));
    this.left = Math.min(widest + 12, narrow ? 84 : 190);
    this.top = 44;
    this.right = 8;
    this.bottom = n > 16 ? 18 : 0; // a long picture has its times below, too
    this.height = this.top + n * this.pitch + 6 + this.bottom;
    this.inner = Math.max(50, this.width - this.left - this.right);
  },
  x(t) {
    return this.left + ((t - view.from) / (view.to - view.from)) * this.inner;
  },
  t(x) {
    return view.from + ((x - this.left) / this.inner) * (view.to - view.from);
  },
  y(row) {
    return this.top + row * this.pitch;
  },
  // Where a dot lies in its row: quick answers at the bottom, slow ones at the top.
  dotY(row, level) {
    const levels = ok === null ? 24 : ok.levels, high = this.pitch - this.labels - (this.pitch < 10 ? 3 : 6);
    return this.y(row) + this.labels + 2 + high * (1 - (level + 0.5) / levels);
  },
  draw() {
    this.measure();
    const c = (this.c = sized(this.base, this.width, this.height));
    this.ink = { ink: colour("ink"), quiet: colour("quiet"), panel: colour("panel"), line: colour("line"), grid: colour("grid"), act: colour("act") };
    this.paints = data.classes.map((one) => colour(one.name));
    c.clearRect(0, 0, this.width, this.height);
    c.font = this.font;
    c.textBaseline = "middle";
    this.axis(c);
    c.save();
    c.beginPath();
    c.rect(this.left, 0, this.inner + this.right, this.height);
    c.clip();
    rows.forEach((row, i) => this.bar(c, row, i));
    this.acts(c);
    this.oks(c);
    rows.forEach((row, i) => this.marks(c, row, i));
    this.losses(c);
    c.restore();
    const every = Math.ceil(12 / this.pitch);
    rows.forEach((row, i) => (i % every === 0 || row.lost) && this.label(c, row, i));
    this.overlay();
  },
  axis(c) {
    const step = niceStep(view.to - view.from, this.inner / 90), digits = Math.max(0, -Math.floor(Math.log10(step)));
    c.strokeStyle = this.ink.grid;
    c.fillStyle = this.ink.quiet;
    c.lineWidth = 1;
    c.textAlign = "center";
    for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
      const x = Math.round(this.x(t)) + 0.5;
      c.beginPath();
      c.moveTo(x, this.top - 4);
      c.lineTo(x, this.height - this.bottom);
      c.stroke();
      if (x < this.left + 18 || x > this.width - 22) continue;
      const text = Math.abs(t) < step / 2 ? (data.t0 ? "T0" : "0") : seconds(t, digits);
      c.fillText(text, x, this.top - 12);
      if (this.bottom) c.fillText(text, x, this.height - 8);
    }
    for (let i = 0; i <= rows.length && this.pitch >= 10; i++) {
      c.strokeStyle = i && i < rows.length && rows[i].slot === rows[i - 1].slot ? this.ink.grid : this.ink.line;
      c.beginPath();
      c.moveTo(0, Math.round(this.y(i)) + 0.5);
      c.lineTo(this.width, Math.round(this.y(i)) + 0.5);
      c.stroke();
    }
  },
  label(c, row, i) {
    c.fillStyle = row.lost ? colour("failed") : this.ink.ink;
    c.textAlign = "left";
    let text = row.label;
    while (text.length > 3 && c.measureText(text).width > this.left - 8) text = text.slice(0, -2).trimEnd() + "\u2026";
    c.fillText(text, 2, this.y(i) + this.pitch / 2);
  },
  bar(c, row, i) {
    const y = this.y(i) + this.labels + 1, high = this.pitch - this.labels - (this.pitch < 10 ? 1 : 3);
    const from = Math.max(row.from, data.since), until = Math.min(row.until, data.until);
    if (!(until > from)) return;
    const fill = (a, b, name, alpha) => {
      if (!(b > a)) return;
      c.globalAlpha = alpha;
      c.fillStyle = colour(name);
      c.fillRect(this.x(a), y, Math.max(1, this.x(b) - this.x(a)), high);
      c.globalAlpha = 1;
    };
    const ready = row.ready === null ? until : Math.max(from, row.ready), going = row.going === null ? until : Math.max(from, row.going);
    fill(from, Math.min(ready, going), row.generation, 0.4);
    fill(Math.min(ready, going), going, row.generation, 1);
    fill(going, until, "going", 1);
    for (const [name, began, healed] of row.hurts) {
      const a = this.x(began), b = Math.max(a + 3, this.x(Math.min(healed === null ? began : healed, until)));
      c.fillStyle = this.ink.act;
      c.globalAlpha = 0.35;
      c.fillRect(a, y, b - a, high);
      c.globalAlpha = 1;
      if (this.pitch >= 25 && b - a > c.measureText(name).width + 6) c.fillText(name, (a + b) / 2, y + high / 2);
    }
  },
  acts(c) {
    let taken = -Infinity;
    c.textAlign = "left";
    for (const act of data.acts) {
      const a = this.x(act.began), b = this.x(act.until === null ? act.ended : act.until);
      c.fillStyle = c.strokeStyle = this.ink.act;
      c.globalAlpha = 0.1;
      c.fillRect(a, this.top - 4, Math.max(2, b - a), this.height);
      c.globalAlpha = 1;
      c.lineWidth = 1;
      c.setLineDash([4, 3]);
      c.beginPath();
      c.moveTo(a, this.top - 4);
      c.lineTo(a, this.height);
      c.moveTo(a, 17);
      c.lineTo(a, 23);
      c.stroke();
      c.setLineDash([]);
      const wide = c.measureText(act.name).width + 8;
      const x = Math.min(a + 3, this.width - wide);
      if (a >= this.left - 1 && a <= this.width && x > taken) {
        c.fillText(act.name, x, 10);
        taken = x + wide;
      }
    }
  },
  oks(c) {
    if (ok === null || !ok.t.length) return;
    const first = lowerBound(ok.t, (view.from - ok.since - ok.grain) / ok.unit), last = lowerBound(ok.t, (view.to - ok.since + ok.grain) / ok.unit);
    const wide = Math.max(last - first < 4000 ? 3 : 2, Math.min(12, (ok.grain / (view.to - view.from)) * this.inner));
    const few = last - first < 4000, high = few && this.pitch >= 25 ? 3 : Math.max(1.6, Math.min(3, (this.pitch - this.labels - 6) / ok.levels));
    const shift = ok.grain > ok.unit ? ok.grain / 2 : 0, ys = rows.map((_, i) => Array.from({ length: ok.levels }, (_, level) => this.dotY(i, level) - high / 2));
    const strengths = Array.from({ length: STRENGTHS }, () => []);
    for (let i = first; i < last; i++) strengths[Math.ceil(Math.sqrt(ok.n[i] / ok.most) * STRENGTHS) - 1].push(i);
    c.fillStyle = this.paints[0];
    strengths.forEach((some, strength) => {
      c.globalAlpha = ok.most < 3 ? (few ? 0.9 : 0.6) : 0.25 + (0.7 * (strength + 1)) / STRENGTHS;
      for (const i of some) c.fillRect(this.x(ok.since + ok.t[i] * ok.unit + shift) - wide / 2, ys[ok.row[i]][ok.level[i]], wide, high);
    });
    c.globalAlpha = 1;
  },
  marks(c, row, i) {
    const y = this.y(i), bottom = y + this.pitch - 1, taken = [];
    const shown = row.marks.filter((mark) => mark.at + mark.error >= view.from && mark.at - mark.error <= view.to)
      .sort((a, b) => BOLDEST.indexOf(a.name) - BOLDEST.indexOf(b.name));
    c.textAlign = "center";
    for (const mark of shown) {
      const x = Math.round(this.x(mark.at)) + 0.5, half = (mark.error / (view.to - view.from)) * this.inner;
      const bad = mark.name === "killed";
      c.strokeStyle = c.fillStyle = bad ? colour("failed") : this.ink.ink;
      c.lineWidth = mark.name === "exited" || bad ? 2 : 1;
      c.beginPath();
      c.moveTo(x, y + this.labels);
      c.lineTo(x, bottom);
      if (half >= 1.5) {
        const middle = Math.round(bottom - 3 - 2 * (BOLDEST.indexOf(mark.name) % 3)) + 0.5;
        c.moveTo(x - half, middle);
        c.lineTo(x + half, middle);
        for (const end of [x - half, x + half]) {
          c.moveTo(end, middle - 2);
          c.lineTo(end, middle + 2);
        }
      }
      c.stroke();
      if (!this.labels) continue;
      const text = CODES[mark.name] || mark.name, wide = c.measureText(text).width + 4;
      if (taken.every(([a, b]) => x + wide / 2 < a || x - wide / 2 > b)) {
        c.fillText(text, x, y + this.labels / 2 + 1);
        taken.push([x - wide / 2, x + wide / 2]);
      }
    }
  },
  losses(c) {
    const seen = new Set(), r = this.pitch >= 25 ? 4 : 3;
    for (const one of lost) {
      if (one.at < view.from || one.began > view.to) continue;
      const y = this.dotY(one.row, one.level), x = this.x(one.at);
      const key = ((one.row * 64 + one.level) * 32 + one.loss) * 8192 + Math.round(x);
      if (seen.has(key)) continue;
      seen.add(key);
      if (one.at > one.began) {
        c.strokeStyle = this.paints[one.loss];
        c.globalAlpha = 0.45;
        c.lineWidth = 1;
        c.beginPath();
        c.moveTo(this.x(one.began), y);
        c.lineTo(x, y);
        c.stroke();
        c.globalAlpha = 1;
      }
      sign(c, data.classes[one.loss].name, x, y, r + Math.min(3, Math.log10(one.n)), this.paints[one.loss], this.ink.panel);
    }
  },
  overlay() {
    const c = sized(this.over, this.width, this.height);
    c.clearRect(0, 0, this.width, this.height);
    if (this.brush !== null) {
      c.fillStyle = colour("focus");
      c.globalAlpha = 0.18;
      c.fillRect(Math.min(...this.brush), this.top - 4, Math.abs(this.brush[1] - this.brush[0]), this.height);
      c.globalAlpha = 1;
    }
    if (this.cursor !== null && this.cursor >= view.from && this.cursor <= view.to) {
      const x = Math.round(this.x(this.cursor)) + 0.5;
      c.strokeStyle = colour("quiet");
      c.setLineDash([3, 3]);
      c.beginPath();
      c.moveTo(x, this.top - 4);
      c.lineTo(x, this.height);
      c.stroke();
    }
  },
};

function lowerBound(sorted, value) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
