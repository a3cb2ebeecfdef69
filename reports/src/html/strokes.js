// What every part of a drawing is made of: places, texts, lines, and frames.
class Strokes {
  constructor(view) {
    this.view = view;
    this.model = view.model;
    this.widths = new Map();
  }

  x(place) {
    return this.view.x(place);
  }

  visible(it, slack = 8) {
    return !it.gone && this.x(it.x2) > this.view.gutter - slack && this.x(it.x1) < this.view.width + slack;
  }

  font(size, bold) {
    this.view.context.font = `${bold ? "600 " : ""}${size}px system-ui, "DejaVu Sans", sans-serif`;
  }

  // As much of a text as has room.
  fitting(text, room) {
    const wide = this.view.context.measureText(text).width;
    if (wide <= room) return text;
    const letters = Math.floor((text.length * room) / wide) - 1;
    return letters > 2 ? text.slice(0, letters) + "…" : "";
  }

  line(x1, y1, x2, y2, color, wide = 1, dash = []) {
    const c = this.view.context;
    c.strokeStyle = color;
    c.lineWidth = wide;
    c.setLineDash(dash);
    c.beginPath();
    c.moveTo(x1, y1);
    c.lineTo(x2, y2);
    c.stroke();
    c.setLineDash([]);
  }

  // The head of what goes on beyond the right edge.
  tip(x, y) {
    const c = this.view.context;
    c.beginPath();
    c.moveTo(x, y);
    c.lineTo(x - 6, y - 3);
    c.lineTo(x - 6, y + 3);
    c.fill();
  }

  // A frame, without its right side if it is open there.
  frame(x, y, wide, high, isOpen) {
    const c = this.view.context;
    if (!isOpen) return c.strokeRect(x, y, wide, high);
    c.beginPath();
    c.moveTo(x + wide, y);
    c.lineTo(x, y);
    c.lineTo(x, y + high);
    c.lineTo(x + wide, y + high);
    c.stroke();
  }

  // How wide a label is in the font of this size, which is set: measured once.
  wide(label, size) {
    const key = `${size} ${label}`;
    let wide = this.widths.get(key);
    if (wide === undefined) this.widths.set(key, (wide = this.view.context.measureText(label).width));
    return wide;
  }
}
