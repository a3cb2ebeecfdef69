// Draws the part of a diagram that is in view. The lanes have the places that the layout gave them.
const HEAD = 22, ROW = 17;

function palette(element) {
  const style = getComputedStyle(element);
  const color = (name) => style.getPropertyValue("--" + name).trim();
  const names = ["paper", "ink", "muted", "faint", "band", "edge", "bad", "fault", "calm", "notice"];
  const colors = Object.fromEntries(names.map((name) => [name, color(name)]));
  colors.of = (id) => (id < 0 ? colors.muted : of[id % of.length]);
  const of = [0, 1, 2, 3, 4, 5, 6].map((id) => color("c" + id));
  return colors;
}

class Drawing extends StripDrawing {
  draw() {
    const { context: c, width, height, ratio } = this.view;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.fillStyle = this.view.colors.paper;
    c.fillRect(0, 0, width, height);
    c.textBaseline = "alphabetic";
    c.save();
    c.beginPath();
    c.rect(this.view.gutter, 0, width - this.view.gutter, height);
    c.clip();
    this.bands();
    this.ticks();
    this.spans();
    this.strips();
    this.arrows();
    this.bars();
    this.notches();
    this.breach();
    this.labels();
    this.marks();
    this.selected();
    c.restore();
    this.names();
  }

  bands() {
    const { context: c, colors, width, gutter } = this.view;
    this.model.lanes.forEach((lane, index) => {
      if (lane.gone) return;
      c.fillStyle = index % 2 ? colors.paper : colors.band;
      c.fillRect(0, lane.top, width, lane.height);
      this.line(gutter, lane.line, width, lane.line, lane.kind === LANE.contender ? colors.of(lane.color) : colors.muted, 1.5);
    });
  }

  ticks() {
    const { context: c, colors, width, height, gutter } = this.view;
    const { times, places } = this.model.scale;
    this.font(11);
    let free = gutter;
    // From the first knot in view on; a tick is where something happens.
    for (let knot = Scale.before(places, this.view.left); knot < times.length; knot++) {
      const x = this.x(places[knot]);
      if (x > width) break;
      if (x < free || (!this.view.story.isToScale && this.view.story.gapOf(times[knot], times[knot]))) continue;
      const text = this.view.zoom > 4 ? exact(times[knot]) : seconds(times[knot]);
      const wide = c.measureText(text).width;
      this.line(x, HEAD - 4, x, height, colors.faint, 0.7);
      c.fillStyle = colors.muted;
      c.fillText(text, x + 3, 13);
      free = x + wide + 20;
    }
  }

  spans() {
    const { context: c, colors, height, gutter, width } = this.view;
    this.font(11);
    this.model.spans.forEach((span, index) => {
      const next = this.model.spans.find((other, place) => place > index && other.row === span.row && !other.again);
      const x = this.x(span.x1), y = HEAD + span.row * ROW;
      const end = Math.max(this.x(span.x2) + (span.goesOn ? 4 : 0), x + 3);
      const color = span.calm ? colors.calm : colors.fault;
      const faded = this.view.fades("spans", index);
      if (end > gutter && x < width) {
        c.globalAlpha = faded ? 0.08 : 0.3;
        c.fillStyle = color;
        c.fillRect(x, y, end - x, ROW - 3);
        c.globalAlpha = faded ? 0.15 : 1;
        if (span.goesOn) this.tip(end + 6, y + (ROW - 3) / 2);
      }
      c.globalAlpha = faded ? 0.15 : 1;
      this.line(x, y, x, height, color, 1, [4, 3]);
      c.globalAlpha = faded ? 0.4 : 1;
      if (span.again) return;
      // The words stay in view for as long as the fault lasts, and end before the next fault.
      const text = this.fitting(span.text, next ? this.x(next.x1) - x - 8 : Infinity);
      const wide = c.measureText(text).width;
      const begin = Math.max(x, Math.min(gutter, end - wide - 10));
      if (begin < width && begin + wide > gutter) {
        c.fillStyle = colors.ink;
        c.fillText(text, begin + 5, y + 11);
      }
    });
    c.globalAlpha = 1;
  }

