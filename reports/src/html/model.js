// The diagram as the page has it: what `data.rs` wrote, under names.
const TRACK = { process: 0, waiting: 1, belief: 2, ownership: 3, effect: 4, role: 5, key: 6 };
const ARROW = { request: 0, answer: 1, notification: 2, servers: 3, write: 4 };
const END = { arrives: 0, lost: 1, underWay: 2 };
const LANE = { resource: 0, contender: 1, client: 2, server: 3 };

class Model {
  constructor(data) {
    const text = (place) => data.w[place];
    this.scale = new Scale(data);
    this.height = data.h;
    this.lanes = data.l.map(([name, letter, kind, top, line, height, color]) =>
      ({ name: text(name), letter: text(letter), kind, top, line, height, color }));
    this.spans = data.s.map(([row, from, until, is, words, event]) =>
      ({ row, from, until, goesOn: (is & 1) > 0, calm: (is & 2) > 0, again: (is & 4) > 0, text: text(words),
         after: event, event, color: -1 }));
    this.bars = data.b.map(([lane, top, height, from, until, track, color, is, label, words, after]) =>
      ({ lane, top, height, from, until, track, color, bad: (is & 1) > 0, goesOn: (is & 2) > 0,
         label: text(label), text: text(words), after, event: is & 4 ? after : -1 }));
    this.strips = data.k.map(([name, unit, form, top, height, most, steps, values, turning]) => {
      let at = 0;
      const points = steps.map((step, index) => ({ at: (at += step), value: values[index] }));
      return { name: text(name), unit: text(unit), form, top, height, most, points,
        turning: turning && { at: turning[0], event: turning[1], label: text(turning[2]) } };
    });
    this.arrows = data.a.map(([from, to, sent, long, kind, end, after, words]) =>
      ({ from, to, sent, ends: sent + long, kind, end: end % 3, comesIn: end > 2, after, text: text(words) }));
    this.marks = data.m.map(([lane, at, after, event, weight, about, bad, changes, label, words, causes], index) =>
      ({ index, lane, at, after, event, weight, about, bad: bad === 1, changes: changes === 1,
         label: text(label), text: text(words), causes }));
    // What ends of connections learn is written after all other marks.
    this.marks.sort((one, other) => one.at - other.at || one.after - other.after || one.index - other.index);
    this.order = new Map(this.marks.map((mark, place) => [mark.index, place]));
    this.ofEvent = new Map();
    this.marks.forEach((mark, place) => { if (mark.event >= 0) this.ofEvent.set(mark.event, place); });
    this.focus = { from: data.f[0], until: data.f[1] };
    this.breach = data.v && { from: data.v[0], until: data.v[1], event: data.v[2], words: text(data.v[3]),
      evidence: data.v[4] };
    this.measure();
  }

  // Computes every place once, so that a zoom only multiplies.
  measure() {
    const place = (time) => this.scale.place(time);
    for (const it of [...this.spans, ...this.bars]) [it.x1, it.x2] = [place(it.from), place(it.until)];
    for (const it of this.arrows) [it.x1, it.x2] = [place(it.sent), place(it.ends)];
    for (const it of this.marks) it.x1 = it.x2 = place(it.at);
    for (const strip of this.strips) for (const it of [...strip.points, strip.turning]) if (it) it.x1 = place(it.at);
    if (this.breach) [this.breach.x1, this.breach.x2] = [place(this.breach.from), place(this.breach.until)];
  }

  markOfEvent(event) {
    const place = this.ofEvent.get(event);
    return place === undefined ? -1 : place;
  }

  // The mark that others are led to: the violation, or the last event.
  last() {
    const breach = this.breach ? this.markOfEvent(this.breach.event) : -1;
    return breach >= 0 ? breach : this.marks.length - 1;
  }

  // Everything that a mark can have depended on, as `picklock why` finds it: the order of each contender's events, of
  // the service's grants, of the resource's writes, and what faults wait for and strike. Of what servers did and of
  // messages, what concerns those who take part and came before. Of what lasts, what has begun with any of these.
  past(place) {
    const marks = this.closure(this.starts(place));
    marks.add(place);
    const until = new Map(), whole = this.marks[place];
    for (const index of marks) {
      const mark = this.marks[index];
      if (mark.about >= 0) until.set(mark.about, Math.max(until.get(mark.about) || 0, mark.after));
    }
    const takesPart = (about, after) => until.has(about) && after <= until.get(about);
    this.marks.forEach((mark, index) => {
      const led = mark.event < 0 && mark.at <= whole.at && mark.after <= whole.after;
      if (led && ((mark.about >= 0 && takesPart(mark.about, mark.after)) || mark.changes)) marks.add(index);
    });
    const arrows = new Set(), bars = new Set(), spans = new Set();
    this.arrows.forEach((arrow, index) => {
      const client = [arrow.from, arrow.to].map((lane) => this.lanes[lane]).find((lane) => lane.kind === LANE.contender);
      if (!client || arrow.kind === ARROW.servers) return;
      if (takesPart(client.color, arrow.after) && arrow.sent <= whole.at) arrows.add(index);
    });
    const hasBegun = (it) => {
      const mark = this.markOfEvent(it.event);
      if (mark >= 0) return marks.has(mark);
      return it.from <= whole.at && (it.color >= 0 ? takesPart(it.color, it.after) : it.after <= whole.after);
    };
    this.bars.forEach((bar, index) => { if (hasBegun(bar)) bars.add(index); });
    this.spans.forEach((span, index) => { if (hasBegun(span)) spans.add(index); });
    return { marks, arrows, bars, spans, of: place };
  }

  // These marks, and all that they can have depended on.
  closure(open) {
    const marks = new Set();
    while (open.length) {
      const next = open.pop();
      if (next < 0 || marks.has(next)) continue;
      marks.add(next);
      for (const cause of this.marks[next].causes) {
        const found = this.order.get(cause);
        if (found !== undefined) open.push(found);
      }
    }
    return marks;
  }

  // Where the past of a mark begins: of the violation, with all that shows it.
  starts(place) {
    const mark = this.marks[place];
    if (!this.breach || !mark || mark.event !== this.breach.event) return [this.start(place)];
    return this.breach.evidence.map((event) => this.markOfEvent(event));
  }

  // The event from which the past of a mark is found: of what a server did, the last event of the contender that it is about.
  start(place) {
    const mark = this.marks[place];
    if (!mark || mark.event >= 0) return place;
    for (let before = place - 1; before >= 0; before--) {
      const other = this.marks[before];
      if (other.event >= 0 && (mark.about < 0 || other.about === mark.about)) return before;
    }
    return place;
  }
}
