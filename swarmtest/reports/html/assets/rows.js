// What lies on the timeline: dots of requests, rows of instances, and what their marks are called.

const CODES = {
  started: "s", healthy: "h", warm: "w", first_served: "f", announced: "T1", unready: "T1u", signalled: "sig",
  closed: "cl", last_new: "T2", last_done: "T3", killed: "KILL", exited: "T4",
};
const BOLDEST = ["killed", "exited", "announced", "signalled", "last_new", "last_done", "unready", "closed", "healthy", "started", "warm", "first_served"];
const GOING = ["announced", "unready", "signalled", "closed", "killed", "exited"];

const ok = data.ok === null ? null : {
  ...data.ok, t: unpacked(Uint32Array, data.ok.t), row: unpacked(Uint16Array, data.ok.row),
  level: unpacked(Uint8Array, data.ok.level), n: unpacked(Uint32Array, data.ok.n),
};
const STRENGTHS = 6; // steps of how dark a dot is that stands for many
if (ok !== null) ok.most = ok.n.reduce((a, b) => Math.max(a, b), 1);
const texts = data.lost.texts || [];
const lost = (data.lost.told || []).map(([began, at, row, level, loss, id, ...rest]) => {
  const [kind, connection, charge, saw, why] = rest.map((i) => texts[i]);
  return { began, at, row, level, loss, n: 1, id, kind, connection, charge, saw, why };
}).concat((data.lost.crowd || []).map(([at, row, level, loss, n]) => ({ began: at, at, row, level, loss, n })))
  .concat(...data.layers.map((layer) => {
    const loss = data.classes.push({ name: layer.name, meaning: layer.label }) - 1; // a sign of its own, and no request
    return layer.points.map(([at, row, title, why]) => ({ began: at, at, row, level: 0, loss, n: 1, title, why }));
  }))
  .sort((a, b) => a.at - b.at);

const homeless = lost.some((one) => one.row >= data.rows.length) || (ok !== null && ok.row.some((row) => row >= data.rows.length));
const rows = data.rows.map((row) => {
  const at = Object.fromEntries(row.marks.map((mark) => [mark.name, mark.at]));
  const readies = ["healthy", "warm"].filter((name) => name in at).map((name) => at[name]);
  const goings = GOING.filter((name) => name in at).map((name) => at[name]);
  return {
    ...row, at, from: "started" in at ? at.started : -Infinity, until: "exited" in at ? at.exited : Infinity,
    ready: readies.length ? Math.max(...readies) : null, going: goings.length ? Math.min(...goings) : null,
  };
}).concat(homeless ? [{ label: "no instance", generation: "none", marks: [], hurts: [], at: {}, from: Infinity, until: -Infinity }] : []);
