// The run second by second, by uPlot: how much, what was lost, how long answers took, who was ready.

const curves = data.seconds;
const times = Array.from({ length: curves.ready.length }, (_, i) => curves.start + (i + 0.5) * curves.step);

const plots = {
  drawn: [], track: curves.tracks[0],

  all() {
    const { track } = this, per = curves.step === 1 ? "a second" : "in " + curves.step + " s", lostNames = Object.keys(track.lost);
    const line = (label, values, paint, more) => ({ label, values, paint, ...more });
    const both = $("uncorrected").checked;
    return [
      { title: "Requests " + per, lines: [
        line("sent", track.sent, "quiet", { dash: [4, 3] }), line("ok", track.ok, "s1", { width: 2 }),
        ...(track.retries.some(Boolean) ? [line("retries", track.retries, "s4")] : []),
      ] },
      lostNames.length ? { title: "Not ok " + per, bars: true, lines: stacked(lostNames.map((name) => line(words(name), track.lost[name], name))) } : null,
      { title: "Time to answer in ms, of what was ok", log: $("logarithmic").checked, lines: [
        line("p50", track.p50_ms, "s1", { width: 2 }), line("p99", track.p99_ms, "s2", { width: 2 }),
        ...(both ? [line("p50 sent", track.p50_sent_ms, "s1", { dash: [4, 3] }), line("p99 sent", track.p99_sent_ms, "s2", { dash: [4, 3] })] : []),
        ...this.limits(),
      ] },
      { title: "Instances ready, the fewest at once", low: true, lines: [line("ready", curves.ready, "s3", { whole: true })] },
      { title: "Requests in flight", low: true, lines: [line("in flight", track.in_flight, "s4", { width: 2 })] },
    ].filter(Boolean);
  },

  // Limits that aren't so far away that the curves would be flat beside them.
  limits() {
    const most = Math.max(...this.track.p99_ms.filter((value) => value !== null), 1);
    return data.limits.filter((one) => one.kind === this.track.name && one.value < 4 * most)
      .map((one) => ({ label: one.name, values: times.map(() => one.value), paint: "failed", dash: [8, 4] }));
  },

  draw() {
    for (const plot of this.drawn) plot.destroy();
    this.drawn = [];
    $("plots").replaceChildren();
    if (!times.length) {
      $("plots").textContent = "No request was sent.";
      return;
    }
    for (const one of this.all()) {
      const box = document.createElement("div"), title = document.createElement("h3");
      box.className = "plot";
      title.textContent = one.title;
      box.append(title);
      $("plots").append(box);
      const plot = new uPlot(this.options(one, box.clientWidth), [times, ...one.lines.map((each) => each.drawn || each.values)], box);
      plot.root.tabIndex = 0;
      plot.root.setAttribute("role", "img");
      plot.root.setAttribute("aria-label", one.title + ": " + one.lines.map((each) => each.label + " " + range(each.values)).join("; "));
      handle(plot.root, () => {
        const { left, width } = plot.over.getBoundingClientRect();
        return { left, width };
      });
      plot.over.addEventListener("pointermove", (event) => pointAt(plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, "x")));
      plot.over.addEventListener("pointerleave", () => pointAt(null));
      this.drawn.push(plot);
    }
  },

  options(one, width) {
    const axis = (more) => ({ stroke: colour("quiet"), grid: { stroke: colour("grid"), width: 1 }, ticks: { stroke: colour("line"), width: 1 }, font: "11px sans-serif", ...more });
    const short = (u, values) => values.map((value) => (value === null ? "" : value >= 10000 ? value / 1000 + "k" : String(Math.round(value * 1000) / 1000)));
    return {
      width, height: one.bars || one.low ? 120 : 165, padding: [8, lanes.right, 0, 0],
      cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 6 }, y: false },
      scales: {
        x: { time: false, auto: false, min: view.from, max: view.to },
        y: one.log ? { distr: 3 } : { range: (u, min, max) => [0, Math.max(1, max * 1.08)] },
      },
      axes: [
        axis({ values: (u, values) => values.map((value) => (value === 0 ? (data.t0 ? "T0" : "0") : seconds(value, value === Math.round(value) ? 0 : 2))), space: 70, size: 30 }),
        axis({ size: lanes.left, values: short, incrs: one.low || one.bars ? [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 100000] : undefined }),
      ],
      series: [
        { label: "at", value: (u, value) => (value === null ? "\u2013" : seconds(value, 1)) },
        ...one.lines.map((each, i) => ({
          label: each.label, scale: "y", stroke: colour(each.paint), width: each.width || 1, dash: each.dash,
          points: { show: times.length < 3 }, spanGaps: false,
          value: (u, _, s, k) => (k === null || k === undefined || each.values[k] === null ? "\u2013" : many(each.values[k])),
          ...(each.whole ? { paths: uPlot.paths.bars({ size: [1, Infinity], gap: 0, align: 0 }), fill: colour(each.paint) + "99", width: 0 } : {}),
          ...(one.bars ? { paths: uPlot.paths.bars({ size: [0.85, 40], align: 0 }), fill: colour(each.paint), width: 0 } : {}),
        })),
      ],
      hooks: {
        drawClear: [(u) => this.acts(u)],
        setSelect: [(u) => {
          if (u.select.width > 4) view.show(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"));
          u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        }],
      },
    };
  },

  // What swarmtest did, as bands behind the curves.
  acts(u) {
    const c = u.ctx, { top, height, left, width } = u.bbox;
    c.save();
    c.beginPath();
    c.rect(left, top, width, height);
    c.clip();
    c.fillStyle = colour("act");
    for (const act of data.acts) {
      const a = u.valToPos(act.began, "x", true), b = u.valToPos(act.until === null ? act.ended : act.until, "x", true);
      c.globalAlpha = 0.14;
      c.fillRect(a, top, Math.max(2, b - a), height);
      c.globalAlpha = 0.8;
      c.fillRect(a, top, 1.5, height);
    }
    c.restore();
  },

  start() {
    const select = $("kind");
    curves.tracks.forEach((track, i) => select.append(new Option(i ? track.name : "all", i)));
    $("choices").hidden = !times.length;
    select.parentElement.hidden = curves.tracks.length < 2;
    select.addEventListener("change", () => {
      this.track = curves.tracks[Number(select.value)];
      this.draw();
    });
    for (const id of ["uncorrected", "logarithmic"]) $(id).addEventListener("change", () => this.draw());
    view.watchers.push(() => {
      for (const plot of this.drawn) plot.setScale("x", { min: view.from, max: view.to });
    });
  },
};

// Bars on top of each other: each is drawn from the ground up to the sum with those before it, and the highest first,
// so that of each its own part stays to be seen.
function stacked(all) {
  const sums = times.map(() => 0);
  return all.map((each) => ({ ...each, drawn: each.values.map((value, i) => (value ? (sums[i] += value) : null)) })).reverse();
}

function range(values) {
  const known = values.filter((value) => value !== null);
  return known.length ? Math.min(...known) + " to " + Math.max(...known) : "unseen";
}
