// What of a run the story is about: between its rows a notch stands for all events that lie there, until it is opened;
// and lanes of processes that take no part are put away, until they are asked for.
const NOTCH = 58;

class Story {
  constructor(model) {
    this.model = model;
    this.gaps = Story.gaps(model);
    this.isToScale = false;
    this.hiddenLanes = new Set();
    for (const gap of this.gaps) gap.open = false;
    this.tops = model.lanes.map((lane) => ({ top: lane.top, line: lane.line - lane.top, height: lane.height }));
    this.begin = model.lanes.length ? model.lanes[0].top : 0;
    model.bars.forEach((bar) => { bar.below = bar.top - model.lanes[bar.lane].top; });
    this.hideIdleLanes();
    this.lay();
  }

  // Stretches between two marks of the story that are worth a notch: their times, and how many events lie in them.
  static gaps(model) {
    const { marks, scale } = model, gaps = [];
    const rows = marks.filter((mark) => mark.weight === 2);
    const last = scale.times[scale.times.length - 1];
    if (!rows.length || last === undefined) return gaps;
    const events = marks.filter((mark) => mark.event >= 0).map((mark) => mark.event).sort((one, other) => one - other);
    const place = (mark) => (mark.event >= 0 ? mark.event : mark.after - 0.5);
    const ends = [{ at: scale.times[0], place: events[0] - 1 }, ...rows.map((mark) => ({ at: mark.at, place: place(mark) })),
      { at: last, place: events[events.length - 1] + 1 }];
    for (let next = 1; next < ends.length; next++) {
      const [one, other] = [ends[next - 1], ends[next]];
      const number = Math.max(0, Math.ceil(other.place) - Math.floor(one.place) - 1);
      const wide = scale.place(other.at) - scale.place(one.at);
      if (number > 2 && wide > NOTCH * 1.4) gaps.push({ from: one.at, until: other.at, number });
    }
    return gaps;
  }

  // A contender without a letter, a client, or a server at which nothing of the story happens takes no part.
  hideIdleLanes() {
    const { marks, arrows, lanes } = this.model;
    const used = new Set(marks.filter((mark) => mark.weight === 2).map((mark) => mark.lane));
    const isLettered = (place) => lanes[place].kind === LANE.contender && lanes[place].letter !== "";
    for (const arrow of arrows) {
      if (arrow.kind === ARROW.servers || !(isLettered(arrow.from) || isLettered(arrow.to))) continue;
      if (this.gapOf(arrow.sent, arrow.ends)) continue;
      used.add(arrow.from).add(arrow.to);
    }
    lanes.forEach((lane, index) => {
      const takesPart = used.has(index) || isLettered(index) || lane.kind === LANE.resource;
      if (!takesPart && used.size) this.hiddenLanes.add(index);
    });
  }

  // The closed notch that a stretch of time lies in.
  gapOf(from, until) {
    return this.gaps.find((gap) => !gap.open && from > gap.from && until < gap.until);
  }

  // Gives times and lanes their places, and says of everything whether it is shown.
  lay() {
    const { scale, lanes, marks, arrows, bars } = this.model;
    if (this.isToScale) scale.toScale(true);
    else scale.places = this.places();
    scale.length = Math.max(1, scale.places[scale.places.length - 1] || 0);
    this.model.measure();
    let top = this.begin;
    lanes.forEach((lane, index) => {
      lane.gone = this.hiddenLanes.has(index);
      lane.top = top;
      lane.line = top + this.tops[index].line;
      if (!lane.gone) top += this.tops[index].height;
    });
    this.model.height = top;
    const isGone = (from, until) => !this.isToScale && this.gapOf(from, until) !== undefined;
    const laneIsGone = (place) => place >= 0 && lanes[place].gone;
    for (const mark of marks) mark.gone = laneIsGone(mark.lane) || (mark.weight < 2 && isGone(mark.at, mark.at));
    for (const arrow of arrows) {
      const elided = arrow.end === END.arrives && isGone(arrow.sent, arrow.ends);
      arrow.gone = laneIsGone(arrow.from) || laneIsGone(arrow.to) || elided;
    }
    for (const bar of bars) {
      bar.gone = laneIsGone(bar.lane);
      bar.top = lanes[bar.lane].top + bar.below;
    }
  }

  // The places of all times: those in a closed notch share its width.
  places() {
    const { times, shortened } = this.model.scale, places = [];
    let moved = 0, next = 0;
    const closed = this.gaps.filter((gap) => !gap.open);
    times.forEach((time, knot) => {
      while (next < closed.length && time >= closed[next].until) {
        moved += closed[next].wide - NOTCH;
        next++;
      }
      const gap = closed[next];
      if (!gap || time <= gap.from) {
        if (gap) [gap.begin, gap.wide] = [shortened[knot], this.wide(gap)];
        places.push(shortened[knot] - moved);
        return;
      }
      places.push(gap.begin - moved + ((shortened[knot] - gap.begin) * NOTCH) / gap.wide);
    });
    return places;
  }

  wide(gap) {
    const { times, shortened } = this.model.scale;
    return Math.max(1, Scale.between(times, shortened, gap.until) - Scale.between(times, shortened, gap.from));
  }

  openAll(on) {
    for (const gap of this.gaps) gap.open = on;
    this.lay();
  }

  // Opens what these marks lie in, and shows their lanes. Whether anything had to be.
  reveal(marks) {
    const gone = marks.filter((mark) => mark.gone);
    for (const mark of gone) {
      const gap = this.gapOf(mark.at, mark.at);
      if (gap) gap.open = true;
      this.hiddenLanes.delete(mark.lane);
    }
    if (gone.length) this.lay();
    return gone.length > 0;
  }

  // Which of who waits, believes, and owns at a time, right before it and right after.
  stateAt(mark) {
    const names = { [TRACK.waiting]: "waits", [TRACK.belief]: "is inside", [TRACK.ownership]: "owns" };
    const at = (isIn) => {
      const told = [];
      for (const bar of this.model.bars) {
        const what = names[bar.track];
        if (!what || !isIn(bar)) continue;
        const lane = this.model.lanes[bar.lane];
        told.push(`${lane.letter || lane.name} ${what}`);
      }
      return [...new Set(told)].join(", ") || "none waits, is inside, or owns";
    };
    const before = at((bar) => bar.from < mark.at && bar.until >= mark.at);
    const after = at((bar) => bar.from <= mark.at && (bar.until > mark.at || bar.goesOn));
    return before === after ? `state: ${after}` : `before: ${before}; after: ${after}`;
  }
}
