// Curves above the lanes: how many contenders wait and hold the lock, and how likely the violation was.
const FORM = { area: 0, steps: 1, curve: 2 };

class StripDrawing extends Strokes {
  strips() {
    const { context: c, colors } = this.view, { strips, spans } = this.model;
    if (!strips.length) return;
    const last = strips[strips.length - 1], top = strips[0].top;
    c.globalAlpha = 0.14;
    c.fillStyle = colors.fault;
    for (const span of spans) {
      const x = this.x(span.x1);
      if (!span.calm) c.fillRect(x, top, Math.max(1, this.x(span.x2) - x), last.top + last.height - top);
    }
    c.globalAlpha = 1;
    for (const strip of strips) this.strip(strip);
  }

  strip(strip) {
    const { context: c, colors, gutter } = this.view, bottom = strip.top + strip.height;
    const right = this.x(this.model.scale.length);
    this.line(gutter, bottom, right, bottom, colors.faint);
    const y = (value) => bottom - (value / strip.most) * (strip.height - 4);
    const points = this.points(strip).map(({ x, value }) => ({ x, y: y(value) }));
    c.strokeStyle = c.fillStyle = { [FORM.area]: colors.muted, [FORM.steps]: colors.ink, [FORM.curve]: colors.bad }[strip.form];
    c.lineWidth = 1.5;
    c.beginPath();
    points.forEach((point, index) => {
      const next = points[index + 1], end = next ? next.x : right;
      if (strip.form === FORM.area && index === 0) c.moveTo(point.x, bottom);
      if (index || strip.form === FORM.area) c.lineTo(point.x, point.y);
      else c.moveTo(point.x, point.y);
      if (strip.form !== FORM.curve) c.lineTo(end, point.y);
    });
    if (strip.form === FORM.area) {
      c.lineTo(right, bottom);
      c.globalAlpha = 0.45;
      c.fill();
      c.globalAlpha = 1;
    } else c.stroke();
    if (strip.form === FORM.curve) {
      for (const { x, y } of points) c.fillRect(x - 2, y - 2, 4, 4);
    }
    this.turning(strip, bottom);
  }

  // The values in view, with one before and one after. Of those that cannot be told apart the greatest.
  points(strip) {
    const { width, gutter } = this.view, all = strip.points, shown = [];
    let first = 0;
    while (first + 1 < all.length && this.x(all[first + 1].x1) < gutter) first++;
    for (let index = first; index < all.length; index++) {
      const x = this.x(all[index].x1), last = shown[shown.length - 1], { value } = all[index];
      if (last && strip.form !== FORM.curve && x - last.x < 0.7) last.value = Math.max(last.value, value);
      else shown.push({ x, value });
      if (x > width) break;
    }
    return shown;
  }

  // The choice that made the violation likelier by the most, down to the event that shows it first.
  turning(strip, bottom) {
    const { context: c, colors, height, width } = this.view, turning = strip.turning;
    if (!turning) return;
    const x = this.x(turning.x1);
    this.line(x, strip.top, x, height, colors.notice, 1.2, [5, 3]);
    this.font(11, true);
    c.fillStyle = colors.notice;
    const wide = c.measureText(turning.label).width;
    c.fillText(turning.label, x + wide + 10 > width ? x - wide - 5 : x + 5, bottom - 4);
  }

  stripNames() {
    const { context: c, colors, gutter, narrow } = this.view;
    for (const strip of this.model.strips) {
      this.font(narrow ? 9.5 : 11);
      c.fillStyle = colors.ink;
      c.fillText(strip.name, narrow ? 4 : 8, strip.top + strip.height / 2 + 4, gutter - 20);
      this.font(9);
      c.fillStyle = colors.muted;
      c.textAlign = "right";
      const most = narrow ? String(strip.most) : strip.most + strip.unit;
      c.fillText(most, gutter - 6, strip.top + 8);
      c.fillText("0", gutter - 6, strip.top + strip.height);
      c.textAlign = "left";
    }
  }
}

// What a strip says at a place: its value there, or the choice that turned it.
function stripAt(view, x, y) {
  const strip = view.model.strips.find((strip) => y >= strip.top - 2 && y < strip.top + strip.height + 2);
  if (!strip) return null;
  const turning = strip.turning, { scale } = view.model;
  if (turning && Math.abs(view.x(turning.x1) - x) < 8) {
    const mark = view.model.markOfEvent(turning.event), text = view.model.marks[mark] ? `: ${view.model.marks[mark].text}` : "";
    return { at: turning.at, text: `${turning.label}; what it decided shows first here${text}`, mark: mark < 0 ? undefined : mark };
  }
  if (strip.form === FORM.curve) {
    const near = strip.points.reduce((best, point) => {
      const away = Math.abs(view.x(point.x1) - x);
      return best && best.away <= away ? best : { away, point };
    }, null);
    return near && { at: near.point.at, text: `violated in ${near.point.value}${strip.unit} runs with all choices up to here as they were` };
  }
  const time = scale.time(view.left + (x - view.gutter - 6) / view.zoom);
  const point = strip.points.filter((point) => point.at <= time).pop();
  return point ? { at: time, text: `${strip.name}: ${point.value}` } : null;
}
