// Each class of requests has a colour and a shape, so that either tells it.

const SHAPES = {
  ok: "dot", refused: "square", unserved: "triangle", cut: "cross", cut_finished: "diamond", unknown: "ring",
  gateway: "wedge", error: "plus", shed: "bar", unexpected: "frame", silent_loss: "star", timed_out: "hourglass",
  unresolved: "gem", client_error: "bang", stream: "wave",
};

const PATHS = {
  dot: (c, x, y, r) => { c.moveTo(x + r, y); c.arc(x, y, r, 0, 7); return true; },
  ring: (c, x, y, r) => { c.moveTo(x + r, y); c.arc(x, y, r, 0, 7); return false; },
  square: (c, x, y, r) => { c.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8); return true; },
  frame: (c, x, y, r) => { c.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8); return false; },
  bar: (c, x, y, r) => { c.rect(x - r, y - r * 0.4, r * 2, r * 0.8); return true; },
  triangle: (c, x, y, r) => polygon(c, [[x, y - r], [x + r, y + r * 0.8], [x - r, y + r * 0.8]]),
  wedge: (c, x, y, r) => polygon(c, [[x, y + r], [x + r, y - r * 0.8], [x - r, y - r * 0.8]]),
  diamond: (c, x, y, r) => polygon(c, [[x, y - r * 1.15], [x + r, y], [x, y + r * 1.15], [x - r, y]]),
  gem: (c, x, y, r) => { polygon(c, [[x, y - r * 1.15], [x + r, y], [x, y + r * 1.15], [x - r, y]]); return false; },
  hourglass: (c, x, y, r) => polygon(c, [[x - r, y - r], [x + r, y - r], [x - r, y + r], [x + r, y + r]]),
  cross: (c, x, y, r) => { lines(c, [[x - r, y - r, x + r, y + r], [x - r, y + r, x + r, y - r]]); return false; },
  plus: (c, x, y, r) => { lines(c, [[x - r, y, x + r, y], [x, y - r, x, y + r]]); return false; },
  star: (c, x, y, r) => {
    lines(c, [[x - r, y, x + r, y], [x - r * 0.5, y - r, x + r * 0.5, y + r], [x - r * 0.5, y + r, x + r * 0.5, y - r]]);
    return false;
  },
  wave: (c, x, y, r) => {
    lines(c, [[x - r, y + r * 0.5, x - r / 3, y - r * 0.5], [x - r / 3, y - r * 0.5, x + r / 3, y + r * 0.5], [x + r / 3, y + r * 0.5, x + r, y - r * 0.5]]);
    return false;
  },
  bang: (c, x, y, r) => { lines(c, [[x, y - r, x, y + r * 0.3], [x, y + r * 0.8, x, y + r]]); return false; },
};

function polygon(c, points) {
  points.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
  c.closePath();
  return true;
}

function lines(c, all) {
  for (const [a, b, x, y] of all) {
    c.moveTo(a, b);
    c.lineTo(x, y);
  }
}

// Draws a class's sign with a rim in the panel's colour, which keeps it apart from what it lies on.
function sign(c, name, x, y, r, paint, rim) {
  c.beginPath();
  const filled = PATHS[SHAPES[name] || "ring"](c, x, y, r);
  if (rim) {
    c.strokeStyle = rim;
    c.lineWidth = filled ? 1.5 : 4;
    c.stroke();
  }
  if (filled) {
    c.fillStyle = paint;
    c.fill();
  } else {
    c.strokeStyle = paint;
    c.lineWidth = 2;
    c.stroke();
  }
}

function sized(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = height + "px";
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  return c;
}

function legendSign(name) {
  const canvas = document.createElement("canvas");
  canvas.setAttribute("aria-hidden", "true");
  sign(sized(canvas, 16, 16), name, 8, 8, 4.5, colour(name), null);
  return canvas;
}