  // What is left out between two rows of the story.
  notches() {
    const { context: c, colors, height, width, gutter, story } = this.view;
    if (story.isToScale) return;
    this.font(10);
    for (const gap of story.gaps) {
      if (gap.open) continue;
      const [from, until] = [gap.from, gap.until].map((time) => this.x(this.model.scale.place(time)));
      const [begin, end] = [from + 5, until - 5];
      if (end < gutter || begin > width || end - begin < 4) continue;
      c.globalAlpha = 0.75;
      c.fillStyle = colors.paper;
      c.fillRect(begin, story.begin, end - begin, height - story.begin);
      c.globalAlpha = 1;
      for (const x of [begin, end]) this.line(x, story.begin, x, height, colors.faint, 1, [2, 3]);
      c.fillStyle = colors.muted;
      c.textAlign = "center";
      for (const [line, text] of ["⋮", String(gap.number), gap.number === 1 ? "event" : "events"].entries()) {
        c.fillText(text, (begin + end) / 2, story.begin + 14 + 12 * line, end - begin);
      }
      c.textAlign = "left";
    }
  }

  breach() {
    const { context: c, colors, height } = this.view;
    const breach = this.model.breach;
    if (!breach) return;
    const top = this.model.lanes.length ? this.model.lanes[0].top : 0;
    const [x, end] = [this.x(breach.x1), this.x(breach.x2)];
    c.globalAlpha = 0.1;
    c.fillStyle = colors.bad;
    c.fillRect(x, top, Math.max(1, end - x), height - top);
    c.globalAlpha = 1;
    this.line(x, top, x, height, colors.bad, 1.5);
    this.font(12, true);
    c.fillStyle = colors.bad;
    const wide = c.measureText(breach.words).width;
    const left = x + wide + 10 > this.view.width;
    c.fillText(breach.words, left ? x - wide - 5 : x + 5, height - 4);
  }

  arrows() {
    const { context: c, colors } = this.view;
    const kinds = [
      [colors.muted, 0.9, []], [colors.muted, 0.9, []], [colors.notice, 1.5, []],
      [colors.faint, 0.8, []], [colors.muted, 1, [4, 3]], [colors.muted, 0.9, [2, 3]],
    ];
    const shown = [];
    this.model.arrows.forEach((arrow, index) => {
      if (!this.visible(arrow) || (arrow.kind === ARROW.servers && !this.view.servers)) return;
      // Requests and answers look alike, and so does all that is still under way.
      const kind = arrow.kind === ARROW.answer ? ARROW.request : arrow.kind;
      const look = { [END.arrives]: kind, [END.lost]: 10, [END.underWay]: 5 }[arrow.end];
      shown.push([look + (this.view.fades("arrows", index) ? 20 : 0), arrow]);
    });
    const { groups, steep, all } = thinned(shown, (place) => this.x(place), (arrow) => this.view.ends(arrow));
    for (const [key, columns] of steep) {
      c.globalAlpha = key >= 20 ? 0.13 : 1;
      c.fillStyle = key % 20 >= 10 ? colors.bad : kinds[key % 10][0];
      for (const [x, [top, end]] of columns) c.fillRect(x, top, 1, end - top);
    }
    for (const [key, arrows] of groups) {
      const [color, wide, dash] = key % 20 >= 10 ? [colors.bad, 1.1, []] : kinds[key % 10];
      c.globalAlpha = key >= 20 ? 0.13 : 1;
      c.strokeStyle = c.fillStyle = color;
      c.lineWidth = wide;
      c.setLineDash(dash);
      // A path of many pieces takes longer to draw than many paths of few.
      const tips = [];
      for (let first = 0; first < arrows.length; first += 8) {
        c.beginPath();
        for (const arrow of arrows.slice(first, first + 8)) tips.push(this.arrow(c, arrow));
        c.stroke();
      }
      c.setLineDash([]);
      // Heads that cannot be told apart are left away.
      if (all < 800) {
        c.beginPath();
        tips.forEach((tip) => tip(c));
        key % 20 >= 10 ? c.stroke() : c.fill();
      }
    }
    c.globalAlpha = 1;
  }

  arrow(c, arrow) {
    const { x1, y1, x2, y2 } = this.view.ends(arrow);
    c.moveTo(x1, y1);
    c.lineTo(x2, y2);
    if (arrow.end === END.underWay) return () => {};
    if (arrow.end === END.lost) {
      return (c) => {
        c.moveTo(x2 - 3, y2 - 3); c.lineTo(x2 + 3, y2 + 3);
        c.moveTo(x2 - 3, y2 + 3); c.lineTo(x2 + 3, y2 - 3);
      };
    }
    const long = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [right, down] = [(x2 - x1) / long, (y2 - y1) / long];
    const [bx, by] = [x2 - right * 6, y2 - down * 6];
    return (c) => {
      c.moveTo(x2, y2);
      c.lineTo(bx - down * 2.6, by + right * 2.6);
      c.lineTo(bx + down * 2.6, by - right * 2.6);
      c.closePath();
    };
  }

