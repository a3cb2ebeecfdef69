// A diagram on the screen: what part of it is seen, what is chosen, and what keys and pointers do.
class View {
  constructor(element, model) {
    this.element = element;
    this.model = model;
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label", element.dataset.name + ": arrow keys step through the events");
    this.context = this.canvas.getContext("2d");
    this.tip = document.createElement("div");
    this.tip.className = "tip";
    this.tip.hidden = true;
    this.story = new Story(model);
    this.selected = -1;
    this.past = null;
    this.servers = true;
    this.left = 0;
    this.zoom = 1;
    this.drawing = new Drawing(this);
    this.told = () => {};
    this.lanesShown = () => {};
    element.append(this.canvas, this.tip);
    this.listen();
    this.recolor();
    this.resize();
    this.show(model.focus.from, model.focus.until);
  }

  recolor() {
    this.colors = palette(this.element);
  }

  resize() {
    this.width = Math.max(200, this.canvas.clientWidth || this.element.clientWidth);
    this.narrow = this.width < 640;
    this.gutter = this.narrow ? 62 : 132;
    this.height = this.model.height + 18;
    this.ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * this.ratio);
    this.canvas.height = Math.round(this.height * this.ratio);
    this.canvas.style.height = this.height + "px";
    this.clamp();
    this.draw();
  }

  // Draws before the browser shows the next frame, however often it is asked to.
  draw() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.drawing.draw();
    });
  }

  x(place) {
    return this.gutter + 6 + (place - this.left) * this.zoom;
  }

  // Where an arrow begins and ends; one that is lost, or under way at an edge, is seen on half of its way.
  ends(arrow) {
    const lanes = this.model.lanes;
    const [x1, top] = [this.x(arrow.x1), lanes[arrow.from].line];
    const [x2, bottom] = [this.x(arrow.x2), lanes[arrow.to].line];
    const middle = (top + bottom) / 2;
    const from = arrow.comesIn ? { x1: x1 - 4, y1: middle } : { x1, y1: top };
    switch (arrow.end) {
      case END.lost: return { ...from, x2: (x1 + x2) / 2 + 4, y2: middle };
      case END.underWay: return { ...from, x2: x2 + 4, y2: middle };
      default: return { ...from, x2, y2: bottom };
    }
  }

  fades(what, index) {
    return this.past !== null && !this.past[what].has(index);
  }

  get room() {
    return this.width - this.gutter - 24;
  }

  clamp() {
    const least = Math.min(1, this.room / this.model.scale.length) * 0.95;
    this.zoom = Math.min(400, Math.max(least, this.zoom));
    const most = Math.max(0, this.model.scale.length - this.room / this.zoom);
    this.left = Math.min(most, Math.max(0, this.left));
  }

  show(from, until) {
    const [one, other] = [this.model.scale.place(from), this.model.scale.place(until)];
    this.zoom = Math.min(6, Math.max(0.45, this.room / Math.max(1, other - one)));
    // What does not fit is shown around the violation.
    const fits = (other - one) * this.zoom <= this.room + 1 || !this.model.breach;
    this.left = fits ? one : this.model.breach.x1 - this.room / this.zoom / 2;
    this.clamp();
    this.draw();
  }

  // Shows what has been opened, put away, or asked for.
  relay() {
    const middle = this.model.scale.time(this.left + this.room / this.zoom / 2);
    this.story.lay();
    this.left = this.model.scale.place(middle) - this.room / this.zoom / 2;
    this.resize();
    this.lanesShown();
  }

  // The rows of the story alone, with a notch for what lies between them.
  showStory() {
    this.story.openAll(false);
    this.relay();
    this.show(this.model.focus.from, this.model.focus.until);
  }

  showAll() {
    this.story.openAll(true);
    this.zoom = 0;
    this.left = 0;
    this.clamp();
    this.draw();
  }

  showBreach() {
    this.select(this.model.last());
  }

  zoomBy(factor, x = this.gutter + this.room / 2) {
    const place = this.left + (x - this.gutter - 6) / this.zoom;
    this.zoom *= factor;
    this.clamp();
    this.left = place - (x - this.gutter - 6) / this.zoom;
    this.clamp();
    this.draw();
  }

  pan(pixels) {
    this.left += pixels / this.zoom;
    this.clamp();
    this.draw();
  }

  toScale(on) {
    const middle = this.model.scale.time(this.left + this.room / this.zoom / 2);
    this.story.isToScale = on;
    this.story.lay();
    this.left = this.model.scale.place(middle) - this.room / this.zoom / 2;
    this.clamp();
    this.draw();
  }

  setServers(on) {
    this.servers = on;
    this.draw();
  }

  // Shows the causal past of what is chosen, or of the violation.
  setPast(on) {
    if (on && this.selected < 0) this.select(this.model.last());
    this.past = on ? this.model.past(this.selected) : null;
    if (on && this.story.reveal([...this.past.marks].map((index) => this.model.marks[index]))) this.relay();
    this.told();
    this.draw();
  }

  select(index) {
    this.selected = index;
    this.tip.hidden = true;
    const mark = this.model.marks[index];
    if (mark) {
      if (this.story.reveal([mark])) this.relay();
      const x = this.x(mark.x1);
      if (x < this.gutter + 20 || x > this.width - 30) {
        this.left = mark.x1 - this.room / this.zoom / 2;
        this.clamp();
      }
    }
    this.told();
    this.draw();
  }

  // The next event, or the one before; of one lane alone, if that is wanted; in the causal past, if that is shown.
  step(by, inLane) {
    const marks = this.model.marks;
    const lane = inLane && marks[this.selected] ? marks[this.selected].lane : null;
    let next = this.selected;
    if (next < 0) next = by > 0 ? this.first() - 1 : marks.length;
    for (next += by; next >= 0 && next < marks.length; next += by) {
      if ((lane === null || marks[next].lane === lane) && !this.fades("marks", next) && !marks[next].gone) return this.select(next);
    }
  }

  // The first event that the explanation shows.
  first() {
    return Math.max(0, this.model.marks.findIndex((mark) => mark.at >= this.model.focus.from));
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("wheel", (event) => {
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        this.zoomBy(Math.exp(-event.deltaY / 300), event.offsetX);
      } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        this.pan(event.deltaX || event.deltaY);
      }
    }, { passive: false });
    canvas.addEventListener("dblclick", (event) => this.zoomBy(event.shiftKey ? 0.5 : 2, event.offsetX));
    this.listenToPointers();
  }

  listenToPointers() {
    const canvas = this.canvas, down = new Map();
    let moved = 0, apart = 0;
    canvas.addEventListener("pointerdown", (event) => {
      down.set(event.pointerId, event.offsetX);
      moved = apart = 0;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!down.has(event.pointerId)) return this.hover(event.offsetX, event.offsetY);
      const before = down.get(event.pointerId);
      down.set(event.pointerId, event.offsetX);
      moved += Math.abs(event.offsetX - before);
      if (down.size === 1) return moved > 3 ? this.pan(before - event.offsetX) : undefined;
      const [one, other] = [...down.values()], now = Math.max(10, Math.abs(one - other));
      if (apart) this.zoomBy(now / apart, (one + other) / 2);
      apart = now;
    });
    const up = (event) => {
      if (down.delete(event.pointerId) && moved <= 3) this.choose(event.offsetX, event.offsetY);
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", (event) => down.delete(event.pointerId));
    canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
  }

  key(event) {
    const keys = {
      ArrowRight: () => (event.shiftKey ? this.pan(80) : this.step(1)),
      ArrowLeft: () => (event.shiftKey ? this.pan(-80) : this.step(-1)),
      ArrowDown: () => this.step(1, true),
      ArrowUp: () => this.step(-1, true),
      Home: () => this.select(0),
      End: () => this.select(this.model.marks.length - 1),
      "+": () => this.zoomBy(1.5), "=": () => this.zoomBy(1.5), "-": () => this.zoomBy(1 / 1.5),
      0: () => this.showAll(), f: () => this.showStory(),
      v: () => this.showBreach(),
      c: () => this.press("past"), s: () => this.press("servers"), t: () => this.press("scale"),
      Escape: () => { this.select(-1); if (this.past) this.press("past"); },
    };
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.tip.hidden = true;
    act();
  }

  press(name) {
    const button = this.element.querySelector(`button[data-do="${name}"]`);
    if (button) button.click();
  }

  // What lies under the pointer: a strip, a mark, else a message, else a bar, else a fault.
  at(x, y) {
    if (x < this.gutter) return null;
    const strip = stripAt(this, x, y);
    if (strip) return strip;
    const { marks, arrows, bars, spans, lanes } = this.model;
    const near = (mark) => mark.lane >= 0 && !mark.gone && Math.abs(lanes[mark.lane].line - y) < 7 && Math.abs(this.x(mark.x1) - x) < 7;
    let best = null;
    marks.forEach((mark, index) => {
      if (!near(mark) || this.fades("marks", index)) return;
      const away = Math.abs(this.x(mark.x1) - x) - mark.weight;
      if (!best || away < best.away) best = { away, mark: index, at: mark.at, text: `${mark.text}\n${this.story.stateAt(mark)}` };
    });
    if (best) return best;
    const notch = this.story.isToScale ? undefined : this.story.gaps.find((gap) =>
      !gap.open && x > this.x(this.model.scale.place(gap.from)) + 4 && x < this.x(this.model.scale.place(gap.until)) - 4);
    if (notch) return { at: notch.from, until: notch.until, text: `${notch.number} events lie here; a click shows them`, notch };
    let arrow = null;
    arrows.forEach((it, index) => {
      if (it.gone || this.fades("arrows", index) || (it.kind === ARROW.servers && !this.servers)) return;
      const away = distance(x, y, this.ends(it));
      if (away < 5 && (!arrow || away < arrow.away)) arrow = { away, at: it.sent, text: this.describe(it) };
    });
    if (arrow) return arrow;
    const inBar = (bar, index) => !bar.gone && !this.fades("bars", index) && x >= this.x(bar.x1) - 2 && x <= this.x(bar.x2) + 2 &&
      y >= bar.top && y <= bar.top + bar.height;
    const found = bars.filter(inBar).pop();
    if (found) return { at: found.from, until: found.until, goesOn: found.goesOn, text: found.text };
    const span = spans.find((it, index) => {
      const top = HEAD + it.row * ROW;
      return !this.fades("spans", index) && y >= top && y < top + ROW &&
        x >= this.x(it.x1) - 3 && x <= Math.max(this.x(it.x2), this.x(it.x1) + 150);
    });
    return span ? { at: span.from, until: span.until, goesOn: span.goesOn, text: span.text } : null;
  }

  describe(arrow) {
    const [from, to] = [this.model.lanes[arrow.from].name, this.model.lanes[arrow.to].name];
    const begin = arrow.comesIn ? "sent before, " : "";
    const end = ["arrives at", "never arrives: lost at", "still under way at"][arrow.end];
    return `${from} to ${to}: ${arrow.text}; ${begin}${end} ${exact(arrow.ends)}`;
  }

  hover(x, y) {
    const found = this.at(x, y);
    this.tip.hidden = !found;
    this.canvas.style.cursor = found ? "pointer" : "grab";
    if (!found) return;
    const ends = found.goesOn ? " and longer" : "";
    const until = found.until === undefined ? "" : ` to ${exact(found.until)}${ends}`;
    this.tip.style.whiteSpace = "pre-line";
    this.tip.textContent = `${exact(found.at)}${until}: ${found.text}`;
    const right = x > this.width / 2;
    this.tip.style.left = right ? "" : this.canvas.offsetLeft + x + 12 + "px";
    this.tip.style.right = right ? this.width - x + 12 + "px" : "";
    this.tip.style.top = this.canvas.offsetTop + y + 14 + "px";
  }

  choose(x, y) {
    const found = this.at(x, y);
    if (found && found.mark !== undefined) this.select(found.mark);
    else if (found && found.notch) {
      found.notch.open = true;
      this.relay();
    }
    else if (!found) this.select(-1);
    this.hover(x, y);
  }
}

// How far a point is from a line between two others.
function distance(x, y, { x1, y1, x2, y2 }) {
  const [right, down] = [x2 - x1, y2 - y1];
  const share = ((x - x1) * right + (y - y1) * down) / (right * right + down * down || 1);
  const along = Math.min(1, Math.max(0, share));
  return Math.hypot(x - x1 - right * along, y - y1 - down * along);
}