  bars() {
    const { context: c, colors, gutter, width } = this.view;
    const alpha = [0.22, 0.5, 0.55, 0.2, 0.9, 0.16, 0.2];
    const framed = [TRACK.belief, TRACK.ownership, TRACK.effect, TRACK.key];
    // Of each track of a lane, where the last bar ends: what has no width of its own is drawn once.
    const ends = new Map();
    let written = 0;
    this.model.bars.forEach((bar, index) => {
      if (!this.visible(bar)) return;
      const faded = this.view.fades("bars", index) ? 0.2 : 1, alike = (bar.bad ? 1 : 0) + (faded < 1 ? 2 : 0);
      const track = ((bar.lane * 8 + bar.track) * 4 + alike) * 64 + bar.color + 1, last = ends.get(track);
      if (last !== undefined && this.x(bar.x2) <= last && this.x(bar.x2) - this.x(bar.x1) < 2) return;
      const x = Math.max(gutter - 4, this.x(bar.x1));
      const wide = Math.max(2, Math.min(width + 4, this.x(bar.x2) + (bar.goesOn ? 4 : 0)) - x);
      ends.set(track, Math.max(x + wide, last || 0));
      let color = colors.of(bar.color);
      if (bar.bad) color = bar.track === TRACK.effect ? colors.bad : bar.track === TRACK.role ? colors.fault : colors.muted;
      // What has no room for a frame is as dark as one.
      const isFrame = wide <= 4 && framed.includes(bar.track);
      c.globalAlpha = (isFrame ? 0.9 : bar.bad ? 0.3 : alpha[bar.track]) * faded;
      c.fillStyle = color;
      c.fillRect(x, bar.top, wide, bar.height);
      c.globalAlpha = faded;
      if (wide > 4 && framed.includes(bar.track)) {
        c.strokeStyle = color;
        c.lineWidth = 1;
        this.frame(x + 0.5, bar.top + 0.5, wide - 1, bar.height - 1, bar.goesOn);
      }
      const size = bar.height > 10 ? 10.5 : 9;
      c.globalAlpha = 1;
      if (bar.track !== TRACK.effect && wide > 24 && faded === 1) {
        if (size !== written) this.font(size);
        written = size;
        if (this.wide(bar.label, size) + 8 >= wide) return;
        c.fillStyle = colors.ink;
        // What stands still is named where no other bar of its lane is.
        const over = this.model.lanes[bar.lane].kind === LANE.server ? 10 : bar.height - 2;
        const middle = bar.track === TRACK.process ? over : bar.height / 2 + size * 0.36;
        c.fillText(bar.label, Math.max(x, gutter) + 4, bar.top + middle);
      }
    });
  }

  marks() {
    const { context: c, colors } = this.view;
    // One path for all that are drawn alike. Those that touch each other are one stroke.
    const dots = new Map(), crosses = [[], []], strokes = new Map();
    const apart = this.model.marks.filter((mark) => this.visible(mark)).length > 1500 ? 4 : 2.5;
    this.model.marks.forEach((mark, index) => {
      if (mark.lane < 0 || !this.visible(mark)) return;
      const faded = this.view.fades("marks", index) ? 1 : 0;
      const x = this.x(mark.x1), key = (faded * 2 + (mark.bad ? 1 : 0)) * 64 + mark.about + 1, place = key * 64 + mark.lane;
      const before = strokes.get(place);
      if (before && x - before.until < (mark.bad ? 1 : apart)) {
        before.until = x;
        before.radius = Math.max(before.radius, mark.weight ? 3.2 : 2.2);
        return;
      }
      const stroke = { x, until: x, y: this.model.lanes[mark.lane].line, radius: mark.weight ? 3.2 : 2.2 };
      strokes.set(place, stroke);
      if (mark.bad) return crosses[faded].push(stroke);
      if (!dots.has(key)) dots.set(key, []);
      dots.get(key).push(stroke);
    });
    const alike = [...dots.values()].reduce((sum, of) => sum + of.length, 0);
    for (const [key, of] of dots) {
      const about = (key % 64) - 1;
      c.globalAlpha = key >= 128 ? 0.15 : 1;
      c.fillStyle = about < 0 ? colors.ink : colors.of(about);
      c.beginPath();
      for (const { x, until, y, radius } of of) {
        // In a view of many, a dot cannot be told from a square.
        if (until - x > 1 || alike > 600) {
          c.fillRect(x - radius, y - radius * 0.85, until - x + 2 * radius, radius * 1.7);
          continue;
        }
        c.moveTo(x + radius, y);
        c.arc(x, y, radius, 0, 7);
      }
      c.fill();
    }
    c.strokeStyle = colors.bad;
    c.lineWidth = 1.6;
    crosses.forEach((marks, faded) => {
      c.globalAlpha = faded ? 0.15 : 1;
      c.beginPath();
      for (const { x, y } of marks) {
        c.moveTo(x - 3, y - 3); c.lineTo(x + 3, y + 3);
        c.moveTo(x - 3, y + 3); c.lineTo(x + 3, y - 3);
      }
      c.stroke();
    });
    c.globalAlpha = 1;
  }

  // Words beside marks: as many as have room, those first that the explanation needs.
  labels() {
    const { context: c, colors } = this.view;
    this.font(10.5);
    const few = this.model.marks.filter((mark) => this.visible(mark)).length < 120;
    const wanted = this.model.marks.filter((mark, index) =>
      mark.label && mark.lane >= 0 && (few || mark.weight > 0) && this.visible(mark, 0) && !this.view.fades("marks", index));
    wanted.sort((one, other) => other.weight - one.weight || one.at - other.at);
    const taken = new Map(), lines = new Path2D();
    const spaces = (key) => taken.get(key) || taken.set(key, []).get(key);
    const isClear = (key, from, until) => spaces(key).every((it) => from >= it[1] || until <= it[0]);
    const words = [];
    for (const mark of wanted.slice(0, 500)) {
      const lane = this.model.lanes[mark.lane];
      const x = this.x(mark.x1), wide = this.wide(mark.label, 10.5) + 6;
      const begin = Math.min(x, this.view.width - wide - 2);
      const rows = lane.kind === LANE.contender ? 2 : 1;
      for (let row = rows - 1; row >= 0; row--) {
        const below = row + 1 < rows ? `${mark.lane}:${row + 1}` : null;
        if (!isClear(`${mark.lane}:${row}`, begin, begin + wide) || (below && !isClear(below, x, x))) continue;
        spaces(`${mark.lane}:${row}`).push([begin, begin + wide]);
        if (below) spaces(below).push([x - 1, x + 1]);
        const y = lane.top + 11 + 12 * row;
        lines.moveTo(x, y - 8);
        lines.lineTo(x, lane.line);
        words.push([mark, begin + 3, y]);
        break;
      }
    }
    c.strokeStyle = colors.faint;
    c.lineWidth = 0.8;
    c.stroke(lines);
    for (const [mark, x, y] of words) {
      c.fillStyle = mark.bad ? colors.bad : colors.ink;
      c.fillText(mark.label, x, y);
    }
  }

  selected() {
    const { context: c, colors, height, selected } = this.view;
    const mark = this.model.marks[selected];
    if (!mark) return;
    const x = this.x(mark.x1);
    this.line(x, HEAD - 4, x, height, colors.ink, 1);
    c.strokeStyle = colors.ink;
    c.lineWidth = 2;
    c.beginPath();
    c.arc(x, mark.lane < 0 ? HEAD : this.model.lanes[mark.lane].line, 6.5, 0, 7);
    c.stroke();
  }

  names() {
    const { context: c, colors, gutter, narrow } = this.view;
    c.fillStyle = colors.paper;
    c.fillRect(0, 0, gutter, this.view.height);
    this.stripNames();
    this.model.lanes.forEach((lane, index) => {
      if (lane.gone) return;
      c.fillStyle = index % 2 ? colors.paper : colors.band;
      c.fillRect(0, lane.top, gutter, lane.height);
      c.fillStyle = lane.kind === LANE.contender ? colors.of(lane.color) : colors.ink;
      this.font(narrow ? 11 : 13, true);
      const short = narrow ? lane.letter || lane.name.replace("contender-", "c-") : `${lane.letter}  ${lane.name}`.trim();
      const y = lane.kind === LANE.contender ? lane.top + 17 : lane.line - 2;
      c.fillText(short, narrow ? 4 : 8, y, gutter - 8);
      if (lane.kind !== LANE.contender) return;
      this.font(narrow ? 9 : 10);
      c.fillStyle = colors.muted;
      c.textAlign = "right";
      [["belief", 38], ["ownership", 51], ["effect", 62]].forEach(([name, below]) =>
        c.fillText(name, gutter - 6, lane.top + below, gutter - 8));
      c.textAlign = "left";
    });
    this.line(gutter, 0, gutter, this.view.height, colors.edge);
  }
}
